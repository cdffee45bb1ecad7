"""The planner's front door: constants, an instance, or the name of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from verify.planner.making import make_plan as plan_constants
from verify.planner.result import Plan
from verify.schema import Instance


def make_plan(
    source: Mapping[str, Any] | Instance | str | Path,
    epsilon: float,
    theorem: str = "4.6",
    edition: str = "corrected",
    **choices: Any,
) -> Plan:
    """The plan with the fewest rounds whose guarantee is at most epsilon.

    Args:
        source: constants (names of `bounds.SYMBOLS` to numbers or `Constant`s), an instance, or its name or file.
        epsilon, theorem, edition, choices: as for `verify.planner.making.make_plan`. H: an instance's own by default.

    Raises:
        InputError: for bad input; NoPlan: with the reason, if no choice will do.
    """
    if isinstance(source, Mapping):
        return plan_constants(source, epsilon, theorem, edition, **choices)
    from verify.instance import load_instance
    from verify.planner.instance import constants_of, require_unbiased

    instance = source if isinstance(source, Instance) else load_instance(str(source))
    require_unbiased(instance)
    known = constants_of(instance)
    if not theorem.startswith("Lemma") and choices.get("H") is None:
        choices = {**choices, "H": instance.algorithm.H}
    return plan_constants(known.constants, epsilon, theorem, edition, **choices)
