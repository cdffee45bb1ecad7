"""Lemmas 6.9 and 6.10: the consensus error over one round, and the weights c_k of the convex proof."""

from __future__ import annotations

from sympy import Rational, exp, log, sqrt

from bounds.core.step import Relation, Symbol, eq, ge, le, lt
from bounds.incentfedavg.steps.common import GAMMA, GRADS, NU, B, E, G, H, L, M
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    integer,
    natural,
    nonnegative,
    obliged,
    positive,
    real,
    repaired,
)

D = nonnegative("D_T_r D_T_r_1 D_T_r_2 D_T_r_3")
E_SUM, D_SUM = nonnegative("e_bar_sum D_f_sum")


def books() -> tuple[Book, ...]:
    """Lemma 6.9 (printed, corrected) and Lemma 6.10."""
    return _lemma_6_9(), _corrected_6_9(), _lemma_6_10(), _corrected_6_10()


def shifted(rounds: int) -> tuple[Relation, Relation]:
    """H sum_{t = T_r}^{T_r + H - 2} D_t <= H sum over t = T_r + 1 .. T_r + H - 1, and over t = T_r .. T_r
    + H - 1."""
    early = rounds * sum(D[: rounds - 1])
    return le(early, rounds * sum(D[1:rounds])), le(early, rounds * sum(D[:rounds]))


def _lemma_6_9() -> Book:
    book = Book("Lemma 6.9", "appendix 6.2, proof of Lemma 6.9")
    (age,), (d_t, total) = integer("age"), nonnegative("D_f total")
    sum_3 = 3 * NU**2 + 3 * L**2 * E + 3 * GRADS
    sum_d = 3 * NU**2 + 3 * L**2 * E + 3 * M * (G**2 + 2 * L * B**2 * d_t)
    book.step(
        "(28), termwise: Lemma 4.13(i) with k - T_r <= H - 1, and Lemma 6.5",
        le(GAMMA**2 * age * sum_3, GAMMA**2 * (H - 1) * sum_d),
        {"k - T_r <= H - 1": le(age, H - 1), "Lemma 6.5": le(GRADS / M, G**2 + 2 * L * B**2 * d_t)},
        uses=("Lemma 4.13(i)", "Lemma 6.5"),
    )
    book.invokes(
        "Lemma 6.3",
        le(GAMMA, 1 / (H * sqrt(3 * L**2))),
        {"gamma <= 1/(sqrt(3) H L)": le(GAMMA, 1 / (sqrt(3) * H * L))},
        text="invokes Lemma 6.3 with beta = 3 L^2: gamma <= 1/(H sqrt(beta))",
    )
    book.step(
        "E[e_bar_k] <= 9 H gamma^2 sum_{t=T_r}^{k-1} (nu^2 + m (G^2 + 2 L B^2 D_f)), termwise",
        eq(
            3 * H * GAMMA**2 * 3 * (NU**2 + M * (G**2 + 2 * L * B**2 * d_t)),
            9 * H * GAMMA**2 * (NU**2 + M * (G**2 + 2 * L * B**2 * d_t)),
        ),
        uses=("Lemma 6.3",),
    )
    tail = nonnegative("e_1 e_2")
    book.step(
        "sum from T_r = sum from T_r + 1, because e_bar_{T_r} = 0",
        eq(E + sum(tail), sum(tail)),
        {"e_bar_{T_r} = 0": eq(E, 0)},
    )
    double = [D[0], D[0] + D[1], D[0] + D[1] + D[2]]
    constant = 9 * GAMMA**2 * (NU**2 + M * G**2)
    book.step(
        "the double sum splits into a D_f part and (at most) H terms of 9 gamma^2 (nu^2 + m G^2) H each",
        le(
            9 * H * GAMMA**2 * (age * (NU**2 + M * G**2) + M * 2 * L * B**2 * total),
            18 * M * L * GAMMA**2 * B**2 * H * total + constant * H**2,
        ),
        {"k - T_r <= H": le(age, H)},
    )
    book.step(
        "sum_{k} sum_{t < k} D_t <= H sum_{t=T_r}^{T_{r+1}-2} D_t, for H = 2, 3, 4 and termwise",
        obligations=(
            *(
                o
                for n in (2, 3, 4)
                for o in obliged(le(sum(double[: n - 1]), n * sum(D[: n - 1])), name=f"H = {n}")
            ),
            *obliged(
                le((H - 1 - age) * d_t, H * d_t),
                {"each D_t occurs T_{r+1} - 1 - t times": le(age, H)},
                name="termwise",
            ),
        ),
    )
    book.step(
        "H sum_{t=T_r}^{T_{r+1}-2} D_t <= H sum_{t=T_r+1}^{T_{r+1}-1} D_t, H = 2",
        shifted(2)[0],
        cases=(case(D_T_r=1, D_T_r_1=0),),
        survives_by=tuple(f"Lemma 6.9/{k}@corrected" for k in range(3, 20)),
        repair=repaired(("... <= H sum_{t=T_r}^{T_{r+1}-1} D_t", obliged(shifted(2)[1]))),
    )
    book.step(
        "the lemma: (H - 1) H^2 <= H^3 for the constant part",
        le(
            E_SUM,
            18 * M * L * GAMMA**2 * B**2 * H**2 * D_SUM + constant * H**3,
        ),
        {
            "the preceding lines": le(
                E_SUM, 18 * M * L * GAMMA**2 * B**2 * H * (H * D_SUM) + (H - 1) * constant * H**2
            ),
        },
        uses=("Lemma 6.9/7",),
    )
    return book


