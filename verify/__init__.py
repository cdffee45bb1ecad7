"""Bounds beside games and runs: checks, verdicts, the report, the planner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bounds.on_demand import lazy

if TYPE_CHECKING:
    from verify.api import assert_within, audit, check
    from verify.planner.errors import NoPlan
    from verify.planner.front import make_plan
    from verify.planner.result import Plan

__all__ = ["NoPlan", "Plan", "assert_within", "audit", "check", "make_plan"]

_NAMES = {
    "verify.api": ("assert_within", "audit", "check"),
    "verify.planner.errors": ("NoPlan",),
    "verify.planner.front": ("make_plan",),
    "verify.planner.result": ("Plan",),
}
__getattr__, __dir__ = lazy(__name__, _NAMES)
