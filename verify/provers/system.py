"""An obligation as polynomials over the rationals: constraints g >= 0 or g > 0, equations e == 0, goals.

Roots of symbols become new symbols (x = y^q); a relation `x <= c sqrt(d)` between nonnegative sides is
raised to
a power; other roots and absolute values become new symbols with their defining relations; fractions are
cleared only where the hypotheses give the denominator's sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import flint
import sympy

from bounds.core.step import Obligation, Relation, sign_of
from verify.provers.evaluate import Irrational, program

Poly = Any  # flint.fmpq_mpoly


class NotAlgebraic(ValueError):
    """The obligation is not about polynomials (a logarithm, a symbolic exponent, a sign that is not
    known)."""


class UnknownSign(NotAlgebraic):
    """A denominator whose sign the hypotheses do not give."""


@dataclass(frozen=True)
class Constraint:
    """`poly >= 0`, or `> 0` when strict, with the hypothesis that it comes from."""

    name: str
    poly: Poly
    strict: bool
    domain: bool = False


@dataclass
class System:
    """An obligation ready for the algebraic provers."""

    names: tuple[str, ...]
    signs: Mapping[str, str]
    context: Any
    constraints: list[Constraint] = field(default_factory=list)
    equations: list[Constraint] = field(default_factory=list)
    goals: list[tuple[Poly, str]] = field(default_factory=list)  # op in >=, >, ==
    roots: dict[str, tuple[str, int]] = field(default_factory=dict)  # x: (y, q) for x = y^q

    def point(self, values: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """A point of the system as a point of the obligation's own symbols."""
        full = dict(values)
        for name, (base, degree) in self.roots.items():
            full[name] = values[base] ** degree
        return full


def build(obligation: Obligation) -> System:
    """The system of an obligation.

    Raises:
        NotAlgebraic: when it has none.
    """
    pending: list[tuple[str, Relation, bool]] = [
        (h.name, relation, False) for h in obligation.hypotheses for relation in _split_abs(h.relation)
    ]
    claims = _split_abs(obligation.claim)
    relations = [_deradicalise(r) for _, r, _ in pending]
    claims = [_deradicalise(r) for r in claims]
    swap, roots = _root_symbols([*relations, *claims])
    relations = [r.map(lambda e: e.xreplace(swap)) for r in relations]
    claims = [r.map(lambda e: e.xreplace(swap)) for r in claims]
    fresh: dict[sympy.Expr, sympy.Symbol] = {}
    relations = [r.map(lambda e: _name_roots(e, fresh)) for r in relations]
    claims = [r.map(lambda e: _name_roots(e, fresh)) for r in claims]
    extra = [Relation(symbol**degree, "==", base) for symbol, base, degree in _definitions(fresh)]
    symbols = sorted({s for r in [*relations, *claims, *extra] for s in r.symbols}, key=lambda s: s.name) or [
        sympy.Symbol("unused", real=True)
    ]
    names = tuple(s.name for s in symbols)
    system = System(
        names, {s.name: sign_of(s) for s in symbols}, flint.fmpq_mpoly_ctx.get(names, "degrevlex")
    )
    system.roots = roots
    _add_domain(system, symbols)
    named = [(n, r) for (n, _, _), r in zip(pending, relations, strict=True)]
    _add_hypotheses(system, [*named, *(("root", r) for r in extra)])
    for relation in claims:
        system.goals.append(_goal(system, relation))
    return system


def _split_abs(relation: Relation) -> list[Relation]:
    lhs, op, rhs = relation.lhs, relation.op, relation.rhs
    if op in (">=", ">"):
        lhs, op, rhs = rhs, {">=": "<=", ">": "<"}[op], lhs
    if isinstance(lhs, sympy.Abs) and op in ("<=", "<"):
        return [Relation(lhs.args[0], op, rhs), Relation(-lhs.args[0], op, rhs)]
    return [Relation(lhs, op, rhs)]


def _radicals(expr: sympy.Expr) -> list[sympy.Pow]:
    return [p for p in expr.atoms(sympy.Pow) if p.exp.is_Rational and not p.exp.is_Integer]


