"""Plans with Theorem 4.10: a step size for which limsup E||grad f||^2 <= epsilon in a merely monotone game.

The bound of part (i) has two kinds of terms: noise and drift stay, and are what the limit is made of; the start's
term falls as 1/(R - r_hat), and the weights' term is a mean of squared distances ||N_r - N*||, which the schedule
brings to zero at no speed that constants tell. The path of the game alone (no training) tells it: `d_sequence`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from flint import arb
from jaxtyping import Float

import bounds
from bounds import Constant
from bounds.core.enclosure import precision
from verify.errors import InputError
from verify.planner.certificate import Record, certificate, interval
from verify.planner.enclosures import WRITE_BITS, Evaluation, evaluate
from verify.planner.errors import NoPlan
from verify.planner.given import Given, collect, given_for
from verify.planner.lemmas import first_that
from verify.planner.normal import compiled
from verify.planner.result import Plan, planned

_MEANS = ("delta_hat_sq_mean", "delta_hat_sq_sup", "Delta_sq_mean", "Delta_sq_sup")  # of somebody's own R
_GAME = dict.fromkeys(_MEANS, 0.0)


def plan_limit(
    constants: Mapping[str, Any],
    epsilon: float,
    edition: str = "corrected",
    *,
    H: int | None = None,
    a: float = 0.6,
    b: float = 0.3,
    r_hat: int = 0,
    tolerance: float | None = None,
    gamma: float | None = None,
) -> Plan:
    """The largest gamma for which Theorem 4.10(ii) gives the limit, and the R from which the rest has passed.

    With `d_sequence` (||N_r - N*|| for rounds 0, 1, ... of the schedule) among the constants, R is the first
    round from which on the start's and the weights' terms together stay at most `tolerance` (default epsilon/10)
    as far as the sequence goes, and the bound of part (i) at R is in the certificate. Without it the weights'
    term is unknown, R counts the start's term alone, and the certificate says so (`horizon.weights` is null).

    Raises:
        InputError: for bad input; NoPlan: with the hypothesis that fails, or what is left after the last round known.
    """
    tolerance = epsilon / 10 if tolerance is None else tolerance
    for name, value in (("epsilon", epsilon), ("tolerance", tolerance)):
        if not 0 < value < math.inf:
            raise InputError(f"{name} = {value!r}: give a finite number > 0")
    given, at = _known(constants, epsilon, edition, H, a, b, r_hat)
    limit = bounds.get("Theorem 4.10(ii)", edition)
    step = limit.largest("gamma", at) if gamma is None else gamma
    evaluation = evaluate(limit, {**at, "gamma": step})
    _require(evaluation)
    targets = {"epsilon": float(epsilon), "tolerance": float(tolerance)}
    found = [Record(evaluation, float(epsilon))]
    if "d_sequence" in at:
        R = _horizon(edition, at, step, r_hat, tolerance)
        at_R = evaluate(bounds.get("Theorem 4.10(i)", edition), {**at, "gamma": step, "r_hat": r_hat, "R": R})
        _require(at_R)
        found.append(Record(at_R, whole(edition, targets)))
    else:
        alone = _start_alone(edition, at, step, r_hat, tolerance)
        if alone is None:
            raise NoPlan(
                "the term of the start is above the tolerance after 10^18 rounds", "give a larger tolerance"
            )
        R = alone
    choice = {"gamma": step, "H": given.used["H"], "r_hat": r_hat, "R": R, "a": a, "b": b}
    before = R - 1 > r_hat and above(remaining(edition, at, step, r_hat, R - 1), tolerance)
    minimal = {"proved": before or R == r_hat + 1, "infeasible_R": R - 1, "cells": 1}
    data = certificate("4.10", edition, targets, choice, given, None, found, minimal)
    left = remaining(edition, at, step, r_hat, R)
    data["horizon"] = {name: interval(left.get(name)) for name in ("start", "weights")}
    return planned("4.10", edition, float(epsilon), choice, found, data, "given", minimal)


def whole(edition: str, targets: Mapping[str, float | None]) -> float | None:
    """What the bound of part (i) is at most at the horizon: the limit's epsilon and the tolerance.

    None for the printed edition, whose part (ii) does not follow from its part (i): the step size printed there
    lets noise and drift reach 3 epsilon/2.
    """
    if edition == "printed":
        return None
    return math.nextafter(float(targets["epsilon"] or 0) + float(targets["tolerance"] or 0), math.inf)


def _known(
    constants: Mapping[str, Any], epsilon: float, edition: str, H: int | None, a: float, b: float, r_hat: int
) -> tuple[Given, dict[str, Any]]:
    """The constants of the plan and the numbers used, with everything that is missing named."""
    try:
        limit = bounds.get("Theorem 4.10(ii)", edition)
    except bounds.UnknownStatement as error:
        raise InputError(str(error)) from None
    known = {n: c for n, c in collect(constants).items() if n not in _MEANS}
    if "f_gap" not in known and "f_gap_0" in known and r_hat == 0:
        start = known["f_gap_0"]
        known["f_gap"] = Constant(
            "f_gap", start.value, start.provenance, start.radius, "f(x_0) - f*, r_hat = 0"
        )
    if "f_gap" not in known:
        raise InputError("f_gap is not given: give it, or f_gap_0 with r_hat = 0")
    given = given_for(limit, known, H)
    at = {**given.used, "a": a, "b": b, "epsilon": epsilon}
    missing = list(limit.plan({**at, "gamma": 1.0}).absent)
    if "d_sequence" in at:
        trial = {**at, "gamma": 1.0, "r_hat": 0, "R": 1}
        missing += bounds.get("Theorem 4.10(i)", edition).plan(trial).absent
    if missing:
        names = ", ".join(dict.fromkeys(missing))
        raise InputError(f"Theorem 4.10 needs {names}: give them among the constants")
    return given, at


def _require(evaluation: Evaluation) -> None:
    if evaluation.failing:
        bad = evaluation.failing[0]
        sides = f"{_number(bad.lhs)} against {_number(bad.rhs)}"
        raise NoPlan(
            f"hypothesis {bad.name!r} is not satisfied: {sides}",
            "give other exponents, a smaller gamma or a later r_hat",
        )


def _start_alone(
    edition: str, at: Mapping[str, Any], gamma: float, r_hat: int, tolerance: float
) -> int | None:
    def enough(R: int) -> bool:
        return r_hat < R and bool(start_term(edition, at, gamma, r_hat, R) <= arb(tolerance))

    return first_that(enough)


def _horizon(edition: str, at: Mapping[str, Any], gamma: float, r_hat: int, tolerance: float) -> int:
    """The first R from which on the remaining terms stay at most the tolerance, up to the last round known.

    Both terms scale in R as 1/(R - r_hat) and as a mean of squares: one evaluation in balls gives their factors,
    floats locate R, and balls settle it.

    Raises:
        NoPlan: if they are not below the tolerance at the last round known.
    """
    shift = 0 if edition == "printed" else 1  # the printed mean is over d_r, the others over d_{r+1}
    path: Float[np.ndarray, " R"] = np.asarray(at["d_sequence"], dtype=float)
    last = path.size - shift
    if last <= r_hat:
        raise InputError(f"d_sequence has {path.size} entries: give more than r_hat = {r_hat} rounds")
    means = np.cumsum(path[r_hat + shift :] ** 2) / np.arange(1, last - r_hat + 1)
    end = remaining(edition, at, gamma, r_hat, last)
    start = float(end["start"]) * (last - r_hat) / np.arange(1, last - r_hat + 1)
    weights = float(end["weights"]) * (means / means[-1]) if means[-1] > 0 else 0.0 * means
    late = np.nonzero(start + weights > tolerance)[0]
    R = r_hat + 1 + (int(late[-1]) + 1 if late.size else 0)
    while R <= last and not within(remaining(edition, at, gamma, r_hat, R), tolerance):
        R += 1  # floats and balls may differ by a round
    if R > last:
        left = sum(float(v) for v in end.values())
        raise NoPlan(
            f"after the {last} rounds that d_sequence knows, {left:.6g} > tolerance = {tolerance:.6g} remains",
            "follow the game for longer, or give a larger tolerance",
        )
    return R


def remaining(
    edition: str, constants: Mapping[str, Any], gamma: float, r_hat: int, R: int, bits: int = WRITE_BITS
) -> dict[str, arb]:
    """The terms of Theorem 4.10(i) that vanish with R, enclosed: `start`, and `weights` where it is known."""
    found = {"start": start_term(edition, constants, gamma, r_hat, R, bits)}
    if "d_sequence" in constants:
        at = {**constants, "gamma": gamma, "r_hat": r_hat, "R": R}
        terms = evaluate(bounds.get("Theorem 4.10(i)", edition), at, bits).terms
        found["weights"] = sum((v for n, v in terms.items() if n.split(" ")[0] == "weights"), arb(0))
    return found


def within(left: Mapping[str, arb], tolerance: float) -> bool:
    """Are the remaining terms proved to be at most the tolerance together?"""
    return bool(sum(left.values(), arb(0)) <= arb(tolerance))


def above(left: Mapping[str, arb], tolerance: float) -> bool:
    """Are they proved to exceed it?"""
    return bool(sum(left.values(), arb(0)) > arb(tolerance))


def start_term(
    edition: str, constants: Mapping[str, Any], gamma: float, r_hat: int, R: int, bits: int = WRITE_BITS
) -> arb:
    """The term of the start in Theorem 4.10(i), enclosed."""
    statement = bounds.get("Theorem 4.10(i)", edition)
    at = {**_GAME, **constants, "r_hat": r_hat, "R": R}
    plan = compiled(statement, "f_gap", 1, frozenset(at))
    with precision(bits):
        coefficient = plan.enclose(at, bits, True)[-2]
        return coefficient * arb(constants["f_gap"]) / arb(gamma)


def _number(x: arb | None) -> str:
    return "unknown" if x is None else f"{float(x):.6g}"
