"""Expectations over a run's noise, one copy a seed: gradients at drawn steps, gaps of averages, consensus sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr

from simulate.problems.softmax import SoftmaxRegression
from verify.observed import Curve, Sample, Start, Unobserved
from verify.quantities.reachable import reachable
from verify.quantities.rounding import rounding
from verify.setup import Setup


def squared_gradient(setup: Setup, run: xr.Dataset, average: str) -> Sample:
    """||grad f(x_bar_{k*})||^2, the mean over the steps k that each seed drew."""
    draws = run["grad_f_sq"].sel(average=average).transpose("seed", "draw").values
    if not draws.shape[1] or np.any(np.isnan(draws)):
        raise Unobserved("no step of the run was drawn to be measured")
    c = setup.config
    last = (run["k"].values.max(axis=0) // c.H) + 1
    every = draws.shape[1] == c.H * (c.R - c.r_hat)
    certain = setup.certain and every
    path = np.cumsum(draws, axis=1) / np.arange(1, draws.shape[1] + 1)
    known, near = setup.grad_f_sq_ceiling, None if certain else reachable(setup, run, average)
    ceiling = known if near is None else min(known, near.drawn(near.grad_f_sq, c.r_hat, draws.shape[1]))
    return Sample(
        values=draws.mean(axis=1),
        starts=(_gap(setup, run),),
        ceiling=ceiling,
        known=known,
        variance_proxy=0.0 if certain else float("inf"),
        horizon=last.astype(int),
        path=path,
        certain=certain,
        round=c.R,
        error=rounding(setup, run).gradient_sq(float(draws.mean(axis=1).max())) + _unit(run, "grad_f_sq"),
        scale=_gradient_scale(setup, run),
    )


def average_gap(setup: Setup, run: xr.Dataset, average: str) -> Sample | Curve:
    """f(x_bar^avg) - f* of each seed, or the closed form of a run that nothing random enters."""
    f_star = setup.shared["f_star"]
    if setup.closed_form:
        return setup.closed_form_gap()
    if "f_avg" not in run:
        raise KeyError(f"f_avg_{average}")
    if not run.sizes["horizon"]:
        raise Unobserved("the run measures no averaged iterate")
    gaps = run["f_avg"].sel(average=average).transpose("seed", "horizon").values
    if np.any(np.isnan(gaps)):
        raise KeyError(f"f_avg_{average}")
    gaps = np.maximum(gaps - float(np.asarray(f_star.value)), 0.0)
    errors = rounding(setup, run)
    error = errors.gap(float(gaps[:, -1].max()), errors.averaged)
    return Sample(
        values=gaps[:, -1],
        starts=(_distance(setup, run),),
        ceiling=setup.f_gap_ceiling,
        variance_proxy=setup.f_gap_proxy(run),
        horizon=run["horizon"].values.astype(int),
        path=gaps,
        certain=setup.certain,
        round=int(run["horizon"].values[-1]),
        error=error + _unit(run, "f_avg"),
        scale=_loss_scale(setup),
    )


def consensus_ceiling(setup: Setup, tau: int) -> float:
    """A proven bound on e_bar_k for k = T_r + tau, over all runs.

    e_bar <= sum_i q_i ||x_{i,k} - c||^2 for every c. With c = x_0 that is the displacement of a whole run; with
    c = x_hat_r it is tau steps of bounded gradients, where the gradients are bounded.
    """
    problem, c = setup.problem, setup.config
    reach = float(problem.displacement_ceiling(c.x_0, c.gamma, c.T_R))
    best = reach**2
    if isinstance(problem, SoftmaxRegression):
        radius = float(np.linalg.norm(c.x_0)) + reach
        step = c.gamma * (problem.sample_gradient_ceiling() + problem.regulariser * radius)
        best = min(best, (tau * step) ** 2)
    return best * (1 + 1e-12)


def consensus_sum(setup: Setup, run: xr.Dataset, average: str) -> Sample:
    """sum_k E e_bar_k over the counted steps: their number times the mean over each seed's drawn steps.

    The mean square gradient at the very same steps is the expectation that the bound contains.
    """
    c = setup.config
    steps = c.H * (c.R - c.r_hat)
    e_bar = run["e_bar"].sel(average=average).transpose("seed", "draw").values
    squares = run["grad_f_sq"].sel(average=average).transpose("seed", "draw").values
    if not e_bar.shape[1]:
        raise Unobserved("no step of the run was drawn to be measured")
    last = (run["k"].values.max(axis=0) // c.H) + 1
    certain = setup.certain and e_bar.shape[1] == steps
    ceiling = setup.grad_f_sq_ceiling
    mean = squares.mean(axis=1)
    errors = rounding(setup, run)
    error = errors.gradient_sq(float(mean.max()))
    known, near = (
        steps * consensus_ceiling(setup, c.H - 1),
        None if certain else reachable(setup, run, average),
    )
    most = known if near is None else min(known, steps * near.drawn(near.e_bar, c.r_hat, e_bar.shape[1]))
    start = Start("grad_f_sq", mean, 0.0, float(mean.max()) if certain else ceiling, error)
    count = np.arange(1, e_bar.shape[1] + 1)
    return Sample(
        values=steps * e_bar.mean(axis=1),
        starts=(start,),
        ceiling=most,
        known=known,
        variance_proxy=0.0 if certain else float("inf"),
        horizon=last.astype(int),
        path=np.cumsum(e_bar, axis=1) / count * (c.H * (last - c.r_hat)),
        certain=certain,
        round=c.R,
        error=steps * errors.consensus(float(e_bar.mean(axis=1).max())),
        scale=steps * errors.size**2,
    )


def start_gap(setup: Setup, run: xr.Dataset) -> Sample:
    """f(x_bar_{T_r_hat}) - f* of each seed (the a-priori start gap bounds its mean)."""
    return _of_start(setup, _gap(setup, run), _loss_scale(setup))


def start_distance(setup: Setup, run: xr.Dataset) -> Sample:
    """||x_bar_{T_r_hat} - x*||^2 of each seed."""
    return _of_start(setup, _distance(setup, run), rounding(setup, run).size ** 2)


def _gap(setup: Setup, run: xr.Dataset) -> Start:
    """f(x_bar_{T_r_hat}) - f*: measured, or f(x_0) - f* where nothing was recorded and counting starts at once."""
    if "f" not in run:
        return _known(setup, run, "f_gap", "f")
    start = setup.start_gap(run)
    error = rounding(setup, run).gap(float(start.values.max()))
    return replace(start, error=error + _unit(run, "f"))


def _distance(setup: Setup, run: xr.Dataset) -> Start:
    """||x_bar_{T_r_hat} - x*||^2: measured, or ||x_0 - x*||^2 in the same case."""
    if "dist_sq" not in run:
        return _known(setup, run, "D_r_hat", "dist_sq")
    start = setup.start_distance_sq(run)
    error = rounding(setup, run).distance_sq(float(start.values.max()))
    return replace(start, error=error + _unit(run, "dist_sq"))


def _unit(run: xr.Dataset, variable: str) -> float:
    """How exactly a file gives a variable; a run of this project's simulator gives all of it."""
    return float(run.attrs.get(f"{variable}_unit", 0.0))


