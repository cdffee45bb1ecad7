"""Theorems 4.6(ii) and 4.9(ii): the O(.) parts, term by term. Orders, not guarantees."""

from sympy import Integer, Rational, log, oo, sqrt

from bounds.core.functions import Largest
from bounds.core.statement import UNBIASED, Kind
from bounds.incentfedavg.entry import entry, gt, lt, names
from bounds.incentfedavg.lemma_4_3 import STEP
from bounds.incentfedavg.theorem_4_9 import WARM_UP

m, H, r_hat, L, nu, G, B, S, epsilon = names("m H r_hat L nu G B S epsilon")
rho, delta_0, dist_0, N_star_l1, f_sup, f_star, D = names("rho delta_0 dist_0 N_star_l1 f_sup f_star D_r_hat")

_ROOT = 1 - rho ** Rational(1, 2)
_NONCONVEX = {
    "R_1": ((f_sup - f_star) ** 2 + L**2 * nu**4 + m**2 * L**4 * H**4 * (nu**2 + m * G**2) ** 2)
    / (H * epsilon**2),
    "R_2": log(
        dist_0**2 * Largest(sqrt(192) * m * (m - 1) * G / N_star_l1, 1) ** 2 / ((1 - rho**2) * L**2 * epsilon)
    )
    / log(1 / rho),
    "R_3": log(17 * m**2 * delta_0**2 * B**2) / log(1 / rho),
    "R_4": H * (m * B * L) ** 2,
    "R_5": L**2 / H,
}
_NONCONVEX_CORRECTED = {
    **_NONCONVEX,
    "R_2": log(Largest(68 * m**2 * delta_0**2 * G**2, 2 * dist_0**2) / ((1 - rho**2) * epsilon))
    / log(1 / rho),
    "R_6": Integer(1),
}
_STEP_SIZES = (
    (m * H * sqrt(delta_0) / _ROOT + 24 * L * H * B * sqrt(m)) ** 2 / H,
    256 * L**2 / H,
    4 * m**2 * L**2 / H,
    (16 * L * m**2 * B**2 * delta_0) ** 2 / H,
    3 * H * L**2,
    r_hat + 1,
    4 * H * r_hat**2,
    2 * r_hat,
)
_CONVEX = {
    "R_1": (D**4 + nu**4) / (H * epsilon**2),
    "R_2": sqrt(L * (nu**2 + m * G**2) / (H * epsilon)),
    "R_3": (m**2 * delta_0**2 * G**2 / ((1 - rho**2) * epsilon)) ** Rational(2, 3) / H ** Rational(1, 3),
    "R_4": delta_0 * sqrt(delta_0) * (G**2 + S) / ((1 - rho ** Rational(3, 2)) * epsilon),
    "R_hat": Largest(*_STEP_SIZES),
}
_CONVEX_CORRECTED = {
    **_CONVEX,
    "R_2": L * (nu**2 + m * G**2) * H / epsilon,
    "R_hat": Largest(*_STEP_SIZES, 4 * H * (m * sqrt(delta_0) / _ROOT) ** 2),
}
_NOT_A_GUARANTEE = (
    "These are orders up to unstated constants, not guarantees: no number of rounds follows from them."
)

STATEMENTS = (
    *entry(
        "Theorem 4.6(ii)",
        Kind.ORDER,
        source="Section 4.1, Theorem 4.6(ii)",
        quantity="rounds_epsilon_nonconvex",
        sampling=UNBIASED,
        printed={
            "terms": _NONCONVEX,
            "hypotheses": (*STEP, lt("sup f < infinity", f_sup, oo), gt("inf f > -infinity", f_star, -oo)),
            "text": "gamma = (R H)^(-1/2), r_hat = R/2.",
            "note": "R_2 divides by L^2 inside the logarithm and compares a number of unit N with 1: it is "
            "neither invariant under scaling N nor under scaling f. R_4 and R_5 compare L^2 with R H, as "
            "gamma = (R H)^(-1/2) does. The proof divides the last term by R H where (i-1) divides by R. "
            f"r_hat = R/2 needs R even, and R_epsilon >= 1 is not among the terms. {_NOT_A_GUARANTEE}",
        },
        corrected={
            "terms": _NONCONVEX_CORRECTED,
            "note": "R_2 from 34 m^2 delta_0^2 G^2 rho^R/((1-rho^2) R) <= epsilon/2 and 2 dist_0^2 "
            "rho^R/((1-rho^2) R) <= epsilon; 1 joins the maximum; R even. Still not invariant under "
            f"scaling f, since gamma = (R H)^(-1/2) has no unit. {_NOT_A_GUARANTEE}",
        },
    ),
    *entry(
        "Theorem 4.9(ii)",
        Kind.ORDER,
        source="Section 4.1, Theorem 4.9(ii); proof in Section 6.2",
        quantity="rounds_epsilon_convex",
        sampling=UNBIASED,
        printed={
            "terms": _CONVEX,
            "hypotheses": (*STEP, WARM_UP),
            "text": "gamma = (R H)^(-1/2); R_hat collects the conditions on gamma and R.",
            "note": "R_2 rests on the decaying drift term of the printed (i-1), and has 1/H where even "
            "that term gives H: L (nu^2 + m G^2) H^3/(R H)^2 = epsilon. b_hat = 1/(1 - sqrt(delta_0) H/(2 "
            "L (1 - sqrt(rho)))) drops gamma and can be negative. `R_hat sufficiently large` is made "
            f"explicit here from the conditions of (i). {_NOT_A_GUARANTEE}",
        },
        corrected={
            "terms": _CONVEX_CORRECTED,
            "note": "R_2 = L (nu^2 + m G^2) H/epsilon, from the drift term without decay; R_hat also "
            "ensures that the factor before the bracket is at most b_hat = 2: R >= 4 H (m sqrt(delta_0)/(1 "
            f"- sqrt(rho)))^2. {_NOT_A_GUARANTEE}",
        },
    ),
)
