"""Slack substitution: a variable that a hypothesis bounds is replaced by its bound and a slack s >= 0.

`b x >= a` becomes x = a/b + s and `b x <= a` becomes x = a/(b (1 + s)), for b > 0; after that a polynomial
without a
negative coefficient in nonnegative variables is nonnegative. One substitution a variable, in every order
that the
dependencies allow, first success wins.
"""

from __future__ import annotations

from itertools import islice, product
from typing import Any

from verify.provers.system import Constraint, Poly, System, factor_sign

LIMIT = 48  # combinations of substitutions tried


def prove(system: System, goal: tuple[Poly, str]) -> bool:
    """Whether some substitution makes every coefficient of the goal nonnegative."""
    poly, op = goal
    if op == "==":
        return poly == 0
    moves = _moves(system)
    if op == ">":  # x = a/(b (1 + s)) misses x = 0, which only a limit reaches
        moves = {
            v: [m for m in ms if m[0] == "lower" or system.signs[system.names[v]] in ("positive", "natural")]
            for v, ms in moves.items()
        }
    variables = list(moves)
    for choice in islice(product(*([None, *moves[v]] for v in variables)), LIMIT):
        picked = {v: m for v, m in zip(variables, choice, strict=True) if m is not None}
        order = _order(picked)
        if order is not None and _settled(_apply(poly, picked, order, system), op, system, frozenset(picked)):
            return True
    return False


def _moves(system: System) -> dict[int, list[tuple[str, Poly, Poly]]]:
    """For each variable index the bounds (kind, a, b) that hypotheses put on it."""
    moves: dict[int, list[tuple[str, Poly, Poly]]] = {}
    for constraint in system.constraints:
        for index, gen in enumerate(system.context.gens()):
            move = _bound(constraint, index, gen, system)
            if move is not None:
                moves.setdefault(index, []).append(move)
    return moves


def _bound(constraint: Constraint, index: int, gen: Any, system: System) -> tuple[str, Poly, Poly] | None:
    poly = constraint.poly
    if (constraint.domain and constraint.strict) or poly.degrees()[index] != 1:
        return None
    b = poly.derivative(index)
    a = poly - b * gen
    if a == 0:
        return None
    sign = factor_sign(b, system)
    if sign > 0:
        return ("lower", -a, b)
    if sign < 0 and system.signs[system.names[index]] != "real":
        return ("upper", a, -b)
    return None


def _order(picked: dict[int, tuple[str, Poly, Poly]]) -> list[int] | None:
    """The order of substitution: a variable before those its bound is written in; None for a cycle."""
    left, order = dict(picked), []
    while left:
        free = [v for v in left if not any(_occurs(v, m) for u, m in left.items() if u != v)]
        if not free:
            return None
        order.append(free[0])
        del left[free[0]]
    return order


def _occurs(variable: int, move: tuple[str, Poly, Poly]) -> bool:
    return bool(move[1].degrees()[variable] or move[2].degrees()[variable])


def _apply(
    poly: Poly, picked: dict[int, tuple[str, Poly, Poly]], order: list[int], system: System
) -> Poly | None:
    gens = list(system.context.gens())
    for index in order:
        kind, a, b = picked[index]
        degree = poly.degrees()[index]
        slack = gens[index]  # the variable itself now stands for its slack
        top, bottom = (a + b * slack, b) if kind == "lower" else (a, b * (1 + slack))
        total = system.context.constant(0)
        for exponents, coefficient in poly.to_dict().items():
            k = exponents[index]
            rest = tuple(0 if i == index else e for i, e in enumerate(exponents))
            total += system.context.from_dict({rest: coefficient}) * top**k * bottom ** (degree - k)
        poly = total
        if len(poly) > 3000:
            return None
    return poly


def _settled(poly: Poly | None, op: str, system: System, slacks: frozenset[int]) -> bool:
    if poly is None:
        return False
    strict = False
    for exponents, coefficient in poly.to_dict().items():
        signs = [
            "nonnegative" if i in slacks else system.signs[n]
            for i, n in enumerate(system.names)
            if exponents[i]
        ]
        odd = [e for e in exponents if e]
        if coefficient < 0 or any(s == "real" and e % 2 for s, e in zip(signs, odd, strict=True)):
            return False
        strict |= all(s in ("positive", "natural") for s in signs)
    return strict or op == ">="
