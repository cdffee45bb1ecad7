"""Theorem 4.6 (ii): the communication complexity with gamma = 1/sqrt(R H) and r_hat = R/2."""

from __future__ import annotations

from sympy import Rational, sqrt

from bounds.core.step import eq, ge, le, lt
from bounds.incentfedavg.steps.common import DELTA_0, GAMMA, NU, B, G, H, L, M
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    nonnegative,
    obliged,
    positive,
    real,
    repaired,
)
from bounds.incentfedavg.steps.theorem_4_6 import F_GAP, STEP_L

SQRT_RH, EPS, LEFT = positive("sqrt_RH epsilon one_minus_rho_sq")
(R,) = positive("R")
POWER, DIST, RATIO = nonnegative("rho_to_R dist_0 m1_over_N_star_l1")  # RATIO = (m-1)/||N*||_1
Z = M**2 * DELTA_0**2 * G**2  # m^2 delta_0^2 G^2
LARGE = {"R H >= L^2": ge(SQRT_RH, L), "R H = sqrt(R H)^2": eq(R, SQRT_RH**2 / H), "R >= 1": ge(R, 1)}


def books() -> tuple[Book, ...]:
    """Part (ii), printed and corrected."""
    return _printed_ii(), _corrected_ii()


def _printed_ii() -> Book:
    book = Book("Theorem 4.6(ii)", "section 4.3, proof of Theorem 4.6 (ii)")
    _step_size(book)
    _game_term(book)
    _rounds(book)
    _equilibrium(book)
    return book


def _step_size(book: Book) -> None:
    """The step size and the terms of learning at r_hat = R/2."""
    book.step(
        "R H >= M max{(m B L H)^2, L^2} for a suitable M gives both step-size conditions, gamma^2 R H = 1"
        " (M = 1024)",
        [le(GAMMA**2, 1 / (32 * L) ** 2), le(153 * M**2 * B**2 * H**2 * L**2 * GAMMA**2, 2)],
        {
            "gamma^2 R H = 1": eq(GAMMA**2, 1 / (R * H)),
            "R H >= 1024 L^2": ge(R * H, 1024 * L**2),
            "R H >= 1024 (m B L H)^2": ge(R * H, 1024 * M**2 * B**2 * L**2 * H**2),
        },
    )
    (log_k,), (rate,), (start_round,) = real("ln_17m2d2B2"), positive("ln_1_over_rho"), nonnegative("r_hat")
    book.step(
        "R >= R_3 gives r_hat = R/2 >= ln(17 m^2 delta_0^2 B^2)/(2 ln(1/rho))",
        ge(start_round, log_k / (2 * rate)),
        {"r_hat = R/2": eq(start_round, R / 2), "R >= R_3": ge(R, log_k / rate)},
        sharp=True,
    )
    half = SQRT_RH**2 / 2  # T_R - T_r_hat
    first = le(16 * F_GAP * SQRT_RH / half, 32 * F_GAP / SQRT_RH)
    book.step("16/(gamma T) (E f - f*) <= 32 (f_hat - f*)/sqrt(R H), T = R H/2", first, sharp=True)
    drift = Rational(153, 2) * (NU**2 + M * G**2) * M * L**2 * H**2
    book.step(
        "8 L gamma nu^2 = 8 L nu^2/sqrt(R H), and the drift term over R H, at gamma = 1/sqrt(R H)",
        [eq(8 * L * GAMMA * NU**2, 8 * L * NU**2 / SQRT_RH), eq(drift * GAMMA**2, drift / SQRT_RH**2)],
        {"gamma = 1/sqrt(R H)": eq(GAMMA, 1 / SQRT_RH)},
    )


def _game_term(book: Book) -> None:
    """The term of the game."""
    both = POWER - POWER**2  # rho^2r_hat - rho^2R with 2 r_hat = R
    weight = 16 * Z * (1 + 2 * L / SQRT_RH) * both / (LEFT * (R / 2))
    as_printed = le(weight, 32 * Z * (1 + 2 * L / SQRT_RH) * POWER / (LEFT * R * H))
    tiny = case(m=1, delta_0=1, G=1, L=1, sqrt_RH=2, R=2, H=2, rho_to_R="1/4", one_minus_rho_sq="3/4")
    book.step(
        "16 m^2 delta_0^2 G^2 (1 + 2 L gamma) (rho^2r_hat - rho^2R)/((1-rho^2)(R/2)) <= 32 (..)"
        " rho^2r_hat/((1-rho^2) R H)",
        as_printed,
        {"R H = sqrt(R H)^2": eq(R, SQRT_RH**2 / H)},
        cases=(tiny,),
        fails_by=("Theorem 4.6(ii)/15",),
        repair=repaired(
            (
                "32 (..) rho^2r_hat/((1-rho^2) R)",
                obliged(le(weight, 32 * Z * (1 + 2 * L / SQRT_RH) * POWER / (LEFT * R))),
            ),
        ),
    )


