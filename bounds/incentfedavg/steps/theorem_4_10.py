"""Theorem 4.10 (nonconvex loss, merely monotone game): delta_hat_r replaces delta_0 rho^r in the proof of
Theorem 4.6."""

from __future__ import annotations

from sympy import Rational

from bounds.core.step import Relation, eq, ge, gt, le, lt
from bounds.incentfedavg.steps.common import DELTA, GAMMA, NU, B, G, H, L, M
from bounds.incentfedavg.steps.experiments import weights_held_away
from bounds.incentfedavg.steps.notation import Book, case, nonnegative, obliged, positive, real, repaired
from bounds.incentfedavg.steps.theorem_4_6 import (
    COEFFICIENT,
    DRIFT,
    F_AFTER,
    F_GAP,
    F_NOW,
    FACTOR,
    MEAN,
    STEP_B,
    STEP_L,
    T,
    bound,
    descent_with_lemmas,
    gap_of_lemma_4_13,
    one_step,
)

DELTA_SQ_MEAN, DELTA_HAT = nonnegative("delta_hat_sq_mean delta_hat_r_hat")
(EPS,) = positive("epsilon")


def books() -> tuple[Book, ...]:
    """(i) and (ii), printed and corrected."""
    return _part_i(), _corrected_i(), _part_ii(), _corrected_ii()


def _part_i() -> Book:
    book = Book("Theorem 4.10(i)", "section 4.3, proof of Theorem 4.10 (i)")
    _invoked(book)
    _drift(book)
    _from_r_hat(book)
    _bound_i(book)
    return book


def _invoked(book: Book) -> None:
    """The lemmas that the proof invokes."""
    gap_of_lemma_4_13(book, tuple(f"Theorem 4.6(i-1)/{k}@corrected" for k in range(1, 6)))
    a, b = real("a b")
    book.invokes(
        "Lemma 4.4(iii)",
        [gt(b, 0), lt(b, a), lt(a + b, 1)],
        {"0 < b": gt(b, 0), "b < a": lt(b, a), "a < 1": lt(a, 1), "a + b < 1": lt(a + b, 1)},
    )
    (strong,) = real("mu_F")
    book.invokes(
        "Lemma 4.12",
        gt(strong, 0),
        {"Assumption 2.3(ii): F is merely monotone": ge(strong, 0)},
        text="invokes Lemmas 4.12 and 4.14, stated under Assumption 2.2 (strong monotonicity)",
        cases=(case(mu_F=0),),
        survives_by=("Lemma 4.12/11", "Lemma 4.14(b)/2"),
        repair=repaired(
            (
                "the lemmas under |p_{i,r} - p*_i| <= delta_r alone (all that their proofs use)",
                obliged(ge(strong, 0), {"Assumption 2.3(ii)": ge(strong, 0)}),
            )
        ),
    )


def _drift(book: Book) -> None:
    """The drift inequality, and the limit of the participation."""
    book.step(
        "the drift inequality, with delta_hat_r for delta_r",
        one_step(F_NOW - F_AFTER),
        descent_with_lemmas(),
        uses=("Lemma 4.12", "Lemma 4.14(b)", "Lemma 4.4(iv)"),
    )
    even, odd, limit = real("N_even N_odd N_bar_limit")
    book.step(
        "the averages converge to N* and N_r has a limit point, so N_r -> N* by Cesaro (a sequence"
        " alternating between two values)",
        eq(even, limit),
        {"the averages converge to the mean": eq(limit, (even + odd) / 2)},
        cases=(case(N_even=1, N_odd=3, N_bar_limit=2),),
        uses=("Lemma 4.4(iii)",),
        survives_by=("Lemma 4.4(iv)/3",),
        repair=repaired(
            (
                "when N_r converges, as the theorem assumes",
                obliged(
                    eq(even, limit),
                    {"the averages": eq(limit, (even + odd) / 2), "N_r converges": eq(even, odd)},
                ),
            )
        ),
    )


