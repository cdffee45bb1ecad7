"""Lemma 6.8: the one-step recursion of the convex proof, and the coefficient that it needs to be >= 1/4."""

from __future__ import annotations

from sympy import Rational, log, sqrt

from bounds.core.step import Relation, eq, ge, le
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
    L,
    M,
    S,
    X,
)
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    dot,
    minus,
    nonnegative,
    obliged,
    positive,
    real,
    repaired,
    sq,
    times,
    vectors,
)

POWER = DELTA * sqrt(DELTA)
(INNER,), (SECOND,) = real("inner"), nonnegative("g_bar_sq")
STEPS: dict[str, Relation] = {
    "gamma <= 1/(16 L m^2 B^2 delta_0)": le(16 * L * M**2 * B**2 * DELTA_0 * GAMMA, 1),
    "gamma <= 1/(16 L)": le(GAMMA, 1 / (16 * L)),
}
LATE = {
    "delta_r <= 1/(16 L^2 B^4)^(1/3)": le(16 * L**2 * B**4 * DELTA**3, 1),
    "delta_r <= delta_0": le(DELTA, DELTA_0),
}
SMALL = case(L="1/32", B=1, delta_0=4, delta_r=4, m=2, gamma="1/8")
COEFFICIENT = 1 - L * B**2 * POWER - 4 * L * GAMMA * (M**2 * DELTA**2 * B**2 + 1)
TAIL = (
    GAMMA * POWER * (G**2 + S)
    + 4 * GAMMA**2 * M**2 * DELTA**2 * G**2
    + L * GAMMA * (2 * M * L * GAMMA + 1) * E
    + GAMMA**2 * NU**2
)


def books() -> tuple[Book, ...]:
    """As printed; and the argument that saves the printed lemma."""
    return _printed(), _corrected()


def _printed() -> Book:
    book = Book("Lemma 6.8", "appendix 6.2, proof of Lemma 6.8")
    _one_step(book)
    _coefficient(book)
    return book


def _one_step(book: Book) -> None:
    """One step, by Lemmas 6.6 and 6.7."""
    x, g = vectors("bar_minus_star g_bar")
    book.step(
        "||x_bar - x* - gamma g_bar||^2 = X + gamma^2 ||g_bar||^2 - 2 gamma (x_bar - x*)^T g_bar",
        eq(sq(minus(x, times(GAMMA, g))), sq(x) + GAMMA**2 * sq(g) - 2 * GAMMA * dot(x, g)),
        uses=("Lemma 4.2",),
    )
    book.step(
        "conditional expectations on both sides",
        le(X_NEXT, X + GAMMA**2 * SECOND - 2 * GAMMA * INNER),
        {"the identity": eq(X_NEXT, X + GAMMA**2 * SECOND - 2 * GAMMA * INNER)},
    )
    lemma_6_7 = le(
        -2 * INNER,
        -2 * (1 - L * B**2 * POWER) * DF + M * sqrt(DELTA) * X + POWER * (G**2 + S) + L * E,
    )
    lemma_6_6 = le(
        SECOND,
        NU**2 + 2 * M * L**2 * E + 4 * M**2 * DELTA**2 * G**2 + 8 * L * (M**2 * DELTA**2 * B**2 + 1) * DF,
    )
    book.step(
        "invoking Lemmas 6.6 and 6.7",
        le(X_NEXT, (1 + M * GAMMA * sqrt(DELTA)) * X - 2 * GAMMA * COEFFICIENT * DF + TAIL),
        {
            "the expansion": le(X_NEXT, X + GAMMA**2 * SECOND - 2 * GAMMA * INNER),
            "Lemma 6.6": lemma_6_6,
            "Lemma 6.7": lemma_6_7,
        },
        uses=("Lemma 6.6", "Lemma 6.7"),
    )


