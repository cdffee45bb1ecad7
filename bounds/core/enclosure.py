"""Balls: the conversion of constants to arb, and the functions that a compiled enclosure calls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from bounds.core.constant import Constant, Value

GUARD = 32  # extra working bits, so that a result is good to the precision asked for
_ZERO, _ONE, _HALF, _MINUS_HALF = arb(0), arb(1), arb(0.5), arb(-0.5)
_INF, _NEG_INF = arb("inf"), arb("-inf")
KNOWN: dict[float, arb] = {}  # balls of floats met before: exact at any precision, and dear to make
_MOST_KNOWN = 4096


def ball(value: Constant | Value) -> arb:
    """The ball of a scalar constant: exact for int, float and Fraction, widened by its radius.

    Raises:
        ValueError: for an array (enclose one point at a time).
    """
    if type(value) is float:
        return _exactly(value)
    if isinstance(value, Constant):
        centre = ball(value.value)
        radius = value.radius if type(value.radius) is float else float(np.asarray(value.radius).item())
        return arb(centre.mid(), centre.rad() + radius) if radius else centre
    if isinstance(value, int):
        return arb(int(value))
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    array = np.asarray(value)
    if array.size != 1:
        raise ValueError(f"an array of shape {array.shape} has no single ball: enclose one point at a time")
    item = array.item()
    return arb(item)


def _exactly(value: float) -> arb:
    found = KNOWN.get(value)
    if found is None:
        if len(KNOWN) >= _MOST_KNOWN:
            KNOWN.clear()
        found = KNOWN[value] = arb(value)
    return found


def balls(value: Any) -> list[arb]:
    """The balls of a vector constant, entry by entry; a scalar gives a list of one."""
    if isinstance(value, Constant):
        centres = balls(value.value)
        radius = np.broadcast_to(np.ravel(np.asarray(value.radius, dtype=float)), len(centres))
        return [_widen(c, r) for c, r in zip(centres, radius, strict=True)]
    if isinstance(value, list | tuple):
        return [ball(v) for v in value]
    if isinstance(value, np.ndarray):
        return [ball(v) for v in value.ravel().tolist()]
    return [ball(value)]


def _widen(centre: arb, radius: float) -> arb:
    return arb(centre.mid(), centre.rad() + float(radius)) if radius else centre


def whole(value: Any) -> int | arb:
    """A count: a Python int where the constant is one exactly (its arithmetic is exact and fast)."""
    if type(value) is int:
        return value
    if isinstance(value, Constant):
        return whole(value.value) if value.exact else ball(value)
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else ball(value)
    number = np.asarray(value)
    if number.size == 1 and number.dtype.kind in "iuf" and number.item() == int(number.item()):
        return int(number.item())
    return ball(value)


def sqrt(x: Any) -> arb:
    """Square root of a ball or an int; of a ball around zero, of its part >= 0 (the convention of interval arithmetic).

    A constant known to be nonnegative, such as a distance of 0 with a proven error, straddles zero as a ball.
    """
    x = x if isinstance(x, arb) else arb(x)
    if x.contains(0) and not x.is_zero():
        return arb.union(_ZERO, x.upper().sqrt())
    return x.sqrt()


def cbrt(x: Any) -> arb:
    """Cube root, 0 at an exact zero (where `arb.root` is not a number at most precisions), else as `sqrt`."""
    x = x if isinstance(x, arb) else arb(x)
    if x.is_zero():
        return _ZERO
    if x.contains(0):
        return arb.union(_ZERO, x.upper().root(3))
    return x.root(3)


class Below(arb):
    """All numbers from -inf up to `top`: the logarithm of a ball whose part > 0 reaches down to zero.

    To flint it is the ball of all numbers; what an order needs of it survives: a positive multiple, and the largest of
    it and of others.
    """

    top: arb

    @classmethod
    def of(cls, top: arb) -> Below:
        """The numbers up to top's upper end."""
        made = cls(0, float("inf"))
        made.top = top.upper()
        return made

    def __truediv__(self, other: Any) -> arb:
        return Below.of(self.top / other) if other > 0 else arb(self) / other

    def __mul__(self, other: Any) -> arb:
        return Below.of(self.top * other) if other > 0 else arb(self) * other

    __rmul__ = __mul__


def exp(x: Any) -> arb:
    """Exponential of a ball or an int."""
    return x.exp() if isinstance(x, arb) else arb(x).exp()


