"""Compiled expressions: the constants they read, the names that follow, the functions made of both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from flint import arb, fmpq

from bounds.core import accurate, enclosure
from bounds.core.derive import Computed, Formula, Given, Rate, Recipe
from bounds.core.emit import Emitter, rewrite_gaps
from bounds.core.vocabulary import Recipes


@dataclass(frozen=True)
class Resolution:
    """How the names of an expression come from the names that are given.

    Args:
        inputs: given names that are read.
        steps: (name, recipe) in the order they can be made.
        missing: names neither given nor derivable, as the caller would give them.
    """

    inputs: tuple[str, ...]
    steps: tuple[tuple[str, Recipe], ...]
    missing: tuple[str, ...]


class _Resolver:
    """Follows recipes from names back to what is given."""

    def __init__(self, given: Collection[str], recipes: Recipes) -> None:
        self.given, self.recipes = given, recipes
        self.inputs: dict[str, None] = {}
        self.steps: dict[str, Recipe] = {}
        self.missing: dict[str, None] = {}

    def possible(self, name: str) -> bool:
        """Can the name be had from what is given?"""
        return name in self.given or any(self.usable(r) for r in self.recipes.get(name, ()))

    def usable(self, recipe: Recipe) -> bool:
        """Can all that the recipe needs be had?"""
        return not isinstance(recipe, Given) and all(self.possible(b) for b in recipe.bases)

    def visit(self, name: str) -> None:
        """Note where the name comes from, and what it comes from first."""
        if name in self.inputs or name in self.steps or name in self.missing:
            return
        if name in self.given:
            self.inputs[name] = None
            return
        options = self.recipes.get(name, ())
        recipe = next((r for r in options if self.usable(r)), options[0] if options else Given())
        if isinstance(recipe, Given):
            self.missing[name] = None
            return
        for base in recipe.bases:
            self.visit(base)
        self.steps[name] = recipe


def resolve(names: Collection[str], given: Collection[str], recipes: Recipes) -> Resolution:
    """Follow the recipes from `names` back to `given`; a given name is never derived."""
    found = _Resolver(given, recipes)
    for name in sorted(names):
        found.visit(name)
    return Resolution(tuple(found.inputs), tuple(found.steps.items()), tuple(found.missing))


def base_names(names: Collection[str], recipes: Recipes) -> tuple[str, ...]:
    """The names that a caller who derives everything has to give, sorted."""
    return tuple(sorted(resolve(names, (), recipes).missing))


def _near_zero_is_undecided(x: Any) -> Any:
    """log that answers NaN where it cancels: a comparison with it is then left to balls."""
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x)
        return np.where(np.abs(y) < 1e-6, np.nan, y)


def _cube(x: Any) -> Any:
    return x * x * x


_FLOATS: dict[str, Any] = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "cbrt": np.cbrt,
    "cube": _cube,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "where": np.where,
    "rate_power": accurate.rate_power,
    "power_gap": accurate.power_gap,
    "given_rate": accurate.given_rate,
    "c_one": 1.0,
}
_SURE = {**_FLOATS, "log": _near_zero_is_undecided}
_BALLS: dict[str, Any] = {
    "sqrt": enclosure.sqrt,
    "exp": enclosure.exp,
    "log": enclosure.log,
    "cbrt": enclosure.cbrt,
    "cube": _cube,
    "maximum": enclosure.maximum,
    "minimum": enclosure.minimum,
    "divide": enclosure.divide,
    "rate_power": enclosure.rate_power,
    "power_gap": enclosure.power_gap,
    "given_rate": enclosure.given_rate_log,
    "ball": arb,
    "c_one": arb(1),
    "known": enclosure.KNOWN.get,
    "ball_of": enclosure.ball,
    "balls_of": enclosure.balls,
    "whole_of": enclosure.whole,
}


def float_constant(number: sympy.Expr) -> float:
    """The float nearest to an exact number."""
    if number.is_Rational:
        return float(Fraction(int(number.p), int(number.q)))
    if number in (sympy.oo, -sympy.oo):
        return float(number)
    return float(sympy.N(number, 40))


def ball_constant(number: sympy.Expr) -> arb:
    """An enclosure of an exact number at the working precision."""
    if number.is_Rational:
        return arb(fmpq(int(number.p), int(number.q)))
    if number.is_Add or number.is_Mul:
        parts = [ball_constant(a) for a in number.args]
        total = parts[0]
        for part in parts[1:]:
            total = total + part if number.is_Add else total * part
        return total
    if number.is_Pow:
        base, power = number.as_base_exp()
        if power == sympy.Rational(1, 2):
            return ball_constant(base).sqrt()
        return ball_constant(base) ** ball_constant(power)
    if isinstance(number, sympy.log):
        return ball_constant(number.args[0]).log()
    if number in (sympy.oo, -sympy.oo):
        return arb("inf") if number == sympy.oo else arb("-inf")
    if number == sympy.E:
        return arb(1).exp()
    raise TypeError(f"no enclosure for the number {number}")


# The argument of a compiled function is the sequence of its inputs, or with `reads` the mapping of all constants.
Function = Callable[[Any], tuple[Any, ...]]


def build(
    expressions: Sequence[sympy.Expr],
    resolution: Resolution,
    mode: str,
    counts: frozenset[str],
    reads: Sequence[str] | None = None,
) -> Function:
    """Compile to a function of the input values, in the order of `resolution.inputs`.

    Args:
        expressions: what to compute.
        resolution: from which names.
        mode: "float", "sure" (floats for conditions: NaN for a cancelled logarithm), "ball", or "careful"
            (balls for conditions: x/0 = inf, log 0 = -inf). Ball functions hold constants of the flint
            precision current now, and are to be called at that precision.
        counts: names that may come as Python ints in ball mode.
        reads: source lines that take the inputs out of the function's argument (default: it is their sequence).
    """
    exact = mode in ("ball", "careful")
    namespace: dict[str, Any] = dict(_BALLS if exact else _SURE if mode == "sure" else _FLOATS)
    for name, recipe in resolution.steps:
        if isinstance(recipe, Rate | Computed):
            namespace[f"f_{name}"] = recipe.balls if exact else recipe.floats
    return compile_source(expressions, resolution, mode, namespace, None, counts, reads)


def compile_source(
    expressions: Sequence[sympy.Expr],
    resolution: Resolution,
    mode: str,
    namespace: dict[str, Any],
    result: str | None,
    counts: frozenset[str] = frozenset(),
    reads: Sequence[str] | None = None,
) -> Function:
    """Write and compile the source: names, steps, shared parts, values (or `result` of s0, s1, ...)."""
    exact = mode in ("ball", "careful")
    rates = {n: r.scale for n, r in resolution.steps if isinstance(r, Rate)}
    given_rates = _given_rates(expressions, resolution)
    emitter = Emitter(
        exact, {**rates, **dict.fromkeys(given_rates, 1.0)}, counts, mode in ("careful", "quick")
    )
    names = [f"v_{n}" for n in resolution.inputs]
    lines = [f"{', '.join(names)}, = values"] if names else []
    if reads is not None:
        lines = list(reads)
    lines += [_rate_line(name, [name], "given_rate", exact) for name in given_rates]
    known_rates = {*rates, *given_rates}
    lines += [_step(name, recipe, emitter, exact, known_rates) for name, recipe in resolution.steps]
    shared, finals = sympy.cse([rewrite_gaps(e, known_rates) for e in expressions], order="none")
    for symbol, value in shared:
        code, whole = emitter.emit(value)
        lines.append(f"v_{symbol.name} = {code}")
        if whole:
            emitter.ints.add(symbol.name)
    emitted = [emitter.emit(e) for e in finals]
    values = [f"ball({code})" if exact and whole else code for code, whole in emitted]
    if result is None:
        lines.append(f"return ({''.join(f'{v}, ' for v in values)})")
    else:
        lines += [f"s{i} = {v}" for i, v in enumerate(values)]
        lines.append(f"return {result}")
    for number, name in emitter.constants.items():
        namespace[name] = ball_constant(number) if exact else float_constant(number)
    source = "def compiled(values):\n    " + "\n    ".join(lines)
    exec(compile(source, "<statement>", "exec"), namespace)
    function: Function = namespace["compiled"]
    return function


def _given_rates(expressions: Sequence[sympy.Expr], resolution: Resolution) -> list[str]:
    """Inputs whose powers are taken: rates that the caller gives instead of their bases."""
    powered = {
        b.name
        for e in [*expressions, *(r.expression for _, r in resolution.steps if isinstance(r, Formula))]
        for b, p in (pw.as_base_exp() for pw in e.atoms(sympy.Pow))
        if b.is_Symbol and not p.is_number
    }
    return [n for n in resolution.inputs if n in powered or n in ("rho", "q_rate")]


def _rate_line(name: str, bases: Sequence[str], function: str, exact: bool) -> str:
    arguments = ", ".join(f"v_{b}" for b in bases)
    target = f"v_{name}_l" if exact else f"v_{name}_h, v_{name}_r, v_{name}_l"
    return f"{target} = {function}({arguments})"


def _step(name: str, recipe: Recipe, emitter: Emitter, exact: bool, rates: set[str]) -> str:
    if isinstance(recipe, Formula):
        return f"v_{name} = {emitter.code(rewrite_gaps(recipe.expression, rates))}"
    if isinstance(recipe, Rate):
        return _rate_line(name, recipe.bases, f"f_{name}", exact)
    return f"v_{name} = f_{name}({', '.join(f'v_{b}' for b in recipe.bases)})"


def ball_reads(names: Sequence[str], arrays: Collection[str], counts: Collection[str]) -> list[str]:
    """Source lines that read the balls of `names` from a mapping of constants, as `converters` makes them."""
    lines = []
    for n in names:
        lines.append(f"v_{n} = values[{n!r}]")
        if n in arrays:
            lines.append(f"v_{n} = balls_of(v_{n})")
        elif n in counts:
            lines.append(f"if type(v_{n}) is not int: v_{n} = whole_of(v_{n})")
        else:
            lines.append(f"found = known(v_{n}) if type(v_{n}) is float else None")
            lines.append(f"v_{n} = ball_of(v_{n}) if found is None else found")
    return lines


def converters(
    names: Sequence[str], arrays: Collection[str], counts: Collection[str]
) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """Each name with the function that makes its ball (a list for vectors, an int for whole counts)."""
    return tuple(
        (
            n,
            enclosure.balls if n in arrays else enclosure.whole if n in counts else enclosure.ball,
        )
        for n in names
    )


def prepare(
    values: Mapping[str, Any], names: Sequence[str], arrays: Collection[str], counts: Collection[str]
) -> list[Any]:
    """The balls of some constants, in order."""
    return [convert(values[n]) for n, convert in converters(names, arrays, counts)]
