"""Lemmas 4.11 and 4.12: the average gradient, and its inner product with grad f (nonconvex setting)."""

from __future__ import annotations

from sympy import Add, Rational

from bounds.core.step import Obligation, Relation, eq, ge, le
from bounds.incentfedavg.steps.common import DELTA, GRAD, GRADS, B, E, G, L, M
from bounds.incentfedavg.steps.notation import (
    Book,
    cauchy_schwarz,
    dot,
    nonnegative,
    obliged,
    plus,
    real,
    times,
    vectors,
)

INNER, FIRST, SECOND = real("inner first_term second_term")
ASSUMPTION_4_5: dict[str, Relation] = {"Assumption 4.5": le(GRADS / M, G**2 + B**2 * GRAD)}


def books() -> tuple[Book, ...]:
    """As printed: every step stands (p_{i,r} being whatever weights x_bar_k is formed with)."""
    return _lemma_4_11(), _lemma_4_12()


def square_of_sum(extra: str = "") -> tuple[Obligation, ...]:
    """||sum_{t=1}^T y_t||^2 <= T sum ||y_t||^2 for T = 2, 3, 4 (one coordinate: the claim is a sum over
    them) and by
    induction for every T, in Gram scalars."""
    cases: list[Obligation] = []
    for count in (2, 3, 4):
        ys = real(" ".join(f"y_{t}" for t in range(1, count + 1)))
        cases += obliged(le(Add(*ys) ** 2, count * Add(*(y**2 for y in ys))), name=f"T = {count}{extra}")
    so_far, squares, one = nonnegative("sum_norm squares y_norm")
    (inner,) = real("sum_dot_y")
    cases += obliged(
        le(so_far**2 + 2 * inner + one**2, (M + 1) * (squares + one**2)),
        {"induction hypothesis": le(so_far**2, M * squares)},
        structure=cauchy_schwarz(inner, so_far, one),
        name="T to T + 1",
    )
    return tuple(cases)


def square_hints() -> tuple[object, ...]:
    """The squares behind `square_of_sum`: Lagrange's identity, and (||S|| - m ||y||)^2."""
    ys = real("y_1 y_2 y_3 y_4")
    so_far, one = nonnegative("sum_norm y_norm")
    return (*(ys[i] - ys[j] for i in range(4) for j in range(i)), so_far - M * one)


def _lemma_4_11() -> Book:
    book = Book("Lemma 4.11", "appendix 6.1, proof of Lemma 4.11")
    weights = nonnegative("p_1 p_2 p_3")
    vecs = vectors("g_1 g_2 g_3")
    bar = plus(*(times(w, g) for w, g in zip(weights, vecs, strict=True)))
    book.step(
        "sum_i p_i g_i^T g_bar = (sum_i p_i g_i)^T g_bar, m = 3",
        eq(Add(*(w * dot(g, bar) for w, g in zip(weights, vecs, strict=True))), dot(bar, bar)),
    )
    total, w, inner = real("inner_so_far")[0], nonnegative("p_i")[0], real("g_i_dot_g_bar")[0]
    acc = real("sum_dot_g_bar")[0]
    book.induction(
        "= ||g_bar||^2, by linearity for every m",
        eq(w * inner, w * inner),
        eq(total + w * inner, acc + w * inner),
        {"induction hypothesis": eq(total, acc)},
    )
    return book


def _lemma_4_12() -> Book:
    book = Book("Lemma 4.12", "section 4.3, proof of Lemma 4.12")
    _first_term(book)
    _second_term(book)
    return book


