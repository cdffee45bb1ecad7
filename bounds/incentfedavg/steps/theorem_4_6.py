"""Theorem 4.6 (nonconvex loss, strongly monotone game): (i-1) and (i-2).

Means over k = T_r_hat .. T_R - 1 are written `grad_f_sq_mean`, `e_bar_mean`; `rho_mean` is (rho^2r_hat -
rho^2R)/((1-rho^2)(R-r_hat)).
"""

from __future__ import annotations

from sympy import Expr, Integer, Rational, sqrt

from bounds.core.step import Relation, eq, ge, le, lt
from bounds.incentfedavg.steps.common import DELTA, DELTA_0, GAMMA, GRAD, GRADS, NU, RHO, B, E, G, H, L, M
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    integer,
    natural,
    nonnegative,
    obliged,
    positive,
    real,
    repaired,
)

MEAN, E_MEAN, RHO_MEAN, F_GAP = nonnegative("grad_f_sq_mean e_bar_mean rho_mean f_gap")
(ROUNDS,) = natural("rounds")  # R - r_hat
T = H * ROUNDS
DRIFT = NU**2 + M * G**2
FACTOR = (Rational(1, 2) + L * GAMMA) * M * L**2
STEP_L = {"gamma <= 1/(32 L)": le(GAMMA, 1 / (32 * L))}
STEP_B = {"gamma <= sqrt(2)/(sqrt(153) m B H L)": le(153 * M**2 * B**2 * H**2 * L**2 * GAMMA**2, 2)}
LATE = {"17 m^2 delta_r_hat^2 B^2 <= 1": le(17 * M**2 * DELTA**2 * B**2, 1)}
COEFFICIENT = Rational(1, 4) - M**2 * DELTA**2 * B**2 * (1 + 2 * L * GAMMA) - 2 * L * GAMMA


def one_step(progress: Expr) -> Relation:
    """The drift inequality of one step, `progress` = E f(x_bar_k) - E f(x_bar_{k+1})."""
    return le(
        COEFFICIENT * GAMMA * GRAD,
        progress
        + L * GAMMA**2 * NU**2 / 2
        + (Rational(1, 2) + L * GAMMA) * M * L**2 * GAMMA * E
        + M**2 * DELTA**2 * G**2 * GAMMA * (1 + 2 * L * GAMMA),
    )


def bound(scale: int, weights: Expr) -> Relation:
    """(1/16) mean <= ..., or the theorem's (i-1) with `scale` 16."""
    return le(
        Rational(scale, 16) * MEAN,
        scale * F_GAP / (GAMMA * T)
        + scale * L * GAMMA * NU**2 / 2
        + scale * M**2 * G**2 * (1 + 2 * L * GAMMA) * weights
        + Rational(scale * 153, 32) * DRIFT * M * L**2 * H**2 * GAMMA**2,
    )


INNER, F_NOW, F_AFTER = real("inner f_now f_after")
(SECOND_MOMENT,) = nonnegative("g_bar_sq")
DESCENT = le(F_AFTER, F_NOW - GAMMA * INNER + L * GAMMA**2 / 2 * SECOND_MOMENT)


def books() -> tuple[Book, ...]:
    """(i-1), its saving where Lemma 4.13 does not apply, and (i-2)."""
    return _printed(), _corrected(), _part_i2()


def gap_of_lemma_4_13(book: Book, survives: tuple[str, ...]) -> None:
    """The step sizes of the theorem do not give gamma <= 1/(sqrt(3) H L) when B is small."""
    wanted = le(GAMMA, 1 / (sqrt(Integer(3)) * H * L))
    book.invokes(
        "Lemma 4.13(iii)",
        wanted,
        {**STEP_L, **STEP_B},
        text="invokes Lemma 4.13(iii): gamma <= 1/(sqrt(3) H L)",
        cases=(case(gamma="1/32", L=1, B=0, m=2, H=32),),
        survives_by=survives,
        repair=repaired(
            (
                "with m B >= 1/8",
                obliged(wanted, {**STEP_L, **STEP_B, "m B >= 1/8": ge(M * B, Rational(1, 8))}),
            ),
            (
                "with m B >= 1/5",
                obliged(wanted, {**STEP_L, **STEP_B, "m B >= 1/5": ge(M * B, Rational(1, 5))}),
            ),
            ("with gamma <= 1/(sqrt(3) H L) assumed", obliged(wanted, {"gamma <= 1/(sqrt(3) H L)": wanted})),
        ),
    )
    (k,) = integer("k")
    at_zero = ge(k, 1)
    for lemma in ("Lemma 4.12", "Lemma 4.14(b)"):
        book.invokes(
            lemma,
            at_zero,
            {"k >= T_r_hat >= 0": ge(k, 0)},
            text=f"invokes {lemma}, stated for k >= 1, at every k >= T_r_hat (k = 0 when r_hat = 0)",
            cases=(case(k=0),),
            survives_by=("Lemma 4.12/11", "Lemma 4.14(b)/2"),
            repair=repaired(("the lemma for k >= 0 (its proof does not use k >= 1)", obliged(ge(k, 0)))),
        )


