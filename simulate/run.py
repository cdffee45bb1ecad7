"""`run`: many seeds of Algorithm 1, measured, as one xarray.Dataset."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from simulate.config import AVERAGES, RunConfig
from simulate.execute import ENGINES, Task, execute
from simulate.participation import Participation, participation, weights
from simulate.problems.base import Problem
from simulate.problems.convex import StronglyConvex
from simulate.resume import SEED_AXIS
from simulate.store import DIMENSIONS, OPTIONAL, SCHEMA

Progress = Callable[[int, int], None]


def run(
    problem: Problem,
    game: Any,
    config: RunConfig,
    *,
    p_star: Float[np.ndarray, " m"] | None = None,
    x_star: Float[np.ndarray, " n"] | None = None,
    progress: Progress | None = None,
    engine: str = "numpy",
    block: int | None = None,
    jobs: int = 1,
    folder: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """Runs Algorithm 1 for `config.seeds` seeds.

    Args:
        problem, game: the learning problem and the participation game, with the same m.
        p_star: weights of the global loss f (default: the weights at the last round's N).
        x_star: reference point of dist_sq (default: the problem's certified minimiser, where it has one).
        progress: called with (finished seeds, all seeds) after each block.
        engine: "numpy", "numba", "chain" (networks) or "torch"; they agree to rounding.
        block: seeds computed together (default: what fits the cache).
        jobs: worker processes (threads for "numba").
        folder: where finished blocks are kept: a rerun with the same folder goes on where the last one
            stopped.
            Within an engine the numbers depend on none of block, jobs and folder.

    Returns:
        A dataset with dims round, client, seed, average ("p_now", "p_next"), draw, horizon, record:
        N, N_error, p, p_star, k, grad_f_sq, e_bar (at the drawn k), f_avg, f, grad_f_sq_round, dist_sq,
        and x_hat [seed, record, parameter] if `config.models`.

    Raises:
        ValueError: if problem, game and configuration do not fit each other, or for a bad engine, block or
            jobs.
    """
    check_fit(problem, game, config)
    if engine not in ENGINES:
        raise ValueError(f"engine = {engine!r}: one of {', '.join(ENGINES)}")
    for name, value in (("block", block), ("jobs", jobs)):
        if value is not None and value < 1:
            raise ValueError(f"{name} = {value}: give an integer >= 1")
    path = trajectory(game, config)
    p_star = weights(path.N[-1]) if p_star is None else np.asarray(p_star, dtype=float)
    check_weights(p_star, problem.m)
    x_star = default_x_star(problem, p_star) if x_star is None else np.asarray(x_star, dtype=float)
    task = Task(problem, config, path, p_star, x_star, engine)
    results = execute(task, block, jobs, folder, progress)
    return assemble(problem, config, path, p_star, results)


def trajectory(game: Any, config: RunConfig) -> Participation:
    """The participation trajectory of a run's configuration."""
    return participation(
        game,
        config.N_0,
        config.gamma_tilde,
        config.R,
        welfare=config.welfare,
        lambda_0=config.lambda_0,
        a=config.a,
        b=config.b,
    )


def assemble(
    problem: Problem,
    config: RunConfig,
    path: Participation,
    p_star: Float[np.ndarray, " m"],
    results: dict[str, np.ndarray],
) -> xr.Dataset:
    """The dataset of a run from its measurements, seed axis complete and in order."""
    arrays = {"N": path.N, "N_error": path.error, "p": path.p, "p_star": p_star}
    arrays |= {name: results[name] for name in SEED_AXIS if name not in OPTIONAL}
    arrays |= {name: results[name] for name in OPTIONAL if config.models}
    coordinates = {
        "round": np.arange(config.R + 1),
        "client": np.arange(problem.m),
        "seed": config.seed_indices,
        "average": list(AVERAGES),
        "horizon": np.sort(np.array(config.horizons, dtype=np.int64)),
        "record": config.record_rounds,
    }
    attributes = {
        "schema": SCHEMA,
        "config": config.to_json(),
        "problem": problem.name,
        "fingerprint": problem.fingerprint(),
        "versions": json.dumps(
            {"numpy": np.__version__, "python": platform.python_version()}, sort_keys=True
        ),
    }
    dims = DIMENSIONS | OPTIONAL
    variables = {name: (dims[name], array) for name, array in arrays.items()}
    return xr.Dataset(variables, coords=coordinates, attrs=attributes)


def default_x_star(problem: Problem, p_star: Float[np.ndarray, " m"]) -> Float[np.ndarray, " n"] | None:
    """The problem's certified minimiser of f, or None where it has none."""
    return problem.minimiser(p_star).x if isinstance(problem, StronglyConvex) else None


def check_weights(p_star: np.ndarray, m: int) -> None:
    """Raises ValueError unless p_star is a probability vector of length m."""
    if p_star.shape != (m,) or not np.all(p_star >= 0) or abs(float(p_star.sum()) - 1) > 1e-12:
        raise ValueError(f"p_star = {p_star}: {m} weights >= 0 that sum to one")


def check_fit(problem: Problem, game: Any, config: RunConfig) -> None:
    """Raises ValueError, naming what is wrong, unless problem, game and configuration fit each other."""
    if game.m != problem.m:
        raise ValueError(f"the game has {game.m} clients, the problem {problem.m}: they must agree")
    if config.x_0.shape != (problem.n,):
        raise ValueError(f"x_0 has shape {config.x_0.shape}: the problem has n = {problem.n} parameters")
    if config.sampling == "subset" and np.any(np.ceil(np.asarray(game.upper)) > problem.sizes):
        i = int(np.argmax(np.ceil(np.asarray(game.upper)) - problem.sizes))
        raise ValueError(f"upper[{i}] = {game.upper[i]}: client {i} has only {problem.sizes[i]} samples")
    least = int(problem.sizes.min()) if config.sampling == "iid" else int(np.ceil(np.min(game.lower)))
    drawn = {"with": 1, "batch": config.batch, "round": config.batch * config.H}[config.replacement]
    if config.sampling != "full" and drawn > least:
        raise ValueError(f"replacement = {config.replacement!r}: needs {drawn} distinct samples, has {least}")
