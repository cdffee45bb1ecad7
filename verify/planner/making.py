"""`make_plan`: the smallest number of rounds that a theorem guarantees to be enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bounds.core.enclosure import ball
from verify.errors import InputError
from verify.planner.asking import Request, request
from verify.planner.certificate import Record, StartValue, certificate, records
from verify.planner.enclosures import evaluate, fraction_above
from verify.planner.errors import NoPlan
from verify.planner.given import Given, participation_step
from verify.planner.goals import GOALS
from verify.planner.lemmas import plan_distance
from verify.planner.limit import plan_limit
from verify.planner.names import STARTS, named
from verify.planner.regularised import plan_regularised
from verify.planner.result import Plan, planned
from verify.planner.search import MOST_ROUNDS, Decision, Point, Search


def make_search(asked: Request, mode: str) -> Search:
    """The search for one way to bound the start.

    Raises:
        NoPlan: if the game's hypotheses fail.
        InputError: if the mode needs a constant that is not given.
    """
    goal, used = asked.goal, dict(asked.given.used)
    fixed, a_priori = None, None
    if mode == "given":
        if goal.start not in used:
            raise InputError(f"start = 'given': {goal.start} is not among the constants: give it")
        fixed = Fraction(used.pop(goal.start)) ** goal.power
    else:
        used.pop(goal.start, None)
        if goal.start_0 not in used:
            raise InputError(f"start = {mode!r}: {goal.start_0} is not among the constants: give it")
        fixed = Fraction(used[goal.start_0])
        a_priori = goal.a_priori() if mode == "a-priori" else None
    gamma_tilde, ideal = participation_step(asked.given, asked.gamma_tilde)
    search = Search(
        asked.statement, asked.distance, used, gamma_tilde, ideal, asked.epsilon, asked.epsilon_ne,
        goal.start, goal.power, a_priori, fixed, asked.gamma, 0 if mode == "at-once" else asked.r_hat,
    )  # fmt: skip
    if mode == "at-once" and asked.r_hat not in (None, 0):
        raise InputError(f"start = 'at-once': it needs r_hat = 0, not {asked.r_hat}")
    failing = search.limits.failing()
    if failing is not None:
        raise NoPlan(
            f"hypothesis {failing.name!r} fails: {failing.text}", "no step size or number of rounds helps"
        )
    return search


def make_plan(
    constants: Mapping[str, Any],
    epsilon: float,
    theorem: str = "4.6",
    edition: str = "corrected",
    *,
    start: str = "auto",
    **choices: Any,
) -> Plan:
    """The plan with the fewest rounds whose guarantee is at most epsilon.

    Fewest: for the way to bound the start that the plan names, R - 1 rounds are proved not to be enough.

    Args:
        constants: names of `bounds.SYMBOLS` to numbers or `Constant`s; `f_gap` and `D_r_hat` are taken as the
            user's bounds, for whatever r_hat.
        epsilon: for 4.6 the bound on E||grad f||^2 and on the mean square NE distance, for 4.9 on E f - f*.
        theorem: "4.6" or "4.9"; edition: printed, corrected or sharp.
        start: given, at-once, a-priori, warm, or auto (given if it is given, else the better of at-once and a-priori).
        choices: H, epsilon_ne, gamma, gamma_tilde, r_hat, R, as in `request`.

    Raises:
        InputError: for bad input; NoPlan: with the reason, if no choice will do.
    """
    if start not in STARTS:
        raise InputError(f"start = {start!r}: give one of {', '.join(STARTS)}")
    if named(theorem) == "4.10":
        return plan_limit(constants, epsilon, edition, **choices)
    if named(theorem) == "Lemma 4.4":
        return plan_regularised(constants, epsilon, edition, **choices)
    if named(theorem) not in GOALS:
        return plan_distance(constants, epsilon, edition, **choices)
    asked = request(constants, epsilon, theorem, edition, **choices)
    if start == "auto" and asked.goal.start in asked.given.used:
        start = "given"
    if start != "auto":
        return solve(asked, start, make_search(asked, start))
    searches: dict[str, Search] = {}
    reasons: list[NoPlan] = []
    for mode in ("at-once", "a-priori") if asked.r_hat in (None, 0) else ("a-priori",):
        try:
            searches[mode] = make_search(asked, mode)
            if asked.R is None and searches[mode].rounds is None:
                raise no_plan(searches.pop(mode), asked)
        except NoPlan as reason:
            reasons.append(reason)
    if not searches:
        raise reasons[-1]
    if asked.R is not None:
        best = min(searches, key=lambda mode: searches[mode].best(float(asked.R or 1))[0])
    else:
        best = min(searches, key=lambda mode: searches[mode].rounds or math.inf)
    return solve(asked, best, searches[best])


def solve(asked: Request, mode: str, search: Search) -> Plan:
    """The plan for one way to bound the start.

    Raises:
        NoPlan: with the reason, if no choice will do.
    """
    if asked.R is not None:
        decision = search.decide(asked.R)
        if decision.point is None:
            raise no_plan(search, asked)
        return _certified(
            asked, mode, search, decision.point, {"proved": None, "infeasible_R": None, "cells": 0}
        )
    if search.rounds is None:
        raise no_plan(search, asked)
    point, minimal = smallest(search, max(1, min(MOST_ROUNDS, round(search.rounds))))
    return _certified(asked, mode, search, point, minimal)


def smallest(search: Search, guess: int) -> tuple[Point, dict[str, Any]]:
    """The smallest R that is proved to be enough, near a guess, and the largest proved not to be."""
    low, high, best = 0, 0, None
    step, R = 1, guess
    seen: dict[int, Decision] = {}
    while True:
        seen[R] = search.decide(R)
        if seen[R].feasible:
            high, best = R, seen[R].point
        elif seen[R].feasible is False:
            low = max(low, R)
        if best is None:
            R, step = min(R + step, MOST_ROUNDS), step * 2
            if R in seen:
                raise NoPlan("10^18 rounds are not proved to be enough", "give a larger epsilon")
        elif low == 0 and high > 1:
            known = [r for r in seen if r < high]
            R, step = max(1, min([high, *known]) - step), step * 2
            if R in seen:
                break
        else:
            break
    while high - low > 1 and best is not None:
        R = (low + high) // 2
        decision = seen[R] if R in seen else search.decide(R)
        if decision.feasible:
            high, best = R, decision.point
        elif decision.feasible is False:
            low, seen[R] = R, decision
        else:
            break
    assert best is not None
    cells = seen[low].cells if low in seen else 0
    return best, {"proved": low == high - 1, "infeasible_R": low, "cells": cells}


def no_plan(search: Search, asked: Request) -> NoPlan:
    """Why there is no plan, with both sides, and what would have to change."""
    R = asked.R or MOST_ROUNDS
    first = search.limits.first(R)
    if first >= R:
        return NoPlan(
            f"R = {R}: the warm-up alone takes r_hat >= {first} rounds",
            "give a larger R, a start N_0 nearer to the equilibrium, or a game that contracts faster",
        )
    if search.gamma is not None and search.gamma > search.cap(R - 1):
        return NoPlan(
            f"gamma = {search.gamma:.6g}: the hypotheses allow at most {search.cap(R - 1):.6g}",
            "give a smaller gamma",
        )
    if search.r_hat is not None and first > search.r_hat:
        return NoPlan(f"r_hat = {search.r_hat}: the hypotheses need at least {first}", "give a larger r_hat")
    bound, r_hat, gamma = search.best(float(R))
    if search.gamma is not None:
        remedy = "give another gamma, or let the planner choose it"
    elif search.r_hat is not None:
        remedy = "let the planner choose r_hat, or bound the start otherwise"
    else:
        remedy = "give a larger R" if asked.R is not None else "give a larger epsilon, or less noise"
    return NoPlan(
        f"R = {R}: the best bound is {bound:.6g} > epsilon = {search.epsilon:.6g} (at r_hat = {r_hat}, "
        f"gamma = {gamma:.6g})",
        remedy,
    )


def start_value(asked: Request, search: Search, mode: str, constants: Mapping[str, Any]) -> StartValue:
    """What bounds the start at the plan's choice."""
    goal = asked.goal
    if search.a_priori is None:
        return StartValue(mode, goal.start, goal.power, search.fixed)
    evaluation = evaluate(search.a_priori, constants)
    return StartValue(mode, goal.start, goal.power, fraction_above(evaluation.total), evaluation)


