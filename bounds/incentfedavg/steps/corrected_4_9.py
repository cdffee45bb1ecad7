"""Theorem 4.9 (i-1), corrected: the drift of every round is counted."""

from __future__ import annotations

from sympy import sqrt

from bounds.core.step import ge, le
from bounds.incentfedavg.steps.common import (
    DELTA,
    DELTA_0,
    GAMMA,
    NU,
    B,
    G,
    H,
    L,
    M,
    S,
)
from bounds.incentfedavg.steps.notation import (
    Book,
    jensen,
    nonnegative,
    positive,
    real,
)
from bounds.incentfedavg.steps.theorem_4_9 import (
    C_MIN,
    D_SUM,
    DRIFT,
    E_SUM,
    GEO_2,
    GEO_2_BOUND,
    GEO_15,
    GEO_15_BOUND,
    POWER_0,
    ROUNDS,
    SLOPE,
    X_0,
    C,
    T,
    combined,
    final,
)


def books() -> tuple[Book, ...]:
    """Part (i-1), corrected."""
    return (_corrected(),)


def _corrected() -> Book:
    book = Book("Theorem 4.9(i-1)", "appendix 6.2, proof of Theorem 4.9 (i)", "corrected")
    _sums(book)
    _absorbed(book)
    return book


def _sums(book: Book) -> None:
    """r_hat, Lemma 6.9 over all rounds, and the coefficients."""
    log_y, rate, (r,) = real("ln_delta_0_cbrt")[0], positive("ln_1_over_rho")[0], nonnegative("r")
    book.step(
        "r_hat >= ln(delta_0 cbrt(16 L^2 B^4))/ln(1/rho) gives delta_r <= 1/cbrt(16 L^2 B^4), which is"
        " all Lemma 6.8 uses",
        le(log_y - r * rate, 0),
        {"r >= r_hat": ge(r, log_y / rate)},
        uses=("Lemma 6.8/2@corrected",),
    )
    done, e_now, d_now = nonnegative("e_done e_round D_round")
    (rise,) = nonnegative("consensus_slope")
    drift = 9 * GAMMA**2 * DRIFT * H**3
    book.induction(
        "Lemma 6.9 summed over R - r_hat rounds: sum e_bar <= slope sum D_f + (R - r_hat) 9 gamma^2 (nu^2"
        " + m G^2) H^3",
        le(e_now, rise * d_now + 1 * drift),
        le(done + e_now, rise * (D_SUM + d_now) + (ROUNDS + 1) * drift),
        {
            "Lemma 6.9, this round": le(e_now, rise * d_now + drift),
            "induction hypothesis": le(done, rise * D_SUM + ROUNDS * drift),
        },
        uses=("Lemma 6.9/2@corrected",),
    )
    book.step(
        "c_k <= 1",
        le(C / (1 + M * GAMMA * sqrt(DELTA)), 1),
        {"c_0 = 1, c_k <= 1": le(C, 1)},
    )
    book.step(
        "c_min > 0 for the pair of the corrected Lemma 6.5 too: B^2 = 1/(m p*_min) >= 1, because p*_min"
        " <= 1/m",
        [ge(1 / (M * positive("p_star_min")[0]), 1)],
        {"p*_min <= 1/m": le(M * positive("p_star_min")[0], 1)},
    )


def _absorbed(book: Book) -> None:
    """The consensus error absorbed, and the bound."""
    drift = 9 * GAMMA**2 * DRIFT * H**3
    slope = 18 * M * L**2 * GAMMA**3 * (2 * M * L * GAMMA + 1) * B**2 * H**2
    absorbed = le(SLOPE * E_SUM, slope * D_SUM + 18 * GAMMA**3 * L * DRIFT * H**3 * ROUNDS)
    book.step(
        "L gamma (2 m L gamma + 1) sum e_bar <= slope sum D_f + 18 gamma^3 L (nu^2 + m G^2) H^3 (R - r_hat)",
        absorbed,
        {
            "consensus, times L gamma (2 m L gamma + 1)": le(
                SLOPE * E_SUM, SLOPE * (18 * M * L * GAMMA**2 * B**2 * H**2 * D_SUM + ROUNDS * drift)
            ),
            "gamma <= 1/(2 m L)": le(2 * M * L * GAMMA, 1),
        },
        uses=("Theorem 4.9(i-1)/2@corrected",),
    )
    book.step(
        "c_min gamma/4 sum D_f <= X + 18 gamma^3 L (nu^2 + m G^2) H^3 (R - r_hat) + ...",
        combined(ROUNDS),
        {
            "(29)": le(
                C_MIN * GAMMA / 2 * D_SUM,
                X_0
                + SLOPE * E_SUM
                + GAMMA**2 * NU**2 * T
                + 4 * GAMMA**2 * M**2 * DELTA_0**2 * G**2 * GEO_2
                + GAMMA * POWER_0 * (G**2 + S) * GEO_15,
            ),
            "consensus": absorbed,
            "the D_f term is absorbed": le(slope, C_MIN * GAMMA / 4),
            "sum rho^2r": le(GEO_2, H * GEO_2_BOUND),
            "sum rho^1.5r": le(GEO_15, H * GEO_15_BOUND),
        },
        uses=("Theorem 4.9(i-1)/5@corrected",),
    )
    book.step(
        "the corrected bound: the drift term is 72 gamma^2 L (nu^2 + m G^2) H^2 and does not decay with T",
        final(72 * GAMMA**2 * L * DRIFT * H**2),
        {"the preceding display": combined(ROUNDS)},
        uses=("Theorem 4.9(i-1)/6@corrected",),
    )
    jensen(book, "Jensen: D_f at the average iterate is at most the average of D_f")
