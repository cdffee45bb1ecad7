"""The constants of the losses, attacked inside a ball: L, nu, G for a given B; f_gap and S by descent.

Each attack returns a value that the problem attains (up to rounding) and where: the constant is no smaller. How:

- L: the quotient ||grad f_i(x + e v) - grad f_i(x - e v)||/(2 e) is at most L for every x and unit v. Power iteration
  finds v; x then climbs along the second difference of the gradient, grad f_i(x + e v) - 2 grad f_i(x) +
  grad f_i(x - e v), which is e^2 times the slope of v' Hess f_i(x) v.
- nu^2: the variance of client i's stochastic gradient at x, climbed by differences.
- G^2 for a given B: mean_i ||grad f_i||^2 - B^2 ||grad f||^2, climbed along its gradient
  2 mean_i Hess f_i grad f_i - 2 B^2 Hess f grad f, by Hessian-vector products from differences of gradients.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from verify.estimating.ascent import Found, ascend, best_of, slope_by_differences
from verify.estimating.clients import Ball, Client, Point

POWER, SETTLED = 40, 1e-7  # power iterations at a point, at most, and the relative gain below which they end
OFFSET = 1e-4  # of the radius: half the distance of a pair of points


def smoothness(
    clients: Sequence[Client], ball: Ball, rng: np.random.Generator, starts: int, steps: int
) -> Found:
    """The largest difference quotient found of any grad f_i; its point is x stacked on v, [2, n] flattened."""
    return best_of(
        [_smoothness_of(c, ball, rng, start, steps) for c in clients for start in _starts(ball, rng, starts)]
    )


def _smoothness_of(client: Client, ball: Ball, rng: np.random.Generator, start: Point, steps: int) -> Found:
    offset = OFFSET * ball.radius
    inner = Ball(ball.centre, ball.radius - offset)
    x = inner.project(start)
    v = _leading_direction(client, x, rng.standard_normal(x.size), offset)
    best = _quotient(client, x, v, offset)
    for _ in range(steps):
        held = v

        def score(y: Point, held: Point = held) -> float:
            return _quotient(client, y, held, offset)

        def climb(y: Point, held: Point = held) -> Point:
            ahead, back = client.gradient(y + offset * held), client.gradient(y - offset * held)
            sign = float(np.sign((ahead - back) @ held)) or 1.0
            return sign * (ahead - 2.0 * client.gradient(y) + back)

        moved = ascend(score, climb, x, inner, 3)
        v = _leading_direction(client, moved.point, v, offset)
        value = _quotient(client, moved.point, v, offset)
        if value <= best * (1.0 + 1e-9):
            break
        x, best = moved.point, value
    return Found(best, np.concatenate([x, v]))


def _leading_direction(client: Client, x: Point, v: Point, offset: float) -> Point:
    """Power iteration on the Hessian at x; the direction with the largest quotient met."""
    v = v / np.linalg.norm(v)
    best, kept = -1.0, v
    for _ in range(POWER):
        image = client.gradient(x + offset * v) - client.gradient(x - offset * v)
        size = float(np.linalg.norm(image))
        settled = size <= best * (1.0 + SETTLED)
        if size > best:
            best, kept = size, v
        if size == 0.0 or settled:
            break
        v = image / size
    return kept


def _quotient(client: Client, x: Point, v: Point, offset: float) -> float:
    """||grad f_i(x + offset v) - grad f_i(x - offset v)|| over the distance of the points as they are stored."""
    ahead, back = x + offset * v, x - offset * v
    change = float(np.linalg.norm(client.gradient(ahead) - client.gradient(back)))
    return change / float(np.linalg.norm(ahead - back))


def noise(
    clients: Sequence[Client], ball: Ball, rng: np.random.Generator, starts: int, steps: int, draws: int
) -> Found | None:
    """The largest standard deviation found of a stochastic gradient; None where no client has any.

    Where draws are all there is, the ascent keeps its random numbers, and the value is estimated afresh at its end.
    """
    found = []
    for client in clients:
        if client.samples is None and client.sampler is None:
            continue
        kept = int(rng.integers(2**32))

        def score(x: Point, client: Client = client, kept: int = kept) -> float:
            return _variance(client, x, np.random.default_rng(kept), draws)

        for start in _starts(ball, rng, starts):
            end = ascend(score, slope_by_differences(score, ball, rng), start, ball, steps)
            value = _variance(client, end.point, rng, 4 * draws)
            found.append(Found(float(np.sqrt(value)), end.point))
    return best_of(found) if found else None


def _variance(client: Client, x: Point, rng: np.random.Generator, draws: int) -> float:
    """E||g - grad f_i(x)||^2: over all samples, or over draws."""
    if client.samples is not None:
        rows = client.samples(x)
    else:
        assert client.sampler is not None
        rows = client.sampler(x, rng, draws)
    return float(np.mean(np.sum((rows - client.gradient(x)) ** 2, axis=1)))


def dissimilarity(
    clients: Sequence[Client],
    p: Float[np.ndarray, " m"],
    B: float,
    ball: Ball,
    rng: np.random.Generator,
    starts: int,
    steps: int,
) -> Found:
    """The largest G found with mean_i ||grad f_i||^2 = G^2 + B^2 ||grad f||^2 somewhere (0 if the right side wins)."""

    def score(x: Point) -> float:
        g = _gradients(clients, x)
        return float(np.mean(np.sum(g * g, axis=1)) - B**2 * np.sum((p @ g) ** 2))

    def climb(x: Point) -> Point:
        g = _gradients(clients, x)
        along = p @ g
        own = np.mean([_hessian_times(c, x, v, ball) for c, v in zip(clients, g, strict=True)], axis=0)
        common = sum(w * _hessian_times(c, x, along, ball) for w, c in zip(p, clients, strict=True))
        return np.asarray(2.0 * own - 2.0 * B**2 * common)

    found = best_of([ascend(score, climb, start, ball, steps) for start in _starts(ball, rng, starts)])
    return Found(float(np.sqrt(max(found.value, 0.0))), found.point)


def _gradients(clients: Sequence[Client], x: Point) -> Float[np.ndarray, "m n"]:
    return np.stack([c.gradient(x) for c in clients])


def _hessian_times(client: Client, x: Point, v: Point, ball: Ball) -> Point:
    size = float(np.linalg.norm(v))
    if size == 0.0:
        return v
    step = OFFSET * ball.radius / size
    return (client.gradient(x + step * v) - client.gradient(x - step * v)) / (2.0 * step)


def minimum(
    clients: Sequence[Client], p: Float[np.ndarray, " m"], x_0: Point, iterations: int
) -> tuple[Found, Float[np.ndarray, "m n"]]:
    """(the least f found and where, by L-BFGS from x_0, over all x; the clients' gradients there)."""

    def f(x: Point) -> tuple[float, Point]:
        value = sum(w * c.loss(x) for w, c in zip(p, clients, strict=True))
        return float(value), p @ _gradients(clients, x)

    options = {"maxiter": iterations, "ftol": 0.0, "gtol": 1e-12}
    end = minimize(f, x_0, jac=True, method="L-BFGS-B", options=options)
    return Found(float(end.fun), np.asarray(end.x)), _gradients(clients, end.x)


def _starts(ball: Ball, rng: np.random.Generator, count: int) -> list[Point]:
    """The centre, and random points."""
    return [ball.centre, *(ball.draw(rng) for _ in range(count - 1))]
