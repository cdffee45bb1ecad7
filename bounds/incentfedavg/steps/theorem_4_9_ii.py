"""Theorem 4.9 (ii): the communication complexity with gamma = 1/sqrt(R H)."""

from __future__ import annotations

from sympy import Integer, sqrt

from bounds.core.step import Relation, eq, ge, gt, le
from bounds.incentfedavg.steps.common import (
    GAMMA,
    NU,
    B,
    H,
    L,
    M,
)
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    least_constant,
    nonnegative,
    obliged,
    positive,
    repaired,
)
from bounds.incentfedavg.steps.order_run import order_that_fails
from bounds.incentfedavg.steps.theorem_4_9 import DRIFT, A

SQRT_RH, EPS = positive("sqrt_RH epsilon")  # gamma = 1/sqrt_RH
(START, D_SQ, Z2, Z15) = nonnegative(
    "T_r_hat D_r_hat_sq m2_delta0_sq_G_sq_over_1_rho2 delta0_15_G_sq_S_over_1_rho15"
)
(R,) = positive("R")
LATE: dict[str, Relation] = {"R H >= 2 T_r_hat": le(2 * START, SQRT_RH**2)}
T_LEFT = SQRT_RH**2 - START
AHEAD = (gt(SQRT_RH**2, START),)  # R > r_hat


def books() -> tuple[Book, ...]:
    """Part (ii), printed and corrected."""
    return _printed_ii(), _corrected_ii()


def _printed_ii() -> Book:
    book = Book("Theorem 4.9(ii)", "appendix 6.2, proof of Theorem 4.9 (ii)")
    _b_hat(book)
    _displays(book)
    _collected(book)
    book.run(
        "R = O(max{R_1, R_2, R_3, R_4, R_hat}), O hiding numbers alone: one instance, x_0 = x*, nu ="
        " epsilon, epsilon -> 0",
        order_that_fails,
        uses=("Theorem 4.9(ii)/10",),
        fails_by=("Theorem 4.9(ii)/13",),
    )
    return book


def _b_hat(book: Book) -> None:
    """The factor b_hat."""
    wide = {
        "gamma <= 1/(2 m L)": le(GAMMA, 1 / (2 * M * L)),
        "gamma <= 1/(16 L)": le(GAMMA, 1 / (16 * L)),
        "gamma <= 1/(m A + 24 L H B sqrt(m))": le(GAMMA * (M * A + 24 * L * H * B * sqrt(M)), 1),
    }
    claim = le(1 / (1 - M * GAMMA * A), 1 / (1 - A / (2 * L)))
    book.step(
        "(1 - m gamma A)^{-1} <= (1 - A/(2 L))^{-1} = b_hat, A = sqrt(delta_0) H/(1 - rho^0.5)",
        claim,
        wide,
        cases=(case(m=1, L="1/4", A=1, gamma="1/10", H=1, B=1),),
        repair=repaired(
            (
                "when A < 2 L",
                obliged(
                    claim,
                    {
                        "gamma <= 1/(2 m L)": wide["gamma <= 1/(2 m L)"],
                        "A < 2 L": gt(2 * L - A, 0),
                        "c_min > 0": gt(1 - M * GAMMA * A, 0),
                    },
                ),
            )
        ),
    )


