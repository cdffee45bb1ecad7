"""Lemmas 4.12 to 4.14: descent, consensus and the size of the average gradient, for nonconvex losses."""

from sympy import Rational, sqrt

from bounds.core.statement import UNBIASED, Kind, Sense
from bounds.incentfedavg.entry import averaged, entry, ge, le, names
from bounds.incentfedavg.lemma_4_3 import STEP
from bounds.incentfedavg.theorem_4_6 import ROUNDS

m, H, T, tau, gamma = names("m H T tau gamma")
L, nu, G, B, delta_r, delta_next, kappa = names("L nu G B delta_r delta_next kappa")
e_bar, grad_f_sq, grad_fi_sq_sum = names("e_bar grad_f_sq grad_fi_sq_sum")

CONSENSUS_STEP = le("gamma <= 1/(sqrt(3) H L)", gamma, 1 / (sqrt(3) * H * L))
IN_ROUND = ge("k <= T_{r+1}", H, tau)

DESCENT = (
    -(m**2) * delta_r**2 * G**2
    - m * L**2 / 2 * e_bar
    + (Rational(1, 4) - m**2 * delta_r**2 * B**2) * grad_f_sq
)
CONSENSUS_I = gamma**2 * tau * (tau * (3 * nu**2 + 3 * L**2 * e_bar + 3 * grad_fi_sq_sum))
CONSENSUS_II = 9 * H * gamma**2 * tau * (nu**2 + m * (G**2 + B**2 * grad_f_sq))
CONSENSUS_III = (
    9 * m * gamma**2 * B**2 * H**2 * (T * grad_f_sq) + 9 * gamma**2 * (nu**2 + m * G**2) * H**2 * T
)
CONSENSUS_SHARP = T * (
    2 * gamma**2 * (H - 1) * nu**2 + 4 * gamma**2 * H * (H - 1) * kappa * (G**2 + B**2 * grad_f_sq)
)
SIZE_A = nu**2 + 2 * m * L**2 * e_bar + 4 * m * delta_r**2 * grad_fi_sq_sum + 4 * grad_f_sq
SIZE_B = (
    nu**2
    + 2 * m * L**2 * e_bar
    + 4 * m**2 * delta_r**2 * G**2
    + 4 * (m**2 * delta_r**2 * B**2 + 1) * grad_f_sq
)

_NEXT = "For the averages with weights p_{i,r+1}, hence with delta_{r+1} <= delta_r in place of delta_r."
_MEANS = "e_bar, grad_f_sq and grad_fi_sq_sum stand for the means of the summed terms"

STATEMENTS = (
    *entry(
        "Lemma 4.12",
        Kind.BOUND,
        source="Section 4.3, Lemma 4.12",
        quantity=averaged("descent_inner"),
        sense=Sense.AT_LEAST,
        sampling=UNBIASED,
        printed={
            "expression": DESCENT,
            "hypotheses": STEP,
            "note": "The pair (G, B) is that of Assumption 4.5.",
        },
        corrected={"expression": DESCENT.subs(delta_r, delta_next), "note": _NEXT},
    ),
    *entry(
        "Lemma 4.13(i)",
        Kind.BOUND,
        source="Section 4.3, Lemma 4.13(i); proof in Section 6.1",
        quantity=averaged("consensus_error"),
        sampling=UNBIASED,
        printed={
            "expression": CONSENSUS_I,
            "hypotheses": (le("k <= T_{r+1}", tau, H, optional=True),),
            "note": f"{_MEANS} over t = T_r..k-1; tau = k - T_r.",
        },
        corrected={"note": f"Identical to printed, for the weights p_{{i,r+1}}; {_MEANS} over t = T_r..k-1."},
    ),
    *entry(
        "Lemma 4.13(ii)",
        Kind.BOUND,
        source="Section 4.3, Lemma 4.13(ii); proof in Section 6.1",
        quantity=averaged("consensus_error"),
        sampling=UNBIASED,
        printed={
            "expression": CONSENSUS_II,
            "hypotheses": (CONSENSUS_STEP, IN_ROUND),
            "note": f"{_MEANS} over t = T_r..k-1. The proof says `(i)` where it has proved (ii).",
        },
        corrected={"note": f"Identical to printed, for the weights p_{{i,r+1}}; {_MEANS} over t = T_r..k-1."},
    ),
    *entry(
        "Lemma 4.13(iii)",
        Kind.BOUND,
        source="Section 4.3, Lemma 4.13(iii); proof in Section 6.1",
        quantity=averaged("consensus_error_sum"),
        sampling=UNBIASED,
        printed={
            "expression": CONSENSUS_III,
            "hypotheses": (CONSENSUS_STEP, ROUNDS),
            "note": f"{_MEANS} over the counted steps. The proof sums (ii), though it says (i).",
        },
        corrected={
            "note": f"Identical to printed, for the weights p_{{i,r+1}}; {_MEANS} over the counted steps."
        },
        sharp={
            "expression": CONSENSUS_SHARP,
            "hypotheses": (
                le("gamma <= 1/(2 L sqrt(H(H-1)))", gamma, 1 / (2 * L * sqrt(H * (H - 1)))),
                ROUNDS,
            ),
            "note": "sum q_i ||y_i - y||^2 <= sum q_i ||y_i||^2; the noise is a martingale difference, so "
            "tau steps of it count tau times, not tau^2; sum_{tau<H} tau = H(H-1)/2; absorb. Zero at H = 1.",
        },
    ),
    *entry(
        "Lemma 4.14(a)",
        Kind.BOUND,
        source="Section 4.3, Lemma 4.14(a); proof in Section 6.1",
        quantity=averaged("g_bar_sq"),
        sampling=UNBIASED,
        printed={
            "expression": SIZE_A,
            "hypotheses": STEP,
            "note": "The equality sum_i p_i^2 E||noise_i||^2 needs uncorrelated noises; the bound nu^2 that "
            "is used does not.",
        },
        corrected={"expression": SIZE_A.subs(delta_r, delta_next), "note": _NEXT},
    ),
    *entry(
        "Lemma 4.14(b)",
        Kind.BOUND,
        source="Section 4.3, Lemma 4.14(b); proof in Section 6.1",
        quantity=averaged("g_bar_sq"),
        sampling=UNBIASED,
        printed={
            "expression": SIZE_B,
            "hypotheses": STEP,
            "note": "The pair (G, B) is that of Assumption 4.5.",
        },
        corrected={"expression": SIZE_B.subs(delta_r, delta_next), "note": _NEXT},
    ),
)
