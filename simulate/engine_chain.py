"""The engine for networks: one seed at a time, one client at a time, so that a client's weights stay in
cache.

Batching seeds would leave the cache: 50,000 weights times clients times seeds. Use one process a core
    (`jobs`).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from simulate.config import RunConfig
from simulate.indices import pieces
from simulate.observe import Observer
from simulate.problems.base import Problem, weighted
from simulate.problems.chain import Network


def run_block(
    problem: Problem,
    config: RunConfig,
    N: Float[np.ndarray, "rounds m"],
    p: Float[np.ndarray, "rounds m"],
    observer: Observer,
    seeds: Int[np.ndarray, " S"],
) -> None:
    """Runs Algorithm 1 for the block's one seed and shows the iterates to `observer`.

    Raises:
        ValueError: for a problem that is no network, or a block of several seeds.
    """
    if not isinstance(problem, Network):
        raise ValueError(f"engine = 'chain' runs networks, not {problem.name}; use 'numpy'")
    if len(seeds) != 1:
        raise ValueError(f"block = {len(seeds)}: engine 'chain' runs one seed at a time")
    x_hat: np.ndarray = config.x_0.astype(problem.dtype)
    weights: np.ndarray = p.astype(problem.dtype)
    if config.sampling == "full":
        for r in range(config.R):
            x_hat = _round(problem, config, observer, r, x_hat, None, weights[r + 1])
    else:
        for first, last, index in pieces(problem, config, N, seeds):
            rows = index[0] + problem.first[:, None, None]
            for r in range(first, last):
                at = rows[:, (r - first) * config.H : (r - first + 1) * config.H]
                x_hat = _round(problem, config, observer, r, x_hat, at, weights[r + 1])
    observer.round_start(config.R, x_hat[None])


def _round(
    problem: Network,
    config: RunConfig,
    observer: Observer,
    r: int,
    x_hat: Float[np.ndarray, " n"],
    rows: Int[np.ndarray, "m H batch"] | None,
    p_next: Float[np.ndarray, " m"],
) -> Float[np.ndarray, " n"]:
    """One round: each client makes its H steps alone; steps that are due are kept and shown afterwards."""
    observer.round_start(r, x_hat[None])
    due = observer.due_in(r)
    shown: np.ndarray = np.empty((len(due), problem.m, problem.n), dtype=problem.dtype)
    x = np.repeat(x_hat[None], problem.m, axis=0)
    for i in range(problem.m):
        for h in range(config.H):
            if h in due:
                shown[due.index(h), i] = x[i]
            problem.descend_one(x[i], problem.rows(i) if rows is None else rows[i, h], config.gamma)
    for h, iterates in zip(due, shown, strict=True):
        observer.step(r * config.H + h, iterates[None])
    observer.round_end(r)
    return weighted(x, p_next)
