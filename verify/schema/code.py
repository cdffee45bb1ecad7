"""A user's own Python class, named in an instance file as `python:module.attribute`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

PREFIX = "python:"
PATTERN = r"^python:[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$"


class UserCodeError(ValueError):
    """A user's own code failed: the message names it and what it said."""


@contextmanager
def users_code(kind: str) -> Iterator[None]:
    """Turns whatever a user's code raises into one line that names it."""
    try:
        yield
    except UserCodeError:
        raise
    except Exception as error:  # any class of error may come from code that is not ours
        words = " ".join(str(error).split())
        raise UserCodeError(f"{kind}: {type(error).__name__}: {words}") from error


def load(kind: str) -> Callable[..., Any]:
    """The callable that `python:module.attribute` names, looked for in the working directory too.

    Raises:
        UserCodeError: if it cannot be imported or is not callable.
    """
    module, _, attribute = kind.removeprefix(PREFIX).rpartition(".")
    here = str(Path.cwd())
    with users_code(kind):
        if here not in sys.path:
            sys.path.append(here)
        found = getattr(import_module(module), attribute)
    if not callable(found):
        raise UserCodeError(f"{kind}: {type(found).__name__} is not callable: give a class or a function")
    result: Callable[..., Any] = found
    return result
