"""The envelope of a statement: enclosed at a point, along a curve, and as a linear form in a sample's starts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from flint import arb
from jaxtyping import Bool, Float

from bounds import Constant, Constants, HypothesisCheck, Provenance, Statement
from verify.expectation import Linear
from verify.observed import RUN_ROUNDING, Curve, Measured, Sample
from verify.quantities.participation import MOST, thinned

_WHOLE = ("r", "R", "tau")  # constants of a point that are counts
Checks = tuple[HypothesisCheck, ...]


def enclosure(statement: Statement, constants: Constants) -> tuple[float, float]:
    """The bound's lower and upper end, rounded outwards to float64 (its hypotheses are checked elsewhere)."""
    return _ends(statement.enclose(constants, unchecked=True))


def _ends(ball: arb) -> tuple[float, float]:
    bottom, top = ball.lower(), ball.upper()
    low, high = float(bottom), float(top)
    if not arb(low) <= bottom:
        low = float(np.nextafter(low, -np.inf))
    if not arb(high) >= top:
        high = float(np.nextafter(high, np.inf))
    return low, high


def own_constants(curve: Curve, index: int) -> dict[str, Constant]:
    """The constants of one point of a curve: its round or horizon, and what was measured along with it."""
    own: dict[str, Constant] = {}
    if curve.axis in ("r", "R"):
        own[curve.axis] = Constant(curve.axis, int(curve.rounds[index]), Provenance.EXACT)
    for name, measured in curve.along.items():
        value, radius = float(measured.values[index]), float(measured.radius[index])
        number = int(value) if name in _WHOLE else value
        own[name] = Constant(name, number, Provenance.CERTIFIED, radius, "measured along the run")
    return own


def narrowed(curve: Curve) -> Curve:
    """At most `MOST` points of a curve over rounds: evenly spread on a log scale, with the first and the last."""
    if curve.rounds.size <= MOST:
        return curve
    kept = curve.at(thinned(0, curve.rounds.size - 1))
    note = (
        f"{curve.rounds.size} rounds, of which {kept.rounds.size} were looked at (log-spaced, with both ends)"
    )
    return Curve(**{**kept.__dict__, "note": note})


