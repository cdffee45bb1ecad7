"""A fast yes for one point: plain floats settle all domains and hypotheses at once, or say nothing.

A call costs a few microseconds. False means `not settled`: the caller then looks closely, in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy
from sympy.core.relational import Relational

from bounds.core.accurate import half_rate, square_rate
from bounds.core.compiled import Resolution, compile_source
from bounds.core.constant import Constant
from bounds.core.derive import Computed, Rate
from bounds.core.vocabulary import Symbol

MARGIN = 1e-9  # floats settle a comparison only beyond this share of the sides
SCALE = (1 + MARGIN) / (1 - MARGIN)  # the same between sides >= 0


def _divide(x: int | float, y: int | float) -> float:
    return math.copysign(math.inf, x) if y == 0.0 and x != 0.0 else x / y


def _log(x: int | float) -> float:
    """NaN where the logarithm cancels: no comparison with it is then settled."""
    y = math.log(x) if x > 0.0 else -math.inf
    return y if abs(y) >= 1e-6 else math.nan


def _rate(log: float) -> tuple[float, float, float]:
    return log, 0.0, log


def _half_rate(mu: float, gamma: float) -> tuple[float, float, float]:
    return _rate(math.log1p(-0.5 * mu * gamma))


def _square_rate(mu: float, lipschitz: float, gamma: float) -> tuple[float, float, float]:
    loss = gamma * (2.0 * mu - lipschitz * lipschitz * gamma)
    square = (1.0 - mu * gamma) ** 2 + (lipschitz - mu) * (lipschitz + mu) * gamma * gamma
    log = math.log1p(-loss) if loss < 0.5 else math.log(square)
    return log, 0.0, 0.5 * log


_RATES: Mapping[Callable[..., Any], Callable[..., Any]] = {half_rate: _half_rate, square_rate: _square_rate}
_MATH: dict[str, Any] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": _log,
    "cbrt": math.cbrt,
    "cube": lambda x: x * x * x,
    "maximum": max,
    "minimum": min,
    "where": lambda test, x, y: x if test else y,
    "divide": _divide,
    "given_rate": lambda rate: _rate(math.log(rate)),
    "rate_power": lambda log, _, exponent: math.exp(log * exponent),
    "power_gap": lambda log, span: -math.expm1(span * log),
    "c_one": 1.0,
    "inf": math.inf,
}


def plain(value: Any) -> float:
    """The float of a constant that is one number.

    Raises:
        ValueError: for an array or a list.
    """
    if type(value) is Constant:
        value = value.value
    if isinstance(value, np.ndarray | list | tuple):
        raise ValueError(f"{value} is not one number")
    return float(value)


def build_quick(
    relations: Sequence[Relational], resolution: Resolution, table: Mapping[str, Symbol]
) -> Callable[[Mapping[str, Any]], bool] | None:
    """A function of the constants that is True only if every domain and relation surely holds.

    None when the names come from arrays or from functions that plain floats do not have.
    """
    if any(
        isinstance(r, Computed) or (isinstance(r, Rate) and r.floats not in _RATES)
        for _, r in resolution.steps
    ) or any(table[n].domain.array for n in resolution.inputs):
        return None
    rates = {n: _RATES[r.floats] for n, r in resolution.steps if isinstance(r, Rate)}
    sides = [s for r in relations for s in (r.lhs, r.rhs)]
    tests = [_domain_test(n, table[n]) for n in resolution.inputs]
    tests += [_relation_test(r, f"s{2 * i}", f"s{2 * i + 1}") for i, r in enumerate(relations)]
    namespace = {**_MATH, "plain": plain, **{f"f_{n}": f for n, f in rates.items()}}
    reads = [
        line
        for n in resolution.inputs
        for line in (f"v_{n} = values[{n!r}]", f"if type(v_{n}) is not float: v_{n} = plain(v_{n})")
    ]
    result = " and ".join(tests) or "True"
    function = compile_source(sides, resolution, "quick", namespace, result, reads=reads)

    def settled(constants: Mapping[str, Any]) -> bool:
        try:
            return bool(function(constants))
        except (ArithmeticError, ValueError):
            return False

    return settled


def _domain_test(name: str, symbol: Symbol) -> str:
    domain = symbol.domain
    low = "<" if domain.open_lower else "<="
    high = "<" if domain.open_upper else "<="
    test = f"{domain.lower!r} {low} v_{name}"
    if domain.upper < math.inf or domain.open_upper:
        test += f" {high} {domain.upper!r}"
    return f"{test} and v_{name} % 1.0 == 0.0" if domain.integer else test


def _relation_test(relation: Relational, lhs: str, rhs: str) -> str:
    if isinstance(relation, sympy.Ge | sympy.Gt):
        lhs, rhs = rhs, lhs
    strict = isinstance(relation, sympy.Lt | sympy.Gt)
    if is_plain(relation):
        return f"{lhs} {'<' if strict else '<='} {rhs}"
    smaller = relation.rhs if isinstance(relation, sympy.Ge | sympy.Gt) else relation.lhs
    if smaller.is_nonnegative and not strict:
        return f"{lhs} * {SCALE!r} <= {rhs}"
    test = f"{rhs} - {lhs} >= {MARGIN} * (abs({lhs}) + abs({rhs}))"
    return f"{lhs} < {rhs} and {test}" if strict else test


def is_plain(relation: Relational) -> bool:
    """Are both sides given numbers, up to an integer shift (so that floats are exact)?"""
    return all(
        s.is_Symbol
        or s.is_Integer
        or (s.is_Add and len(s.args) == 2 and s.args[0].is_Integer and s.args[1].is_Symbol)
        for s in (relation.lhs, relation.rhs)
    )
