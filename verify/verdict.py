"""What a check says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from bounds import HypothesisCheck

VISIBLE = 0.02  # relative width from which a bound is shown as a band


class Outcome(StrEnum):
    """What a check found."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    HYPOTHESIS_FAILS = "hypothesis-fails"  # the statement says nothing about this instance
    VACUOUS = "vacuous"  # true, but it says no more than a bound known without it


class Rigor(StrEnum):
    """What a verdict rests on, from the strongest to the weakest."""

    RIGOROUS = "rigorous"  # enclosures on both sides
    STATISTICAL = "statistical"  # error probability at most alpha
    INDICATIVE = "indicative"  # some constant is only estimated, or a number is only a file's word


@dataclass(frozen=True)
class Verdict:
    """A statement's edition against one instance.

    Attributes:
        bound: the right-hand side at `round`: the end of its enclosure that is nearest to a violation (the upper end,
            or the lower one where the statement bounds from below).
        bound_low, bound_high: both ends of its enclosure; they lie apart where constants are intervals.
        observed: the left-hand side there (for an expectation: the mean over seeds).
        margin: 1 - observed/bound, the unused share of the bound; negative if it is exceeded; None for a bound <= 0
            and where the statement bounds from below.
        confidence: 1 for a rigorous verdict, 1 - alpha for a statistical one.
        round: the round that decided (the worst one, or the horizon R of an average).
        reason: one line for a person.
        more_seeds: how many further seeds would decide an inconclusive expectation, if any would.
    """

    statement: str
    edition: str
    outcome: Outcome
    rigor: Rigor
    instance: str
    hypotheses: tuple[HypothesisCheck, ...] = ()
    bound: float | None = None
    observed: float | None = None
    margin: float | None = None
    confidence: float | None = None
    round: int | None = None
    reason: str = ""
    more_seeds: int | None = None
    bound_low: float | None = None
    bound_high: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The item of `report.json`'s "verdicts" (infinities as the strings "inf", "-inf")."""
        return {
            "statement": self.statement,
            "edition": self.edition,
            "outcome": str(self.outcome),
            "rigor": str(self.rigor),
            "bound": plain(self.bound),
            "bound_low": plain(self.bound_low),
            "bound_high": plain(self.bound_high),
            "observed": plain(self.observed),
            "margin": plain(self.margin),
            "confidence": plain(self.confidence),
            "hypotheses": [
                {"name": h.name, "holds": h.holds, "lhs": plain(h.lhs), "rhs": plain(h.rhs)}
                for h in self.hypotheses
            ],
            "instance": self.instance,
            "round": self.round,
            "reason": self.reason,
            "more_seeds": self.more_seeds,
        }


def plain(value: float | None) -> float | str | None:
    """A float that JSON can carry: infinities as strings, which `float()` reads back."""
    if value is None:
        return None
    value = float(value)
    if math.isnan(value):
        return None
    return str(value) if math.isinf(value) else value


def apart(low: Float[np.ndarray, "*k"], high: Float[np.ndarray, "*k"]) -> Bool[np.ndarray, "*k"]:
    """Where the two ends of a bound differ by enough to be seen: by more than a share `VISIBLE` of the larger size."""
    finite = np.isfinite(low) & np.isfinite(high)
    size = np.maximum(np.abs(low), np.abs(high))
    with np.errstate(invalid="ignore"):
        return np.asarray(finite & (high - low > VISIBLE * size))


def margin(observed: float, bound: float) -> float | None:
    """1 - observed/bound; None where the bound is not positive (a share of it would mean nothing)."""
    return 1 - observed / bound if bound > 0 else None
