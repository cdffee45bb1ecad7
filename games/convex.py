"""Convex programs over a polyhedron, in cvxpy (imported lazily: it takes longer to import than to solve)."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

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

    z = cp.Variable(target.m)
    x, limits = _member(target, z)
    return _solved(cp.Problem(cp.Minimize(objective(x)), limits), target, z)


def extents(
    target: Polyhedron, objective: Callable[[Any], Any], level: float, coordinates: Sequence[int]
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"], tuple[list[Vector], list[Vector]]]:
    """(least, largest, corners), for each of the coordinates, over the members with objective <= level.

    corners: the members found, one a coordinate for the least and one for the largest. Two convex programs a
    coordinate, to the solver's accuracy.

    Raises:
        GameError: no solver returned a point.
    """
    import cvxpy as cp

    z, direction = cp.Variable(target.m), cp.Parameter(target.m)
    x, limits = _member(target, z)
    problem = cp.Problem(cp.Minimize(direction @ z), [*limits, objective(x) <= level])
    corners: tuple[list[Vector], list[Vector]] = ([], [])
    for i in coordinates:
        for side, sign in enumerate((1.0, -1.0)):
            direction.value = sign * np.eye(target.m)[i]
            corners[side].append(_solved(problem, target, z))
    low, high = (np.array([c[i] for i, c in zip(coordinates, found, strict=True)]) for found in corners)
    return np.minimum(low, high), np.maximum(low, high), corners


def _member(target: Polyhedron, z: Any) -> tuple[Any, list[Any]]:
    """The point lower + width z, and what makes it a member."""
    import cvxpy as cp

    E, e, G, g = target.floats
    limits = [z >= 0, z <= (target.upper > target.lower).astype(float)]
    if E.size:
        limits.append((E * target.width) @ z == e - E @ target.lower)
    if G.size:
        limits.append((G * target.width) @ z >= g - G @ target.lower)
    return target.lower + cp.multiply(target.width, z), limits


def _solved(problem: Any, target: Polyhedron, z: Any) -> Vector:
    import cvxpy as cp

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
