"""What a run shows: a curve known to within an error, or a sample of seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

# Relative to a measured value, what is left of a run's rounding beyond the absolute error that an observation brings
# (`verify.quantities.rounding`): of means over steps and seeds, and of the products with a bound's slopes.
RUN_ROUNDING = 1e-9
Axis = Literal["r", "R", "k"]
StartName = Literal["f_gap", "D_r_hat"]


class Unobserved(ValueError):
    """The run does not show a quantity; the message says what is missing."""


@dataclass(frozen=True)
class Measured:
    """A constant that varies along a curve: at each point the truth lies within `radius` of `values`."""

    values: Float[np.ndarray, " k"]
    radius: Float[np.ndarray, " k"]

    def at(self, keep: Int[np.ndarray, " q"] | Bool[np.ndarray, " k"]) -> Measured:
        """The points `keep`."""
        return Measured(self.values[keep], self.radius[keep])


@dataclass(frozen=True)
class Curve:
    """A deterministic quantity: at each point the truth lies within `error` of `values`.

    Attributes:
        axis: what `rounds` counts: "r" (rounds), "R" (horizons) or "k" (local steps, of one or more seeds).
        identity: points at which the statement is an equality by definition (r = 0 of Lemma 4.3(i)).
        ceiling: a bound that is known without the statement; beyond it the statement is vacuous.
        along: the constants that the statement takes from the run, point by point.
        scale: the size against which an error is small (default: the ceiling, or the largest value).
        proven: whether `error` bounds everything; False where the rounding of a run is not bounded.
        note: where the points come from, for the verdict's reason.
    """

    axis: Axis
    rounds: Int[np.ndarray, " k"]
    values: Float[np.ndarray, " k"]
    error: Float[np.ndarray, " k"]
    identity: Bool[np.ndarray, " k"]
    ceiling: float = float("inf")
    along: Mapping[str, Measured] = field(default_factory=dict)
    scale: float | None = None
    proven: bool = True
    note: str = ""

    def at(self, keep: Int[np.ndarray, " q"] | Bool[np.ndarray, " k"]) -> Curve:
        """The points `keep` (indices or a mask)."""
        return replace(
            self,
            rounds=self.rounds[keep],
            values=self.values[keep],
            error=self.error[keep],
            identity=self.identity[keep],
            along={name: measured.at(keep) for name, measured in self.along.items()},
        )

    @property
    def size(self) -> float:
        """The scale of the curve."""
        if self.scale is not None:
            return self.scale
        if np.isfinite(self.ceiling):
            return self.ceiling
        return float(np.max(np.abs(self.values), initial=0.0))


@dataclass(frozen=True)
class Start:
    """Another expectation in a bound: copies (one a seed) of a variable within [floor, ceiling], proven.

    It enters through the constant `name`: "D_r_hat" by its square, every other ("f_gap", "D_f", "e_bar", ...)
    as it is. Each of `values` is known to within `error`, an absolute bound.
    """

    name: str
    values: Float[np.ndarray, " S"]
    floor: float
    ceiling: float
    error: float = 0.0


@dataclass(frozen=True)
class Sample:
    """Independent copies (one a seed) of a nonnegative X whose expectation a statement bounds.

    The bound may contain further expectations of the same run, linearly: E[X] <= b + sum_j c_j E[Y_j]. They
    are tested together, seed by seed, so that no estimate of an E[Y_j] enters the verdict.

    Attributes:
        starts: the Y_j.
        ceiling: a proven bound on X over all runs (inf if none is known).
        known: a bound on X that is known before the run; from there on the statement is vacuous (default: the ceiling).
        variance_proxy: proven sub-Gaussian proxy of X - E[X] (inf if none is known).
        horizon, path: rounds and the running quantity of every seed there, for the plot.
        given: constants that belong to this sample (the round and step at which it was taken).
        certain: nothing in it is random: every seed is the same, to rounding.
        round: the round or horizon that it is about.
        error: an absolute bound on the error of each value, which does not shrink with a difference.
        scale: the size of what was subtracted, against which an error is small (default: the largest value).
    """

    values: Float[np.ndarray, " S"]
    starts: tuple[Start, ...]
    ceiling: float
    variance_proxy: float
    horizon: Int[np.ndarray, " k"]
    path: Float[np.ndarray, "S k"]
    given: Mapping[str, int] = field(default_factory=dict)
    certain: bool = False
    round: int | None = None
    error: float = 0.0
    scale: float | None = None
    known: float | None = None


@dataclass(frozen=True)
class Samples:
    """The same statement at several rounds that were fixed before the run: it holds if it does at each."""

    parts: tuple[Sample, ...]


Observation = Curve | Sample | Samples
