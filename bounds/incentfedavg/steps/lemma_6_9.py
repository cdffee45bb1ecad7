"""Lemmas 6.9 and 6.10: the consensus error over one round, and the weights c_k of the convex proof."""

from __future__ import annotations

from sympy import exp, log, sqrt

from bounds.core.step import Relation, eq, ge, le, lt
from bounds.incentfedavg.steps.common import GAMMA, GRADS, NU, B, E, G, H, L, M
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    integer,
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
    _one_step(book)
    _one_round(book)
    return book


def _one_step(book: Book) -> None:
    """The consensus error at one step."""
    (age,) = integer("age")
    (d_t,) = nonnegative("D_f")
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


def _one_round(book: Book) -> None:
    """Its sum over a round."""
    (age,) = integer("age")
    d_t, total = nonnegative("D_f total")
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
    return book


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
