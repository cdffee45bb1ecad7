"""The words of a paper: its symbols, what its statements observe, and how names follow from others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import sympy

from bounds.core.derive import Recipe
from bounds.core.errors import DomainError


@dataclass(frozen=True)
class Domain:
    """The values a symbol may take: an interval, of integers if `integer`; `array` for vector names.

    Bounds are part of the interval unless `open_lower` or `open_upper` says otherwise.
    """

    lower: float = -np.inf
    upper: float = np.inf
    open_lower: bool = False
    open_upper: bool = False
    integer: bool = False
    array: bool = False

    def __str__(self) -> str:
        kind = "an integer" if self.integer else "a number"
        kind = f"an array, each entry {kind}" if self.array else kind
        parts = []
        if self.lower > -np.inf:
            parts.append(f"{'>' if self.open_lower else '>='} {self.lower:g}")
        if self.upper < np.inf:
            parts.append(f"{'<' if self.open_upper else '<='} {self.upper:g}")
        return f"{kind} {' and '.join(parts)}" if parts else kind

    def admits(self, value: float | np.ndarray) -> np.ndarray:
        """Elementwise: is `value` in the domain? NaN never is."""
        x = np.atleast_1d(np.asarray(value, dtype=float))
        inside = (x > self.lower) if self.open_lower else (x >= self.lower)
        inside &= (x < self.upper) if self.open_upper else (x <= self.upper)
        return inside & (x == np.floor(x)) if self.integer else inside

    def contains(self, x: float) -> bool:
        """Is one number in the domain? NaN never is."""
        inside = x > self.lower if self.open_lower else x >= self.lower
        if self.upper < math.inf:
            inside = inside and (x < self.upper if self.open_upper else x <= self.upper)
        return inside and (not self.integer or math.isinf(x) or x.is_integer())

    def require(self, name: str, value: float | np.ndarray) -> None:
        """Raise `DomainError`, naming key, value and what would be right, unless `value` is inside."""
        inside = self.admits(value)
        if inside.all():
            return
        flat, ok = np.ravel(np.asarray(value, dtype=float)), np.ravel(inside)
        first = int(np.argmin(ok))
        where = f" (entry {first}, one of {int((~ok).sum())})" if flat.size > 1 else ""
        raise DomainError(f"{name} = {float(flat[first])!r}{where}: give {self}")


@dataclass(frozen=True)
class Symbol:
    """One line of the symbol table.

    Args:
        name: the paper's symbol in ASCII: sympy symbol, keyword, TOML and JSON key.
        latex: the paper's glyph.
        meaning: one line.
        domain: the values it may take.
        unit: its dimension in the units N (samples), f (loss) and x (parameter), as "f/x^2"; "1" if none.
        source: where the paper defines it.
    """

    name: str
    latex: str
    meaning: str
    domain: Domain
    unit: str
    source: str

    @property
    def atom(self) -> sympy.Symbol:
        """The sympy symbol, with the sign that the domain gives it."""
        if self.domain.lower < 0:
            return sympy.Symbol(self.name, real=True)
        if self.domain.lower > 0 or self.domain.open_lower:
            return sympy.Symbol(self.name, positive=True)
        return sympy.Symbol(self.name, nonnegative=True)


@dataclass(frozen=True)
class Quantity:
    """What a statement observes: a name for `verify`, its glyph and one line of meaning."""

    name: str
    latex: str
    meaning: str


Recipes: TypeAlias = Mapping[str, tuple[Recipe, ...]]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The symbols, quantities and derivations of one paper; shared by all its statements."""

    symbols: Mapping[str, Symbol]
    quantities: Mapping[str, Quantity]
    derived: Recipes = field(default_factory=dict)
