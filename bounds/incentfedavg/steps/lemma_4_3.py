"""Lemma 4.3: the participation profile and the weights converge linearly (strongly monotone game).

d_r = ||N_r - N*||, F is mu_F-strongly monotone and L_F-Lipschitz (so mu_F <= L_F), gamma_tilde <= mu_F/L_F^2.
"""

from __future__ import annotations

from sympy import Abs, sqrt

from bounds.core.step import eq, ge, gt, le, lt
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    cauchy_schwarz,
    dot,
    minus,
    natural,
    nonnegative,
    obliged,
    positive,
    real,
    repaired,
    sq,
    times,
    vectors,
)

MU, LF, G, RHO = positive("mu_F L_F gamma_tilde rho")
(M,) = natural("m")
STEPSIZE = {"gamma_tilde <= mu_F/L_F^2": le(G, MU / LF**2), "mu_F <= L_F": le(MU, LF)}
QUADRATIC = 1 - 2 * MU * G + LF**2 * G**2
NOW, AFTER, START, POWER = nonnegative("d_r d_r_next d_0 rho_to_r")
SQUARED = {**STEPSIZE, "the preceding line": le(AFTER**2, (1 - MU * G / 2) ** 2 * NOW**2)}


def books() -> tuple[Book, ...]:
    """Part (i), part (ii), and what the sharp edition adds to both."""
    return _part_i(), _corrected_i(), _part_ii(), _sharp_i(), _sharp_ii()


def _part_i() -> Book:
    book = Book("Lemma 4.3(i)", "appendix 6.1, proof of Lemma 4.3 (i)")
    _projection(book)
    _contraction(book)
    return book


def _projection(book: Book) -> None:
    """N* as a fixed point, and the projection."""
    (slope,) = real("F_star_dot_N_minus_N_star")
    book.step(
        "N* = Pi[N* - gamma_tilde F(N*)]: F(N*)^T (N - N*) >= 0 on the box is the projection's inequality",
        le(-G * slope, 0),
        {"N* solves the VI": ge(slope, 0)},
        uses=("Assumption 2.2(ii)",),
    )
    a, b = vectors("Pu_minus_Pv u_minus_v")
    book.step(
        "the projection is nonexpansive: ||Pi[u] - Pi[v]||^2 <= ||u - v||^2",
        le(sq(a), sq(b)),
        {"(u - Pu)^T (Pv - Pu) <= 0 and (v - Pv)^T (Pu - Pv) <= 0, added": ge(dot(minus(b, a), a), 0)},
        hints=minus(b, a),
    )


def _contraction(book: Book) -> None:
    """The contraction, unrolled."""
    d, f = vectors("d Fd")
    book.step(
        "||d - gamma_tilde (F(N_r) - F(N*))||^2 expands into three terms",
        eq(sq(minus(d, times(G, f))), sq(d) + G**2 * sq(f) - 2 * G * dot(d, f)),
    )
    (dd, ff), (df,) = nonnegative("d_sq F_sq"), real("d_dot_F")
    book.step(
        "<= (1 - 2 mu_F gamma_tilde + L_F^2 gamma_tilde^2) ||N_r - N*||^2",
        le(dd + G**2 * ff - 2 * G * df, QUADRATIC * dd),
        {"strong monotonicity": ge(df, MU * dd), "Lipschitz continuity": le(ff, LF**2 * dd)},
        uses=("Assumption 2.2(ii)",),
    )
    book.step(
        "0 < 1 - 2 mu_F gamma_tilde + L_F^2 gamma_tilde^2",
        lt(0, QUADRATIC),
        STEPSIZE,
        survives_by=("Lemma 4.3(i)/6", "Lemma 4.3(i)/7", "Lemma 4.3(i)/1@corrected", "Lemma 4.3(i)/9"),
        repair=repaired(
            ("0 <= 1 - 2 mu_F gamma_tilde + L_F^2 gamma_tilde^2", obliged(le(0, QUADRATIC), STEPSIZE))
        ),
    )
    book.step(
        "1 - 2 mu_F gamma_tilde + L_F^2 gamma_tilde^2 <= (1 - 0.5 mu_F gamma_tilde)^2",
        le(QUADRATIC, (1 - MU * G / 2) ** 2),
        STEPSIZE,
    )
    book.step("(1 - 0.5 mu_F gamma_tilde)^2 < 1", lt((1 - MU * G / 2) ** 2, 1), STEPSIZE)
    book.step(
        "thus ||N_r - N*|| <= (1 - 0.5 mu_F gamma_tilde) ||N_r - N*|| (index on the left as printed)",
        le(NOW, (1 - MU * G / 2) * NOW),
        SQUARED,
        survives_by=("Lemma 4.3(i)/1@corrected", "Lemma 4.3(i)/9"),
        repair=repaired(
            (
                "||N_{r+1} - N*|| <= (1 - 0.5 mu_F gamma_tilde) ||N_r - N*||",
                obliged(le(AFTER, (1 - MU * G / 2) * NOW), SQUARED),
            )
        ),
    )
    book.induction(
        "unrolling: ||N_r - N*|| <= rho^r ||N_0 - N*||",
        le(START, 1 * START),
        le(AFTER, RHO * POWER * START),
        {"induction hypothesis": le(NOW, POWER * START), "contraction": le(AFTER, RHO * NOW)},
        uses=("Lemma 4.3(i)/8", "Lemma 4.3(i)/1@corrected"),
    )


