"""Lemma 6.7: the inner product with the distance to x* in the convex setting."""

from __future__ import annotations

from sympy import Abs, Rational, sqrt

from bounds.core.step import Relation, eq, ge, gt, le
from bounds.incentfedavg.steps.common import DELTA, DF, GRADS, B, E, G, L, M, S, X
from bounds.incentfedavg.steps.notation import (
    Book,
    case,
    cauchy_schwarz,
    dot,
    least_constant,
    nonnegative,
    obliged,
    plus,
    positive,
    real,
    repaired,
    vectors,
)

LHS, PART = real("inner")[0], nonnegative("abs_gap_sum")[0]
(D_POS,) = positive("delta_r")
LEMMA_6_5 = {"Lemma 6.5": le(GRADS / M, G**2 + 2 * L * B**2 * DF)}
THE_LEMMA = le(
    LHS,
    -2 * (1 - L * B**2 * D_POS * sqrt(D_POS)) * DF
    + M * sqrt(D_POS) * X
    + D_POS * sqrt(D_POS) * (G**2 + S)
    + L * E,
)


def books() -> tuple[Book, ...]:
    """As printed, and with the lost factor m."""
    return _printed(), _corrected()


def _printed() -> Book:
    book = Book("Lemma 6.7", "appendix 6.2, proof of Lemma 6.7")
    _inner(book)
    _weight_error(book)
    _with_lemma_6_5(book)
    return book


def _inner(book: Book) -> None:
    """The inner product by convexity and smoothness."""
    u, w, g = vectors("xi_minus_star bar_minus_xi grad_fi")
    book.step(
        "x_bar - x* = (x_i - x*) + (x_bar - x_i) inside the inner product",
        eq(-2 * dot(plus(u, w), g), -2 * dot(u, g) - 2 * dot(w, g)),
    )
    inner, at_star, at_i, at_bar = real("inner f_star f_i f_bar")
    book.step(
        "convexity: -(x_i - x*)^T grad f_i(x_i) <= f_i(x*) - f_i(x_i)",
        le(-inner, at_star - at_i),
        {"f_i(x*) >= f_i(x_i) + grad^T (x* - x_i)": ge(at_star, at_i - inner)},
    )
    (gap,) = nonnegative("dist_i_sq")
    book.step(
        "smoothness: -(x_bar - x_i)^T grad f_i(x_i) <= f_i(x_i) - f_i(x_bar) + L/2 ||x_bar - x_i||^2",
        le(-inner, at_i - at_bar + L / 2 * gap),
        {"descent lemma": le(at_bar, at_i + inner + L / 2 * gap)},
    )
    other, (p,) = real("inner_2")[0], nonnegative("p_i")
    book.step(
        "<= 2 sum p_i (f_i(x*) - f_i(x_bar)) + L sum p_i ||x_i - x_bar||^2, termwise",
        le(-2 * p * (inner + other), 2 * p * (at_star - at_bar) + L * p * gap),
        {
            "convexity": le(-inner, at_star - at_i),
            "smoothness": le(-other, at_i - at_bar + L / 2 * gap),
        },
    )


def _weight_error(book: Book) -> None:
    """(27): p_i around p*_i."""
    at_star, at_bar = real("f_star f_bar")
    p, p_star = nonnegative("p_i p_star_i")
    book.step(
        "p_i = p*_i + (p_i - p*_i), termwise",
        eq(
            2 * p * (at_star - at_bar),
            2 * p_star * (at_star - at_bar) + 2 * (p - p_star) * (at_star - at_bar),
        ),
    )
    (p_2,), gaps = nonnegative("p_star_2"), real("f_1_star f_1_bar f_2_star f_2_bar")
    low, now = p_star * gaps[0] + p_2 * gaps[2], p_star * gaps[1] + p_2 * gaps[3]
    book.step(
        "sum p*_i (f_i(x*) - f_i(x_bar)) = f(x*) - f(x_bar), m = 2",
        eq(p_star * (gaps[0] - gaps[1]) + p_2 * (gaps[2] - gaps[3]), low - now),
    )
    book.step(
        "<= 2 |p_i - p*_i| |f_i(x*) - f_i(x_bar)|, termwise",
        le(2 * (p - p_star) * (at_star - at_bar), 2 * Abs(p - p_star) * Abs(at_star - at_bar)),
    )
    (size, change) = nonnegative("abs_gap abs_weight")
    book.step(
        "(27): |p_i - p*_i| <= delta_r, termwise",
        le(2 * change * size, 2 * DELTA * size),
        {"Lemma 4.3(ii)": le(change, DELTA)},
        uses=("Lemma 4.3(ii)",),
    )


