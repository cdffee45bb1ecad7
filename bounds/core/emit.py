"""From a sympy expression to Python source, for floats and for balls.

The same printer serves both: the arithmetic operators are the same, the functions are looked up in a
namespace (`compiled.py`). Two rewritings come first. Differences of powers of a rate, `rho**A - rho**B` and
`1 - rho**B`, become `PowerGap`, computed from the rate's logarithm without cancellation; and numbers that
are not small integers are hoisted into constants, correctly rounded for floats, enclosed for balls.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import sympy
from sympy.core.relational import Relational

from bounds.core.functions import Largest, PowerGap, Smallest


def rewrite_gaps(expression: sympy.Expr, rates: Iterable[str]) -> sympy.Expr:
    """Every two-term difference of powers of a rate, as a `PowerGap`."""
    names = set(rates)
    bases = [s for s in expression.free_symbols if s.name in names]
    gaps = {}
    for total in expression.atoms(sympy.Add) if bases else ():
        found = next((g for b in bases if (g := _as_gap(total, b)) is not None), None)
        if found is not None:
            gaps[total] = found
    return expression.xreplace(gaps) if gaps else expression


def _as_gap(total: sympy.Expr, base: sympy.Symbol) -> sympy.Expr | None:
    if len(total.args) != 2:
        return None
    (c1, a1), (c2, a2) = (_split_power(t, base) for t in total.args)
    if c1 + c2 != 0 or a1 == a2 or c1.has(base):
        return None
    if c1.could_extract_minus_sign():
        c1, a1, a2 = c2, a2, a1
    return c1 * PowerGap(base, a1, a2)


def _split_power(term: sympy.Expr, base: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr]:
    for factor in sympy.Mul.make_args(term):
        b, e = factor.as_base_exp()
        if b == base:
            return term / factor, e
    return term, sympy.Integer(0)


@dataclass
class Emitter:
    """Prints expressions as Python source.

    Args:
        exact: balls (counts stay Python ints and a quotient is never a float) rather than floats.
        rates: rate name -> the factor that its exponents take (1/2 where the square is carried).
        counts: the names that may hold Python ints.
        careful: a condition, in which x / 0 = inf and log 0 = -inf are meant.
    """

    exact: bool
    rates: dict[str, float]
    counts: frozenset[str]
    careful: bool = False
    constants: dict[sympy.Expr, str] = field(default_factory=dict)
    used_rates: set[str] = field(default_factory=set)
    ints: set[str] = field(default_factory=set)

    def code(self, e: sympy.Expr) -> str:
        """Source of an expression."""
        return self.emit(e)[0]

    def _hoist(self, number: sympy.Expr) -> str:
        return self.constants.setdefault(number, f"c{len(self.constants)}")

    def emit(self, e: sympy.Expr) -> tuple[str, bool]:
        """(source, is it surely a Python int in ball mode?)"""
        if e.is_Symbol:
            if e.name in self.rates:
                self.used_rates.add(e.name)
                return self._power_of_rate(e.name, sympy.Integer(1)), False
            return f"v_{e.name}", e.name in self.counts or e.name in self.ints
        if e.is_Integer:
            return f"({int(e)})" if e < 0 else str(int(e)), True
        if not e.free_symbols:
            return self._hoist(e), False
        if e.is_Add:
            return self._sum(e)
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            return self._power(*e.as_base_exp())
        return self._call(e), False

    def _sum(self, e: sympy.Expr) -> tuple[str, bool]:
        text, whole = "", True
        for term in sorted(e.args, key=lambda t: t.could_extract_minus_sign()):
            minus = term.could_extract_minus_sign()
            code, is_int = self.emit(-term if minus else term)
            whole = whole and is_int
            text += f" - {code}" if minus else f" + {code}" if text else code
        return f"({text.strip() if not text.startswith(' - ') else '-' + text[3:]})", whole

    def _product(self, e: sympy.Expr) -> tuple[str, bool]:
        numbers, above, below = sympy.Integer(1), [], []
        for factor in e.args:
            base, power = factor.as_base_exp()
            if not factor.free_symbols:
                numbers *= factor
            elif power.is_number and power.is_negative:
                below.append((base, -power))
            else:
                above.append((base, power))
        sign = "-" if numbers.is_negative else ""
        numbers = -numbers if sign else numbers
        top, top_int = self._chain(numbers, above)
        if not below:
            return f"({sign}{top})", top_int
        bottom, _ = self._chain(sympy.Integer(1), below)
        if self.careful:
            return f"({sign}divide({top}, {bottom}))", False
        top = f"ball({top})" if self.exact and top_int else top
        return f"({sign}{top}/{bottom})", False

    def _chain(self, number: sympy.Expr, factors: list[tuple[sympy.Expr, sympy.Expr]]) -> tuple[str, bool]:
        parts = sorted((self._power(b, p) for b, p in factors), key=lambda part: not part[1])
        whole = all(is_int for _, is_int in parts)
        codes = [code for code, _ in parts]
        if number != 1:
            plain = number.is_Integer and (not self.exact or any(is_int for _, is_int in parts))
            codes.insert(0, str(int(number)) if plain else self._hoist(number))
            whole = whole and number.is_Integer
        elif not codes:
            return "1", True
        return (f"({'*'.join(codes)})" if len(codes) > 1 else codes[0]), whole

    def _power(self, base: sympy.Expr, power: sympy.Expr) -> tuple[str, bool]:
        if base.is_Symbol and base.name in self.rates:
            self.used_rates.add(base.name)
            return self._power_of_rate(base.name, power), False
        if base == sympy.E:
            return f"exp({self.code(power)})", False
        code, is_int = self.emit(base)
        if power == 1:
            return code, is_int
        if power.is_Integer and power > 0:
            if base.is_Symbol and power <= 3:
                return f"({'*'.join([code] * int(power))})", is_int
            return (f"cube({code})" if power == 3 else f"{code}**{int(power)}"), is_int
        if power.is_Rational and power > 0 and power.q == 2:
            root = f"sqrt({code})"
            whole = int(power - sympy.Rational(1, 2))
            return (root if whole == 0 else f"({self._power(base, sympy.Integer(whole))[0]}*{root})"), False
        if power.is_Rational and power > 0 and power.q == 3:
            root = f"cbrt({code})"
            return (root if power.p == 1 else f"{root}**{power.p}"), False
        if power.is_number and power.is_negative:
            below = self._power(base, -power)[0]
            return (f"divide(1, {below})" if self.careful else f"(c_one/{below})"), False
        exponent = self.code(power)
        return (f"ball({code})**ball({exponent})" if self.exact else f"{code}**{exponent}"), False

    def _power_of_rate(self, name: str, power: sympy.Expr) -> str:
        self.used_rates.add(name)
        if self.exact:
            return f"rate_power(v_{name}_l, {self.code(power)})"
        return f"rate_power(v_{name}_h, v_{name}_r, {self.code(self.rates[name] * power)})"

    def _call(self, e: sympy.Expr) -> str:
        if isinstance(e, PowerGap):
            base, low, high = e.args
            self.used_rates.add(base.name)
            gap = f"power_gap(v_{base.name}_l, {self.code(high - low)})"
            return gap if low == 0 else f"({self._power_of_rate(base.name, low)}*{gap})"
        if isinstance(e, sympy.log):
            return self._log(e.args[0])
        if isinstance(e, sympy.exp):
            return f"exp({self.code(e.args[0])})"
        if isinstance(e, Largest | Smallest):
            name = "maximum" if isinstance(e, Largest) else "minimum"
            parts = [self.code(a) for a in e.args]
            if self.exact:
                return f"{name}({', '.join(parts)})"
            text = parts[0]
            for part in parts[1:]:
                text = f"{name}({text}, {part})"
            return text
        if isinstance(e, sympy.Piecewise):
            return self._piecewise(e)
        raise TypeError(f"no code for {sympy.srepr(e)}")

    def _log(self, argument: sympy.Expr) -> str:
        base, power = argument.as_base_exp()
        if base.is_Symbol and base.name in self.rates:
            self.used_rates.add(base.name)
            return f"({self.code(power)}*v_{base.name}_l)" if power != -1 else f"(-v_{base.name}_l)"
        return f"log({self.code(argument)})"

    def _piecewise(self, e: sympy.Expr) -> str:
        """`Piecewise((x, Eq(count, k)), (y, True))`: the only branching a statement needs, on a count."""
        (x, condition), (y, _) = e.args
        if not isinstance(condition, sympy.Eq):
            raise TypeError(f"a branch on {condition}: only on a count being equal to a number")
        test = f"{self.code(condition.lhs)} == {self.code(condition.rhs)}"
        if self.exact:
            return f"({self.code(x)} if {test} else {self.code(y)})"
        return f"where({test}, {self.code(x)}, {self.code(y)})"


def relation_sides(relation: sympy.Basic) -> list[Relational]:
    """The atoms of a relation or a conjunction of relations, in order."""
    if isinstance(relation, sympy.And):
        return [atom for part in relation.args for atom in relation_sides(part)]
    if not isinstance(relation, Relational):
        raise TypeError(f"a hypothesis must be a relation or a conjunction of relations, not {relation}")
    return [relation]
