"""Float arithmetic that keeps its digits where the textbook formula loses them.

A contraction rate close to one is carried as `hi + lo` (a double-double), so that rate^n is right to a few
units in the last place for n up to 10^12 and down to the underflow, and 1 - rate^n near n log(rate) = 0.
Everything is vectorised; run it under `np.errstate`, as a rate may be zero.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Real: TypeAlias = Any  # a float or an array of floats: the operators are the same
Double: TypeAlias = tuple[Real, Real]

_SPLIT = 134217729.0  # 2^27 + 1 (Veltkamp)


def two_sum(a: Real, b: Real) -> Double:
    """(fl(a + b), the exact rounding error)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Real, b: Real) -> Double:
    """(fl(a b), the exact rounding error), for |a|, |b| below 1e299 and no underflow."""
    p = a * b
    c = _SPLIT * a
    ah = c - (c - a)
    al = a - ah
    c = _SPLIT * b
    bh = c - (c - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def add(x: Double, y: Double) -> Double:
    """The sum of two double-doubles."""
    s, e = two_sum(x[0], y[0])
    return fast_two_sum(s, e + x[1] + y[1])


def fast_two_sum(a: Real, b: Real) -> Double:
    """`two_sum` for |a| >= |b|."""
    s = a + b
    return s, b - (s - a)


def multiply(x: Double, y: Double) -> Double:
    """The product of two double-doubles."""
    p, e = two_product(x[0], y[0])
    return fast_two_sum(p, e + (x[0] * y[1] + x[1] * y[0]))


def _carry(x: Double) -> tuple[Real, Real, Real]:
    """(hi, lo / hi, log(hi + lo)); where hi = 0 the quotient is 0 and the logarithm -1e300, so that 0 log 0 = 0."""
    hi, lo = x
    ratio = np.where(hi == 0.0, 0.0, lo / np.where(hi == 0.0, 1.0, hi))
    return hi, ratio, np.maximum(np.log(hi) + ratio, -1e300)


def half_rate(mu: Real, gamma: Real) -> tuple[Real, Real, Real]:
    """The rate 1 - mu gamma / 2 as (hi, lo / hi, log)."""
    p, e = two_product(0.5 * mu, gamma)
    hi = 1.0 - p
    ratio = (((1.0 - hi) - p) - e) / hi  # exact but for the quotient: p <= 1
    return hi, ratio, np.log(hi) + ratio


def square_rate(mu: Real, lipschitz: Real, gamma: Real) -> tuple[Real, Real, Real]:
    """The square of sqrt(1 - 2 mu gamma + L^2 gamma^2), as (hi, lo / hi, log of the rate itself).

    Written (1 - mu gamma)^2 + (L - mu)(L + mu) gamma^2, a sum without cancellation when L >= mu.
    """
    mu, lipschitz, gamma = (np.asarray(v, dtype=float) for v in (mu, lipschitz, gamma))
    p, e = two_product(mu, gamma)
    hi, lo = two_sum(1.0, -p)
    first = fast_two_sum(hi, lo - e)
    spread = multiply(two_sum(lipschitz, -mu), two_sum(lipschitz, mu))
    total = add(multiply(first, first), multiply(spread, two_product(gamma, gamma)))
    high, ratio, log = _carry(total)
    return high, ratio, 0.5 * log


def given_rate(rate: Real) -> tuple[Real, Real, Real]:
    """A rate that the caller gives as a float, taken to be exact."""
    return _carry((np.asarray(rate, dtype=float), 0.0))


def rate_power(hi: Real, ratio: Real, exponent: Real) -> Real:
    """(hi + lo)^exponent."""
    return hi**exponent * np.exp(ratio * exponent)


def power_gap(log: Real, span: Real) -> Real:
    """1 - rate^span from the logarithm of the rate."""
    return -np.expm1(span * log)
