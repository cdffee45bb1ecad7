"""Lemma 4.4: welfare gap, dual gap, limit and weights in the merely monotone game.

P = N_{r+1}, a = N_r - P, b = P - N, Phi = F(N_r) + lambda_r grad h(N_r); `g` is gamma_tilde_r, `SGL` is
sum gamma_tilde lambda.
"""

from __future__ import annotations

from sympy import Abs, sqrt

from bounds.core.step import Relation, eq, ge, gt, le, lt
from bounds.incentfedavg.steps.experiments import regularised_rest_point
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    cauchy_schwarz,
    dot,
    jensen,
    nonnegative,
    obliged,
    plus,
    positive,
    real,
    repaired,
    sq,
    vectors,
)

(GT, LAM, LAM_0, SGL) = positive("gamma_tilde_r lambda_r lambda_0 sum_g_l")
(CF, CH, DN) = nonnegative("C_F C_H D_N")
NOW, AFTER = nonnegative("d_r_sq d_r_next_sq")
PHI = nonnegative("Phi_norm")[0]
CONSTANT = (CF + LAM_0 * CH) ** 2
H_GAP = real("h_gap")[0]
AT_REST = {
    **case(gamma_tilde_r=1, lambda_r=1, lambda_0=1, C_F=0, C_H=0, D_N=0),
    **case(d_r_sq=0, d_r_next_sq=0, F_dot_d=0, grad_h_dot_d=0, F_N_dot_d=0),
}


def books() -> tuple[Book, ...]:
    """Parts (i) to (iv), and the corrected (iv)."""
    return _part_i(), _part_i_lower(), _part_ii(), _part_iii(), _part_iv(), _corrected_iv()


def _projection(book: Book) -> None:
    """Displays (4) to (6)."""
    ab, phi_b, phi_a = real("a_dot_b Phi_dot_b Phi_dot_a")
    n_b, phi_nb = real("a_dot_N_minus_P Phi_dot_N_minus_P")
    book.step(
        "projection theorem: (P - N_r + g Phi)^T (N - P) >= 0",
        ge(-n_b + GT * phi_nb, 0),
        {"(u - P)^T (N - P) <= 0 at u = N_r - g Phi": le(n_b - GT * phi_nb, 0)},
    )
    book.step(
        "(4): g Phi^T (P - N) <= (N_r - P)^T (P - N)",
        le(GT * phi_b, ab),
        {
            "the projection theorem": ge(-n_b + GT * phi_nb, 0),
            "N - P = -b": eq(n_b, -ab),
            "Phi^T (N - P)": eq(phi_nb, -phi_b),
        },
    )
    a, b = vectors("a b")
    book.step("2 a^T b = ||a + b||^2 - ||a||^2 - ||b||^2", eq(2 * dot(a, b), sq(plus(a, b)) - sq(a) - sq(b)))
    aa, bb = nonnegative("a_norm b_norm")
    book.step(
        "Young: 2 g Phi^T a <= g^2 ||Phi||^2 + ||a||^2",
        le(2 * GT * phi_a, GT**2 * PHI**2 + aa**2),
        structure=cauchy_schwarz(phi_a, PHI, aa),
        hints=(GT * PHI - aa,),
        sharp=True,
    )
    both = aa**2 + 2 * ab + bb**2
    book.step(
        "(5): 2 g Phi^T (N_r - N) <= ||N_r - N||^2 - ||N_{r+1} - N||^2 + g^2 ||Phi||^2",
        le(2 * GT * (phi_a + phi_b), both - bb**2 + GT**2 * PHI**2),
        {"(4)": le(GT * phi_b, ab), "Young": le(2 * GT * phi_a, GT**2 * PHI**2 + aa**2)},
        uses=("Lemma 4.4(i)/2", "Lemma 4.4(i)/4"),
        sharp=True,
    )
    f_norm, h_norm = nonnegative("F_norm grad_h_norm")
    book.step(
        "(6): ||Phi|| <= C_F + lambda_r C_H <= C_F + lambda_0 C_H, squared and times g^2",
        [le(PHI, CF + LAM * CH), le(GT**2 * PHI**2, GT**2 * CONSTANT)],
        {
            "triangle inequality": le(PHI, f_norm + LAM * h_norm),
            "||F|| <= C_F": le(f_norm, CF),
            "||grad h|| <= C_H": le(h_norm, CH),
            "lambda_r <= lambda_0": le(LAM, LAM_0),
        },
    )


