"""Theorem 4.9 (convex loss): the optimality bound (i-1).

u = sqrt(rho), w = sqrt(delta_0); A = m H sqrt(delta_0)/(1 - rho^0.5), so that c_min = 1 - A gamma; T = H
(R - r_hat).
"""

from __future__ import annotations

from sympy import Expr, Integer, sqrt

from bounds.core.step import Relation, eq, ge, gt, le, lt
from bounds.incentfedavg.steps.common import (
    DELTA,
    DELTA_0,
    DF,
    GAMMA,
    NU,
    X_NEXT,
    B,
    E,
    G,
    H,
    L,
    M,
    S,
    X,
)
from bounds.incentfedavg.steps.experiments import drift_that_stays
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    jensen,
    least_constant,
    natural,
    nonnegative,
    obliged,
    positive,
    real,
    repaired,
)

C, C_NEXT, C_MIN = positive("c_k c_k_next c_min")
D_SUM, E_SUM, X_0 = nonnegative("D_f_sum e_bar_sum X_r_hat")
GEO_2, GEO_15 = nonnegative("rho_2r_sum rho_15r_sum")
(ROUNDS,) = natural("rounds")  # R - r_hat
T = H * ROUNDS
POWER, POWER_0 = DELTA * sqrt(DELTA), DELTA_0 * sqrt(DELTA_0)
DRIFT = NU**2 + M * G**2
(A,) = nonnegative("A")
SLOPE = L * GAMMA * (2 * M * L * GAMMA + 1)
STEP_A = {"gamma <= 1/(A + 24 L H B sqrt(m))": le(GAMMA * (A + 24 * L * H * B * sqrt(M)), 1)}
STEP_M = {"gamma <= 1/(2 m L)": le(GAMMA, 1 / (2 * M * L))}


def tail(power_sums: bool, drift: Expr) -> Expr:
    """The right side after the consensus term: drift, noise, and the two weight terms."""
    weights = (
        4 * GAMMA**2 * M**2 * DELTA_0**2 * G**2 * GEO_2 + GAMMA * POWER_0 * (G**2 + S) * GEO_15
        if power_sums
        else 4 * GAMMA**2 * M**2 * DELTA**2 * G**2 + GAMMA * POWER * (G**2 + S)
    )
    return drift + weights


def books() -> tuple[Book, ...]:
    """Part (i-1), printed."""
    return (_printed(),)


def _invocations(book: Book) -> None:
    """Which of its hypotheses the theorem passes on."""
    book.invokes(
        "Lemma 4.13(i)",
        le(GAMMA, 1 / (sqrt(3) * H * L)),
        {"gamma <= 1/(sqrt(3) H L)": le(GAMMA, 1 / (sqrt(3) * H * L))},
        text="invokes Lemma 6.9: gamma <= 1/(sqrt(3) H L)",
    )
    y, log_y, rate = positive("delta_0_cbrt")[0], real("ln_delta_0_cbrt")[0], positive("ln_1_over_rho")[0]
    (r,) = nonnegative("r")
    late = {"r >= r_hat >= ln(delta_0 cbrt(16 L^2 B^4))/ln(1/rho)": ge(r, log_y / rate)}
    book.invokes(
        "Lemma 6.8",
        ge(r, y / rate),
        {**late, "ln y <= y": le(log_y, y)},
        text="invokes Lemma 6.8: r >= delta_0 cbrt(16 L^2 B^4)/ln(1/rho) (no logarithm there)",
        cases=(case(delta_0_cbrt=1, ln_delta_0_cbrt=0, ln_1_over_rho=1, r=0),),
        survives_by=("Theorem 4.9(i-1)/1@corrected",),
        repair=repaired(
            (
                "Lemma 6.8 with r >= ln(delta_0 cbrt(16 L^2 B^4))/ln(1/rho)",
                obliged(le(log_y - r * rate, 0), {**late, "ln y <= y": le(log_y, y)}),
            )
        ),
    )


