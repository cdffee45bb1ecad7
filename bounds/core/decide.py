"""Deciding a relation between two sides: surely, in balls of growing precision, exactly at last.

A tie is never guessed: with exact inputs two sides that no precision separates are compared by algebra, with
inputs known only to a radius they stay undecided.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from flint import arb
from sympy.core.relational import Relational

from bounds.core.compiled import Resolution, build, prepare
from bounds.core.constant import Constant
from bounds.core.derive import Formula, Rate
from bounds.core.enclosure import precision
from bounds.core.quick import MARGIN, SCALE, is_plain

PRECISIONS = (85, 192, 640)


def compare(relation: Relational, lhs: arb, rhs: arb) -> bool | None:
    """Does `relation` hold between two balls? None if they overlap (or are not numbers)."""
    left, right = (lhs, rhs) if isinstance(relation, sympy.Le | sympy.Lt) else (rhs, lhs)
    if isinstance(relation, sympy.Eq):
        return False if lhs < rhs or lhs > rhs else True if lhs == rhs else None
    if isinstance(relation, sympy.Le | sympy.Ge):
        return True if left <= right else False if left > right else None
    return True if left < right else False if left >= right else None


def decide(
    relation: Relational,
    resolution: Resolution,
    values: Mapping[str, Any],
    arrays: frozenset[str],
    counts: frozenset[str],
    cache: dict[Any, Any],
) -> tuple[bool | None, float, float]:
    """(holds, lhs, rhs) of a relation at one point, rigorously."""
    sharp = all(_is_exact(values[n]) for n in resolution.inputs)
    lhs = rhs = arb(0)
    for bits in PRECISIONS if sharp else PRECISIONS[:1]:
        with precision(bits):
            key = (relation, resolution, bits)
            if key not in cache:
                cache[key] = build([relation.lhs, relation.rhs], resolution, "careful", counts)
            lhs, rhs = (arb(v) for v in cache[key](prepare(values, resolution.inputs, arrays, counts)))
            verdict = compare(relation, lhs, rhs)
        if verdict is not None:
            return verdict, float(lhs), float(rhs)
    tie = _algebra(relation, resolution, values, arrays) if sharp else None
    return tie, float(lhs.mid()), float(rhs.mid())


def _is_exact(value: Any) -> bool:
    return not isinstance(value, Constant) or value.exact


def _algebra(
    relation: Relational, resolution: Resolution, values: Mapping[str, Any], arrays: frozenset[str]
) -> bool | None:
    """The relation at exact numbers whose two sides are equal to hundreds of bits: equal, or undecided."""
    if any(n in arrays for n in resolution.inputs):
        return None
    gap = relation.lhs - relation.rhs
    for name, recipe in reversed(resolution.steps):
        if isinstance(recipe, Formula | Rate):
            formula = recipe.expression if isinstance(recipe, Formula) else recipe.formula
            gap = gap.subs(_named(gap, name), formula)
        else:
            return None
    exact = {_named(gap, n): _rational(values[n]) for n in resolution.inputs}
    equal = sympy.simplify(gap.subs(exact)) == 0
    return isinstance(relation, sympy.Le | sympy.Ge | sympy.Eq) if equal else None


def _named(expression: sympy.Expr, name: str) -> sympy.Symbol:
    return next((s for s in expression.free_symbols if s.name == name), sympy.Symbol(name))


def _rational(value: Any) -> sympy.Rational:
    value = value.value if isinstance(value, Constant) else value
    fraction = value if isinstance(value, Fraction) else Fraction(np.asarray(value).item())
    return sympy.Rational(fraction.numerator, fraction.denominator)


def surely(relation: Relational, lhs: Any, rhs: Any) -> Any:
    """Where floats settle that the relation holds (their errors lie far inside the margin)."""
    if isinstance(relation, sympy.Eq):
        return lhs == rhs if is_plain(relation) else np.zeros(np.shape(lhs == rhs), dtype=bool)
    strict = isinstance(relation, sympy.Lt | sympy.Gt)
    less, more = (lhs, rhs) if isinstance(relation, sympy.Le | sympy.Lt) else (rhs, lhs)
    if is_plain(relation):
        return less < more if strict else less <= more
    smaller = relation.lhs if isinstance(relation, sympy.Le | sympy.Lt) else relation.rhs
    if smaller.is_nonnegative and not strict:
        return less * SCALE <= more
    slack = more - less
    sure = slack >= MARGIN * (np.abs(lhs) + np.abs(rhs))
    return sure & (slack > 0) if strict else sure


def severity(answer: tuple[bool | None, float, float, float]) -> tuple[int, float]:
    """How bad an answer is: a failure, then a doubt, then the least slack."""
    holds, _, _, slack = answer
    return {True: 0, None: 1, False: 2}[holds], -slack if slack == slack else np.inf
