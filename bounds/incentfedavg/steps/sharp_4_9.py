"""The sharp edition of Theorem 4.9: no sign, G, B or r_hat condition.

S = sum ||grad f_i(x*)||^2, sigma_sq = sum q_i ||grad f_i(x*)||^2, omega = max q_i/p*_i, Delta = ||q_r -
p*||_2, k = sqrt(m),
b = sum q_i grad f_i(x_i); expectations understood.
"""

from __future__ import annotations

from sympy import Rational, exp

from bounds.core.step import Relation, eq, ge, le
from bounds.incentfedavg.steps.common import DF, GAMMA, GRADS, NU, X_NEXT, E, H, L, S, X
from bounds.incentfedavg.steps.notation import (
    Book,
    cauchy_schwarz,
    jensen,
    natural,
    nonnegative,
    positive,
    real,
)

DEV, S_Q, OMEGA, SIGMA_SQ = nonnegative("Delta s omega sigma_sq")
(K,) = positive("sqrt_m")
(ROUNDS,) = natural("rounds")
T = H * ROUNDS
STEP_16: dict[str, Relation] = {"gamma <= 1/(16 L)": le(GAMMA, 1 / (16 * L))}
STEP_W: dict[str, Relation] = {
    "gamma <= 1/(L sqrt(72 omega H (H-1)))": le(72 * L**2 * OMEGA * H * (H - 1) * GAMMA**2, 1)
}
INNER, B_SQ = real("inner")[0], nonnegative("b_sq")[0]
GROWTH = 1 + GAMMA * L * (2 * K * DEV + K**2 * DEV**2 / 2)
ONE_STEP = le(
    X_NEXT,
    GROWTH * X
    - Rational(3, 2) * GAMMA * DF
    + Rational(9, 8) * GAMMA * L * E
    + GAMMA * DEV * S / (L * K)
    + 8 * GAMMA**2 * DEV**2 * S
    + GAMMA**2 * S_Q * NU**2,
)
INNER_BOUND = le(-2 * INNER, -2 * DF + 2 * DEV * L * K * X + DEV * S / (L * K) + L * E)
B_BOUND = le(B_SQ, 2 * L**2 * E + 8 * L * DF + 8 * DEV**2 * (S + K**2 * L**2 * X))


def books() -> tuple[Book, ...]:
    """One step, the weights, the consensus error, the bound, and the start distance."""
    book = Book("Theorem 4.9(i-1)", "sharp edition", "sharp")
    _inner(book)
    _second_moment(book)
    _step(book)
    _weights(book)
    _bound(book)
    return (book,)


