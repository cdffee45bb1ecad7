"""Lemma 4.4 (i) and (ii): welfare gap and dual gap in the merely monotone game.

P = N_{r+1}, a = N_r - P, b = P - N, Phi = F(N_r) + lambda_r grad h(N_r); `g` is gamma_tilde_r, `SGL` is
sum gamma_tilde lambda.
"""

from __future__ import annotations

from sympy import sqrt

from bounds.core.step import eq, ge, le
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    cauchy_schwarz,
    dot,
    jensen,
    minus,
    nonnegative,
    plus,
    positive,
    real,
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
    """Parts (i) and (ii)."""
    return _part_i(), _part_i_lower(), _part_ii()


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
    phi, ahead = vectors("Phi N_r_minus_N")
    book.step(
        "splitting N_{r+1} - N = (N_r - N) - a inside Phi^T (N_{r+1} - N)",
        eq(dot(phi, minus(ahead, a)), dot(phi, ahead) - dot(phi, a)),
    )
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
        uses=("Lemma 4.4(i)/2", "Lemma 4.4(i)/5"),
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
    _one_round(book)
    _all_rounds(book)
    return book


def _one_round(book: Book) -> None:
    """(7) and (8): one round."""
    f_d, h_d = real("F_dot_d grad_h_dot_d")
    seven = le(2 * GT * (f_d + LAM * h_d), NOW - AFTER + GT**2 * CONSTANT)
    book.step(
        "(7): (5) at N = N* with (6)",
        seven,
        {
            "(5)": le(2 * GT * (f_d + LAM * h_d), NOW - AFTER + GT**2 * PHI**2),
            "(6)": le(GT**2 * PHI**2, GT**2 * CONSTANT),
        },
        uses=("Lemma 4.4(i)/6", "Lemma 4.4(i)/7"),
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
    h_now, h_star = real("h_r h_star")
    book.step(
        "grad h(N_r)^T (N_r - N*) >= h(N_r) - h(N*)",
        ge(h_d, h_now - h_star),
        {"convexity of h, the tangent at N_r": ge(h_star, h_now - h_d)},
        uses=("Assumption 2.3(iii)",),
    )
    book.step(
        "(8): 2 g lambda_r (h(N_r) - h(N*)) <= ||N_r - N*||^2 - ||N_{r+1} - N*||^2 + g^2 (C_F + lambda_0"
        " C_H)^2",
        le(2 * GT * LAM * H_GAP, NOW - AFTER + GT**2 * CONSTANT),
        {"(7)": seven, "F(N_r)^T (N_r - N*) >= 0": ge(f_d, 0), "convexity of h": ge(h_d, H_GAP)},
        uses=("Lemma 4.4(i)/8", "Lemma 4.4(i)/10"),
    )


def _all_rounds(book: Book) -> None:
    """The sum of (8) over the rounds, and the average iterate."""
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
        "2 sum gamma_tilde lambda (h(N_r) - h(N*)) <= 2 D_N^2 + (C_F + lambda_0 C_H)^2 sum gamma_tilde^2",
        le(2 * acc, 2 * DN**2 + CONSTANT * squares),
        {
            "(8), summed": le(2 * acc, first - AFTER + squares * CONSTANT),
            "the preceding line": le(first - AFTER, 2 * DN**2),
        },
        sharp=True,
    )
    book.step(
        "dividing by 2 sum gamma_tilde lambda > 0: the bound of (i)",
        le(bar, (2 * DN**2 + CONSTANT * squares) / (2 * SGL)),
        {
            "the summed bound": le(2 * acc, 2 * DN**2 + CONSTANT * squares),
            "Jensen: h(N_bar) - h* <= weighted mean": le(bar, acc / SGL),
        },
        uses=("Lemma 4.4(i)/17",),
        sharp=True,
    )
    jensen(book, "Jensen for h with weights gamma_tilde_r lambda_r/sum")


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
    t, eta = positive("t eta")
    h_t, h_star, slope_t = real("h_at_t h_star slope_at_t")
    book.step(
        "the optimality condition: grad h(N*)^T (N_hat - N*) >= 0, that is >= -eta for every eta > 0",
        ge(hat_star, -eta),
        {
            "N* minimises h over the convex SOL(N, F)": ge(h_t, h_star),
            "convexity, the tangent at N* + t (N_hat - N*)": le(h_t - h_star, t * slope_t),
            "continuity of grad h, t small": le(slope_t, hat_star + eta),
        },
    )
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
        uses=("Lemma 4.4(i-lower)/1", "Lemma 4.4(i-lower)/2", "Lemma 4.4(i-lower)/4"),
        sharp=True,
    )
    return book


def _part_ii() -> Book:
    book = Book("Lemma 4.4(ii)", "section 4, proof of Lemma 4.4 (ii)")
    _any_point(book)
    _all_rounds_ii(book)
    _dual_gap(book)
    return book


def _any_point(book: Book) -> None:
    """(9) and (10): one round, for any N of the box."""
    f_d, h_d, at_n = real("F_dot_d grad_h_dot_d F_N_dot_d")
    root = sqrt(2) * DN
    book.step(
        "(5) with (6), expanded, N arbitrary in the box",
        le(2 * GT * f_d + 2 * GT * LAM * h_d, NOW - AFTER + GT**2 * CONSTANT),
        {
            "(5)": le(2 * GT * (f_d + LAM * h_d), NOW - AFTER + GT**2 * PHI**2),
            "(6)": le(GT**2 * PHI**2, GT**2 * CONSTANT),
        },
        uses=("Lemma 4.4(i)/6", "Lemma 4.4(i)/7"),
    )
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
        uses=("Lemma 4.4(i)/6", "Lemma 4.4(i)/7"),
        cases=(AT_REST,),
    )
    ten = le(
        2 * GT * LAM * at_n, LAM * NOW - LAM * AFTER + GT**2 * LAM * CONSTANT + 2 * GT * LAM**2 * CH * root
    )
    book.step("(10): (9) times lambda_r", ten, {"(9)": nine}, sharp=True)


def _all_rounds_ii(book: Book) -> None:
    """The sum of (10) over the rounds."""
    (at_n,) = real("F_N_dot_d")
    root = sqrt(2) * DN
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
        uses=("Lemma 4.4(ii)/9",),
        sharp=True,
    )


def _dual_gap(book: Book) -> None:
    """The supremum over N."""
    (mean,) = real("F_N_dot_bar")
    gap = real("dual_gap")[0]
    low, high, n_k = nonnegative("lower upper N_k")
    w, w_sum, so_far = nonnegative("w_k w_sum wN_sum")
    inside = {"N_k >= lower": ge(n_k, low), "N_k <= upper": le(n_k, high)}
    book.induction(
        "N_bar_R lies in the box, a convex combination: w_sum lower <= sum w_k N_k <= w_sum upper",
        [ge(w * n_k, w * low), le(w * n_k, w * high)],
        [ge(so_far + w * n_k, (w_sum + w) * low), le(so_far + w * n_k, (w_sum + w) * high)],
        {
            **inside,
            "induction hypothesis, below": ge(so_far, w_sum * low),
            "induction hypothesis, above": le(so_far, w_sum * high),
        },
    )
    book.step(
        "Gap >= 0: N = N_bar in the supremum gives 0",
        ge(gap, 0),
        {"the supremum is at least its value at N_bar": ge(gap, mean - mean)},
    )
