"""Names that are imported when they are first used (PEP 562).

A command reads its arguments, and refuses bad ones, before the libraries load that its work needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy(
    module: str, names: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A module's `__getattr__` and `__dir__`, for names that other modules define.

    Args:
        module: the `__name__` of the module that shows the names.
        names: the names by the module that defines them.
    """
    homes = {name: home for home, ours in names.items() for name in ours}

    def fetch(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)  # the next use does not ask again
        return value

    def known() -> list[str]:
        return sorted({*vars(sys.modules[module]), *homes})

    return fetch, known