def _rounds(book: Book) -> None:
    """The rounds R_1."""
    a, b, c, total = nonnegative("a b c root")
    book.step(
        "32 a + 8 b + (153/2) c <= 153 sqrt(a^2 + b^2 + c^2), a = f_hat - f*, b = L nu^2, c = m L^2 H^2"
        " (nu^2 + m G^2), over sqrt(R H) >= 1",
        le(32 * a + 8 * b + Rational(153, 2) * c, 153 * total),
        {
            "a <= root": le(a, total),
            "b <= root": le(b, total),
            "c <= root = sqrt(a^2 + b^2 + c^2)": le(c, total),
        },
    )
    book.step(
        "32 m^2 delta_0^2 G^2 (1 + 2 L/sqrt(R H)) rho^R/((1-rho^2) R H) <= 96 m^2 delta_0^2"
        " G^2/((1-rho^2) L^2) rho^R",
        le(32 * Z * (1 + 2 * L / SQRT_RH) * POWER / (LEFT * SQRT_RH**2), 96 * Z / (LEFT * L**2) * POWER),
        {"R H >= L^2": ge(SQRT_RH, L)},
        sharp=True,
    )
    root_1 = nonnegative("sqrt_R_1_epsilon")[0]
    book.step(
        "R >= 306^2 R_1 gives 153 sqrt(H epsilon^2 R_1/(R H)) <= epsilon/2 (square roots of R and R_1)",
        le(153 * EPS * root_1, EPS / 2 * sqrt(R)),
        {"sqrt(R) >= 306 sqrt(R_1)": ge(sqrt(R), 306 * root_1)},
        sharp=True,
    )


def _equilibrium(book: Book) -> None:
    """The two uses of R_2, as printed: with L^2 in its denominator."""
    _gradient(book)
    _distance(book)


def _gradient(book: Book) -> None:
    """In the bound on the gradient."""
    worst = nonnegative("max_term")[0]  # max{sqrt(192) m (m-1) G/||N*||_1, 1}
    r_2 = {
        "R >= R_2": le(DIST**2 * worst**2 * POWER / (LEFT * L**2), EPS),
        "max >= sqrt(192) m (m-1) G/||N*||_1": ge(worst**2, 192 * M**2 * RATIO**2 * G**2),
        "max >= 1": ge(worst, 1),
    }
    (log_a,), (log_eps,) = real("ln_a"), real("ln_epsilon")
    (rate,) = positive("ln_1_over_rho")
    book.step(
        "R >= R_2 is a rho^R <= epsilon, a = ||N_0 - N*||^2 max{..}^2/((1-rho^2) L^2), in logarithms",
        le(log_a - R * rate, log_eps),
        {"R >= R_2 = ln(a/epsilon)/ln(1/rho)": ge(R, (log_a - log_eps) / rate)},
        sharp=True,
    )
    book.step(
        "R >= R_2 gives 96 m^2 delta_0^2 G^2/((1-rho^2) L^2) rho^R <= epsilon/2, delta_0 = (m-1) ||N_0 -"
        " N*||/||N*||_1",
        le(96 * M**2 * (RATIO * DIST) ** 2 * G**2 / (LEFT * L**2) * POWER, EPS / 2),
        r_2,
    )
    mean_sq, head = nonnegative("mean_grad_sq first_part")
    weights = 96 * M**2 * (RATIO * DIST) ** 2 * G**2 / (LEFT * L**2) * POWER
    book.step(
        "thus E||grad f(x_bar_k*)||^2 <= epsilon/2 + epsilon/2 = epsilon",
        le(mean_sq, EPS),
        {
            "the display": le(mean_sq, head + weights),
            "R >= 306^2 R_1": le(head, EPS / 2),
            "R >= R_2": le(weights, EPS / 2),
        },
        uses=("Theorem 4.6(ii)/8", "Theorem 4.6(ii)/10"),
    )