def _corrected_6_9() -> Book:
    book = Book("Lemma 6.9", "appendix 6.2, proof of Lemma 6.9", "corrected")
    book.step(
        "sum_{k} sum_{t < k} D_t <= H sum_{t=T_r}^{T_{r+1}-1} D_t, for H = 2, 3, 4",
        obligations=tuple(o for n in (2, 3, 4) for o in obliged(shifted(n)[1], name=f"H = {n}")),
    )
    (age,), (d_t,) = integer("age"), nonnegative("D_t")
    book.step(
        "each D_t of the round occurs T_{r+1} - 1 - t <= H times",
        le((H - 1 - age) * d_t, H * d_t),
    )
    _printed_form_survives(book)
    return book


def _printed_form_survives(book: Book) -> None:
    """The printed bound holds although its proof drops D_f(x_bar_{T_r}): smoothness bounds the first gradients by the
    second ones, and the proof's constant 9 has room for both.

    Norms are over the clients with the weights p_{i,r} and over the noise: P_t = E sum p_{i,r} ||grad f_i(x_bar_t)||^2,
    E_t = sqrt(E e_bar_t), a = gamma L, t counted from T_r; H = 1 has no term on either side.
    """
    a, w, H_2 = *positive("gamma_L one_minus_a_sq"), {"H >= 2": ge(H, 2)}
    p_0, p_1, g = nonnegative("norm_P_0 norm_P_1 norm_g_0")
    first = book.step(
        "||g_bar_{T_r}|| <= sqrt(P_0) + nu, as the noise's mean square adds to that of the weighted gradients, <= P_0",
        le(g, p_0 + NU),
        {"P_0 + nu^2": le(g**2, p_0**2 + NU**2)},
    )
    book.step(
        "(1 - a) sqrt(P_0) <= sqrt(P_1) + a nu: the first step moves every gradient by at most a ||g_bar_{T_r}||",
        le((1 - a) * p_0, p_1 + a * NU),
        {"smoothness": le(p_0, p_1 + a * g), "the preceding relation": le(g, p_0 + NU)},
        uses=(first,),
    )
    book.step(
        "(1 - a)^2 P_0 <= (3/2) P_1 + 3 a^2 nu^2",
        le((1 - a) ** 2 * p_0**2, Rational(3, 2) * p_1**2 + 3 * a**2 * NU**2),
        {"the preceding relation": le((1 - a) * p_0, p_1 + a * NU), "a < 1": lt(a, 1)},
        hints=(p_1 - 2 * a * NU,),
    )
    _growth(book, a)
    total, P_0, P_T, Q = nonnegative("e_bar_sum P_0 P_sum D_part")
    reach = {"gamma <= 1/(sqrt(3) H L)": le(3 * a**2 * H**2, 1)}
    book.step("a H <= 29/50", le(a * H, Rational(29, 50)), reach)
    near = {"a H <= 29/50": le(a * H, Rational(29, 50)), "w = (1 - a)^2": eq(w, (1 - a) ** 2)}
    book.step("H w >= H - 29/25, w = (1 - a)^2", ge(H * w, H - Rational(29, 25)), near)
    low = {"the preceding relation": ge(H * w, H - Rational(29, 25)), **H_2}
    book.step(
        "(159/50) (H - 1) (w + 3/2) <= 9 H w, H >= 2",
        le(_GROWTH * (H - 1) * (w + Rational(3, 2)), 9 * H * w),
        low,
    )
    book.step("3 a^2 <= w, H >= 2", le(3 * a**2, w), {**low, **reach})
    book.step(
        "(159/50) (H - 1) (w + 3 a^2) <= 9 H^2 w, H >= 2",
        le(_GROWTH * (H - 1) * (w + 3 * a**2), 9 * H**2 * w),
        {"3 a^2 <= w": le(3 * a**2, w), **H_2},
    )
    (all_of_it,) = nonnegative("bracket")
    book.step(
        "(159/50) (H - 1) (nu^2 + P_0 + sum P_t) <= 9 H^2 nu^2 + 9 H sum P_t, sums over t = T_r + 1 .. T_{r+1} - 1",
        le(_GROWTH * (H - 1) * (NU**2 + P_0 + P_T), 9 * H**2 * NU**2 + 9 * H * P_T),
        {
            "P_0 <= ((3/2) sum P_t + 3 a^2 nu^2)/w": le(w * P_0, Rational(3, 2) * P_T + 3 * a**2 * NU**2),
            "of sum P_t": le(_GROWTH * (H - 1) * (w + Rational(3, 2)), 9 * H * w),
            "of nu^2": le(_GROWTH * (H - 1) * (w + 3 * a**2), 9 * H**2 * w),
        },
    )
    book.step(
        "the printed lemma: sum e_bar_k <= 18 m L gamma^2 B^2 H^2 sum D_t + 9 gamma^2 (nu^2 + m G^2) H^3",
        le(total, 9 * GAMMA**2 * H**2 * Q + 9 * GAMMA**2 * (NU**2 + M * G**2) * H**3),
        {
            "the sum of the growth": le(total, GAMMA**2 * H * all_of_it),
            "the preceding relation": le(all_of_it, 9 * H**2 * NU**2 + 9 * H * P_T),
            "Lemma 6.5, with 2 m L B^2 sum D_t": le(P_T, (H - 1) * M * G**2 + Q),
        },
        uses=("Lemma 6.5",),
    )


