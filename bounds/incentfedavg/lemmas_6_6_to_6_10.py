"""Lemmas 6.6 to 6.10: the one-step inequality of the convex analysis and its parts; the pair of Lemma 6.5."""

from sympy import Rational, cbrt, log, sqrt

from bounds.core.statement import UNBIASED, Edition, Kind, Sense
from bounds.incentfedavg.entry import averaged, entry, ge, le, names
from bounds.incentfedavg.lemma_4_3 import STEP
from bounds.incentfedavg.lemmas_4_12_to_4_14 import CONSENSUS_STEP
from bounds.incentfedavg.theorem_4_9 import DELTA_ABOVE_ONE

m, H, r, gamma, L, nu, G, B, S = names("m H r gamma L nu G B S")
rho, delta_0, delta_r, delta_next, e_bar, D_f, X_sq = names("rho delta_0 delta_r delta_next e_bar D_f X_sq")
sigma_sq, omega = names("sigma_sq omega")

SIZE = (
    nu**2 + 2 * m * L**2 * e_bar + 4 * m**2 * delta_r**2 * G**2 + 8 * L * (m**2 * delta_r**2 * B**2 + 1) * D_f
)
CROSS = (
    -2 * (1 - L * B**2 * delta_r * sqrt(delta_r)) * D_f
    + m * sqrt(delta_r) * X_sq
    + delta_r * sqrt(delta_r) * (G**2 + S)
    + L * e_bar
)
ONE_STEP = (
    (1 + m * gamma * sqrt(delta_r)) * X_sq
    - gamma / 2 * D_f
    + gamma * delta_r * sqrt(delta_r) * (G**2 + S)
    + 4 * gamma**2 * m**2 * delta_r**2 * G**2
    + L * gamma * (2 * m * L * gamma + 1) * e_bar
    + gamma**2 * nu**2
)
ROUND = 18 * m * L * gamma**2 * B**2 * H**2 * ((H - 1) * D_f) + 9 * gamma**2 * (nu**2 + m * G**2) * H**3
ROUND_SHARP = H * (
    2 * gamma**2 * (H - 1) * nu**2 + 4 * gamma**2 * H * (H - 1) * (2 * sigma_sq + 4 * L * omega * D_f)
)
DISCOUNT = 1 - m * H * sqrt(delta_0) / (1 - rho ** Rational(1, 2)) * gamma

STEP_SIZE = (
    le("gamma <= 1/(16 L m^2 B^2 delta_0)", gamma, 1 / (16 * L * m**2 * B**2 * delta_0)),
    le("gamma <= 1/(16 L)", gamma, 1 / (16 * L)),
)
_ROOT = cbrt(16 * L**2 * B**4)
PRINTED_WARM_UP = ge("r >= delta_0 (16 L^2 B^4)^(1/3)/ln(1/rho)", r, delta_0 * _ROOT / log(1 / rho))
WARM_UP = ge("r >= ln(delta_0 (16 L^2 B^4)^(1/3))/ln(1/rho)", r, log(delta_0 * _ROOT) / log(1 / rho))

FACTOR_M = (
    "Printed form survives, with the delta_{r+1} (here delta) of Lemma 4.3 and the pair of Lemma 6.5, "
    "though the proof loses a factor m in sum_i ||grad f_i||^2 = m (mean). m = 1: delta = 0. m >= 3: 2 sum "
    "|p_i - p*_i| |f_i(x*) - f_i(x)| <= 2 ||p - p*|| sqrt(S + sum ||grad f_i(x)||^2) sqrt(X) with ||p - "
    "p*|| <= sqrt(m) delta/(m-1), and AM-GM against m sqrt(delta) X leaves delta^(3/2) (S + m "
    "mean)/(m-1)^2, where m/(m-1)^2 <= 3/4. m = 2: the sum is 2 v (a_1 - a_2) with v = p_1 - p*_1 > 0 say, "
    "a_i = f_i(x*) - f_i(x); with X = 1, s_i = ||grad f_i(x*)||, y = -a_2: a_1 <= s_1 and y <= s_2 + L/2, "
    "while S + G^2 + 2 L B^2 D >= s_1^2 + (3/2) s_2^2 + L y; by AM-GM it is enough that (s_1 + y)^2 <= 2 "
    "s_1^2 + 3 s_2^2 + 2 L y, and 3 s_2^2 + 4 y (y - s_2) - 2 y^2 = 2 (y - s_2)^2 + s_2^2 >= 0 for y > s_2, "
    "2 y^2 <= 3 s_2^2 otherwise (m = 2 uses that pair itself, not any pair). Never combine it with a "
    "sharper delta_0."
)
NEXT = "For the average with weights p_{i,r+1}, hence with delta_{r+1} <= delta_r in place of delta_r"
GENERIC = (
    "For a generic bound delta on |p_i - p*_i| the terms are -2 (1 - m L B^2 delta^(3/2)) D and delta^(3/2) "
    "(m G^2 + S)."
)
MIXED_UNITS = "Not invariant under scaling f by c and gamma by 1/c: "

