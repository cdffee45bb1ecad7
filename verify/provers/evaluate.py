"""A sympy expression as a short program, run in whatever arithmetic the caller brings.

`exact` (fractions; an irrational root is an error), `floats` (numpy arrays, for screening only) and
`balls` (flint
arb, outward rounded) evaluate the *original* relation, so that a counterexample is checked independently
of how
the provers rewrote it. The program is compiled once an expression: thousands of points are tried on each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np
import sympy

from bounds.core.step import Relation

Instruction = tuple[str, Any, Any]  # (operation, first argument, second argument); arguments are slot numbers


class Irrational(ValueError):
    """The value is not a rational number."""


@lru_cache(maxsize=1 << 16)
def program(expr: sympy.Expr) -> tuple[Instruction, ...]:
    """The expression in postorder, one slot an instruction, common subexpressions once."""
    slots: dict[sympy.Expr, int] = {}
    code: list[Instruction] = []
    stack: list[tuple[sympy.Expr, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if node in slots:
            continue
        if not ready:
            stack.append((node, True))
            stack += [(child, False) for child in _operands(node)]
            continue
        slots[node] = len(code)
        code.append(_instruction(node, slots))
    return tuple(code)


def _operands(node: sympy.Expr) -> tuple[sympy.Expr, ...]:
    if node.is_Pow and node.exp.is_Rational:
        return (node.base,)
    return () if node.is_Rational or node.is_Symbol else node.args


def _instruction(node: sympy.Expr, slots: Mapping[sympy.Expr, int]) -> Instruction:
    if node.is_Rational:
        return ("number", int(node.p), int(node.q))
    if node.is_Symbol:
        return ("symbol", node.name, None)
    if node.is_Add or node.is_Mul:
        return ("add" if node.is_Add else "mul", tuple(slots[a] for a in node.args), None)
    if node.is_Pow and node.exp.is_Rational:
        return ("power", slots[node.base], (int(node.exp.p), int(node.exp.q)))
    if node.is_Pow:
        return ("raise", slots[node.base], slots[node.exp])
    if node == sympy.E:
        return ("e", None, None)
    names = {sympy.Abs: "abs", sympy.log: "log", sympy.exp: "exp"}
    if type(node) not in names:
        raise Irrational(str(node))
    return (names[type(node)], slots[node.args[0]], None)


def _combined(op: str, values: list[Any], slots: tuple[int, ...]) -> Any:
    total = values[slots[0]]
    for slot in slots[1:]:
        total = total + values[slot] if op == "add" else total * values[slot]
    return total


def root(value: Fraction, degree: int) -> Fraction:
    """The exact rational root of a nonnegative fraction.

    Raises:
        Irrational: when there is none.
    """
    if value < 0:
        raise Irrational(f"root of {value}")
    parts = []
    for part in (value.numerator, value.denominator):
        guess = flint.fmpz(part).root(degree) if degree != 2 else flint.fmpz(math.isqrt(part))
        if guess**degree != part:
            raise Irrational(f"{value} has no rational root of degree {degree}")
        parts.append(int(guess))
    return Fraction(parts[0], parts[1])


def exact(expr: sympy.Expr, point: Mapping[str, Fraction]) -> Fraction:
    """The exact value.

    Raises:
        Irrational: when it is not rational.
        ZeroDivisionError: where the expression is not defined.
    """
    values: list[Any] = []
    for op, a, b in program(expr):
        if op == "symbol":
            value = point[a]
        elif op == "number":
            value = Fraction(a, b)
        elif op in ("add", "mul"):
            value = _combined(op, values, a)
        elif op == "power":
            value = (values[a] if b[1] == 1 else root(values[a], b[1])) ** b[0]
        else:
            value = _exact_call(
                op, values[a] if a is not None else None, values[b] if b is not None else None
            )
        values.append(value)
    return values[-1]


def _exact_call(op: str, a: Fraction | None, b: Fraction | None) -> Fraction:
    if op == "abs" and a is not None:
        return abs(a)
    if op == "log" and a == 1:
        return Fraction(0)
    if op == "exp" and a == 0:
        return Fraction(1)
    if op == "raise" and a is not None and b is not None and b.denominator == 1:
        return a ** int(b)
    raise Irrational(op)


def floats(expr: sympy.Expr, env: Mapping[str, np.ndarray]) -> np.ndarray:
    """Float values for screening; NaN or infinite where undefined."""
    calls = {"abs": np.abs, "log": np.log, "exp": np.exp}
    values: list[Any] = []
    value: Any
    with np.errstate(all="ignore"):
        for op, a, b in program(expr):
            if op == "symbol":
                value = env[a]
            elif op == "number":
                value = a / b
            elif op in ("add", "mul"):
                value = _combined(op, values, a)
            elif op == "power":
                value = np.power(values[a], float(b[0])) if b[1] == 1 else np.power(values[a], b[0] / b[1])
            elif op == "raise":
                value = np.power(values[a], values[b])
            else:
                value = math.e if op == "e" else calls[op](values[a])
            values.append(value)
    return np.asarray(values[-1], dtype=float)


def balls(expr: sympy.Expr, env: Mapping[str, Any]) -> Any:
    """A rigorous enclosure (flint arb)."""
    values: list[Any] = []
    for op, a, b in program(expr):
        if op == "symbol":
            value = env[a]
        elif op == "number":
            value = flint.arb(flint.fmpq(a, b))
        elif op in ("add", "mul"):
            value = _combined(op, values, a)
        elif op == "power":
            value = (values[a] if b[1] == 1 else values[a].root(b[1])) ** b[0]
        elif op == "raise":
            value = values[a] ** values[b]
        elif op == "e":
            value = flint.arb.const_e()
        else:
            value = abs(values[a]) if op == "abs" else values[a].log() if op == "log" else values[a].exp()
        values.append(value)
    return values[-1]


def holds(relation: Relation, point: Mapping[str, Fraction]) -> bool | None:
    """Whether the relation holds at a rational point: exactly, or by enclosure where a value is
    irrational, or
    None (undefined there, or undecided at 256 bits)."""
    try:
        difference: Any = exact(relation.rhs, point) - exact(relation.lhs, point)
    except ZeroDivisionError:
        return None
    except Irrational:
        return _holds_by_enclosure(relation, point)
    return _compare(difference, relation.op)


def _compare(difference: Any, op: str) -> bool:
    if op == "==":
        return bool(difference == 0)
    if op in ("<=", "<"):
        return bool(difference >= 0 if op == "<=" else difference > 0)
    return bool(difference <= 0 if op == ">=" else difference < 0)


def _holds_by_enclosure(relation: Relation, point: Mapping[str, Fraction]) -> bool | None:
    saved = flint.ctx.prec
    flint.ctx.prec = 256
    try:
        env = {k: flint.arb(flint.fmpq(v.numerator, v.denominator)) for k, v in point.items()}
        difference = balls(relation.rhs, env) - balls(relation.lhs, env)
    except (Irrational, ZeroDivisionError):
        return None
    finally:
        flint.ctx.prec = saved
    if difference > 0 or difference < 0:
        return _compare(1 if difference > 0 else -1, relation.op)
    return None
