"""Lemma 6.6: the second moment of the average gradient in the convex setting."""

from __future__ import annotations

from bounds.core.step import eq, ge, le
from bounds.incentfedavg.steps.common import DELTA, DF, GRAD, GRADS, NU, B, E, G, L, M
from bounds.incentfedavg.steps.lemma_6_7 import LEMMA_6_5
from bounds.incentfedavg.steps.notation import (
    Book,
    nonnegative,
    real,
)

(SECOND,) = nonnegative("g_bar_sq")


def books() -> tuple[Book, ...]:
    """The lemma as printed."""
    return (_lemma_6_6(),)


def _lemma_6_6() -> Book:
    book = Book("Lemma 6.6", "appendix 6.2, proof of Lemma 6.6")
    first = {
        "Lemma 4.14(a)": le(SECOND, NU**2 + 2 * M * L**2 * E + 4 * M * DELTA**2 * GRADS + 4 * GRAD),
        **LEMMA_6_5,
    }
    middle = (
        NU**2 + 2 * M * L**2 * E + 4 * M**2 * DELTA**2 * G**2 + 8 * M**2 * DELTA**2 * L * B**2 * DF + 4 * GRAD
    )
    book.step(
        "Lemma 4.14(a) with Lemma 6.5",
        le(SECOND, middle),
        first,
        uses=("Lemma 4.14(a)", "Lemma 6.5"),
    )
    (value, star, inner) = real("f_x f_star inner_at_x_star")
    book.step(
        "f(x) - f* = D_f(x, x*) because grad f(x*) = 0",
        eq(value - star, value - star - inner),
        {"grad f(x*) = 0": eq(inner, 0)},
    )
    (after,) = real("f_after")
    book.step(
        "||grad f(x)||^2 <= 2 L D_f(x, x*)",
        le(GRAD, 2 * L * (value - star)),
        {"descent by a gradient step": le(after, value - GRAD / (2 * L)), "f* is least": ge(after, star)},
    )
    book.step(
        "the lemma: nu^2 + 2 m L^2 e_bar + 4 m^2 delta_r^2 G^2 + 8 L (m^2 delta_r^2 B^2 + 1) D_f",
        le(
            SECOND,
            NU**2 + 2 * M * L**2 * E + 4 * M**2 * DELTA**2 * G**2 + 8 * L * (M**2 * DELTA**2 * B**2 + 1) * DF,
        ),
        {"the first display": le(SECOND, middle), "||grad f||^2 <= 2 L D_f": le(GRAD, 2 * L * DF)},
        uses=("Lemma 6.6/1", "Lemma 6.6/3"),
    )
    return book
