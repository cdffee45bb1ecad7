"""Expectations inside a round: consensus errors before a step and summed over a round, one copy a seed.

From x_hat_r, kept by the run, each seed's round is played again with noise of its own: given x_hat_r it has the law
of the run's round, so the expectation over seeds is the one that Lemmas 4.13 and 6.9 bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary, ref

import numpy as np
import xarray as xr
from jaxtyping import Float

from verify.observed import Sample, Samples, Start
from verify.quantities import replay
from verify.quantities.expectations import consensus_ceiling
from verify.quantities.participation import OUT
from verify.quantities.reachable import reachable
from verify.quantities.rounding import Rounding, rounding
from verify.setup import Setup


@dataclass(frozen=True, eq=False)
class Inside:
    """Round r of S seeds with one average: what Lemmas 4.13 and 6.9 speak of, at each local step."""

    setup: Setup
    r: int
    x_bar: Float[np.ndarray, "S H n"]
    e_bar: Float[np.ndarray, "S H"]

    @cached_property
    def gradients(self) -> Float[np.ndarray, "S H m n"]:
        """grad f_i(x_bar_k)."""
        S, H, n = self.x_bar.shape
        return self.setup.problem.gradients(self.x_bar.reshape(-1, n)).reshape(S, H, -1, n)

    @cached_property
    def grad_fi_sq_sum(self) -> Float[np.ndarray, "S H"]:
        """sum_i ||grad f_i(x_bar_k)||^2."""
        return (self.gradients**2).sum(axis=(2, 3))

    @cached_property
    def grad_f_sq(self) -> Float[np.ndarray, "S H"]:
        """||grad f(x_bar_k)||^2."""
        return (np.einsum("m,shmn->shn", self.setup.p_star, self.gradients) ** 2).sum(axis=2)

    @cached_property
    def D_f(self) -> Float[np.ndarray, "S H"]:
        """f(x_bar_k) - f*."""
        S, H, n = self.x_bar.shape
        f = self.setup.problem.loss(self.x_bar.reshape(-1, n), self.setup.p_star).reshape(S, H)
        return np.maximum(f - float(np.asarray(self.setup.shared["f_star"].value)), 0.0)


_KEPT: WeakKeyDictionary[Setup, tuple[ref[xr.Dataset], dict[str, list[Inside]]]] = WeakKeyDictionary()


def _inside(setup: Setup, run: xr.Dataset, average: str) -> list[Inside]:
    """The watched rounds with one average, kept until another run is looked at."""
    if setup not in _KEPT or _KEPT[setup][0]() is not run:
        _KEPT[setup] = (ref(run), {})
    kept = _KEPT[setup][1]
    if average not in kept:
        watched = replay.watched(run)
        seeds = replay.affordable(setup.problem, len(watched), setup.config.H, run.sizes["seed"])
        kept[average] = [_look(setup, run, r, seeds, average) for r in watched]
    return kept[average]


def _look(setup: Setup, run: xr.Dataset, r: int, seeds: int, average: str) -> Inside:
    part = replay.fresh(setup, run, r, seeds)
    w = run["p"].values[r + (average == "p_next")]
    x_bar = np.einsum("m,shmn->shn", w, part.x)
    spread = ((part.x - x_bar[:, :, None]) ** 2).sum(axis=3)
    return Inside(setup, r, x_bar, spread @ w)


def _ceilings(setup: Setup) -> dict[str, float]:
    """Proven bounds on what the right sides contain, over all runs (infinite where none is known)."""
    return {
        "grad_f_sq": setup.grad_f_sq_ceiling,
        "D_f": setup.f_gap_ceiling if "f_star" in setup.shared else float("inf"),
        "e_bar": consensus_ceiling(setup, setup.config.H - 1),
        "grad_fi_sq_sum": _local_ceiling(setup),
    }


def _local_ceiling(setup: Setup) -> float:
    """sum_i sup ||grad f_i||^2: each is at most ||grad f_i(x_0)|| + L times the displacement."""
    c, problem = setup.config, setup.problem
    L = float(np.asarray(setup.shared["L"].value))  # on a ball, where it is certified on one
    reach = L * float(problem.displacement_ceiling(c.x_0, c.gamma, c.T_R))
    start = np.linalg.norm(problem.gradients(c.x_0), axis=1)
    return float(((start + reach) ** 2).sum()) * (1 + 1e-9)


def _start_error(errors: Rounding, name: str, mean: float) -> float:
    """The error of the mean over steps of what a right side contains."""
    of = {
        "grad_f_sq": errors.gradient_sq,
        "D_f": errors.gap,
        "e_bar": errors.consensus,
        "grad_fi_sq_sum": errors.local_gradients_sq,
    }
    return of[name](mean)


def _sample(
    setup: Setup,
    errors: Rounding,
    r: int,
    values: Float[np.ndarray, " S"],
    means: dict[str, Float[np.ndarray, " S"]],
    ceilings: tuple[float, float],
    given: dict[str, int],
    count: int = 1,
) -> Sample:
    """`values`: sums of `count` consensus errors; `ceilings`: known before the run, and with its weights."""
    certain, most = setup.certain, _ceilings(setup)
    starts = tuple(
        Start(
            name,
            mean,
            0.0,
            float(mean.max()) if certain else most[name],
            _start_error(errors, name, float(mean.max())),
        )
        for name, mean in means.items()
    )
    return Sample(
        values=values,
        starts=starts,
        ceiling=min(ceilings),
        known=ceilings[0],
        variance_proxy=0.0 if certain else float("inf"),
        horizon=np.zeros(0, dtype=int),
        path=np.zeros((values.size, 0)),
        given={"r": r, **given},
        certain=certain,
        round=r,
        error=count * errors.consensus(float(values.max()) / count),
        scale=count * errors.size**2,
    )


def consensus_error(setup: Setup, run: xr.Dataset, average: str) -> Samples:
    """E e_bar_k as far into each watched round as a step goes, with the means over t = T_r..k-1 (Lemma 4.13(i), (ii)).

    With H = 1 the only k of the lemma is T_{r+1}, where all clients hold the same model.
    """
    tau, errors = max(setup.config.H - 1, 1), rounding(setup, run)
    near = None if setup.certain else reachable(setup, run, average)
    parts = []
    for inside in _inside(setup, run, average):
        values = inside.e_bar[:, tau] if setup.config.H > 1 else np.zeros(len(inside.e_bar))
        names = ("e_bar", "grad_f_sq", "grad_fi_sq_sum")
        means = {name: getattr(inside, name)[:, :tau].mean(axis=1) for name in names}
        most = np.inf if near is None or setup.config.H == 1 else float(near.e_bar[inside.r, tau])
        ceilings = (consensus_ceiling(setup, tau), most)
        parts.append(_sample(setup, errors, inside.r, values, means, ceilings, {"tau": tau}))
    return Samples(tuple(parts))


def _summed(
    setup: Setup,
    run: xr.Dataset,
    average: str,
    counted: Callable[[Float[np.ndarray, "S H"]], Float[np.ndarray, " S"]],
) -> Samples:
    """sum over a round of E e_bar_k, with the mean of D_f over the steps that `counted` takes."""
    H, errors = setup.config.H, rounding(setup, run)
    known = sum(consensus_ceiling(setup, tau) for tau in range(H))
    near = None if setup.certain else reachable(setup, run, average)
    parts = []
    for inside in _inside(setup, run, average):
        most = np.inf if near is None else float(near.e_bar[inside.r].sum()) * OUT
        means = {"D_f": counted(inside.D_f)}
        parts.append(_sample(setup, errors, inside.r, inside.e_bar.sum(axis=1), means, (known, most), {}, H))
    return Samples(tuple(parts))


def consensus_round(setup: Setup, run: xr.Dataset, average: str) -> Samples:
    """sum over a round of E e_bar_k (Lemma 6.9); D_f is the mean over the steps that the edition names.

    Printed (p_now): t = T_r+1..T_{r+1}-1; corrected (p_next): t = T_r..T_{r+1}-2. With H = 1 there is none, and the
    bound counts none.
    """
    steps = slice(1, None) if average == "p_now" else slice(0, setup.config.H - 1)
    return _summed(
        setup, run, average, lambda D: D[:, steps].mean(axis=1) if setup.config.H > 1 else np.zeros(len(D))
    )


def consensus_round_all(setup: Setup, run: xr.Dataset) -> Samples:
    """sum over a round of E e_bar_k with the mean of D_f over all its steps (sharp Lemma 6.9)."""
    return _summed(setup, run, "p_next", lambda D: D.mean(axis=1))
