"""Ascent inside a ball: steps that only ever improve, with a direction that is given or found by differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verify.estimating.clients import Ball, Point

Score = Callable[[Point], float]
FEW = 24  # up to so many coordinates the slope is taken in every one
DIRECTIONS = 12  # otherwise along so many random directions
SMALLEST = 1e-7  # relative to the radius: shorter steps end an ascent


@dataclass(frozen=True)
class Found:
    """The best value of a score, and where."""

    value: float
    point: Point


def ascend(score: Score, direction: Callable[[Point], Point], start: Point, ball: Ball, steps: int) -> Found:
    """Follows `direction` from `start` as long as the score grows; the step doubles or halves as it may."""
    x = ball.project(start)
    best, reach = score(x), 0.25 * ball.radius
    for _ in range(steps):
        ahead = direction(x)
        size = float(np.linalg.norm(ahead))
        if not (np.isfinite(size) and size > 0):
            break
        moved, value = _line_search(score, x, best, ahead / size, reach, ball)
        if moved is None:
            break
        reach = min(2.0 * float(np.linalg.norm(moved - x)), 2.0 * ball.radius)
        x, best = moved, value
    return Found(best, x)


def _line_search(
    score: Score, x: Point, best: float, unit: Point, reach: float, ball: Ball
) -> tuple[Point | None, float]:
    while reach > SMALLEST * ball.radius:
        trial = ball.project(x + reach * unit)
        value = score(trial)
        if value > best:
            return trial, value
        reach /= 4.0
    return None, best


def slope_by_differences(score: Score, ball: Ball, rng: np.random.Generator) -> Callable[[Point], Point]:
    """The gradient of a score: in every coordinate where these are few, else along random directions."""
    n, step = ball.centre.size, 1e-4 * ball.radius

    def slope(x: Point) -> Point:
        units = np.eye(n) if n <= FEW else rng.standard_normal((DIRECTIONS, n))
        units = units / np.linalg.norm(units, axis=1, keepdims=True)
        rises = [score(ball.project(x + step * u)) - score(ball.project(x - step * u)) for u in units]
        return np.asarray(rises) @ units / (2.0 * step)

    return slope


def best_of(found: list[Found]) -> Found:
    """The greatest.

    Raises:
        ValueError: for an empty list.
    """
    return max(found, key=lambda f: f.value)
