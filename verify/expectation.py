"""An expectation bound against a sample of seeds, as the pair of e-values of `verify.statistics`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verify.observed import RUN_ROUNDING, Sample
from verify.statistics import (
    NO_EVIDENCE,
    Evidence,
    against_at_least,
    against_at_least_subgaussian,
    against_at_most,
    average,
)
from verify.verdict import Outcome


@dataclass(frozen=True)
class Linear:
    """The bound b + c E[start], each coefficient within its enclosure."""

    rest_low: float
    rest_high: float
    slope_low: float
    slope_high: float

    def at(self, start: float) -> float:
        """The (upper end of the) bound at a value of E[start]."""
        return self.rest_high + self.slope_high * start


@dataclass(frozen=True)
class SampleFinding:
    """The outcome, its one-line reason, and how many more seeds would decide."""

    outcome: Outcome
    reason: str
    more_seeds: int | None = None


def judge(sample: Sample, bound: Linear, alpha: float) -> SampleFinding:
    """Decide E[X] <= b + c E[start] at level `alpha` for each of the two wrong answers."""
    if bound.rest_low >= sample.ceiling:
        return SampleFinding(Outcome.VACUOUS, f"the bound exceeds {sample.ceiling:.6g}, known without it")
    exceeded = _evidence_violated(sample, bound)
    if exceeded.rejects(alpha):
        return SampleFinding(Outcome.VIOLATED, f"e-value exp({exceeded.log_e:.1f}) against the bound")
    within = _evidence_holds(sample, bound, alpha)
    if within.rejects(alpha):
        certain = within.log_e == np.inf
        why = (
            "nothing in it is random" if certain else f"e-value exp({within.log_e:.1f}) against exceeding it"
        )
        return SampleFinding(Outcome.HOLDS, why)
    if not np.isfinite(sample.ceiling) and not np.isfinite(sample.variance_proxy):
        return SampleFinding(
            Outcome.INCONCLUSIVE, "no ceiling on the quantity is known, so no sample can confirm it"
        )
    more = [n for n in (within.more_seeds(alpha), exceeded.more_seeds(alpha)) if n is not None]
    if not more:
        return SampleFinding(Outcome.INCONCLUSIVE, "no number of seeds like these would decide")
    return SampleFinding(Outcome.INCONCLUSIVE, f"about {min(more)} more seeds would decide", min(more))


def _evidence_violated(sample: Sample, bound: Linear) -> Evidence:
    """Against E[X - c start] <= b; X >= 0 and start <= its ceiling give the floor."""
    start = sample.start
    paired = sample.values * (1 - RUN_ROUNDING) - bound.slope_high * start.values
    if not np.isfinite(start.ceiling):
        return NO_EVIDENCE
    floor = -bound.slope_high * start.ceiling
    return against_at_most(paired, bound.rest_high, floor) if bound.rest_high > floor else NO_EVIDENCE


def _evidence_holds(sample: Sample, bound: Linear, alpha: float) -> Evidence:
    """Against E[X - c start] >= b; with a variance proxy of X alone, against E[X] >= b + c (the start's floor)."""
    evidence = []
    values = sample.values * (1 + RUN_ROUNDING)
    if np.isfinite(sample.ceiling):
        paired = values - bound.slope_low * sample.start.values
        ceiling = sample.ceiling * (1 + RUN_ROUNDING) - bound.slope_low * sample.start.floor
        evidence.append(against_at_least(paired, bound.rest_low, ceiling))
    if np.isfinite(sample.variance_proxy):
        least = bound.rest_low + bound.slope_low * sample.start.floor
        evidence.append(against_at_least_subgaussian(values, least, sample.variance_proxy, alpha / 2))
    return average(*evidence) if evidence else NO_EVIDENCE
