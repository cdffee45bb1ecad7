"""The default engine: numpy, seeds and clients batched as [S, m, n], updated in place.

No product runs over the seed axis, so a seed's bits do not depend on which seeds share its block.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from simulate.config import RunConfig
from simulate.indices import pieces
from simulate.observe import Observer
from simulate.problems.base import Problem, weighted

LAYOUT = 128  # steps whose indices are brought into [step, S, m, batch] order at a time


def run_block(
    problem: Problem,
    config: RunConfig,
    N: Float[np.ndarray, "rounds m"],
    p: Float[np.ndarray, "rounds m"],
    observer: Observer,
    seeds: Int[np.ndarray, " S"],
) -> None:
    """Runs Algorithm 1 for the block's seeds and shows the iterates to `observer`."""
    x_hat: np.ndarray = np.repeat(config.x_0[None, :], len(seeds), axis=0).astype(problem.dtype)
    x: np.ndarray = np.empty((len(seeds), problem.m, problem.n), dtype=problem.dtype)
    weights: np.ndarray = p.astype(problem.dtype)
    if config.sampling == "full":
        for r in range(config.R):
            x_hat = _round(problem, config, observer, r, x_hat, x, None, weights[r + 1])
    else:
        for first, last, index in pieces(problem, config, N, seeds):
            rounds = max(1, LAYOUT // config.H)
            for start in range(first, last, rounds):
                stop = min(start + rounds, last)
                steps = index[:, :, (start - first) * config.H : (stop - first) * config.H]
                by_step = np.add(steps.transpose(2, 0, 1, 3), problem.first[:, None], order="C")
                for r in range(start, stop):
                    at = by_step[(r - start) * config.H : (r - start + 1) * config.H]
                    x_hat = _round(problem, config, observer, r, x_hat, x, at, weights[r + 1])
    observer.round_start(config.R, x_hat)


def _round(
    problem: Problem,
    config: RunConfig,
    observer: Observer,
    r: int,
    x_hat: Float[np.ndarray, "S n"],
    x: Float[np.ndarray, "S m n"],
    at: Int[np.ndarray, "H S m batch"] | None,
    p_next: Float[np.ndarray, " m"],
) -> Float[np.ndarray, "S n"]:
    """One round from x_hat_r to x_hat_{r+1}; `x` is the clients' workspace, `at` the rows of samples."""
    observer.round_start(r, x_hat)
    x[:] = x_hat[:, None, :]
    for h in range(config.H):
        k = r * config.H + h
        if observer.due(k):
            observer.step(k, x)
        problem.descend(x, None if at is None else at[h], config.gamma)
    observer.round_end(r)
    return weighted(x, p_next)
