"""A run that another implementation made, beside an instance: what it shows, and whether it is a run of it at all.

The instance gives the game, the problem, the step sizes and x_0; the file gives N_0 and the number of rounds. Each
recorded step N_r -> N_{r+1} is compared with the projected step of Algorithm 1. Where it strays by more than the
file's own accuracy explains, the statements about the participation say nothing of this run. Else what is left
over, round by round, bounds how far the run is from the exact trajectory, and the envelopes are judged with it.

Losses, gradients and distances cannot be recomputed: they are the file's word. What no run of the instance can show
(a loss below f*, a gradient steeper than L allows) is refused; a verdict on the rest is indicative.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

import bounds
from bounds import Provenance, Statement
from simulate.participation import schedule, step_lipschitz, weights
from verify.auditing import ALPHA, Audit, Report
from verify.errors import InputError
from verify.examine import STRAYS, WORD, Finding, examine
from verify.external import RunFile, load_run
from verify.quantities.participation import OUT, projected_step
from verify.schema import Instance
from verify.setup import Setup, build, checks
from verify.statistics import OutOfRange

_OWN_ROUNDING = 64.0  # an update in the file's own precision rounds a few dozen times
_VARIABLE = {"loss": "f", "f_avg_p_now": "f_avg", "f_avg_p_next": "f_avg"}
_SAME = 1e-6  # to which a number at round 0 must agree with the instance's


def adopt(instance: Instance, file: RunFile, where: str) -> tuple[Setup, xr.Dataset]:
    """The instance set up for the run of a file, and the run.

    Raises:
        InputError: if the run cannot be one of this instance (its clients, its box, its start).
    """
    if file.own is not None:
        return _own(instance, file.own, where)
    m = file.N.shape[1]
    if instance.clients is not None and m != instance.clients:
        raise InputError(
            f"--run {where}: N has {m} clients, {instance.name} has {instance.clients}: give its own run"
        )
    r_hat = instance.algorithm.r_hat
    if isinstance(r_hat, int) and r_hat >= file.R:
        raise InputError(f"--run {where}: {file.R} rounds, but algorithm.r_hat = {r_hat}: give a longer run")
    start = {"N_0": file.N[0].tolist(), "R": file.R, "closed_form": False}
    algorithm = instance.algorithm.model_copy(update=start)
    seeds = max([1, *(len(v) for v in (*file.series.values(), *file.finals.values()))])
    setup = build(instance.model_copy(update={"algorithm": algorithm}), seeds=seeds)
    _in_box(setup, file, where)
    _same_start(setup, file, where)
    _possible(setup, file, where)
    return setup, _dataset(setup, file, seeds)


def _own(instance: Instance, run: xr.Dataset, where: str) -> tuple[Setup, xr.Dataset]:
    """A run of this project's simulator: it must be of the very instance."""
    setup = build(instance, seeds=run.sizes["seed"])
    if run.attrs["fingerprint"] != setup.problem.fingerprint():
        raise InputError(f"--run {where}: its run is of another problem than {instance.name}'s")
    theirs, ours = json.loads(run.attrs["config"]), json.loads(setup.config.to_json())
    loose = ("seeds", "draws", "horizons", "records", "models", "root_seed")
    for key, value in ours.items():
        if key not in loose and theirs.get(key) != value:
            raise InputError(
                f"--run {where}: its {key} = {str(theirs.get(key))[:60]}, the instance's is {str(value)[:60]}"
            )
    config = replace(
        setup.config,
        root_seed=int(theirs["root_seed"]),
        seeds=tuple(int(s) for s in run["seed"].values),
        draws=run.sizes["draw"],
        horizons=tuple(int(h) for h in run["horizon"].values),
    )
    return replace(setup, config=config), run


def _in_box(setup: Setup, file: RunFile, where: str) -> None:
    low, high = setup.game.lower, setup.game.upper
    outside = (file.N < low - file.unit) | (file.N > high + file.unit)
    if np.any(outside):
        r, i = (int(v) for v in np.argwhere(outside)[0])
        raise InputError(
            f"--run {where}: N[{r}, {i}] = {file.N[r, i]:g} lies outside the box [{low[i]:g}, {high[i]:g}]"
        )


