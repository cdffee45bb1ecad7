"""Plans with Theorem 4.10: a step size for which limsup E||grad f||^2 <= epsilon in a merely monotone game."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flint import arb

import bounds
from bounds import Constant
from bounds.core.enclosure import precision
from verify.errors import InputError
from verify.planner.certificate import Record, certificate, interval
from verify.planner.enclosures import WRITE_BITS, evaluate
from verify.planner.errors import NoPlan
from verify.planner.given import collect, given_for
from verify.planner.lemmas import first_that
from verify.planner.normal import compiled
from verify.planner.result import Plan, planned

_GAME = {"delta_hat_sq_mean": 0.0, "delta_hat_sq_sup": 0.0, "Delta_sq_mean": 0.0, "Delta_sq_sup": 0.0}


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
    """The largest gamma for which Theorem 4.10(ii) gives the limit, and the R where the start's term has passed.

    R is where the term of the start is at most `tolerance` (default epsilon/10), counting from r_hat; the term of the
    moving weights vanishes with N_r -> N*, at a speed that the theorem does not give.

    Raises:
        InputError: for bad input; NoPlan: with the hypothesis that fails.
    """
    tolerance = epsilon / 10 if tolerance is None else tolerance
    for name, value in (("epsilon", epsilon), ("tolerance", tolerance)):
        if not 0 < value < math.inf:
            raise InputError(f"{name} = {value!r}: give a finite number > 0")
    try:
        limit = bounds.get("Theorem 4.10(ii)", edition)
    except bounds.UnknownStatement as error:
        raise InputError(str(error)) from None
    known = collect(constants)
    if "f_gap" not in known and "f_gap_0" in known and r_hat == 0:
        start = known["f_gap_0"]
        known["f_gap"] = Constant(
            "f_gap", start.value, start.provenance, start.radius, "f(x_0) - f*, r_hat = 0"
        )
    if "f_gap" not in known:
        raise InputError("f_gap is not given: give it, or f_gap_0 with r_hat = 0")
    given = given_for(limit, known, H)
    at = {**given.used, "a": a, "b": b, "epsilon": epsilon}
    missing = limit.plan({**at, "gamma": 1.0}).absent
    if missing:
        raise InputError(f"Theorem 4.10 needs {', '.join(missing)}: give them among the constants")
    step = limit.largest("gamma", at) if gamma is None else gamma
    evaluation = evaluate(limit, {**at, "gamma": step})
    if evaluation.failing:
        bad = evaluation.failing[0]
        sides = f"{_number(bad.lhs)} against {_number(bad.rhs)}"
        raise NoPlan(
            f"hypothesis {bad.name!r} is not satisfied: {sides}", "give other exponents, or a smaller gamma"
        )
    R = first_that(lambda R: r_hat < R and bool(start_term(edition, at, step, r_hat, R) <= arb(tolerance)))
    if R is None:
        raise NoPlan(
            "the term of the start is above the tolerance after 10^18 rounds", "give a larger tolerance"
        )
    choice = {"gamma": step, "H": given.used["H"], "r_hat": r_hat, "R": R, "a": a, "b": b}
    targets = {"epsilon": float(epsilon), "tolerance": float(tolerance)}
    record = Record(evaluation, float(epsilon))
    minimal = {"proved": True, "infeasible_R": R - 1, "cells": 1}
    data = certificate("4.10", edition, targets, choice, given, None, [record], minimal)
    data["horizon"] = interval(start_term(edition, at, step, r_hat, R))
    return planned("4.10", edition, float(epsilon), choice, [record], data, "given", minimal)


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