def _from_r_hat(book: Book) -> None:
    """The round r_hat from which the coefficient is at least 1/8."""
    uniform = le(M**2 * DELTA**2 * B**2 * (1 + 2 * L * GAMMA) + 2 * L * GAMMA, Rational(1, 8))
    at_hat = {"17 m^2 delta_hat_r_hat^2 B^2 <= 1": le(17 * M**2 * DELTA_HAT**2 * B**2, 1), **STEP_L}
    (eta,) = positive("eta")
    book.step(
        "delta_hat_r -> 0, so there is an r_hat with 17 m^2 delta_hat_r_hat^2 B^2 <= 1",
        le(17 * M**2 * DELTA_HAT**2 * B**2, 1),
        {"from some r on": le(DELTA_HAT, eta), "eta small enough": le(17 * M**2 * eta**2 * B**2, 1)},
        sharp=True,
    )
    book.step(
        "17 m^2 delta_hat_r_hat^2 B^2 <= 1 and gamma L <= 1/32 give m^2 delta_hat_r^2 B^2 (1 + 2 L gamma)"
        " + 2 L gamma <= 1/8 at every r >= r_hat",
        uniform,
        at_hat,
        cases=(case(m=1, B=1, L=1, gamma="1/32", delta_hat_r_hat=0, delta_r=1),),
        survives_by=("Theorem 4.10(i)/1@corrected",),
        repair=repaired(
            (
                "with sup_{r >= r_hat} delta_hat_r at r_hat's place",
                obliged(uniform, {**at_hat, "delta_hat_r <= the sup": le(DELTA, DELTA_HAT)}),
            )
        ),
    )
    book.step(
        "so the coefficient 1/4 - m^2 delta_hat_r^2 B^2 (1 + 2 L gamma) - 2 L gamma is >= 1/8",
        ge(COEFFICIENT, Rational(1, 8)),
        {"the preceding line": uniform},
        sharp=True,
    )
    book.step(
        "and 1/8 - 1/16 = 1/16 is left after Lemma 4.13",
        ge(Rational(1, 8) - FACTOR * 9 * M * GAMMA**2 * B**2 * H**2, Rational(1, 16)),
        {**STEP_L, **STEP_B},
    )


def _bound_i(book: Book) -> None:
    """The bound of (i)."""
    book.step(
        "(1/16) mean <= (gamma T)^{-1} (E f - f*) + L gamma nu^2/2 + m^2 G^2 (1 + 2 L gamma) mean"
        " delta_hat^2 + (153/32) ...",
        bound(1, DELTA_SQ_MEAN),
        {
            "the summed drift inequality": le(
                MEAN / 16,
                F_GAP / (GAMMA * T)
                + L * GAMMA * NU**2 / 2
                + M**2 * G**2 * (1 + 2 * L * GAMMA) * DELTA_SQ_MEAN
                + FACTOR * 9 * GAMMA**2 * DRIFT * H**2,
            ),
            **STEP_L,
        },
    )
    book.step(
        "multiplying by 16: the theorem",
        bound(16, DELTA_SQ_MEAN),
        {"the preceding bound": bound(1, DELTA_SQ_MEAN)},
        sharp=True,
    )
    book.run(
        "the bound (i) as printed, started at N*: delta_hat_r = 0 at every r, while the regularisation holds N_r away",
        weights_held_away,
        uses=("Lemma 4.4(iv)/1",),
        fails_by=("Theorem 4.10(i)/14",),
    )


