"""How far the minimisers of an h spread whose curvature nobody declared: the set, never one of them as if unique."""

from dataclasses import dataclass

import numpy as np

from games.base import Vector
from games.convex import extents
from games.polyhedron import Polyhedron
from games.rounding import fraction
from games.welfare import Welfare

TOLERANCES = (1e-4, 1e-6)  # relative to max(1, |h*|); the second is what the spread is reported for
SHRINKS = 0.5  # strictly convex: the widths fall with the root of the tolerance, tenfold; flat: they stay
NEGLIGIBLE = 1e-6  # of the box: that narrow a set is a point already


@dataclass(frozen=True, eq=False)
class Spread:
    """{N in SOL : h(N) <= value + tolerance}, which holds every minimiser, coordinate by coordinate.

    Attributes:
        lower, upper: float64 [m], the least and largest N_i over the set, to the solver's accuracy.
        tolerance: above the value found.
        ends: two exact members of SOL in float64, as far apart as the set is wide along its widest coordinate;
            values: h there.
        point: whether the set is a point as far as can be seen: it shrinks as the tolerance falls.
    """

    lower: Vector
    upper: Vector
    tolerance: float
    ends: tuple[Vector, Vector]
    values: tuple[float, float]
    point: bool

    @property
    def width(self) -> float:
        """Of the widest coordinate."""
        return float(np.max(self.upper - self.lower))


def spread(solutions: Polyhedron, h: Welfare, N: Vector) -> Spread:
    """The spread of the minimisers of h over the equilibria, N being one of them to the solver's accuracy.

    Raises:
        GameError: no solver returned a point.
    """
    scale = max(1.0, abs(float(h.value(N))))
    value = float(h.value(N))
    loose, tight = (value + tol * scale for tol in TOLERANCES)
    lower, upper, corners = extents(solutions, h.expression, tight, range(solutions.m))
    widest = int(np.argmax(upper - lower))
    wide_lower, wide_upper, _ = extents(solutions, h.expression, loose, [widest])
    first, second = (_member(solutions, corners[side][widest]) for side in (0, 1))
    shares = (upper - lower) / solutions.width
    fell = upper[widest] - lower[widest] <= SHRINKS * (wide_upper[0] - wide_lower[0])
    return Spread(
        lower,
        upper,
        tight - value,
        (first, second),
        (float(h.value(first)), float(h.value(second))),
        bool(fell or np.max(shares) <= NEGLIGIBLE),
    )


def _member(solutions: Polyhedron, x: Vector) -> Vector:
    return np.array([float(fraction(v)) for v in solutions.member_near(x)])
