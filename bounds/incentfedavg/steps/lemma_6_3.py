"""Lemma 6.3: the discrete Gronwall argument behind the consensus error.

x = beta H gamma^2 + 1, `age` = k - T_r; sums over t are advanced one summand at a time.
"""

from __future__ import annotations

from sympy import exp, log, sqrt

from bounds.core.step import eq, gt, le, lt
from bounds.incentfedavg.steps.common import GAMMA, H
from bounds.incentfedavg.steps.notation import Book, integer, nonnegative, positive

(BETA,) = positive("beta")
A_K, A_SUM, TH_SUM, TH, SUM, POWER = nonnegative("a_k a_sum theta_sum theta_t weighted_sum x_power")
(AGE,) = integer("age")
X = BETA * H * GAMMA**2 + 1


def books() -> tuple[Book, ...]:
    """As printed: every step stands."""
    book = Book("Lemma 6.3", "appendix 6.1, proof of Lemma 6.3")
    _base(book)
    _advance(book)
    _second_part(book)
    return (book,)


def _base(book: Book) -> None:
    """The base, and the sums that the induction exchanges."""
    (first,) = nonnegative("theta_T_r")
    book.step(
        "k = T_r + 1: a_k <= gamma^2 (beta a_{T_r} + theta_{T_r}) = gamma^2 theta_{T_r}",
        le(A_K, GAMMA**2 * first),
        {"(17) at k = T_r + 1, with a_{T_r} = 0": le(A_K, GAMMA**2 * (BETA * 0 + first))},
    )
    book.step(
        "<= H gamma^2 theta_{T_r}, since H >= 1",
        le(GAMMA**2 * first, H * GAMMA**2 * first),
    )
    book.step(
        "the power (beta H gamma^2 + 1)^0 is 1",
        eq(H * GAMMA**2 * first, H * GAMMA**2 * X**0 * first),
    )
    book.step(
        "(19): inserting the induction hypothesis, sum a_t <= H gamma^2 sum sum x^{t-s-1} theta_s",
        le(A_K, (AGE + 1) * GAMMA**2 * (BETA * H * GAMMA**2 * SUM + TH_SUM)),
        {
            "(17) at k + 1": le(A_K, (AGE + 1) * GAMMA**2 * (BETA * A_SUM + TH_SUM)),
            "induction hypothesis, summed": le(A_SUM, H * GAMMA**2 * SUM),
        },
    )
    w = nonnegative("w_10 w_20 w_21 w_30 w_31 w_32")
    by_t = [(w[0],), (w[1], w[2]), (w[3], w[4], w[5])]
    book.step(
        "exchanging the double sum (three terms written out)",
        eq(
            sum(sum(row) for row in by_t),
            (w[0] + w[1] + w[3]) + (w[2] + w[4]) + w[5],
        ),
    )
    (g,), (x_,) = nonnegative("geometric"), positive("x_minus_1")
    book.induction(
        "sum_{t=s+1}^{k} x^{t-s-1} = (x^{k-s} - 1)/(x - 1), x = beta H gamma^2 + 1",
        eq(1, ((x_ + 1) - 1) / x_),
        eq(g + POWER, ((x_ + 1) * POWER - 1) / x_),
        {"induction hypothesis": eq(g, (POWER - 1) / x_)},
    )


