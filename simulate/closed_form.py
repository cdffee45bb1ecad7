"""Closed form of Algorithm 1 for diagonal quadratics with full gradients and fixed weights (N_0 = N*).

Inside a round client i contracts to its centre, x_{i,T_r + t} = c_i + s_i^t (x_hat_r - c_i), s_i = 1 - gamma
a_i, so x_hat_{r+1} = alpha x_hat_r + beta with alpha = sum_i p_i s_i^H, beta = sum_i p_i (1 - s_i^H) c_i,
coordinate by coordinate, and x_hat_r = x_inf + alpha^r (x_0 - x_inf), x_inf = beta/(1 - alpha). Averages are
geometric sums. Every quantity is an enclosure in python-flint's balls from the exact inputs (floats and
Fractions are exact), at any R.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from flint import arb, ctx, fmpq

Number: TypeAlias = int | float | Fraction
Coordinates: TypeAlias = list[arb]


def ball(value: Number) -> arb:
    """The exact ball of a float or an integer, an enclosure of a Fraction."""
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return arb(int(value)) if isinstance(value, int) else arb(float(value))


def power(x: arb, k: int) -> arb:
    """x^k by repeated squaring: sound for balls around zero too, where the library's own `**` gives nan."""
    result = arb(1)
    while k:
        if k & 1:
            result = result * x
        x, k = x * x, k >> 1
    return result


