"""The a-priori start: what the warm-up rounds can do to the gap and to the distance, from round 0."""

from sympy import Rational, exp, sqrt

from bounds.core.statement import UNBIASED, Edition, Kind, Statement
from bounds.incentfedavg.entry import VOCABULARY, names
from bounds.incentfedavg.lemma_4_3 import SHARP_STEP
from bounds.incentfedavg.theorem_4_6 import SHARP_STEP_SIZE
from bounds.incentfedavg.theorem_4_9 import SHARP_STEP_SIZE as CONVEX_STEP_SIZE

m, H, r_hat, gamma, L, nu, G, B, S = names("m H r_hat gamma L nu G B S")
f_gap_0, X_0, kappa, s, sigma_sq = names("f_gap_0 X_0 kappa s sigma_sq")
Delta_start, Delta_sq_start = names("Delta_start Delta_sq_start")

_STEPS = H * r_hat
GAP = exp(2 * L * gamma * m * B**2 * H * Delta_sq_start) * (
    f_gap_0
    + gamma
    * _STEPS
    * (
        L * gamma * s * nu**2 / 2
        + 2 * L**2 * gamma**2 * (H - 1) * nu**2
        + 4 * L**2 * gamma**2 * H * (H - 1) * kappa * G**2
    )
    + gamma * m * G**2 * H * Delta_sq_start
)
DISTANCE = exp(L * gamma * H * (2 * sqrt(m) * Delta_start + m * Delta_sq_start / 2)) * (
    X_0
    + gamma**2 * _STEPS * s * nu**2
    + Rational(9, 4) * L * gamma**3 * _STEPS * (H - 1) * (nu**2 + 4 * H * sigma_sq)
    + gamma * H * S * Delta_start / (L * sqrt(m))
    + 8 * gamma**2 * H * S * Delta_sq_start
)


START_GAP, START_DISTANCE = (
    Statement(
        id=name,
        edition=Edition.SHARP,
        kind=Kind.BOUND,
        quantity=quantity,
        expression=expression,
        hypotheses=(*SHARP_STEP, *step_size),
        source="not in the paper: replaces sup f < infinity of Theorem 4.6(ii) and the unknown D of Theorem "
        "4.9",
        note=note,
        sampling=UNBIASED,
        vocabulary=VOCABULARY,
    )
    for name, quantity, expression, step_size, note in (
        (
            "Start gap",
            "f_gap_start",
            GAP,
            SHARP_STEP_SIZE,
            "For the sharp Theorem 4.6(i-1), with kappa and s over all rounds; a corrected plan that uses "
            "it carries these step-size conditions in its certificate.",
        ),
        (
            "Start distance",
            "x_dist_sq_start",
            DISTANCE,
            CONVEX_STEP_SIZE,
            "For the sharp Theorem 4.9(i-1), with all maxima over all rounds; it bounds D_r_hat^2.",
        ),
    )
)
