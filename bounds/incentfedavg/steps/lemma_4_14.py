"""Lemma 4.14: the second moment of the average gradient."""

from __future__ import annotations

from bounds.core.step import eq, ge, le
from bounds.incentfedavg.steps.common import DELTA, GRAD, GRADS, NU, B, E, G, L, M
from bounds.incentfedavg.steps.lemma_4_12 import ASSUMPTION_4_5
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    cauchy_schwarz,
    nonnegative,
    obliged,
    positive,
    real,
    repaired,
)

SECOND, MEAN_SQ = nonnegative("g_bar_sq mean_grad_sq")


def books() -> tuple[Book, ...]:
    """Parts (a) and (b)."""
    return _lemma_a(), _lemma_b()


def _lemma_a() -> Book:
    book = Book("Lemma 4.14(a)", "appendix 6.1, proof of Lemma 4.14 (a)")
    _separated(book)
    _uncorrelated(book)
    _noise(book)
    _change(book)
    _at_the_average(book)
    _part_a(book)
    return book


def _separated(book: Book) -> None:
    """(22): noise and mean part, the cross term having mean zero."""
    noise, mean, cross = nonnegative("noise_sq")[0], MEAN_SQ, real("noise_dot_mean")[0]
    outcomes, pasts = real("n_1 n_2 n_3 n_4"), real("grad_1 grad_2")
    book.step(
        "E[noise^T grad f_i(x_i)] = E[E[noise | F_k]^T grad f_i(x_i)] = 0: two pasts, each with two"
        " outcomes as likely",
        eq(
            ((outcomes[0] + outcomes[1]) * pasts[0] + (outcomes[2] + outcomes[3]) * pasts[1]) / 4,
            0,
        ),
        {
            "Assumption 2.1(ii), first past": eq(outcomes[0] + outcomes[1], 0),
            "Assumption 2.1(ii), second past": eq(outcomes[2] + outcomes[3], 0),
        },
        uses=("Assumption 2.1(ii)",),
    )
    book.step(
        "(22): E||g_bar||^2 = E||sum p_i noise_i||^2 + E||sum p_i grad f_i(x_i)||^2, the cross term"
        " having mean zero",
        eq(noise + 2 * cross + mean, noise + mean),
        {"Assumption 2.1(ii)": eq(cross, 0)},
        uses=("Assumption 2.1(ii)",),
    )


def _uncorrelated(book: Book) -> None:
    """(23): holds for uncorrelated noises, which Assumption 2.1 does not promise."""
    p1, p2 = nonnegative("p_1 p_2")
    n1, n2 = nonnegative("noise_1_sq noise_2_sq")
    (c12,) = real("noise_1_dot_noise_2")
    split = p1**2 * n1 + 2 * p1 * p2 * c12 + p2**2 * n2
    shape = (le(c12**2, n1 * n2),)
    book.step(
        "(23): E||sum p_i noise_i||^2 = sum p_i^2 E||noise_i||^2 (m = 2; Assumption 2.1 does not say that"
        " the noises are uncorrelated)",
        eq(split, p1**2 * n1 + p2**2 * n2),
        {"weights": eq(p2, 1 - p1)},
        structure=shape,
        cases=(case(p_1="1/2", p_2="1/2", noise_1_sq=1, noise_2_sq=1, noise_1_dot_noise_2=1),),
        survives_by=("Lemma 4.14(a)/5",),
        repair=repaired(
            (
                "with uncorrelated noises",
                obliged(
                    eq(split, p1**2 * n1 + p2**2 * n2),
                    {"weights": eq(p2, 1 - p1), "uncorrelated": eq(c12, 0)},
                ),
            ),
        ),
    )


def _noise(book: Book) -> None:
    """The noise part is at most nu^2 in any case."""
    p1, n1 = nonnegative("p_1 noise_1_sq")
    so_far, one, squares, (w_sum,) = *nonnegative("sum_norm noise_norm weighted_squares"), positive("w_sum")
    inner, line = real("sum_dot_noise line")
    book.step(
        "sum p_i^2 E||noise_i||^2 <= sum p_i^2 nu^2, termwise",
        le(p1**2 * n1, p1**2 * NU**2),
        {"Assumption 2.1(ii)": le(n1, NU**2)},
        uses=("Assumption 2.1(ii)",),
    )
    book.step(
        "E||sum p_i noise_i||^2 <= nu^2 in any case: ||sum p_i n_i||^2 <= (sum p_i) sum p_i ||n_i||^2,"
        " client by client",
        obligations=(
            *obliged(
                ge(w_sum * (squares + w_sum * one**2 - 2 * inner), 0),
                {"induction hypothesis": le(so_far**2, w_sum * squares)},
                structure=cauchy_schwarz(inner, so_far, one),
                name="Young, times the weights so far",
            ),
            *obliged(ge(line, 0), {"times the weights so far": ge(w_sum * line, 0)}, name="divided"),
            *obliged(
                le(so_far**2 + 2 * p1 * inner + p1**2 * one**2, (w_sum + p1) * (squares + p1 * one**2)),
                {
                    "induction hypothesis": le(so_far**2, w_sum * squares),
                    "Young": ge(squares + w_sum * one**2 - 2 * inner, 0),
                },
                name="one client more",
            ),
            *obliged(
                le(so_far**2, NU**2),
                {
                    "the sum": le(so_far**2, w_sum * squares),
                    "sum p_i = 1": eq(w_sum, 1),
                    "Assumption 2.1(ii), weighted": le(squares, w_sum * NU**2),
                },
                name="the bound",
            ),
        ),
        hints=(so_far - w_sum * one,),
    )
    book.step(
        "sum p_i^2 nu^2 <= nu^2, termwise with sum p_i = 1",
        le(p1**2 * NU**2, p1 * NU**2),
        {"p_i <= 1": le(p1, 1)},
    )


