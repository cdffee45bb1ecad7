"""A linear program that looks for a certificate, rounded to rationals and checked exactly.

The atoms are products of one or two constraints (and of the step's hinted squares) with a monomial, chosen
so that the
product's support meets what has to be matched; HiGHS finds a vertex in floats, and the coefficients are
then solved for
exactly on the vertex's support. A float is never believed: `certificate.check` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, TypeAlias

import flint
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_matrix

from verify.provers.certificate import check, dump, negated, term
from verify.provers.system import Poly, System

ATOMS = 2500  # the largest program tried
Exponents: TypeAlias = tuple[Any, ...]  # ints, python or flint


@dataclass(frozen=True)
class _Atom:
    poly: Poly
    constraints: tuple[int, ...]
    monomial: Exponents
    square: Poly | None
    equation: int | None = None
    strict: bool = False


def prove(
    system: System, goal: tuple[Poly, str], squares: Sequence[Poly] = (), rounds: int = 3, pairs: bool = True
) -> dict[str, Any] | None:
    """A checked certificate of the goal, or None."""
    poly, op = goal
    direct = _search(system, goal, _bases(system, squares, pairs), set(poly.to_dict()), rounds)
    if direct is not None or op == "==":
        return direct
    return _contradiction(system, goal, squares)


def _contradiction(system: System, goal: tuple[Poly, str], squares: Sequence[Poly]) -> dict[str, Any] | None:
    """Atoms, one strictly positive, that add up to 0 once the negated goal is a constraint."""
    against = negated(system, goal)
    bases = _bases(against, squares, pairs=True)
    target = {e for b in bases for e in b.poly.to_dict()} if len(bases) <= 120 else set(goal[0].to_dict())
    zero = (system.context.constant(0), ">")
    found = _search(against, zero, bases, target, rounds=1)
    if found is None:
        return None
    certificate = {**found, "contradiction": True}
    return certificate if not check(system, goal, certificate) else None


def _search(
    system: System, goal: tuple[Poly, str], bases: list[_Atom], target: set[Exponents], rounds: int
) -> dict[str, Any] | None:
    atoms: list[_Atom] = []
    seen: set[tuple[Any, ...]] = set()
    for _ in range(rounds):
        fresh = _close(system, bases, target, seen)
        if len(atoms) + len(fresh) > ATOMS:
            fresh = sorted(fresh, key=lambda a: len(a.poly))[: ATOMS - len(atoms)]
        atoms += fresh
        certificate = _solve(system, goal, atoms)
        if certificate is not None:
            return certificate
        if len(atoms) >= ATOMS:
            return None
        target = target.union(*(a.poly.to_dict() for a in fresh))
    return None


def _bases(system: System, squares: Sequence[Poly], pairs: bool) -> list[_Atom]:
    one = system.context.constant(1)
    zero = (0,) * len(system.names)
    bases = [_Atom(one, (), zero, None, strict=True)]
    indexed = [(i, c) for i, c in enumerate(system.constraints) if not (c.domain and len(c.poly) == 1)]
    bases += [_Atom(c.poly, (i,), zero, None, strict=c.strict) for i, c in indexed]
    bases += [_Atom(s * s, (), zero, s) for s in squares]
    bases += [_Atom(s * s * c.poly, (i,), zero, s) for s in squares for i, c in indexed]
    bases += [_Atom(e.poly, (), zero, None, equation=i) for i, e in enumerate(system.equations)]
    if pairs:
        for (i, c), (j, d) in combinations_with_replacement(indexed, 2):
            bases.append(_Atom(c.poly * d.poly, (i, j), zero, None, strict=c.strict and d.strict))
    return bases


def _close(
    system: System, bases: list[_Atom], target: set[Exponents], seen: set[tuple[Any, ...]]
) -> list[_Atom]:
    """The products base * monomial whose support meets `target`."""
    found = []
    context = system.context
    real = [system.signs[n] == "real" for n in system.names]
    positive = [system.signs[n] in ("positive", "natural") for n in system.names]
    for number, base in enumerate(bases):
        support = list(base.poly.to_dict())
        for wanted in target:
            for have in support:
                shift = tuple(w - h for w, h in zip(wanted, have, strict=True))
                if min(shift) < 0 or (number, shift) in seen:
                    continue
                if base.equation is None and any(r and k % 2 for r, k in zip(real, shift, strict=True)):
                    continue
                seen.add((number, shift))
                poly = base.poly * context.from_dict({shift: flint.fmpq(1)})
                strict = base.strict and all(p or not k for p, k in zip(positive, shift, strict=True))
                found.append(_Atom(poly, base.constraints, shift, base.square, base.equation, strict))
    return found


def _solve(system: System, goal: tuple[Poly, str], atoms: list[_Atom]) -> dict[str, Any] | None:
    if not atoms:
        return None
    poly, op = goal
    rows: dict[Exponents, int] = {e: i for i, e in enumerate(poly.to_dict())}
    data, row, column = [], [], []
    for j, atom in enumerate(atoms):
        for exponents, coefficient in atom.poly.to_dict().items():
            data.append(int(coefficient.p) / int(coefficient.q))
            row.append(rows.setdefault(exponents, len(rows)))
            column.append(j)
    wanted = np.zeros(len(rows))
    for exponents, coefficient in poly.to_dict().items():
        wanted[rows[exponents]] = int(coefficient.p) / int(coefficient.q)
    if poly == 0 and op == ">":  # a contradiction is scaled: its strict terms add up to 1
        strict = [j for j, a in enumerate(atoms) if a.strict and a.equation is None]
        data, row, column = data + [1.0] * len(strict), row + [len(rows)] * len(strict), column + strict
        wanted = np.append(wanted, 1.0)
    matrix = csc_matrix((data, (row, column)), shape=(len(wanted), len(atoms)))
    cost = np.array([-1.0 if a.strict and op == ">" else 1e-3 for a in atoms])
    bounds = [(None, None) if a.equation is not None else (0, 1e6) for a in atoms]
    if op == "==":
        bounds = [(None, None) if a.equation is not None else (0, 0) for a in atoms]
    answer = linprog(
        cost, A_eq=matrix, b_eq=wanted, bounds=bounds, method="highs-ds", options={"time_limit": 10.0}
    )
    if answer.x is None:
        return None
    support = [j for j, x in enumerate(answer.x) if abs(x) > 1e-9]
    return _exact(system, goal, [atoms[j] for j in support], rows)


def _exact(
    system: System, goal: tuple[Poly, str], atoms: list[_Atom], rows: dict[Exponents, int]
) -> dict[str, Any] | None:
    """The exact coefficients on a support, if they are unique up to zeros and nonnegative."""
    poly, op = goal
    width = len(atoms) + 1
    used = sorted({e for a in atoms for e in a.poly.to_dict()} | set(poly.to_dict()), key=rows.__getitem__)
    place = {e: i for i, e in enumerate(used)}
    table = flint.fmpq_mat(len(used) + 1, width)
    if poly == 0 and op == ">":
        for j, atom in enumerate(atoms):
            table[len(used), j] = int(atom.strict and atom.equation is None)
        table[len(used), width - 1] = 1
    for j, p in enumerate([*(a.poly for a in atoms), poly]):
        for exponents, coefficient in p.to_dict().items():
            table[place[exponents], j] = coefficient
    reduced, rank = table.rref()
    values = [flint.fmpq(0)] * len(atoms)
    for i in range(rank):
        pivot = next(j for j in range(width) if reduced[i, j] != 0)
        if pivot == width - 1:
            return None
        values[pivot] = reduced[i, width - 1]
    terms, equations = [], []
    for atom, value in zip(atoms, values, strict=True):
        if value == 0:
            continue
        if atom.equation is not None:
            by = system.context.from_dict({atom.monomial: value})
            equations.append({"e": atom.equation, "by": dump(by)})
        else:
            terms.append(term(value, atom.constraints, atom.monomial, atom.square))
    certificate: dict[str, Any] = {"terms": terms}
    if equations:
        certificate["equations"] = equations
    return certificate if not check(system, goal, certificate) else None
