"""Theorem 4.9: convex losses, strongly monotone game."""

from sympy import Rational, cbrt, log, sqrt

from bounds.core.statement import UNBIASED, Kind
from bounds.incentfedavg.entry import averaged, entry, ge, le, lt, names
from bounds.incentfedavg.lemma_4_3 import SHARP_STEP, STEP
from bounds.incentfedavg.theorem_4_6 import INFEASIBILITY, ROUNDS, SHARP_INFEASIBILITY

m, H, R, r_hat, T, gamma = names("m H R r_hat T gamma")
L, nu, G, B, S, D_r_hat = names("L nu G B S D_r_hat")
rho, delta_0 = names("rho delta_0")
s, sigma_sq, omega, Delta_mean, Delta_sq_mean, A_sum = names(
    "s sigma_sq omega Delta_mean Delta_sq_mean A_sum"
)

SHRINKAGE = m * gamma * sqrt(delta_0) * H / (1 - rho ** Rational(1, 2))
STEP_SIZE = (
    le(
        "gamma <= 1/(m H sqrt(delta_0)/(1 - sqrt(rho)) + 24 L H B sqrt(m))",
        gamma,
        1 / (m * H * sqrt(delta_0) / (1 - rho ** Rational(1, 2)) + 24 * L * H * B * sqrt(m)),
    ),
    le("gamma <= 1/(16 L)", gamma, 1 / (16 * L)),
    le("gamma <= 1/(2 m L)", gamma, 1 / (2 * m * L)),
    le("gamma <= 1/(16 L m^2 B^2 delta_0)", gamma, 1 / (16 * L * m**2 * B**2 * delta_0)),
    le("gamma <= 1/(sqrt(3) H L)", gamma, 1 / (sqrt(3) * H * L)),
)
WARM_UP = ge(
    "r_hat >= ln(delta_0 (16 L^2 B^4)^(1/3))/ln(1/rho)",
    r_hat,
    log(delta_0 * cbrt(16 * L**2 * B**4)) / log(1 / rho),
)
WELL_DEFINED = lt(
    "m gamma sqrt(delta_0) H/(1 - sqrt(rho)) < 1",
    SHRINKAGE,
    1,
)
CONDITIONS = (*STEP, *STEP_SIZE, WARM_UP, WELL_DEFINED, ROUNDS)

_START = 4 * D_r_hat**2 / (gamma * T)
_NOISE = 4 * gamma * nu**2
_WEIGHTS = 16 * gamma * m**2 * delta_0**2 * G**2 * H / (T * (1 - rho**2))
_LINEAR = 4 * delta_0 * sqrt(delta_0) * (G**2 + S) * H / (T * (1 - rho ** Rational(3, 2)))
PRINTED = (_START + 72 * gamma**2 * L * (nu**2 + m * G**2) * H**3 / T + _NOISE + _WEIGHTS + _LINEAR) / (
    1 - SHRINKAGE
)
CORRECTED = (_START + 72 * gamma**2 * L * (nu**2 + m * G**2) * H**2 + _NOISE + _WEIGHTS + _LINEAR) / (
    1 - SHRINKAGE
)
SHARP = (
    2 * D_r_hat**2 / (gamma * T)
    + Rational(9, 2) * L * gamma**2 * (H - 1) * (nu**2 + 4 * H * sigma_sq)
    + 2 * gamma * s * nu**2
    + 2 * S / (L * sqrt(m)) * Delta_mean
    + 16 * gamma * S * Delta_sq_mean
)
SHARP_STEP_SIZE = (
    le("gamma <= 1/(16 L)", gamma, 1 / (16 * L)),
    le("gamma <= 1/(L sqrt(72 omega H(H-1)))", gamma, 1 / (L * sqrt(72 * omega * H * (H - 1)))),
)

FACTOR_M = (
    "The proof of Lemma 6.7 loses a factor m in sum_i ||grad f_i||^2 <= m (G^2 + 2 L B^2 D), but its "
    "printed form survives with the delta_r of Lemma 4.3, so threshold and last term stay as printed (see "
    "Lemma 6.7); never combine them with a sharper delta_0."
)
DELTA_ABOVE_ONE = (
    "The proof of Lemma 6.8 uses 4 L gamma m^2 delta_r^2 B^2 <= 1/4, which fails for delta_r > 1; the step "
    "survives with min(delta_r, 1) as the bound on |p_i - p*_i|."
)

STATEMENTS = (
    *entry(
        "Theorem 4.9(i-1)",
        Kind.BOUND,
        source="Section 4.1, Theorem 4.9(i-1); proof in Section 6.2",
        quantity=averaged("f_gap_avg"),
        sampling=UNBIASED,
        printed={
            "expression": PRINTED,
            "hypotheses": CONDITIONS,
            "note": "False as printed: summing Lemma 6.9 over the rounds forgets their number R - r_hat, "
            "so the drift term 72 gamma^2 L (nu^2 + m G^2) H^3/(T_R - T_r_hat) decays where it must not. G "
            "and B are the printed pair of Lemma 6.5. Not invariant under scaling f (delta_0^(3/2) (G^2 + "
            f"S) has the unit of f^2/x^2). {DELTA_ABOVE_ONE}",
        },
        corrected={
            "expression": CORRECTED,
            "note": "The drift term is 72 gamma^2 L (nu^2 + m G^2) H^2, without decay in T. G and B are "
            f"the corrected pair of Lemma 6.5; the average has weights p_{{i,r+1}}. {FACTOR_M} "
            f"{DELTA_ABOVE_ONE} Not invariant under scaling f: delta_0^(3/2) (G^2 + S) has the unit of "
            "f^2/x^2.",
        },
        sharp={
            "expression": SHARP,
            "hypotheses": (
                *SHARP_STEP,
                *SHARP_STEP_SIZE,
                le("gamma <= ln 2/(L H A)", gamma, log(2) / (L * H * A_sum)),
                ROUNDS,
            ),
            "note": "f_i convex and L-smooth with a minimiser x* of f: no sign, G, B or warm-up condition. "
            "Linear in Delta where `corrected` has delta^(3/2), so neither is always the smaller; planning "
            "may take the smaller. A sums over all r >= r_hat; the sum over r_hat <= r < R would do. The "
            "consensus bound also holds with weights that decrease within a round; so (4/5) e^(gamma L H A) "
            "may stand for the factor 2 that all terms share, and the condition with ln 2 may go.",
        },
    ),
    *entry(
        "Theorem 4.9(i-2)",
        Kind.BOUND,
        source="Section 4.1, Theorem 4.9(i-2), which refers to Theorem 4.6(i-2)",
        quantity="ne_infeasibility",
        printed={
            "expression": INFEASIBILITY,
            "hypotheses": (*STEP, ROUNDS),
            "note": "It is Theorem 4.6(i-2).",
        },
        corrected={"note": "Identical to printed; it is Theorem 4.6(i-2)."},
        sharp={
            "expression": SHARP_INFEASIBILITY,
            "hypotheses": (*SHARP_STEP, ROUNDS),
            "note": "It is the sharp Theorem 4.6(i-2).",
        },
    ),
)
