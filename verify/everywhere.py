"""Every round of a long curve at the price of a few: blocks of rounds in interval arithmetic.

Enclosing a bound with its round r in an interval [r_1, r_2] encloses it at every round of the block, so one comparison
with the block's largest observation settles them all. A block that does not settle is halved, down to a single
round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bounds import Constant, Provenance, Sense, Statement
from verify.compare import compare
from verify.envelope import enclosure, own_constants
from verify.observed import Curve
from verify.verdict import Outcome

_BUDGET = 1_500  # enclosures


@dataclass(frozen=True)
class Everywhere:
    """What all rounds say: settled (each holds, or is a tie below the resolution), or the round that does not.

    Attributes:
        index: of the round that is violated or undecided, None if there is none or the budget ran out first.
        resolution: the largest bound among the ties.
    """

    settled: bool
    index: int | None = None
    resolution: float = 0.0


def everywhere(statement: Statement, constants: Mapping[str, Constant], curve: Curve) -> Everywhere:
    """Judge a curve over rounds (sense `<=` or `>=`) at every one of its rounds."""
    needed = {name: constants[name] for name in statement.symbols if name in constants}
    blocks, left, resolution = [(0, curve.rounds.size)], _BUDGET, 0.0
    while blocks:
        first, last = blocks.pop()
        if left == 0:
            return Everywhere(False)
        left -= 1
        if last - first == 1:
            point = curve.at(np.array([first]))
            point = Curve(**{**point.__dict__, "scale": curve.size})
            low, high = enclosure(statement, {**needed, **own_constants(curve, first)})
            found = compare(point, np.array([low]), np.array([high]), statement.sense)
            if found.outcome not in (Outcome.HOLDS, Outcome.VACUOUS):
                return Everywhere(False, first)
            resolution = max(resolution, found.resolution)
            continue
        tie = _block(statement, needed, curve, first, last)
        if tie is None:
            middle = (first + last) // 2
            blocks += [(middle, last), (first, middle)]
        else:
            resolution = max(resolution, tie)
    return Everywhere(True, None, resolution)


def _block(
    statement: Statement, needed: Mapping[str, Constant], curve: Curve, first: int, last: int
) -> float | None:
    """0 if rounds first..last-1 of the curve all hold, their size if all are ties below the resolution, else None."""
    part = slice(first, last)
    own: dict[str, Constant] = {
        curve.axis: _ball(curve.axis, curve.rounds[part].astype(float), np.zeros(last - first))
    }
    own |= {n: _ball(n, m.values[part], m.radius[part]) for n, m in curve.along.items()}
    low, high = enclosure(statement, {**needed, **own})
    values, error = curve.values[part], curve.error[part]
    if statement.sense is Sense.AT_LEAST:
        values, low, high = -values, -high, -low
    free = ~curve.identity[part]
    if np.all((values + error)[free] <= low):
        return 0.0
    size = max(float(np.max(np.abs(values))), abs(high), abs(low))
    least, most = float(np.min(error)), float(np.max(error))
    small = np.isfinite(size) and size <= 4 * least and most <= 1e-6 * curve.size
    return size if small and float(np.max(values[free])) - least <= low else None


def _ball(name: str, values: np.ndarray, radius: np.ndarray) -> Constant:
    """A constant that covers all `values`, each known to within its radius."""
    low, high = float(np.min(values - radius)), float(np.max(values + radius))
    middle = (low + high) / 2
    reach = max(high - middle, middle - low) * (1 + 1e-15) + 5e-324
    return Constant(name, middle, Provenance.CERTIFIED, reach, "a block of rounds")