STATEMENTS = (
    *entry(
        "Lemma 6.6",
        Kind.BOUND,
        source="Section 6.2, Lemma 6.6",
        quantity=averaged("g_bar_sq"),
        sampling=UNBIASED,
        printed={
            "expression": SIZE,
            "hypotheses": STEP,
            "note": "The first sentence breaks off; `hold` is meant.",
        },
        corrected={
            "expression": SIZE.subs(delta_r, delta_next),
            "note": f"{NEXT}, and with the corrected pair.",
        },
    ),
    *entry(
        "Lemma 6.7",
        Kind.BOUND,
        source="Section 6.2, Lemma 6.7",
        quantity=averaged("convex_inner"),
        sampling=UNBIASED,
        printed={
            "expression": CROSS,
            "hypotheses": STEP,
            "note": "The proof's two lines after `Young's inequality` bound f_i(x*) - f_i(x) and its "
            "negative by each other's gradients (convexity gives them swapped); their maximum is right. "
            f"Its last step loses a factor m. {MIXED_UNITS}m sqrt(delta_r) X and delta_r^(3/2) (G^2 + S) "
            "have units x^2 and f^2/x^2.",
        },
        corrected={
            "expression": CROSS.subs(delta_r, delta_next),
            "note": f"{NEXT}. {FACTOR_M} {GENERIC} {MIXED_UNITS}m sqrt(delta_r) X and delta_r^(3/2) (G^2 + "
            "S).",
        },
    ),
    *entry(
        "Lemma 6.8",
        Kind.BOUND,
        source="Section 6.2, Lemma 6.8",
        quantity=averaged("x_dist_sq_next"),
        sampling=UNBIASED,
        printed={
            "expression": ONE_STEP,
            "hypotheses": (*STEP, *STEP_SIZE, PRINTED_WARM_UP),
            "note": "The condition on r lacks a logarithm; as x >= ln x it is stronger than needed, so no "
            "harm. It rests on Lemma 4.2, false at round boundaries for the printed average. "
            f"{DELTA_ABOVE_ONE} {MIXED_UNITS}m gamma sqrt(delta_r) X and gamma delta_r^(3/2) (G^2 + S).",
        },
        corrected={
            "expression": ONE_STEP.subs(delta_r, delta_next),
            "hypotheses": (*STEP, *STEP_SIZE, WARM_UP),
            "note": f"{NEXT}; the condition on r has its logarithm. {DELTA_ABOVE_ONE} {MIXED_UNITS}m gamma "
            "sqrt(delta_r) X and gamma delta_r^(3/2) (G^2 + S).",
        },
    ),
    *entry(
        "Lemma 6.9",
        Kind.BOUND,
        source="Section 6.2, Lemma 6.9",
        quantity={
            Edition.PRINTED: "consensus_error_round@p_now",
            Edition.CORRECTED: "consensus_error_round@p_next",
            Edition.SHARP: "consensus_error_round_all@p_next",
        },
        sampling=UNBIASED,
        printed={
            "expression": ROUND,
            "hypotheses": (CONSENSUS_STEP,),
            "note": "D_f is the mean of D_f(x_t, x*) over t = T_r+1..T_{r+1}-1; the proof has the sum over "
            "t = T_r..T_{r+1}-2 and shifts it without reason. Left side: the conditioning on F_k makes the "
            "expectation void.",
        },
        corrected={
            "note": "D_f is the mean over t = T_r..T_{r+1}-2, as the proof has it; that is what Theorem 4.9 "
            "uses.",
        },
        sharp={
            "expression": ROUND_SHARP,
            "hypotheses": (le("gamma <= 1/(2 L sqrt(H(H-1)))", gamma, 1 / (2 * L * sqrt(H * (H - 1)))),),
            "note": "D_f is the mean over the round. The sharp consensus bound with sum q_i ||grad "
            "f_i(x)||^2 <= 2 sigma^2 + 4 L omega D; zero at H = 1.",
        },
    ),
    *entry(
        "Lemma 6.10",
        Kind.BOUND,
        source="Section 6.2, Lemma 6.10",
        quantity="discount",
        sense=Sense.AT_LEAST,
        printed={
            "expression": DISCOUNT,
            "hypotheses": STEP,
            "note": f"The strict sign before H/(1 - sqrt(rho)) is an equality. {MIXED_UNITS}gamma "
            "sqrt(delta_0) has the unit of x^2/f.",
        },
        corrected={"note": f"Identical to printed. {MIXED_UNITS}gamma sqrt(delta_0) has the unit of x^2/f."},
    ),
)
