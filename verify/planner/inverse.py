"""The other questions: what a budget guarantees, what noise or dissimilarity is still covered, what to improve."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import bounds
from bounds import Constant
from verify.errors import InputError
from verify.planner.asking import request
from verify.planner.errors import NoPlan
from verify.planner.given import CHOSEN, collect
from verify.planner.making import make_plan, make_search
from verify.planner.names import named
from verify.planner.result import Plan

_RESOLUTION = 1e-6  # relative, of the quantities found by bisection
_STEP = 1e-3  # of log(constant), for the two-sided differences


def rounds_within(
    *,
    rounds: int | None = None,
    gradients: int | None = None,
    traffic: int | None = None,
    H: int = 1,
    model_size: int = 0,
    number_bytes: int = 8,
) -> int:
    """The number of rounds that every given budget allows (traffic: bytes up, or down, per client).

    Raises:
        InputError: if no budget is given, or one allows no round.
    """
    allowed = [] if rounds is None else [rounds]
    allowed += [] if gradients is None else [gradients // H]
    allowed += [] if traffic is None else [traffic // (number_bytes * (model_size + 1))]
    if not allowed:
        raise InputError("no budget: give rounds, gradients or traffic")
    if min(allowed) < 1:
        raise InputError(f"the budget allows {min(allowed)} rounds: give more")
    return min(allowed)


def least_epsilon(
    constants: Mapping[str, Any], R: int, theorem: str = "4.6", edition: str = "corrected", **choices: Any
) -> Plan:
    """The plan with R rounds and about the smallest epsilon (within 1e-6 relative) that it guarantees.

    Raises:
        InputError: for bad input; NoPlan: if R rounds reach no epsilon at all.
    """

    def reached(exponent: float) -> Plan | None:
        try:
            return make_plan(constants, math.exp(exponent), theorem, edition, R=R, **choices)
        except NoPlan:
            return None

    high, best = 0.0, reached(0.0)
    while best is None:
        high += 4.0
        if high > 600:
            make_plan(constants, 1e250, theorem, edition, R=R, **choices)
            raise NoPlan(f"R = {R}: no epsilon is reached", "give a larger R")
        best = reached(high)
    low = high - 4.0
    while low > -600 and (found := reached(low)) is not None:
        high, low, best = low, low - 4.0, found
    while high - low > _RESOLUTION:
        middle = (low + high) / 2
        found = reached(middle)
        low, high, best = (middle, high, best) if found is None else (low, middle, found)
    return best


def largest_constant(
    constants: Mapping[str, Any],
    name: str,
    epsilon: float,
    R: int,
    theorem: str = "4.6",
    edition: str = "corrected",
    **choices: Any,
) -> tuple[float, Plan]:
    """The largest nu or G (within 1e-6 relative) for which R rounds still guarantee epsilon, and the plan.

    Raises:
        InputError: for a constant other than nu and G; NoPlan: if not even 0 is covered.
    """
    if name not in ("nu", "G"):
        raise InputError(f"{name}: give nu or G")

    def covered(value: float) -> Plan | None:
        try:
            return make_plan({**constants, name: value}, epsilon, theorem, edition, R=R, **choices)
        except NoPlan:
            return None

    best = make_plan({**constants, name: 0.0}, epsilon, theorem, edition, R=R, **choices)
    low, high = 0.0, 1e-12
    while (found := covered(high)) is not None:
        low, high, best = high, high * 16, found
        if high > 1e12:
            raise NoPlan(f"{name} plays no part in this bound", "any value is covered")
    while high - low > _RESOLUTION * high:
        middle = (low + high) / 2 if low == 0 else math.sqrt(low * high)
        found = covered(middle)
        low, high, best = (low, middle, best) if found is None else (middle, high, found)
        if high < 1e-300:
            break
    return low, best


def sensitivity(
    constants: Mapping[str, Any],
    epsilon: float,
    theorem: str = "4.6",
    edition: str = "corrected",
    **choices: Any,
) -> dict[str, float]:
    """d log R / d log of each constant that matters, largest first; R as a real number, by two-sided differences.

    A constant that is zero, a count, or of no influence is left out.
    """
    plan = make_plan(constants, epsilon, theorem, edition, **choices)
    known = collect(constants)
    found = {}
    for name, constant in known.items():
        if name in CHOSEN or bounds.SYMBOLS[name].domain.integer or bounds.SYMBOLS[name].domain.array:
            continue
        if float(constant.value) == 0:
            continue
        slope = _slope(lambda factor, n=name: _rounds(plan, known, n, factor, epsilon, choices))  # type: ignore[misc]
        if slope is not None and abs(slope) > 1e-9:
            found[name] = slope
    return dict(sorted(found.items(), key=lambda item: -abs(item[1])))


def _slope(rounds: Callable[[float], float | None]) -> float | None:
    more, less = rounds(math.exp(_STEP)), rounds(math.exp(-_STEP))
    return None if more is None or less is None else math.log(more / less) / (2 * _STEP)


def _rounds(
    plan: Plan,
    known: Mapping[str, Constant],
    name: str,
    factor: float,
    epsilon: float,
    choices: Mapping[str, Any],
) -> float | None:
    """The real R with one constant scaled, started as the plan starts; None where the scaled constant is impossible."""
    scaled = {**known, name: replace(known[name], value=float(known[name].value) * factor)}
    limited = {n: v for n, v in choices.items() if n != "start"}
    try:
        asked = request(scaled, epsilon, named(plan.theorem), plan.edition, **limited)
        return make_search(asked, plan.start).rounds
    except (InputError, NoPlan):
        return None


__all__ = ["largest_constant", "least_epsilon", "rounds_within", "sensitivity"]