def _part_i() -> Book:
    book = Book("Lemma 4.4(i)", "section 4, proof of Lemma 4.4 (i)")
    _projection(book)
    f_d, h_d = real("F_dot_d grad_h_dot_d")
    seven = le(2 * GT * (f_d + LAM * h_d), NOW - AFTER + GT**2 * CONSTANT)
    book.step(
        "(7): (5) at N = N* with (6)",
        seven,
        {
            "(5)": le(2 * GT * (f_d + LAM * h_d), NOW - AFTER + GT**2 * PHI**2),
            "(6)": le(GT**2 * PHI**2, GT**2 * CONSTANT),
        },
        uses=("Lemma 4.4(i)/5", "Lemma 4.4(i)/6"),
    )
    book.step(
        "the left side of (7) expands",
        eq(2 * GT * (f_d + LAM * h_d), 2 * GT * f_d + 2 * GT * LAM * h_d),
    )
    at_star = real("F_star_dot_d")[0]
    book.step(
        "F(N_r)^T (N_r - N*) >= 0",
        ge(f_d, 0),
        {"monotonicity": ge(f_d - at_star, 0), "N* in SOL(N, F)": ge(at_star, 0)},
        uses=("Assumption 2.3(ii)",),
    )
    book.step(
        "(8): 2 g lambda_r (h(N_r) - h(N*)) <= ||N_r - N*||^2 - ||N_{r+1} - N*||^2 + g^2 (C_F + lambda_0"
        " C_H)^2",
        le(2 * GT * LAM * H_GAP, NOW - AFTER + GT**2 * CONSTANT),
        {"(7)": seven, "F(N_r)^T (N_r - N*) >= 0": ge(f_d, 0), "convexity of h": ge(h_d, H_GAP)},
        uses=("Lemma 4.4(i)/7", "Lemma 4.4(i)/9"),
    )
    acc, first, squares = real("weighted_gap_sum")[0], *nonnegative("d_0_sq sum_g2")
    book.induction(
        "summing (8) over r: the squared norms telescope",
        le(2 * GT * LAM * H_GAP, NOW - AFTER + GT**2 * CONSTANT),
        le(2 * (acc + GT * LAM * H_GAP), first - AFTER + (squares + GT**2) * CONSTANT),
        {
            "(8)": le(2 * GT * LAM * H_GAP, NOW - AFTER + GT**2 * CONSTANT),
            "induction hypothesis": le(2 * acc, first - NOW + squares * CONSTANT),
        },
    )
    half = nonnegative("half_d_0_sq")[0]
    book.step(
        "||N_0 - N*||^2 <= 2 D_N^2, and the last square is dropped",
        le(first - AFTER, 2 * DN**2),
        {"half of it is at most the supremum D_N^2": le(half, DN**2), "half": eq(first, 2 * half)},
    )
    bar = real("h_bar_gap")[0]
    book.step(
        "dividing by 2 sum gamma_tilde lambda > 0: the bound of (i)",
        le(bar, (2 * DN**2 + CONSTANT * squares) / (2 * SGL)),
        {
            "the summed bound": le(2 * acc, 2 * DN**2 + CONSTANT * squares),
            "Jensen: h(N_bar) - h* <= weighted mean": le(bar, acc / SGL),
        },
        uses=("Lemma 4.4(i)/14",),
        sharp=True,
    )
    jensen(book, "Jensen for h with weights gamma_tilde_r lambda_r/sum")
    return book


