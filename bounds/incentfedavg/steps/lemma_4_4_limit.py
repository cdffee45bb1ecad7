"""Lemma 4.4 (iii) and (iv): the limit of the averages and the weights in the merely monotone game."""

from __future__ import annotations

from sympy import Abs, sqrt

from bounds.core.step import Relation, eq, ge, gt, le, lt
from bounds.incentfedavg.steps.experiments import regularised_rest_point
from bounds.incentfedavg.steps.lemma_4_4 import CH, CONSTANT, DN, GT, LAM, LAM_0, SGL
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    nonnegative,
    obliged,
    positive,
    real,
    repaired,
)


def books() -> tuple[Book, ...]:
    """Part (iii), and part (iv) as printed and corrected."""
    return _part_iii(), _part_iv(), _corrected_iv()


def _part_iii() -> Book:
    book = Book("Lemma 4.4(iii)", "section 4, proof of Lemma 4.4 (iii)")
    _rates(book)
    _limits(book)
    return book


def _rates(book: Book) -> None:
    """The sums of the schedules, by dyadic blocks."""
    a, b = real("a b")
    edge = {"0 < b": gt(b, 0), "b < a": lt(b, a), "a + b < 1": lt(a + b, 1)}
    block, first, term, last = nonnegative("block_sum term_first term term_last")
    count = positive("terms")[0]
    book.induction(
        "the 2^j terms r^-s with 2^j <= r < 2^{j+1} add up to between 2^-s x^j and x^j, x = 2^{1-s}: each"
        " lies between"
        " the last, at least 2^-s (2^j)^-s, and the first",
        [le(term, 1 * first), ge(term, 1 * last)],
        [le(block + term, (count + 1) * first), ge(block + term, (count + 1) * last)],
        {
            "the terms decrease": le(term, first),
            "to the last": ge(term, last),
            "induction hypothesis, above": le(block, count * first),
            "induction hypothesis, below": ge(block, count * last),
        },
    )
    book.step(
        "0 < b < a, a + b < 1: sum gamma_tilde lambda grows, its exponent 1 - a - b is positive",
        gt(1 - a - b, 0),
        edge,
    )
    book.step(
        "sum gamma_tilde lambda^2 is of smaller order: max(1 - a - 2 b, 0) < 1 - a - b",
        [lt(1 - a - 2 * b, 1 - a - b), lt(0, 1 - a - b)],
        edge,
    )
    book.step(
        "sum gamma_tilde^2 is of smaller order: max(1 - 2 a, 0) < 1 - a - b",
        [lt(1 - 2 * a, 1 - a - b), lt(0, 1 - a - b)],
        edge,
    )
    partial, y_power, z_power = nonnegative("partial y_to_J_next z_to_J")
    z, j = positive("z J_plus_1")
    book.induction(
        "if y <= z and 1 <= z < x, sum_{j<=J} y^j <= (J+1) z^J, which is o(x^J)",
        le(1, 1 * z**0),
        le(partial + y_power, (j + 1) * z * z_power),
        {
            "induction hypothesis": le(partial, j * z_power),
            "y^{J+1} <= z^{J+1}": le(y_power, z * z_power),
            "z >= 1": ge(z, 1),
        },
    )
    book.step(
        "sum gamma_tilde^2 lambda <= lambda_0 sum gamma_tilde^2, so the middle term of (ii) vanishes too",
        le(GT**2 * LAM, LAM_0 * GT**2),
        {"lambda_r <= lambda_0": le(LAM, LAM_0)},
    )


def _limits(book: Book) -> None:
    """The limits of both gaps, and of the averages."""
    gap, eps = nonnegative("dual_gap")[0], positive("epsilon")[0]
    t1, t2, t3 = nonnegative("term_1 term_2 term_3")
    some = positive("epsilon")[0]
    sq_sum, sq_l_sum, cube_sum = nonnegative("sum_g2 sum_g2_l sum_g_l2")
    book.step(
        "the three terms of (ii) are below epsilon once the three rate conditions have gone far enough",
        [
            le(LAM_0 * DN**2 / SGL, some),
            le(CONSTANT * sq_l_sum / (2 * SGL), some),
            le(CH * sqrt(2) * DN * cube_sum / SGL, some),
        ],
        {
            "sum gamma_tilde lambda -> infinity": ge(SGL * some, LAM_0 * DN**2),
            "the preceding line, summed": le(sq_l_sum, LAM_0 * sq_sum),
            "sum gamma_tilde^2 over it -> 0": le(CONSTANT * LAM_0 * sq_sum, 2 * some * SGL),
            "sum gamma_tilde lambda^2 over it -> 0": le(CH * sqrt(2) * DN * cube_sum, some * SGL),
        },
        uses=("Lemma 4.4(iii)/6",),
    )
    book.step(
        "the three terms of (ii) below epsilon each: 0 <= Gap <= 3 epsilon",
        le(gap, 3 * eps),
        {"(ii)": le(gap, t1 + t2 + t3), "term 1": le(t1, eps), "term 2": le(t2, eps), "term 3": le(t3, eps)},
        uses=("Lemma 4.4(ii)",),
        sharp=True,
    )
    h_hat, h_star = real("h_hat h_star")
    book.step(
        "the two terms of (i) are below epsilon each once two of the rate conditions have gone far enough",
        [le(2 * DN**2 / (2 * SGL), eps), le(CONSTANT * sq_sum / (2 * SGL), eps)],
        {
            "sum gamma_tilde lambda -> infinity": ge(SGL * eps, DN**2),
            "sum gamma_tilde^2 over it -> 0": le(CONSTANT * sq_sum, 2 * eps * SGL),
        },
    )
    book.step(
        "h(N_hat) <= h(N*) in the limit of (i)",
        le(h_hat, h_star + eps),
        {"the bound of (i) below epsilon": le(h_hat - h_star, eps)},
        uses=("Lemma 4.4(i)",),
    )
    mid = real("h_mid")[0]
    book.step(
        "the limit is N*: two distinct minimisers of a strictly convex h over the convex set N* would"
        " have a better midpoint",
        lt(mid, h_star),
        {
            "strict convexity": lt(mid, (h_hat + h_star) / 2),
            "both minimal": le(h_hat, h_star),
        },
    )


