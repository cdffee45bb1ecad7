"""From a candidate to a good point: its active set, and Newton corrections of the free block."""

import numpy as np
from jaxtyping import Int

from games.affine import Affine
from games.base import Game, Vector
from games.certificates import evaluate, tangent_part
from games.pivoting import FREE, LOWER, UPPER, State

REFINEMENTS = 4


def state_of(game: Game, N: Vector) -> State:
    """The active set that N points to: at a bound where the slope pushes harder than the distance pulls."""
    value = game.F(N)
    rows = game.row_sizes() if isinstance(game, Affine) else np.sum(np.abs(game.jacobian(N)), axis=1)
    size = np.maximum(rows, 1e-300)
    state = np.full(game.m, FREE, dtype=np.int8)
    state[(N - game.lower) * size <= value] = LOWER
    state[(game.upper - N) * size <= -value] = UPPER
    state[(game.lower >= N) & (state == FREE) & (value > 0)] = LOWER
    state[(game.upper <= N) & (state == FREE) & (value < 0)] = UPPER
    state[~game.moving] = LOWER
    return state


def on_state(game: Game, N: Vector, state: State) -> Vector:
    """N with the clients of the active set put on their bounds."""
    N = np.where(state == LOWER, game.lower, np.where(state == UPPER, game.upper, N))
    return game.project(N)


def refine(game: Game, N: Vector, state: State) -> tuple[Vector, float]:
    """Newton corrections of the free block with accurate residuals, while they reduce the tangent residual.

    Starts from the better of N and N moved onto the active set.
    """
    moved = on_state(game, N, state)
    value, residual = _measure(game, moved)
    if not np.array_equal(moved, N):
        plain_value, plain = _measure(game, N)
        if plain < residual:
            moved, value, residual = N, plain_value, plain
    free = np.flatnonzero(state == FREE)
    for _ in range(REFINEMENTS):
        if free.size == 0 or residual == 0.0:
            break
        better = game.project(_corrected(game, moved, value, free))
        new_value, improved = _measure(game, better)
        if not improved < residual:
            break
        settled = improved > residual / 4.0
        moved, value, residual = better, new_value, improved
        if settled:
            break
    return moved, residual


def _measure(game: Game, N: Vector) -> tuple[Vector, float]:
    value, bound = evaluate(game, N)
    return value, tangent_part(game, N, value, bound)


def _corrected(game: Game, N: Vector, value: Vector, free: Int[np.ndarray, " k"]) -> Vector:
    better = N.copy()
    try:
        if isinstance(game, Affine):
            step = game.solve_block(free, value[free])
        else:
            step = np.linalg.solve(game.jacobian(N)[np.ix_(free, free)], value[free])
        if not np.all(np.isfinite(step)):
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        # A merely monotone game: any correction of least norm serves.
        block = game.matrix if isinstance(game, Affine) else game.jacobian(N)
        step = np.linalg.lstsq(block[np.ix_(free, free)], value[free], rcond=None)[0]
    better[free] -= step
    return better
