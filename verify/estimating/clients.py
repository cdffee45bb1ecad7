"""What is known of a learning problem whose constants are to be estimated: callables, one set a client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from simulate.problems.base import Problem
from verify.errors import InputError

Point = Float[np.ndarray, " n"]


@dataclass(frozen=True)
class Client:
    """Client i's loss f_i, its gradient, and its stochastic gradients.

    Args:
        loss: x [n] to f_i(x).
        gradient: x [n] to grad f_i(x) [n].
        sampler: (x, rng, count) to `count` draws of the stochastic gradient, [count, n]; for nu. It must use no other
            source of randomness than `rng`.
        samples: x to the gradients of all samples, [D_i, n], each drawn with the same probability: then nu is the exact
            variance at each x, and `sampler` is not used.
    """

    loss: Callable[[Point], float]
    gradient: Callable[[Point], Point]
    sampler: Callable[[Point, np.random.Generator, int], Float[np.ndarray, "count n"]] | None = None
    samples: Callable[[Point], Float[np.ndarray, "D n"]] | None = None


@dataclass(frozen=True)
class Ball:
    """||x - centre|| <= radius: the region the estimates speak of."""

    centre: Point
    radius: float

    def project(self, x: Point) -> Point:
        """The nearest point of the ball."""
        away = x - self.centre
        distance = float(np.linalg.norm(away))
        return x if distance <= self.radius else self.centre + away * (self.radius / distance)

    def draw(self, rng: np.random.Generator) -> Point:
        """A uniform direction and a uniform distance: small scales are tried as often as large ones."""
        direction = rng.standard_normal(self.centre.size)
        return self.centre + direction * (self.radius * rng.uniform() / float(np.linalg.norm(direction)))


def clients_of(problem: Problem) -> tuple[Client, ...]:
    """A built-in problem as callables."""
    return tuple(_client(problem, i) for i in range(problem.m))


def _client(problem: Problem, i: int) -> Client:
    size = int(problem.sizes[i])
    index = np.zeros((size, problem.m, 1), dtype=np.int64)
    index[:, i, 0] = np.arange(size)

    def samples(x: Point) -> Float[np.ndarray, "D n"]:
        points = np.broadcast_to(x, (size, problem.m, problem.n))
        return np.asarray(problem.sample_gradients(points, index)[:, i], dtype=float)

    return Client(
        loss=lambda x: float(problem.losses(x)[i]),
        gradient=lambda x: np.asarray(problem.gradients(x)[i], dtype=float),
        samples=samples,
    )


def checked(
    clients: Sequence[Client],
    x_0: Sequence[float] | np.ndarray,
    radius: float,
    weights: Sequence[float] | None,
) -> tuple[Ball, Float[np.ndarray, " m"]]:
    """The ball and the clients' weights p*_i (equal ones where none are given).

    Raises:
        InputError: no client, an x_0 that is not a finite vector, a radius <= 0, weights that are no probabilities, or
            a loss or gradient that is not finite or has another shape at x_0.
    """
    start = np.asarray(x_0, dtype=float)
    if len(clients) == 0:
        raise InputError("clients is empty: give at least one Client")
    if start.ndim != 1 or start.size == 0 or not np.all(np.isfinite(start)):
        raise InputError(f"x_0 has shape {start.shape}: give a vector of finite numbers")
    if not (np.isfinite(radius) and radius > 0):
        raise InputError(f"radius = {radius}: give a finite number > 0")
    p = np.full(len(clients), 1.0 / len(clients)) if weights is None else np.asarray(weights, dtype=float)
    if p.shape != (len(clients),) or not np.all(p >= 0) or abs(float(p.sum()) - 1.0) > 1e-9:
        raise InputError(f"weights = {p.tolist()}: give {len(clients)} numbers >= 0 that sum to one")
    for i, client in enumerate(clients):
        value, slope = client.loss(start), np.asarray(client.gradient(start))
        if not np.isfinite(value) or slope.shape != start.shape or not np.all(np.isfinite(slope)):
            raise InputError(
                f"client {i}: at x_0 the loss is {value} and the gradient has shape {slope.shape}: give a finite loss "
                f"and a finite gradient of shape {start.shape}"
            )
    return Ball(start, float(radius)), p