def _known(setup: Setup, run: xr.Dataset, name: str, variable: str) -> Start:
    """A start that the constants give.

    Raises:
        KeyError: naming the variable, if they do not.
    """
    if setup.r_hat or name not in setup.shared:
        raise KeyError(variable)
    constant = setup.shared[name]
    value, radius = float(np.asarray(constant.value)), float(np.max(constant.radius))
    low, high = max(value - radius, 0.0), value + radius
    if name == "D_r_hat":  # it enters by its square
        low, high = low**2 * (1 - 1e-12), high**2 * (1 + 1e-12)
    middle = (low + high) / 2
    return Start(name, np.full(run.sizes["seed"], middle), low, high, high - middle)


def _loss_scale(setup: Setup) -> float:
    """The size of the losses, against which an error of their difference is small."""
    return float(setup.problem.loss(setup.config.x_0, setup.p_star)) + abs(
        float(np.asarray(setup.shared["f_star"].value))
    )


def _gradient_scale(setup: Setup, run: xr.Dataset) -> float:
    """The size of the squares of the clients' gradients, of which a gradient of f is what is left over."""
    return rounding(setup, run).slope ** 2


def _of_start(setup: Setup, start: Start, scale: float) -> Sample:
    none = np.zeros(0, dtype=int)
    return Sample(
        values=start.values,
        starts=(),
        ceiling=start.ceiling,
        variance_proxy=float("inf"),
        horizon=none,
        path=np.zeros((start.values.size, 0)),
        certain=setup.certain,
        round=setup.r_hat,
        error=start.error,
        scale=scale,
    )