def descent_with_lemmas() -> dict[str, Relation]:
    """What the one-step bound follows from."""
    return {
        "descent": DESCENT,
        "Lemma 4.12": ge(
            INNER,
            -(M**2) * DELTA**2 * G**2 - M * L**2 / 2 * E + (Rational(1, 4) - M**2 * DELTA**2 * B**2) * GRAD,
        ),
        "Lemma 4.14(b)": le(
            SECOND_MOMENT,
            NU**2 + 2 * M * L**2 * E + 4 * M**2 * DELTA**2 * G**2 + 4 * (M**2 * DELTA**2 * B**2 + 1) * GRAD,
        ),
    }


def _printed() -> Book:
    book = Book("Theorem 4.6(i-1)", "section 4.3, proof of Theorem 4.6 (i-1)")
    saved = tuple(f"Theorem 4.6(i-1)/{k}@corrected" for k in range(1, 6))
    gap_of_lemma_4_13(book, saved)
    book.step(
        "f(x_bar_{k+1}) <= f(x_bar_k) - gamma grad f^T g_bar + (L gamma^2/2) ||g_bar||^2",
        DESCENT,
        {
            "descent lemma with x_bar_{k+1} - x_bar_k = -gamma g_bar": le(
                F_AFTER, F_NOW + (-GAMMA * INNER) + L / 2 * (GAMMA**2 * SECOND_MOMENT)
            )
        },
        uses=("Remark 6.1", "Lemma 4.2"),
    )
    book.step(
        "taking expectations, with Lemmas 4.12 and 4.14",
        one_step(F_NOW - F_AFTER),
        descent_with_lemmas(),
        uses=("Lemma 4.12", "Lemma 4.14(b)"),
        sharp=True,
    )
    _summed(book)
    _numbers(book)
    book.step(
        "(1/16) mean <= (gamma T)^{-1} (E f - f*) + L gamma nu^2/2 + m^2 delta_0^2 G^2 (1 + 2 L gamma)"
        " rho_mean"
        " + (153/32) (nu^2 + m G^2) m L^2 H^2 gamma^2",
        bound(1, DELTA_0**2 * RHO_MEAN),
        _before_last(),
        uses=("Theorem 4.6(i-1)/7", "Theorem 4.6(i-1)/9", "Theorem 4.6(i-1)/13"),
    )
    book.step(
        "multiplying by 16, k* uniform: the theorem",
        bound(16, DELTA_0**2 * RHO_MEAN),
        {"the preceding bound": bound(1, DELTA_0**2 * RHO_MEAN)},
        sharp=True,
    )
    return book