def _coefficient(book: Book) -> None:
    """The coefficient of D_f is at least 1/4."""
    (y, rate), (log_y,) = positive("delta_0_cbrt ln_1_over_rho"), real("ln_delta_0_cbrt")
    (r,) = nonnegative("r")
    book.step("ln y <= y", le(log(y), y))
    book.step(
        "r >= delta_0 (16 L^2 B^4)^(1/3)/ln(1/rho) implies delta_r <= 1/(16 L^2 B^4)^(1/3) (in logarithms)",
        le(log_y - r * rate, 0),
        {"the condition on r": ge(r, y / rate), "ln y <= y": le(log_y, y)},
        uses=("Lemma 6.8/4",),
    )
    stronger: dict[str, Relation] = {
        **STEPS,
        **LATE,
        "gamma <= 1/(16 L m^2 B^2 delta_0^2)": le(16 * L * M**2 * B**2 * DELTA_0**2 * GAMMA, 1),
    }
    quarter = (COEFFICIENT, Rational(1, 4))
    book.step(
        "1 - L B^2 delta_r^1.5 - 4 L gamma (m^2 delta_r^2 B^2 + 1) >= 1/4",
        ge(*quarter),
        {**STEPS, **LATE},
        cases=(SMALL,),
        survives_by=tuple(f"Lemma 6.8/{k}@corrected" for k in range(1, 5)),
        repair=repaired(
            ("with delta_r <= 2", obliged(ge(*quarter), {**STEPS, **LATE, "delta_r <= 2": le(DELTA, 2)})),
            ("with delta_r <= 1", obliged(ge(*quarter), {**STEPS, **LATE, "delta_r <= 1": le(DELTA, 1)})),
            ("with gamma <= 1/(16 L m^2 B^2 delta_0^2) as well", obliged(ge(*quarter), stronger)),
        ),
    )
    book.step(
        "the lemma, with -gamma/2 D_f",
        le(X_NEXT, (1 + M * GAMMA * sqrt(DELTA)) * X - GAMMA / 2 * DF + TAIL),
        {
            "the recursion": le(
                X_NEXT, (1 + M * GAMMA * sqrt(DELTA)) * X - 2 * GAMMA * COEFFICIENT * DF + TAIL
            ),
            "the coefficient is >= 1/4": ge(COEFFICIENT, Rational(1, 4)),
        },
        uses=("Lemma 6.8/3", "Lemma 6.8/6"),
    )


def _corrected() -> Book:
    """|p_i - p*_i| is also at most 1, so delta_r may be read as min(delta_r, 1) in Lemma 6.6."""
    book = Book("Lemma 6.8", "appendix 6.2, proof of Lemma 6.8", "corrected")
    (cap,) = nonnegative("min_delta_r_1")
    least = {"min <= delta_r": le(cap, DELTA), "min <= 1": le(cap, 1)}
    p, p_star = nonnegative("p_i p_star_i")
    book.step(
        "|p_i - p*_i| <= 1",
        [le(p - p_star, 1), le(p_star - p, 1)],
        {"p_i <= 1": le(p, 1), "p*_i <= 1": le(p_star, 1)},
    )
    coefficient = 1 - L * B**2 * POWER - 4 * L * GAMMA * (M**2 * cap**2 * B**2 + 1)
    book.step(
        "1 - L B^2 delta_r^1.5 - 4 L gamma (m^2 min(delta_r, 1)^2 B^2 + 1) >= 1/4",
        ge(coefficient, Rational(1, 4)),
        {**STEPS, **LATE, **least},
    )
    book.step(
        "the additive term only shrinks: 4 gamma^2 m^2 min(delta_r, 1)^2 G^2 <= 4 gamma^2 m^2 delta_r^2 G^2",
        le(4 * GAMMA**2 * M**2 * cap**2 * G**2, 4 * GAMMA**2 * M**2 * DELTA**2 * G**2),
        {"min <= delta_r": le(cap, DELTA)},
    )
    tail = TAIL - 4 * GAMMA**2 * M**2 * (DELTA**2 - cap**2) * G**2
    book.step(
        "Lemma 6.8 as printed",
        le(X_NEXT, (1 + M * GAMMA * sqrt(DELTA)) * X - GAMMA / 2 * DF + TAIL),
        {
            "the recursion with min(delta_r, 1)": le(
                X_NEXT, (1 + M * GAMMA * sqrt(DELTA)) * X - 2 * GAMMA * coefficient * DF + tail
            ),
            "the coefficient is >= 1/4": ge(coefficient, Rational(1, 4)),
            "min <= delta_r": le(cap, DELTA),
        },
        uses=("Lemma 6.6", "Lemma 6.7/11@corrected", "Lemma 6.8/2@corrected"),
    )
    return book
