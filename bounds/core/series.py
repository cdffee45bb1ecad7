"""Partial sums of r^-s up to 10^12 terms and beyond, in floats and in balls; sums over given sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, ctx

from bounds.core.enclosure import whole
from bounds.core.errors import DomainError

_DIRECT = 16
# B_2k / (2k)! for k = 1..8
_EULER_MACLAURIN = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
)


def power_sum(exponent: Any, terms: Any) -> Any:
    """sum_{j=1}^{terms} j^-exponent in floats, vectorised.

    The first 16 terms are added, the rest is Euler-Maclaurin with eight corrections at 16, whose remainder
    is below 1e-20 of the sum for exponents up to 10. The integral goes through expm1 for an exponent near
    one and through powers of its end points otherwise: within 6 units in the last place.
    """
    s, count = np.broadcast_arrays(np.asarray(exponent, dtype=float), np.asarray(terms, dtype=float))
    j = np.arange(_DIRECT, 0, -1.0)
    total = np.where(j <= count[..., None], j ** -s[..., None], 0.0).sum(axis=-1)
    end = np.maximum(count, _DIRECT)
    span = np.log(end / _DIRECT)
    y = (1.0 - s) * span
    growth = np.where(y == 0.0, 1.0, np.expm1(np.minimum(y, 1.0)) / np.where(y == 0.0, 1.0, y))
    near = _DIRECT * _DIRECT**-s * span * growth
    far = (end * end**-s - _DIRECT * _DIRECT**-s) / np.where(s == 1.0, 1.0, 1.0 - s)
    tail = np.where(np.abs(y) > 1.0, far, near) + 0.5 * (end**-s - _DIRECT**-s)
    rising = s
    for k, weight in enumerate(_EULER_MACLAURIN, start=1):
        power = s + (2 * k - 1)
        tail = tail - weight * rising * (end**-power - _DIRECT**-power)
        rising = rising * (s + (2 * k - 1)) * (s + 2 * k)
    return total + tail


def power_sum_ball(exponent: arb, terms: Any) -> arb:
    """sum_{j=1}^{terms} j^-exponent enclosed: Hurwitz zeta, digamma at exponent one."""
    count = arb(terms)
    if exponent == 1:
        return (count + 1).digamma() + arb.const_euler()
    if exponent == 0:
        return count
    saved = ctx.prec
    # zeta(s) - zeta(s, R + 1) cancels what the pole at one and the tail have in common.
    near = abs(exponent - 1)
    lost = int(-np.log2(max(float(near.mid()), 1e-300))) if near < 1 else 0
    ctx.prec = saved + 64 + max(lost, 0)
    try:
        total = exponent.zeta() - exponent.zeta(count + 1)
    finally:
        ctx.prec = saved
    return total


def prefix(name: str, sequence: Any, terms: Any) -> Any:
    """sum of the first `terms` entries along the last axis (compensated by extended precision).

    Raises:
        DomainError: when the sequence is shorter.
    """
    values = np.asarray(sequence)
    count = np.asarray(terms if terms is not None else values.shape[-1])
    _long_enough(name, values.shape[-1], float(count.max()))
    running = np.cumsum(values.astype(np.longdouble), axis=-1)
    if count.ndim == 0:
        return running[..., int(count) - 1].astype(float)[()]
    shape = np.broadcast_shapes(running.shape[:-1], count.shape)
    index = np.broadcast_to(count.astype(int) - 1, shape)[..., None]
    table = np.broadcast_to(running, (*shape, running.shape[-1]))
    return np.take_along_axis(table, index, axis=-1)[..., 0].astype(float)


def prefix_ball(name: str, sequence: list[arb], terms: Any) -> arb:
    """The same sum enclosed."""
    count = len(sequence) if terms is None else whole(terms)
    if not isinstance(count, int):
        raise DomainError(f"R = {count}: give an integer to add up {name}")
    _long_enough(name, len(sequence), count)
    total = arb(0)
    for v in sequence[:count]:
        total = total + v
    return total


def _long_enough(name: str, length: int, count: int | float) -> None:
    if count > length:
        raise DomainError(f"R = {count:g} but {name} has {length} entries: give R <= {length}")
