"""The sharp edition of Theorem 4.6 (and 4.10): consensus error, one step, the bound, the start gap.

b = sum q_i grad f_i(x_i), V bounds the mean of sum q_i ||grad f_i(x_bar)||^2, Delta = ||q_r - p*||_2,
q_{i,r} = p_{i,r+1},
kappa = m max q_{i,r}, s = sum q_{i,r}^2 for uncorrelated noises (else 1).
"""

from __future__ import annotations

from sympy import Rational

from bounds.core.step import Relation, eq, ge, le, lt
from bounds.incentfedavg.steps.common import GAMMA, GRAD, GRADS, NU, B, E, G, H, L, M
from bounds.incentfedavg.steps.notation import (
    Book,
    cauchy_schwarz,
    integer,
    natural,
    nonnegative,
    positive,
    real,
)

KAPPA, S_Q, DEV, V = nonnegative("kappa s Delta V")
E_MEAN, MEAN, DEV_MEAN, F_GAP, B_SQ, WEIGHTED = nonnegative(
    "e_bar_mean grad_f_sq_mean Delta_sq_mean f_gap b_sq weighted_grads"
)
(ROUNDS,) = natural("rounds")
T = H * ROUNDS
GAP_SQ = nonnegative("grad_minus_b_sq")[0]
STEP_1: dict[str, Relation] = {"gamma <= 1/L": le(GAMMA, 1 / L)}
STEP_C: dict[str, Relation] = {"gamma <= 1/(2 L sqrt(H (H-1)))": le(4 * L**2 * H * (H - 1) * GAMMA**2, 1)}
STEP_B: dict[str, Relation] = {
    "gamma <= 1/(L B sqrt(32 kappa H (H-1)))": le(32 * L**2 * B**2 * KAPPA * H * (H - 1) * GAMMA**2, 1)
}
LATE: dict[str, Relation] = {"m B^2 Delta^2 <= 1/8": le(M * B**2 * DEV**2, Rational(1, 8))}
CONSENSUS = le(E_MEAN, 2 * GAMMA**2 * (H - 1) * NU**2 + 4 * GAMMA**2 * H * (H - 1) * V)


def books() -> tuple[Book, ...]:
    """Consensus and (i-1), (i-2), then what Theorem 4.10 adds."""
    return _part_i1(), _part_i2(), _theorem_4_10()


def _consensus(book: Book) -> None:
    """Mean over a round of e_bar <= 2 gamma^2 (H-1) nu^2 + 4 gamma^2 H (H-1) V."""
    mean_sq, spread, own = nonnegative("mean_sq spread own_sq")
    book.step(
        "sum q_i ||y_i - y_bar||^2 = sum q_i ||y_i||^2 - ||y_bar||^2 <= sum q_i ||y_i||^2",
        le(spread, own),
        {"variance identity": eq(spread, own - mean_sq)},
    )
    noise, drift, (inner,) = *nonnegative("noise_norm drift_norm"), real("noise_dot_drift")
    book.step(
        "||noise + drift||^2 <= 2 ||noise||^2 + 2 ||drift||^2",
        le(noise**2 + 2 * inner + drift**2, 2 * noise**2 + 2 * drift**2),
        structure=cauchy_schwarz(inner, noise, drift),
        hints=(noise - drift,),
        sharp=True,
    )
    so_far, one, cross = *nonnegative("noise_so_far noise_sq"), real("noise_cross")[0]
    count = integer("tau")[0]
    book.induction(
        "the noise is a martingale difference: E||sum of tau noises||^2 <= tau nu^2",
        le(one, 1 * NU**2),
        le(so_far + 2 * cross + one, (count + 1) * NU**2),
        {
            "conditional mean zero": eq(cross, 0),
            "each noise": le(one, NU**2),
            "induction hypothesis": le(so_far, count * NU**2),
        },
        uses=("Assumption 2.1(ii)",),
    )
    total, change, at_bar = nonnegative("grad_i_sq change_sq grad_bar_sq")
    book.step(
        "sum q_i ||grad f_i(x_i)||^2 <= 2 L^2 e_bar + 2 sum q_i ||grad f_i(x_bar)||^2, termwise with two"
        " squares",
        le(total, 2 * L**2 * E + 2 * at_bar),
        {"two squares": le(total, 2 * change + 2 * at_bar), "L-smoothness": le(change, L**2 * E)},
        sharp=True,
    )
    tau_sum = integer("tau_sum")[0]
    book.induction(
        "sum_{tau < H} 2 tau = H (H - 1)",
        eq(0, 1 * (1 - 1)),
        eq(tau_sum + 2 * H, (H + 1) * H),
        {"induction hypothesis": eq(tau_sum, H * (H - 1))},
    )
    s, grads = integer("s_index")[0], nonnegative("v_s")[0]
    book.step(
        "sum_{tau > s} 2 tau <= H (H - 1): each v_s is counted H (H-1) - s (s+1) times",
        le((H * (H - 1) - s * (s + 1)) * grads, H * (H - 1) * grads),
    )
    book.step(
        "mean e_bar <= gamma^2 (H-1) nu^2 + gamma^2 H (H-1) (2 L^2 mean e_bar + 2 V), absorbed",
        CONSENSUS,
        {
            "mean over the round": le(
                E_MEAN, GAMMA**2 * (H - 1) * NU**2 + GAMMA**2 * H * (H - 1) * (2 * L**2 * E_MEAN + 2 * V)
            ),
            **STEP_C,
        },
    )