M2 = positive("N_1 N_2 N_star_1 N_star_2")


def _part_iv() -> Book:
    book = Book("Lemma 4.4(iv)", "section 4, proof of Lemma 4.4 (iv)")
    n1, n2, s1, s2 = M2
    dist, dist_0 = nonnegative("dist_r dist_0")
    change = Abs(n1 / (n1 + n2) - s1 / (s1 + s2))
    shape = (eq(dist**2, (n1 - s1) ** 2 + (n2 - s2) ** 2),)
    delta_0 = dist_0 / (s1 + s2)  # m = 2
    near = case(N_1="206/100", N_2="192/100", N_star_1=2, N_star_2=2, dist_r="1/10", dist_0="1/10")
    book.step(
        "|p_{i,r} - p*_i| <= delta_hat_r = delta_0 ||N_r - N*||, delta_0 = (m-1) ||N_0 - N*||/||N*||_1, m"
        " = 2, r = 0",
        le(change, delta_0 * dist),
        {"r = 0": eq(dist_0, dist)},
        structure=shape,
        cases=(near,),
        fails_by=("Lemma 4.4(iv)/1",),
        repair=repaired(
            (
                "delta_hat_r = (m-1) ||N_r - N*||/||N*||_1",
                obliged(
                    le(Abs(n1 * s2 - s1 * n2), dist * (n1 + n2)),
                    structure=shape,
                ),
            )
        ),
    )
    book.run(
        "if N_r converges then p_{i,r} -> p*_i, without the rate conditions of (iii): gamma_tilde_r and"
        " lambda_r constant",
        regularised_rest_point,
        uses=("Lemma 4.4(iii)",),
        fails_by=("Lemma 4.4(iv)/2",),
    )
    even, odd, limit = real("N_even N_odd N_bar_limit")
    book.step(
        "Cesaro: the averages converge to N* and N_r converges, so N_r -> N* (limits L of N_r and of its"
        " averages agree)",
        eq(even, limit),
        {"N_r converges": eq(even, odd), "the averages converge to the mean": eq(limit, (even + odd) / 2)},
        uses=("Lemma 4.4(iii)",),
    )
    change_r, slope_0 = nonnegative("weight_change")[0], positive("delta_0")[0]
    small = positive("epsilon")[0]
    book.step(
        "|p_{i,r} - p*_i| <= delta_0 ||N_r - N*|| <= epsilon once ||N_r - N*|| <= epsilon/delta_0",
        le(change_r, small),
        {
            "the bound": le(change_r, slope_0 * dist),
            "N_r -> N*": le(dist, small / slope_0),
        },
        sharp=True,
    )
    return book


def _corrected_iv() -> Book:
    book = Book("Lemma 4.4(iv)", "section 4, proof of Lemma 4.4 (iv)", "corrected")
    n, ns = positive("N_i N_star_i")
    rest, rest_star, dist = nonnegative("rest rest_star dist_r")
    m = positive("m_minus_1")[0]
    book.step(
        "|p_{i,r} - p*_i| <= (m-1) ||N_r - N*||/||N*||_1, as in Lemma 4.3 (ii)",
        le(Abs(n / (n + rest) - ns / (ns + rest_star)), m * dist / (ns + rest_star)),
        {"the numerator, Lemma 4.3(ii)/7 to /11": le(Abs(n * rest_star - ns * rest), m * dist * (n + rest))},
        uses=("Lemma 4.3(ii)/11",),
    )
    a, b = real("a b")
    given: dict[str, Relation] = {"0 < b": gt(b, 0), "b < a": lt(b, a), "a + b < 1": lt(a + b, 1)}
    book.step(
        "with the rate conditions of (iii) among the hypotheses the limit is N*",
        [gt(1 - a - b, 0), gt(b, 0), gt(a - b, 0)],
        given,
        uses=("Lemma 4.4(iii)",),
    )
    return book
