"""phi(gamma) = sum_k a_k gamma^k + c (start(gamma)/gamma) - epsilon: where it is least, and how low it surely goes.

start(gamma) = exp(x gamma) sum_j b_j gamma^j, and all coefficients are nonnegative. So phi + epsilon is a sum of terms
exp(i x gamma) gamma^k with k >= -1 and nonnegative weights: convex in gamma > 0 (for k = -1 it is log-convex, for
k >= 0 a power series with nonnegative coefficients), and gamma phi'(gamma) increases. One sign change settles the
minimum, and a tangent bounds it from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from jaxtyping import Float

_STEPS, _GRID_STEPS = 80, 24
_CLOSE = 1e-13  # in log gamma: at the minimum the value then errs by 1e-26
_TINY = 2.0**-200  # no sensible step size is that far below what the hypotheses allow


@dataclass(frozen=True)
class Start:
    """exp(growth gamma) * sum_j b[j] gamma^j."""

    b: tuple[Any, ...]
    growth: Any


def least(
    powers: Sequence[int],
    a: Sequence[Any],
    c: Any,
    start: Start,
    cap: Float[np.ndarray, " k"],
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """(gamma, phi + epsilon) at the minimum over 0 < gamma <= cap, in floats, for k curves at once.

    A curve that is least at gamma -> 0 (no start to work off) is taken near 2^-200 cap.
    """
    with np.errstate(all="ignore"):
        high = np.log(cap)
        low = np.log(_TINY) + high
        t = high
        up, down, slope = _slope(powers, a, c, start, cap, np.exp)
        inner = up > down
        for _ in range(_GRID_STEPS if inner.any() else 0):
            rising = up > down
            high, low = np.where(rising, t, high), np.where(rising, low, t)
            newton = t - (np.log(up) - np.log(down)) / slope
            settled = np.abs(newton - t) <= _CLOSE  # then rounding may put it beyond t, an end of the bracket
            near = (newton > low) & (newton < high)
            step = np.where(near | settled, newton, (low + high) / 2) - t
            t = t + step
            if (np.abs(step) <= _CLOSE).all():
                break
            up, down, slope = _slope(powers, a, c, start, np.exp(t), np.exp)
        gamma = np.where(inner, np.minimum(np.exp(t), cap), cap)
        return gamma, value(powers, a, c, start, gamma, np.exp)


def least_one(powers: Sequence[int], a: Sequence[float], c: float, start: Start, cap: float) -> float:
    """The gamma of `least` for a single curve, in plain floats."""
    high = math.log(cap)
    low = math.log(_TINY) + high
    t = high
    try:
        up, down, slope = _slope(powers, a, c, start, cap, math.exp)
        if not up > down:
            return cap
        for _ in range(_STEPS):
            low, high = (low, t) if up > down else (t, high)
            newton = t - math.log(up / down) / slope if up > 0 < down else math.nan
            good = low < newton < high or abs(newton - t) <= _CLOSE
            step = (newton if good else (low + high) / 2) - t
            t += step
            if abs(step) <= _CLOSE:
                break
            up, down, slope = _slope(powers, a, c, start, math.exp(t), math.exp)
    except (OverflowError, ZeroDivisionError):
        return float(least(powers, [np.array([v]) for v in a], np.array([c]), start, np.array([cap]))[0][0])
    return min(math.exp(t), cap)


def _slope(
    powers: Sequence[int], a: Sequence[Any], c: Any, start: Start, gamma: Any, exp: Callable[[Any], Any]
) -> tuple[Any, Any, Any]:
    """(up, down, d log(up/down)/d log gamma), where gamma phi' exp(-x gamma) = up - down, down = c b_0/gamma."""
    growth = start.growth
    shrink = exp(-growth * gamma)
    up = steep = 0.0 * gamma
    for k, a_k in zip(powers, a, strict=True):
        if k:
            piece = k * a_k * gamma**k * shrink
            up, steep = up + piece, steep + piece * (k - growth * gamma)
    for j, b_j in enumerate(start.b):
        by_growth = c * b_j * growth * gamma**j
        up, steep = up + by_growth, steep + by_growth * j
        if j > 1:
            piece = (j - 1) * c * b_j * gamma ** (j - 1)
            up, steep = up + piece, steep + piece * (j - 1)
    return up, c * start.b[0] / gamma, steep / (up + 1e-300) + 1.0


def value(
    powers: Sequence[int],
    a: Sequence[Any],
    c: Any,
    start: Start,
    gamma: Any,
    exp: Callable[[Any], Any] = np.exp,
) -> Any:
    """phi + epsilon in floats."""
    total = start.b[0] / gamma
    for j, b_j in enumerate(start.b[1:]):
        total = total + b_j * gamma**j
    total = c * total * exp(start.growth * gamma)
    for k, a_k in zip(powers, a, strict=True):
        total = total + a_k * gamma**k
    return total


@dataclass(frozen=True)
class Ball:
    """The curve with enclosed coefficients (phi + epsilon (1 - shrink gamma) is what is least)."""

    powers: tuple[int, ...]
    a: tuple[arb, ...]
    c: arb
    shrink: arb
    epsilon: arb
    start: Start

    def value(self, gamma: arb) -> arb:
        """sum_k a_k gamma^k + c start(gamma)/gamma - epsilon (1 - shrink gamma)."""
        body = _polynomial(self.start.b, gamma)
        total = self.c * body * (self.start.growth * gamma).exp() / gamma
        total += self.epsilon * (self.shrink * gamma - 1)
        for k, a_k in zip(self.powers, self.a, strict=True):
            total += a_k * gamma**k
        return total

    def slope(self, gamma: arb) -> arb:
        """The derivative of `value`."""
        b, x = self.start.b, self.start.growth
        body = _polynomial(b, gamma)
        steep = _polynomial(tuple(j * b_j for j, b_j in enumerate(b))[1:], gamma)
        total = (
            self.c * (x * gamma).exp() / gamma * (steep + (x - 1 / gamma) * body) + self.epsilon * self.shrink
        )
        for k, a_k in zip(self.powers, self.a, strict=True):
            if k:
                total += k * a_k * gamma ** (k - 1)
        return total

    def surely_at_least(self, guess: float, cap: float) -> arb:
        """A ball whose lower end bounds `value` from below over all real 0 < gamma <= cap (-inf: unknown).

        The minimum lies between two points around `guess` where the slope is proved to change sign, and the
        tangent at `guess` lies below the convex curve there.
        """
        top = arb(cap)
        if self.slope(top) <= 0:
            return self.value(top)
        if self.c * self.start.b[0] == 0:  # nothing to work off: it increases from its value at 0
            return self._at_zero()
        middle = arb(guess) if guess < cap else top
        for exponent in (-24, -12, -4, -1):
            width = arb(2) ** exponent
            left, right = middle * (1 - width), middle * (1 + width)
            beyond = right >= top or self.slope(right) >= 0
            if beyond and self.slope(left) <= 0:
                return self.value(middle) - abs(self.slope(middle)) * middle * width
        return arb("-inf")

    def _at_zero(self) -> arb:
        total = self.c * self.start.b[1] - self.epsilon if len(self.start.b) > 1 else -self.epsilon
        for k, a_k in zip(self.powers, self.a, strict=True):
            total += a_k if k == 0 else arb(0)
        return total


def _polynomial(coefficients: Sequence[Any], x: arb) -> arb:
    total = arb(0)
    for b in reversed(coefficients):
        total = total * x + b
    return total