def _corrected_i() -> Book:
    book = Book("Lemma 4.3(i)", "appendix 6.1, proof of Lemma 4.3 (i)", "corrected")
    book.step(
        "||N_{r+1} - N*|| <= (1 - 0.5 mu_F gamma_tilde) ||N_r - N*||",
        le(AFTER, (1 - MU * G / 2) * NOW),
        SQUARED,
        uses=("Lemma 4.3(i)/4", "Lemma 4.3(i)/6"),
    )
    book.step(
        "0 <= 1 - 0.5 mu_F gamma_tilde, so that the contraction may be iterated",
        le(0, 1 - MU * G / 2),
        STEPSIZE,
    )
    return book


def _part_ii() -> Book:
    book = Book("Lemma 4.3(ii)", "section 4, proof of Lemma 4.3 (ii)")
    _common_denominator(book)
    _numerator_bound(book)
    return book


def _common_denominator(book: Book) -> None:
    """(3): both weights over a common denominator."""
    n, ns = positive("N_i N_star_i")
    rest, rest_star = nonnegative("rest rest_star")  # the sums over j != i
    p, p_star = n / (n + rest), ns / (ns + rest_star)
    book.step("for m = 1 both weights are 1", eq(n / n, ns / ns))
    numerator = n * (ns + rest_star) - ns * (n + rest)
    book.step(
        "(3): p_i - p*_i over the common denominator",
        eq(p - p_star, numerator / ((n + rest) * (ns + rest_star))),
    )
    book.step("N_i N*_i cancels in the numerator", eq(numerator, n * rest_star - ns * rest))
    book.step(
        "adding and subtracting N_i sum_{j != i} N_j",
        eq(numerator, n * (rest_star - rest) + (n - ns) * rest),
    )


