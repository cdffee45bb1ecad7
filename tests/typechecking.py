"""How often the test run checks annotations: the first calls of each function in a test; in the nightly run all.

A checked call takes some 50 microseconds, which is most of the time of a test that calls a small function a million
times. What the first calls of every test respect, the later ones, made by the same code, respect as well.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import jaxtyping

FIRST_CALLS = 20
_every_call = jaxtyping.jaxtyped
_test = 0


def next_test() -> None:
    """From now on the first calls are checked again."""
    global _test
    _test += 1


def first_calls(*, typechecker: Callable[..., Any]) -> Callable[[Any], Any]:
    """`jaxtyping.jaxtyped` as the import hook writes it, for the first calls in each test only."""
    return functools.partial(_sparing, typechecker=typechecker)


def _sparing(what: Any, *, typechecker: Callable[..., Any]) -> Any:
    if inspect.isclass(what):
        if dataclasses.is_dataclass(what) and isinstance(what.__init__, FunctionType):
            what.__init__ = _sparing(what.__init__, typechecker=typechecker)  # type: ignore[method-assign]
        return what
    if not isinstance(what, FunctionType):
        return _every_call(what, typechecker=typechecker)
    checked, test, left = None, -1, 0

    @functools.wraps(what)
    def sparing(*args: Any, **kwargs: Any) -> Any:
        nonlocal checked, test, left
        if test != _test:
            test, left = _test, FIRST_CALLS
        if left == 0:
            return what(*args, **kwargs)
        left -= 1
        if checked is None:  # the checks of a function are compiled when it is first called: many never are
            checked = _every_call(what, typechecker=typechecker)
        return checked(*args, **kwargs)

    return sparing


def spare() -> None:
    """Packages that are imported from now on are checked sparingly."""
    jaxtyping.jaxtyped = first_calls
