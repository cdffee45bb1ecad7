"""Rounds played again from the recorded models: the iterates x_{i,k} inside a round, with their gradients.

A run keeps x_hat_r at a few rounds that were fixed beforehand. From there a round is a few plain steps, made here
from `sample_gradients` alone (no engine takes part). Played with noise of its own, a round has the same law given
x_hat_r as the run's; played with the run's own samples, it must end in the run's x_hat_{r+1}.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Float, Int
from numpy.random import Generator, Philox, SeedSequence

from simulate import streams
from simulate.indices import client_indices
from simulate.problems.base import Problem
from verify.observed import Unobserved
from verify.setting import Setting

_FRESH = 101  # last word but one of the spawn keys of the noise drawn here: no purpose of a run has it
WORK = 1_000_000_000  # products that replaying and measuring all rounds may take, about
OWN = 1 << 22  # samples drawn again at most, to reach a round of the run's own noise


@dataclass(frozen=True)
class Round:
    """Round r of some seeds: x [S, H, m, n] before each local step, g [S, H, m, n] the gradients that were used."""

    r: int
    x: Float[np.ndarray, "S H m n"]
    g: Float[np.ndarray, "S H m n"]


def watch(r_hat: int, R: int) -> tuple[int, ...]:
    """The rounds that are looked into: the first, the first that counts, the last; each with its successor."""
    return tuple(sorted({r + step for r in (0, r_hat, R - 1) for step in (0, 1)}))


def watched(run: xr.Dataset) -> list[int]:
    """The rounds of `run` whose model is kept, and the next round's too.

    Raises:
        Unobserved: if the run keeps no models, or never two in a row.
    """
    if "x_hat" not in run:
        raise Unobserved("the run keeps no models x_hat_r, from which a round could be played again")
    recorded, last = set(run["record"].values.tolist()), int(run.sizes["round"]) - 1
    found = sorted(r for r in recorded if r + 1 in recorded and r < last)
    if not found:
        raise Unobserved("the run keeps no model of two rounds in a row")
    return found


def model(run: xr.Dataset, r: int, seeds: int) -> Float[np.ndarray, "S n"]:
    """x_hat_r of the first `seeds` seeds."""
    kept = run["x_hat"].transpose("seed", "record", "parameter").sel(record=r).values
    return np.ascontiguousarray(kept[:seeds], dtype=float)


def affordable(problem: Problem, rounds: int, H: int, seeds: int) -> int:
    """How many seeds can be looked at within `WORK`.

    Raises:
        Unobserved: if not even two can.
    """
    state = problem.n * int(problem.sizes.sum()) + problem.m * problem.n
    count = min(seeds, WORK // (state * H * max(rounds, 1)))
    if count < min(2, seeds):
        raise Unobserved("the problem is too large to measure inside its rounds")
    return count


def fresh(setup: Setting, run: xr.Dataset, r: int, seeds: int) -> Round:
    """Round r from the recorded models, with noise of its own."""
    config, problem = setup.config, setup.problem
    x_hat = model(run, r, seeds)
    if config.sampling == "full":
        return _play(setup, r, x_hat, None)
    if config.sampling != "iid":
        raise Unobserved(f"sampling = {config.sampling}: the noise inside a round is not independent")
    index = np.empty((len(x_hat), config.H, problem.m, config.batch), dtype=np.int64)
    for row, seed in enumerate(run["seed"].values[:seeds].tolist()):
        for i in range(problem.m):
            sequence = SeedSequence(config.root_seed, spawn_key=(int(seed), i, _FRESH, r))
            index[row, :, i] = streams.sample_indices(
                Generator(Philox(sequence)),
                int(problem.sizes[i]),
                config.H,
                config.batch,
                config.replacement,
                config.H,
            )
    return _play(setup, r, x_hat, index)


def own(setup: Setting, run: xr.Dataset, r: int, seeds: int) -> Round:
    """Round r of the run itself: the same samples, drawn again from its streams."""
    config, problem = setup.config, setup.problem
    x_hat = model(run, r, seeds)
    if config.sampling == "full":
        return _play(setup, r, x_hat, None)
    if (r + 1) * config.H * config.batch * problem.m * seeds > OWN:
        raise Unobserved(f"round {r} lies too far on to draw the run's own samples again")
    index = np.empty((len(x_hat), config.H, problem.m, config.batch), dtype=np.int64)
    N = run["N"].values
    for row, seed in enumerate(run["seed"].values[:seeds].tolist()):
        for i in range(problem.m):
            rng = [
                streams.generator(config.root_seed, int(seed), i, purpose)
                for purpose in (streams.Purpose.SAMPLES, streams.Purpose.SUBSET)
            ]
            drawn = client_indices(rng, int(problem.sizes[i]), config, N[: r + 1, i])
            index[row, :, i] = drawn[-config.H :]
    return _play(setup, r, x_hat, index)


def _play(
    setup: Setting, r: int, x_hat: Float[np.ndarray, "S n"], index: Int[np.ndarray, "S H m batch"] | None
) -> Round:
    problem, H, gamma = setup.problem, setup.config.H, setup.config.gamma
    x = np.empty((len(x_hat), H, problem.m, problem.n))
    g = np.empty_like(x)
    here = np.repeat(x_hat[:, None, :], problem.m, axis=1)
    for h in range(H):
        x[:, h] = here
        g[:, h] = (
            problem.local_gradients(here) if index is None else problem.sample_gradients(here, index[:, h])
        )
        here = here - gamma * g[:, h]
    return Round(r, x, g)
