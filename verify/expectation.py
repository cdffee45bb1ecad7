"""An expectation bound against a sample of seeds, as the pair of e-values of `verify.statistics`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from verify.observed import RUN_ROUNDING, Sample
from verify.statistics import (
    CERTAIN,
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
    """The bound b + sum_j c_j E[Y_j], each coefficient within its enclosure."""

    rest_low: float
    rest_high: float
    slopes: tuple[tuple[float, float], ...] = ()

    def at(self, starts: Sequence[float]) -> float:
        """The (upper end of the) bound at values of the E[Y_j]."""
        return self.ends(starts)[1]

    def ends(self, starts: Sequence[float]) -> tuple[float, float]:
        """Both ends of the bound at values of the E[Y_j] (which are not negative)."""
        low = self.rest_low + sum(c * y for (c, _), y in zip(self.slopes, starts, strict=True))
        high = self.rest_high + sum(c * y for (_, c), y in zip(self.slopes, starts, strict=True))
        return low, high


@dataclass(frozen=True)
class SampleFinding:
    """The outcome, its one-line reason, how many more seeds would decide, and the evidence both ways.

    Attributes:
        part: the sample that decided, where there are several.
    """

    outcome: Outcome
    reason: str
    more_seeds: int | None = None
    exceeded: Evidence = field(default=NO_EVIDENCE, repr=False)
    within: Evidence = field(default=NO_EVIDENCE, repr=False)
    part: int = 0


def judge(sample: Sample, bound: Linear, alpha: float, planned: int | None = None) -> SampleFinding:
    """Decide E[X] <= b + sum_j c_j E[Y_j] at level `alpha` for each of the two wrong answers.

    Args:
        planned: the most seeds that may come, where the verdict is looked at while they come in.
    """
    known = sample.ceiling if sample.known is None else sample.known
    if bound.rest_low >= known:
        return SampleFinding(
            Outcome.VACUOUS, f"the bound exceeds {known:.6g}, known without it", within=CERTAIN
        )
    exceeded = _evidence_violated(sample, bound)
    within = _evidence_holds(sample, bound, alpha, planned)
    if exceeded.rejects(alpha):
        reason = f"e-value exp({exceeded.log_e:.1f}) against the bound"
        return SampleFinding(Outcome.VIOLATED, reason, exceeded=exceeded, within=within)
    if within.rejects(alpha):
        why = f"e-value exp({within.log_e:.1f}) against exceeding it"
        if within.log_e == np.inf:
            random = sample.variance_proxy != 0
            why = "its ceiling alone is below the bound" if random else "nothing in it is random"
        return SampleFinding(Outcome.HOLDS, why, exceeded=exceeded, within=within)
    more = [n for n in (within.more_seeds(alpha), exceeded.more_seeds(alpha)) if n is not None]
    reason = (
        f"about {min(more)} more seeds would decide" if more else "no number of seeds like these would decide"
    )
    if not np.isfinite(sample.ceiling) and not np.isfinite(sample.variance_proxy):
        reason = f"no ceiling on the quantity is known, so no sample can confirm it{_interval(sample, bound)}"
        more = [n for n in (exceeded.more_seeds(alpha),) if n is not None]
    return SampleFinding(Outcome.INCONCLUSIVE, reason, min(more, default=None), exceeded, within)


def judge_all(
    samples: Sequence[Sample], bounds: Sequence[Linear], alpha: float, planned: int | None = None
) -> SampleFinding:
    """The same statement at several rounds: violated by the mean of the e-values, holds if it does at each round.

    The mean of e-values is an e-value, so "violated somewhere" needs no further correction; "holds everywhere"
    is wrong only if it is wrong at a round, so each round may be tested at the full level.
    """
    findings = [judge(s, b, alpha, planned) for s, b in zip(samples, bounds, strict=True)]
    if len(findings) == 1:
        return findings[0]
    exceeded = average(*(f.exceeded for f in findings))
    worst = int(np.argmax([_share(s, b) for s, b in zip(samples, bounds, strict=True)]))
    if exceeded.rejects(alpha):
        strongest = int(np.argmax([f.exceeded.log_e for f in findings]))
        reason = f"e-value exp({exceeded.log_e:.1f}) against the bound, over {len(findings)} rounds"
        return SampleFinding(Outcome.VIOLATED, reason, exceeded=exceeded, part=strongest)
    outcomes = {f.outcome for f in findings}
    if outcomes <= {Outcome.HOLDS, Outcome.VACUOUS}:
        outcome = Outcome.VACUOUS if outcomes == {Outcome.VACUOUS} else Outcome.HOLDS
        return SampleFinding(
            outcome, f"at each of {len(findings)} rounds: {findings[worst].reason}", part=worst
        )
    open_ = [i for i, f in enumerate(findings) if f.outcome not in (Outcome.HOLDS, Outcome.VACUOUS)]
    needed = [findings[i].more_seeds for i in open_]
    more = max((n for n in needed if n is not None), default=None) if None not in needed else None
    reason = f"at {len(open_)} of {len(findings)} rounds: {findings[open_[0]].reason}"
    return SampleFinding(Outcome.INCONCLUSIVE, reason, more, exceeded=exceeded, part=open_[0])


def _share(sample: Sample, bound: Linear) -> float:
    """The mean as a share of the bound, to name the worst of several rounds."""
    limit = bound.at([float(s.values.mean()) for s in sample.starts])
    return float(sample.values.mean()) / limit if limit > 0 else np.inf


def _interval(sample: Sample, bound: Linear) -> str:
    """The asymptotic interval of E[X] - sum_j c_j E[Y_j], a note and no verdict."""
    n = sample.values.size
    if n < 2:
        return ""
    paired = _paired(sample, [high for _, high in bound.slopes], 1.0, 1.0)
    half = 1.96 * float(paired.std(ddof=1)) / np.sqrt(n)
    middle = float(paired.mean())
    return (
        f" (asymptotic 95% interval [{middle - half:.3g}, {middle + half:.3g}] against {bound.rest_high:.3g})"
    )


def _paired(sample: Sample, slopes: Sequence[float], own: float, other: float) -> np.ndarray:
    """own X - other sum_j c_j Y_j, seed by seed."""
    paired = sample.values * own
    for slope, start in zip(slopes, sample.starts, strict=True):
        paired = paired - other * slope * start.values
    return np.asarray(paired)


def _evidence_violated(sample: Sample, bound: Linear) -> Evidence:
    """Against E[X - sum_j c_j Y_j] <= b; X >= 0 and Y_j <= its ceiling give the floor."""
    slopes = [high for _, high in bound.slopes]
    if any(c > 0 and not np.isfinite(s.ceiling) for c, s in zip(slopes, sample.starts, strict=True)):
        return NO_EVIDENCE
    if not np.all(np.isfinite([bound.rest_high, sample.error, *slopes])):
        return NO_EVIDENCE
    paired = _paired(sample, slopes, 1 - RUN_ROUNDING, 1 + RUN_ROUNDING) - sample.error
    ends = [c * s.ceiling for c, s in zip(slopes, sample.starts, strict=True) if c > 0]
    floor = -(1 + RUN_ROUNDING) * sum(ends) * (1 + 1e-12) - sample.error
    return against_at_most(paired, bound.rest_high, floor) if bound.rest_high > floor else NO_EVIDENCE


def _evidence_holds(sample: Sample, bound: Linear, alpha: float, planned: int | None) -> Evidence:
    """Against E[X - sum_j c_j Y_j] >= b; with a variance proxy of X alone, against E[X] >= the least bound."""
    if not np.isfinite(sample.error):
        return NO_EVIDENCE
    evidence = []
    slopes = [low for low, _ in bound.slopes]
    least = bound.rest_low + sum(c * s.floor for c, s in zip(slopes, sample.starts, strict=True))
    if np.isfinite(sample.ceiling):
        paired = _paired(sample, slopes, 1 + RUN_ROUNDING, 1 - RUN_ROUNDING) + sample.error
        floors = [c * s.floor for c, s in zip(slopes, sample.starts, strict=True)]
        ceiling = sample.ceiling * (1 + RUN_ROUNDING) - (1 - RUN_ROUNDING) * sum(floors)
        rounding = 1e-12 * (
            sample.ceiling
            + sum(c * float(s.values.max()) for c, s in zip(slopes, sample.starts, strict=True))
        )
        evidence.append(against_at_least(paired, bound.rest_low, ceiling + rounding + sample.error))
    if np.isfinite(sample.variance_proxy):
        values = sample.values * (1 + RUN_ROUNDING) + sample.error
        evidence.append(
            against_at_least_subgaussian(values, least, sample.variance_proxy, alpha / 2, planned)
        )
    return average(*evidence) if evidence else NO_EVIDENCE
