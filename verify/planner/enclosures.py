"""Statements evaluated with outward rounding: totals, terms, both sides of each hypothesis. No search in here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from flint import arb

from bounds import Statement
from bounds.core.compiled import build, prepare
from bounds.core.enclosure import precision
from bounds.core.plan import Atom
from bounds.core.plan import Plan as Compiled
from verify.planner.normal import labelled

WRITE_BITS, CHECK_BITS = 85, 192


@dataclass(frozen=True)
class Side:
    """One relation of a hypothesis: decided, with both sides enclosed (None: the constants do not give it)."""

    name: str
    holds: bool | None
    lhs: arb | None
    rhs: arb | None


@dataclass(frozen=True)
class Evaluation:
    """One statement at one choice."""

    statement: Statement
    total: arb
    terms: dict[str, arb]
    sides: tuple[Side, ...]

    @property
    def binding(self) -> str:
        """The largest term."""
        return max(self.terms, key=lambda name: float(self.terms[name].mid()))

    @property
    def failing(self) -> list[Side]:
        """What is not proved to hold."""
        return [s for s in self.sides if s.holds is not True]


@cache
def _with_terms(statement: Statement) -> Statement:
    return replace(statement, terms=labelled(statement.expression))


def evaluate(statement: Statement, constants: Mapping[str, Any], bits: int = WRITE_BITS) -> Evaluation:
    """Everything a certificate says of one statement, in balls of about `bits` bits."""
    if statement.expression is None:
        raise TypeError(f"{statement.id} has no value")
    total = statement.enclose(constants, bits - 32, unchecked=True)
    named = _with_terms(statement)
    values = named.plan(constants, parts=True).enclose(constants, bits - 32, True)
    terms = dict(zip(named.terms, values, strict=True))
    return Evaluation(statement, total, terms, sides(statement, constants, bits))


def sides(statement: Statement, constants: Mapping[str, Any], bits: int = WRITE_BITS) -> tuple[Side, ...]:
    """Each relation of each hypothesis, decided, with both sides as balls."""
    plan = statement.plan(constants)
    return tuple(_side(plan, atom, constants, bits) for atom in plan.atoms)


def _side(plan: Compiled, atom: Atom, constants: Mapping[str, Any], bits: int) -> Side:
    if not atom.decidable:
        return Side(atom.hypothesis.name, None, None, None)
    holds, _, _ = plan.decide(atom, {n: constants[n] for n in atom.resolution.inputs})
    relation, resolution = atom.relation, atom.resolution
    with precision(bits):
        key = (relation, resolution, bits)
        if key not in plan.functions:
            plan.functions[key] = build([relation.lhs, relation.rhs], resolution, "careful", plan.counts)
        values = prepare(constants, resolution.inputs, plan.arrays, plan.counts)
        lhs, rhs = (arb(v) for v in plan.functions[key](values))
    return Side(atom.hypothesis.name, atom.hypothesis.judge(holds), lhs, rhs)


def infinite(x: arb) -> float:
    """inf or -inf for a ball beyond 2^5000 (a side that divides by zero, or the logarithm of zero), else 0."""
    far = arb(2) ** 5000
    return math.inf if x > far else -math.inf if x < -far else 0.0


def outward(x: arb) -> tuple[float, float]:
    """The tightest floats that surely enclose a ball; (-inf, inf) if nothing is known of it."""
    if not x.is_finite():
        if infinite(x):
            return infinite(x), infinite(x)
        return -math.inf, math.inf
    low, high = float(x.lower()), float(x.upper())
    while arb(low) > x.lower() or not arb(low) <= x:
        low = math.nextafter(low, -math.inf)
    while arb(high) < x.upper() or not arb(high) >= x:
        high = math.nextafter(high, math.inf)
    return low, high


def fraction_above(x: arb) -> Fraction:
    """The upper end of a finite ball, to 256 bits and upwards."""
    with precision(256):
        mantissa, exponent = x.upper().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
