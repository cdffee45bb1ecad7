"""A question to the planner, with every value checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bounds
from bounds import Statement
from verify.errors import InputError
from verify.planner.given import Given, collect, given_for
from verify.planner.goals import GOALS, Goal
from verify.planner.names import named
from verify.planner.search import MOST_ROUNDS


@dataclass(frozen=True)
class Request:
    """A question to the planner, checked.

    Attributes:
        epsilon_ne: the target for the mean square NE distance (None: none).
        gamma, gamma_tilde, r_hat, R: choices that the caller insists on (None: the planner's).
    """

    goal: Goal
    theorem: str
    statement: Statement
    distance: Statement
    given: Given
    epsilon: float
    epsilon_ne: float | None
    gamma: float | None
    gamma_tilde: float | None
    r_hat: int | None
    R: int | None


def request(
    constants: Mapping[str, Any],
    epsilon: float,
    theorem: str = "4.6",
    edition: str = "corrected",
    *,
    H: int | None = None,
    epsilon_ne: float | None = None,
    gamma: float | None = None,
    gamma_tilde: float | None = None,
    r_hat: int | None = None,
    R: int | None = None,
) -> Request:
    """The question, with every value checked.

    Raises:
        InputError: naming the key, its value and what would be right.
        NoPlan: if the edition's (G, B) does not exist here.
    """
    goal = GOALS[named(theorem)]
    for name, number in (
        ("epsilon", epsilon), ("epsilon_ne", epsilon_ne), ("gamma", gamma), ("gamma_tilde", gamma_tilde)
    ):  # fmt: skip
        if number is not None and not (isinstance(number, int | float) and 0 < number < math.inf):
            raise InputError(f"{name} = {number!r}: give a finite number > 0")
    for name, count, least in (("H", H, 1), ("R", R, 1), ("r_hat", r_hat, 0)):
        if count is not None and not (isinstance(count, int) and least <= count <= MOST_ROUNDS):
            raise InputError(f"{name} = {count!r}: give an integer from {least} to 10^18")
    if R is not None and r_hat is not None and r_hat >= R:
        raise InputError(f"r_hat = {r_hat}: give an integer below R = {R}")
    try:
        statement, distance = bounds.get(goal.bound, edition), bounds.get(goal.distance, edition)
    except bounds.UnknownStatement as error:
        raise InputError(str(error)) from None
    given = given_for(statement, collect(constants), H)
    _complete(statement, goal, given)
    return Request(
        goal, named(theorem), statement, distance, given, float(epsilon),
        (float(epsilon) if goal.both else None) if epsilon_ne is None else float(epsilon_ne),
        gamma, gamma_tilde, r_hat, R,
    )  # fmt: skip


def _complete(statement: Statement, goal: Goal, given: Given) -> None:
    chosen = {"gamma", "gamma_tilde", "r_hat", "R", "T", goal.start}
    ready = frozenset({*given.used, *chosen})
    missing = statement.plan(dict.fromkeys(ready, 1.0)).absent
    if missing:
        meanings = ", ".join(f"{n} ({bounds.SYMBOLS[n].meaning})" for n in missing if n in bounds.SYMBOLS)
        raise InputError(
            f"{statement.id} ({statement.edition}) needs {meanings}: give it among the constants"
        )
    if goal.start not in given.used and goal.start_0 not in given.used:
        raise InputError(
            f"{goal.start} ({bounds.SYMBOLS[goal.start].meaning}) is not given: give it, or {goal.start_0} "
            f"({bounds.SYMBOLS[goal.start_0].meaning})"
        )
