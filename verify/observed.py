"""What a run shows: a curve known to within an error, or a sample of seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

# What the rounding of a whole float64 run can do to a measured value, relative to it: a local step of a convex
# smooth loss is nonexpansive, so T steps add up to about T units in the last place, far below this for T <= 10^5.
RUN_ROUNDING = 1e-9
StartName = Literal["f_gap", "D_r_hat"]


@dataclass(frozen=True)
class Curve:
    """A deterministic quantity: at each round the truth lies within `error` of `values`.

    Attributes:
        axis: the name that a round has in the statement, "r" (a round) or "R" (a horizon).
        identity: rounds at which the statement is an equality by definition (r = 0 of Lemma 4.3(i)).
        ceiling: a bound that is known without the statement; beyond it the statement is vacuous.
    """

    axis: Literal["r", "R"]
    rounds: Int[np.ndarray, " k"]
    values: Float[np.ndarray, " k"]
    error: Float[np.ndarray, " k"]
    identity: Bool[np.ndarray, " k"]
    ceiling: float = float("inf")


@dataclass(frozen=True)
class Start:
    """The second expectation in a bound: copies (one a seed) of a variable within [floor, ceiling], proven.

    It enters through the constant `name`: "f_gap", or "D_r_hat" by its square. Each of `values` is known to
    within `error` (f* of a nonconvex loss is only bracketed).
    """

    name: StartName
    values: Float[np.ndarray, " S"]
    floor: float
    ceiling: float
    error: float = 0.0


@dataclass(frozen=True)
class Sample:
    """Independent copies (one a seed) of a nonnegative X whose expectation a statement bounds.

    The bound may contain an expectation of the same run, linearly: E[X] <= b + c E[start]. The two are
    tested as a pair, so that no estimate of E[start] enters the verdict.

    Attributes:
        ceiling: a proven bound on X over all runs (inf if none is known).
        variance_proxy: proven sub-Gaussian proxy of X - E[X] (inf if none is known).
        horizon, path: rounds and the running quantity of every seed there, for the plot.
    """

    values: Float[np.ndarray, " S"]
    start: Start
    ceiling: float
    variance_proxy: float
    horizon: Int[np.ndarray, " k"]
    path: Float[np.ndarray, "S k"]