def _corrected_i() -> Book:
    book = Book("Theorem 4.10(i)", "section 4.3, proof of Theorem 4.10 (i)", "corrected")
    supremum = {"17 m^2 sup delta_hat_{r+1}^2 B^2 <= 1": le(17 * M**2 * DELTA_HAT**2 * B**2, 1), **STEP_L}
    book.step(
        "r_hat with 17 m^2 B^2 sup_{r >= r_hat} delta_hat_{r+1}^2 <= 1: the coefficient is >= 1/8 uniformly",
        ge(COEFFICIENT, Rational(1, 8)),
        {**supremum, "delta_hat_{r+1} <= the sup": le(DELTA, DELTA_HAT)},
        sharp=True,
        cases=(
            case(
                m=1,
                B=1,
                L=1,
                gamma="1/32",
                delta_r="24253562/100000000",
                delta_hat_r_hat="24253562/100000000",
            ),
        ),
    )
    book.step(
        "1/16 is left after the consensus term",
        ge(COEFFICIENT - FACTOR * 9 * M * GAMMA**2 * B**2 * H**2, Rational(1, 16)),
        {**supremum, **STEP_B, "delta_hat_{r+1} <= the sup": le(DELTA, DELTA_HAT)},
        uses=("Theorem 4.6(i-1)/13",),
    )
    left = nonnegative("coefficient_left")[0]
    book.step(
        "the corrected bound, with the mean of delta_hat_{r+1}^2 and delta_hat of the corrected Lemma 4.4"
        " (iv)",
        bound(16, DELTA_SQ_MEAN),
        {
            "the summed drift inequality": le(
                left * MEAN,
                F_GAP / (GAMMA * T)
                + L * GAMMA * NU**2 / 2
                + M**2 * G**2 * (1 + 2 * L * GAMMA) * DELTA_SQ_MEAN
                + FACTOR * 9 * GAMMA**2 * DRIFT * H**2,
            ),
            "the coefficient left is >= 1/16": ge(left, Rational(1, 16)),
            **STEP_L,
        },
        uses=("Theorem 4.10(i)/2@corrected", "Lemma 4.4(iv)/1@corrected"),
    )
    return book


def _part_ii() -> Book:
    book = Book("Theorem 4.10(ii)", "section 4.3, proof of Theorem 4.10 (ii)")
    _vanishing(book)
    _small_step(book)
    return book


def _vanishing(book: Book) -> None:
    """The two terms that vanish as R grows."""
    (small,) = positive("eta")
    book.step(
        "the first term vanishes: 16 (E f - f*)/(gamma T) <= eta once T >= 16 (E f - f*)/(gamma eta)",
        le(16 * F_GAP / (GAMMA * T), small),
        {"T large": ge(GAMMA * small * T, 16 * F_GAP)},
        sharp=True,
    )
    one, eta, total = nonnegative("delta_hat_sq eta sum_after")
    count, first = positive("count first_sum")
    book.induction(
        "Cesaro: after the first terms each delta_hat_r^2 <= eta, so the sum is <= first + n eta, and the"
        " mean <= 2 eta once n >= first/eta",
        le(0 * one, 0 * eta),
        [le(total + one, (count + 1) * eta), le((first + total) / count, 2 * eta + first * 0)],
        {
            "each later term": le(one, eta),
            "induction hypothesis": le(total, count * eta),
            "n eta >= first": ge(count * eta, first),
        },
    )


def _small_step(book: Book) -> None:
    """The two that a small step makes small, and the limit."""
    book.step(
        "gamma <= epsilon/(16 L nu^2) gives 8 L gamma nu^2 <= epsilon/2",
        le(8 * L * GAMMA * NU**2, EPS / 2),
        {"gamma <= epsilon/(16 L nu^2)": le(16 * L * NU**2 * GAMMA, EPS)},
        sharp=True,
    )
    third = Rational(153, 2) * DRIFT * M * L**2 * H**2 * GAMMA**2
    root = le(153 * DRIFT * M * L**2 * H**2 * GAMMA**2, 2 * EPS)
    half = le(third, EPS / 2)
    book.step(
        "gamma <= sqrt(2 epsilon/(153 (nu^2 + m G^2) m L^2 H^2)) gives (153/2) (nu^2 + m G^2) m L^2 H^2"
        " gamma^2 <= epsilon/2",
        half,
        {"gamma^2 <= 2 epsilon/(153 ...)": root},
        cases=(case(nu=1, G=0, m=1, L=1, H=1, gamma=1, epsilon="153/2"),),
        survives_by=tuple(f"Theorem 4.10(ii)/{k}@corrected" for k in range(1, 4)),
        repair=repaired(
            *(
                (
                    f"gamma <= sqrt({value} epsilon/(153 (nu^2 + m G^2) m L^2 H^2))",
                    obliged(half, {"gamma^2": le(153 * DRIFT * M * L**2 * H**2 * GAMMA**2, value * EPS)}),
                )
                for value in (2, Rational(3, 2), 1)
            )
        ),
    )
    limsup, second, last = nonnegative("limsup second_term third_term")
    book.step(
        "hence limsup <= epsilon/2 + epsilon/2 = epsilon",
        le(limsup, EPS),
        {
            "the first and the weight term vanish": le(limsup, second + last),
            "second": le(second, EPS / 2),
            "third": le(last, EPS / 2),
        },
        uses=("Theorem 4.10(ii)/3", "Theorem 4.10(ii)/4"),
        sharp=True,
    )


