"""Scalar functions phi_k of one variable, vectorised, each with an enclosure in arb and the range of its
slope."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import flint
import numpy as np
from jaxtyping import Float

from games.base import Points, Vector

# Relative error allowed to phi and phi' in numpy: a few units for a function and each product around it, and
# up to 600 more for exp(rate t), whose argument rounds (|rate t| <= 600).
ROUNDINGS = 1024
ELEMENTARY = ROUNDINGS * 2.0**-53

Arguments = Float[np.ndarray, "*batch k"]


@runtime_checkable
class Scalars(Protocol):
    """k functions of one variable each: phi_k(t_k)."""

    def value(self, t: Arguments) -> Arguments:
        """phi_k(t_k) in float64."""

    def slope(self, t: Arguments) -> Arguments:
        """phi_k'(t_k) in float64."""

    def enclose(self, t: list[flint.arb]) -> list[flint.arb]:
        """phi_k over points or narrow balls t_k."""

    def enclose_slope(self, t: list[flint.arb]) -> list[flint.arb]:
        """phi_k' over points or narrow balls t_k."""

    def domain(self) -> tuple[float, float]:
        """The arguments for which phi is defined lie between these."""

    def turning_points(self) -> list[list[float]]:
        """For each k the arguments where phi_k' is not monotone (its extremes are there or at the ends)."""


class Exponentials:
    """phi_k(t) = scale_k rate_k exp(rate_k t): the marginal of the cost scale_k (exp(rate_k t) - 1)."""

    def __init__(self, scale: Vector, rate: Vector) -> None:
        self.scale, self.rate = scale, rate

    def value(self, t: Points) -> Points:
        """scale rate exp(rate t)."""
        return self.scale * self.rate * np.exp(self.rate * t)

    def slope(self, t: Points) -> Points:
        """scale rate^2 exp(rate t)."""
        return self.rate * self.value(t)

    def enclose(self, t: list[flint.arb]) -> list[flint.arb]:
        """The value in arb."""
        return [
            flint.arb(s) * flint.arb(r) * (flint.arb(r) * x).exp()
            for s, r, x in zip(self.scale.tolist(), self.rate.tolist(), t, strict=True)
        ]

    def enclose_slope(self, t: list[flint.arb]) -> list[flint.arb]:
        """The slope in arb."""
        return [flint.arb(r) * v for r, v in zip(self.rate.tolist(), self.enclose(t), strict=True)]

    def domain(self) -> tuple[float, float]:
        """Everywhere."""
        return -np.inf, np.inf

    def turning_points(self) -> list[list[float]]:
        """None: the slope increases or decreases throughout."""
        return [[] for _ in self.rate.tolist()]


class Powers:
    """phi_k(t) = coefficient_k t^(exponent_k), for t > 0."""

    def __init__(self, coefficient: Vector, exponent: Vector) -> None:
        self.coefficient, self.exponent = coefficient, exponent

    def value(self, t: Points) -> Points:
        """coefficient t^exponent."""
        return self.coefficient * t**self.exponent

    def slope(self, t: Points) -> Points:
        """coefficient exponent t^(exponent - 1)."""
        return self.coefficient * self.exponent * t ** (self.exponent - 1.0)

    def enclose(self, t: list[flint.arb]) -> list[flint.arb]:
        """The value in arb."""
        return [
            flint.arb(c) * x ** flint.arb(e)
            for c, e, x in zip(self.coefficient.tolist(), self.exponent.tolist(), t, strict=True)
        ]

    def enclose_slope(self, t: list[flint.arb]) -> list[flint.arb]:
        """The slope in arb."""
        return [
            flint.arb(c) * flint.arb(e) * x ** (flint.arb(e) - 1)
            for c, e, x in zip(self.coefficient.tolist(), self.exponent.tolist(), t, strict=True)
        ]

    def domain(self) -> tuple[float, float]:
        """t > 0."""
        return 2.0**-1000, np.inf

    def turning_points(self) -> list[list[float]]:
        """None for t > 0."""
        return [[] for _ in self.exponent.tolist()]


