"""From a quantity's name to what a run shows of it: the only place that reads a run's variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Float

from verify.errors import InputError
from verify.observed import Curve, Sample
from verify.setup import Setup

_U = float(np.finfo(np.float64).eps)
Observation = Curve | Sample


@dataclass(frozen=True)
class Quantity:
    """How a quantity of `bounds.QUANTITIES` is observed along a run, and over which axis ("r" or "R")."""

    observe: Callable[[Setup, xr.Dataset], Observation]
    axis: str


def observe(name: str, setup: Setup, run: xr.Dataset) -> Observation:
    """What `run` shows of the quantity `name`.

    Raises:
        InputError: if the quantity is not one that a run shows, or the run lacks a variable that it needs.
    """
    if name not in QUANTITIES:
        raise InputError(f"quantity {name!r} is not observed along a run: known are {', '.join(QUANTITIES)}")
    try:
        return QUANTITIES[name].observe(setup, run)
    except KeyError as missing:
        raise InputError(f"the run has no variable {missing}: it is needed for {name}") from None


def _distances(setup: Setup, run: xr.Dataset) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """||N_r - N*|| for r = 0..R and a proven bound on its error: run, equilibrium and this very sum."""
    equilibrium = setup.equilibrium
    distance = np.linalg.norm(run["N"].values - equilibrium.N, axis=1)
    rounding = (setup.game.m + 4) * _U * distance
    return distance, (run["N_error"].values + equilibrium.error_bound + rounding) * (1 + 4 * _U)


def _ne_distance(setup: Setup, run: xr.Dataset) -> Curve:
    values, error = _distances(setup, run)
    rounds = run["round"].values.astype(int)
    diameter = float(np.linalg.norm(setup.game.upper - setup.game.lower)) * (1 + 1e-12)
    return Curve("r", rounds, values, error, rounds == 0, diameter)


def _weight_error(setup: Setup, run: xr.Dataset) -> Curve:
    """max_i |p_{i,r} - p*_i|: each |p_i(N) - p_i(N')| <= sqrt(m - 1) ||N - N'|| / ||N'||_1 (sharp Lemma 4.3(ii))."""
    m = setup.game.m
    values = np.abs(run["p"].values - setup.p_star).max(axis=1)
    moved = run["N_error"].values + setup.equilibrium.error_bound
    error = np.sqrt(m) * moved / float(setup.game.lower.sum()) + (2 * m + 8) * _U
    rounds = run["round"].values.astype(int)
    return Curve("r", rounds, values, error * (1 + 1e-12), np.zeros(rounds.size, dtype=bool), 1.0)


def _ne_infeasibility(setup: Setup, run: xr.Dataset) -> Curve:
    """E||N_{r*} - N*||^2 for r* uniform on {r_hat, ..., R' - 1}: the exact mean over r, for every R' <= R."""
    distance, error = _distances(setup, run)
    r_hat = setup.r_hat
    d, e = distance[r_hat:-1], error[r_hat:-1]
    count = np.arange(1, d.size + 1)
    values = np.cumsum(d**2) / count
    slack = np.cumsum(2 * d * e + e**2) / count + (count + 4) * _U * values
    rounds = r_hat + count
    identity = (rounds == 1) if r_hat == 0 else np.zeros(rounds.size, dtype=bool)
    diameter = float(((setup.game.upper - setup.game.lower) ** 2).sum()) * (1 + 1e-12)
    return Curve("R", rounds, values, slack * (1 + 1e-12), identity, diameter)


def _squared_gradient(average: str) -> Callable[[Setup, xr.Dataset], Observation]:
    def observed(setup: Setup, run: xr.Dataset) -> Observation:
        draws = run["grad_f_sq"].sel(average=average).transpose("seed", "draw").values
        last = (run["k"].values.max(axis=0) // setup.instance.algorithm.H) + 1
        c = setup.config
        deterministic = c.sampling == "full" and draws.shape[1] == c.H * (c.R - c.r_hat)
        path = np.cumsum(draws, axis=1) / np.arange(1, draws.shape[1] + 1)
        return Sample(
            values=draws.mean(axis=1),
            start=setup.start_gap(run),
            ceiling=setup.grad_f_sq_ceiling,
            variance_proxy=0.0 if deterministic else float("inf"),
            horizon=last.astype(int),
            path=path,
        )

    return observed


def _average_gap(average: str) -> Callable[[Setup, xr.Dataset], Observation]:
    def observed(setup: Setup, run: xr.Dataset) -> Observation:
        f_star = setup.shared["f_star"]
        if setup.closed_form:
            return setup.closed_form_gap()
        gaps = run["f_avg"].sel(average=average).transpose("seed", "horizon").values
        gaps = np.maximum(gaps - float(np.asarray(f_star.value)) + float(f_star.radius), 0.0)
        return Sample(
            values=gaps[:, -1],
            start=setup.start_distance_sq(run),
            ceiling=setup.f_gap_ceiling,
            variance_proxy=setup.f_gap_proxy(run),
            horizon=run["horizon"].values.astype(int),
            path=gaps,
        )

    return observed


QUANTITIES: dict[str, Quantity] = {
    "ne_distance": Quantity(_ne_distance, "r"),
    "weight_error": Quantity(_weight_error, "r"),
    "ne_infeasibility": Quantity(_ne_infeasibility, "R"),
    "grad_f_sq@p_now": Quantity(_squared_gradient("p_now"), "R"),
    "grad_f_sq@p_next": Quantity(_squared_gradient("p_next"), "R"),
    "f_gap_avg@p_now": Quantity(_average_gap("p_now"), "R"),
    "f_gap_avg@p_next": Quantity(_average_gap("p_next"), "R"),
}