def _same_start(setup: Setup, file: RunFile, where: str) -> None:
    """What the file says of round 0 must be true of the instance's x_0."""
    x_0, p_star = setup.config.x_0, setup.p_star
    known: dict[str, float] = {}
    if "loss" in file.series:
        known["loss"] = float(setup.problem.loss(x_0, p_star))
    if "grad_f_sq" in file.series:
        known["grad_f_sq"] = float((setup.problem.gradient(x_0, p_star) ** 2).sum())
    if "dist_sq" in file.series and setup.x_star is not None:
        known["dist_sq"] = float(((x_0 - setup.x_star) ** 2).sum())
    for name, value in known.items():
        found = file.series[name][:, 0]
        if np.any(np.abs(found - value) > _SAME * (1 + abs(value)) * 100):
            raise InputError(
                f"--run {where}: {name} at round 0 is {found[0]:g}, the instance's x_0 has {value:g} (with f = sum_i "
                "p*_i f_i): give the instance that was run"
            )


def _possible(setup: Setup, file: RunFile, where: str) -> None:
    """Every loss is at least f*; ||grad f||^2 is at most 2 L (f - f*), and at most L^2 ||x - x*||^2."""
    shared, near = setup.shared, 100 * _SAME
    units = {name: file.units[name] for name in (*file.series, *file.finals)}
    if "f_star" in shared:
        low = float(np.asarray(shared["f_star"].value)) - float(shared["f_star"].radius)
        for name in ("loss", "f_avg_p_now", "f_avg_p_next"):
            found = file.series.get(name, file.finals.get(name))
            if found is not None and np.any(found < low - units[name] - near * (1 + abs(low))):
                raise InputError(
                    f"--run {where}: {name} = {np.min(found):g}{_round_of(found, found.min())} lies below the least "
                    f"value f* = {low:.10g}: no point has such a loss"
                )
    if "grad_f_sq" not in file.series or shared["L"].provenance is Provenance.ESTIMATED:
        return
    L = float(np.asarray(shared["L"].value)) + float(np.max(shared["L"].radius))
    slope = file.series["grad_f_sq"]
    room = units["grad_f_sq"] + near * (1 + float((setup.problem.gradients(setup.config.x_0) ** 2).max()))
    limits = {}
    if "loss" in file.series and "f_star" in shared:
        limits["2 L (loss - f*)"] = 2 * L * (np.maximum(file.series["loss"] - low, 0.0) + units["loss"])
    if "dist_sq" in file.series and "x_star" in shared:
        limits["L^2 dist_sq"] = L**2 * (file.series["dist_sq"] + units["dist_sq"])
    for name, limit in limits.items():
        over = slope - (limit * (1 + near) + room)
        if np.any(over > 0):
            s, r = (int(v) for v in np.unravel_index(np.argmax(over), over.shape))
            most = float(np.broadcast_to(limit, over.shape)[s, r])
            here = float(np.broadcast_to(slope, over.shape)[s, r])
            raise InputError(
                f"--run {where}: grad_f_sq = {here:g} at round {r}, where {name} = {most:g}, with L = {L:g}: no "
                "point has both"
            )


def _round_of(values: Float[np.ndarray, "*shape"], value: float) -> str:
    """Where in a series [S, rounds] a value stands; nothing for one number a seed."""
    return f" at round {int(np.argwhere(values == value)[0][1])}" if values.ndim == 2 else ""


def _dataset(setup: Setup, file: RunFile, seeds: int) -> xr.Dataset:
    """The run in the form that `verify.quantities` reads; only what the file holds."""
    rounds, config = np.arange(file.R + 1), setup.config
    error, strays = trajectory_error(setup, file.N, file.unit)
    data: dict[str, Any] = {
        "N": (("round", "client"), file.N),
        "N_error": ("round", error),
        "p": (("round", "client"), weights(file.N)),
    }
    coordinates: dict[str, Any] = {
        "round": rounds,
        "client": np.arange(file.N.shape[1]),
        "seed": np.arange(seeds),
    }
    for name, variable in (("loss", "f"), ("dist_sq", "dist_sq")):
        if name in file.series:
            data[variable] = (("seed", "record"), file.series[name])
            coordinates["record"] = rounds
    coordinates["average"] = ["p_now", "p_next"]
    if "grad_f_sq" in file.series and config.H == 1:
        counted = file.series["grad_f_sq"][:, config.r_hat : file.R]
        data["grad_f_sq"] = (("average", "seed", "draw"), np.stack([counted, counted]))
        k = np.broadcast_to(np.arange(config.r_hat, file.R), counted.shape)
        data["k"] = (("seed", "draw"), k.copy())
    if file.finals:
        nothing = np.full(seeds, np.nan)
        both = [file.finals.get(f"f_avg_{average}", nothing) for average in ("p_now", "p_next")]
        data["f_avg"] = (("average", "seed", "horizon"), np.array(both)[:, :, None])
        coordinates["horizon"] = [file.R]
    attributes: dict[str, Any] = {WORD: "the training numbers are the file's word"}
    attributes |= {STRAYS: strays} if strays else {}
    attributes |= {f"{_VARIABLE.get(name, name)}_unit": unit for name, unit in file.units.items()}
    return xr.Dataset(data, coords=coordinates, attrs=attributes)