def _summed(book: Book) -> None:
    start, end = real("f_start f_end")
    (first,) = nonnegative("delta_hat")
    book.step(
        "delta_r <= delta_r_hat for r >= r_hat, so the coefficient only grows",
        le(
            (Rational(1, 4) - M**2 * first**2 * B**2 * (1 + 2 * L * GAMMA) - 2 * L * GAMMA) * GAMMA * GRAD,
            (Rational(1, 4) - M**2 * DELTA**2 * B**2 * (1 + 2 * L * GAMMA) - 2 * L * GAMMA) * GAMMA * GRAD,
        ),
        {"delta_r <= delta_r_hat": le(DELTA, first)},
    )
    e_sum, grad_sum, rho_sum = nonnegative("e_bar_sum grad_f_sq_sum rho_2r_sum")
    book.step(
        "summing over k, dividing by gamma T, and Lemma 4.13(iii)",
        le(
            COEFFICIENT * grad_sum / T,
            (start - end) / (GAMMA * T)
            + L * GAMMA * NU**2 / 2
            + FACTOR * 9 * GAMMA**2 * DRIFT * H**2
            + FACTOR * 9 * M * GAMMA**2 * B**2 * H**2 / T * grad_sum
            + M**2 * DELTA_0**2 * G**2 * (1 + 2 * L * GAMMA) * rho_sum / T,
        ),
        {
            "the summed drift inequality": le(
                COEFFICIENT * GAMMA * grad_sum,
                start
                - end
                + L * GAMMA**2 * NU**2 / 2 * T
                + FACTOR * GAMMA * e_sum
                + M**2 * DELTA_0**2 * G**2 * GAMMA * (1 + 2 * L * GAMMA) * rho_sum,
            ),
            "Lemma 4.13(iii)": le(
                e_sum, 9 * M * GAMMA**2 * B**2 * H**2 * grad_sum + 9 * GAMMA**2 * DRIFT * H**2 * T
            ),
        },
        uses=("Lemma 4.13(iii)",),
    )
    r, r_hat = integer("R r_hat")
    book.step("T_R - T_r_hat = H (R - r_hat)", eq(H * r - H * r_hat, H * (r - r_hat)))
    total, last, first_power = nonnegative("partial last first")
    book.induction(
        "sum_{k} rho^{2r} = sum_r H rho^{2r} = H (rho^2r_hat - rho^2R)/(1 - rho^2)",
        eq(H * first_power, H * (first_power - first_power * RHO**2) / (1 - RHO**2)),
        eq(total + H * last, H * (first_power - last * RHO**2) / (1 - RHO**2)),
        {
            "induction hypothesis": eq(total, H * (first_power - last) / (1 - RHO**2)),
            "rho < 1": lt(RHO, 1),
        },
    )


def _numbers(book: Book) -> None:
    book.step(
        "(1/2 + L gamma) m L^2 9 m gamma^2 B^2 H^2 <= 1/16",
        le(FACTOR * 9 * M * GAMMA**2 * B**2 * H**2, Rational(1, 16)),
        {**STEP_L, **STEP_B},
        sharp=True,
    )
    rate, log_c, (r_hat,) = positive("ln_1_over_rho")[0], real("ln_17_m2_delta02_B2")[0], nonnegative("r_hat")
    book.step(
        "r_hat >= ln(17 m^2 delta_0^2 B^2)/(2 ln(1/rho)) gives 17 m^2 delta_0^2 rho^{2 r_hat} B^2 <= 1"
        " (in logarithms)",
        le(log_c - 2 * r_hat * rate, 0),
        {"the condition on r_hat": ge(r_hat, log_c / (2 * rate))},
        sharp=True,
    )
    book.step(
        "m^2 delta_r_hat^2 B^2 (1 + 2 L gamma) <= 1/16",
        le(M**2 * DELTA**2 * B**2 * (1 + 2 * L * GAMMA), Rational(1, 16)),
        {**LATE, **STEP_L},
        sharp=True,
    )
    book.step(
        "so the coefficient left is at least 1/4 - 1/16 - 1/16 - 1/16 = 1/16",
        ge(COEFFICIENT - FACTOR * 9 * M * GAMMA**2 * B**2 * H**2, Rational(1, 16)),
        {**LATE, **STEP_L, **STEP_B},
        uses=("Theorem 4.6(i-1)/10", "Theorem 4.6(i-1)/12"),
        cases=(case(L=1, gamma="1/32", m=1, H=1, B="3658636/1000000", delta_r="662911/10000000"),),
        sharp=True,
    )


def _before_last() -> dict[str, Relation]:
    coefficient = nonnegative("coefficient_left")[0]
    return {
        "the summed display, the mean's terms collected": le(
            coefficient * MEAN,
            F_GAP / (GAMMA * T)
            + L * GAMMA * NU**2 / 2
            + FACTOR * 9 * GAMMA**2 * DRIFT * H**2
            + M**2 * DELTA_0**2 * G**2 * (1 + 2 * L * GAMMA) * RHO_MEAN,
        ),
        "the coefficient left is >= 1/16": ge(coefficient, Rational(1, 16)),
        **STEP_L,
    }


