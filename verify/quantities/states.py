"""The clients' iterates at a few steps k, with everything that the one-step lemmas speak of, known to within an error.

A one-step lemma is an inequality in the state x_{1,k}, ..., x_{m,k} alone: the noise that is still to come enters by
its conditional mean and variance, and both are finite sums over the clients' samples. So it is judged without
statistics, against the rounding of these sums.

Rounding. A gradient is a mean over D samples of functions of n-term products. For the linear models, softmax
regression and quadratics its float value errs by at most 4 (n + D + 32) u times (the samples' mean gradient norm
+ min(n, D) L ||x||): a product's rounding moves a sample's gradient by its smoothness constant, and these average to
a trace, at most min(n, D) times the largest eigenvalue.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary, ref

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from bounds import Constant
from simulate.problems.base import Problem
from simulate.problems.linear import LinearModel
from simulate.problems.quadratics import Quadratics
from simulate.problems.softmax import SoftmaxRegression
from verify.observed import Measured, Unobserved
from verify.quantities import replay
from verify.quantities.participation import OUT, U, weight_slack
from verify.setting import Setting

STATES = 24  # at which the one-step lemmas are judged, at most
_CHUNK = 1 << 19  # floats of sample gradients held at a time
Values = Float[np.ndarray, " Q"]
Sized = Float[np.ndarray, "..."]


def precision(problem: Problem) -> float:
    """The unit roundoff (twice) of the numbers that the problem computes with."""
    return float(np.finfo(problem.dtype).eps)


def unit(problem: Problem) -> float:
    """The relative rounding of a mean over samples of n-term products, in the problem's own precision."""
    return 4.0 * (problem.n + int(problem.sizes.max()) + 32) * precision(problem)


def rounds_as_proved(problem: Problem) -> bool:
    """Whether `unit` is proved for it: the module's text speaks of these losses, not of products of layers."""
    return isinstance(problem, LinearModel | SoftmaxRegression | Quadratics)


def product(a: Sized, a_error: Sized, b: Sized, b_error: Sized) -> Sized:
    """The error of a product, from sizes and errors of its factors."""
    return a * b_error + b * a_error + a_error * b_error


def square(a: Sized, a_error: Sized) -> Sized:
    """The error of a^2."""
    return 2 * a * a_error + a_error**2


