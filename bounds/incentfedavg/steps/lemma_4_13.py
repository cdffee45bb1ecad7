"""Lemmas 4.13 and 4.14: the consensus error and the second moment of the average gradient."""

from __future__ import annotations

from sympy import Add, Integer, sqrt

from bounds.core.step import eq, ge, le
from bounds.incentfedavg.steps.common import DELTA, GAMMA, GRAD, GRADS, NU, B, E, G, H, L, M
from bounds.incentfedavg.steps.lemma_4_12 import ASSUMPTION_4_5, square_hints, square_of_sum
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    cauchy_schwarz,
    dot,
    integer,
    minus,
    nonnegative,
    obliged,
    positive,
    real,
    repaired,
    sq,
    vectors,
)

(AGE,) = integer("age")  # k - T_r
SECOND, MEAN_SQ = nonnegative("g_bar_sq mean_grad_sq")


def books() -> tuple[Book, ...]:
    """Lemma 4.13 (i) to (iii), Lemma 4.14 (a) and (b)."""
    return _part_i(), _part_ii(), _part_iii(), _lemma_a(), _lemma_b()


def _part_i() -> Book:
    book = Book("Lemma 4.13(i)", "appendix 6.1, proof of Lemma 4.13 (i)")
    x, g, start, total = real("x_i_k g_i_k x_hat g_sum")
    book.induction(
        "x_{i,k} = x_{i,T_r} - gamma sum_{t=T_r}^{k-1} g_{i,t}",
        eq(start - GAMMA * g, start - GAMMA * g),
        eq(x - GAMMA * g, start - GAMMA * (total + g)),
        {"induction hypothesis": eq(x, start - GAMMA * total)},
    )
    w, w_sum, acc = *nonnegative("p_i w_sum"), real("x_bar_sum")[0]
    g_bar = real("g_bar_sum")[0]
    book.induction(
        "x_bar_k = x_bar_{T_r} - gamma sum g_bar_t, client by client",
        eq(w * (start - GAMMA * g), w * start - GAMMA * (w * g)),
        eq(acc + w * (start - GAMMA * g), (w_sum + w) * start - GAMMA * (g_bar + w * g)),
        {"induction hypothesis": eq(acc, w_sum * start - GAMMA * g_bar)},
    )
    book.step(
        "E||gamma sum (g_i - g_bar)||^2 <= gamma^2 (k - T_r) sum E||g_{i,t} - g_bar_t||^2",
        obligations=square_of_sum(),
        hints=square_hints(),
        uses=("Lemma 4.12/4",),
    )
    a, b = vectors("g g_bar")
    book.step(
        "||g - g_bar||^2 = ||g||^2 + ||g_bar||^2 - 2 g^T g_bar",
        eq(sq(minus(a, b)), sq(a) + sq(b) - 2 * dot(a, b)),
    )
    own, bar, cross = *nonnegative("weighted_g_sq g_bar_sq"), real("weighted_cross")[0]
    lead = GAMMA**2 * AGE
    book.step(
        "with Lemma 4.11: the cross term is -2 ||g_bar||^2, so E[e_bar] <= gamma^2 (k-T_r) sum (sum p_i"
        " ||g_i||^2 - ||g_bar||^2)",
        eq(lead * (own + bar - 2 * cross), lead * (own - bar)),
        {"Lemma 4.11": eq(cross, bar)},
        uses=("Lemma 4.11",),
    )
    book.step("(20): dropping -||g_bar||^2", le(lead * (own - bar), lead * own))
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
    return book


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


def _lemma_a() -> Book:
    book = Book("Lemma 4.14(a)", "appendix 6.1, proof of Lemma 4.14 (a)")
    noise, mean, cross = nonnegative("noise_sq")[0], MEAN_SQ, real("noise_dot_mean")[0]
    book.step(
        "(22): E||g_bar||^2 = E||sum p_i noise_i||^2 + E||sum p_i grad f_i(x_i)||^2, the cross term"
        " having mean zero",
        eq(noise + 2 * cross + mean, noise + mean),
        {"Assumption 2.1(ii)": eq(cross, 0)},
        uses=("Assumption 2.1(ii)",),
    )
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
        survives_by=("Lemma 4.14(a)/3",),
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
    so_far, one, squares, (w_sum,) = *nonnegative("sum_norm noise_norm weighted_squares"), positive("w_sum")
    inner, line = real("sum_dot_noise line")
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
    a, b = real("first second")
    book.step(
        "(24): ||a + b||^2 <= 2 ||a||^2 + 2 ||b||^2, a = sum p_i grad f_i(x_bar), b the change, one"
        " coordinate",
        le((a + b) ** 2, 2 * a**2 + 2 * b**2),
        hints=(a - b,),
        sharp=True,
    )
    at_bar, shifted, change, weighted = nonnegative("mean_bar_sq shifted_sq change_sq weighted_change")
    book.step(
        "(24): E||sum p_i grad f_i(x_i)||^2 <= 2 E||sum p_i grad f_i(x_bar)||^2 + 2 m sum p_i^2"
        " E||change_i||^2",
        le(MEAN_SQ, 2 * at_bar + 2 * M * weighted),
        {
            "two squares": le(MEAN_SQ, 2 * at_bar + 2 * change),
            "the square of the sum": le(change, M * weighted),
        },
        uses=("Lemma 4.14(a)/5", "Lemma 4.12/4"),
    )
    book.step(
        "(25): E||sum p_i grad f_i(x_bar)||^2 <= 2 m delta_r^2 sum ||grad f_i||^2 + 2 ||grad f||^2",
        le(at_bar, 2 * M * DELTA**2 * GRADS + 2 * GRAD),
        {
            "two squares": le(at_bar, 2 * shifted + 2 * GRAD),
            "the square of the sum and |p_i - p*_i| <= delta_r": le(shifted, M * DELTA**2 * GRADS),
        },
        uses=("Lemma 4.12/8",),
    )
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
        uses=("Lemma 4.14(a)/3", "Lemma 4.14(a)/8"),
    )
    return book


def _lemma_b() -> Book:
    book = Book("Lemma 4.14(b)", "appendix 6.1, proof of Lemma 4.14 (b)")
    bound = 4 * M**2 * DELTA**2 * G**2 + 4 * (M**2 * DELTA**2 * B**2 + 1) * GRAD
    book.step(
        "(26) with Assumption 4.5",
        le(MEAN_SQ, 2 * M * L**2 * E + bound),
        {"(26)": le(MEAN_SQ, 2 * M * L**2 * E + 4 * M * DELTA**2 * GRADS + 4 * GRAD), **ASSUMPTION_4_5},
        uses=("Lemma 4.14(a)/8", "Assumption 4.5"),
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
