"""Block principal pivoting for VI(box, A N + b), after Judice and Pires, with Murty's rule as the
fallback."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int, Int8

from games.base import Matrix, Vector

State: TypeAlias = Int8[np.ndarray, " m"]
Indices: TypeAlias = Int[np.ndarray, " f"]
LOWER, FREE, UPPER = -1, 0, 1
SMALL = 100  # below this the sweeps cost more in numpy than the pivots they save
SWEEPS = 8
PROMISE = 0.8  # the second sweep must move less than this part of the first
SETTLED = 0.01  # a sweep that moves less than this part of the first is the last
PATIENCE = 6  # block steps allowed without fewer infeasibilities before single pivots take over


@dataclass(frozen=True, eq=False)
class Pivoted:
    """The last basic point, its active set, and whether that set was consistent."""

    N: Vector
    state: State
    consistent: bool
    iterations: int


def guess_state(A: Matrix, b: Vector, lower: Vector, upper: Vector) -> State:
    """A first active set by projected (block) Gauss-Seidel while it contracts; all free when it does not.

    On badly conditioned games the sweeps wander and their active set is worse than none: then the first pivot
    starts from the unconstrained solution.
    """
    m = b.size
    moving = lower < upper
    if m < SMALL:
        return np.where(moving, FREE, LOWER).astype(np.int8)
    usable = moving & (np.diag(A) > 0)
    step = np.where(usable, 1.0 / np.where(usable, np.diag(A), 1.0), 0.0)
    width = np.where(moving, upper - lower, 1.0)
    blocks = np.array_split(np.arange(m), min(m, 32))
    N = (lower + upper) / 2.0
    first = 0.0
    for sweep in range(SWEEPS):
        before = N.copy()
        for block in blocks:
            rows = slice(block[0], block[-1] + 1)
            N[rows] = np.clip(N[rows] - step[rows] * (A[rows] @ N + b[rows]), lower[rows], upper[rows])
        change = float(np.linalg.norm((N - before) / width))
        if sweep == 0:
            first = change
        if sweep == 1 and change > PROMISE * first:
            return np.where(moving, FREE, LOWER).astype(np.int8)
        if change <= SETTLED * first:
            break
    return np.where(lower >= N, LOWER, np.where(upper <= N, UPPER, FREE)).astype(np.int8)


def default_budget(m: int) -> int:
    """Pivots after which another method is asked."""
    return 40 + m // 2


def block_pivoting(
    A: Matrix,
    b: Vector,
    lower: Vector,
    upper: Vector,
    state: State,
    max_iterations: int | None = None,
) -> Pivoted:
    """Solve by exchanging all infeasible clients at once; single exchanges when that stops helping.

    Finite for a P-matrix (so for every strongly monotone F) in exact arithmetic, but slow where the skew part
    dominates: the default budget is then spent without an answer, and `lemke` is the one to ask. The result
    is a candidate: its residual must be recomputed from F by the caller.
    """

    def solve_block(free: Indices, right: Float[np.ndarray, " f"]) -> Float[np.ndarray, " f"]:
        return np.asarray(np.linalg.solve(A[np.ix_(free, free)], right))

    return exchange(lambda N: A @ N + b, solve_block, lower, upper, state, max_iterations)


def exchange(
    F: Callable[[Vector], Vector],
    solve_block: Callable[[Indices, Float[np.ndarray, " f"]], Float[np.ndarray, " f"]],
    lower: Vector,
    upper: Vector,
    state: State,
    max_iterations: int | None = None,
) -> Pivoted:
    """The exchanges of `block_pivoting` for any way to evaluate F and to solve its free block."""
    m = lower.size
    budget = default_budget(m) if max_iterations is None else max_iterations
    state = state.copy()
    state[lower == upper] = LOWER
    fewest, patience = m + 1, PATIENCE
    N = np.where(state == UPPER, upper, lower)
    for iteration in range(1, budget + 1):
        free = state == FREE
        N = np.where(state == UPPER, upper, lower)
        if np.any(free):
            N[free] = 0.0
            index = np.flatnonzero(free)
            try:
                N[free] = solve_block(index, -F(N)[index])
            except np.linalg.LinAlgError:
                return Pivoted(np.clip(N, lower, upper), state, False, iteration)
        wanted = _wanted(N, F(N), lower, upper, state)
        changed = np.flatnonzero(wanted != state)
        if changed.size == 0:
            return Pivoted(N, state, True, iteration)
        if changed.size < fewest:
            fewest, patience = changed.size, PATIENCE
            state = wanted
        elif patience > 0:
            patience -= 1
            state = wanted
        else:
            state[changed[-1]] = wanted[changed[-1]]
    return Pivoted(np.clip(N, lower, upper), state, False, budget)


def _wanted(N: Vector, slope: Vector, lower: Vector, upper: Vector, state: State) -> State:
    """The active set after all exchanges that N and its slopes ask for."""
    wanted = state.copy()
    wanted[(state == FREE) & (lower > N)] = LOWER
    wanted[(state == FREE) & (upper < N)] = UPPER
    wanted[(state == LOWER) & (slope < 0) & (lower < upper)] = FREE
    wanted[(state == UPPER) & (slope > 0)] = FREE
    return wanted
