"""Ceilings that a run's own weights give: how far noisy quadratics can be from the run without noise."""

from __future__ import annotations

from weakref import WeakKeyDictionary, ref

import numpy as np
import xarray as xr
from jaxtyping import Float

from simulate.problems.quadratics import Quadratics
from simulate.reach import MOST, Reach, noise_free, reach
from verify.quantities.participation import weight_slack
from verify.setting import Setting

_KEPT: WeakKeyDictionary[
    Setting, tuple[ref[xr.Dataset], Float[np.ndarray, "R H_1 m n"], dict[str, Reach]]
] = WeakKeyDictionary()


def reachable(setup: Setting, run: xr.Dataset, average: str) -> Reach | None:
    """The ceilings of one average, for runs of this project's simulator on quadratics; None for every other.

    The proof needs each step of the run to be one of Algorithm 1 from the instance's x_0, which a file's word is not.
    """
    config, problem = setup.config, setup.problem
    if not isinstance(problem, Quadratics) or "fingerprint" not in run.attrs:
        return None
    if config.R * (config.H + 1) * problem.m * problem.n > MOST:
        return None
    p = run["p"].values
    if setup not in _KEPT or _KEPT[setup][0]() is not run:
        _KEPT[setup] = (ref(run), noise_free(problem, config, p), {})
    _, points, kept = _KEPT[setup]
    if average not in kept:
        kept[average] = reach(problem, config, points, p, weight_slack(setup, run), setup.p_star, average)
    return kept[average]