_GROWTH = Rational(159, 50)  # above exp(2/sqrt(3))


def _growth(book: Book, a: Symbol) -> None:
    """sum e_bar_k <= (159/50) gamma^2 H (H-1) (nu^2 + P_0 + ... + P_{H-2})."""
    A, sum_e, power, e_k = nonnegative("A E_sum one_plus_a_power E_k")
    book.induction(
        "E_k <= A_k + a sum_{t < k} E_t, A_k = gamma (sum_{t < k} sqrt(P_t) + sqrt(k) nu), so that"
        " sum_{t < k} E_t <= A_k ((1 + a)^k - 1)/a",
        le(0 * sum_e, A * (1 - 1) / a),
        le(sum_e + e_k, A * ((1 + a) * power - 1) / a),
        {
            "induction hypothesis": le(sum_e, A * (power - 1) / a),
            "Minkowski, smoothness and the noise's martingale": le(e_k, A + a * sum_e),
        },
    )
    book.step(
        "hence E_k <= A_k (1 + a)^k",
        le(e_k, A * power),
        {"the recursion": le(e_k, A + a * sum_e), "the sum": le(sum_e, A * (power - 1) / a)},
    )
    (log_growth,) = real("ln_one_plus_a")
    book.step(
        "2 (H - 1) ln(1 + a) <= 2/sqrt(3)",
        le(2 * (H - 1) * log_growth, 2 / sqrt(3)),
        {"ln(1 + x) <= x": le(log_growth, a), "gamma <= 1/(sqrt(3) H L)": le(a, 1 / (sqrt(3) * H))},
        uses=("Lemma 6.10/2",),
    )
    book.step("exp(2/sqrt(3)) <= 159/50", le(exp(2 / sqrt(3)), _GROWTH))
    s, squares, sum_g, g_k = natural("k")[0], *nonnegative("sum_P sum_norm_P norm_P_k")
    book.induction(
        "(sum_{t < k} sqrt(P_t))^2 <= k sum_{t < k} P_t",
        le(g_k**2, 1 * g_k**2),
        le((sum_g + g_k) ** 2, (s + 1) * (squares + g_k**2)),
        {"induction hypothesis": le(sum_g**2, s * squares)},
        hints=(sum_g - s * g_k,),
    )
    n = nonnegative("noise")[0]
    book.step(
        "A_k^2 <= 2 gamma^2 k (sum_{t < k} P_t + nu^2)",
        le(GAMMA**2 * (sum_g + n) ** 2, 2 * GAMMA**2 * s * (squares + NU**2)),
        {"the preceding relation": le(sum_g**2, s * squares), "sqrt(k) nu": eq(n**2, s * NU**2)},
        hints=(sum_g - n,),
    )
    (so_far,) = nonnegative("sum_k")
    book.induction(
        "sum_{k=1}^{n} k = n (n + 1)/2: with k <= H - 1 each P_t, and nu^2, counts at most H (H - 1)/2 times",
        eq(0, Rational(0)),
        eq(so_far + s, s * (s + 1) / 2),
        {"induction hypothesis": eq(so_far, (s - 1) * s / 2)},
    )