def _inner(book: Book) -> None:
    gap, at_star, slope, dist = *real("gap star_dot_v"), *nonnegative("grad_star_norm dist")
    book.step(
        "|f_i(x*) - f_i(x_bar)| <= ||grad f_i(x*)|| sqrt(X) + L X/2",
        [le(gap, slope * dist + L / 2 * dist**2), le(-gap, slope * dist + L / 2 * dist**2)],
        {
            "smoothness at x*: f_i(x_bar) - f_i(x*) <= star^T v + L/2 ||v||^2": le(
                gap, at_star + L / 2 * dist**2
            ),
            "convexity at x*": ge(gap, at_star),
        },
        structure=cauchy_schwarz(at_star, slope, dist),
    )
    a1, b1, acc, aa, bb = nonnegative("a_i b_i ab_sum a_norm b_norm")
    book.induction(
        "Cauchy-Schwarz: sum a_i b_i <= (sum a_i^2)^(1/2) (sum b_i^2)^(1/2) (squared)",
        le((a1 * b1) ** 2, a1**2 * b1**2),
        le((acc + a1 * b1) ** 2, (aa**2 + a1**2) * (bb**2 + b1**2)),
        {"induction hypothesis": le(acc, aa * bb)},
        hints=(aa * b1 - a1 * bb,),
    )
    root_s, weighted = nonnegative("sqrt_S weighted_gaps")
    young = le(2 * DEV * root_s * dist, DEV * root_s**2 / (L * K) + DEV * L * K * dist**2)
    book.step(
        "Young: 2 Delta sqrt(S) sqrt(X) <= Delta S/(L sqrt(m)) + L sqrt(m) Delta X",
        young,
        hints=(root_s - L * K * dist,),
        sharp=True,
    )
    t = positive("t")[0]
    book.step(
        "for any t > 0: 2 Delta sqrt(S) sqrt(X) <= (Delta/t) S + t Delta X; t = L sqrt(m) above",
        le(2 * DEV * root_s * dist, DEV * root_s**2 / t + t * DEV * dist**2),
        hints=(root_s - t * dist,),
        sharp=True,
    )
    book.step(
        "2 sum |q_i - p*_i| |f_i(x*) - f_i(x_bar)| <= 2 Delta sqrt(S) sqrt(X) + L sqrt(m) Delta X <="
        " Delta S/(L sqrt(m)) + 2 L sqrt(m) Delta X",
        le(weighted, DEV * root_s**2 / (L * K) + 2 * L * K * DEV * dist**2),
        {
            "Cauchy-Schwarz, twice": le(weighted, 2 * DEV * root_s * dist + L * K * DEV * dist**2),
            "Young": young,
        },
        sharp=True,
    )
    book.step(
        "-2 (x_bar - x*)^T b <= -2 D_f + 2 L sqrt(m) Delta X + Delta S/(L sqrt(m)) + L e_bar",
        INNER_BOUND,
        {
            "Lemma 6.7 up to (27)": le(-2 * INNER, -2 * DF + weighted + L * E),
            "the weighted gaps": le(weighted, DEV * S / (L * K) + 2 * L * K * DEV * X),
        },
        uses=("Lemma 6.7/7",),
        sharp=True,
    )


def _second_moment(book: Book) -> None:
    change, shift, rest, grad = nonnegative("change_sq shift_sq rest_sq grad_f_sq")
    book.step(
        "sum ||grad f_i(x_bar)||^2 <= 2 S + 2 m L^2 X",
        le(GRADS, 2 * S + 2 * K**2 * L**2 * X),
        {
            "two squares, summed": le(GRADS, 2 * S + 2 * change),
            "L-smoothness, m terms": le(change, K**2 * L**2 * X),
        },
        sharp=True,
    )
    book.step(
        "||b||^2 <= 2 L^2 e_bar + 8 L D_f + 8 Delta^2 (S + m L^2 X)",
        B_BOUND,
        {
            "two squares": le(B_SQ, 2 * change + 2 * rest),
            "Jensen and smoothness": le(change, L**2 * E),
            "two squares again": le(rest, 2 * shift + 2 * grad),
            "Cauchy-Schwarz": le(shift, DEV**2 * GRADS),
            "||grad f||^2 <= 2 L D_f": le(grad, 2 * L * DF),
            "the gradients": le(GRADS, 2 * S + 2 * K**2 * L**2 * X),
        },
        uses=("Theorem 4.9(i-1)/7@sharp", "Lemma 6.6/3"),
        sharp=True,
    )