def envelope(
    statement: Statement, constants: Mapping[str, Constant], curve: Curve
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """The lower and the upper end of the bound at every point of a curve.

    Raises:
        bounds.MissingConstants: for a constant that neither the instance nor the run gives.
    """
    own = [own_constants(curve, i) for i in range(curve.rounds.size)]
    ends = [_ends(ball) for ball in statement.enclose_along(constants, own)]
    low, high = np.array(ends, dtype=float).reshape(-1, 2).T
    return low, high


def checks_along(
    statement: Statement, constants: Mapping[str, Constant], curve: Curve
) -> tuple[Checks, Bool[np.ndarray, " k"]]:
    """The hypotheses, and the points of a curve at which none of them fails.

    A hypothesis that speaks of the point (of its round r) is checked there; the answer returned is that of the
    last point where all hold, else of the last point.
    """
    size = curve.rounds.size
    if not size:
        return (), np.empty(0, dtype=bool)
    start = {**constants, **own_constants(curve, 0)}
    own_names = {*own_constants(curve, 0)}
    reads = statement.reads(start)
    moving = [h for h, names in zip(statement.hypotheses, reads, strict=True) if names & own_names]
    first = {c.name: c for c in statement.check(start)}
    varying = sorted(own_names & {n for names in reads for n in names})
    answers: dict[tuple[float, ...], Checks] = {}

    def answer(index: int) -> Checks:
        own = own_constants(curve, index)
        key = tuple(
            x for n in varying for x in (float(np.asarray(own[n].value)), float(np.max(own[n].radius)))
        )
        if key not in answers:  # what does not read the point is decided already
            anew = {c.name: c for c in statement.check({**constants, **own}, moving)}
            answers[key] = tuple(anew.get(name, known) for name, known in first.items())
        return answers[key]

    names = {h.name for h in moving}
    if any(c.holds is False for c in first.values() if c.name not in names):
        return answer(size - 1), np.zeros(size, dtype=bool)
    sure = statement.surely_hold({**constants, **_own_arrays(curve)}, moving)
    applies = np.array(np.broadcast_to(sure, size))
    for i in np.flatnonzero(~applies):
        applies[i] = not any(c.holds is False for c in answer(int(i)))
    return answer(int(np.flatnonzero(applies)[-1]) if applies.any() else size - 1), applies


def _own_arrays(curve: Curve) -> dict[str, Float[np.ndarray, " k"]]:
    """What `own_constants` gives for each point, for all of them (without the radii)."""
    own: dict[str, np.ndarray] = {}
    if curve.axis in ("r", "R"):
        own[curve.axis] = curve.rounds.astype(float)
    for name, measured in curve.along.items():
        own[name] = np.trunc(measured.values) if name in _WHOLE else measured.values
    return own


def linear(statement: Statement, constants: Mapping[str, Constant], sample: Sample) -> Linear:
    """The bound as b + sum_j c_j E[Y_j]: it is affine in each start (in the square of D_r_hat).

    Raises:
        bounds.MissingConstants: for a constant that neither the instance nor the run gives.
    """
    given = {name: Constant(name, value, Provenance.EXACT) for name, value in sample.given.items()}
    names = [start.name for start in sample.starts]
    used = [name for name in names if name in statement.symbols]
    zero = {name: Constant(name, 0, Provenance.EXACT) for name in names}
    base = {**constants, **given, **zero}
    at_0 = enclosure(statement, base)
    slopes = []
    for name in names:
        if name not in used:
            slopes.append((0.0, 0.0))
            continue
        at_1 = enclosure(statement, {**base, name: Constant(name, 1, Provenance.EXACT)})
        low = float(np.nextafter(at_1[0] - at_0[1], -np.inf))
        high = float(np.nextafter(at_1[1] - at_0[0], np.inf))
        slopes.append((max(low, 0.0), max(high, 0.0)))
    # the copies of a start are known to within its error
    pairs = zip(slopes, sample.starts, strict=True)
    off = sum(high * start.error for (_, high), start in pairs if high > 0) * (1 + 1e-12)
    low, high = at_0
    if off > 0:
        low, high = float(np.nextafter(low - off, -np.inf)), float(np.nextafter(high + off, np.inf))
    return Linear(low, high, tuple(slopes))


def settled(sample: Sample, proven: bool, constants: Mapping[str, Constant]) -> Curve:
    """A sample in which nothing is random, as a curve of one point known to within the rounding of a run.

    A start that the constants know better (before the run: at r_hat = 0) is left to them.
    """
    along = {}
    for start in sample.starts:
        value, radius = _seen(start.values)
        radius += start.error
        if start.name == "D_r_hat":  # it enters by its square
            low, high = np.sqrt(max(value - radius, 0.0)), np.sqrt(value + radius)
            value, radius = (low + high) / 2, (high - low) / 2 * (1 + 1e-12)
        if start.name not in constants or not np.max(constants[start.name].radius) <= radius:
            along[start.name] = Measured(np.array([value]), np.array([radius]))
    given = {name: Measured(np.array([float(v)]), np.zeros(1)) for name, v in sample.given.items()}
    value, error = _seen(sample.values)
    error += sample.error
    return Curve(
        "R",
        np.array([sample.round or 0]),
        np.array([value]),
        np.array([error]),
        np.zeros(1, dtype=bool),
        sample.ceiling,
        {**along, **given},
        scale=sample.scale or max(value, float(np.finfo(float).tiny)),
        proven=proven,
        note="one",
    )


def _seen(values: Float[np.ndarray, " S"]) -> tuple[float, float]:
    """The middle of what the seeds show, and half their range with the rounding of a run."""
    low, high = float(values.min()), float(values.max())
    return (low + high) / 2, (high - low) / 2 + RUN_ROUNDING * abs(high)
