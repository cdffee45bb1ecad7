"""Mutants of the statements: each constant, sign and exponent of each expression, one at a time.

`python -m tests.bounds.mutation` is not needed: `test_mutation.py` runs a share by default and all in the
slow run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy
import twins
from mpmath import mpf

from bounds import Kind, Statement


@dataclass(frozen=True)
class Mutant:
    """An expression with one place changed."""

    what: str
    expression: sympy.Expr


def mutants(expression: sympy.Expr) -> Iterator[Mutant]:
    """Every expression that differs from `expression` in one number, sign, exponent or operand.

    A number n becomes n + 1, a term changes its sign, an exponent grows by one, a symbol vanishes from a
    product.
    """
    seen = {expression}
    for path, node in _places(expression, ()):
        for what, changed in _changes(node):
            mutant = _replace(expression, path, changed)
            real = not mutant.has(sympy.zoo, sympy.nan, sympy.oo, sympy.I)
            if real and mutant not in seen:
                seen.add(mutant)
                yield Mutant(f"{what} at {'.'.join(map(str, path)) or 'the top'}", mutant)


def _places(node: sympy.Basic, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], sympy.Basic]]:
    yield path, node
    for i, child in enumerate(node.args):
        yield from _places(child, (*path, i))


def _changes(node: sympy.Basic) -> Iterator[tuple[str, sympy.Basic]]:
    if node.is_Rational:
        yield f"{node} -> {node + 1}", node + 1
        if node.q == 1 and abs(node) > 2:
            yield f"{node} -> {node - 1}", node - 1
        elif node.q != 1:
            yield f"{node} -> {2 * node}", 2 * node
    if node.is_Add:
        for i, term in enumerate(node.args):
            others = node.args[:i] + node.args[i + 1 :]
            yield f"sign of {term}", sympy.Add(*others, -term)
            yield f"without {term}", sympy.Add(*others)
    if node.is_Mul:
        for i, factor in enumerate(node.args):
            if factor.is_Symbol:
                yield f"without factor {factor}", sympy.Mul(*node.args[:i], *node.args[i + 1 :])
                yield f"{factor} squared", sympy.Mul(*node.args, factor)
        if not node.args[0].is_Rational:
            yield "twice", 2 * node
    if node.is_Pow:
        yield f"exponent of {node}", sympy.Pow(node.base, node.exp + 1)


def _replace(node: sympy.Basic, path: tuple[int, ...], new: sympy.Basic) -> sympy.Expr:
    if not path:
        return new
    args = list(node.args)
    args[path[0]] = _replace(args[path[0]], path[1:], new)
    return node.func(*args)


def points(name: str, edition: str, count: int = 24) -> list[tuple[dict[str, Any], mpf]]:
    """Random constants and the reference's values; the same sets of names first."""
    return list(twins.draws(name, edition, count, seed=21))


def survives(statement: Statement, mutant: Mutant, where: list[tuple[dict[str, Any], mpf]]) -> bool:
    """Does the mutant agree with the reference at every point?"""
    changed = replace(statement, expression=mutant.expression)
    for constants, truth in where:
        value = changed.evaluate(constants, unchecked=True)
        if not np.isfinite(value) or abs(mpf(value) - truth) > mpf(1e-9) * abs(truth):
            return False
    return True


def attack(name: str, edition: str, every: int = 1) -> tuple[int, list[str]]:
    """(mutants tried, survivors) of one case; `every` = 5 tries each fifth."""
    statement = twins.statement(name, edition)
    assert statement.expression is not None
    assert statement.kind is not Kind.ORDER
    where = points(name, edition)
    tried = list(mutants(statement.expression))[::every]
    alive = [m.what for m in tried if survives(statement, m, where)]
    return len(tried), [f"{name} | {edition}: {what}" for what in alive]


def attack_terms(name: str, edition: str) -> tuple[int, list[str]]:
    """The same for the named terms of an order."""
    from reference import ALL

    names = {"R_4": "H(mBL)^2", "R_5": "L^2/H", "R_6": "1"} if "4.6" in name else {}
    statement, rng = twins.statement(name, edition), np.random.default_rng(3)
    sets = [{**ALL[name, edition].draw(rng), "r_hat": 10**9} for _ in range(24)]
    truths = [ALL[name, edition].value(**c) for c in sets]
    tried, alive = 0, []
    for term, expression in statement.terms.items():
        if term == "R_hat":
            continue
        where = [(c, t[names.get(term, term)]) for c, t in zip(sets, truths, strict=True)]
        where = [(c, t) for c, t in where if np.isfinite(float(t)) and abs(t) > 1e-6]
        for mutant in mutants(expression):
            tried += 1
            if survives(statement, mutant, where):
                alive.append(f"{name} | {edition} | {term}: {mutant.what}")
    return tried, alive


def attack_limits(name: str, edition: str, limits: Callable[..., dict[str, Any]]) -> tuple[int, list[str]]:
    """The same for the right sides of the conditions `gamma <= ...`, against the reference's limits."""
    from reference import ALL

    statement, rng = twins.statement(name, edition), np.random.default_rng(13)
    pairs = [twins.pair(name, edition, ALL[name, edition].draw(rng)) for _ in range(24)]
    truths = [limits(**theirs) for _, theirs in pairs]
    tried, alive = 0, []
    for hypothesis in statement.hypotheses:
        if str(hypothesis.relation.lhs) != "gamma":
            continue
        right = replace(statement, expression=hypothesis.relation.rhs, kind=Kind.BOUND)
        matches = []
        for key in truths[0]:
            where = [
                (ours, t[key])
                for (ours, _), t in zip(pairs, truths, strict=True)
                if np.isfinite(float(t[key]))
            ]
            if len(where) > 5 and survives(right, Mutant("none", hypothesis.relation.rhs), where):
                matches.append(where)
        assert matches, f"{name} | {edition}: {hypothesis.name} is none of the reference's limits"
        for mutant in mutants(hypothesis.relation.rhs):
            tried += 1
            if any(survives(right, mutant, where) for where in matches):
                alive.append(f"{name} | {edition} | {hypothesis.name}: {mutant.what}")
    return tried, alive
