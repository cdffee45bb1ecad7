"""A worst case is believed only when two solvers call it optimal and their values agree.

A single status is not enough: a solver has been seen to report a finite worst case for an unbounded problem,
and values far below the truth for long horizons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SOLVERS = ("CLARABEL", "SCS")


def options(solver: str, tolerance: float) -> dict[str, Any]:
    """What a solver is told for one tolerance."""
    if solver == "CLARABEL":
        return dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
    return {"eps_abs": tolerance, "eps_rel": tolerance, "max_iters": 500_000}


class Untrusted(RuntimeError):
    """A solver did not call its answer optimal, or two solvers differ by more than is allowed."""


@dataclass(frozen=True)
class WorstCase:
    """The dual value of the first solver, its distance to the primal value, and to the second solver's.

    The dual value is the one that bounds the worst case from above.
    """

    value: float
    duality_gap: float
    solver_gap: float


def solve(build: Callable[[], Any], allowed: float, tolerance: float) -> WorstCase:
    """The worst case of the problem that `build` sets up, by both solvers.

    Args:
        build: makes a fresh `PEPit.PEP` each time it is called.
        allowed: the largest gap, between the solvers and between primal and dual, relative to max(1, value).
        tolerance: what both solvers are asked for, and what `optimal` then means.

    Raises:
        Untrusted: when a status is not exactly `optimal`, or a gap is larger than `allowed`.
    """
    values: dict[str, float] = {}
    gaps: dict[str, float] = {}
    for solver in SOLVERS:
        problem = build()
        dual = problem.solve(wrapper="cvxpy", solver=solver, verbose=0, **options(solver, tolerance))
        status = str(problem.wrapper.prob.status)
        if status != "optimal" or dual is None:
            raise Untrusted(f"{solver}: status {status}, where only 'optimal' is believed")
        values[solver] = float(dual)
        gaps[solver] = abs(float(dual) - float(problem.objective.eval()))
    first, second = (values[s] for s in SOLVERS)
    scale = allowed * max(1.0, abs(first))
    if abs(first - second) > scale or max(gaps.values()) > scale:
        raise Untrusted(f"values {values}, duality gaps {gaps}: more than {scale:g} apart")
    return WorstCase(first, gaps[SOLVERS[0]], abs(first - second))
