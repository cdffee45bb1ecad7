"""How one name follows from others: a formula, a geometric rate, or a function of a sequence.

A recipe says what it needs (`bases`) and knows how to make its name in floats and in balls. Rates (`rho`,
`q_rate`) are special because their powers and the differences of their powers must survive cancellation:
they come as a double-double and a logarithm, never as `1 - rho**2`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import sympy


@dataclass(frozen=True)
class Formula:
    """`name` is a sympy expression in other names."""

    expression: sympy.Expr

    @property
    def bases(self) -> tuple[str, ...]:
        """The names it needs, sorted."""
        return tuple(sorted(s.name for s in self.expression.free_symbols))


@dataclass(frozen=True)
class Rate:
    """`name` is a contraction rate.

    Args:
        bases: the names it needs.
        formula: what the paper writes, for the documentation and the exact path.
        floats: bases -> (high, low / high, log rate) of rate^(1/scale), double-double.
        balls: bases -> log rate as an arb (-inf for a zero rate).
        scale: 1, or 1/2 when `floats` gives the square of the rate.
    """

    bases: tuple[str, ...]
    formula: sympy.Expr
    floats: Callable[..., tuple[Any, Any, Any]]
    balls: Callable[..., Any]
    scale: float = 1.0


@dataclass(frozen=True)
class Computed:
    """`name` is a function of arrays or of special functions: partial sums, maxima, means.

    Args:
        bases: the names it needs.
        latex: the formula, for the documentation.
        floats: bases -> array or float.
        balls: bases -> arb.
    """

    bases: tuple[str, ...]
    latex: str
    floats: Callable[..., Any]
    balls: Callable[..., Any]


@dataclass(frozen=True)
class Given:
    """`name` is expected from the caller, though the other recipes can make it."""

    bases: tuple[str, ...] = ()


Recipe: TypeAlias = Formula | Rate | Computed | Given
