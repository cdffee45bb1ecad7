"""Welfare losses h (Section 2.2): value, gradient, convexity with a constant or a witness, a cvxpy
expression."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import expit

from bounds.core.constant import Constant, Provenance
from games.base import GameError, Numbers, Points, Vector, checked_vector
from games.rounding import gamma, norm_up, round_up

Values = Float[np.ndarray, "*batch"]


@dataclass(frozen=True, eq=False)
class Convexity:
    """How convex h is over a box.

    Attributes:
        strict: strictly convex (True or False proven, None unknown).
        sigma_h: a proven modulus of strong convexity (0 where there is none).
        witness: (x, y), x != y, in the box, between which h is affine: why it is not strictly convex.
        factor: W [k, m] such that h(x) depends on W x only and is strictly convex in it (None unknown).
    """

    strict: bool | None
    sigma_h: float
    witness: tuple[Vector, Vector] | None
    factor: Float[np.ndarray, "k m"] | None


class Welfare(ABC):
    """A convex welfare loss h."""

    @property
    def smooth(self) -> bool:
        """Whether h has a gradient everywhere in the box."""
        return True

    @abstractmethod
    def value(self, N: Points) -> Values:
        """h(N), batched over the leading axes."""

    @abstractmethod
    def gradient(self, N: Points) -> Points:
        """grad h(N), batched over the leading axes."""

    @abstractmethod
    def hessian(self, N: Vector) -> Float[np.ndarray, "m m"]:
        """The Hessian at one point (used to find points, not to prove them)."""

    @abstractmethod
    def expression(self, x: Any) -> Any:
        """h of a cvxpy expression, up to a positive factor and a constant that keep it well scaled."""

    @abstractmethod
    def convexity(self, lower: Vector, upper: Vector) -> Convexity:
        """Strict and strong convexity over the box."""

    @abstractmethod
    def constants(self, lower: Vector, upper: Vector) -> dict[str, Constant]:
        """C_H = sup ||grad h||, L_h (Lipschitz constant of the gradient), sigma_h, over the box."""


def _constants(C_H: float, L_h: float, sigma_h: float, note: str) -> dict[str, Constant]:
    known = Provenance.CERTIFIED
    return {
        "C_H": Constant("C_H", C_H, known, note=note),
        "L_h": Constant("L_h", L_h, known, note=note),
        "sigma_h": Constant("sigma_h", sigma_h, known, note=note),
    }


class SoftplusWelfare(Welfare):
    """h(N) = log(1 + exp(sum_i N_i)) (Section 5.2), computed without overflow.

    Strictly convex in the sum only: for m >= 2 it is constant along directions that keep the sum, so it is
    not strictly convex as Assumption 2.3(iii) asks.
    """

    def value(self, N: Points) -> Values:
        """log(1 + exp(s)) = max(s, 0) + log(1 + exp(-|s|))."""
        return np.asarray(np.logaddexp(0.0, np.sum(N, axis=-1)))

    def gradient(self, N: Points) -> Points:
        """1/(1 + exp(-s)) in every coordinate."""
        return np.repeat(expit(np.sum(N, axis=-1, keepdims=True)), N.shape[-1], axis=-1)

    def hessian(self, N: Vector) -> Float[np.ndarray, "m m"]:
        """expit(s) expit(-s) 1 1'."""
        s = float(np.sum(N))
        return np.full((N.size, N.size), float(expit(s) * expit(-s)))

    def expression(self, x: Any) -> Any:
        """The sum: h is increasing in it, and the sum does not underflow where h is flat to float64."""
        import cvxpy as cp

        return cp.sum(x)

    def convexity(self, lower: Vector, upper: Vector) -> Convexity:
        """Not strict once two clients can move; for one client sigma_h is the curvature at the far end."""
        m = lower.size
        moving = np.flatnonzero(upper > lower)
        if moving.size >= 2:
            i, j = int(moving[0]), int(moving[1])
            half = float(min(upper[i] - lower[i], upper[j] - lower[j])) / 2.0
            middle = (lower + upper) / 2.0
            x, y = middle.copy(), middle.copy()
            x[i], x[j] = lower[i] + half, lower[j]
            y[i], y[j] = lower[i], lower[j] + half
            return Convexity(False, 0.0, (x, y), np.ones((1, m)))
        far = float(max(abs(np.sum(lower)), abs(np.sum(upper))))
        sigma = float(expit(far) * expit(-far)) * (1.0 - 2.0**-40)
        return Convexity(True, sigma, None, np.ones((1, m)))

    def constants(self, lower: Vector, upper: Vector) -> dict[str, Constant]:
        """C_H = sqrt(m) expit(sum upper), L_h <= m/4."""
        m = lower.size
        C_H = round_up(float(np.sqrt(m)) * float(expit(np.sum(upper))), 8)
        note = "softplus of the sum"
        return _constants(
            min(C_H, round_up(float(np.sqrt(m)), 2)), m / 4.0, self.convexity(lower, upper).sigma_h, note
        )