def _part_i1() -> Book:
    book = Book("Theorem 4.6(i-1)", "sharp edition", "sharp")
    _consensus(book)
    a, b, (ab,) = *nonnegative("grad_norm b_norm"), real("grad_dot_b")
    book.step(
        "-grad f^T b = -(||grad f||^2 + ||b||^2 - ||grad f - b||^2)/2",
        eq(-ab, -(a**2 + b**2 - (a**2 - 2 * ab + b**2)) / 2),
    )
    now, after, moment = *real("f_now f_after"), nonnegative("g_bar_sq")[0]
    inner = (GRAD + B_SQ - GAP_SQ) / 2
    book.step(
        "descent with E||g_bar||^2 <= ||b||^2 + s nu^2 and gamma <= 1/L:"
        " E f_+ <= f - gamma/2 ||grad f||^2 + gamma/2 ||grad f - b||^2 + L gamma^2 s nu^2/2",
        le(after, now - GAMMA / 2 * GRAD + GAMMA / 2 * GAP_SQ + L * GAMMA**2 / 2 * S_Q * NU**2),
        {
            "descent": le(after, now - GAMMA * inner + L * GAMMA**2 / 2 * moment),
            "noise": le(moment, B_SQ + S_Q * NU**2),
            **STEP_1,
        },
        uses=("Theorem 4.6(i-1)/8@sharp", "Remark 6.1", "Lemma 4.2/1@corrected"),
        sharp=True,
    )
    shift = nonnegative("weight_shift_sq")[0]
    book.step(
        "||sum (q_i - p*_i) grad f_i||^2 <= Delta^2 sum ||grad f_i||^2 <= m Delta^2 (G^2 + B^2 ||grad f||^2)",
        le(shift, M * DEV**2 * (G**2 + B**2 * GRAD)),
        {
            "Cauchy-Schwarz": le(shift, DEV**2 * GRADS),
            "Assumption 4.5": le(GRADS / M, G**2 + B**2 * GRAD),
        },
        uses=("Lemma 4.3(ii)/5@sharp",),
        sharp=True,
    )
    gap = le(GAP_SQ, 2 * L**2 * E + 2 * M * DEV**2 * (G**2 + B**2 * GRAD))
    change = nonnegative("change_sq")[0]
    book.step(
        "||grad f - b||^2 <= 2 L^2 e_bar + 2 m Delta^2 (G^2 + B^2 ||grad f||^2)",
        gap,
        {
            "two squares": le(GAP_SQ, 2 * change + 2 * shift),
            "Jensen and smoothness": le(change, L**2 * E),
            "the weights": le(shift, M * DEV**2 * (G**2 + B**2 * GRAD)),
        },
        sharp=True,
    )
    weight = nonnegative("q_i")[0]
    size = nonnegative("grad_fi_sq")[0]
    book.step(
        "V = kappa (G^2 + B^2 mean ||grad f||^2): sum q_i ||grad f_i||^2 <= (kappa/m) sum ||grad f_i||^2,"
        " termwise",
        le(weight * size, KAPPA / M * size),
        {"m q_i <= kappa": le(M * weight, KAPPA)},
        sharp=True,
    )
    _bound(book)
    _start_gap(book)
    return book