def _with_lemma_6_5(book: Book) -> None:
    """The gaps by Young, the gradients by Lemma 6.5."""
    _young(book)
    left, slope, at = nonnegative("abs_gap grad_fi_sq grad_fi_star_sq")
    each = sqrt(D_POS) / 2 * (at + slope) + X / (2 * sqrt(D_POS))
    book.induction(
        "2 delta_r sum |..| <= delta_r sqrt(delta_r) sum (..) + m sqrt(delta_r) ||x_bar - x*||^2",
        le(2 * D_POS * left, D_POS * sqrt(D_POS) * (at + slope) + sqrt(D_POS) * X),
        le(
            2 * D_POS * (PART + left),
            D_POS * sqrt(D_POS) * (S + at + GRADS + slope) + (M + 1) * sqrt(D_POS) * X,
        ),
        {
            "each client": le(left, each),
            "induction hypothesis": le(
                2 * D_POS * PART, D_POS * sqrt(D_POS) * (S + GRADS) + M * sqrt(D_POS) * X
            ),
        },
    )
    (c,) = positive("c")
    invoked = D_POS * sqrt(D_POS) * (S + GRADS)
    book.step(
        "invoking Lemma 6.5: delta_r^1.5 (S + sum ||grad f_i||^2) <= delta_r^1.5 (S + G^2 + 2 L B^2 D_f)",
        le(invoked, D_POS * sqrt(D_POS) * (S + G**2 + 2 * L * B**2 * DF)),
        LEMMA_6_5,
        cases=(case(m=2, grad_fi_sq_sum=2, G=1, B=1, L=1, D_f=0, S=0, delta_r=1),),
        uses=("Lemma 6.5",),
        survives_by=tuple(f"Lemma 6.7/{k}@corrected" for k in range(5, 12)),
        repair=least_constant(
            obliged(le(invoked, D_POS * sqrt(D_POS) * (S + c * (G**2 + 2 * L * B**2 * DF))), LEMMA_6_5),
            c,
            (1, sqrt(M), M),
            "delta_r^1.5 (S + {} (G^2 + 2 L B^2 D_f))",
        ),
    )
    book.step(
        "the lemma, from (27) and the preceding relation",
        THE_LEMMA,
        {
            "(27)": le(LHS, -2 * DF + 2 * D_POS * PART + L * E),
            "the preceding relation": le(
                2 * D_POS * PART,
                D_POS * sqrt(D_POS) * (S + G**2 + 2 * L * B**2 * DF) + M * sqrt(D_POS) * X,
            ),
        },
        uses=("Lemma 6.7/8", "Lemma 6.7/15"),
    )