def _step(book: Book) -> None:
    moment = nonnegative("g_bar_sq")[0]
    book.step(
        "X_+ <= X - 2 gamma (x_bar - x*)^T b + gamma^2 ||b||^2 + gamma^2 s nu^2",
        le(X_NEXT, X - 2 * GAMMA * INNER + GAMMA**2 * B_SQ + GAMMA**2 * S_Q * NU**2),
        {
            "the expansion": eq(X_NEXT, X - 2 * GAMMA * INNER + GAMMA**2 * moment),
            "noise": le(moment, B_SQ + S_Q * NU**2),
        },
        uses=("Lemma 6.8/1",),
        sharp=True,
    )
    whole = nonnegative("x_terms df_terms e_terms")
    x_part = GAMMA * 2 * DEV * L * K + GAMMA**2 * 8 * DEV**2 * K**2 * L**2
    book.step(
        "gamma <= 1/(16 L): 8 gamma^2 m L^2 Delta^2 X <= gamma L m Delta^2 X/2",
        le((1 + x_part) * X, GROWTH * X),
        STEP_16,
        sharp=True,
    )
    book.step(
        "gamma <= 1/(16 L): -2 gamma D_f + 8 L gamma^2 D_f <= -(3/2) gamma D_f",
        le(-2 * GAMMA * DF + 8 * L * GAMMA**2 * DF, -Rational(3, 2) * GAMMA * DF),
        STEP_16,
        sharp=True,
    )
    book.step(
        "gamma <= 1/(16 L): gamma L e_bar + 2 L^2 gamma^2 e_bar <= (9/8) gamma L e_bar",
        le(GAMMA * L * E + 2 * L**2 * GAMMA**2 * E, Rational(9, 8) * GAMMA * L * E),
        STEP_16,
        sharp=True,
    )
    book.step(
        "one step: X_+ <= [1 + gamma L (2 sqrt(m) Delta + m Delta^2/2)] X - (3/2) gamma D_f + (9/8) gamma"
        " L e_bar + ...",
        ONE_STEP,
        {
            "the expansion, with the two bounds collected": le(
                X_NEXT,
                whole[0]
                + (-2 * GAMMA * DF + 8 * L * GAMMA**2 * DF)
                + (GAMMA * L * E + 2 * L**2 * GAMMA**2 * E)
                + GAMMA * DEV * S / (L * K)
                + 8 * GAMMA**2 * DEV**2 * S
                + GAMMA**2 * S_Q * NU**2,
            ),
            "X terms": le(whole[0], GROWTH * X),
            "D_f terms": le(-2 * GAMMA * DF + 8 * L * GAMMA**2 * DF, -Rational(3, 2) * GAMMA * DF),
            "e_bar terms": le(GAMMA * L * E + 2 * L**2 * GAMMA**2 * E, Rational(9, 8) * GAMMA * L * E),
        },
        uses=("Theorem 4.9(i-1)/6@sharp", "Theorem 4.9(i-1)/8@sharp"),
    )


def _weights(book: Book) -> None:
    x = nonnegative("x")[0]
    book.step("1 + x <= exp(x)", le(1 + x, exp(x)))
    short = nonnegative("short_of_ln_2")[0]
    book.step("exp(y) = 2 exp(-(ln 2 - y)) <= 2 for y <= ln 2", le(2 * exp(-short), 2))
    c, c_next, growth = positive("c_k c_k_next growth")
    book.step(
        "weights c_{k+1} = c_k/growth with c <= 1: c_{k+1} X_{k+1} <= c_k X_k + c_{k+1} (rest)",
        le(c_next * X_NEXT, c * X + c_next * real("rest")[0]),
        {
            "one step": le(X_NEXT, growth * X + real("rest")[0]),
            "c_{k+1} growth = c_k": eq(c, c_next * growth),
        },
        sharp=True,
    )
    product = positive("growth_product")[0]
    book.step(
        "c >= 1/2: the product of the growth factors is at most exp(gamma L H A) <= 2",
        ge(1 / product, Rational(1, 2)),
        {"product <= 2": le(product, 2)},
        sharp=True,
    )


def _bound(book: Book) -> None:
    _own_gradients(book)
    _bound_i_1(book)
    _start_distance(book)


def _own_gradients(book: Book) -> None:
    """The gradients of the clients."""
    each, at_star, breg, own = nonnegative("grad_i_sq star_i_sq bregman_i q_i")
    p_star = nonnegative("p_star_i")[0]
    book.step(
        "V: q_i ||grad f_i(x_bar)||^2 <= 2 q_i ||grad f_i(x*)||^2 + 4 L omega p*_i D_{f_i}(x_bar, x*),"
        " termwise",
        le(own * each, 2 * own * at_star + 4 * L * OMEGA * p_star * breg),
        {
            "two squares and cocoercivity": le(each, 2 * at_star + 2 * (2 * L * breg)),
            "q_i <= omega p*_i": le(own, OMEGA * p_star),
        },
        sharp=True,
    )