def _part_i_lower() -> Book:
    book = Book("Lemma 4.4(i-lower)", "section 4, proof of Lemma 4.4 (i)")
    whole, to_hat, hat_star = real("slope_dot_whole slope_dot_to_hat slope_dot_hat_star")
    book.step(
        "h(N_bar) - h(N*) >= grad h(N*)^T (N_bar - N*)",
        ge(H_GAP, whole),
        {"convexity of h at N*": ge(H_GAP, whole)},
    )
    u, v, w = vectors("slope bar_minus_hat hat_minus_star")
    book.step("N_bar - N* = (N_bar - N_hat) + (N_hat - N*)", eq(dot(u, plus(v, w)), dot(u, v) + dot(u, w)))
    slope, dist = nonnegative("grad_h_norm dist_to_SOL")
    book.step(
        "grad h(N*)^T (N_bar - N_hat) >= -||grad h(N*)|| ||N_bar - N_hat|| >= -C_H dist",
        ge(to_hat, -CH * dist),
        {"||grad h(N*)|| <= C_H": le(slope, CH)},
        structure=cauchy_schwarz(to_hat, slope, dist),
        sharp=True,
    )
    book.step(
        "the lower bound -C_H dist(N_bar_R, SOL(N, F))",
        ge(H_GAP, -CH * dist),
        {
            "convexity": ge(H_GAP, to_hat + hat_star),
            "optimality of N* over SOL": ge(hat_star, 0),
            "Cauchy-Schwarz": ge(to_hat, -CH * dist),
        },
        uses=("Lemma 4.4(i-lower)/1", "Lemma 4.4(i-lower)/2", "Lemma 4.4(i-lower)/3"),
        sharp=True,
    )
    return book


def _part_ii() -> Book:
    book = Book("Lemma 4.4(ii)", "section 4, proof of Lemma 4.4 (ii)")
    f_d, h_d, at_n = real("F_dot_d grad_h_dot_d F_N_dot_d")
    root = sqrt(2) * DN
    book.step(
        "F(N_r)^T (N_r - N) >= F(N)^T (N_r - N)",
        ge(f_d, at_n),
        {"monotonicity": ge(f_d - at_n, 0)},
        uses=("Assumption 2.3(ii)",),
    )
    slope, dist, cap = nonnegative("grad_h_norm dist sqrt2_D_N")
    book.step(
        "||N_r - N|| <= sqrt(2) D_N",
        le(dist, root),
        {"half its square is at most D_N^2": le(dist**2 / 2, DN**2)},
        sharp=True,
    )
    book.step(
        "2 g lambda_r grad h^T (N_r - N) >= -2 g lambda_r C_H sqrt(2) D_N",
        ge(2 * GT * LAM * h_d, -2 * GT * LAM * CH * cap),
        {"||grad h|| <= C_H": le(slope, CH), "||N_r - N|| <= sqrt(2) D_N": le(dist, cap)},
        structure=cauchy_schwarz(h_d, slope, dist),
    )
    nine = le(2 * GT * at_n, NOW - AFTER + GT**2 * CONSTANT + 2 * GT * LAM * CH * root)
    book.step(
        "(9)",
        nine,
        {
            "(5) and (6)": le(2 * GT * f_d + 2 * GT * LAM * h_d, NOW - AFTER + GT**2 * CONSTANT),
            "monotonicity": ge(f_d, at_n),
            "Cauchy-Schwarz": ge(2 * GT * LAM * h_d, -2 * GT * LAM * CH * root),
        },
        uses=("Lemma 4.4(i)/5", "Lemma 4.4(i)/6"),
        cases=(AT_REST,),
    )
    ten = le(
        2 * GT * LAM * at_n, LAM * NOW - LAM * AFTER + GT**2 * LAM * CONSTANT + 2 * GT * LAM**2 * CH * root
    )
    book.step("(10): (9) times lambda_r", ten, {"(9)": nine}, sharp=True)
    later = positive("lambda_r_next")[0]
    book.step(
        "-lambda_r ||N_{r+1} - N||^2 <= -lambda_{r+1} ||N_{r+1} - N||^2",
        le(-LAM * AFTER, -later * AFTER),
        {"lambda nonincreasing": le(later, LAM)},
    )
    acc, first = real("weighted_sum")[0], nonnegative("d_0_sq")[0]
    sq_sum, cube_sum = nonnegative("sum_g2_l sum_g_l2")
    book.induction(
        "summing over r: lambda_0 ||N_0 - N||^2 - lambda_R ||N_R - N||^2 is left",
        le(
            2 * GT * LAM * at_n,
            LAM * NOW - later * AFTER + GT**2 * LAM * CONSTANT + 2 * GT * LAM**2 * CH * root,
        ),
        le(
            2 * (acc + GT * LAM * at_n),
            LAM_0 * first
            - later * AFTER
            + (sq_sum + GT**2 * LAM) * CONSTANT
            + 2 * (cube_sum + GT * LAM**2) * CH * root,
        ),
        {
            "(10) with lambda nonincreasing": le(
                2 * GT * LAM * at_n,
                LAM * NOW - later * AFTER + GT**2 * LAM * CONSTANT + 2 * GT * LAM**2 * CH * root,
            ),
            "induction hypothesis": le(
                2 * acc, LAM_0 * first - LAM * NOW + sq_sum * CONSTANT + 2 * cube_sum * CH * root
            ),
        },
    )
    summed = le(2 * acc, 2 * LAM_0 * DN**2 + CONSTANT * sq_sum + 2 * CH * root * cube_sum)
    book.step(
        "dropping -lambda_R ||.||^2 and ||N_0 - N||^2 <= 2 D_N^2",
        summed,
        {
            "the sum": le(
                2 * acc, LAM_0 * first - later * AFTER + sq_sum * CONSTANT + 2 * cube_sum * CH * root
            ),
            "||N_0 - N||^2 <= 2 D_N^2": le(first, 2 * DN**2),
        },
        sharp=True,
    )
    mean = real("F_N_dot_bar")[0]
    book.step(
        "dividing by 2 sum gamma_tilde lambda: the bound of (ii) for every N, hence for the supremum",
        le(mean, LAM_0 * DN**2 / SGL + CONSTANT * sq_sum / (2 * SGL) + CH * root * cube_sum / SGL),
        {"the summed bound": summed, "the weighted average": eq(mean, acc / SGL)},
        uses=("Lemma 4.4(ii)/8",),
        sharp=True,
    )
    gap = real("dual_gap")[0]
    book.step(
        "Gap >= 0: N = N_bar in the supremum gives 0",
        ge(gap, 0),
        {"the supremum is at least its value at N_bar": ge(gap, mean - mean)},
    )
    return book


