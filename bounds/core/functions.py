"""The sympy functions that statements use beside sympy's own."""

from __future__ import annotations

from typing import Any

import sympy


class PowerGap(sympy.Function):
    """`PowerGap(rate, A, B)` = rate^A - rate^B, computed without cancellation."""

    nargs = 3


class Largest(sympy.Function):
    """The largest of its arguments; unlike `sympy.Max` it does not try to compare them."""

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        return _braces(r"\max", self.args, printer, exp)


class Smallest(sympy.Function):
    """The smallest of its arguments; unlike `sympy.Min` it does not try to compare them."""

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        return _braces(r"\min", self.args, printer, exp)


def _braces(name: str, args: tuple[Any, ...], printer: Any, exp: str | None) -> str:
    text = rf"{name}\left\{{{', '.join(printer._print(a) for a in args)}\right\}}"
    return rf"{{{text}}}^{{{exp}}}" if exp is not None else text
