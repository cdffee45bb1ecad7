"""Plans with Lemma 4.3: how many rounds until the participation is near the equilibrium."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from flint import arb

import bounds
from verify.errors import InputError
from verify.planner.certificate import Record, certificate
from verify.planner.enclosures import evaluate
from verify.planner.errors import NoPlan
from verify.planner.given import Given, collect, participation_step, safe_end
from verify.planner.goals import bound_by
from verify.planner.result import Plan, planned
from verify.planner.search import MOST_ROUNDS

_BITS = 128


def plan_distance(
    constants: Mapping[str, Any],
    epsilon: float,
    edition: str = "corrected",
    *,
    gamma_tilde: float | None = None,
) -> Plan:
    """The smallest R with ||N_R - N*|| <= epsilon by Lemma 4.3(i).

    Raises:
        InputError: for bad input; NoPlan: with the reason, if no number of rounds is enough.
    """
    if not (isinstance(epsilon, int | float) and 0 < epsilon < math.inf):
        raise InputError(f"epsilon = {epsilon!r}: give a finite number > 0")
    try:
        statement = bounds.get("Lemma 4.3(i)", edition)
    except bounds.UnknownStatement as error:
        raise InputError(str(error)) from None
    known = {n: c for n, c in collect(constants).items() if n in ("mu_F", "L_F", "dist_0", "q_rate", "rho")}
    given = Given(known, {n: safe_end(n, c) for n, c in known.items()})
    for name in ("mu_F", "L_F", "dist_0"):
        if name not in known:
            raise InputError(
                f"Lemma 4.3 needs {name} ({bounds.SYMBOLS[name].meaning}): give it among the constants"
            )
    step, ideal = participation_step(given, gamma_tilde)
    at = {**given.used, "gamma_tilde": step}
    failing = [s for s in statement.check({**at, "r": 0}) if s.holds is not True]
    if failing:
        raise NoPlan(f"hypothesis {failing[0].name!r} fails: {failing[0].text}", "give another gamma_tilde")

    def bound(r: int, gamma_tilde: Any) -> arb:
        return statement.enclose({**at, "gamma_tilde": gamma_tilde, "r": r}, _BITS, unchecked=True)

    R = first_that(lambda r: bool(bound(r, step) <= arb(epsilon)))
    if R is None:
        raise NoPlan(
            f"the NE distance is not below {epsilon:.6g} after 10^18 rounds", "give a larger epsilon"
        )
    proved = R == 0 or bool(bound(R - 1, ideal) > arb(epsilon))
    minimal = {"proved": proved, "infeasible_R": R - 1, "cells": 1}
    choice = {"gamma_tilde": step, "R": R}
    record = Record(evaluate(statement, {**at, **bound_by("Lemma 4.3", choice)}), float(epsilon))
    targets = {"epsilon": float(epsilon)}
    insisted = {} if gamma_tilde is None else {"gamma_tilde": gamma_tilde}
    data = certificate("Lemma 4.3", edition, targets, choice, given, None, [record], minimal, insisted)
    return planned("Lemma 4.3", edition, float(epsilon), choice, [record], data, "given", minimal)


def first_that(enough: Callable[[int], bool], most: int = MOST_ROUNDS, guess: int = 1) -> int | None:
    """The smallest integer from 0 to `most` that is enough, for a property that larger ones keep; None if none is.

    Args:
        guess: where to begin; a good one saves most of the evaluations.
    """
    low, high, step = -1, max(guess, 1), 1
    if enough(high):
        while high - step > 0 and enough(high - step):
            high, step = high - step, step * 2
        low = max(high - step, 0)
        if low == 0 and enough(0):
            return 0
    else:
        low = high
        while not enough(low + step):
            low, step = low + step, step * 2
            if low >= most:
                return None
        high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
