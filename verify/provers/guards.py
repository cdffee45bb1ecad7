"""Three guards on a proved obligation: its hypotheses can be met, each is needed, and the constants are
sharp.

The first keeps a proof from being vacuous. The second drops each hypothesis in turn: a counterexample
shows it needed,
a proof without it shows it spare. The third multiplies each term and each constant of the claim by 1 +-
1/1000:
when for each of them one of the two is refuted, no constant can be improved and the obligation is called
tight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from bounds.core.step import Obligation, Relation
from verify.provers import certificate, falsify
from verify.provers.discharge import Point, Status, Workshop, discharge, without
from verify.provers.evaluate import holds
from verify.provers.store import read_point, write_point
from verify.provers.system import NotAlgebraic, build

NUDGE = Fraction(1, 1000)


@dataclass(frozen=True)
class Guards:
    """What the guards say: `satisfiable` None means that no point was found and none excluded."""

    satisfiable: bool | None
    needed: tuple[str, ...]
    spare: tuple[str, ...]
    undecided: tuple[str, ...]
    tight: bool


def satisfiable(
    obligation: Obligation, shop: Workshop, memory: dict[str, Any], cases: Sequence[Point]
) -> bool | None:
    """Whether the hypotheses have a common point (rational and exact, or z3's word)."""
    known = [read_point(memory["point"])] if "point" in memory else []
    point = falsify.find_admissible(obligation, [*known, *cases])
    if point is not None:
        memory["point"] = write_point({s.name: point[s.name] for s in obligation.symbols})
        return True
    try:
        verdict, _ = shop.solver.ask(build(obligation), None, shop.seconds)
    except NotAlgebraic:
        return None
    return {"sat": True, "unsat": False}.get(verdict)


def guard(obligation: Obligation, shop: Workshop, memory: dict[str, Any], cases: Sequence[Point]) -> Guards:
    """All three guards on a proved obligation, re-checking what is stored and searching for the rest."""
    needed, spare, undecided = _needs(obligation, shop, memory, cases)
    return Guards(
        satisfiable(obligation, shop, memory, cases),
        tuple(needed),
        tuple(spare),
        tuple(undecided),
        tight(obligation, shop, memory, cases),
    )


def _needs(
    obligation: Obligation, shop: Workshop, memory: dict[str, Any], cases: Sequence[Point]
) -> tuple[list[str], list[str], list[str]]:
    needed, spare, undecided = [], [], []
    stored = memory.setdefault("needed", {})
    free = memory.setdefault("spare", [])
    unused = _unused(obligation, memory)
    for h in obligation.hypotheses:
        if h.structural:
            continue
        weaker = without(obligation, h)
        known = [read_point(stored[h.name])] if h.name in stored else []
        point = falsify.search(weaker, [*known, *cases]) if shop.search or known else None
        if point is not None:
            stored[h.name] = write_point(point)
            needed.append(h.name)
        elif h.name in unused or h.name in free or (shop.search and _provable(weaker, shop)):
            spare.append(h.name)
        else:
            undecided.append(h.name)
    memory["spare"] = sorted(spare)
    return needed, spare, undecided


def _unused(obligation: Obligation, memory: dict[str, Any]) -> set[str]:
    if "goals" not in memory:
        return set()
    system = build(obligation)
    return {h.name for h in obligation.hypotheses} - certificate.used(memory["goals"], system)


def _provable(obligation: Obligation, shop: Workshop) -> bool:
    quick = replace(shop, seconds=2.0)
    return discharge(obligation, quick, {}).status is Status.PROVED


def tight(obligation: Obligation, shop: Workshop, memory: dict[str, Any], cases: Sequence[Point]) -> bool:
    """Whether no constant of the claim can be nudged both ways without a counterexample."""
    stored = memory.setdefault("tight", [])
    if memory.get("loose"):
        return False
    points: list[Point] = [
        p for p in (*(read_point(p) for p in stored), *cases) if falsify.admissible(obligation, p)
    ]
    kept: list[Point] = []
    for pair in nudges(obligation.claim):
        hit = next((p for r in pair for p in points if holds(r, p) is False), None)
        if hit is None and shop.search:
            found = (falsify.search(replace(obligation, claim=r)) for r in pair)
            hit = next((p for p in found if p is not None), None)
        if hit is None and shop.search:
            hit = next((p for r in pair if (p := _by_z3(replace(obligation, claim=r), shop))), None)
        if hit is None:
            memory["tight"], memory["loose"] = [], True
            return False
        if hit not in kept:
            kept.append(hit)
            points.insert(0, hit)
    memory["tight"] = [write_point(p) for p in kept]
    return True


def _by_z3(obligation: Obligation, shop: Workshop) -> Point | None:
    """z3's counterexample, if it has one that stands the exact re-check."""
    try:
        system = build(obligation)
    except NotAlgebraic:
        return None
    for goal in system.goals:
        verdict, model = shop.solver.ask(system, goal, 1.0)
        if verdict == "sat" and falsify.refutes(obligation, system.point(model)):
            return {s.name: system.point(model)[s.name] for s in obligation.symbols}
    return None


def nudges(relation: Relation) -> Iterator[tuple[Relation, Relation]]:
    """For each term of both sides and each constant inside one, the relation with it nudged up and down."""
    up, down = 1 + sympy.Rational(1, 1000), 1 - sympy.Rational(1, 1000)
    for side in ("lhs", "rhs"):
        expr = getattr(relation, side)
        if expr == 0:
            continue
        terms = sympy.Add.make_args(expr)
        for term in terms:
            yield tuple(  # type: ignore[misc]
                replace(relation, **{side: expr - term + term * factor}) for factor in (up, down)
            )
        for path in constants(expr):
            yield tuple(  # type: ignore[misc]
                replace(relation, **{side: put(expr, path, get(expr, path) * factor)})
                for factor in (up, down)
            )


def constants(expr: sympy.Expr) -> Iterator[tuple[int, ...]]:
    """The places of the rational constants of an expression, exponents left out."""
    stack: list[tuple[sympy.Expr, tuple[int, ...]]] = [(expr, ())]
    while stack:
        node, path = stack.pop()
        if node.is_Rational:
            if node not in (0,):
                yield path
            continue
        for i, arg in enumerate(node.args):
            if not (node.is_Pow and i == 1):
                stack.append((arg, (*path, i)))


def get(expr: sympy.Expr, path: Sequence[int]) -> sympy.Expr:
    """The subexpression at a place."""
    for i in path:
        expr = expr.args[i]
    return expr


def put(expr: sympy.Expr, path: Sequence[int], value: sympy.Expr) -> sympy.Expr:
    """The expression with another one at that place."""
    if not path:
        return value
    args = list(expr.args)
    args[path[0]] = put(args[path[0]], path[1:], value)
    return expr.func(*args)