def _young(book: Book) -> None:
    """The two displays by which |f_i(x*) - f_i(x_bar)| is bounded; v = x* - x_bar."""
    a, b, (ab,) = *nonnegative("grad_norm dist"), real("grad_dot_v")
    root = sqrt(D_POS)
    young = root / 2 * a**2 + b**2 / (2 * root)
    gap, at_bar, at_star = real("gap grad_bar_dot_v grad_star_dot_v")  # gap = f_i(x*) - f_i(x_bar)
    convex = {
        "convexity at x_bar: f_i(x*) >= f_i(x_bar) + grad f_i(x_bar)^T v": ge(gap, at_bar),
        "convexity at x*: f_i(x_bar) >= f_i(x*) - grad f_i(x*)^T v": le(gap, at_star),
    }
    stands = ("Lemma 6.7/1@corrected", "Lemma 6.7/2@corrected")
    book.step(
        "f_i(x*) - f_i(x_bar) <= grad f_i(x_bar)^T (x* - x_bar), as printed",
        le(gap, at_bar),
        convex,
        cases=(case(gap="-1/2", grad_bar_dot_v=-1, grad_star_dot_v=0),),
        survives_by=stands,
        repair=repaired(
            ("f_i(x*) - f_i(x_bar) <= grad f_i(x*)^T (x* - x_bar)", obliged(le(gap, at_star), convex))
        ),
    )
    book.step(
        "grad^T (x* - x_bar) <= sqrt(delta_r)/2 ||grad||^2 + ||x* - x_bar||^2/(2 sqrt(delta_r)), by Young",
        le(ab, young),
        structure=cauchy_schwarz(ab, a, b),
        hints=(root * a - b,),
        sharp=True,
    )
    book.step(
        "f_i(x_bar) - f_i(x*) <= grad f_i(x*)^T (x_bar - x*), as printed",
        le(-gap, -at_star),
        convex,
        cases=(case(gap="-1/2", grad_bar_dot_v=-1, grad_star_dot_v=0),),
        survives_by=stands,
        repair=repaired(
            ("f_i(x_bar) - f_i(x*) <= grad f_i(x_bar)^T (x_bar - x*)", obliged(le(-gap, -at_bar), convex))
        ),
    )
    slope, at, dist = nonnegative("grad_fi_sq grad_fi_star_sq X_sq")
    star_norm, (star_v,) = nonnegative("grad_star_norm")[0], real("grad_star_dot_minus_v")
    book.step(
        "grad f_i(x*)^T (x_bar - x*) <= sqrt(delta_r)/2 ||grad f_i(x*)||^2 + ||x* - x_bar||^2/(2"
        " sqrt(delta_r)), by Young",
        le(star_v, root / 2 * star_norm**2 + b**2 / (2 * root)),
        structure=cauchy_schwarz(star_v, star_norm, b),
        hints=(root * star_norm - b,),
        sharp=True,
    )
    book.step(
        "|f_i(x*) - f_i(x_bar)| <= sqrt(delta_r)/2 (||grad f_i(x*)||^2 + ||grad f_i(x_bar)||^2) + X/(2"
        " sqrt(delta_r))",
        le(Abs(gap), root / 2 * (at + slope) + dist / (2 * root)),
        {
            "the first display": le(gap, root / 2 * slope + dist / (2 * root)),
            "the second display": le(-gap, root / 2 * at + dist / (2 * root)),
        },
    )


def _corrected() -> Book:
    book = Book("Lemma 6.7", "appendix 6.2, proof of Lemma 6.7", "corrected")
    root = sqrt(D_POS)
    gap, at_bar, at_star = real("gap grad_bar_dot_v grad_star_dot_v")
    slope, at, dist = nonnegative("grad_fi_sq grad_fi_star_sq X_sq")
    convex = {
        "convexity at x_bar": ge(gap, at_bar),
        "convexity at x*": le(gap, at_star),
    }
    book.step(
        "convexity gives grad f_i(x_bar)^T v <= f_i(x*) - f_i(x_bar) <= grad f_i(x*)^T v, v = x* - x_bar",
        [le(at_bar, gap), le(gap, at_star)],
        convex,
    )
    book.step(
        "|f_i(x*) - f_i(x_bar)| <= sqrt(delta_r)/2 (||grad f_i(x*)||^2 + ||grad f_i(x_bar)||^2) + X/(2"
        " sqrt(delta_r))",
        le(Abs(gap), root / 2 * (at + slope) + dist / (2 * root)),
        {
            **convex,
            "Young at x_bar": le(-at_bar, root / 2 * slope + dist / (2 * root)),
            "Young at x*": le(at_star, root / 2 * at + dist / (2 * root)),
        },
        uses=("Lemma 6.7/10",),
    )
    dissimilar = G**2 + 2 * L * B**2 * DF
    power = D_POS * root
    book.step(
        "generic bound delta_r on the weights: delta_r^1.5 (S + sum ||grad f_i||^2) <= delta_r^1.5 (S + m"
        " (G^2 + 2 L B^2 D_f))",
        le(power * (S + GRADS), power * (S + M * dissimilar)),
        LEMMA_6_5,
        uses=("Lemma 6.5",),
        sharp=True,
    )
    book.step(
        "Lemma 6.7 for a generic delta_r: -2 (1 - m L B^2 delta^1.5) D_f + m sqrt(delta) X + delta^1.5 (m"
        " G^2 + S) + L e_bar",
        le(
            LHS,
            -2 * (1 - M * L * B**2 * power) * DF + M * root * X + power * (M * G**2 + S) + L * E,
        ),
        {
            "(27)": le(LHS, -2 * DF + 2 * D_POS * PART + L * E),
            "the preceding relation": le(2 * D_POS * PART, power * (S + M * dissimilar) + M * root * X),
        },
    )
    _printed_form_survives(book)
    return book


