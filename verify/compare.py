"""A curve against an envelope: holds, violated or tie at every round, never a float against a tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from verify.observed import Curve
from verify.verdict import Outcome

# Two numbers that agree to within their errors are told apart only where they exceed a few of these errors.
_RESOLUTION_IN_ERRORS = 4.0


@dataclass(frozen=True)
class CurveFinding:
    """The outcome over all rounds, the index of the round that decided, and the resolution reached."""

    outcome: Outcome
    index: int
    resolution: float
    reason: str


def compare(curve: Curve, low: Float[np.ndarray, " k"], high: Float[np.ndarray, " k"]) -> CurveFinding:
    """Compare a curve with an envelope whose exact value lies in [low, high] at each round.

    Violated if a round is (the observed interval lies above the envelope's). Holds if every other round
    holds, is an identity, or is a tie below the resolution: both sides so small that the errors decide.
    A tie above the resolution is inconclusive ("rounding").
    """
    above = curve.values - curve.error > high
    below = curve.values + curve.error <= low
    tie = ~above & ~below & ~curve.identity
    error = curve.error + (high - low) / 2
    ratio = np.divide(curve.values, high, out=np.zeros_like(high), where=high > 0)
    ratio[curve.identity] = -1.0
    if np.any(above):
        index = int(np.argmax(np.where(above, ratio, -np.inf)))
        return CurveFinding(
            Outcome.VIOLATED, index, 0.0, f"exceeded at {int(above.sum())} of {above.size} rounds"
        )
    unresolved = tie & (high > _RESOLUTION_IN_ERRORS * error)
    resolution = float(high[tie].max()) if np.any(tie) else 0.0
    if np.any(unresolved):
        index = int(np.flatnonzero(unresolved)[0])
        return CurveFinding(Outcome.INCONCLUSIVE, index, resolution, "rounding: a tie above the resolution")
    decided = np.where(below, ratio, -np.inf)
    index = int(np.argmax(decided)) if np.any(below) else int(curve.rounds.size - 1)
    if np.all(low >= curve.ceiling):
        return CurveFinding(
            Outcome.VACUOUS, index, resolution, f"never below {curve.ceiling:.6g}, known without it"
        )
    reason = f"holds at every {curve.axis} from {curve.rounds[0]} to {curve.rounds[-1]}"
    if resolution:
        reason += f", resolved down to {resolution:.2g}"
    return CurveFinding(Outcome.HOLDS, index, resolution, reason)