def _printed() -> Book:
    book = Book("Theorem 4.9(i-1)", "appendix 6.2, proof of Theorem 4.9 (i)")
    _invocations(book)
    root = sqrt(DELTA)
    recursion = {
        "Lemma 6.8": le(
            X_NEXT,
            (1 + M * GAMMA * root) * X
            - GAMMA / 2 * DF
            + GAMMA * POWER * (G**2 + S)
            + 4 * GAMMA**2 * M**2 * DELTA**2 * G**2
            + SLOPE * E
            + GAMMA**2 * NU**2,
        )
    }
    book.step(
        "c_{k+1} <= c_k",
        le(C / (1 + M * GAMMA * root), C),
    )
    book.step(
        "c_k < 1, strictly as printed, for all k (delta_r >= 0)",
        lt(C / (1 + M * GAMMA * root), 1),
        {"c_0 = 1, c_k <= 1": le(C, 1)},
        cases=(case(c_k=1, delta_r=0, m=1, gamma=1),),
        survives_by=("Theorem 4.9(i-1)/3@corrected",),
        repair=repaired(
            ("c_k <= 1", obliged(le(C / (1 + M * GAMMA * root), 1), {"c_0 = 1, c_k <= 1": le(C, 1)}))
        ),
    )
    one_step = le(C_MIN * GAMMA / 2 * DF, C * X - C_NEXT * X_NEXT + SLOPE * E + tail(False, GAMMA**2 * NU**2))
    book.step(
        "c_min gamma/2 D_f <= c_k X_k - c_{k+1} X_{k+1} + ... (the weight is c_{k+1}, not c_k as printed)",
        one_step,
        {
            **recursion,
            "c_{k+1} (1 + m gamma sqrt(delta_r)) = c_k": eq(C, C_NEXT * (1 + M * GAMMA * root)),
            "c_min <= c_{k+1}": le(C_MIN, C_NEXT),
            "c_{k+1} <= 1": le(C_NEXT, 1),
        },
        uses=("Lemma 6.8", "Lemma 6.10"),
    )
    _sum_up(book)
    _absorb(book)
    _finish(book)
    book.run(
        "the bound (i-1) as printed, started at the fixed point of a round of two clients with H = 2",
        drift_that_stays,
        uses=("Theorem 4.9(i-1)/9",),
        fails_by=("Theorem 4.9(i-1)/21",),
    )
    return book


def _sum_up(book: Book) -> None:
    _telescoped(book)
    _consensus(book)


def _telescoped(book: Book) -> None:
    """(29): the sum of one-step bounds."""
    t1, t2, acc, d_now = nonnegative("cX_now cX_next cX_first D_f_now")
    (rest,) = real("rest_sum")
    r_now = real("rest_now")[0]
    book.induction(
        "summing over k: the c_k X_k telescope",
        le(C_MIN * GAMMA / 2 * d_now, t1 - t2 + r_now),
        le(C_MIN * GAMMA / 2 * (D_SUM + d_now), acc - t2 + rest + r_now),
        {
            "one step": le(C_MIN * GAMMA / 2 * d_now, t1 - t2 + r_now),
            "induction hypothesis": le(C_MIN * GAMMA / 2 * D_SUM, acc - t1 + rest),
        },
    )
    power, root = nonnegative("rho_half_power sqrt_delta_0")
    book.step(
        "delta_r = delta_0 rho^r in the sums: delta_r^2 = delta_0^2 rho^2r and delta_r sqrt(delta_r) ="
        " delta_0 sqrt(delta_0) rho^1.5r, termwise (squares of sqrt(delta_0) and rho^0.5r)",
        [
            eq((root**2 * power**2) ** 2, (root**2) ** 2 * power**4),
            eq(root**2 * power**2 * (root * power), root**2 * root * power**3),
        ],
    )
    last, start = nonnegative("cX_last cX_first")
    book.step(
        "(29): c_{T_r_hat} X <= X and the last term is dropped",
        le(start - last, X_0),
        {"c <= 1": le(start, X_0)},
    )


