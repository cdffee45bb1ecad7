"""Convex programs over a polyhedron, in cvxpy (imported lazily: it takes longer to import than to solve)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from games.base import GameError, Vector
from games.polyhedron import Polyhedron

SOLVERS = ("CLARABEL", "SCS")


def minimise(target: Polyhedron, objective: Callable[[Any], Any]) -> Vector:
    """A minimiser of a convex function over the polyhedron, to the solver's accuracy.

    Args:
        objective: maps the cvxpy expression of the point to a cvxpy expression.

    Raises:
        GameError: no solver returned a point.
    """
    import cvxpy as cp

    E, e, G, g = target.floats
    z = cp.Variable(target.m)
    x = target.lower + cp.multiply(target.width, z)
    limits = [z >= 0, z <= (target.upper > target.lower).astype(float)]
    if E.size:
        limits.append((E * target.width) @ z == e - E @ target.lower)
    if G.size:
        limits.append((G * target.width) @ z >= g - G @ target.lower)
    problem = cp.Problem(cp.Minimize(objective(x)), limits)
    trouble = ""
    for solver in SOLVERS:
        try:
            problem.solve(solver=solver)
        except cp.SolverError as error:
            trouble = str(error).splitlines()[0]
            continue
        if z.value is not None:
            return np.clip(target.lower + target.width * np.asarray(z.value), target.lower, target.upper)
        trouble = f"{solver} says {problem.status}"
    raise GameError(f"minimising over the equilibria failed: {trouble}")


def nearest_point(target: Polyhedron, N: Vector) -> Vector:
    """The projection of N onto the polyhedron, to the solver's accuracy."""
    import cvxpy as cp

    size = max(1.0, float(np.max(target.width)))
    return minimise(target, lambda x: cp.sum_squares((x - N) / size))