def _numerator_bound(book: Book) -> None:
    """The numerator by the distance from N*."""
    n, ns = positive("N_i N_star_i")
    rest, rest_star, dist, away = nonnegative("rest rest_star dist away")
    (e,) = real("e_i")
    p, p_star = n / (n + rest), ns / (ns + rest_star)
    (others,) = nonnegative("others_sq")
    book.step(
        "|N_i - N*_i| <= ||N_r - N*||",
        le(Abs(e), dist),
        {"||N - N*||^2 = e_i^2 + the other squares": eq(dist**2, e**2 + others)},
        cases=(case(e_i=1, others_sq=0, dist=1), case(e_i=-1, others_sq=0, dist=1)),
    )
    (d_0, d_r, power) = nonnegative("d_0 d_r rho_to_r")
    book.step(
        "||N_r - N*|| <= ||N_0 - N*|| rho^r",
        le(d_r, d_0 * power),
        {"part (i)": le(d_r, power * d_0)},
        uses=("Lemma 4.3(i)",),
    )
    (shift,) = real("rest_shift")  # rest_star - rest
    book.step(
        "|numerator| <= N_i sum_{j != i} |N*_j - N_j| + |N_i - N*_i| sum_{j != i} N_j",
        le(Abs(n * shift + e * rest), n * away + dist * rest),
        {"triangle inequality": le(Abs(shift), away), "|N_i - N*_i|": le(Abs(e), dist)},
    )
    (t,) = nonnegative("t")  # one summand more
    book.induction(
        "sum_{j != i} |N*_j - N_j| <= (m-1) ||N_0 - N*|| rho^r, by induction on the number of summands",
        le(t, dist),
        le(away + t, (M + 1) * dist),
        {"each summand": le(t, dist), "induction hypothesis": le(away, M * dist)},
    )
    book.step(
        "<= N_i (m-1) D + D sum_{j != i} N_j, D = ||N_0 - N*|| rho^r",
        le(n * away + Abs(e) * rest, n * (M - 1) * dist + dist * rest),
        {"the sum over j != i": le(away, (M - 1) * dist), "|N_i - N*_i| <= D": le(Abs(e), dist)},
    )
    book.step(
        "N_i (m-1) D + D sum_{j != i} N_j <= (m-1) D N_i + (m-1) D sum_{j != i} N_j  (m >= 2)",
        le(n * (M - 1) * dist + dist * rest, (M - 1) * dist * n + (M - 1) * dist * rest),
        {"m >= 2": ge(M, 2)},
    )
    book.step(
        "= (m-1) D sum_j N_j",
        eq((M - 1) * dist * n + (M - 1) * dist * rest, (M - 1) * dist * (n + rest)),
    )
    book.step(
        "by (3), |p_i - p*_i| <= (m-1) D / ||N*||_1",
        le(Abs(p - p_star), (M - 1) * dist / (ns + rest_star)),
        {"the preceding bound": le(Abs(n * rest_star - ns * rest), (M - 1) * dist * (n + rest))},
        uses=("Lemma 4.3(ii)/2",),
    )
    book.invokes("Lemma 4.3(i)", le(G, MU / LF**2), {"gamma_tilde <= mu_F/L_F^2": le(G, MU / LF**2)})


def _sharp_i() -> Book:
    book = Book("Lemma 4.3(i)", "sharp edition", "sharp")
    (dd, ff), (df,) = nonnegative("d_sq F_sq"), real("d_dot_F")
    shape = cauchy_schwarz(df, sqrt(dd), sqrt(ff))
    given = {"strong monotonicity": ge(df, MU * dd), "Lipschitz continuity": le(ff, LF**2 * dd)}
    book.step(
        "one step contracts by q: ||N_{r+1} - N*||^2 <= (1 - 2 mu_F g + L_F^2 g^2) ||N_r - N*||^2; a"
        " rotation attains it",
        le(dd + G**2 * ff - 2 * G * df, QUADRATIC * dd),
        given,
        structure=shape,
        sharp=True,
        uses=("Lemma 4.3(i)/2", "Lemma 4.3(i)/3"),
    )
    book.step(
        "q < 1 exactly for g < 2 mu_F/L_F^2", lt(QUADRATIC, 1), {"g < 2 mu_F/L_F^2": lt(G, 2 * MU / LF**2)}
    )
    book.step(
        "the best g is mu_F/L_F^2, where q^2 = 1 - mu_F^2/L_F^2",
        ge(QUADRATIC, 1 - MU**2 / LF**2),
        hints=(LF**2 * G - MU,),
    )
    book.step(
        "at the best g, q^2 equals 1 - mu_F^2/L_F^2", eq(QUADRATIC.subs(G, MU / LF**2), 1 - MU**2 / LF**2)
    )
    eigenvalue, top = positive("eigenvalue top")
    spectrum = {"mu_F <= eigenvalue": le(MU, eigenvalue), "eigenvalue <= L_F": le(eigenvalue, LF)}
    ends = {
        "|1 - g mu_F| <= top": le(Abs(1 - G * MU), top),
        "|1 - g L_F| <= top": le(Abs(1 - G * LF), top),
    }
    book.step(
        "symmetric Jacobian: |1 - g eigenvalue| <= max(|1 - g mu_F|, |1 - g L_F|)",
        le(Abs(1 - G * eigenvalue), top),
        {**spectrum, **ends},
    )
    book.step(
        "symmetric Jacobian: the rate is below 1 for g < 2/L_F",
        [lt(Abs(1 - G * MU), 1), lt(Abs(1 - G * LF), 1)],
        {"g < 2/L_F": lt(G, 2 / LF), "mu_F <= L_F": le(MU, LF)},
    )
    (q,) = nonnegative("q_rate")
    book.induction(
        "unrolling: ||N_r - N*|| <= q^r ||N_0 - N*||",
        le(START, 1 * START),
        le(AFTER, q * POWER * START),
        {"induction hypothesis": le(NOW, POWER * START), "contraction": le(AFTER, q * NOW)},
    )
    return book