def _corrected_ii() -> Book:
    """The printed claim survives: the sharp bound needs less, and where its step sizes fail the gradients
    are bounded."""
    book = Book("Theorem 4.10(ii)", "section 4.3, proof of Theorem 4.10 (ii)", "corrected")
    kappa, s = nonnegative("kappa s")
    printed: dict[str, Relation] = {
        "gamma <= epsilon/(16 L nu^2)": le(16 * L * NU**2 * GAMMA, EPS),
        "gamma^2 <= 2 epsilon/(153 ...)": le(153 * DRIFT * M * L**2 * H**2 * GAMMA**2, 2 * EPS),
    }
    book.step(
        "m B >= 1/4: the sharp limsup 2 L gamma s nu^2 + 8 L^2 gamma^2 (H-1) nu^2 + 16 L^2 gamma^2 H"
        " (H-1) kappa G^2 is <= epsilon",
        le(
            2 * L * GAMMA * s * NU**2
            + 8 * L**2 * GAMMA**2 * (H - 1) * NU**2
            + 16 * L**2 * GAMMA**2 * H * (H - 1) * kappa * G**2,
            EPS,
        ),
        {**printed, "s <= 1": le(s, 1), "kappa <= m": le(kappa, M)},
        uses=("Theorem 4.6(i-1)/5@corrected",),
    )
    book.step(
        "m B <= 1/4: 8 L gamma nu^2 + 16 (1/2 + L gamma) m L^2 e_bar with e_bar <= gamma^2 H^2 (nu^2 +"
        " (16/15) m G^2) is <= epsilon",
        le(
            8 * L * GAMMA * NU**2 + 16 * FACTOR * GAMMA**2 * H**2 * (NU**2 + Rational(16, 15) * M * G**2),
            EPS,
        ),
        {**printed, **STEP_L},
        uses=("Theorem 4.6(i-1)/3@corrected",),
    )
    book.step(
        "m B >= 1/4: the theorem's step sizes imply those of the sharp bound, gamma <= 1/(2 L sqrt(H"
        " (H-1))) and gamma <= 1/(L B sqrt(32 kappa H (H-1)))",
        [
            le(4 * L**2 * H * (H - 1) * GAMMA**2, 1),
            le(32 * L**2 * B**2 * kappa * H * (H - 1) * GAMMA**2, 1),
        ],
        {**STEP_B, "m B >= 1/4": ge(M * B, Rational(1, 4)), "kappa <= m": le(kappa, M)},
    )
    third = Rational(153, 2) * DRIFT * M * L**2 * H**2 * GAMMA**2
    book.step(
        "the corrected step size gamma <= sqrt(epsilon/(153 (nu^2 + m G^2) m L^2 H^2)) makes the third"
        " term <= epsilon/2",
        le(third, EPS / 2),
        {"gamma^2 <= epsilon/(153 ...)": le(153 * DRIFT * M * L**2 * H**2 * GAMMA**2, EPS)},
        sharp=True,
    )
    return book