def _consensus(book: Book) -> None:
    """The consensus error over all rounds."""
    (d_now,) = nonnegative("D_f_now")
    # Lemma 6.9 once a round: round 1 and round 2 of two, as printed and as it is
    e1, e2, d1, d2 = nonnegative("e_round_1 e_round_2 D_round_1 D_round_2")
    (rise,) = nonnegative("consensus_slope")
    (count,) = positive("c")
    drift = 9 * GAMMA**2 * DRIFT * H**3
    per_round = {
        "Lemma 6.9 in round 1": le(e1, rise * d1 + drift),
        "Lemma 6.9 in round 2": le(e2, rise * d2 + drift),
    }
    book.step(
        "invoking Lemma 6.9 (one round) for the sum over all rounds: sum e_bar <= ... + 9 gamma^2 (nu^2 +"
        " m G^2) H^3,"
        " R - r_hat = 2",
        le(e1 + e2, rise * (d1 + d2) + drift),
        per_round,
        cases=(
            case(
                e_round_1=9,
                e_round_2=9,
                D_round_1=0,
                D_round_2=0,
                consensus_slope=1,
                gamma=1,
                m=1,
                H=1,
                nu=1,
                G=0,
            ),
        ),
        uses=("Lemma 6.9",),
        fails_by=("Theorem 4.9(i-1)/21",),
        repair=least_constant(
            obliged(le(e1 + e2, rise * (d1 + d2) + count * drift), per_round),
            count,
            (1, sqrt(Integer(2)), 2),
            "the drift {} times, R - r_hat = 2",
        ),
    )
    book.step(
        "sum_{t = T_r_hat + 1} D_f <= sum_{k = T_r_hat} D_f",
        le(D_SUM, D_SUM + d_now),
    )


def _absorb(book: Book) -> None:
    slope = 18 * M * L**2 * GAMMA**3 * (2 * M * L * GAMMA + 1) * B**2 * H**2
    book.step(
        "18 m L^2 gamma^3 (2 m L gamma + 1) B^2 H^2 <= 36 m L^2 gamma^3 B^2 H^2 from gamma <= 1/(2 m L)",
        le(slope, 36 * M * L**2 * GAMMA**3 * B**2 * H**2),
        STEP_M,
    )
    a, b = positive("a b")
    small = {"gamma <= 1/(a + b)": le(GAMMA, 1 / (a + b))}
    book.step(
        "gamma <= 1/(a + b) guarantees b^2 gamma^2 <= 4 (1 - a gamma)",
        le(b**2 * GAMMA**2, 4 * (1 - a * GAMMA)),
        small,
    )
    book.step(
        "36 m L^2 gamma^3 B^2 H^2 <= c_min gamma/4 with c_min = 1 - A gamma",
        le(36 * M * L**2 * GAMMA**3 * B**2 * H**2, (1 - A * GAMMA) * GAMMA / 4),
        {
            "b^2 gamma^2 <= 4 (1 - A gamma), b = 24 L H B sqrt(m)": le(
                576 * L**2 * H**2 * B**2 * M * GAMMA**2, 4 * (1 - A * GAMMA)
            )
        },
    )
    book.step(
        "c_min > 0, by which the bound is divided (B of Lemma 6.5 is at least 1)",
        gt(1 - A * GAMMA, 0),
        {**STEP_A, "B >= 1": ge(B, 1)},
    )
    book.step(
        "9 gamma^3 L (2 m L gamma + 1) (nu^2 + m G^2) H^3 <= 18 gamma^3 L (nu^2 + m G^2) H^3",
        le(SLOPE * 9 * GAMMA**2 * DRIFT * H**3, 18 * GAMMA**3 * L * DRIFT * H**3),
        STEP_M,
    )
    _geometric(book, 2)
    _geometric(book, 3)


