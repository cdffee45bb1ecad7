"""Lemma 6.5: bounded gradient dissimilarity in the convex setting, and where it needs f_i >= 0."""

from __future__ import annotations

from sympy import Abs, Rational

from bounds.core.step import Relation, eq, ge, le
from bounds.incentfedavg.steps.common import L, M
from bounds.incentfedavg.steps.experiments import negative_losses
from bounds.incentfedavg.steps.notation import Book, case, nonnegative, obliged, positive, real, repaired

P, Q = positive("p_star_1 p_star_2")
F1, F2, F1_STAR, F2_STAR, F_STAR = real("f_1 f_2 f_1_star f_2_star f_star")
WEIGHTS = {"weights": eq(Q, 1 - P)}
(WORST,) = nonnegative("imbalance")
FAR: dict[str, Relation] = {
    "|1/(m p*_1) - 1| <= max": le(Abs(1 / (2 * P) - 1), WORST),
    "|1/(m p*_2) - 1| <= max": le(Abs(1 / (2 * Q) - 1), WORST),
}
F = P * F1 + Q * F2


def books() -> tuple[Book, ...]:
    """As printed, and with no assumption on the sign of f_i."""
    return _printed(), _corrected()


def _printed() -> Book:
    book = Book("Lemma 6.5", "appendix 6.2, proof of Lemma 6.5")
    _averaged(book)
    _rearranged(book)
    return book


def _averaged(book: Book) -> None:
    """The gradients by the gaps, averaged."""
    (g,), (low, value, star) = nonnegative("grad_fi_sq"), real("f_i_after f_i f_i_star")
    book.step(
        "||grad f_i(x)||^2 <= 2 L D_{f_i}(x, x_i*) = 2 L (f_i(x) - f_i*)",
        le(g, 2 * L * (value - star)),
        {
            "one gradient step of length 1/L descends": le(low, value - g / (2 * L)),
            "f_i* is the least value": ge(low, star),
        },
        uses=("Assumption 4.8",),
    )
    (total, gaps) = nonnegative("grad_fi_sq_sum gap_sum")
    book.step(
        "averaging: (1/m) sum ||grad f_i||^2 <= (2 L/m) sum (f_i(x) - f_i*)",
        le(total / M, 2 * L / M * gaps),
        {"each client": le(total, 2 * L * gaps)},
        uses=("Lemma 6.5/1",),
    )
    half = Rational(1, 2)
    mean_star = half * (F1_STAR + F2_STAR)
    book.step(
        "adding and subtracting 2 L sum p*_i f_i(x), m = 2",
        eq(
            2 * L * half * (F1 - F1_STAR + F2 - F2_STAR),
            2 * L * ((half - P) * F1 + (half - Q) * F2) + 2 * L * (F - mean_star),
        ),
        WEIGHTS,
    )


def _rearranged(book: Book) -> None:
    """The rearrangement that gives G and B."""
    half = Rational(1, 2)
    signed = (half - P) * F1 + (half - Q) * F2
    size = Abs(half - P) * F1 + Abs(half - Q) * F2
    nonneg = {"f_1(x) >= 0": ge(F1, 0), "f_2(x) >= 0": ge(F2, 0)}
    book.step(
        "sum (1/m - p*_i) f_i(x) <= sum |1/m - p*_i| f_i(x), m = 2",
        le(signed, size),
        WEIGHTS,
        cases=(case(p_star_1="1/4", p_star_2="3/4", f_1=0, f_2=-1),),
        fails_by=("Lemma 6.5/8",),
        repair=repaired(("with f_i(x) >= 0", obliged(le(signed, size), {**WEIGHTS, **nonneg}))),
    )
    (value_f, mean_low) = real("f_x f_i_star_mean")
    book.step(
        "f(x) - (1/m) sum f_i* = (f(x) - f*) + (f* - (1/m) sum f_i*)",
        eq(value_f - mean_low, (value_f - F_STAR) + (F_STAR - mean_low)),
    )
    book.step(
        "sum |1/m - p*_i| f_i(x) <= (max |1/(m p*_i) - 1|) f(x), m = 2",
        le(size, WORST * F),
        {**WEIGHTS, **FAR},
        cases=(case(p_star_1="1/4", p_star_2="3/4", f_1=0, f_2=-1, imbalance=2),),
        fails_by=("Lemma 6.5/8",),
        repair=repaired(("with f_i(x) >= 0", obliged(le(size, WORST * F), {**WEIGHTS, **FAR, **nonneg}))),
    )
    (f_x, mean) = real("f_x f_i_star_mean")
    g_sq = 2 * L * (F_STAR - mean) + 2 * L * WORST * F_STAR
    book.step(
        "rearranging gives G^2 + 2 L B^2 (f - f*) with the printed G^2 and B^2",
        eq(
            2 * L * WORST * f_x + 2 * L * (f_x - F_STAR) + 2 * L * (F_STAR - mean),
            g_sq + 2 * L * (1 + WORST) * (f_x - F_STAR),
        ),
    )
    book.run(
        "the lemma as printed, for f_1 = x^2/2 and f_2 = x^2/2 - c",
        negative_losses,
        uses=("Lemma 6.5/4", "Lemma 6.5/6"),
        fails_by=("Lemma 6.5/8",),
    )


def _corrected() -> Book:
    book = Book("Lemma 6.5", "appendix 6.2, proof of Lemma 6.5", "corrected")
    (total, gaps, weighted), (p_min,) = (
        nonnegative("grad_fi_sq_sum gap_sum weighted_gap_sum"),
        positive("p_star_min"),
    )
    gap, (weight,) = nonnegative("gap_i")[0], positive("p_star_i")
    book.step(
        "p*_min (f_i - f_i*) <= p*_i (f_i - f_i*), termwise",
        le(p_min * gap, weight * gap),
        {"p*_min <= p*_i": le(p_min, weight)},
    )
    b_sq = 1 / (M * p_min)
    f_gap, weighted_star = nonnegative("f_gap f_star_minus_weighted_mean")
    book.step(
        "(1/m) sum ||grad f_i||^2 <= G^2 + 2 L B^2 (f - f*), B^2 = 1/(m p*_min), G^2 = 2 L B^2 (f* - sum"
        " p*_i f_i*)",
        le(total / M, 2 * L * b_sq * weighted_star + 2 * L * b_sq * f_gap),
        {
            "||grad f_i||^2 <= 2 L (f_i - f_i*), summed": le(total, 2 * L * gaps),
            "p*_min sum (f_i - f_i*) <= sum p*_i (f_i - f_i*)": le(p_min * gaps, weighted),
            "sum p*_i (f_i - f_i*) = (f - f*) + (f* - sum p*_i f_i*)": eq(weighted, f_gap + weighted_star),
        },
        uses=("Lemma 6.5/1", "Lemma 6.5/1@corrected"),
        sharp=True,
    )
    x1, x2 = real("p_gap_1 p_gap_2")
    book.step(
        "the corrected G^2 is nonnegative: sum p*_i f_i* <= f*",
        le(0, 2 * L * (x1 + x2)),
        {"f_i* <= f_i(x*), client 1": ge(x1, 0), "f_i* <= f_i(x*), client 2": ge(x2, 0)},
    )
    return book
