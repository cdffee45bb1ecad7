"""Claims with a logarithm or an exponential in one variable.

To prove f(x) >= 0 on an interval: f vanishes (or is known, in a rigorous ball, to be positive) at a point
x0 of
it, f' >= 0 to the right and f' <= 0 to the left, where f' is judged by the algebraic provers once it is
rational, and
by this one again while it is not. A claim without a variable is a comparison of balls.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import flint
import sympy

from bounds.core.step import Hypothesis, Obligation, Relation, ge, le, lt
from verify.provers.evaluate import Irrational, balls, exact, holds

DEPTH = 3
Algebraic = Callable[[Obligation], bool]


def prove(obligation: Obligation, algebraic: Algebraic, depth: int = DEPTH) -> bool:
    """Whether the claim follows; `algebraic` settles rational obligations."""
    claim = obligation.claim
    if claim.op == "==":
        return False
    difference = claim.rhs - claim.lhs if claim.op in ("<=", "<") else claim.lhs - claim.rhs
    strict = claim.op in ("<", ">")
    if not difference.free_symbols:
        value = balls(difference, {})
        return bool(value > 0)
    if len(difference.free_symbols) != 1 or depth == 0:
        return False
    (x,) = difference.free_symbols
    if any(h.relation.symbols - {x} for h in obligation.hypotheses):
        return False
    points = [p for p in (0, 1) if _touches(x, p, obligation)]
    return any(_from(x, p, difference, strict, obligation, algebraic, depth) for p in points)


def _touches(x: sympy.Symbol, point: int, obligation: Obligation) -> bool:
    """Whether the domain is an interval with the point in its closure: then it holds all that lies
    between."""
    if x.is_integer and x.is_positive and point == 0:
        return False
    for h in obligation.hypotheses:
        sides = (h.relation.lhs, h.relation.rhs)
        if not all(s.is_polynomial(x) and sympy.degree(s, x) <= 1 for s in sides):
            return False
        closed = {"<": "<=", ">": ">="}.get(h.relation.op, h.relation.op)
        if holds(Relation(h.relation.lhs, closed, h.relation.rhs), {x.name: Fraction(point)}) is not True:
            return False
    return True


def _from(
    x: sympy.Symbol,
    point: int,
    f: sympy.Expr,
    strict: bool,
    obligation: Obligation,
    algebraic: Algebraic,
    depth: int,
) -> bool:
    """f >= 0 by its sign at `point` and the sign of its derivative on both sides."""
    start = _sign_at(f, x, point)
    if start is None or start < 0:
        return False
    slope = sympy.diff(f, x)
    slope = sympy.expand(slope) if slope.has(sympy.exp) else sympy.together(sympy.simplify(slope))
    outside = strict and start == 0  # then f > 0 only where x is away from the point
    for side, op in ((ge(x, point), ge), (le(x, point), le)):
        beyond = (*obligation.hypotheses, Hypothesis("side", side))
        if _empty(x, point, side, obligation):
            continue
        strictly = Relation(slope, ">" if op is ge else "<", sympy.Integer(0)) if outside else op(slope, 0)
        if not _settle(Obligation("slope", beyond, strictly), algebraic, depth):
            return False
    return not outside or _excluded(x, point, obligation)


def _settle(obligation: Obligation, algebraic: Algebraic, depth: int) -> bool:
    claim = obligation.claim
    if claim.rhs == 0 and claim.op == ">=" and claim.lhs.is_nonnegative:
        return True
    if claim.lhs.has(sympy.log, sympy.exp):
        return prove(obligation, algebraic, depth - 1)
    return algebraic(obligation)


def _sign_at(f: sympy.Expr, x: sympy.Symbol, point: int) -> int | None:
    """The sign of f at a point where it is defined, its one-sided closure included (a symbol > 0 at 0)."""
    try:
        value = exact(f, {x.name: Fraction(point)})
        return (value > 0) - (value < 0)
    except (Irrational, ZeroDivisionError):
        pass
    try:
        ball = balls(f, {x.name: flint.arb(point)})
    except (Irrational, ZeroDivisionError):
        return None
    return 1 if ball > 0 else -1 if ball < 0 else None


def _empty(x: sympy.Symbol, point: int, side: Relation, obligation: Obligation) -> bool:
    """Whether the domain has nothing strictly beyond the point on that side."""
    if side.op == "<=" and point == 0 and (x.is_nonnegative or x.is_positive):
        return True
    if side.op == "<=" and point == 1 and x.is_integer and x.is_positive:
        return True
    bounds = [h.relation for h in obligation.hypotheses]
    opposite = {
        "<=": (ge(x, point), Relation(x, ">", sympy.Integer(point))),
        ">=": (le(x, point), lt(x, point)),
    }
    return any(b in opposite[side.op] for b in bounds)


def _excluded(x: sympy.Symbol, point: int, obligation: Obligation) -> bool:
    """Whether the domain leaves the point itself out."""
    if point == 0 and x.is_positive:
        return True
    return any(
        h.relation in (Relation(x, ">", sympy.Integer(point)), lt(x, point)) for h in obligation.hypotheses
    )
