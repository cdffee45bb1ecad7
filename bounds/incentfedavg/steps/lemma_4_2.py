"""Remarks 6.1 and 6.2 and Lemma 4.2: smoothness of f, the compact form, and the recursion of the average
iterate."""

from __future__ import annotations

from bounds.core.step import eq, le
from bounds.incentfedavg.steps.common import GAMMA, L
from bounds.incentfedavg.steps.experiments import boundary_average, compact_form
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    cauchy_schwarz,
    nonnegative,
    obliged,
    real,
    repaired,
)


def books() -> tuple[Book, ...]:
    """Remark 6.1, Remark 6.2, Lemma 4.2 as printed and with the weights of line 13."""
    return _remark_6_1(), _remark_6_2(), _lemma_4_2(), _corrected()


def _remark_6_1() -> Book:
    book = Book("Remark 6.1", "appendix 6.1, Remark 6.1")
    p, g1, g2 = nonnegative("p_star_1 p_star_2")[0], *real("Df_1 Df_2")
    p2 = nonnegative("p_star_2")[0]
    total = p * g1 + p2 * g2
    book.step(
        "grad f(x) - grad f(y) = sum p*_i (grad f_i(x) - grad f_i(y)), m = 2, one coordinate",
        eq((p * (g1 + 0) + p2 * g2), total),
    )
    norm_sum, norm_a, norm_b = nonnegative("norm_of_sum norm_1 norm_2")
    (inner,) = real("inner")
    book.step(
        "||u + v|| <= ||u|| + ||v|| (one summand at a time)",
        le(norm_sum, norm_a + norm_b),
        structure=(
            eq(norm_sum**2, norm_a**2 + 2 * inner + norm_b**2),
            *cauchy_schwarz(inner, norm_a, norm_b),
        ),
        hints=(norm_a + norm_b,),
    )
    acc, w_acc, w, each, dist = nonnegative("sum_so_far weights_so_far p_star_i norm_Df_i dist")
    book.induction(
        "sum ||p*_i (grad f_i(x) - grad f_i(y))|| <= L (sum p*_i) ||x - y||",
        le(w * each, L * w * dist),
        le(acc + w * each, L * (w_acc + w) * dist),
        {"L-smoothness of f_i": le(each, L * dist), "induction hypothesis": le(acc, L * w_acc * dist)},
        uses=("Assumption 2.1(i)",),
    )
    book.step(
        "= L ||x - y||, the weights sum to 1", eq(L * w_acc * dist, L * dist), {"sum p*_i = 1": eq(w_acc, 1)}
    )
    return book


def _remark_6_2() -> Book:
    book = Book("Remark 6.2", "appendix 6.1, equation (16)")
    book.run(
        "(16) represents Algorithm 1, with r the round that k belongs to (as in Definition 4.1)",
        compact_form,
        fails_by=("Remark 6.2/1",),
    )
    x, g = real("x_i_k g_i_k")
    book.step(
        "(16), k not in I: x_{i,k+1} = x_{i,k} - gamma g_{i,k} is line 8", eq(x - GAMMA * g, x - GAMMA * g)
    )
    return book


def _averages(book: Book) -> None:
    """The two displays of case 1 and of case 2, one client at a time."""
    w, x, g = nonnegative("p_j")[0], *real("x_j g_j")
    total, x_bar, g_bar = real("next x_bar g_bar")
    book.induction(
        "sum_j p_j (x_j - gamma g_j) = sum_j p_j x_j - gamma sum_j p_j g_j",
        eq(w * (x - GAMMA * g), w * x - GAMMA * (w * g)),
        eq(total + w * (x - GAMMA * g), (x_bar + w * x) - GAMMA * (g_bar + w * g)),
        {"induction hypothesis": eq(total, x_bar - GAMMA * g_bar)},
    )


def _lemma_4_2() -> Book:
    book = Book("Lemma 4.2", "appendix 6.1, proof of Lemma 4.2")
    _averages(book)
    w, w_sum, (common, x_bar) = *nonnegative("p_i w_sum"), real("x_common x_bar")
    book.induction(
        "case 1, averaging equal iterates: sum_i p_i x = (sum p_i) x",
        eq(w * common, w * common),
        eq(x_bar + w * common, (w_sum + w) * common),
        {"induction hypothesis": eq(x_bar, w_sum * common)},
    )
    p, q = nonnegative("p_1_r p_2_r"), nonnegative("p_1_r_next p_2_r_next")
    x, g = real("x_1 x_2"), real("g_1 g_2")
    weights = {"sum p_{i,r} = 1": eq(p[1], 1 - p[0]), "sum p_{i,r+1} = 1": eq(q[1], 1 - q[0])}
    moved = [y - GAMMA * z for y, z in zip(x, g, strict=True)]
    book.step(
        "case 1: x_{i,k+1} (line 13: weights p_{i,r+1}) = x_bar_k - gamma g_bar_k (weights p_{i,r}), m = 2",
        eq(q[0] * moved[0] + q[1] * moved[1], p[0] * moved[0] + p[1] * moved[1]),
        weights,
        cases=(
            case(
                p_1_r="1/2",
                p_2_r="1/2",
                p_1_r_next="1/4",
                p_2_r_next="3/4",
                x_1=0,
                x_2=0,
                g_1=0,
                g_2=-1,
                gamma="1/4",
            ),
        ),
        fails_by=("Lemma 4.2/5",),
        repair=repaired(
            (
                "with x_bar_k and g_bar_k formed with q_{i,r} = p_{i,r+1} inside round r",
                obliged(
                    eq(
                        q[0] * moved[0] + q[1] * moved[1],
                        (q[0] * x[0] + q[1] * x[1]) - GAMMA * (q[0] * g[0] + q[1] * g[1]),
                    ),
                    weights,
                ),
            )
        ),
    )
    book.step(
        "case 2: multiplying by p_i and summing (no aggregation inside a round)",
        eq(w * (common - GAMMA * x_bar), w * common - GAMMA * w * x_bar),
    )
    book.run(
        "x_bar_{k+1} = x_bar_k - gamma g_bar_k at a round boundary, the weights having moved",
        boundary_average,
        uses=("Lemma 4.2/3",),
        fails_by=("Lemma 4.2/5",),
    )
    return book


def _corrected() -> Book:
    book = Book("Lemma 4.2", "appendix 6.1, with q_{i,r} = p_{i,r+1} inside round r", "corrected")
    _averages(book)
    w, w_sum, (common, x_bar) = *nonnegative("p_i w_sum"), real("x_common x_bar")
    book.induction(
        "at the boundary every client holds x_hat_{r+1}, whose average with any weights that sum to 1 is"
        " x_hat_{r+1}",
        eq(w * common, w * common),
        (
            eq(x_bar + w * common, (w_sum + w) * common),
            eq((w_sum + w) * common + (1 - w_sum - w) * common, common),
        ),
        {"induction hypothesis": eq(x_bar, w_sum * common)},
    )
    return book