class Cubes:
    """phi_k(t) = coefficient_k (t - centre_k)^3."""

    def __init__(self, coefficient: Vector, centre: Vector) -> None:
        self.coefficient, self.centre = coefficient, centre

    def value(self, t: Points) -> Points:
        """coefficient (t - centre)^3."""
        return self.coefficient * (t - self.centre) ** 3

    def slope(self, t: Points) -> Points:
        """3 coefficient (t - centre)^2."""
        return 3.0 * self.coefficient * (t - self.centre) ** 2

    def enclose(self, t: list[flint.arb]) -> list[flint.arb]:
        """The value in arb."""
        return [
            flint.arb(c) * (x - flint.arb(s)) ** 3
            for c, s, x in zip(self.coefficient.tolist(), self.centre.tolist(), t, strict=True)
        ]

    def enclose_slope(self, t: list[flint.arb]) -> list[flint.arb]:
        """The slope in arb."""
        return [
            3 * flint.arb(c) * (x - flint.arb(s)) ** 2
            for c, s, x in zip(self.coefficient.tolist(), self.centre.tolist(), t, strict=True)
        ]

    def domain(self) -> tuple[float, float]:
        """Everywhere."""
        return -np.inf, np.inf

    def turning_points(self) -> list[list[float]]:
        """The centre, where the slope vanishes."""
        return [[s] for s in self.centre.tolist()]


class Reciprocals:
    """phi_k(t) = -coefficient_k / (1 + t): minus the marginal of the concave payoff coefficient_k log(1 +
    t)."""

    def __init__(self, coefficient: Vector) -> None:
        self.coefficient = coefficient

    def value(self, t: Points) -> Points:
        """-coefficient / (1 + t)."""
        return -self.coefficient / (1.0 + t)

    def slope(self, t: Points) -> Points:
        """coefficient / (1 + t)^2."""
        return self.coefficient / (1.0 + t) ** 2

    def enclose(self, t: list[flint.arb]) -> list[flint.arb]:
        """The value in arb."""
        return [-flint.arb(c) / (1 + x) for c, x in zip(self.coefficient.tolist(), t, strict=True)]

    def enclose_slope(self, t: list[flint.arb]) -> list[flint.arb]:
        """The slope in arb."""
        return [flint.arb(c) / (1 + x) ** 2 for c, x in zip(self.coefficient.tolist(), t, strict=True)]

    def domain(self) -> tuple[float, float]:
        """t > -1."""
        return 2.0**-53 - 1.0, np.inf

    def turning_points(self) -> list[list[float]]:
        """None for t > -1."""
        return [[] for _ in self.coefficient.tolist()]


def slope_range(scalars: Scalars, low: Arguments, high: Arguments) -> tuple[Arguments, Arguments]:
    """Proven bounds on phi_k' over [low_k, high_k], batched: from the ends and the turning points."""
    return _range(scalars.slope, scalars.turning_points(), low, high)


def value_range(scalars: Scalars, low: Arguments, high: Arguments) -> tuple[Arguments, Arguments]:
    """Proven bounds on phi_k over [low_k, high_k], batched; every phi_k here is monotone."""
    return _range(scalars.value, scalars.turning_points(), low, high)


def _range(
    function: Callable[[Arguments], Arguments], turns: list[list[float]], low: Arguments, high: Arguments
) -> tuple[Arguments, Arguments]:
    """The extremes of functions that are monotone between their turning points, with room for `ELEMENTARY`.

    A value that is exactly 0 (a slope at its turning point, a coefficient 0) is taken as it is.
    """
    ends = [function(low), function(high)]
    for depth in range(max((len(t) for t in turns), default=0)):
        inner = np.array([t[depth] if len(t) > depth else -np.inf for t in turns])
        ends.append(function(np.clip(inner, low, high)))
    smallest, largest = np.minimum.reduce(ends), np.maximum.reduce(ends)
    return smallest - ELEMENTARY * np.abs(smallest), largest + ELEMENTARY * np.abs(largest)