def _distance(book: Book) -> None:
    """In the bound on the distance."""
    (worst,) = nonnegative("max_term")
    last = nonnegative("rho_2R")[0]
    book.step(
        "||N_0 - N*||^2 (rho^2r_hat - rho^2R)/((1-rho^2)(R/2)) <= 2 ||N_0 - N*||^2 rho^R/((1-rho^2) R)",
        le(DIST**2 * (POWER - last) / (LEFT * (R / 2)), 2 * DIST**2 * POWER / (LEFT * R)),
    )
    claim = le(2 * DIST**2 * POWER / (LEFT * R), DIST**2 * worst**2 * POWER / (LEFT * L**2))
    point = case(dist_0=1, rho_to_R="1/4", one_minus_rho_sq="3/4", R=2, H=2, L=2, sqrt_RH=2, max_term=1)
    book.step(
        "2 ||N_0 - N*||^2 rho^R/((1-rho^2) R) <= ||N_0 - N*||^2 max{..}^2 rho^R/((1-rho^2) L^2), using R"
        " H >= L^2",
        claim,
        {**LARGE, "max >= 1": ge(worst, 1)},
        cases=(point,),
        fails_by=("Theorem 4.6(ii)/15",),
        repair=repaired(
            ("with R >= L^2", obliged(claim, {**LARGE, "max >= 1": ge(worst, 1), "R >= L^2": ge(R, L**2)})),
            ("with R >= 2 L^2", obliged(claim, {"max >= 1": ge(worst, 1), "R >= 2 L^2": ge(R, 2 * L**2)})),
        ),
    )
    distance = nonnegative("mean_dist_sq")[0]
    chain = DIST**2 * worst**2 * POWER / (LEFT * L**2)
    book.step(
        "E||N_{r*} - N*||^2 <= epsilon, since R >= R_2",
        le(distance, EPS),
        {"the preceding line": le(distance, chain), "R >= R_2": le(chain, EPS)},
        uses=("Theorem 4.6(ii)/13",),
        sharp=True,
    )
    mean, last = nonnegative("rho_2r_mean"), positive("rho_2R")
    book.step(
        "R = O(max{R_1, R_2, R_3, H (m B L)^2, L^2/H}) rounds, with a constant that depends on nothing"
        " else, suffice for E||N_{r*} - N*||^2 <= epsilon:"
        " for f constant (R_1 = 0,"
        " G = B = 0) and L^2 = H >= ||N_0 - N*||^2/((1-rho^2) epsilon) the max is 1 and R a constant, so"
        " rho^2R is one too",
        le(DIST**2 * mean[0], EPS),
        {
            "N contracting by rho exactly: the mean of rho^2r, r < R, is at least rho^2R": ge(
                mean[0], last[0]
            ),
            "R_2 <= 0": ge(L**2 * EPS * LEFT, DIST**2),
            "rho < 1": lt(last[0], 1),
        },
        cases=(
            case(dist_0=1000, rho_2r_mean="1/256", rho_2R="1/256", L=2000, epsilon=1, one_minus_rho_sq="3/4"),
        ),
        fails_by=("Theorem 4.6(ii)/15",),
    )


def _corrected_ii() -> Book:
    book = Book("Theorem 4.6(ii)", "section 4.3, proof of Theorem 4.6 (ii)", "corrected")
    weight = 16 * Z * (1 + 2 * L * GAMMA) * POWER / (LEFT * (R / 2))
    book.step(
        "the weight term is at most 34 m^2 delta_0^2 G^2 rho^R/((1-rho^2) R), gamma <= 1/(32 L)",
        le(weight, 34 * Z * POWER / (LEFT * R)),
        STEP_L,
        sharp=True,
    )
    book.step(
        "R >= R_2 = ln(max{68 m^2 delta_0^2 G^2, 2 ||N_0 - N*||^2}/((1-rho^2) epsilon))/ln(1/rho), R >="
        " 1: it is <= epsilon/2",
        le(34 * Z * POWER / (LEFT * R), EPS / 2),
        {"R >= R_2": le(68 * Z * POWER / LEFT, EPS), "R >= 1": ge(R, 1)},
        sharp=True,
    )
    book.step(
        "R >= R_2 also gives 2 ||N_0 - N*||^2 rho^R/((1-rho^2) R) <= epsilon",
        le(2 * DIST**2 * POWER / (LEFT * R), EPS),
        {"R >= R_2": le(2 * DIST**2 * POWER / LEFT, EPS), "R >= 1": ge(R, 1)},
        sharp=True,
    )
    a, b, c = nonnegative("a b c")
    book.step(
        "the first three terms are <= 153 sqrt(a^2 + b^2 + c^2)/sqrt(R H) <= epsilon/2 for R >= 306^2 R_1",
        le(32 * a + 8 * b + Rational(153, 2) * c, EPS / 2),
        {
            "306 a <= epsilon": le(306 * a, EPS),
            "306 b <= epsilon": le(306 * b, EPS),
            "306 c <= epsilon": le(306 * c, EPS),
        },
    )
    return book