def _sharp_ii() -> Book:
    book = Book("Lemma 4.3(ii)", "sharp edition", "sharp")
    (n,) = positive("N_i")
    (rest,), (e, total) = nonnegative("rest"), real("e_i e_sum")
    p = n / (n + rest)
    star = (n - e) / (n + rest - total)
    book.step(
        "p_i - p*_i = (e_i - p_i sum_j e_j)/||N*||_1 with e = N - N*",
        eq(p - star, (e - p * total) / (n + rest - total)),
        {"||N*||_1 > 0": gt(n + rest - total, 0)},
    )
    (w,) = nonnegative("p_i")
    (other,) = real("other_sum")
    (rest_sq,) = nonnegative("rest_sq")
    unit = {"p_i <= 1": le(w, 1), "m >= 2": ge(M, 2)}
    book.step(
        "(e_i - p_i sum e)^2 <= ((1-p_i)^2 + (m-1) p_i^2) ||e||^2, by Cauchy-Schwarz",
        le((e - w * (e + other)) ** 2, ((1 - w) ** 2 + (M - 1) * w**2) * (e**2 + rest_sq)),
        {
            "(sum_{j != i} e_j)^2 <= (m-1) sum_{j != i} e_j^2": le(other**2, (M - 1) * rest_sq),
            **unit,
        },
        hints=((1 - w) * other + (M - 1) * w * e,),
        sharp=True,
    )
    book.step("(1-p_i)^2 + (m-1) p_i^2 <= m - 1", le((1 - w) ** 2 + (M - 1) * w**2, M - 1), unit)
    x, y, z = real("c_i c_j c_k")
    book.step(
        "Cauchy-Schwarz for sums, (sum e_j)^2 <= k sum e_j^2, for 2 and 3 summands and by induction",
        obligations=(
            *obliged(le((x + y) ** 2, 2 * (x**2 + y**2)), name="k = 2"),
            *obliged(le((x + y + z) ** 2, 3 * (x**2 + y**2 + z**2)), name="k = 3"),
            *obliged(
                le((other + x) ** 2, (M + 1) * (rest_sq + x**2)),
                {"induction hypothesis": le(other**2, M * rest_sq)},
                name="advance",
            ),
        ),
        hints=(x - y, y - z, x - z, other - M * x),
    )
    pp, ee = nonnegative("p_perp_sq e_perp_sq")
    (pe,) = real("p_perp_dot_e_perp")
    norm_p, norm_e = 1 / M + pp, total**2 / M + ee  # p = 1/m + p_perp, e = (sum e)/m + e_perp
    book.step(
        "||p - p*||_2^2 ||N*||_1^2 = ||e - p sum e||^2 <= m ||p||^2 ||e||^2",
        le(norm_e - 2 * (total / M + pe) * total + norm_p * total**2, M * norm_p * norm_e),
        structure=(le(pe**2, pp * ee),),
        hints=(total + M * pe,),
        sharp=True,
        cases=(case(m=2, e_sum=2, p_perp_dot_e_perp=-1, p_perp_sq="1/4", e_perp_sq=4),),
    )
    weights = nonnegative("p_1 p_2 p_3")
    book.step(
        "||p||_2 <= 1, so Delta = ||p - p*||_2 <= sqrt(m) ||N - N*||/||N*||_1",
        le(sum(v**2 for v in weights), 1),
        {"weights": eq(sum(weights), 1)},
    )
    return book
