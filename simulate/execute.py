"""Seeds in blocks, blocks in processes, finished blocks on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from jaxtyping import Float, Int

from simulate.config import RunConfig
from simulate.observe import Observer
from simulate.parallel import Failed, local, results
from simulate.participation import Participation
from simulate.problems.base import Problem
from simulate.resume import SEED_AXIS, Parts, run_key

ENGINES = {
    "numpy": "simulate.engine_numpy",
    "numba": "simulate.engine_numba",
    "chain": "simulate.engine_chain",
    "torch": "simulate.engine_torch",
}
CACHE = 1 << 15  # floats of one block's state that are meant to stay in the second-level cache (256 KiB)


@dataclass(frozen=True, eq=False)
class Task:
    """What every block of one run shares."""

    problem: Problem
    config: RunConfig
    path: Participation
    p_star: Float[np.ndarray, " m"]
    x_star: Float[np.ndarray, " n"] | None
    engine: str

    def block(self, seeds: Int[np.ndarray, " S"]) -> dict[str, np.ndarray]:
        """Runs one block of seeds: the measurements by name (`parallel.call` gives it one BLAS thread)."""
        engine = import_module(ENGINES[self.engine])
        observer = Observer(self.problem, self.config, self.path.p, self.p_star, self.x_star, seeds)
        engine.run_block(self.problem, self.config, self.path.N, self.path.p, observer, seeds)
        return observer.finish()


def execute(
    task: Task,
    block: int | None,
    jobs: int,
    folder: str | os.PathLike[str] | None,
    progress: Callable[[int, int], None] | None,
) -> dict[str, np.ndarray]:
    """Runs the seeds that `folder` does not hold yet; returns all, in the configuration's order."""
    parts = None if folder is None else Parts(folder, run_key(*_key_of(task)))
    done = {} if parts is None else parts.finished()
    seeds = task.config.seed_indices
    missing = np.array([s for s in seeds.tolist() if s not in done], dtype=np.int64)
    size = block or default_block(task, max(len(missing), 1), jobs)
    blocks = [missing[i : i + size] for i in range(0, len(missing), size)]
    for chunk, measured in _results(task, blocks, jobs):
        if parts is not None:
            parts.add(chunk, measured)
        for row, seed in enumerate(chunk.tolist()):
            done[seed] = {name: measured[name].take([row], axis) for name, axis in SEED_AXIS.items()}
        if progress is not None:
            progress(sum(s in done for s in seeds.tolist()), len(seeds))
    return {
        name: np.concatenate([done[s][name] for s in seeds.tolist()], axis)
        for name, axis in SEED_AXIS.items()
    }


def default_block(task: Task, seeds: int, jobs: int) -> int:
    """Seeds a block: what fits the cache, one for chains, all for numba (its blocks are threads' shares)."""
    if task.engine == "chain":
        return 1
    if task.engine == "numba":
        return min(seeds, 256)
    state = task.problem.m * task.problem.n
    return max(1, min(seeds, CACHE // state, -(-seeds // jobs)))


def _key_of(task: Task) -> tuple:
    return task.problem, task.config, task.path, task.p_star, task.x_star, task.engine


def _results(
    task: Task, blocks: list[Int[np.ndarray, " _"]], jobs: int
) -> Iterator[tuple[Int[np.ndarray, " _"], dict[str, np.ndarray]]]:
    """Each block with its measurements, as they finish."""
    if task.engine == "numba":
        import_module(ENGINES["numba"]).set_threads(jobs)
        jobs = 1
    tasks = enumerate(blocks)
    for i, measured in results(Task.block, task, tasks, local(min(jobs, len(blocks)))):
        if isinstance(measured, Failed):
            raise measured.exception()
        yield blocks[i], measured
