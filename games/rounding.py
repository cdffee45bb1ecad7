"""Floating point with proofs: error constants, outward rounding, twice-working-precision products, arb and
rationals.

Everything here assumes IEEE float64 with rounding to nearest and no overflow; underflow is covered by `TINY`.
"""

from fractions import Fraction
from importlib.util import find_spec
from typing import TypeVar

import flint
import numpy as np
from jaxtyping import Float

UNIT = 2.0**-53
COMPILED_PRODUCT = 10_000  # entries of A
TINY = 2.0**-1000  # covers every underflow of the sums of products below, and is no more than that
Number = TypeVar("Number", float, np.ndarray)


def gamma(k: int) -> float:
    """gamma_k = k u/(1 - k u), rounded upwards: the relative error of k roundings in any order (Higham, ch.
    3)."""
    return k * UNIT / (1.0 - k * UNIT) * (1.0 + 4 * UNIT)


def round_up(x: Number, steps: int = 1) -> Number:
    """A float that is at least x, when x >= 0 was computed with at most `steps` roundings to nearest."""
    return x * (1.0 + 2.0 * (steps + 1) * UNIT) + TINY


def sqrt_up(x: float) -> float:
    """A float that is at least sqrt(x)."""
    return float(np.nextafter(np.sqrt(x), np.inf)) if x > 0 else 0.0


def norm_up(x: Float[np.ndarray, "..."]) -> float:
    """A float that is at least the Euclidean (Frobenius) norm of x."""
    scale = float(np.max(np.abs(x), initial=0.0))
    if scale == 0.0 or not np.isfinite(scale):
        return scale
    total = float(np.sum((x / scale) ** 2))
    return round_up(scale * sqrt_up(round_up(total, x.size + 3)), 2)


def divide_up(x: float, y: float) -> float:
    """A float that is at least x/y, for x >= 0 and y > 0."""
    return float(np.nextafter(x / y, np.inf))


def two_sum(
    a: Float[np.ndarray, "*s"], b: Float[np.ndarray, "*s"]
) -> tuple[Float[np.ndarray, "*s"], Float[np.ndarray, "*s"]]:
    """(s, e) with s = fl(a + b) and s + e = a + b exactly (Knuth)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


def _split(a: Float[np.ndarray, "..."]) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    c = 134217729.0 * a
    high = c - (c - a)
    return high, a - high


def two_product(
    a: Float[np.ndarray, "..."], b: Float[np.ndarray, "..."]
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """(p, e) with p = fl(a b) and p + e = a b exactly up to underflow (Dekker); broadcasts."""
    p = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


def exact_rows_sum(
    terms: Float[np.ndarray, "rows k"],
) -> tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
    """Row sums in twice the working precision: (value, bound) with |value - exact| <= bound.

    A tree of `two_sum`s keeps every rounding error; only the sum of those errors rounds.
    """
    carry = np.zeros(terms.shape[0])
    carried = np.zeros(terms.shape[0])
    count = 0
    while terms.shape[1] > 1:
        half = terms.shape[1] // 2
        s, e = two_sum(terms[:, :half], terms[:, half : 2 * half])
        carry = carry + e.sum(axis=1)
        carried = carried + np.abs(e).sum(axis=1)
        count += half + 1
        terms = np.concatenate([s, terms[:, 2 * half :]], axis=1)
    total = terms[:, 0] if terms.shape[1] else carry
    value = total + carry
    bound = UNIT * np.abs(value) + gamma(2 * count + 2) * carried
    return value, round_up(bound, count + 4)


def accurate_affine(
    A: Float[np.ndarray, "k m"], x: Float[np.ndarray, " m"], b: Float[np.ndarray, " k"]
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """(value, bound): A x + b in twice the working precision, |value - (A x + b)| <= bound elementwise.

    Compiled where numba is installed and the matrix is large enough to pay for loading it; both versions are
    proven, their bounds differ a little.
    """
    if A.size >= COMPILED_PRODUCT and find_spec("numba") is not None:
        from games import rounding_fast

        return rounding_fast.accurate_affine(np.ascontiguousarray(A), x, b)
    value = np.empty(b.size)
    bound = np.empty(b.size)
    block = max(1, 8192 // max(1, x.size))  # rows at a time: the temporaries stay in cache
    for start in range(0, b.size, block):
        rows = slice(start, start + block)
        p, e = two_product(A[rows], x)
        terms = np.concatenate([p, e, b[rows, None]], axis=1)
        value[rows], bound[rows] = exact_rows_sum(terms)
    return value, bound + TINY


def fmpq(x: float | Fraction) -> flint.fmpq:
    """x as an exact flint rational."""
    numerator, denominator = x.as_integer_ratio()
    return flint.fmpq(numerator, denominator)


def fraction(x: flint.fmpq) -> Fraction:
    """x as a Python fraction."""
    return Fraction(int(x.p), int(x.q))


def fmpq_matrix(A: Float[np.ndarray, "rows columns"]) -> flint.fmpq_mat:
    """A float matrix as exact rationals."""
    return flint.fmpq_mat(A.shape[0], A.shape[1], [fmpq(x) for x in A.ravel().tolist()])


def arb_upper(x: flint.arb) -> float:
    """A float that is at least every number in the ball x."""
    top = x.upper()
    nearest = float(top)
    return nearest if flint.arb(nearest) >= top else float(np.nextafter(nearest, np.inf))


def arb_lower(x: flint.arb) -> float:
    """A float that is at most every number in the ball x."""
    bottom = x.lower()
    nearest = float(bottom)
    return nearest if flint.arb(nearest) <= bottom else float(np.nextafter(nearest, -np.inf))