def _bound_i_1(book: Book) -> None:
    """The sharp (i-1)."""
    df_mean, e_mean, start, dev_mean, dev_sq = nonnegative(
        "D_f_mean e_bar_mean X_r_hat Delta_mean Delta_sq_mean"
    )
    v = 2 * SIGMA_SQ + 4 * L * OMEGA * df_mean
    absorbed = le(18 * L**2 * GAMMA**2 * OMEGA * H * (H - 1) * df_mean, df_mean / 4)
    book.step(
        "(9/8) L 4 gamma^2 H (H-1) 4 L omega D_f = 18 L^2 gamma^2 omega H (H-1) D_f <= D_f/4",
        absorbed,
        STEP_W,
        sharp=True,
    )
    consensus = 2 * GAMMA**2 * (H - 1) * NU**2 + 4 * GAMMA**2 * H * (H - 1) * v
    book.invokes(
        "Theorem 4.6(i-1)",
        le(4 * L**2 * H * (H - 1) * GAMMA**2, 1),
        {**STEP_W, "omega >= 1": ge(OMEGA, 1)},
        text="invokes the consensus bound: gamma <= 1/(2 L sqrt(H (H-1)))",
    )
    book.step(
        "the sharp (i-1): weights in [1/2, 1], mean over k, times 2/gamma",
        le(
            df_mean,
            2 * start / (GAMMA * T)
            + Rational(9, 2) * L * GAMMA**2 * (H - 1) * (NU**2 + 4 * H * SIGMA_SQ)
            + 2 * GAMMA * S_Q * NU**2
            + 2 * S / (L * K) * dev_mean
            + 16 * GAMMA * S * dev_sq,
        ),
        {
            "the weighted sum, divided by gamma T: 3/4 from c >= 1/2, the rest with c <= 1": le(
                Rational(3, 4) * df_mean,
                start / (GAMMA * T)
                + Rational(9, 8) * L * e_mean
                + S / (L * K) * dev_mean
                + 8 * GAMMA * S * dev_sq
                + GAMMA * S_Q * NU**2,
            ),
            "consensus": le(e_mean, consensus),
            "absorbed": absorbed,
        },
        uses=("Theorem 4.9(i-1)/13@sharp", "Theorem 4.9(i-1)/16@sharp", "Theorem 4.6(i-1)/7@sharp"),
        sharp=True,
    )
    jensen(book, "Jensen: f at the average iterate")


def _start_distance(book: Book) -> None:
    """The a-priori start distance."""
    (df_mean,) = nonnegative("D_f_mean")
    v = 2 * SIGMA_SQ + 4 * L * OMEGA * df_mean
    absorbed = le(18 * L**2 * GAMMA**2 * OMEGA * H * (H - 1) * df_mean, df_mean / 4)
    consensus = 2 * GAMMA**2 * (H - 1) * NU**2 + 4 * GAMMA**2 * H * (H - 1) * v
    product, bound, add, now, after, factor = nonnegative(
        "product bound_so_far addition X_now X_after factor"
    )
    book.induction(
        "the a-priori start distance: X_{k+1} <= (1 + x_k) X_k + c_k gives X_K <= product (X_0 + sum c_k)",
        le(after, (1 + factor) * (now + add)),
        le(after, (1 + factor) * product * (bound + add)),
        {
            "one step": le(after, (1 + factor) * now + add),
            "induction hypothesis": le(now, product * bound),
            "product >= 1": ge(product, 1),
        },
    )
    book.step(
        "the start distance: (9/8) gamma L times the consensus bound, its D_f part within (3/2) gamma D_f",
        le(
            Rational(9, 8) * GAMMA * L * consensus - Rational(3, 2) * GAMMA * df_mean,
            Rational(9, 4) * L * GAMMA**3 * (H - 1) * (NU**2 + 4 * H * SIGMA_SQ),
        ),
        {"absorbed": absorbed},
    )
