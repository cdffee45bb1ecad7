"""How an expression is written in LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter


class _Printer(LatexPrinter):
    """Sums begin with a term without a minus sign: 1 - x, never -x + 1."""

    def _as_ordered_terms(self, expr: sympy.Expr, order: str | None = None) -> list[sympy.Expr]:
        terms: list[Any] = super()._as_ordered_terms(expr, order=order)
        return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))


def latex(expression: sympy.Basic, glyphs: Mapping[sympy.Symbol, str]) -> str:
    """The expression in LaTeX, its symbols written as `glyphs` says."""
    settings = {"symbol_names": dict(glyphs), "fold_short_frac": False, "root_notation": True}
    text: str = _Printer(settings).doprint(expression)
    return text