def _part_iii() -> Book:
    book = Book("Lemma 4.4(iii)", "section 4, proof of Lemma 4.4 (iii)")
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
    gap, eps = nonnegative("dual_gap")[0], positive("epsilon")[0]
    t1, t2, t3 = nonnegative("term_1 term_2 term_3")
    book.step(
        "the three terms of (ii) below epsilon each: 0 <= Gap <= 3 epsilon",
        le(gap, 3 * eps),
        {"(ii)": le(gap, t1 + t2 + t3), "term 1": le(t1, eps), "term 2": le(t2, eps), "term 3": le(t3, eps)},
        uses=("Lemma 4.4(ii)",),
        sharp=True,
    )
    h_hat, h_star = real("h_hat h_star")
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
    return book


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
    return book


def _corrected_iv() -> Book:
    book = Book("Lemma 4.4(iv)", "section 4, proof of Lemma 4.4 (iv)", "corrected")
    n, ns = positive("N_i N_star_i")
    rest, rest_star, dist = nonnegative("rest rest_star dist_r")
    m = positive("m_minus_1")[0]
    book.step(
        "|p_{i,r} - p*_i| <= (m-1) ||N_r - N*||/||N*||_1, as in Lemma 4.3 (ii)",
        le(Abs(n / (n + rest) - ns / (ns + rest_star)), m * dist / (ns + rest_star)),
        {"the numerator, Lemma 4.3(ii)/7 to /10": le(Abs(n * rest_star - ns * rest), m * dist * (n + rest))},
        uses=("Lemma 4.3(ii)/10",),
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