def _change(book: Book) -> None:
    """(24): the gradients at the own iterates, from those at the average."""
    (p1,) = nonnegative("p_1")
    a, b = real("first second")
    own, there = real("grad_at_x_i grad_at_x_bar")
    book.step(
        "adding and subtracting grad f_i(x_bar), termwise",
        eq(p1 * own, p1 * ((own - there) + there)),
    )
    book.step(
        "(24): ||a + b||^2 <= 2 ||a||^2 + 2 ||b||^2, a = sum p_i grad f_i(x_bar), b the change, one"
        " coordinate",
        le((a + b) ** 2, 2 * a**2 + 2 * b**2),
        hints=(a - b,),
        sharp=True,
    )
    at_bar, change, weighted = nonnegative("mean_bar_sq change_sq weighted_change")
    book.step(
        "(24): E||sum p_i grad f_i(x_i)||^2 <= 2 E||sum p_i grad f_i(x_bar)||^2 + 2 m sum p_i^2"
        " E||change_i||^2",
        le(MEAN_SQ, 2 * at_bar + 2 * M * weighted),
        {
            "two squares": le(MEAN_SQ, 2 * at_bar + 2 * change),
            "the square of the sum": le(change, M * weighted),
        },
        uses=("Lemma 4.14(a)/8", "Lemma 4.12/4"),
    )


def _at_the_average(book: Book) -> None:
    """(25): the gradients at the average, by the weight error."""
    p1, at_bar, shifted = nonnegative("p_1 mean_bar_sq shifted_sq")
    (there,) = real("grad_at_x_bar")
    (p_star,) = nonnegative("p_star_1")
    book.step(
        "(25): adding and subtracting p*_i grad f_i(x_bar), termwise",
        eq(p1 * there, (p1 - p_star) * there + p_star * there),
    )
    (deviation,) = nonnegative("weighted_deviation")
    in_between = le(at_bar, 2 * M * deviation + 2 * GRAD)
    book.step(
        "(25): <= 2 E||sum (p_i - p*_i) grad f_i||^2 + 2 E||grad f||^2 <= 2 m sum (p_i - p*_i)^2 E||grad"
        " f_i||^2 + 2 E||grad f||^2",
        in_between,
        {
            "two squares": le(at_bar, 2 * shifted + 2 * GRAD),
            "the square of the sum": le(shifted, M * deviation),
        },
        uses=("Lemma 4.12/4",),
    )
    book.step(
        "(25): <= 2 m delta_r^2 sum ||grad f_i||^2 + 2 ||grad f||^2",
        le(at_bar, 2 * M * DELTA**2 * GRADS + 2 * GRAD),
        {
            "the preceding line": in_between,
            "|p_i - p*_i| <= delta_r": le(deviation, DELTA**2 * GRADS),
        },
        uses=("Lemma 4.12/8",),
    )


def _part_a(book: Book) -> None:
    """(26), and the lemma."""
    noise, at_bar, weighted = nonnegative("noise_sq mean_bar_sq weighted_change")
    book.step(
        "(26): E||sum p_i grad f_i(x_i)||^2 <= 2 m L^2 e_bar + 4 m delta_r^2 sum ||grad f_i||^2 + 4"
        " ||grad f||^2",
        le(MEAN_SQ, 2 * M * L**2 * E + 4 * M * DELTA**2 * GRADS + 4 * GRAD),
        {
            "(24)": le(MEAN_SQ, 2 * at_bar + 2 * M * weighted),
            "smoothness and p_i <= 1": le(weighted, L**2 * E),
            "(25)": le(at_bar, 2 * M * DELTA**2 * GRADS + 2 * GRAD),
        },
        uses=("Lemma 4.12/5",),
    )
    book.step(
        "the lemma: nu^2 + 2 m L^2 e_bar + 4 m delta_r^2 sum ||grad f_i||^2 + 4 ||grad f||^2",
        le(SECOND, NU**2 + 2 * M * L**2 * E + 4 * M * DELTA**2 * GRADS + 4 * GRAD),
        {
            "(22)": eq(SECOND, noise + MEAN_SQ),
            "noise": le(noise, NU**2),
            "(26)": le(MEAN_SQ, 2 * M * L**2 * E + 4 * M * DELTA**2 * GRADS + 4 * GRAD),
        },
        uses=("Lemma 4.14(a)/5", "Lemma 4.14(a)/13"),
    )


def _lemma_b() -> Book:
    book = Book("Lemma 4.14(b)", "appendix 6.1, proof of Lemma 4.14 (b)")
    bound = 4 * M**2 * DELTA**2 * G**2 + 4 * (M**2 * DELTA**2 * B**2 + 1) * GRAD
    book.step(
        "(26) with Assumption 4.5",
        le(MEAN_SQ, 2 * M * L**2 * E + bound),
        {"(26)": le(MEAN_SQ, 2 * M * L**2 * E + 4 * M * DELTA**2 * GRADS + 4 * GRAD), **ASSUMPTION_4_5},
        uses=("Lemma 4.14(a)/13", "Assumption 4.5"),
    )
    noise = nonnegative("noise_sq")[0]
    book.step(
        "the lemma: nu^2 + 2 m L^2 e_bar + 4 m^2 delta_r^2 G^2 + 4 (m^2 delta_r^2 B^2 + 1) ||grad f||^2",
        le(SECOND, NU**2 + 2 * M * L**2 * E + bound),
        {
            "(22)": eq(SECOND, noise + MEAN_SQ),
            "noise": le(noise, NU**2),
            "the preceding bound": le(MEAN_SQ, 2 * M * L**2 * E + bound),
        },
        uses=("Lemma 4.14(b)/1",),
    )
    return book