def _deradicalise(relation: Relation) -> Relation:
    """Raises `a <= b` to a power when one side is a single product with compound roots and both are >= 0."""
    sides = (relation.lhs, relation.rhs)
    compound = [[p for p in _radicals(s) if not p.base.is_Symbol] for s in sides]
    if not any(compound) or not all(s.is_nonnegative for s in sides):
        return relation
    if any(c and not (s.is_Mul or s.is_Pow) for s, c in zip(sides, compound, strict=True)):
        return relation
    degree = lcm(*(int(p.exp.q) for c in compound for p in c))
    return relation.map(lambda e: sympy.powdenest(e**degree, force=True))


def _root_symbols(relations: Iterable[Relation]) -> tuple[dict[Any, Any], dict[str, tuple[str, int]]]:
    degrees: dict[sympy.Symbol, int] = {}
    for relation in relations:
        for side in (relation.lhs, relation.rhs):
            for p in _radicals(side):
                if p.base.is_Symbol:
                    degrees[p.base] = lcm(degrees.get(p.base, 1), int(p.exp.q))
    swap: dict[Any, Any] = {}
    roots: dict[str, tuple[str, int]] = {}
    for symbol, degree in degrees.items():
        sign = {"positive": True} if symbol.is_positive else {"nonnegative": True}
        fresh = sympy.Symbol(f"{symbol.name}_root{degree}", **sign)
        swap[symbol] = fresh**degree
        roots[symbol.name] = (fresh.name, degree)
    return swap, roots


def _name_roots(expr: sympy.Expr, fresh: dict[sympy.Expr, sympy.Symbol]) -> sympy.Expr:
    swap = {}
    atoms = [*_radicals(expr), *expr.atoms(sympy.Abs)]
    for node in sorted(atoms, key=sympy.default_sort_key):
        key = sympy.Pow(node.base, sympy.Rational(1, node.exp.q)) if node.is_Pow else node
        if key not in fresh:
            fresh[key] = sympy.Symbol(f"root_{len(fresh)}", nonnegative=True)
        swap[node] = fresh[key] ** node.exp.p if node.is_Pow else fresh[key]
    return expr.xreplace(swap) if swap else expr


def _definitions(fresh: dict[sympy.Expr, sympy.Symbol]) -> list[tuple[sympy.Symbol, sympy.Expr, int]]:
    """What each new symbol is: `symbol ** degree == base`."""
    return [
        (symbol, node.base, int(node.exp.q)) if node.is_Pow else (symbol, node.args[0] ** 2, 2)
        for node, symbol in fresh.items()
    ]


def _add_domain(system: System, symbols: list[sympy.Symbol]) -> None:
    for gen, symbol in zip(system.context.gens(), symbols, strict=True):
        sign = sign_of(symbol)
        if sign in ("positive", "natural"):
            system.constraints.append(Constraint(f"{symbol.name} > 0", gen, True, domain=True))
        elif sign != "real":
            system.constraints.append(Constraint(f"{symbol.name} >= 0", gen, False, domain=True))
        if sign == "natural":
            system.constraints.append(Constraint(f"{symbol.name} >= 1", gen - 1, False, domain=True))


def _add_hypotheses(system: System, named: list[tuple[str, Relation]]) -> None:
    """In the given order, but one whose denominator has no sign yet waits for those that give it."""
    while named:
        waiting = []
        for name, relation in named:
            try:
                _add_hypothesis(system, name, relation)
            except UnknownSign:
                waiting.append((name, relation))
        if len(waiting) == len(named):
            _add_hypothesis(system, *waiting[0])
        named = waiting


def _add_hypothesis(system: System, name: str, relation: Relation) -> None:
    poly, op = _goal(system, relation)
    if op == "==":
        system.equations.append(Constraint(name, poly, False))
    else:
        system.constraints.append(Constraint(name, poly, op == ">"))


def _goal(system: System, relation: Relation) -> tuple[Poly, str]:
    """The relation as `poly op 0` with op in >=, >, ==."""
    lhs, rhs = fraction(relation.lhs, system), fraction(relation.rhs, system)
    if relation.op in (">=", ">"):
        lhs, rhs = rhs, lhs
    numerator, denominator = _reduced(rhs[0] * lhs[1] - lhs[0] * rhs[1], rhs[1] * lhs[1])
    op = {"<=": ">=", "<": ">", ">=": ">=", ">": ">", "==": "=="}[relation.op]
    if op == "==":
        _sign(denominator, system)
        return numerator, op
    return numerator * _sign(denominator, system), op


