"""Theorem 4.6: nonconvex losses, strongly monotone game."""

from sympy import Rational, log, sqrt

from bounds.core.statement import UNBIASED, Kind
from bounds.incentfedavg.entry import averaged, entry, ge, le, names
from bounds.incentfedavg.lemma_4_3 import SHARP_STEP, STEP

m, H, R, r_hat, T, gamma = names("m H R r_hat T gamma")
L, nu, G, B, f_gap = names("L nu G B f_gap")
rho, delta_0, dist_0 = names("rho delta_0 dist_0")
q, kappa, s, Delta_sq_mean, Delta_sq_sup = names("q_rate kappa s Delta_sq_mean Delta_sq_sup")

ROUNDS = le("r_hat <= R - 1", r_hat, R - 1)
STEP_SIZE = (
    le("gamma <= 1/(32 L)", gamma, 1 / (32 * L)),
    le("gamma <= sqrt(2/153)/(m B H L)", gamma, sqrt(2) / (sqrt(153) * m * B * H * L)),
)
WARM_UP = ge(
    "r_hat >= ln(17 m^2 delta_0^2 B^2)/(2 ln(1/rho))",
    r_hat,
    log(17 * m**2 * delta_0**2 * B**2) / (2 * log(1 / rho)),
)
CONDITIONS = (*STEP, *STEP_SIZE, WARM_UP, ROUNDS)
SHARP_STEP_SIZE = (
    le("gamma <= 1/L", gamma, 1 / L),
    le("gamma <= 1/(2 L sqrt(H(H-1)))", gamma, 1 / (2 * L * sqrt(H * (H - 1)))),
    le("gamma <= 1/(L B sqrt(32 kappa H(H-1)))", gamma, 1 / (L * B * sqrt(32 * kappa * H * (H - 1)))),
)

PRINTED = (
    16 * f_gap / (gamma * T)
    + 8 * L * gamma * nu**2
    + Rational(153, 2) * (nu**2 + m * G**2) * m * L**2 * H**2 * gamma**2
    + 16
    * m**2
    * delta_0**2
    * G**2
    * (1 + 2 * L * gamma)
    * (rho ** (2 * r_hat) - rho ** (2 * R))
    / ((1 - rho**2) * (R - r_hat))
)
SHARP = (
    4 * f_gap / (gamma * T)
    + 2 * L * gamma * s * nu**2
    + 8 * L**2 * gamma**2 * (H - 1) * nu**2
    + 16 * L**2 * gamma**2 * H * (H - 1) * kappa * G**2
    + 4 * m * G**2 * Delta_sq_mean
)
INFEASIBILITY = (rho ** (2 * r_hat) - rho ** (2 * R)) / ((1 - rho**2) * (R - r_hat)) * dist_0**2
SHARP_INFEASIBILITY = (q ** (2 * r_hat) - q ** (2 * R)) / ((1 - q**2) * (R - r_hat)) * dist_0**2

SURVIVES_SMALL_B = (
    "The proof invokes Lemma 4.13, whose condition gamma <= 1/(sqrt(3) H L) does not follow from the "
    "conditions here when m B < sqrt(6/153). The bound survives: then m B^2 < 1, so ||grad f||^2 <= m (G^2 "
    "+ B^2 ||grad f||^2) makes all gradients bounded, (1/m) sum ||grad f_i||^2 <= G^2/(1 - m B^2), and "
    "e_bar_k <= gamma^2 H^2 (nu^2 + m G^2/(1 - m B^2)) lies below the 9 gamma^2 H^2 (nu^2 + m G^2) that is "
    "used."
)
_WEIGHTS = (
    "Lemma 4.2 fails at round boundaries for the average printed (weights p_{i,r}); the bound is proved for "
    "the average with p_{i,r+1}, the weights that Algorithm 1 aggregates with, and delta_{r+1} <= delta_r "
    "keeps the constants."
)

STATEMENTS = (
    *entry(
        "Theorem 4.6(i-1)",
        Kind.BOUND,
        source="Section 4.1, Theorem 4.6(i-1)",
        quantity=averaged("grad_f_sq"),
        sampling=UNBIASED,
        printed={
            "expression": PRINTED,
            "hypotheses": CONDITIONS,
            "note": f"{_WEIGHTS} {SURVIVES_SMALL_B}",
        },
        corrected={"note": f"Same bound, of the average with p_{{i,r+1}}. {SURVIVES_SMALL_B}"},
        sharp={
            "expression": SHARP,
            "hypotheses": (
                *SHARP_STEP,
                *SHARP_STEP_SIZE,
                le("m B^2 Delta_r^2 <= 1/8 for r >= r_hat", m * B**2 * Delta_sq_sup, Rational(1, 8)),
                ROUNDS,
            ),
            "note": "Descent lemma with the polarisation identity; gamma <= 1/L absorbs the average "
            "gradient; the consensus term vanishes at H = 1; 1/2 - 1/8 - 1/8 = 1/4. kappa and s over r_hat "
            "<= r < R suffice here (over all r where the a-priori start gap is used).",
        },
    ),
    *entry(
        "Theorem 4.6(i-2)",
        Kind.BOUND,
        source="Section 4.1, Theorem 4.6(i-2)",
        quantity="ne_infeasibility",
        printed={"expression": INFEASIBILITY, "hypotheses": (*STEP, ROUNDS), "note": ""},
        corrected={
            "note": "Identical to printed. The conditions on gamma and the warm-up play no part in it."
        },
        sharp={
            "expression": SHARP_INFEASIBILITY,
            "hypotheses": (*SHARP_STEP, ROUNDS),
            "note": "The same sum with the best contraction rate.",
        },
    ),
)