def _advance(book: Book) -> None:
    """The induction step."""
    (pw_sum,) = nonnegative("power_sum")  # sum_{t<k} theta_t x^{k-t}
    bh = BETA * H * GAMMA**2
    book.step(
        "a_{k+1} <= (k+1-T_r) gamma^2 (sum theta_t x^{k-t} - sum_{t<k} theta_t + sum_{t<=k} theta_t)",
        le(A_K, (AGE + 1) * GAMMA**2 * (pw_sum - TH_SUM + (TH_SUM + TH))),
        {
            "(19)": le(A_K, (AGE + 1) * GAMMA**2 * (bh * SUM + TH_SUM + TH)),
            "the geometric sum": eq(SUM, (pw_sum - TH_SUM) / bh),
        },
        uses=("Lemma 6.3/4", "Lemma 6.3/5", "Lemma 6.3/6"),
    )
    book.step(
        "the sums of theta_t cancel up to theta_k, which joins the sum with x^0 = 1",
        [eq(pw_sum - TH_SUM + (TH_SUM + TH), pw_sum + TH), eq(pw_sum + TH, pw_sum + X**0 * TH)],
    )
    t_r, t_next, k = integer("T_r T_r_next k")
    book.step(
        "k + 1 - T_r <= H for k < T_{r+1} = T_r + H (integers: k + 1 <= T_{r+1})",
        le(k + 1 - t_r, H),
        {"k + 1 <= T_{r+1}": le(k + 1, t_next), "T_{r+1} - T_r = H": eq(t_next, t_r + H)},
    )
    book.step(
        "hence (18) for k + 1",
        le(A_K, H * GAMMA**2 * (pw_sum + TH)),
        {
            "the preceding bound": le(A_K, (AGE + 1) * GAMMA**2 * (pw_sum + TH)),
            "k + 1 - T_r <= H": le(AGE + 1, H),
        },
    )


def _second_part(book: Book) -> None:
    step_size = {"gamma <= 1/(H sqrt(beta))": le(GAMMA, 1 / (H * sqrt(BETA)))}
    book.step("beta H gamma^2 + 1 <= 1/H + 1", le(X, 1 / H + 1), step_size)
    book.step("1/H + 1 = (H+1)/H", eq(1 / H + 1, (H + 1) / H))
    t, k, t_r = integer("t k T_r")
    book.step(
        "k - t - 1 <= H - 1 for T_r <= t, k <= T_{r+1}",
        le(k - t - 1, H - 1),
        {"T_r <= t": le(t_r, t), "k <= T_r + H": le(k, t_r + H)},
    )
    (base, larger) = nonnegative("power_now ratio_power")
    (x_, y_) = nonnegative("x_minus_1 y_minus_1")
    book.induction(
        "x^j <= y^j for 1 <= x <= y, and y^j <= y^{H-1} for j <= H - 1",
        [le(1, 1 + x_), le(1, 1 + y_)],
        [le(base * (1 + x_), larger * (1 + y_)), le(larger, larger * (1 + y_))],
        {"induction hypothesis": le(base, larger), "x <= y": le(x_, y_)},
    )
    (u,) = positive("u")
    book.step("ln(1 + x) < x for x > 0", lt(log(1 + u), u))
    (log_value,) = nonnegative("ln_1_plus_1_over_H")
    book.step(
        "ln[((H+1)/H)^{H-1}] < (H-1)/H, for H > 1",
        lt((H - 1) * log_value, (H - 1) / H),
        {"ln(1 + 1/H) < 1/H": lt(log_value, 1 / H), "H > 1": gt(H, 1)},
        uses=("Lemma 6.3/15",),
    )
    book.step("(H-1)/H < 1", lt((H - 1) / H, 1))
    book.step("exp(1) < 3", lt(exp(1), 3))
    power, e = nonnegative("ratio_to_H_minus_1 e")
    book.step(
        "so (beta H gamma^2 + 1)^{k-t-1} <= 3, also for H = 1",
        le(power, 3),
        {"power < exp(1)": lt(power, e), "exp(1) < 3": lt(e, 3)},
    )
    (theta,) = nonnegative("theta_sum")
    book.step(
        "a_k <= 3 H gamma^2 sum theta_t, termwise",
        le(H * GAMMA**2 * power * theta, 3 * H * GAMMA**2 * theta),
        {"power <= 3": le(power, 3)},
        uses=("Lemma 6.3/10", "Lemma 6.3/19"),
    )