def _corrected() -> Book:
    """Where Lemma 4.13 does not apply (m B < 1/4) the gradients are bounded and the printed bound holds
    anyway."""
    book = Book("Theorem 4.6(i-1)", "section 4.3, proof of Theorem 4.6 (i-1)", "corrected")
    small = {"16 m^2 B^2 <= 1": le(16 * M**2 * B**2, 1)}
    book.step(
        "||grad f||^2 = ||sum p*_i grad f_i||^2 <= sum ||grad f_i||^2, termwise by Jensen and p*_i <= 1",
        le(nonnegative("p_star_i")[0] * nonnegative("grad_fi_sq")[0], nonnegative("grad_fi_sq")[0]),
        {"p*_i <= 1": le(nonnegative("p_star_i")[0], 1)},
    )
    book.step(
        "m B <= 1/4 and Assumption 4.5 everywhere: sum ||grad f_i||^2 <= (16/15) m G^2",
        le(GRADS, Rational(16, 15) * M * G**2),
        {"Assumption 4.5": le(GRADS / M, G**2 + B**2 * GRAD), "Jensen": le(GRAD, GRADS), **small},
        uses=("Theorem 4.6(i-1)/1@corrected",),
    )
    age, own = integer("age")[0], nonnegative("weighted_g_sq_sum")[0]
    book.step(
        "(20) with E||g_i||^2 <= nu^2 + ||grad f_i(x_i)||^2: e_bar <= gamma^2 H^2 (nu^2 + (16/15) m G^2)",
        le(E, GAMMA**2 * H**2 * (NU**2 + Rational(16, 15) * M * G**2)),
        {
            "(20)": le(E, GAMMA**2 * age * own),
            "k - T_r terms": le(own, age * (NU**2 + Rational(16, 15) * M * G**2)),
            "k - T_r <= H": le(age, H),
        },
        uses=("Lemma 4.13(i)/9",),
    )
    book.step(
        "which is within the consensus bound of Lemma 4.13(iii)",
        le(
            GAMMA**2 * H**2 * (NU**2 + Rational(16, 15) * M * G**2),
            9 * M * GAMMA**2 * B**2 * H**2 * MEAN + 9 * GAMMA**2 * DRIFT * H**2,
        ),
    )
    wanted = le(GAMMA, 1 / (sqrt(Integer(3)) * H * L))
    book.step(
        "m B >= 1/4: the theorem's step size gives gamma <= 1/(sqrt(3) H L)",
        wanted,
        {**STEP_L, **STEP_B, "m B >= 1/4": ge(M * B, Rational(1, 4))},
    )
    return book


def _part_i2() -> Book:
    book = Book("Theorem 4.6(i-2)", "section 4.3, proof of Theorem 4.6 (i-2)")
    (r,) = integer("r_star")
    book.step(
        "T_{r*} <= k* <= T_{r*+1} - 1 holds for exactly H values of k*, so r* is uniform on {r_hat, .., R-1}",
        eq((H * (r + 1) - 1) - H * r + 1, H),
    )
    now, dist, power = nonnegative("d_r dist_0 rho_to_r")
    book.step(
        "||N_{r*} - N*||^2 <= ||N_0 - N*||^2 rho^{2 r*}",
        le(now**2, dist**2 * power**2),
        {"Lemma 4.3(i)": le(now, power * dist)},
        uses=("Lemma 4.3(i)",),
        sharp=True,
    )
    total, squares, one = nonnegative("sum_so_far rho_sum d_sq")
    book.induction(
        "E||N_{r*} - N*||^2 <= ||N_0 - N*||^2 E[rho^{2 r*}], summed",
        le(one, dist**2 * power**2),
        le(total + one, dist**2 * (squares + power**2)),
        {"each r": le(one, dist**2 * power**2), "induction hypothesis": le(total, dist**2 * squares)},
    )
    last, first = nonnegative("last first")
    book.induction(
        "(1/(R - r_hat)) sum rho^{2r} = (rho^2r_hat - rho^2R)/((R - r_hat)(1 - rho^2))",
        eq(first / ROUNDS, (first - first * RHO**2) / (ROUNDS * (1 - RHO**2))),
        eq((total + last) / ROUNDS, (first - last * RHO**2) / (ROUNDS * (1 - RHO**2))),
        {"induction hypothesis": eq(total, (first - last) / (1 - RHO**2)), "rho < 1": lt(RHO, 1)},
    )
    return book
