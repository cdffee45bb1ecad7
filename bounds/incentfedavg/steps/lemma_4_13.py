"""Lemma 4.13: the consensus error."""

from __future__ import annotations

from sympy import Add, Integer, sqrt

from bounds.core.step import eq, le
from bounds.incentfedavg.steps.common import GAMMA, GRAD, GRADS, NU, B, E, G, H, L, M
from bounds.incentfedavg.steps.lemma_4_12 import ASSUMPTION_4_5, square_hints, square_of_sum
from bounds.incentfedavg.steps.notation import (
    Book,
    dot,
    integer,
    minus,
    nonnegative,
    obliged,
    real,
    sq,
    vectors,
)

(AGE,) = integer("age")  # k - T_r


def books() -> tuple[Book, ...]:
    """Parts (i) to (iii)."""
    return _part_i(), _part_ii(), _part_iii()


def _part_i() -> Book:
    book = Book("Lemma 4.13(i)", "appendix 6.1, proof of Lemma 4.13 (i)")
    _since_the_start(book)
    _display_20(book)
    _second_moments(book)
    return book


def _since_the_start(book: Book) -> None:
    """The iterates since the start of the round."""
    x, g, start, total = real("x_i_k g_i_k x_hat g_sum")
    book.induction(
        "x_{i,k} = x_{i,T_r} - gamma sum_{t=T_r}^{k-1} g_{i,t}",
        eq(start - GAMMA * g, start - GAMMA * g),
        eq(x - GAMMA * g, start - GAMMA * (total + g)),
        {"induction hypothesis": eq(x, start - GAMMA * total)},
    )
    w, w_sum, acc = *nonnegative("p_i w_sum"), real("x_bar_sum")[0]
    g_bar = real("g_bar_sum")[0]
    book.step(
        "x_bar_{T_r} = sum p_i x_hat_r = x_hat_r = x_{i,T_r}",
        eq(w_sum * start, start),
        {"sum p_i = 1": eq(w_sum, 1)},
    )
    book.induction(
        "x_bar_k = x_bar_{T_r} - gamma sum g_bar_t, client by client",
        eq(w * (start - GAMMA * g), w * start - GAMMA * (w * g)),
        eq(acc + w * (start - GAMMA * g), (w_sum + w) * start - GAMMA * (g_bar + w * g)),
        {"induction hypothesis": eq(acc, w_sum * start - GAMMA * g_bar)},
    )
    book.step(
        "x_{i,k} - x_bar_k = -(gamma sum g_{i,t} - gamma sum g_bar_t)",
        eq((start - GAMMA * total) - (start - GAMMA * g_bar), -(GAMMA * total - GAMMA * g_bar)),
    )
    book.step(
        "E||gamma sum (g_i - g_bar)||^2 <= gamma^2 (k - T_r) sum E||g_{i,t} - g_bar_t||^2",
        obligations=square_of_sum(),
        hints=square_hints(),
        uses=("Lemma 4.12/4",),
    )


def _display_20(book: Book) -> None:
    """(20): the spread of the gradients."""
    (w_sum,) = nonnegative("w_sum")
    a, b = vectors("g g_bar")
    book.step(
        "||g - g_bar||^2 = ||g||^2 + ||g_bar||^2 - 2 g^T g_bar",
        eq(sq(minus(a, b)), sq(a) + sq(b) - 2 * dot(a, b)),
    )
    own, bar, cross = *nonnegative("weighted_g_sq g_bar_sq"), real("weighted_cross")[0]
    lead = GAMMA**2 * AGE
    (bar_sq,) = nonnegative("g_bar_sq")
    book.step(
        "sum p_i E||g_bar||^2 = E||g_bar||^2",
        eq(w_sum * bar_sq, bar_sq),
        {"sum p_i = 1": eq(w_sum, 1)},
    )
    book.step(
        "with Lemma 4.11: the cross term is -2 ||g_bar||^2, so E[e_bar] <= gamma^2 (k-T_r) sum (sum p_i"
        " ||g_i||^2 - ||g_bar||^2)",
        eq(lead * (own + bar - 2 * cross), lead * (own - bar)),
        {"Lemma 4.11": eq(cross, bar)},
        uses=("Lemma 4.11",),
    )
    book.step("(20): dropping -||g_bar||^2", le(lead * (own - bar), lead * own))