class QuadraticWelfare(Welfare):
    """h(N) = sum_i weight_i (N_i - target_i)^2 / 2: a social target.

    Args:
        target: [m]; weights: a number or [m], above 0.
    """

    def __init__(self, target: Numbers, weights: Numbers = 1.0) -> None:
        self.target = checked_vector("target", target)
        self.weights = checked_vector("weights", weights, self.target.size)
        if np.any(self.weights <= 0):
            raise GameError(f"weights = {np.min(self.weights)}: give numbers > 0")

    def value(self, N: Points) -> Values:
        """sum weight (N - target)^2 / 2."""
        return np.asarray(np.sum(self.weights * (N - self.target) ** 2, axis=-1) / 2.0)

    def gradient(self, N: Points) -> Points:
        """weight (N - target)."""
        return self.weights * (N - self.target)

    def hessian(self, N: Vector) -> Float[np.ndarray, "m m"]:
        """diag(weight)."""
        return np.diag(self.weights)

    def expression(self, x: Any) -> Any:
        """Scaled by the target's and weights' size."""
        import cvxpy as cp

        size = max(1.0, float(np.max(np.abs(self.target))))
        scale = np.sqrt(self.weights / float(np.max(self.weights)))
        return cp.sum_squares(cp.multiply(scale, (x - self.target) / size))

    def convexity(self, lower: Vector, upper: Vector) -> Convexity:
        """sigma_h is the least weight."""
        return Convexity(True, float(np.min(self.weights)), None, np.eye(lower.size))

    def constants(self, lower: Vector, upper: Vector) -> dict[str, Constant]:
        """C_H at the farthest corner, L_h the largest weight."""
        far = np.maximum(np.abs(lower - self.target), np.abs(upper - self.target))
        C_H = norm_up(round_up(self.weights * far, 3))
        return _constants(
            C_H, float(np.max(self.weights)), float(np.min(self.weights)), "distance to a target"
        )


class EntropyWelfare(Welfare):
    """h(N) = sum_i N_i log N_i, the negative entropy: prefers even participation. Needs lower > 0."""

    def value(self, N: Points) -> Values:
        """sum N log N."""
        return np.asarray(np.sum(N * np.log(N), axis=-1))

    def gradient(self, N: Points) -> Points:
        """1 + log N."""
        return 1.0 + np.log(N)

    def hessian(self, N: Vector) -> Float[np.ndarray, "m m"]:
        """diag(1/N)."""
        return np.diag(1.0 / N)

    def expression(self, x: Any) -> Any:
        """-sum entr(x)."""
        import cvxpy as cp

        return -cp.sum(cp.entr(x))

    def convexity(self, lower: Vector, upper: Vector) -> Convexity:
        """sigma_h = 1 / max upper.

        Raises:
            GameError: a lower bound that is not positive.
        """
        if np.any(lower <= 0):
            raise GameError(f"lower = {np.min(lower)}: negative entropy needs lower > 0")
        sigma = float(np.nextafter(1.0 / np.max(upper), 0.0))
        return Convexity(True, sigma, None, np.eye(lower.size))

    def constants(self, lower: Vector, upper: Vector) -> dict[str, Constant]:
        """C_H at the worst end of each interval, L_h = 1 / min lower."""
        sigma = self.convexity(lower, upper).sigma_h
        far = np.maximum(np.abs(1.0 + np.log(lower)), np.abs(1.0 + np.log(upper)))
        L_h = float(np.nextafter(1.0 / np.min(lower), np.inf))
        return _constants(norm_up(round_up(far + gamma(8) * (far + 1.0), 8)), L_h, sigma, "negative entropy")


