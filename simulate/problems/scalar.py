"""Scalar losses phi(z, b) of a prediction z = a^T x, and regularisers, with the bounds that constants rest
on.

Each carries its value and slope for arrays and for balls; `slope_max` and `curvature_max` bound |phi'| and
|phi''|.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from flint import arb
from jaxtyping import Float
from scipy.special import expit

INFINITY = float("inf")


class ScalarLoss(ABC):
    """phi(z, b), a loss of a prediction z and a target b."""

    slope_max: float
    curvature_max: float
    value_max: float  # sup phi
    kind: int  # the number by which the compiled engine knows it

    @abstractmethod
    def value(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        """phi(z, b), elementwise."""

    @abstractmethod
    def slope(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        """d phi / d z, elementwise."""

    @abstractmethod
    def curvature(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        """d^2 phi / d z^2, elementwise."""

    @abstractmethod
    def enclose(self, z: arb, b: float) -> tuple[arb, arb]:
        """Balls around phi and its slope."""

    def check_targets(self, b: np.ndarray) -> None:
        """Raises ValueError for targets the loss is not meant for."""
        if not np.all(np.isfinite(b)):
            raise ValueError("a target is not finite")


class Squared(ScalarLoss):
    """phi = (z - b)^2 / 2: convex, curvature 1, slope unbounded."""

    slope_max, curvature_max, value_max, kind = INFINITY, 1.0, INFINITY, 0

    def value(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        return 0.5 * (z - b) ** 2

    def slope(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        return z - b

    def curvature(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.ones_like(z)

    def enclose(self, z: arb, b: float) -> tuple[arb, arb]:
        u = z - arb(b)
        return u * u / 2, u


class Logistic(ScalarLoss):
    """phi = log(1 + exp(-b z)), b = +-1: convex, |phi'| < 1, 0 < phi'' <= 1/4."""

    slope_max, curvature_max, value_max, kind = 1.0, 0.25, INFINITY, 1

    def value(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -b * z)

    def slope(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        return -b * expit(-b * z)

    def curvature(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        s = expit(z)
        return s * (1.0 - s)

    def enclose(self, z: arb, b: float) -> tuple[arb, arb]:
        u = arb(b) * z
        if u > 0:
            e = (-u).exp()
            return (1 + e).log(), -arb(b) * e / (1 + e)
        e = u.exp()
        return (1 + e).log() - u, -arb(b) / (1 + e)

    def check_targets(self, b: np.ndarray) -> None:
        if not np.all(np.abs(b) == 1):
            raise ValueError("targets of logistic regression are +1 or -1")


class Welsch(ScalarLoss):
    """phi = 1 - exp(-(z - b)^2/2): in [0, 1), |phi'| <= exp(-1/2), -2 exp(-3/2) <= phi'' <= 1, not convex."""

    slope_max, curvature_max, value_max, kind = float(np.exp(-0.5)) * (1 + 1e-15), 1.0, 1.0, 2

    def value(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        return -np.expm1(-0.5 * (z - b) ** 2)

    def slope(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        u = z - b
        return u * np.exp(-0.5 * u * u)

    def curvature(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        u = z - b
        return (1.0 - u * u) * np.exp(-0.5 * u * u)

    def enclose(self, z: arb, b: float) -> tuple[arb, arb]:
        u = z - arb(b)
        e = (-u * u / 2).exp()
        return 1 - e, u * e


class Regulariser(ABC):
    """weight * sum_d rho(x_d).

    Args:
        weight: >= 0.

    Raises:
        ValueError: for a negative or non-finite weight.
    """

    slope_max: float  # sup |rho'|
    curvature_max: float  # sup |rho''|
    strong: float  # inf rho''
    value_max: float  # sup rho
    kind: int

    def __init__(self, weight: float) -> None:
        if not (np.isfinite(weight) and weight >= 0):
            raise ValueError(f"regulariser = {weight}: give a number >= 0")
        self.weight = float(weight)

    @abstractmethod
    def value(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch"]:
        """weight * sum_d rho(x_d)."""

    @abstractmethod
    def gradient(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch n"]:
        """weight * rho'(x_d)."""

    @abstractmethod
    def enclose(self, x: Sequence[arb]) -> tuple[arb, list[arb]]:
        """Balls around the value and the gradient."""


class Ridge(Regulariser):
    """rho = x^2/2 (L2)."""

    slope_max, curvature_max, strong, value_max, kind = INFINITY, 1.0, 1.0, INFINITY, 0

    def value(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch"]:
        return 0.5 * self.weight * (x * x).sum(axis=-1)

    def gradient(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch n"]:
        return self.weight * x

    def enclose(self, x: Sequence[arb]) -> tuple[arb, list[arb]]:
        weight = arb(self.weight)
        return weight / 2 * sum((v * v for v in x), arb(0)), [weight * v for v in x]


class Saturating(Regulariser):
    """rho = x^2/(1 + x^2): in [0, 1), |rho'| <= 3 sqrt(3)/8 (at 1/sqrt 3), -1/2 <= rho'' <= 2, not convex."""

    slope_max, curvature_max, strong, value_max, kind = (
        0.375 * float(np.sqrt(3)) * (1 + 1e-15),
        2.0,
        -0.5,
        1.0,
        1,
    )

    def value(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch"]:
        return self.weight * (x * x / (1.0 + x * x)).sum(axis=-1)

    def gradient(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch n"]:
        s = 1.0 + x * x
        return (2.0 * self.weight) * x / (s * s)

    def enclose(self, x: Sequence[arb]) -> tuple[arb, list[arb]]:
        weight, total, slopes = arb(self.weight), arb(0), []
        for v in x:
            s = 1 + v * v
            total += v * v / s
            slopes.append(2 * weight * v / (s * s))
        return weight * total, slopes
