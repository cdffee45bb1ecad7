"""The paper's symbols as sympy symbols; importing a statement's file costs nothing else."""

from __future__ import annotations

from typing import Any

from bounds.symbols import SYMBOLS


def names(words: str) -> Any:
    """The sympy symbols of some names, a single one or a tuple.

    Raises:
        KeyError: for a name that the symbol table does not have.
    """
    found = tuple(SYMBOLS[word].atom for word in words.split())
    return found[0] if len(found) == 1 else found