def _certified(asked: Request, mode: str, search: Search, point: Point, minimal: dict[str, Any]) -> Plan:
    """The plan of a point, after every number of it has been evaluated once more in balls."""
    choice = {
        "gamma": point.gamma, "gamma_tilde": search.gamma_tilde, "H": search.constants["H"], "r_hat": point.r_hat,
        "R": point.R,
    }  # fmt: skip
    at = {**search.constants, **choice}
    start = start_value(asked, search, mode, at)
    found = records(asked.statement, asked.distance, at, start, asked.epsilon, asked.epsilon_ne)
    bad = [r for r in found if not r.holds()]
    if bad:
        raise NoPlan(
            f"{bad[0].evaluation.statement.id} is not proved at {point}: {_why(bad[0])}", "report this"
        )
    used = Given({n: c for n, c in asked.given.known.items() if n in search.constants or n in _kept(mode, asked)},
                 asked.given.used)  # fmt: skip
    targets = {"epsilon": asked.epsilon, "epsilon_ne": asked.epsilon_ne}
    edition = str(asked.statement.edition)
    insisted = {n: v for n in ("gamma", "gamma_tilde", "r_hat") if (v := getattr(asked, n)) is not None}
    data = certificate(asked.theorem, edition, targets, choice, used, start, found, minimal, insisted)
    return planned(asked.theorem, edition, asked.epsilon, choice, found, data, mode, minimal, search)


def _kept(mode: str, asked: Request) -> set[str]:
    return {asked.goal.start} if mode == "given" else set()


def _why(record: Record) -> str:
    if record.evaluation.failing:
        return record.evaluation.failing[0].name
    return f"total {ball(0) + record.evaluation.total} against {record.limit}"