def _geometric(book: Book, twice: int) -> None:
    """sum over the rounds of rho^{(twice/2) r}: `step` is the ratio, u = rho^0.5."""
    u, (total, power, first) = positive("rho_root")[0], nonnegative("partial power first")
    ratio = u**twice
    exponent = {2: "2r (ratio rho^2 written u^2)", 3: "1.5r (ratio rho^1.5 written u^3)"}[twice]
    book.induction(
        f"sum_k rho^{exponent} = H (first - last)/(1 - ratio) <= H (1 - last)/(1 - ratio)",
        [eq(H * first, H * (first - first * ratio) / (1 - ratio)), le(H * first, H * first)],
        [
            eq(total + H * power, H * (first - power * ratio) / (1 - ratio)),
            le(H * (first - power * ratio) / (1 - ratio), H * (1 - power * ratio) / (1 - ratio)),
        ],
        {
            "induction hypothesis": eq(total, H * (first - power) / (1 - ratio)),
            "rho < 1": lt(u, 1),
            "first = ratio^r_hat <= 1": le(first, 1),
        },
    )


GEO_2_BOUND, GEO_15_BOUND = nonnegative("geometric_2 geometric_15")  # (1 - rho^2R)/(1 - rho^2), and for 1.5


def combined(rounds: Expr | int) -> Relation:
    """c_min gamma/4 sum D_f <= ..., with the drift of `rounds` rounds."""
    return le(
        C_MIN * GAMMA / 4 * D_SUM,
        X_0
        + rounds * 18 * GAMMA**3 * L * DRIFT * H**3
        + GAMMA**2 * NU**2 * T
        + 4 * GAMMA**2 * M**2 * DELTA_0**2 * G**2 * H * GEO_2_BOUND
        + GAMMA * POWER_0 * (G**2 + S) * H * GEO_15_BOUND,
    )


def final(drift: Expr) -> Relation:
    """The theorem's bound on the mean of D_f over k, times c_min."""
    mean = D_SUM / T
    return le(
        C_MIN * mean,
        4 * X_0 / (GAMMA * T)
        + drift
        + 4 * GAMMA * NU**2
        + 16 * GAMMA * M**2 * DELTA_0**2 * G**2 * H / T * GEO_2_BOUND
        + 4 * POWER_0 * (G**2 + S) * H / T * GEO_15_BOUND,
    )


def _finish(book: Book) -> None:
    slope = 18 * M * L**2 * GAMMA**3 * (2 * M * L * GAMMA + 1) * B**2 * H**2
    before = le(
        C_MIN * GAMMA / 2 * D_SUM,
        X_0
        + slope * D_SUM
        + 9 * GAMMA**3 * L * (2 * M * L * GAMMA + 1) * DRIFT * H**3
        + GAMMA**2 * NU**2 * T
        + 4 * GAMMA**2 * M**2 * DELTA_0**2 * G**2 * GEO_2
        + GAMMA * POWER_0 * (G**2 + S) * GEO_15,
    )
    book.step(
        "c_min gamma/4 sum D_f <= X + 18 gamma^3 L (nu^2 + m G^2) H^3 + ... (follows from the display"
        " before it)",
        combined(1),
        {
            "the display with Lemma 6.9": before,
            "the D_f term is absorbed": le(slope, C_MIN * GAMMA / 4),
            "gamma <= 1/(2 m L)": le(2 * M * L * GAMMA, 1),
            "sum rho^2r": le(GEO_2, H * GEO_2_BOUND),
            "sum rho^1.5r": le(GEO_15, H * GEO_15_BOUND),
        },
        uses=("Theorem 4.9(i-1)/9",),
    )
    book.step(
        "multiplying by 4/(gamma c_min): the bound with 72 gamma^2 L (nu^2 + m G^2) H^3/T",
        final(72 * GAMMA**2 * L * DRIFT * H**3 / T),
        {"the preceding display": combined(1)},
        uses=("Theorem 4.9(i-1)/18",),
    )
    jensen(book, "Jensen: D_f at the average iterate is at most the average of D_f")