def _reduced(numerator: Poly, denominator: Poly) -> tuple[Poly, Poly]:
    common = numerator.gcd(denominator)
    return numerator / common, denominator / common


def fraction(expr: sympy.Expr, system: System) -> tuple[Poly, Poly]:
    """`expr` as numerator and denominator.

    Raises:
        NotAlgebraic: for a symbolic exponent or a function.
    """
    gens = dict(zip(system.names, system.context.gens(), strict=True))
    constant = system.context.constant
    one = constant(1)
    values: list[tuple[Poly, Poly]] = []
    try:
        code = program(expr)
    except Irrational as reason:
        raise NotAlgebraic(f"{reason} is not a polynomial") from None
    for op, a, b in code:
        if op == "symbol":
            values.append((gens[a], one))
        elif op == "number":
            values.append((constant(flint.fmpq(a, b)), one))
        elif op == "add":
            values.append(_sum([values[i] for i in a]))
        elif op == "mul":
            values.append(_product([values[i] for i in a], one))
        elif op == "power" and b[1] == 1:
            values.append(_power(values[a], b[0]))
        else:
            raise NotAlgebraic(f"{expr} is not a polynomial")
    return values[-1]


def _sum(parts: list[tuple[Poly, Poly]]) -> tuple[Poly, Poly]:
    total = parts[0]
    for n, d in parts[1:]:
        if d == total[1]:
            total = (total[0] + n, d)
        else:
            total = _reduced(total[0] * d + n * total[1], total[1] * d)
    return total


def _product(parts: list[tuple[Poly, Poly]], one: Poly) -> tuple[Poly, Poly]:
    n, d = one, one
    for a, b in parts:
        n, d = n * a, d * b
    return (n, d) if d == one else _reduced(n, d)


def _power(value: tuple[Poly, Poly], k: int) -> tuple[Poly, Poly]:
    n, d = value
    if k >= 0:
        return n**k, d**k
    if n == 0:
        raise NotAlgebraic("division by zero")
    return d ** (-k), n ** (-k)


def _sign(poly: Poly, system: System) -> int:
    """The sign of a denominator over the system's domain.

    Raises:
        UnknownSign: when the hypotheses do not give it.
    """
    leading, factors = poly.factor()
    sign = 1 if leading > 0 else -1
    for factor, multiplicity in factors:
        known = factor_sign(factor, system)
        if known == 0:
            raise UnknownSign(f"the sign of the denominator {factor} is not given")
        if multiplicity % 2:
            sign *= known
    return sign


def factor_sign(poly: Poly, system: System) -> int:
    """1 or -1 when the polynomial is surely positive or negative, else 0."""
    for candidate, sign in ((poly, 1), (-poly, -1)):
        if _surely_positive(candidate, system):
            return sign
    return 0


def _surely_positive(poly: Poly, system: System) -> bool:
    scale = abs(poly.coefficient(0)) if len(poly) else 1
    for c in system.constraints:
        if c.strict and (poly / scale) * abs(c.poly.coefficient(0)) == c.poly:
            return True
        if not c.domain and _visibly_positive(poly - c.poly / abs(c.poly.coefficient(0)) * scale, system):
            return True
    return _visibly_positive(poly, system)


def _visibly_positive(poly: Poly, system: System) -> bool:
    """Whether every term is nonnegative and one is positive, naturals counted from 1."""
    gens = list(system.context.gens())
    moved = [g + 1 if system.signs[n] == "natural" else g for n, g in zip(system.names, gens, strict=True)]
    shifted = poly.compose(*moved)
    strict = False
    for exponents, coefficient in shifted.to_dict().items():
        used = [n for n, e in zip(system.names, exponents, strict=True) if e % 2]
        if coefficient < 0 or any(system.signs[n] == "real" for n in used):
            return False
        nonzero = [n for n, e in zip(system.names, exponents, strict=True) if e]
        strict |= all(system.signs[n] == "positive" for n in nonzero)
    return strict