def _displays(book: Book) -> None:
    """(30) to (33): the four terms at gamma = 1/sqrt(R H)."""
    book.step(
        "1/(sqrt(R H) - T_r_hat/sqrt(R H)) <= 2/sqrt(R H) for R >= 4 T_r_hat^2/H",
        [le(SQRT_RH, 2 * (SQRT_RH - START / SQRT_RH)), gt(SQRT_RH - START / SQRT_RH, 0)],
        {"R H >= 4 T_r_hat^2": le(4 * START**2, SQRT_RH**2)},
        structure=(le(START, START**2),),  # T_r_hat is an integer
    )
    gamma_is = {"gamma = 1/sqrt(R H)": eq(GAMMA, 1 / SQRT_RH)}
    book.step(
        "(30), (31): the left sides at gamma = 1/sqrt(R H), T = R H - T_r_hat",
        [
            eq(4 * D_SQ / (GAMMA * T_LEFT), 4 * D_SQ / (SQRT_RH - START / SQRT_RH)),
            eq(72 * GAMMA**2 * L * DRIFT * H**3 / T_LEFT, 72 * L * DRIFT * H**3 / (SQRT_RH**2 * T_LEFT)),
        ],
        gamma_is,
        structure=AHEAD,
    )
    book.step(
        "(30): 4 D^2/(gamma T) <= 8 D^2/sqrt(R H)",
        le(4 * D_SQ * SQRT_RH / T_LEFT, 8 * D_SQ / SQRT_RH),
        LATE,
        structure=AHEAD,
    )
    book.step(
        "(31): 72 gamma^2 L (nu^2 + m G^2) H^3/T <= 144 L (nu^2 + m G^2) H^3/(R H)^2",
        le(72 * L * DRIFT * H**3 / (SQRT_RH**2 * T_LEFT), 144 * L * DRIFT * H**3 / SQRT_RH**4),
        LATE,
        structure=AHEAD,
    )
    power = nonnegative("rho_power")[0]
    book.step(
        "(32): 16 gamma m^2 delta_0^2 G^2 H (1 - rho^2R)/((1 - rho^2) T) <= 32 m^2 delta_0^2 G^2 H/((1 -"
        " rho^2) (R H)^1.5)",
        [
            le(16 * Z2 * H * (1 - power) / (SQRT_RH * T_LEFT), 16 * Z2 * H / (SQRT_RH * T_LEFT)),
            le(16 * Z2 * H / (SQRT_RH * T_LEFT), 32 * Z2 * H / SQRT_RH**3),
        ],
        LATE,
        structure=AHEAD,
    )
    book.step(
        "(33): 4 delta_0^1.5 (G^2 + S) H (1 - rho^1.5R)/((1 - rho^1.5) T) <= 8 delta_0^1.5 (G^2 + S)"
        " H/((1 - rho^1.5) R H)",
        [
            le(4 * Z15 * H * (1 - power) / T_LEFT, 4 * Z15 * H / T_LEFT),
            le(4 * Z15 * H / T_LEFT, 8 * Z15 * H / SQRT_RH**2),
        ],
        LATE,
        structure=AHEAD,
    )


def _collected(book: Book) -> None:
    _without_constants(book)
    _enough_rounds(book)


def _without_constants(book: Book) -> None:
    """(30)-(33) together, the constants left out."""
    gap, b_hat = nonnegative("f_gap_avg b_hat")
    count = positive("c")[0]
    terms = (
        D_SQ / SQRT_RH
        + L * DRIFT * H**3 / SQRT_RH**4
        + NU**2 / SQRT_RH
        + Z2 * H / SQRT_RH**3
        + Z15 * H / SQRT_RH**2
    )
    collected = {
        "(30) to (33)": le(
            gap,
            b_hat
            * (
                8 * D_SQ / SQRT_RH
                + 144 * L * DRIFT * H**3 / SQRT_RH**4
                + 4 * NU**2 / SQRT_RH
                + 32 * Z2 * H / SQRT_RH**3
                + 8 * Z15 * H / SQRT_RH**2
            ),
        )
    }
    book.step(
        "from (30)-(33): E f - f* <= b_hat (D^2/sqrt(R H) + ... ) without the constants 8, 144, 4, 32, 8",
        le(gap, b_hat * terms),
        collected,
        cases=(
            case(
                f_gap_avg=8,
                b_hat=1,
                D_r_hat_sq=1,
                sqrt_RH=1,
                L=1,
                H=1,
                m=1,
                nu=0,
                G=0,
                m2_delta0_sq_G_sq_over_1_rho2=0,
                delta0_15_G_sq_S_over_1_rho15=0,
            ),
        ),
        repair=least_constant(
            obliged(le(gap, count * b_hat * terms), collected),
            count,
            (1, 4, 8, 32, 143, 144),
            "{} b_hat (...)",
        ),
    )