@dataclass(frozen=True, eq=False)
class States:
    """Q states of a run.

    Attributes:
        r, h: their rounds and local steps, k = H r + h.
        x: the clients' iterates before step k, [Q, m, n].
        p, p_slack: all weights [R + 1, m], and a bound on the error of each of them by round, [R + 1].
    """

    setup: Setting
    r: Int[np.ndarray, " Q"]
    h: Int[np.ndarray, " Q"]
    x: Float[np.ndarray, "Q m n"]
    p: Float[np.ndarray, "rounds m"]
    p_slack: Float[np.ndarray, " rounds"]

    @property
    def k(self) -> Int[np.ndarray, " Q"]:
        """The steps."""
        return self.r * self.setup.config.H + self.h

    @cached_property
    def gradient(self) -> Float[np.ndarray, "Q m n"]:
        """grad f_i(x_{i,k})."""
        return self.setup.problem.local_gradients(self.x)

    @cached_property
    def moments(self) -> tuple[Float[np.ndarray, "Q m"], ...]:
        """Over each client's samples j: mean ||g_j||, mean ||g_j||^2, mean ||g_j - grad f_i||^2 at x_{i,k}."""
        problem = self.setup.problem
        Q, m, n = self.x.shape
        found = np.zeros((3, Q, m))
        chunk = max(1, _CHUNK // (m * n))
        for q in range(Q):
            for first in range(0, int(problem.sizes.max()), chunk):
                j = np.arange(first, min(first + chunk, int(problem.sizes.max())))
                index = np.minimum(j[:, None], problem.sizes[None, :] - 1)[:, :, None]
                here = np.repeat(self.x[q][None], j.size, axis=0)
                g = problem.sample_gradients(here, index)
                mine = j[:, None] < problem.sizes[None, :]
                norms = (g * g).sum(axis=2)
                apart = ((g - self.gradient[q]) ** 2).sum(axis=2)
                for row, values in enumerate((np.sqrt(norms), norms, apart)):
                    found[row, q] += np.where(mine, values, 0.0).sum(axis=0)
        found /= problem.sizes
        return found[0], found[1], found[2]

    @cached_property
    def gradient_error(self) -> Float[np.ndarray, "Q m"]:
        """A bound on the rounding of `gradient`, a norm for each client."""
        return self.error_at(np.linalg.norm(self.x, axis=2), 0.0)

    def error_at(
        self, size: Float[np.ndarray, "Q clients"], moved: Float[np.ndarray, "Q m"] | float
    ) -> Float[np.ndarray, "Q m"]:
        """The rounding of each client's gradient at points of norm `size`, `moved` from the clients' iterates."""
        problem = self.setup.problem
        spread = np.minimum(problem.n, problem.sizes) * problem.smoothness()
        return unit(problem) * (self.moments[0] + spread * (size + moved)) * OUT

    @cached_property
    def share(self) -> Float[np.ndarray, " m"]:
        """What a batch leaves of one sample's variance, by client.

        Raises:
            Unobserved: for noise that is not independent of the past.
        """
        config, sizes = self.setup.config, self.setup.problem.sizes
        if config.sampling == "full":
            return np.zeros(len(sizes))
        if config.sampling != "iid" or config.replacement == "round":
            raise Unobserved(
                f"sampling {config.sampling}, replacement {config.replacement}: biased given the past"
            )
        if config.replacement == "with":
            return np.full(len(sizes), 1.0 / config.batch)
        return (sizes - config.batch) / (config.batch * np.maximum(sizes - 1.0, 1.0))

    @cached_property
    def variance(self) -> tuple[Float[np.ndarray, "Q m"], Float[np.ndarray, "Q m"]]:
        """E||g_{i,k} - grad f_i(x_{i,k})||^2 given the past, and a bound on its error."""
        mean_square, e = self.moments[2], self.gradient_error
        error = square(np.sqrt(mean_square), 2 * e) + unit(self.setup.problem) * mean_square
        return self.share * mean_square, self.share * error

    def view(self, average: str) -> View:
        """The states with the weights of one average."""
        if average not in self._views:
            self._views[average] = View(self, average)
        return self._views[average]

    @cached_property
    def _views(self) -> dict[str, View]:
        return {}


@dataclass(frozen=True, eq=False)
class View:
    """The states with weights p_{i,r} ("p_now") or p_{i,r+1} ("p_next") inside round r; `_error`: of a norm."""

    states: States
    average: str

    @property
    def problem(self) -> Problem:
        """The learning problem."""
        return self.states.setup.problem

    @cached_property
    def w(self) -> Float[np.ndarray, "Q m"]:
        """The weights."""
        return self.states.p[self.states.r + (self.average == "p_next")]

    @cached_property
    def w_error(self) -> Float[np.ndarray, "Q 1"]:
        """A bound on how far each weight, and each p*_i, is off."""
        star = float(np.max(self.states.setup.shared["p_star"].radius))
        return (self.states.p_slack[self.states.r + (self.average == "p_next")] + star)[:, None]

    @cached_property
    def x_bar(self) -> Float[np.ndarray, "Q n"]:
        """sum_i w_i x_i."""
        return np.einsum("qm,qmn->qn", self.w, self.states.x)

    @cached_property
    def apart(self) -> Float[np.ndarray, "Q m"]:
        """||x_i - x_bar||."""
        return np.linalg.norm(self.states.x - self.x_bar[:, None, :], axis=2)

    @cached_property
    def x_bar_error(self) -> Values:
        """Of x_bar (weights sum to one, so their errors only see x_i - x_bar)."""
        size = np.linalg.norm(self.states.x, axis=2)
        m = size.shape[1]
        return ((m + 4) * U * (self.w * size).sum(axis=1) + (self.w_error * self.apart).sum(axis=1)) * OUT

    @cached_property
    def e_bar(self) -> Measured:
        """sum_i w_i ||x_i - x_bar||^2."""
        d, m, n = self.apart, self.problem.m, self.problem.n
        values = (self.w * d**2).sum(axis=1)
        moved = (self.w * square(d, self.x_bar_error[:, None])).sum(axis=1)
        return Measured(values, (moved + (self.w_error * d**2).sum(axis=1) + (n + m + 8) * U * values) * OUT)

    @cached_property
    def drift(self) -> tuple[Float[np.ndarray, "Q n"], Values]:
        """E g_bar = sum_i w_i grad f_i(x_i), and its error."""
        return weighted_sum(self.w, self.w_error, self.states.gradient, self.states.gradient_error)

    @cached_property
    def noise(self) -> tuple[Values, Values]:
        """E||g_bar - E g_bar||^2 = sum_i w_i^2 Var_i (the clients draw independently), and its error."""
        return added_variance(self.w, self.w_error, *self.states.variance)

    @cached_property
    def local(self) -> tuple[Float[np.ndarray, "Q m n"], Float[np.ndarray, "Q m"]]:
        """grad f_i(x_bar), and the error of each."""
        size = np.linalg.norm(self.x_bar, axis=1)[:, None]
        error = self.states.error_at(size, self.apart)
        return self.problem.gradients(self.x_bar), error + self.problem.smoothness() * self.x_bar_error[
            :, None
        ]

    @cached_property
    def grad_f(self) -> tuple[Float[np.ndarray, "Q n"], Values]:
        """grad f(x_bar), and its error."""
        p = np.broadcast_to(self.states.setup.p_star, self.w.shape)
        return weighted_sum(p, self.w_error, *self.local)

    @cached_property
    def grad_f_sq(self) -> Measured:
        """||grad f(x_bar)||^2."""
        return norm_square(*self.grad_f)

    @cached_property
    def grad_fi_sq_sum(self) -> Measured:
        """sum_i ||grad f_i(x_bar)||^2."""
        values, error = self.local
        norms = np.linalg.norm(values, axis=2)
        total = (norms**2).sum(axis=1)
        rounding = (self.problem.n + self.problem.m + 8) * U * total
        return Measured(total, (square(norms, error).sum(axis=1) + rounding) * OUT)

    @cached_property
    def D_f(self) -> Measured:
        """f(x_bar) - f*."""
        setup = self.states.setup
        f_star, losses = setup.shared["f_star"], self.problem.losses(self.x_bar)
        p, size = setup.p_star, np.linalg.norm(self.x_bar, axis=1)
        steep = (
            np.linalg.norm(self.local[0], axis=2)
            + self.states.moments[0]
            + self.problem.smoothness() * self.apart
        )
        rounding = unit(self.problem) * ((np.abs(losses) + steep * size[:, None]) @ p)
        moved = np.linalg.norm(self.grad_f[0], axis=1) * self.x_bar_error
        moved = moved + self.problem.smoothness() * self.x_bar_error**2
        error = rounding + moved + (self.w_error * np.abs(losses)).sum(axis=1) + float(f_star.radius)
        value = losses @ p - float(np.asarray(f_star.value))
        error = error + 4 * U * (np.abs(value) + abs(float(np.asarray(f_star.value))))
        return Measured(np.maximum(value, 0.0), error * OUT)

    @cached_property
    def from_x_star(self) -> tuple[Float[np.ndarray, "Q n"], Values]:
        """x_bar - x*, and its error.

        Raises:
            Unobserved: where no minimiser is known.
        """
        x_star = self._x_star()
        apart = self.x_bar - np.asarray(x_star.value, dtype=float)
        size = np.linalg.norm(self.x_bar, axis=1)
        return apart, (self.x_bar_error + float(np.max(x_star.radius)) + 2 * U * size) * OUT

    def _x_star(self) -> Constant:
        shared = self.states.setup.shared
        if "x_star" not in shared:
            raise Unobserved("no minimiser x* of f is known")
        return shared["x_star"]

    @cached_property
    def X_sq(self) -> Measured:
        """||x_bar - x*||^2."""
        return norm_square(*self.from_x_star)

    @cached_property
    def next_dist_sq(self) -> Measured:
        """E||x_bar_{k+1} - x*||^2 given the past.

        The last step of a round ends in x_hat_{r+1}, an average with p_{i,r+1} whichever average the step began with.
        """
        states, config = self.states, self.states.setup.config
        last = (states.h == config.H - 1)[:, None]
        w = np.where(last, states.p[states.r + 1], self.w)
        star = float(np.max(states.setup.shared["p_star"].radius))
        w_error = np.where(last, (states.p_slack[states.r + 1] + star)[:, None], self.w_error)
        error = config.gamma * states.gradient_error + 4 * U * (
            np.linalg.norm(states.x, axis=2) + config.gamma * np.linalg.norm(states.gradient, axis=2)
        )
        mean, mean_error = weighted_sum(w, w_error, states.x - config.gamma * states.gradient, error)
        x_star = self._x_star()
        apart = mean - np.asarray(x_star.value, dtype=float)
        mean_error = mean_error + float(np.max(x_star.radius)) + 2 * U * np.linalg.norm(mean, axis=1)
        reached = norm_square(apart, mean_error)
        noise, noise_error = added_variance(w, w_error, *states.variance)
        values = reached.values + config.gamma**2 * noise
        return Measured(values, (reached.radius + config.gamma**2 * noise_error + 4 * U * values) * OUT)


def weighted_sum(
    w: Float[np.ndarray, "Q m"],
    w_error: Float[np.ndarray, "Q 1"],
    values: Float[np.ndarray, "Q m n"],
    error: Float[np.ndarray, "Q m"],
) -> tuple[Float[np.ndarray, "Q n"], Values]:
    """sum_i w_i values_i, and its error (weights that sum to one see only the values' distances from their mean)."""
    total = np.einsum("qm,qmn->qn", w, values)
    norms = np.linalg.norm(values, axis=2)
    spread = np.linalg.norm(values - total[:, None, :], axis=2)
    rounding = (w.shape[1] + 4) * U * (w * norms).sum(axis=1)
    off = (w_error * (spread + error)).sum(axis=1) + (w * error).sum(axis=1) + rounding
    return total, off * OUT


def added_variance(
    w: Float[np.ndarray, "Q m"],
    w_error: Float[np.ndarray, "Q 1"],
    variance: Float[np.ndarray, "Q m"],
    error: Float[np.ndarray, "Q m"],
) -> tuple[Values, Values]:
    """sum_i w_i^2 variance_i, and its error."""
    values = (w**2 * variance).sum(axis=1)
    off = ((w + w_error) ** 2 * error + square(w, w_error) * variance).sum(axis=1)
    return values, (off + (w.shape[1] + 4) * U * values) * OUT


def norm_square(vector: Float[np.ndarray, "Q n"], error: Values) -> Measured:
    """||vector||^2."""
    size = np.linalg.norm(vector, axis=1)
    return Measured(size**2, (square(size, error) + (vector.shape[1] + 8) * U * size**2) * OUT)


_KEPT: WeakKeyDictionary[Setting, tuple[ref[xr.Dataset], States]] = WeakKeyDictionary()


def states_of(setup: Setting, run: xr.Dataset) -> States:
    """A few states of the run, the same for every quantity: every local step of the watched rounds of some seeds.

    Raises:
        Unobserved: if the run keeps no models, or the problem is too large.
    """
    if setup in _KEPT and _KEPT[setup][0]() is run:
        return _KEPT[setup][1]
    rounds, H = replay.watched(run), setup.config.H
    steps = np.unique(np.rint(np.linspace(0, H - 1, min(H, max(2, STATES // len(rounds))))).astype(int))
    most = replay.affordable(setup.problem, len(rounds), steps.size, run.sizes["seed"])
    seeds = max(1, min(most, STATES // (len(rounds) * steps.size)))
    parts = [replay.fresh(setup, run, r, seeds) for r in rounds]
    x = np.concatenate([part.x[:, steps].reshape(-1, setup.problem.m, setup.problem.n) for part in parts])
    r = np.repeat(rounds, seeds * steps.size)
    h = np.tile(steps, seeds * len(rounds))
    states = States(setup, r, h, x, run["p"].values, weight_slack(setup, run))
    _KEPT[setup] = (ref(run), states)
    return states
