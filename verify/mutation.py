"""Mutation of the ledger: break a tight step in one place, and it must stop being proved.

Each constant, exponent, sign and index of the claim and each constant, direction and presence of a
hypothesis is changed,
one at a time. A mutant is killed when it is refuted, left open, or no longer tight (a constant that can be
nudged freely is
not the step's constant). One that is proved and tight all the same survives and is listed with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy

from bounds.core.step import Hypothesis, Obligation, Relation, Step, StepError, sign_of
from verify.provers import falsify
from verify.provers.discharge import Point, Status, Workshop, discharge, without, workshop
from verify.provers.guards import constants, get, put, tight
from verify.provers.store import Store, read_point


@dataclass(frozen=True)
class Mutant:
    """One changed obligation and what was changed."""

    what: str
    obligation: Obligation


def mutants(obligation: Obligation, spare: Sequence[str] = ()) -> Iterator[Mutant]:
    """Every mutant of an obligation; hypotheses that the ledger reports as spare are left alone."""
    for what, relation in _relations(obligation.claim, obligation):
        yield Mutant(f"claim: {what}", replace(obligation, claim=relation))
    for h in obligation.hypotheses:
        if h.structural or h.name in spare:
            continue
        yield Mutant(f"hypothesis dropped: {h.name}", without(obligation, h))
        for what, relation in _constants(h.relation):
            yield Mutant(f"hypothesis {h.name}: {what}", _swap(obligation, h, relation))
        if h.relation.op != "==":
            flipped = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}[h.relation.op]
            changed = replace(h.relation, op=flipped)
            yield Mutant(f"hypothesis {h.name}: direction", _swap(obligation, h, changed))


def _swap(obligation: Obligation, old: Hypothesis, relation: Relation) -> Obligation:
    fresh = tuple(replace(h, relation=relation) if h is old else h for h in obligation.hypotheses)
    return replace(obligation, hypotheses=fresh)


def _relations(relation: Relation, obligation: Obligation) -> Iterator[tuple[str, Relation]]:
    yield from _constants(relation)
    for side in ("lhs", "rhs"):
        expr = getattr(relation, side)
        for path in _exponents(expr):
            k = get(expr, path)
            for other in (k + 1, k - 1):
                yield f"exponent {k} to {other}", replace(relation, **{side: put(expr, path, other)})
        for term in sympy.Add.make_args(expr):
            if term != 0:
                yield f"sign of {term}", replace(relation, **{side: expr - 2 * term})
        yield from _indices(relation, side, expr, obligation)


def _constants(relation: Relation) -> Iterator[tuple[str, Relation]]:
    for side in ("lhs", "rhs"):
        expr = getattr(relation, side)
        for path in constants(expr):
            c = get(expr, path)
            for factor in (sympy.Rational(7, 6), sympy.Rational(5, 6)):
                yield (
                    f"constant {c} to {c * factor}",
                    replace(relation, **{side: put(expr, path, c * factor)}),
                )


def _exponents(expr: sympy.Expr) -> Iterator[tuple[int, ...]]:
    stack: list[tuple[sympy.Expr, tuple[int, ...]]] = [(expr, ())]
    while stack:
        node, path = stack.pop()
        if node.is_Pow and node.exp.is_Integer and abs(node.exp) >= 2:
            yield (*path, 1)
        stack += [(arg, (*path, i)) for i, arg in enumerate(node.args)]


def _indices(
    relation: Relation, side: str, expr: sympy.Expr, obligation: Obligation
) -> Iterator[tuple[str, Relation]]:
    """One symbol replaced by the next one of the same sign (an index shifted, a quantity confused)."""
    symbols = sorted(expr.free_symbols, key=lambda s: s.name)
    for symbol in symbols:
        others = [s for s in obligation.symbols if s != symbol and sign_of(s) == sign_of(symbol)]
        if others:
            other = others[0]
            yield f"{symbol} to {other}", replace(relation, **{side: expr.xreplace({symbol: other})})


def verdict(mutant: Mutant, shop: Workshop, points: Sequence[Point]) -> str:
    """Empty when the mutant is killed, else why it survives."""
    obligation = mutant.obligation
    try:
        if falsify.search(obligation, points, samples=400, rounds=1) is not None:
            return ""
    except (StepError, ZeroDivisionError):
        return ""
    if obligation.claim.lhs == obligation.claim.rhs:
        return "the mutant is a tautology"
    memory: dict[str, Any] = {}
    if not tight(obligation, shop, memory, points):
        return ""
    return "proved and tight as well" if discharge(obligation, shop, {}).status is Status.PROVED else ""


def _drawn(found: list[Mutant], sample: int | None, obligation: Obligation) -> list[Mutant]:
    if sample is None or len(found) <= sample:
        return found
    rng = np.random.Generator(np.random.Philox(int(obligation.digest, 16)))
    return [found[i] for i in sorted(rng.choice(len(found), sample, replace=False))]


def mutate_ledger(steps: Iterable[Step], sample: int | None = None) -> dict[str, Any]:
    """`{"steps", "mutants", "killed", "survivors": [{"step", "mutation", "why"}]}` over the tight steps.

    Args:
        steps: the steps to mutate; those that are not tight are passed over.
        sample: at most so many mutants an obligation, drawn by its digest (all of them by default).
    """
    survivors: list[dict[str, str]] = []
    total = counted = 0
    shop = workshop(search=True, seconds=2.0)
    try:
        for step in steps:
            store = Store(step.statement)
            found = False
            for obligation in step.obligations:
                memory = store.get(obligation)
                if not memory.get("tight"):
                    continue
                found = True
                points = [*(read_point(p) for p in memory["tight"]), *step.cases]
                points += [read_point(p) for p in memory.get("needed", {}).values()]
                for mutant in _drawn(list(mutants(obligation, memory.get("spare", ()))), sample, obligation):
                    total += 1
                    why = verdict(mutant, shop, points)
                    if why:
                        survivors.append({"step": step.key, "mutation": mutant.what, "why": why})
            counted += found
    finally:
        shop.close()
    return {"steps": counted, "mutants": total, "killed": total - len(survivors), "survivors": survivors}