def _lemma_6_10() -> Book:
    book = Book("Lemma 6.10", "appendix 6.2, proof of Lemma 6.10")
    (x,) = positive("x")
    log_c, f = real("ln_c ln_factor")
    (logs,) = real("ln_factor_sum")
    book.induction(
        "ln c_k = -sum ln(1 + m gamma sqrt(delta_{r_j}))",
        eq(0, -(0 * logs)),
        eq(log_c - f, -(logs + f)),
        {"induction hypothesis": eq(log_c, -logs)},
    )
    book.step("ln(1 + x) <= x for x >= 0", le(log(1 + x), x))
    total, extra, root = nonnegative("sum_so_far extra sqrt_delta")
    book.induction(
        "ln c_k >= -sum m gamma sqrt(delta_0 rho^{r_j})",
        ge(0, 0 * total),
        ge(log_c - f, -M * GAMMA * (total + root)),
        {"induction hypothesis": ge(log_c, -M * GAMMA * total), "ln(1 + x) <= x": le(f, M * GAMMA * root)},
        uses=("Lemma 6.10/2",),
    )
    book.step(
        ">= the same with the sum continued to infinity (its terms are nonnegative)",
        ge(-M * GAMMA * total, -M * GAMMA * (total + extra)),
    )
    u, partial = positive("sqrt_rho")[0], nonnegative("geometric")[0]
    (power,) = nonnegative("sqrt_rho_power")
    book.induction(
        "sum_j rho^{0.5 r_j} = H sum_r rho^{0.5 r}: partial sums H (1 - u^R)/(1 - u), u = sqrt(rho)",
        eq(H * 1, H * (1 - u) / (1 - u)),
        eq(partial + H * power, H * (1 - u * power) / (1 - u)),
        {"induction hypothesis": eq(partial, H * (1 - power) / (1 - u)), "rho < 1": lt(u, 1)},
    )
    whole = H / (1 - u)
    limit = {"the limit of the partial sums": eq(partial, whole), "rho < 1": lt(u, 1)}
    book.step(
        "the infinite sum is < H/(1 - rho^0.5), strictly as printed",
        lt(partial, whole),
        limit,
        cases=(case(H=1, sqrt_rho="1/2", geometric=2),),
        survives_by=("Lemma 6.10/1@corrected",),
        repair=repaired(("<= H/(1 - rho^0.5)", obliged(le(partial, whole), limit))),
    )
    book.step(
        "so ln c_k >= -m H gamma sqrt(delta_0)/(1 - rho^0.5)",
        ge(log_c, -M * H * GAMMA * root / (1 - u)),
        {
            "the preceding bound": ge(log_c, -M * GAMMA * root * partial),
            "the geometric sum": le(partial, whole),
            "rho < 1": lt(u, 1),
        },
    )
    book.step("exp(-x) >= 1 - x for x > 0", ge(exp(-x), 1 - x))
    return book


def _corrected_6_10() -> Book:
    book = Book("Lemma 6.10", "appendix 6.2, proof of Lemma 6.10", "corrected")
    u, partial, power = positive("sqrt_rho")[0], *nonnegative("geometric sqrt_rho_power")
    book.step(
        "every partial sum is <= H/(1 - rho^0.5)",
        le(partial, H / (1 - u)),
        {"partial sum": eq(partial, H * (1 - power) / (1 - u)), "rho < 1": lt(u, 1)},
    )
    return book
