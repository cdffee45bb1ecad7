"""The gap QP: VI(box, A N + b) as one convex program, in cvxpy; the cross-check of every other method."""

import numpy as np

from games.base import GameError, Matrix, Vector

SHARP = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def gap_qp(A: Matrix, b: Vector, lower: Vector, upper: Vector, solver: str = "CLARABEL") -> Vector:
    """The minimiser of N'S N + b'N - lower's + upper't over A N + b = s - t, s, t >= 0, lower <= N <= upper.

    S = (A + A')/2 must be positive semidefinite. The objective is (N - lower)'s + (upper - N)'t >= 0, and 0
    exactly at the solutions of the VI. The solver's status is reported by an error only; its accuracy must be
    recomputed by the caller.

    Raises:
        GameError: the solver returned no point.
    """
    import cvxpy as cp  # lazily: it takes longer to import than most games take to solve

    m = b.size
    width = np.where(upper > lower, upper - lower, 1.0)
    scaled = width[:, None] * A * width  # unit box, one scale: keeps the symmetric part semidefinite
    slope = width * (A @ lower + b)
    size = max(float(np.max(np.abs(scaled))), float(np.max(np.abs(slope))), 1e-300)
    scaled, slope = scaled / size, slope / size
    top = (upper > lower).astype(float)
    z, s, t = cp.Variable(m), cp.Variable(m, nonneg=True), cp.Variable(m, nonneg=True)
    quadratic = cp.quad_form(z, cp.psd_wrap((scaled + scaled.T) / 2.0))
    problem = cp.Problem(
        cp.Minimize(quadratic + slope @ z + top @ t),
        [scaled @ z + slope == s - t, z >= 0, z <= top],
    )
    try:
        problem.solve(solver=solver, **(SHARP if solver == "CLARABEL" else {}))
    except cp.SolverError as error:
        raise GameError(f"gap QP: {solver} failed ({error}); is F monotone?") from None
    if z.value is None:
        raise GameError(f"gap QP: {solver} says {problem.status}; is F monotone?")
    return np.clip(lower + width * np.asarray(z.value), lower, upper)