def _bound(book: Book) -> None:
    """From the one-step inequality to the theorem."""
    mean_gap = nonnegative("gap_mean")[0]
    late = nonnegative("shift_mean")[0]  # mean of m Delta^2 B^2 ||grad f||^2
    book.step(
        "m B^2 Delta_r^2 <= 1/8 at every r >= r_hat: the mean of m Delta^2 B^2 ||grad f||^2 is <= 1/8"
        " mean ||grad f||^2, termwise",
        le(M * DEV**2 * B**2 * GRAD, GRAD / 8),
        LATE,
        sharp=True,
    )
    book.step(
        "2 L^2 times the consensus bound: the B part is <= 1/4 mean ||grad f||^2",
        le(2 * L**2 * 4 * GAMMA**2 * H * (H - 1) * KAPPA * B**2 * MEAN, MEAN / 4),
        STEP_B,
        sharp=True,
    )
    book.step(
        "mean ||grad f||^2 (1 - 1/4 - 1/4)/2 = 1/4 is left: the sharp (i-1)",
        le(
            MEAN,
            4 * F_GAP / (GAMMA * T)
            + 2 * L * GAMMA * S_Q * NU**2
            + 8 * L**2 * GAMMA**2 * (H - 1) * NU**2
            + 16 * L**2 * GAMMA**2 * H * (H - 1) * KAPPA * G**2
            + 4 * M * G**2 * DEV_MEAN,
        ),
        {
            "the descent inequality, summed and divided by gamma T": le(
                MEAN / 2, F_GAP / (GAMMA * T) + mean_gap / 2 + L * GAMMA / 2 * S_Q * NU**2
            ),
            "||grad f - b||^2, averaged": le(
                mean_gap, 2 * L**2 * E_MEAN + 2 * M * DEV_MEAN * G**2 + 2 * late
            ),
            "the late rounds": le(late, MEAN / 8),
            "consensus with V": le(
                E_MEAN,
                2 * GAMMA**2 * (H - 1) * NU**2 + 4 * GAMMA**2 * H * (H - 1) * KAPPA * (G**2 + B**2 * MEAN),
            ),
            "its B part": le(8 * L**2 * GAMMA**2 * H * (H - 1) * KAPPA * B**2 * MEAN, MEAN / 4),
        },
        sharp=True,
    )
    total, last, first, q = *nonnegative("partial last first"), positive("q_rate")[0]
    book.induction(
        "sum of Delta_r^2 <= Delta_bar^2 (q^{2 r_hat + 2} - q^{2 R + 2})/(1 - q^2)",
        eq(first, (first - first * q**2) / (1 - q**2)),
        eq(total + last, (first - last * q**2) / (1 - q**2)),
        {"induction hypothesis": eq(total, (first - last) / (1 - q**2)), "q < 1": lt(q, 1)},
    )


def _start_gap(book: Book) -> None:
    """The a-priori bound on E f(x_bar_{T_r_hat}) - f*: only the weights' share of ||grad f||^2 has to be
    absorbed."""
    now, after = nonnegative("f_gap_now f_gap_after")
    book.step(
        "||grad f||^2 <= 2 L (f - f*)",
        le(GRAD, 2 * L * now),
        {"a gradient step descends to f* at best": le(0, now - GRAD / (2 * L))},
        sharp=True,
    )

    book.step(
        "one round: gamma H m B^2 Delta^2 ||grad f||^2 is at most 2 L gamma m B^2 H Delta^2 (f - f*) at"
        " one step; the factor is 1 + x <= exp(x)",
        le(GAMMA * M * B**2 * DEV**2 * GRAD, 2 * L * GAMMA * M * B**2 * DEV**2 * now),
        {"||grad f||^2 <= 2 L (f - f*)": le(GRAD, 2 * L * now)},
        sharp=True,
    )
    factor, product, bound, add = nonnegative("factor product bound_so_far addition")
    book.induction(
        "y_{k+1} <= (1 + x_k) y_k + c_k with 1 + x_k <= exp(x_k): y_K <= product (y_0 + sum c_k)",
        le(after, (1 + factor) * (now + add)),
        le(after, (1 + factor) * product * (bound + add)),
        {
            "one step": le(after, (1 + factor) * now + add),
            "induction hypothesis": le(now, product * bound),
            "product >= 1": ge(product, 1),
        },
    )