def _second_moments(book: Book) -> None:
    """The second moments of the gradients, and (i)."""
    w, w_sum = nonnegative("p_i w_sum")
    noise, change, at_bar = real("noise change grad_bar")
    book.step(
        "g = noise + (grad f_i(x_i) - grad f_i(x_bar)) + grad f_i(x_bar): ||g||^2 <= 3 (.. + .. + ..),"
        " one coordinate",
        le((noise + change + at_bar) ** 2, 3 * (noise**2 + change**2 + at_bar**2)),
        hints=(noise - change, change - at_bar, noise - at_bar),
        sharp=True,
    )
    total_g, n_sq, c_sq, g_sq, dist = nonnegative("g_sq noise_sq change_sq grad_bar_sq dist_i_sq")
    book.step(
        "E||g_{i,t}||^2 <= 3 nu^2 + 3 L^2 ||x_i - x_bar||^2 + 3 ||grad f_i(x_bar)||^2",
        le(total_g, 3 * NU**2 + 3 * L**2 * dist + 3 * g_sq),
        {
            "three squares": le(total_g, 3 * (n_sq + c_sq + g_sq)),
            "Assumption 2.1(ii)": le(n_sq, NU**2),
            "Assumption 2.1(i)": le(c_sq, L**2 * dist),
        },
        uses=("Assumption 2.1(i)", "Assumption 2.1(ii)"),
    )
    rest = nonnegative("weighted_so_far e_so_far grads_so_far")
    book.induction(
        "sum p_i E||g_{i,t}||^2 <= 3 nu^2 + 3 L^2 e_bar + 3 sum p_i ||grad f_i(x_bar)||^2",
        le(w * total_g, 3 * w * NU**2 + 3 * L**2 * w * dist + 3 * w * g_sq),
        le(
            rest[0] + w * total_g,
            3 * (w_sum + w) * NU**2 + 3 * L**2 * (rest[1] + w * dist) + 3 * (rest[2] + w * g_sq),
        ),
        {
            "each client": le(total_g, 3 * NU**2 + 3 * L**2 * dist + 3 * g_sq),
            "induction hypothesis": le(rest[0], 3 * w_sum * NU**2 + 3 * L**2 * rest[1] + 3 * rest[2]),
        },
    )
    book.step(
        "p_i <= 1: sum p_i ||grad f_i||^2 <= sum ||grad f_i||^2, termwise",
        le(3 * w * g_sq, 3 * g_sq),
        {"p_i <= 1": le(w, 1)},
    )
    (e_k,) = nonnegative("e_bar_k")
    (own_sum,) = nonnegative("weighted_g_sq")
    (weighted,) = nonnegative("weighted_grad_sq")
    book.step(
        "(i), from (20), termwise: E[e_bar_k] <= gamma^2 (k - T_r) (3 nu^2 + 3 L^2 e_bar + 3 sum ||grad"
        " f_i||^2)",
        le(e_k, GAMMA**2 * AGE * (3 * NU**2 + 3 * L**2 * E + 3 * GRADS)),
        {
            "(20)": le(e_k, GAMMA**2 * AGE * own_sum),
            "the preceding display": le(own_sum, 3 * NU**2 + 3 * L**2 * E + 3 * weighted),
            "p_i <= 1": le(weighted, GRADS),
        },
        sharp=True,
    )