@dataclass(frozen=True)
class QuadraticOrbit:
    """The orbit of IncentFedAvg on f_i(x) = sum_d a_id (x_d - c_id)^2 / 2 with weights p, full gradients.

    Args:
        a, c: curvatures > 0 and centres, [m][n] (or [m] for n = 1), ints, floats or Fractions.
        p: weights, [m]; exact Fractions are best (p_i = N_i / sum N).
        gamma, H, x_0: step size, local steps, start ([n], or a number for n = 1).
        prec: bits of the balls; alpha^R needs about log2(R) bits more than the answer.

    Raises:
        ValueError: for shapes that differ or a curvature, weight or step out of range.
    """

    a: Sequence[Sequence[Number]] | Sequence[Number]
    c: Sequence[Sequence[Number]] | Sequence[Number]
    p: Sequence[Number]
    gamma: Number
    H: int
    x_0: Sequence[Number] | Number
    prec: int = 256
    _a: list[Coordinates] = field(init=False, repr=False)
    _c: list[Coordinates] = field(init=False, repr=False)
    _p: Coordinates = field(init=False, repr=False)
    _x_0: Coordinates = field(init=False, repr=False)

    def __post_init__(self) -> None:
        a, c, x_0 = _table(self.a), _table(self.c), _row(self.x_0)
        widths = {len(row) for row in [*a, *c, x_0]}
        if len(a) != len(c) or len(a) != len(self.p) or len(widths) != 1:
            raise ValueError(
                f"a, c, p, x_0 are for {len(a)}, {len(c)}, {len(self.p)} clients, widths {widths}"
            )
        if any(v <= 0 for row in a for v in row) or any(v < 0 for v in self.p):
            raise ValueError("a curvature is not > 0, or a weight is negative")
        if not self.gamma > 0 or self.H < 1:
            raise ValueError(f"gamma = {self.gamma}, H = {self.H}: a step > 0 and at least one local step")
        with _precision(self.prec):
            object.__setattr__(self, "_a", [[ball(v) for v in row] for row in a])
            object.__setattr__(self, "_c", [[ball(v) for v in row] for row in c])
            object.__setattr__(self, "_p", [ball(v) for v in self.p])
            object.__setattr__(self, "_x_0", [ball(v) for v in x_0])

    @property
    def n(self) -> int:
        """The number of coordinates."""
        return len(self._x_0)

    def _shrink(self, t: int) -> list[Coordinates]:
        """s_i^t per client and coordinate."""
        gamma = ball(self.gamma)
        return [[power(1 - gamma * v, t) for v in row] for row in self._a]

    def _map(self) -> tuple[Coordinates, Coordinates]:
        """(alpha, x_inf) per coordinate."""
        alpha, fixed = [], []
        shrink = self._shrink(self.H)
        for d in range(self.n):
            rows = list(zip(self._p, shrink, self._c, strict=True))
            lost = sum((p * (1 - s[d]) for p, s, _ in rows), arb(0))
            alpha.append(sum((p * s[d] for p, s, _ in rows), arb(0)))
            fixed.append(sum((p * (1 - s[d]) * c[d] for p, s, c in rows), arb(0)) / lost)
        return alpha, fixed

    def x_hat(self, r: int) -> Coordinates:
        """x_hat_r."""
        with _precision(self.prec):
            alpha, fixed = self._map()
            return [z + power(q, r) * (x - z) for q, z, x in zip(alpha, fixed, self._x_0, strict=True)]

    def client(self, k: int) -> list[Coordinates]:
        """x_{i,k} for every client, k = H r + t before step k is made."""
        r, t = divmod(k, self.H)
        x = self.x_hat(r)
        with _precision(self.prec):
            shrink = self._shrink(t)
            return [
                [v + s * (w - v) for v, s, w in zip(c, row, x, strict=True)]
                for c, row in zip(self._c, shrink, strict=True)
            ]

    def x_bar(self, k: int) -> Coordinates:
        """x_bar_k = sum_i p_i x_{i,k} (the weights are fixed, so both editions' averages agree)."""
        clients = self.client(k)
        with _precision(self.prec):
            return [
                sum((p * x[d] for p, x in zip(self._p, clients, strict=True)), arb(0)) for d in range(self.n)
            ]

    def e_bar(self, k: int) -> arb:
        """e_bar_k = sum_i p_i ||x_{i,k} - x_bar_k||^2."""
        clients, centre = self.client(k), self.x_bar(k)
        with _precision(self.prec):
            return sum(
                (
                    p * power(x[d] - centre[d], 2)
                    for p, x in zip(self._p, clients, strict=True)
                    for d in range(self.n)
                ),
                arb(0),
            )

    def average(self, r_hat: int, R: int) -> Coordinates:
        """x_bar^avg = mean of x_bar_k over k = H r_hat .. H R - 1 (Theorem 4.9).

        sum_r x_hat_r = (R - r_hat) x_inf + (x_0 - x_inf)(alpha^r_hat - alpha^R)/(1 - alpha), and inside a
        round sum_t s_i^t = (1 - s_i^H)/(gamma a_i).

        Raises:
            ValueError: unless 0 <= r_hat < R.
        """
        if not 0 <= r_hat < R:
            raise ValueError(f"r_hat = {r_hat}, R = {R}: 0 <= r_hat < R")
        with _precision(self.prec):
            alpha, fixed = self._map()
            shrink, gamma, rounds = self._shrink(self.H), ball(self.gamma), arb(R - r_hat)
            out = []
            for d in range(self.n):
                tail = (power(alpha[d], r_hat) - power(alpha[d], R)) / (1 - alpha[d])
                mean_x_hat = fixed[d] + (self._x_0[d] - fixed[d]) * tail / rounds
                total = arb(0)
                for p, a, c, s in zip(self._p, self._a, self._c, shrink, strict=True):
                    geometric = (1 - s[d]) / (gamma * a[d]) / self.H
                    total += p * (c[d] + geometric * (mean_x_hat - c[d]))
                out.append(total)
            return out

    def x_star(self) -> Coordinates:
        """The minimiser of f = sum_i p_i f_i."""
        with _precision(self.prec):
            out = []
            for d in range(self.n):
                rows = list(zip(self._p, self._a, self._c, strict=True))
                top = sum((p * a[d] * c[d] for p, a, c in rows), arb(0))
                out.append(top / sum((p * a[d] for p, a, _ in rows), arb(0)))
            return out

    def f_gap(self, x: Coordinates) -> arb:
        """f(x) - f* = sum_d (sum_i p_i a_id)(x_d - x*_d)^2 / 2, without cancellation."""
        star = self.x_star()
        with _precision(self.prec):
            total = arb(0)
            for d in range(self.n):
                curvature = sum((p * a[d] for p, a in zip(self._p, self._a, strict=True)), arb(0))
                total += curvature * power(x[d] - star[d], 2) / 2
            return total

    def f_gap_average(self, r_hat: int, R: int) -> arb:
        """f(x_bar^avg) - f*, the left side of Theorem 4.9(i-1)."""
        return self.f_gap(self.average(r_hat, R))

    def grad_f_sq(self, k: int) -> arb:
        """||grad f(x_bar_k)||^2, the left side of Theorem 4.6(i-1) at step k."""
        x, star = self.x_bar(k), self.x_star()
        with _precision(self.prec):
            total = arb(0)
            for d in range(self.n):
                curvature = sum((p * a[d] for p, a in zip(self._p, self._a, strict=True)), arb(0))
                total += power(curvature * (x[d] - star[d]), 2)
            return total


def floats(x: Coordinates) -> np.ndarray:
    """Midpoints as float64, for plots."""
    return np.array([float(v.mid()) for v in x])


class _precision:
    """Sets python-flint's working precision inside a with block."""

    def __init__(self, prec: int) -> None:
        self.prec = prec

    def __enter__(self) -> None:
        self.before = ctx.prec
        ctx.prec = self.prec

    def __exit__(self, *_: object) -> None:
        ctx.prec = self.before


def _row(values: Sequence[Number] | Number) -> list[Number]:
    return [values] if isinstance(values, int | float | Fraction) else list(values)


def _table(values: Sequence[Sequence[Number]] | Sequence[Number]) -> list[list[Number]]:
    return [_row(v) for v in values]