class CvxpyWelfare(Welfare):
    """Any convex h that cvxpy can represent.

    Args:
        build: maps a cvxpy expression of shape (m,) to a scalar convex cvxpy expression.
        m: the number of clients.
        sigma_h: a modulus of strong convexity, the user's word (0: none claimed).

    Raises:
        GameError: the expression is not convex by cvxpy's rules, or not scalar.
    """

    def __init__(self, build: Callable[[Any], Any], m: int, sigma_h: float = 0.0) -> None:
        import cvxpy as cp

        self.build, self.sigma_h = build, float(sigma_h)
        self._x = cp.Variable(m)
        self._h = build(self._x)
        if not (self._h.is_scalar() and self._h.is_convex()):
            raise GameError("welfare: the expression is not a scalar that cvxpy recognises as convex")

    @property
    def smooth(self) -> bool:
        """Not known to be."""
        return False

    def value(self, N: Points) -> Values:
        """Evaluated by cvxpy, point by point."""
        flat = N.reshape(-1, N.shape[-1])
        values = np.empty(flat.shape[0])
        for row, point in enumerate(flat):
            self._x.value = point
            values[row] = float(self._h.value)
        return values.reshape(N.shape[:-1])

    def gradient(self, N: Points) -> Points:
        """A subgradient from cvxpy, point by point.

        Raises:
            GameError: h is not differentiable there.
        """
        flat = N.reshape(-1, N.shape[-1])
        rows = np.empty_like(flat)
        for row, point in enumerate(flat):
            self._x.value = point
            slope = self._h.grad[self._x]
            if slope is None:
                raise GameError(f"welfare: no gradient at {point.tolist()}")
            rows[row] = np.asarray(slope.todense() if hasattr(slope, "todense") else slope).ravel()
        return rows.reshape(N.shape)

    def hessian(self, N: Vector) -> Float[np.ndarray, "m m"]:
        """Central differences of the gradient."""
        step = 1e-5 * max(1.0, float(np.max(np.abs(N))))
        shifts = step * np.eye(N.size)
        return (self.gradient(N + shifts) - self.gradient(N - shifts)) / (2.0 * step)

    def expression(self, x: Any) -> Any:
        """The user's expression."""
        return self.build(x)

    def convexity(self, lower: Vector, upper: Vector) -> Convexity:
        """What the user claims; otherwise unknown."""
        strict = True if self.sigma_h > 0 else None
        return Convexity(strict, self.sigma_h, None, np.eye(lower.size) if strict else None)

    def constants(self, lower: Vector, upper: Vector) -> dict[str, Constant]:
        """C_H sampled over the box's corners and middle (`estimated`); sigma_h as given."""
        rng = np.random.default_rng(0)
        corners = np.where(rng.uniform(size=(64, lower.size)) < 0.5, lower, upper)
        C_H = float(np.max(np.linalg.norm(self.gradient(corners), axis=-1)))
        return {
            "C_H": Constant("C_H", C_H, Provenance.ESTIMATED, note="largest gradient at 64 corners"),
            "sigma_h": Constant("sigma_h", self.sigma_h, Provenance.GIVEN),
        }