def _part_i2() -> Book:
    book = Book("Theorem 4.6(i-2)", "sharp edition", "sharp")
    now, dist, power = nonnegative("d_r dist_0 q_to_r")
    book.step(
        "||N_r - N*||^2 <= q^2r ||N_0 - N*||^2",
        le(now**2, power**2 * dist**2),
        {"Lemma 4.3(i), sharp": le(now, power * dist)},
        uses=("Lemma 4.3(i)/7@sharp",),
        sharp=True,
    )
    total, last, first, q = *nonnegative("partial last first"), positive("q_rate")[0]
    book.induction(
        "the mean over r* is (q^2r_hat - q^2R)/((1 - q^2)(R - r_hat))",
        eq(first / ROUNDS, (first - first * q**2) / (ROUNDS * (1 - q**2))),
        eq((total + last) / ROUNDS, (first - last * q**2) / (ROUNDS * (1 - q**2))),
        {"induction hypothesis": eq(total, (first - last) / (1 - q**2)), "q < 1": lt(q, 1)},
    )
    return book


def _theorem_4_10() -> Book:
    """h is sigma_h-strongly convex with Lipschitz gradient: N_r -> N* is a theorem; and the constants of
    (ii)."""
    book = Book("Theorem 4.10(i)", "sharp edition", "sharp")
    sigma, lip, lam, step, ell = positive("sigma_h L_h lambda_r gamma_tilde_r L_F")
    dd, ff, df = *nonnegative("d_sq Phi_sq"), real("d_dot_Phi")[0]
    book.step(
        "towards y_r = SOL(N, F + lambda_r grad h) one step contracts: ||.||^2 <= (1 - sigma_h"
        " gamma_tilde lambda) ||.||^2",
        le(dd - 2 * step * df + step**2 * ff, (1 - sigma * step * lam) * dd),
        {
            "F + lambda grad h is sigma_h lambda-strongly monotone": ge(df, sigma * lam * dd),
            "and (L_F + lambda L_h)-Lipschitz": le(ff, (ell + lam * lip) ** 2 * dd),
            "gamma_tilde (L_F + lambda L_h)^2 <= sigma_h lambda": le(
                step * (ell + lam * lip) ** 2, sigma * lam
            ),
        },
    )
    x = nonnegative("x")[0]
    book.step(
        "sqrt(1 - x) <= 1 - x/2 (squared)",
        le(1 - x, (1 - x / 2) ** 2),
    )
    change, c_h, lam_next = nonnegative("y_change")[0], nonnegative("C_H")[0], positive("lambda_r_next")[0]
    inner = real("Phi_dot_change")[0]
    book.step(
        "drift: sigma_h lambda_{r+1} ||y_{r+1} - y_r|| <= (lambda_r - lambda_{r+1}) C_H",
        le(sigma * lam_next * change, (lam - lam_next) * c_h),
        {
            "strong monotonicity at y_r, y_{r+1} and both VIs": le(sigma * lam_next * change**2, inner),
            "Cauchy-Schwarz": le(inner, (lam - lam_next) * c_h * change),
            "lambda nonincreasing": le(lam_next, lam),
        },
    )
    a, b = real("a b")
    book.step(
        "gamma_tilde_r lambda_r ~ r^-(a+b) with a + b < 1 beats the drift r^-1, and gamma_tilde_r ="
        " o(lambda_r), because b < a",
        [lt(a + b, 1), lt(-a, -b)],
        {"a + b < 1": lt(a + b, 1), "b < a": lt(b, a)},
    )
    eps = positive("epsilon")[0]
    book.step(
        "(ii), sharp: gamma <= min{epsilon/(8 L nu^2), sqrt(epsilon/(32 L^2 H (H-1) (nu^2 + kappa G^2)))}"
        " gives limsup <= 3 epsilon/4",
        le(
            2 * L * GAMMA * S_Q * NU**2
            + 8 * L**2 * GAMMA**2 * (H - 1) * NU**2
            + 16 * L**2 * GAMMA**2 * H * (H - 1) * KAPPA * G**2,
            3 * eps / 4,
        ),
        {
            "gamma <= epsilon/(8 L nu^2)": le(8 * L * NU**2 * GAMMA, eps),
            "gamma^2 <= epsilon/(32 ...)": le(
                32 * L**2 * H * (H - 1) * (NU**2 + KAPPA * G**2) * GAMMA**2, eps
            ),
            "s <= 1": le(S_Q, 1),
        },
    )
    return book
