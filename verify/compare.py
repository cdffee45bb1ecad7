"""A curve against an envelope: holds, violated or tie at every point, never a float against a tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from bounds import Sense
from verify.observed import RUN_ROUNDING, Curve
from verify.verdict import Outcome

# Two numbers that agree to within their errors are told apart only where they exceed a few of these errors.
_RESOLUTION_IN_ERRORS = 4.0
# Errors above this share of the curve's size resolve nothing: agreement to within them says nothing.
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class CurveFinding:
    """The outcome over all points, the index of the point that decided, and the resolution reached."""

    outcome: Outcome
    index: int
    resolution: float
    reason: str


def compare(
    curve: Curve, low: Float[np.ndarray, " k"], high: Float[np.ndarray, " k"], sense: Sense = Sense.AT_MOST
) -> CurveFinding:
    """Compare a curve with an envelope whose exact value lies in [low, high] at each point.

    For `<=` and `>=`: violated if a point is (the observed interval lies wholly beyond the envelope's). Holds
    if every other point holds, is an identity, or is a tie below the resolution: both sides so small that the
    errors decide, and the errors negligible against the size of the curve. Any other tie is inconclusive
    ("rounding"), and so is an observation that is seen well beside a bound that is too coarsely known. For `=`:
    violated if the intervals are disjoint at a point; holds, to within the errors, if they meet at every point
    and the errors are negligible.
    """
    if np.any(np.isnan(low) | np.isnan(high)):
        return CurveFinding(
            Outcome.INCONCLUSIVE, int(np.argmax(np.isnan(low) | np.isnan(high))), 0.0, "no enclosure"
        )
    if not np.all(np.isfinite(curve.error)):
        index = int(np.flatnonzero(~np.isfinite(curve.error))[0])
        return CurveFinding(
            Outcome.INCONCLUSIVE, index, np.inf, "the error of the observation is not bounded"
        )
    if sense is Sense.EQUAL:
        return _equality(curve, low, high)
    if sense is Sense.AT_LEAST:
        return _at_most(curve, -curve.values, -high, -low, sense)
    return _at_most(curve, curve.values, low, high, sense)


def _at_most(
    curve: Curve,
    values: Float[np.ndarray, " k"],
    low: Float[np.ndarray, " k"],
    high: Float[np.ndarray, " k"],
    sense: Sense,
) -> CurveFinding:
    above = values - curve.error > high
    below = values + curve.error <= low
    tie = ~above & ~below & ~curve.identity
    error = curve.error + _half(low, high)
    if np.any(above):
        index = int(np.argmax(np.where(above, _excess(values, high), -np.inf)))
        word = "undercut" if sense is Sense.AT_LEAST else "exceeded"
        return CurveFinding(
            Outcome.VIOLATED, index, 0.0, f"{word} at {int(above.sum())} of {above.size} {_points(curve)}"
        )
    size = np.maximum(np.abs(values), np.abs(high))
    seen = np.abs(values) > _RESOLUTION_IN_ERRORS * curve.error
    unresolved = tie & (seen | (size > _RESOLUTION_IN_ERRORS * error) | (error > _NEGLIGIBLE * curve.size))
    resolution = float(np.maximum(size, error)[tie].max()) if np.any(tie) else 0.0
    if np.any(unresolved):
        index = int(np.flatnonzero(unresolved)[0])
        reason = "rounding: a tie above the resolution"
        if curve.error[index] > max(RUN_ROUNDING * size[index], error[index] / 2):
            reason += f" (the run is known only to {curve.error[index]:.2g} there: too coarse to decide)"
        elif error[index] > 2 * curve.error[index] and error[index] > RUN_ROUNDING * size[index]:
            reason += f" (the bound is known only to {error[index] - curve.error[index]:.2g} there)"
        return CurveFinding(Outcome.INCONCLUSIVE, index, resolution, reason)
    worst = np.where(below & ~curve.identity, _used(values, high), -np.inf)
    index = int(np.argmax(worst)) if np.any(below) else int(curve.rounds.size - 1)
    if np.all(low >= curve.ceiling):
        return CurveFinding(
            Outcome.VACUOUS, index, resolution, f"never below {curve.ceiling:.6g}, known without it"
        )
    reason = f"holds at {span(curve)}"
    if resolution:
        reason += f", resolved down to {resolution:.2g}"
    return CurveFinding(Outcome.HOLDS, index, resolution, reason)


def _equality(curve: Curve, low: Float[np.ndarray, " k"], high: Float[np.ndarray, " k"]) -> CurveFinding:
    error = curve.error + _half(low, high)
    apart = (curve.values - curve.error > high) | (curve.values + curve.error < low)
    middle = (low + high) / 2
    distance = np.abs(curve.values - middle)
    if np.any(apart):
        index = int(np.argmax(np.where(apart, distance, -np.inf)))
        return CurveFinding(
            Outcome.VIOLATED, index, 0.0, f"unequal at {int(apart.sum())} of {apart.size} {_points(curve)}"
        )
    coarse = error > _NEGLIGIBLE * curve.size
    index = int(np.argmax(distance))
    if np.any(coarse):
        index = int(np.flatnonzero(coarse)[0])
        return CurveFinding(
            Outcome.INCONCLUSIVE,
            index,
            float(error.max()),
            "rounding: the errors are as large as what is compared",
        )
    return CurveFinding(
        Outcome.HOLDS, index, float(error.max()), f"equal to within {error.max():.2g} at {span(curve)}"
    )


def _half(low: Float[np.ndarray, " k"], high: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    """Half the width of the envelope's enclosure, 0 where it is infinite."""
    with np.errstate(invalid="ignore"):
        width = (high - low) / 2
    return np.where(np.isinf(high) & (high == low), 0.0, width)


def _used(values: Float[np.ndarray, " k"], high: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    """How much of the bound is used: values/high where that means something, else minus the room left."""
    plain = (high > 0) & (values >= 0)
    with np.errstate(over="ignore"):  # a bound may have sunk to the least of floats
        ratio = np.divide(values, high, out=np.zeros_like(high), where=plain)
    return np.where(plain, ratio, values - high)


def _excess(values: Float[np.ndarray, " k"], high: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    """How far beyond the bound, as a multiple of it where it is positive."""
    positive = (high > 0) & np.isfinite(high)
    with np.errstate(over="ignore"):
        ratio = np.divide(values, high, out=np.zeros_like(high), where=positive)
    return np.where(positive, ratio, values - high)


def _points(curve: Curve) -> str:
    return "rounds" if curve.axis != "k" else "steps"


def span(curve: Curve) -> str:
    """The points of a curve in words."""
    first, last = int(curve.rounds.min()), int(curve.rounds.max())
    if curve.rounds.size == 1:
        return f"{curve.axis} = {first}"
    if curve.axis == "k" or curve.note or curve.rounds.size <= last - first:
        return f"{curve.rounds.size} {_points(curve)} between {curve.axis} = {first} and {last}"
    return f"every {curve.axis} from {first} to {last}"