def _printed_form_survives(book: Book) -> None:
    """With delta_r of Lemma 4.3 the printed bound holds although its proof does not."""
    root_m, root_d, w, q, x = positive("sqrt_m sqrt_delta_r weight_l2 max_grad_l2 dist")
    three = {"m >= 3": ge(root_m**2, 3)}
    book.step(
        "m >= 3: 2 sum |p_i - p*_i| |gap_i| <= 2 ||p - p*|| Q sqrt(X) <= m sqrt(delta) X + delta^1.5"
        " Q^2/(m-1)^2,"
        " Q^2 = sum max(||grad f_i(x*)||, ||grad f_i(x_bar)||)^2",
        le(2 * w * q * x, root_m**2 * root_d * x**2 + root_d**3 * q**2 / (root_m**2 - 1) ** 2),
        {"||p - p*|| <= sqrt(m) delta/(m-1)": le(w, root_m * root_d**2 / (root_m**2 - 1)), **three},
        structure=(gt(root_m, 1),),
        hints=(root_m * (root_m**2 - 1) * x - root_d * q,),
        uses=("Lemma 4.3(ii)/5@sharp",),
    )
    total = G**2 + 2 * L * B**2 * DF
    book.step(
        "m >= 3: Q^2/(m-1)^2 <= S + G^2 + 2 L B^2 D_f, because m <= (m-1)^2",
        le(q**2 / (M - 1) ** 2, S + total),
        {"Q^2 <= S + sum ||grad f_i||^2": le(q**2, S + GRADS), **LEMMA_6_5, "m >= 3": ge(M, 3)},
    )
    _two_clients(book)


def _two_clients(book: Book) -> None:
    """m = 2, p_1 > p*_1 without loss: V = u_2 - u_1 with u_i = f_i(x_bar) - f_i(x*), a_i = ||grad
    f_i(x*)||, and
    P = G^2 + 2 L B^2 D_f = (L/p*_min) sum p*_i (f_i(x_bar) - f_i*) for the pair of the corrected Lemma
    6.5."""
    _smaller_second(book)
    _larger_second(book)
    _as_printed(book)


def _smaller_second(book: Book) -> None:
    """p*_2 <= p*_1."""
    a1, a2, u, big_v, big_p = nonnegative("a_1 a_2 u_2 V P")
    x = positive("dist")[0]  # dist = 0: V = 0
    claim = le(big_v**2, 2 * x**2 * (a1**2 + a2**2 + big_p))
    cap, (line,) = a2 * x + L / 2 * x**2, real("line")
    both: dict[str, Relation] = {
        "-u_1 <= a_1 dist": le(big_v, a1 * x + u),
        "u_2 <= a_2 dist + L dist^2/2": le(u, cap),
    }
    first = x**2 * (a1**2 + 3 * a2**2) + Rational(3, 2) * L * x**2 * u - (2 * a1 + a2) * x * u
    book.step(
        "m = 2, p*_2 <= p*_1: V^2 <= 2 X (S + P); a line in u_2 that is >= 0 at u_2 = 0 and at its bound",
        obligations=(
            *obliged(ge(cap * first, 0), {"u_2 <= bound": le(u, cap)}, name="times the bound"),
            *obliged(ge(line, 0), {"line times bound >= 0": ge(line * cap, 0)}, name="divided"),
            *obliged(
                claim,
                {
                    **both,
                    "P >= L (f_2(x_bar) - f_2*) >= L u_2 + a_2^2/2": ge(big_p, L * u + a2**2 / 2),
                    "the line": ge(first, 0),
                },
                name="the claim",
            ),
        ),
        hints=(a1 - a2 - L / 2 * x,),
    )