def _enough_rounds(book: Book) -> None:
    """R_1 to R_4 make each term at most epsilon."""
    enough = {"R >= (D^4 + nu^4)/(H epsilon^2)": ge(R, (D_SQ**2 + NU**4) / (H * EPS**2))}
    book.step(
        "R >= R_1 gives D^2/sqrt(R H) <= epsilon and nu^2/sqrt(R H) <= epsilon (squared)",
        [le(D_SQ**2, EPS**2 * R * H), le(NU**4, EPS**2 * R * H)],
        enough,
    )
    drift = L * DRIFT
    says = le(drift * H**3 / (R * H) ** 2, EPS)
    book.step(
        "R >= R_2 = sqrt(L (nu^2 + m G^2)/(H epsilon)) gives L (nu^2 + m G^2) H^3/(R H)^2 <= epsilon",
        says,
        {"R^2 >= L (nu^2 + m G^2)/(H epsilon)": ge(R**2, drift / (H * EPS))},
        cases=(case(R=1, H=2, L=1, nu=1, G=0, m=1, epsilon="1/2"),),
        repair=repaired(
            (
                "R >= sqrt(L (nu^2 + m G^2) H/epsilon)",
                obliged(says, {"R^2 >= L (nu^2 + m G^2) H/epsilon": ge(R**2, drift * H / EPS)}),
            )
        ),
    )
    book.step(
        "R >= R_3 gives m^2 delta_0^2 G^2 H/((1 - rho^2) (R H)^1.5) <= epsilon (squared)",
        le(Z2**2 * H**2, EPS**2 * (R * H) ** 3),
        {"R^3 >= Z^2/(H epsilon^2)": ge(R**3, Z2**2 / (H * EPS**2))},
        sharp=True,
    )
    book.step(
        "R >= R_4 gives delta_0^1.5 (G^2 + S) H/((1 - rho^1.5) R H) <= epsilon",
        le(Z15 * H / (R * H), EPS),
        {"R >= Z/epsilon": ge(R, Z15 / EPS)},
        sharp=True,
    )


def _corrected_ii() -> Book:
    book = Book("Theorem 4.9(ii)", "appendix 6.2, proof of Theorem 4.9 (ii)", "corrected")
    (a,) = nonnegative("a")  # sqrt(delta_0)/(1 - rho^0.5)
    book.step(
        "b_hat = 2 once R >= 4 H (m sqrt(delta_0)/(1 - rho^0.5))^2: m gamma H a <= 1/2 (squared), gamma^2"
        " R H = 1",
        le((M * GAMMA * H * a) ** 2, Integer(1) / 4),
        {"gamma^2 R H = 1": eq(GAMMA**2, 1 / (R * H)), "R >= 4 H (m a)^2": ge(R, 4 * H * (M * a) ** 2)},
        sharp=True,
    )
    gap, one, two, three = nonnegative("f_gap_avg first_term third_term fourth_term")
    tail = 72 * L * DRIFT * H**2 / SQRT_RH**2 + 4 * NU**2 / SQRT_RH
    book.step(
        "E f - f* <= 2 (8 D^2/sqrt(RH) + 72 L (nu^2 + m G^2) H/R + 4 nu^2/sqrt(RH) + 32 Z_2 H/(RH)^1.5 +"
        " 8 Z_1.5 H/(RH)),"
        " H^2/(RH) = H/R",
        le(gap, 2 * (8 * D_SQ / SQRT_RH + 32 * Z2 * H / SQRT_RH**3 + 8 * Z15 * H / SQRT_RH**2 + tail)),
        {
            "the corrected (i-1), gamma = 1/sqrt(R H), b_hat = 2": le(gap, 2 * (one + two + three + tail)),
            "(30)": le(one, 8 * D_SQ / SQRT_RH),
            "(32)": le(two, 32 * Z2 * H / SQRT_RH**3),
            "(33)": le(three, 8 * Z15 * H / SQRT_RH**2),
        },
        uses=(
            "Theorem 4.9(i-1)/7@corrected",
            "Theorem 4.9(ii)/4",
            "Theorem 4.9(ii)/6",
            "Theorem 4.9(ii)/7",
        ),
    )
    book.step(
        "R >= R_2 = L (nu^2 + m G^2) H/epsilon gives L (nu^2 + m G^2) H/R <= epsilon",
        le(L * DRIFT * H / R, EPS),
        {"R >= R_2": ge(R, L * DRIFT * H / EPS)},
        sharp=True,
    )
    return book
