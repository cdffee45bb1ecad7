"""Quantities of Lemma 4.4: the averaged participation N_bar_R, its welfare, its dual gap, its distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

import games
from games.welfare import EntropyWelfare, QuadraticWelfare, SoftplusWelfare, Welfare
from simulate.participation import SCHEDULE_ERROR, schedule
from verify.observed import Curve, Measured, Unobserved
from verify.quantities.participation import OUT, U, thinned
from verify.setting import Setting

HORIZONS = 200  # at which N_bar_R is looked at
FEW = 30  # the same, where each needs its distance to a set of equilibria, a search with a proof
GAPS = 40  # at which the dual gap is bracketed: each is a search with a proof


@dataclass(frozen=True)
class Averages:
    """N_bar_R = sum_{r<R} gamma_tilde_r lambda_r N_r / sum_{r<R} gamma_tilde_r lambda_r at some R.

    Attributes:
        R: the horizons, increasing; N: [len(R), m]; error: proven bounds on ||N - exact N_bar_R||.
    """

    R: Int[np.ndarray, " k"]
    N: Float[np.ndarray, "k m"]
    error: Float[np.ndarray, " k"]


def averages(setup: Setting, run: xr.Dataset, most: int) -> Averages:
    """N_bar_R at about `most` horizons R.

    A convex combination errs by the same combination of the errors of the N_r; a relative error eta of the
    weights moves it by at most 2 eta times the box's diameter; and the sums round.

    Raises:
        Unobserved: for a run without a regularised update.
    """
    config = setup.config
    if not setup.regularised or config.lambda_0 is None:
        raise Unobserved("the averaged participation needs a run with the regularised update")
    last, m = run.sizes["round"] - 1, setup.game.m
    weight = schedule(config.gamma_tilde, config.a, last) * schedule(config.lambda_0, config.b, last)
    total = np.cumsum(weight)
    N = np.cumsum(weight[:, None] * run["N"].values[:-1], axis=0) / total[:, None]
    moved = np.cumsum(weight * run["N_error"].values[:-1]) / total
    eta = 2 * SCHEDULE_ERROR + 2 * U
    diameter = float(np.linalg.norm(setup.game.upper - setup.game.lower))
    rounding = (np.arange(1, last + 1) + m + 8) * U * np.linalg.norm(N, axis=1) * 2
    R = thinned(1, last, most)
    error = (moved * (1 + last * U) + 2 * eta * diameter + rounding) * OUT
    return Averages(R, np.clip(N[R - 1], setup.game.lower, setup.game.upper), error[R - 1])


def _none(R: Int[np.ndarray, " k"]) -> np.ndarray:
    return np.zeros(R.size, dtype=bool)


def _constant(setup: Setting, name: str) -> float:
    """The upper end of a shared constant.

    Raises:
        Unobserved: if the instance does not have it.
    """
    if name not in setup.shared:
        raise Unobserved(f"the constant {name} is not known here")
    constant = setup.shared[name]
    return (float(np.asarray(constant.value)) + float(np.max(constant.radius))) * OUT


def value_error(welfare: Welfare, N: Float[np.ndarray, "*batch m"]) -> Float[np.ndarray, "*batch"]:
    """A bound on the rounding error of welfare.value(N).

    Soft-plus is 1-Lipschitz in its sum of m terms and errs by 8 u of itself; the quadratic and the entropy are
    sums of m terms of a few roundings each (a logarithm within 2 ulp).

    Raises:
        Unobserved: for a loss whose rounding is not known.
    """
    m = N.shape[-1]
    if isinstance(welfare, SoftplusWelfare):
        return np.asarray((m * np.abs(N).sum(axis=-1) + 8 * np.abs(welfare.value(N))) * U * OUT)
    if isinstance(welfare, QuadraticWelfare):
        return np.asarray((m + 8) * U * np.abs(welfare.value(N)) * OUT)
    if isinstance(welfare, EntropyWelfare):
        return np.asarray((m + 8) * U * np.abs(N * np.log(N)).sum(axis=-1) * OUT)
    raise Unobserved(f"the rounding of {type(welfare).__name__} is not known, so its values prove nothing")


def welfare_gap(setup: Setting, run: xr.Dataset) -> Curve:
    """h(N_bar_R) - h(N*), signed, with dist(N_bar_R, SOL) for the lower bound."""
    found = averages(setup, run, HORIZONS if setup.equilibrium.unique is True else FEW)
    h, star = setup.welfare, setup.h_star
    assert h is not None  # a regularised run has a welfare loss
    assert star is not None  # and h a least value over the equilibria
    slope = _constant(setup, "C_H")
    here, best = h.value(found.N), (star.low + star.high) / 2
    error = value_error(h, found.N) + (star.high - star.low) / 2 + 4 * U * (np.abs(here) + abs(best))
    error = error + slope * found.error
    along = _distance_to_equilibria(setup, found)
    size = max(
        float(np.max(np.abs(here))), abs(best), slope * float(np.max(setup.game.upper - setup.game.lower))
    )
    return Curve("R", found.R, here - best, error * OUT, _none(found.R), along=along, scale=size)


def _distance_to_equilibria(setup: Setting, found: Averages) -> Mapping[str, Measured]:
    """dist(N_bar_R, SOL), where it can be had: to the one equilibrium, or to an affine game's set of them."""
    game, equilibrium = setup.game, setup.equilibrium
    if equilibrium.unique is True:
        values = np.linalg.norm(found.N - equilibrium.N, axis=1)
        radius = found.error + equilibrium.error_bound + (game.m + 4) * U * values
        return {"dist_sol": Measured(values, radius * OUT)}
    if not isinstance(game, games.Affine):
        return {}
    try:
        solutions = games.solution_set(game)
        brackets = [games.distance_to_solutions(game, N, solutions) for N in found.N]
    except games.GameError:
        return {}
    low, high = (np.array([getattr(b, end) for b in brackets]) for end in ("low", "high"))
    return {"dist_sol": Measured((low + high) / 2, ((high - low) / 2 + found.error + 4 * U * high) * OUT)}


def dual_gap(setup: Setting, run: xr.Dataset) -> Curve:
    """Gap(N_bar_R) = sup_x F(x)'(N_bar_R - x), bracketed: each verdict is taken against the end that it needs.

    Gap moves by at most C_F with ||N||.
    """
    found, slope = averages(setup, run, GAPS), _constant(setup, "C_F")
    try:
        brackets = [games.dual_gap(setup.game, N) for N in found.N]
    except games.GameError as unsolved:
        raise Unobserved(f"dual gap: {unsolved}") from None
    low, high = (np.array([getattr(b, end) for b in brackets]) for end in ("low", "high"))
    error = (high - low) / 2 + slope * found.error + 4 * U * high
    reach = slope * float(np.linalg.norm(setup.game.upper - setup.game.lower)) * OUT
    return Curve("R", found.R, (low + high) / 2, error * OUT, _none(found.R), reach)


def averaged_distance(setup: Setting, run: xr.Dataset) -> Curve:
    """||N_bar_R - N*||, whose limit Lemma 4.4(iii) is about."""
    found = averages(setup, run, HORIZONS)
    values = np.linalg.norm(found.N - setup.N_star, axis=1)
    error = (found.error + setup.N_star_error + (setup.game.m + 4) * U * values) * OUT
    diameter = float(np.linalg.norm(setup.game.upper - setup.game.lower)) * OUT
    return Curve("R", found.R, values, error, _none(found.R), diameter)