def log(x: Any) -> arb:
    """Logarithm, -inf at an exact zero; of a ball that reaches down to zero, of its part >= 0: see `Below`."""
    x = x if isinstance(x, arb) else arb(x)
    if x.is_zero():
        return _NEG_INF
    if x.contains(0) and x.is_finite():
        return Below.of(x.upper().log())
    return x.log()


def divide(x: Any, y: Any) -> arb:
    """x / y with x / 0 = inf for x > 0 and an exact zero y (a condition that divides by it is void)."""
    y = y if isinstance(y, arb) else arb(y)
    x = x if isinstance(x, arb) else arb(x)
    if y.is_zero():
        return _INF if x > 0 else _NEG_INF if x < 0 else arb.nan()
    if abs(y) == _INF and x.is_finite():
        return _ZERO
    return x / y


def maximum(*values: Any) -> arb:
    """The largest of some balls; one whose other end is open (`Below`) can only raise it."""
    if not values:
        raise ValueError("the largest of no numbers: give r_hat < R, so that a round is counted")
    open_ended = [v.top for v in values if isinstance(v, Below)]
    plain = [v if isinstance(v, arb) else arb(v) for v in values if not isinstance(v, Below)]
    if not plain:
        return Below.of(maximum(*open_ended))
    best = plain[0]
    for v in plain[1:]:
        best = best.max(v)
    for top in open_ended:
        best = arb.union(best, best.max(top))
    return best


def minimum(*values: Any) -> arb:
    """The smallest of some balls."""
    best = arb(values[0]) if not isinstance(values[0], arb) else values[0]
    for v in values[1:]:
        best = best.min(v if isinstance(v, arb) else arb(v))
    return best


class ZeroRate(arb):
    """-inf, the logarithm of a rate that is exactly zero: its type says so, where a comparison would cost a product."""


_ZERO_RATE = ZeroRate("-inf")
_last_half_rate: tuple[Any, ...] = (None, None, 0, None)


def half_rate_log(mu: arb, gamma: arb) -> arb:
    """log(1 - mu gamma / 2), remembered for the balls met last (the same float is the same ball)."""
    global _last_half_rate
    last_mu, last_gamma, bits, log = _last_half_rate
    if last_mu is mu and last_gamma is gamma and bits == ctx.prec:
        return log
    x = mu * gamma * _MINUS_HALF
    log = x.log1p()
    if not log.is_finite() and x == -1:
        log = _ZERO_RATE
    _last_half_rate = mu, gamma, ctx.prec, log
    return log


def given_rate_log(rate: arb) -> arb:
    """log of a rate that is given."""
    return _ZERO_RATE if rate.is_zero() else rate.log()


class MaybeZero:
    """The logarithm of a rate that may be zero: all that is known is its upper bound."""

    def __init__(self, upper: arb) -> None:
        self.upper = upper


def square_rate_log(mu: arb, lipschitz: arb, gamma: arb) -> arb | MaybeZero:
    """log sqrt(1 - 2 mu gamma + L^2 gamma^2), -inf where that is an exact zero."""
    loss = gamma * (2 * mu - lipschitz * lipschitz * gamma)
    if loss < _HALF:
        return (-loss).log1p() * _HALF
    first = 1 - mu * gamma
    square = first * first + (lipschitz - mu) * (lipschitz + mu) * gamma * gamma
    if square.is_zero():
        return _ZERO_RATE
    if square > 0:
        return square.log() * _HALF
    return MaybeZero(square.abs_upper().log() * _HALF)


def rate_power(log_rate: arb | MaybeZero, exponent: Any) -> arb:
    """rate^exponent, with 0^0 = 1."""
    if type(log_rate) is arb:
        return (log_rate * exponent).exp()
    if isinstance(log_rate, ZeroRate):
        return _ONE if exponent == 0 else _ZERO
    return _ONE if exponent == 0 else _ZERO.union((log_rate.upper * exponent).exp())


def power_gap(log_rate: arb | MaybeZero, span: Any) -> arb:
    """1 - rate^span."""
    if type(log_rate) is arb:
        return -(log_rate * span).expm1()
    if isinstance(log_rate, ZeroRate):
        return _ZERO if span == 0 else _ONE
    return 1 - rate_power(log_rate, span)


def working(prec: int) -> int:
    """The working precision for a result of `prec` bits."""
    return prec + GUARD


class precision:
    """Context: run flint at `bits`, and set the caller's precision back on the way out."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        self.saved = ctx.prec
        ctx.prec = self.bits

    def __exit__(self, *_: object) -> None:
        ctx.prec = self.saved