def _part_ii() -> Book:
    book = Book("Lemma 4.13(ii)", "appendix 6.1, proof of Lemma 4.13 (ii)")
    lead = GAMMA**2 * AGE
    book.step(
        "(21), termwise: Assumption 4.5 in (i)",
        le(
            lead * (3 * NU**2 + 3 * L**2 * E + 3 * GRADS),
            lead * (3 * NU**2 + 3 * L**2 * E + 3 * M * (G**2 + B**2 * GRAD)),
        ),
        ASSUMPTION_4_5,
        uses=("Lemma 4.13(i)", "Assumption 4.5"),
    )
    book.step(
        "(21) is the recursion of Lemma 6.3 with beta = 3 L^2 and theta = 3 (nu^2 + m (G^2 + B^2 ||grad"
        " f||^2))",
        eq(
            3 * NU**2 + 3 * L**2 * E + 3 * M * (G**2 + B**2 * GRAD),
            (3 * L**2) * E + 3 * (NU**2 + M * (G**2 + B**2 * GRAD)),
        ),
    )
    book.invokes(
        "Lemma 6.3",
        le(GAMMA, 1 / (H * sqrt(3 * L**2))),
        {"gamma <= 1/(sqrt(3) H L)": le(GAMMA, 1 / (sqrt(Integer(3)) * H * L))},
        text="invokes Lemma 6.3: gamma <= 1/(H sqrt(beta)), and e_bar_{T_r} = 0",
    )
    book.step(
        "3 H gamma^2 theta = 9 H gamma^2 (nu^2 + m (G^2 + B^2 ||grad f||^2))",
        eq(
            3 * H * GAMMA**2 * 3 * (NU**2 + M * (G**2 + B**2 * GRAD)),
            9 * H * GAMMA**2 * (NU**2 + M * (G**2 + B**2 * GRAD)),
        ),
        uses=("Lemma 6.3",),
    )
    return book


def _part_iii() -> Book:
    book = Book("Lemma 4.13(iii)", "appendix 6.1, proof of Lemma 4.13 (iii)")
    e = nonnegative("e_T_r_hat e_1 e_2")
    book.step(
        "the sum may start at T_r_hat + 1, because e_bar_{T_r_hat} = 0",
        eq(Add(*e), e[1] + e[2]),
        {"e_bar_{T_r_hat} = 0": eq(e[0], 0)},
    )
    x = nonnegative("g_0 g_1 g_2")
    inner = [x[0], x[0] + x[1], x[0] + x[1] + x[2]]
    each = nonnegative("g_t")[0]
    book.step(
        "each E||grad f(x_bar_t)||^2 appears at most H times in the double sum, H = 2, 3, 4 and termwise",
        obligations=(
            *(
                o
                for n in (2, 3, 4)
                for o in obliged(le(Add(*inner[: n - 1]), n * Add(*x[: n - 1])), name=f"H = {n}")
            ),
            *obliged(le((H - 1 - AGE) * each, H * each), name="termwise"),
        ),
    )
    book.step("H sum_{k <= T_R - 2} <= H sum_{k <= T_R - 1}", le(H * (x[0] + x[1]), H * (x[0] + x[1] + x[2])))
    lead, age = 9 * H * GAMMA**2, AGE
    total = nonnegative("inner_sum")[0]
    book.step(
        "the inner sum of constants has k - T_r <= H terms",
        le(
            lead * (age * (NU**2 + M * G**2) + M * B**2 * total),
            9 * M * GAMMA**2 * B**2 * H * total + 9 * GAMMA**2 * (NU**2 + M * G**2) * H**2,
        ),
        {"k - T_r <= H": le(age, H)},
    )
    done, sums, one = nonnegative("e_sum grad_sum e_round")
    count = integer("rounds")[0]
    constant = 9 * GAMMA**2 * (NU**2 + M * G**2) * H**2
    book.induction(
        "summing the rounds: 9 m gamma^2 B^2 H^2 sum ||grad f||^2 + 9 gamma^2 (nu^2 + m G^2) H^2 (T_R -"
        " T_r_hat)",
        le(one, 9 * M * GAMMA**2 * B**2 * H**2 * each + constant * H),
        le(done + one, 9 * M * GAMMA**2 * B**2 * H**2 * (sums + each) + constant * H * (count + 1)),
        {
            "one round": le(one, 9 * M * GAMMA**2 * B**2 * H * (H * each) + constant * H),
            "induction hypothesis": le(done, 9 * M * GAMMA**2 * B**2 * H**2 * sums + constant * H * count),
        },
        uses=("Lemma 4.13(ii)", "Lemma 4.13(iii)/2", "Lemma 4.13(iii)/4"),
    )
    return book
