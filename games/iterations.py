"""First-order and Newton iterations for VI(box, F): candidates, whose residual the caller recomputes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from games.base import Game, Matrix, Points, Vector
from games.engines import Engine, pivot
from games.lemke import lemke
from games.pivoting import block_pivoting, guess_state

Map: TypeAlias = Callable[[Points], Points]
DENSE_LEMKE = 300
PHI = 1.5  # below the golden ratio, so that the steps may grow


@dataclass(frozen=True, eq=False)
class Iterate:
    """The last point, and how many iterations it took."""

    N: Vector
    iterations: int


def extragradient(
    F: Map, lower: Vector, upper: Vector, start: Vector, tol: float, max_iterations: int = 20000
) -> Iterate:
    """Khobotov's extragradient with a backtracked step: converges for monotone Lipschitz F.

    The step falls until step ||F(y) - F(N)|| <= 0.9 ||y - N||, and may grow again. Stops when the natural
    residual is at most `tol` in norm.
    """
    N, step = start, 1.0
    for iteration in range(1, max_iterations + 1):
        value = F(N)
        if np.linalg.norm(N - np.clip(N - value, lower, upper)) <= tol:
            return Iterate(N, iteration)
        while True:
            y = np.clip(N - step * value, lower, upper)
            ahead = F(y)
            moved = float(np.linalg.norm(y - N))
            if step * float(np.linalg.norm(ahead - value)) <= 0.9 * moved or moved == 0.0:
                break
            step *= 0.6
        N = np.clip(N - step * ahead, lower, upper)
        step *= 1.2
    return Iterate(N, max_iterations)


def golden_ratio(
    F: Map, lower: Vector, upper: Vector, start: Vector, tol: float, max_iterations: int = 100000
) -> Iterate:
    """Malitsky's adaptive golden ratio algorithm: one F a step, no Lipschitz constant, no line search."""
    before, N = start, np.clip(start - 1e-4 * F(start), lower, upper)
    value_before, value = F(before), F(N)
    anchor, step, theta = N, 1e-2, 1.0
    rho = 1.0 / PHI + 1.0 / PHI**2
    for iteration in range(1, max_iterations + 1):
        change = float(np.sum((value - value_before) ** 2))
        moved = float(np.sum((N - before) ** 2))
        local = np.inf if change == 0.0 else moved / change
        new_step = min(rho * step, PHI * theta / (4.0 * step) * local, 1e6)
        if not np.isfinite(new_step) or new_step <= 0.0:
            new_step = step
        theta, step = PHI * new_step / step, new_step
        anchor = ((PHI - 1.0) * N + anchor) / PHI
        before, value_before = N, value
        N = np.clip(anchor - step * value, lower, upper)
        value = F(N)
        if np.linalg.norm(N - np.clip(N - value, lower, upper)) <= tol:
            return Iterate(N, iteration)
    return Iterate(N, max_iterations)


def semismooth_newton(game: Game, start: Vector, tol: float, max_iterations: int = 80) -> Iterate:
    """Newton on the natural map N - clip(N - F(N)/sigma) with an active-set derivative and backtracking.

    sigma is the Jacobian's size at N, so that a steep F does not throw every client onto a bound. Clients
    whose N - F/sigma leaves the box step onto their bound, the others solve the free block. Where the step
    does not reduce the natural residual, extragradient steps are taken instead.
    """
    lower, upper = game.lower, game.upper
    N = game.project(start)
    for iteration in range(1, max_iterations + 1):
        value, J = game.F(N), game.jacobian(N)
        if np.linalg.norm(N - np.clip(N - value, lower, upper)) <= tol:
            return Iterate(N, iteration)
        sigma = max(float(np.max(np.sum(np.abs(J), axis=1))), 1e-12)
        merit = partial(_scaled_residual, game, sigma)
        size = merit(N)
        better = _newton_point(game, N, value, J, sigma)
        for damping in (1.0, 0.5, 0.25, 0.1, 0.02):
            trial = game.project(N + damping * (better - N))
            if merit(trial) < (1 - 0.1 * damping) * size:
                break
        else:
            trial = extragradient(game.F, lower, upper, N, 0.25 * sigma * size, 200).N
        N = trial
    return Iterate(N, max_iterations)


def _scaled_residual(game: Game, sigma: float, N: Vector) -> float:
    return float(np.linalg.norm(N - np.clip(N - game.F(N) / sigma, game.lower, game.upper)))


def _newton_point(game: Game, N: Vector, value: Vector, J: Matrix, sigma: float) -> Vector:
    ahead = N - value / sigma
    point = np.clip(ahead, game.lower, game.upper)
    free = np.flatnonzero((ahead > game.lower) & (ahead < game.upper))
    if free.size == 0:
        return point
    step = point - N
    step[free] = 0.0
    block, right = J[np.ix_(free, free)], -(value[free] + J[free] @ step)
    try:
        step[free] = np.linalg.solve(block, right)
    except np.linalg.LinAlgError:
        step[free] = np.linalg.lstsq(block, right, rcond=None)[0]
    return N + np.where(np.isfinite(step), step, 0.0)


def proximal_point(
    A: Matrix, b: Vector, lower: Vector, upper: Vector, tol: float, engine: Engine, max_iterations: int = 200
) -> Iterate:
    """N_{k+1} solves the strongly monotone VI of A N + b + sigma (N - N_k), by pivoting; for monotone A.

    sigma falls by 4 each time: few, better and better conditioned steps; warm-started by the last active set.
    """
    size = float(np.max(np.abs(A), initial=0.0)) or 1.0
    sigma, N, state = 0.1 * size, (lower + upper) / 2.0, None
    for iteration in range(1, max_iterations + 1):
        found = pivot(A + sigma * np.eye(b.size), b - sigma * N, lower, upper, state, engine)
        if not found.consistent:
            sigma *= 8.0
            state = None
            continue
        N, state = np.clip(found.N, lower, upper), found.state
        slope = A @ N + b
        if np.linalg.norm(N - np.clip(N - slope, lower, upper)) <= tol:
            return Iterate(N, iteration)
        sigma = max(sigma / 4.0, 1e-9 * size)
    return Iterate(N, max_iterations)


def monotone_point(A: Matrix, b: Vector, lower: Vector, upper: Vector) -> Vector:
    """A good point for a monotone affine VI by whichever method succeeds; nothing is promised about it."""
    m = b.size
    found = block_pivoting(A, b, lower, upper, guess_state(A, b, lower, upper))
    if not found.consistent and m <= DENSE_LEMKE:
        found = lemke(A, b, lower, upper)
    N = np.clip(found.N, lower, upper)
    if found.consistent:
        return N
    goal = 1e-14 * (1.0 + float(np.linalg.norm(b)))
    return proximal_point(A, b, lower, upper, goal, Engine.NUMPY, 60).N