def _larger_second(book: Book) -> None:
    """p*_1 <= p*_2."""
    a2, u, big_v, big_p = nonnegative("a_2 u_2 V P")
    x, kappa = positive("dist p_star_2_over_1")
    cap, (line,) = a2 * x + L / 2 * x**2, real("line")
    large = {"kappa >= 1": ge(kappa, 1)}
    second = (
        x**2 * a2**2 * (kappa**2 + kappa + 2)
        + (2 * kappa - Rational(1, 2)) * L * x**2 * u
        - (2 * kappa + 1) * a2 * x * u
    )
    book.step(
        "m = 2, p*_1 <= p*_2, kappa = p*_2/p*_1 (so a_1 = kappa a_2): V^2 <= 2 X (S + P), by such a line",
        obligations=(
            *obliged(ge(cap * second, 0), {"u_2 <= bound": le(u, cap), **large}, name="times the bound"),
            *obliged(ge(line, 0), {"line times bound >= 0": ge(line * cap, 0)}, name="divided"),
            *obliged(
                le(big_v**2, 2 * x**2 * (kappa**2 * a2**2 + a2**2 + big_p)),
                {
                    "-u_1 <= a_1 dist = kappa a_2 dist": le(big_v, kappa * a2 * x + u),
                    "u_2 <= bound": le(u, cap),
                    "P >= L kappa (f_2(x_bar) - f_2*)": ge(big_p, kappa * (L * u + a2**2 / 2)),
                    "the line": ge(second, 0),
                },
                name="the claim",
            ),
        ),
    )


def _as_printed(book: Book) -> None:
    """u_2 < 0, and the lemma as printed."""
    a1, a2, big_v, big_p = nonnegative("a_1 a_2 V P")
    (x,) = positive("dist")
    claim = le(big_v**2, 2 * x**2 * (a1**2 + a2**2 + big_p))
    book.step(
        "m = 2, u_2 < 0: V <= a_1 dist, so V^2 <= 2 X (S + P)",
        claim,
        {"V <= -u_1 <= a_1 dist": le(big_v, a1 * x)},
    )
    root_d, shift, near = *nonnegative("sqrt_delta_r abs_weight"), positive("dist")[0]  # dist = 0: V = 0
    book.step(
        "m = 2: 2 |p_1 - p*_1| V <= 2 sqrt(delta) X + delta^1.5 (S + P)",
        le(2 * shift * big_v, 2 * root_d * near**2 + root_d**3 * S + root_d**3 * big_p),
        {
            "|p_1 - p*_1| <= delta_r": le(shift, root_d**2),
            "V^2 <= 2 X (S + P)": le(big_v**2, 2 * near**2 * (S + big_p)),
        },
        hints=(2 * near**2 - root_d * big_v,),
        uses=("Lemma 6.7/7@corrected", "Lemma 6.7/8@corrected", "Lemma 6.7/9@corrected"),
    )
    book.step(
        "Lemma 6.7 as printed, for m >= 2 and delta_r of Lemma 4.3",
        THE_LEMMA,
        {
            "before (27)": le(LHS, -2 * DF + PART + L * E),
            "the weighted gaps (PART = 2 sum |p_i - p*_i| |gap_i|)": le(
                PART,
                D_POS * sqrt(D_POS) * (S + G**2 + 2 * L * B**2 * DF) + M * sqrt(D_POS) * X,
            ),
        },
        uses=("Lemma 6.7/5@corrected", "Lemma 6.7/6@corrected", "Lemma 6.7/10@corrected"),
    )
