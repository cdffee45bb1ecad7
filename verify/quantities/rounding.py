"""What the float64 rounding of a run can do to the numbers that it shows: absolute errors, proven for convex problems.

A gap f - f*, a square of a difference, a consensus error: each is what is left after its two sides cancelled, so its
error does not shrink with it. It is bounded here from the size of what was subtracted.

**Iterates.** A local step of a convex loss whose smoothness S obeys gamma S <= 2 is nonexpansive (beyond that it
expands by at most gamma S - 1), and so is an average. So the distance between an iterate and the exact run's is at most
the sum of what each step and each average adds: rounding proportional to ||x||, never to a difference. Norms of
iterates and gradients come from the problem's displacement ceiling, which holds for every run.

**Values.** As in `verify.quantities.states`: a mean over D samples of n-term products errs by `unit` times its terms.

Nonconvex problems have no such argument: there only the averages and the evaluations are counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import xarray as xr

from simulate.problems.base import Problem
from simulate.problems.convex import StronglyConvex
from verify.quantities.participation import OUT, U, weight_slack
from verify.quantities.states import unit
from verify.setting import Setting

_SMALL = (
    1 / 16
)  # by which the float iterates may exceed the exact ones: an error beyond it is not bounded here


@dataclass(frozen=True)
class Rounding:
    """Absolute errors of what a run shows; every method takes (a bound on) the observed value.

    Attributes:
        moved: how far any iterate, or average of the clients' iterates, is from the exact run's (a norm).
        averaged: the same for the average over the counted steps.
        size: a bound on the iterates' norms; gradient: on the error of a client's gradient, at most, without `moved`.
        slope: a bound on the clients' gradients; loss: on the error of a loss beyond `unit` times its value.
        drift: a bound on a client's distance from the average; weight: on the error of a weight.
        p_star: a bound on the error of each p*_i; losses: the sizes of the losses that this error multiplies.
        f_star, f_star_error, x_star_error: of the minimum and the minimiser (inf where none is known).
    """

    problem: Problem
    L: float
    unit: float
    moved: float
    averaged: float
    size: float
    gradient: float
    slope: float
    loss: float
    drift: float
    weight: float
    p_star: float
    losses: float
    f_star: float
    f_star_error: float
    x_star_error: float

    def gap(self, value: float, moved: float | None = None) -> float:
        """Of f(x) - f* = `value`, for x `moved` (default: as any iterate).

        |f(x) - f(x')| <= ||grad f(x)|| d + L d^2/2 with ||grad f||^2 <= 2 L (f - f*).
        """
        d = self.moved if moved is None else moved
        whole = abs(value + self.f_star) + abs(self.f_star)
        here = (self.unit + 8 * U) * whole + self.loss + self.f_star_error + self.p_star * self.losses
        steep = math.sqrt(2 * self.L * (abs(value) + here))
        return (here + steep * d + self.L * d * d / 2) * OUT

    def distance_sq(self, value: float) -> float:
        """Of ||x - x*||^2."""
        return self._square(value, self.moved + self.x_star_error + 2 * U * self.size)

    def gradient_sq(self, value: float) -> float:
        """Of ||grad f(x)||^2, or of a mean of such squares (the root is concave)."""
        m = self.problem.m
        return self._square(
            value, self.L * self.moved + self.gradient + m * (self.p_star + 2 * U) * self.slope
        )

    def local_gradients_sq(self, value: float) -> float:
        """Of sum_i ||grad f_i(x)||^2, or of a mean of such sums."""
        m = self.problem.m
        return m * self._square(value / m, self.L * self.moved + self.gradient)

    def consensus(self, value: float) -> float:
        """Of e_bar = sum_i w_i ||x_i - x_bar||^2, or of a mean of such sums."""
        weights = self.weight * self.problem.m * self.drift**2 if self.drift else 0.0
        return self._square(value, 2 * self.moved) + weights * OUT

    def _square(self, value: float, error: float) -> float:
        """Of the square `value` of a norm that is known to within `error`."""
        own = (self.problem.n + self.problem.m + 8) * U * abs(value)
        return (2 * math.sqrt(abs(value)) * error + error**2 + own) * OUT


def rounding(setup: Setting, run: xr.Dataset) -> Rounding:
    """The errors of one run."""
    problem, config, shared = setup.problem, setup.config, setup.shared
    convex = isinstance(problem, StronglyConvex)
    u, slack = float(np.finfo(problem.dtype).eps), weight_slack(setup, run)
    reach = float(problem.displacement_ceiling(config.x_0, config.gamma, config.T_R))
    first = float(problem.displacement_ceiling(config.x_0, config.gamma, 1)) / config.gamma
    size = (float(np.linalg.norm(config.x_0)) + reach) * (1 + _SMALL)
    slope, gradient, growth = first, 0.0, 1.0
    if convex:
        full = config.sampling == "full"
        sharp = problem.smoothness() if full else problem.sample_smoothness()
        # the samples' gradients, each rounding by its own smoothness, average to a trace
        steep = min(problem.n, int(problem.sizes.max())) * problem.smoothness() if full else sharp
        slope = (first + sharp * reach) * (1 + _SMALL)
        gradient = unit(problem) * (slope + steep * size)
        growth = _growth(config.gamma * sharp, config.T_R)
    far = 2 * config.gamma * slope  # in each step, two clients move apart by at most this
    average = (2 * problem.m + 8) * u * size + (
        slack * problem.m * config.H * far if far > 0 else 0.0 * slack
    )
    moved = float(average.max())
    if convex:
        step = 4 * u * (size + config.gamma * slope) + config.gamma * gradient
        moved += (config.T_R * step + float(average.sum())) * growth
    if not moved <= _SMALL * size:
        moved = math.inf
    p_star = float(np.max(shared["p_star"].radius))
    f_star, x_star = shared.get("f_star"), shared.get("x_star")
    return Rounding(
        problem=problem,
        L=float(np.asarray(shared["L"].value)),
        unit=unit(problem),
        moved=moved * OUT,
        averaged=(moved + (config.T_R + 8) * u * size) * OUT,
        size=size,
        gradient=gradient,
        slope=slope,
        loss=2 * size * gradient,
        drift=(config.H - 1) * far,
        weight=float(slack.max()),
        p_star=p_star,
        losses=_losses(setup, slope * size) if p_star > 0 else 0.0,
        f_star=0.0 if f_star is None else float(np.asarray(f_star.value)),
        f_star_error=math.inf if f_star is None else float(f_star.radius),
        x_star_error=math.inf if x_star is None else float(np.linalg.norm(x_star.radius)),
    )


def _losses(setup: Setting, change: float) -> float:
    """A bound on sum_i |f_i| at any iterate and at x*, the losses changing by at most 2 `change` from x_0."""
    points = [setup.config.x_0]
    if "x_star" in setup.shared:
        points.append(np.asarray(setup.shared["x_star"].value, dtype=float))
    sums = [float(np.abs(setup.problem.losses(x)).sum()) for x in points]
    return sum(sums) + 2 * setup.problem.m * change


def _growth(steepness: float, steps: int) -> float:
    """What `steps` steps, each of which multiplies distances by at most max(1, gamma S - 1), make of an error."""
    exponent = steps * math.log(max(1.0, steepness - 1.0))
    return math.exp(exponent) if exponent < 600 else math.inf