def trajectory_error(
    setup: Setup, N: Float[np.ndarray, "rounds m"], unit: Float[np.ndarray, "rounds m"]
) -> tuple[Float[np.ndarray, " rounds"], str]:
    """(a bound on ||N_r - exact N_r|| for each round, where the run strays from the update, or "").

    The exact trajectory starts from the very N_0 of the file. e_{r+1} = q_r e_r + what this step leaves over,
    with q_r the Lipschitz constant of the exact step.
    """
    config, R = setup.config, len(N) - 1
    steps = schedule(config.gamma_tilde, config.a, R)
    lambdas = np.zeros(R) if setup.welfare is None else schedule(float(config.lambda_0 or 0.0), config.b, R)
    projected, room, _, _ = projected_step(setup, N)
    left = np.abs(N[1:] - projected)
    rate = step_lipschitz(setup.game, setup.welfare, steps, lambdas)
    # the true N_r lies within `unit` of the printed one, and the step carries that on
    given = _OWN_ROUNDING * (
        unit[1:] + np.linalg.norm(unit[:-1], axis=1)[:, None] * np.maximum(rate, 1.0)[:, None]
    )
    beyond = left > room + given
    strays = ""
    if np.any(beyond):
        r, i = (int(v) for v in np.argwhere(beyond)[0])
        strays = (
            f"N[{r + 1}, {i}] = {N[r + 1, i]:.10g}, the projected step from round {r} with gamma_tilde_{r} = "
            f"{steps[r]:.6g} gives {projected[r, i]:.10g}: the run does not follow the instance's update"
        )
    lengths = np.linalg.norm(left + room, axis=1) * OUT
    error = np.zeros(R + 1)
    for r in range(R):
        error[r + 1] = (rate[r] * error[r] + lengths[r]) * OUT
    return error, strays


def _examined(setup: Setup, run: xr.Dataset, statement: Statement, level: float, where: str) -> Finding:
    """`examine`, for numbers that may be anyone's.

    Raises:
        InputError: for a value that lies outside what every run of the instance is proven to stay within.
    """
    try:
        return examine(setup, run, statement, level)
    except OutOfRange as error:
        raise InputError(
            f"--run {where}: {statement.quantity}: {error}, which no run of {setup.instance.name} passes: "
            "the file is damaged, or of another instance"
        ) from None


def audit_run(
    instance: Instance,
    path: str | Path,
    *,
    only: Collection[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Check the run of a file against an instance's envelopes.

    Raises:
        InputError: for a file that cannot be used, or that is not a run of this instance.
    """
    tell = progress or (lambda what, done, total: None)
    file, where = load_run(path), Path(path).name
    tell("certifying constants and equilibria", 0, 1)
    setup, run = adopt(instance, file, where)
    pairs = [pair for pair in checks(setup.instance) if only is None or pair[0] in only]
    level = ALPHA / max(1, len(pairs))
    findings = []
    for i, (statement, edition) in enumerate(pairs):
        tell(f"{where}: checking {statement}", i, len(pairs))
        findings.append(_examined(setup, run, bounds.get(statement, edition), level, where))
    config = {
        "alpha": ALPHA,
        "only": sorted(only) if only is not None else None,
        "instances": [
            {
                "instance": setup.instance.model_dump(mode="json"),
                "run": {
                    "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest(),
                    "rounds": len(run["round"]) - 1,
                    "seeds": run.sizes["seed"],
                    "missing": list(file.missing) if file.own is None else [],
                },
            }
        ],
    }
    return Report(config, ALPHA, (Audit(setup, run, tuple(findings)),))
