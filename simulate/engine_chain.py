"""The engine for networks: one seed at a time.

Batching seeds would leave the cache: 50,000 weights times clients times seeds. Use one process a core
(`jobs`). Clients go one at a time, so that a client's weights stay in cache; a two-layer network with few samples
steps in the space of its samples instead (`sample_space`), where that is cheaper. Problem and configuration alone say
which.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from simulate import sample_space
from simulate.config import RunConfig
from simulate.indices import pieces
from simulate.observe import Observer
from simulate.problems.base import Problem, weighted
from simulate.problems.chain import Network
from simulate.problems.network import TwoLayerNetwork
from simulate.sample_space import SampleSpace


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
    chain = chain_of(problem, config)
    weights: np.ndarray = p.astype(problem.dtype)
    if config.sampling == "full":
        for r in range(config.R):
            _round(chain, config, observer, r, None, weights[r + 1])
    else:
        for first, last, index in pieces(problem, config, N, seeds):
            rows = index[0] + problem.first[:, None, None]
            for r in range(first, last):
                at = rows[:, (r - first) * config.H : (r - first + 1) * config.H]
                _round(chain, config, observer, r, at, weights[r + 1])
    observer.round_start(config.R, chain.x_hat()[None])


def chain_of(problem: Network, config: RunConfig) -> WeightSpace | SampleSpace:
    """The cheaper of the two ways to make a round, by their numbers of multiplications."""
    if isinstance(problem, TwoLayerNetwork) and sample_space.pays(problem, config):
        return SampleSpace(problem, config)
    return WeightSpace(problem, config)


class WeightSpace:
    """One seed's model and its rounds, each client making its steps alone."""

    def __init__(self, problem: Network, config: RunConfig) -> None:
        self.problem, self.H, self.gamma = problem, config.H, config.gamma
        self.x: Float[np.ndarray, " n"] = config.x_0.astype(problem.dtype)

    def x_hat(self) -> Float[np.ndarray, " n"]:
        """The server's model."""
        return self.x

    def round(
        self,
        rows: Int[np.ndarray, "m H batch"] | None,
        p_next: Float[np.ndarray, " m"],
        due: Sequence[int],
    ) -> Float[np.ndarray, "due m n"]:
        """See `SampleSpace.round`."""
        problem = self.problem
        shown: np.ndarray = np.empty((len(due), problem.m, problem.n), dtype=problem.dtype)
        x = np.repeat(self.x[None], problem.m, axis=0)
        for i in range(problem.m):
            for h in range(self.H):
                if h in due:
                    shown[due.index(h), i] = x[i]
                problem.descend_one(x[i], problem.rows(i) if rows is None else rows[i, h], self.gamma)
        self.x = weighted(x, p_next)
        return shown


def _round(
    chain: WeightSpace | SampleSpace,
    config: RunConfig,
    observer: Observer,
    r: int,
    rows: Int[np.ndarray, "m H batch"] | None,
    p_next: Float[np.ndarray, " m"],
) -> None:
    """One round; steps that are due are kept and shown afterwards."""
    if observer.recorded(r):
        observer.round_start(r, chain.x_hat()[None])
    due = observer.due_in(r)
    for h, iterates in zip(due, chain.round(rows, p_next, due), strict=True):
        observer.step(r * config.H + h, iterates[None])
    observer.round_end(r)