def _first_term(book: Book) -> None:
    """(11) and (12): the two terms, and the first."""
    noise, mean = real("grad_f_dot_noise_mean grad_f_dot_mean")
    book.step(
        "E[grad f^T g_bar | F_k] = grad f^T sum p_i grad f_i(x_i): the noise has mean zero",
        eq(mean + noise, mean),
        {"Assumption 2.1(ii)": eq(noise, 0)},
        uses=("Assumption 2.1(ii)",),
    )
    p, p_star, at_i, at_bar = *nonnegative("p_i p_star_i"), *real("a_dot_grad_i a_dot_grad_bar")
    book.step(
        "(11): adding and subtracting p_i grad f_i(x_bar) and p*_i grad f_i(x_bar), termwise",
        eq(p * at_i, p * (at_i - at_bar) + (p - p_star) * at_bar + p_star * at_bar),
    )
    a, b, ab = *nonnegative("a_norm b_norm"), real("a_dot_b")[0]
    shape = cauchy_schwarz(ab, a, b)
    book.step(
        "a^T b >= -||a||^2/2 - ||b||^2/2",
        ge(ab, -(a**2) / 2 - b**2 / 2),
        structure=shape,
        hints=(a - b,),
        sharp=True,
    )
    book.step(
        "||sum_{t=1}^T y_t||^2 <= T sum_{t=1}^T ||y_t||^2",
        obligations=square_of_sum(),
        hints=square_hints(),
    )
    change, dist = nonnegative("grad_change_sq dist_i_sq")
    book.step(
        "p_i^2 ||grad f_i(x_i) - grad f_i(x_bar)||^2 <= L^2 p_i ||x_i - x_bar||^2, termwise",
        le(p**2 * change, L**2 * p * dist),
        {"L-smoothness": le(change, L**2 * dist), "p_i <= 1": le(p, 1)},
        uses=("Assumption 2.1(i)",),
    )
    consensus, b_sq = nonnegative("weighted_change b_sq")
    book.step(
        "(12): first term >= -||grad f||^2/2 - (m L^2/2) e_bar",
        ge(FIRST, -GRAD / 2 - M * L**2 / 2 * E),
        {
            "Young": ge(FIRST, -GRAD / 2 - b_sq / 2),
            "the square of the sum": le(b_sq, M * consensus),
            "smoothness": le(consensus, L**2 * E),
        },
        uses=("Lemma 4.12/3", "Lemma 4.12/4", "Lemma 4.12/5"),
    )


def _second_term(book: Book) -> None:
    """(13): the second term, and the lemma."""
    a, b, b_sq = nonnegative("a_norm b_norm b_sq")
    (ab,) = real("a_dot_b")
    shape = cauchy_schwarz(ab, a, b)
    book.step(
        "a^T b >= -||a||^2/(2 lambda) - (lambda/2) ||b||^2 with lambda = 2",
        ge(ab, -(a**2) / 4 - b**2),
        structure=shape,
        hints=(a - 2 * b,),
        sharp=True,
    )
    (shift,) = real("weight_change")
    size = nonnegative("grad_fi_sq")[0]
    book.step(
        "(p_i - p*_i)^2 ||grad f_i||^2 <= delta_r^2 ||grad f_i||^2, termwise",
        le(shift**2 * size, DELTA**2 * size),
        {"p_i - p*_i <= delta_r": le(shift, DELTA), "p*_i - p_i <= delta_r": le(-shift, DELTA)},
        uses=("Lemma 4.3(ii)",),
    )
    weighted = nonnegative("weighted_grads")[0]
    book.step(
        "second term >= -||grad f||^2/4 - m delta_r^2 sum ||grad f_i||^2",
        ge(SECOND, -GRAD / 4 - M * DELTA**2 * GRADS),
        {
            "Young": ge(SECOND, -GRAD / 4 - b_sq),
            "the square of the sum": le(b_sq, M * weighted),
            "the weights": le(weighted, DELTA**2 * GRADS),
        },
        uses=("Lemma 4.12/7", "Lemma 4.12/4", "Lemma 4.12/8"),
    )
    book.step(
        "(13): second term >= -m^2 delta_r^2 G^2 - (1/4 + m^2 delta_r^2 B^2) ||grad f||^2",
        ge(SECOND, -(M**2) * DELTA**2 * G**2 - (Rational(1, 4) + M**2 * DELTA**2 * B**2) * GRAD),
        {"the preceding line": ge(SECOND, -GRAD / 4 - M * DELTA**2 * GRADS), **ASSUMPTION_4_5},
        uses=("Assumption 4.5",),
        sharp=True,
    )
    book.step(
        "the lemma: -m^2 delta_r^2 G^2 - (m L^2/2) e_bar + (1/4 - m^2 delta_r^2 B^2) ||grad f||^2",
        ge(
            INNER,
            -(M**2) * DELTA**2 * G**2 - M * L**2 / 2 * E + (Rational(1, 4) - M**2 * DELTA**2 * B**2) * GRAD,
        ),
        {
            "(11)": eq(INNER, FIRST + SECOND + GRAD),
            "(12)": ge(FIRST, -GRAD / 2 - M * L**2 / 2 * E),
            "(13)": ge(SECOND, -(M**2) * DELTA**2 * G**2 - (Rational(1, 4) + M**2 * DELTA**2 * B**2) * GRAD),
        },
        uses=("Lemma 4.12/2", "Lemma 4.12/6", "Lemma 4.12/10"),
        sharp=True,
    )
