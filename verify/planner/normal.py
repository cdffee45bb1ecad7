"""A bound as a function of gamma: its named terms, and the coefficients of the powers of gamma.

Everything here is read off the statement's own expression; no formula is written down again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy

from bounds import Statement
from bounds.core.plan import Plan as Compiled
from bounds.incentfedavg.names import names

_WEIGHTS = frozenset(
    {"delta_0", "Delta_mean", "Delta_sq_mean", "delta_hat_sq_mean", "dist_0", "sum_g_l2", "Delta_start"}
)
_STARTS = frozenset({"f_gap", "D_r_hat", "f_gap_0", "X_0"})


@dataclass(frozen=True)
class Normal:
    """bound <= epsilon as sum_k a_k gamma^k + start * c / gamma <= epsilon (1 - shrink gamma).

    Args:
        powers: the exponents k, in the order of the coefficients.
        expressions: the coefficients a_k, then c, then shrink, in constants, r_hat and R.
    """

    powers: tuple[int, ...]
    expressions: tuple[sympy.Expr, ...]


@cache
def compiled(statement: Statement, start: str | None, power: int, given: frozenset[str]) -> Compiled:
    """The compiled coefficients for a caller who gives the names `given` (no start: those of an a-priori bound)."""
    normal = start_form(statement) if start is None else normal_form(statement, start, power)
    recipes = {**statement.vocabulary.derived, **statement.recipes}
    name = f"{statement.id} ({statement.edition})"
    return Compiled(name, normal.expressions, (), given, statement.vocabulary.symbols, recipes)


def split(expression: sympy.Expr) -> tuple[tuple[sympy.Expr, ...], sympy.Expr]:
    """The terms of a bound, and the denominator that they share (1 where there is none)."""
    if isinstance(expression, sympy.Add):
        return expression.args, sympy.Integer(1)
    gamma = names("gamma")
    sums = (
        [f for f in expression.args if isinstance(f, sympy.Add) and f.has(gamma)] if expression.is_Mul else []
    )
    if len(sums) != 1:
        return (expression,), sympy.Integer(1)
    return sums[0].args, sums[0] / expression


def labelled(expression: sympy.Expr) -> dict[str, sympy.Expr]:
    """The terms of a bound by name: start, noise, drift, weights; numbered where a name comes twice."""
    terms, below = split(expression)
    if len(terms) == 1:
        return {"bound": expression}
    found: dict[str, sympy.Expr] = {}
    for term in sorted(terms, key=str):
        label = _label(term)
        known = sum(name.split(" ")[0] == label for name in found)
        found[f"{label} {known + 1}" if known else label] = term / below
    return found


def _label(term: sympy.Expr) -> str:
    used = {s.name for s in term.free_symbols}
    if used & _STARTS:
        return "start"
    if used & _WEIGHTS:
        return "weights"
    return "drift" if sympy.degree(term, names("gamma")) > 1 else "noise"


@cache
def normal_form(statement: Statement, start: str, power: int) -> Normal:
    """The normal form of a statement whose start enters as `start`^`power`."""
    gamma, begin = names("gamma"), names(start)
    terms, below = split(_expression(statement))
    by_power: dict[int, sympy.Expr] = {}
    start_term = sympy.Integer(0)
    for term in terms:
        if term.has(begin):
            start_term += term * gamma / begin**power
        else:
            for k, coefficient in _powers(term).items():
                by_power[k] = by_power.get(k, sympy.Integer(0)) + coefficient
    if start_term.has(gamma) or start_term.has(begin):
        raise TypeError(f"{statement.id}: the start does not enter as {start}^{power}/gamma")
    shrink = _powers(sympy.expand(1 - below)) if below != 1 else {}
    if not set(shrink) <= {1} or not set(by_power) <= {0, 1, 2, 3}:
        raise TypeError(f"{statement.id}: not of the form that the planner knows")
    powers = tuple(sorted(by_power))
    coefficients = tuple(by_power[k] for k in powers)
    return Normal(powers, (*coefficients, start_term, shrink.get(1, sympy.Integer(0))))


@cache
def start_form(statement: Statement) -> Normal:
    """start = exp(growth gamma) * sum_j b_j gamma^j: powers j, expressions b_j and then growth."""
    gamma = names("gamma")
    factors = statement.expression.args if statement.expression is not None else ()
    growth = next(f.args[0] for f in factors if isinstance(f, sympy.exp))
    body = next(f for f in factors if isinstance(f, sympy.Add))
    by_power: dict[int, sympy.Expr] = {}
    for term in body.args:
        for k, coefficient in _powers(term).items():
            by_power[k] = by_power.get(k, sympy.Integer(0)) + coefficient
    powers = tuple(sorted(by_power))
    return Normal(powers, (*(by_power[k] for k in powers), growth / gamma))


def _powers(term: sympy.Expr) -> Mapping[int, sympy.Expr]:
    """The coefficients of the powers of gamma; only the factors that hold gamma are multiplied out."""
    gamma = names("gamma")
    free, bound = term.as_independent(gamma, as_Add=False)
    found: dict[int, sympy.Expr] = {}
    for piece in sympy.Add.make_args(sympy.expand(bound)):
        factor, power = piece.as_coeff_exponent(gamma)
        found[int(power)] = found.get(int(power), sympy.Integer(0)) + free * factor
    return found


def _expression(statement: Statement) -> Any:
    if statement.expression is None:
        raise TypeError(f"{statement.id} has no expression")
    return statement.expression
