"""Bounds beside games and runs: checks, verdicts, the report, the planner."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.api import assert_within, audit, check
    from verify.planner.errors import NoPlan
    from verify.planner.front import make_plan
    from verify.planner.result import Plan

__all__ = ["NoPlan", "Plan", "assert_within", "audit", "check", "make_plan"]

_HOMES = {
    "NoPlan": "verify.planner.errors",
    "Plan": "verify.planner.result",
    "assert_within": "verify.api",
    "audit": "verify.api",
    "check": "verify.api",
    "make_plan": "verify.planner.front",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
