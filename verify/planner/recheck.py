"""`--check`: a saved certificate, verified from scratch with outward rounding and without the search.

What is recorded is trusted in nothing but the constants: each number used must be the safe end of its constant, each
hypothesis must be proved to hold, each total to lie below its limit, and every recorded interval must contain the
number computed anew at a higher precision, and be no wider than rounding explains.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb

import bounds
from bounds import Constant, Provenance
from bounds.core.enclosure import ball, precision
from verify.errors import InputError
from verify.planner.certificate import StartValue
from verify.planner.enclosures import CHECK_BITS, Evaluation, evaluate, infinite
from verify.planner.given import Given, given_for, safe_end
from verify.planner.goals import GOALS, Goal, bound_by, limits_of
from verify.planner.limit import remaining, whole, within
from verify.planner.names import named

_WIDTH = 1e-12  # of a recorded interval, relative to its ends; 85 bits and two roundings leave 1e-15


@dataclass
class Check:
    """What a re-check found: one line for each thing that is wrong."""

    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.problems

    def require(self, condition: bool, problem: str) -> bool:
        """Note a problem unless the condition holds."""
        if not condition:
            self.problems.append(problem)
        return condition


def read(path: Path) -> dict[str, Any]:
    """A certificate from a file.

    Raises:
        InputError: if it cannot be read or is not a plan's certificate.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"--check {path} cannot be read: {error}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"--check {path} is not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("kind") != "plan":
        raise InputError(f"--check {path}: not a plan's certificate: give a file that --out wrote")
    return data


def recheck(data: Mapping[str, Any]) -> Check:
    """Verify a certificate.

    Raises:
        InputError: if a field is missing or has the wrong shape.
    """
    try:
        return _recheck(data)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(f"certificate: a field is missing or has the wrong form: {error!r}") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        return Check([f"a number lies outside its domain: {error}"])


def _recheck(data: Mapping[str, Any]) -> Check:
    check = Check()
    if data["kind"] != "plan":
        raise InputError(f"certificate: kind = {data['kind']!r}: give the certificate of a plan")
    theorem, edition, targets = named(data["theorem"]), data["edition"], data["targets"]
    known = {n: constant_from(n, c) for n, c in data["constants"].items()}
    used = _used(check, known, data["constants"])
    choice = {n: _count_or_float(n, v) for n, v in data["choice"].items()}
    with precision(CHECK_BITS):
        if theorem in GOALS:
            expected = _of_goal(check, data, GOALS[theorem], known, used, choice)
        else:
            at = {**used, **bound_by(theorem, choice), "epsilon": targets["epsilon"]}
            limits = limits_of(theorem, targets)
            if theorem == "4.10":
                _horizon(check, data["horizon"], edition, at, targets["tolerance"])
                if "d_sequence" in at:
                    limits["Theorem 4.10(i)"] = whole(edition, targets)
            expected = {
                id: (evaluate(bounds.get(id, edition), at, CHECK_BITS), limit) for id, limit in limits.items()
            }
        recorded = {entry["id"]: entry for entry in data["statements"]}
        check.require(
            set(recorded) == set(expected), f"statements: {sorted(recorded)}: expected {sorted(expected)}"
        )
        check.require(len(recorded) == len(data["statements"]), "statements: one is recorded twice")
        for name, (evaluation, limit) in expected.items():
            if name in recorded:
                _statement(check, name, evaluation, limit, recorded[name])
    return check


def _horizon(
    check: Check, recorded: Mapping[str, Any], edition: str, at: Mapping[str, Any], tolerance: float
) -> None:
    """The terms that vanish with R, anew: at most the tolerance together."""
    left = remaining(edition, at, at["gamma"], at["r_hat"], at["R"], CHECK_BITS)
    for name in ("start", "weights"):
        contains(check, f"horizon: {name}", recorded[name], left.get(name))
    check.require(within(left, tolerance), "horizon: above the tolerance")


def _of_goal(
    check: Check,
    data: Mapping[str, Any],
    goal: Goal,
    known: Mapping[str, Constant],
    used: Mapping[str, Any],
    choice: Mapping[str, Any],
) -> dict[str, tuple[Evaluation, float | None]]:
    """The statements of a plan with Theorem 4.6 or 4.9, evaluated anew, with their limits."""
    edition, targets = data["edition"], data["targets"]
    _consistent(check, bounds.get(goal.bound, edition), known, choice)
    check.require(
        targets["epsilon_ne"] is not None or not goal.both,
        "targets: Theorem 4.6 needs a target for the NE distance",
    )
    at = {**used, **choice}
    start, expected = _start(check, data, goal, used, at)
    full = {**at, goal.start: start}
    for name, limit in ((goal.bound, targets["epsilon"]), (goal.distance, targets["epsilon_ne"])):
        expected[name] = (evaluate(bounds.get(name, edition), full, CHECK_BITS), limit)
    return expected


def constant_from(name: str, item: Mapping[str, Any]) -> Constant:
    """A recorded constant, as the planner knew it."""
    radius = item["radius"]
    value = item["value"]
    if isinstance(value, list):
        value, radius = np.array(value, dtype=float), np.array(radius, dtype=float)
    return Constant(name, value, Provenance(item["provenance"]), radius, item["note"])


def _used(check: Check, known: Mapping[str, Constant], items: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers that are used: each must be the safe end of its constant, and lie in its domain."""
    used: dict[str, Any] = {}
    for name, constant in known.items():
        bounds.SYMBOLS[name].domain.require(name, np.asarray(constant.value, dtype=float))
        safe, stated = safe_end(name, constant), items[name]["used"]
        same = np.array_equal(np.asarray(safe, dtype=float), np.asarray(stated, dtype=float))
        check.require(same, f"constants.{name}: used = {stated}, but the safe end of its enclosure is {safe}")
        used[name] = safe
    return used


def _consistent(
    check: Check, statement: Any, known: Mapping[str, Constant], choice: Mapping[str, Any]
) -> None:
    """H is the plan's; a pair (G, B) that follows from recorded constants follows from them."""
    check.require(
        known["H"].value == choice["H"], f"choice.H = {choice['H']}: constants.H is {known['H'].value}"
    )
    derived: Given = given_for(statement, known, int(choice["H"]))
    for name in ("G", "B"):
        if name in known and name in derived.known:
            same = derived.used[name] <= known[name].value * (1 + _WIDTH)
            check.require(
                bool(same), f"constants.{name} = {known[name].value}: Lemma 6.5 gives {derived.used[name]}"
            )


def _count_or_float(name: str, value: Any) -> Any:
    whole = name in ("H", "r_hat", "R")
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise InputError(
            f"certificate: choice.{name} = {value!r}: give {'an integer' if whole else 'a number'}"
        )
    bounds.SYMBOLS[name].domain.require(name, np.asarray(value, dtype=float))
    return value


def _start(
    check: Check, data: Mapping[str, Any], goal: Goal, used: Mapping[str, Any], at: Mapping[str, Any]
) -> tuple[Fraction, dict[str, tuple[Evaluation, float | None]]]:
    """A rational bound on the start's symbol, anew, and the statement that it came from."""
    start = data["start"]
    check.require(start["symbol"] == goal.start, f"start.symbol = {start['symbol']}: expected {goal.start}")
    check.require(start["power"] == goal.power, f"start.power = {start['power']}: expected {goal.power}")
    mode, value = start["mode"], Fraction(start["value"])
    found: dict[str, tuple[Evaluation, float | None]] = {}
    if mode == "given":
        needed = ball(Fraction(used[goal.start]) ** goal.power)
    elif mode == "a-priori":
        evaluation = evaluate(goal.a_priori(), {n: v for n, v in at.items() if n != goal.start}, CHECK_BITS)
        found[evaluation.statement.id] = (evaluation, None)
        needed = evaluation.total
    elif mode in ("at-once", "warm"):
        needed = ball(used[goal.start_0])
        check.require(
            mode == "warm" or at["r_hat"] == 0, f"start: at-once needs r_hat = 0, not {at['r_hat']}"
        )
    else:
        raise InputError(f"certificate: start.mode = {mode!r}: give given, at-once, warm or a-priori")
    enough = bool(ball(value) >= needed) and bool(ball(value) <= needed * arb(1 + _WIDTH))
    check.require(enough, f"start.value = {float(value):.17g}: it is to be {float(needed):.17g}, rounded up")
    _near(check, "start.about", float(start["about"]), ball(value))
    return StartValue(mode, goal.start, goal.power, value).entering, found


def _statement(
    check: Check, name: str, evaluation: Evaluation, limit: float | None, entry: Mapping[str, Any]
) -> None:
    check.require(
        entry["edition"] == str(evaluation.statement.edition), f"{name}: edition {entry['edition']!r}"
    )
    check.require(entry["limit"] == limit, f"{name}: limit {entry['limit']} is not the target {limit}")
    if limit is not None:
        sure = bool(evaluation.total <= arb(limit))
        check.require(sure, f"{name}: the total {float(evaluation.total):.17g} exceeds its limit {limit}")
    contains(check, f"{name}: total", entry["total"], evaluation.total)
    check.require(set(entry["terms"]) == set(evaluation.terms), f"{name}: terms {sorted(entry['terms'])}")
    for label, value in evaluation.terms.items():
        if label in entry["terms"]:
            contains(check, f"{name}: term {label!r}", entry["terms"][label], value)
    biggest = evaluation.terms.get(entry["binding"])
    tie = arb(1 + _WIDTH)  # two terms equal to the last bit: either may be named
    largest = biggest is not None and not any(v > biggest * tie for v in evaluation.terms.values())
    check.require(largest, f"{name}: {entry['binding']!r} is not the binding term")
    names = [s.name for s in evaluation.sides]
    if not check.require(
        [h["name"] for h in entry["hypotheses"]] == names, f"{name}: hypotheses are not {names}"
    ):
        return
    for side, item in zip(evaluation.sides, entry["hypotheses"], strict=True):
        check.require(side.holds is True, f"{name}: hypothesis {side.name!r} is not proved to hold")
        check.require(item["holds"] is side.holds, f"{name}: {side.name!r}: recorded holds = {item['holds']}")
        for which, value in (("lhs", side.lhs), ("rhs", side.rhs)):
            where = f"{name}: {side.name!r}: {which}"
            contains(check, where, item[f"{which}_within"], value)
            if value is not None and value.is_finite() and item[which] is not None:
                _near(check, where, float(item[which]), value)


def contains(check: Check, where: str, recorded: Any, value: arb | None) -> None:
    """The recorded interval contains the number, and is no wider than rounding explains."""
    if value is None or recorded is None:
        check.require(value is None and recorded is None, f"{where}: recorded {recorded}, computed {value}")
        return
    low, high = (float(end) for end in recorded)
    if not value.is_finite() and not infinite(value):  # a side of which arithmetic knows nothing
        check.require(
            (low, high) == (-math.inf, math.inf), f"{where}: recorded [{low}, {high}], computed nothing"
        )
        return
    beyond = infinite(value)
    if beyond:
        check.require(low == high == beyond, f"{where}: recorded [{low}, {high}], computed {beyond}")
        return
    inside = bool(arb(low) <= value) and bool(arb(high) >= value)
    check.require(inside, f"{where}: recorded [{low:.17g}, {high:.17g}] does not contain {float(value):.17g}")
    tight = (
        low == high or high - low <= _WIDTH * min(abs(low), abs(high)) or max(abs(low), abs(high)) < 1e-300
    )
    check.require(tight, f"{where}: recorded [{low:.17g}, {high:.17g}] is wider than rounding explains")


def _near(check: Check, where: str, recorded: float, value: arb) -> None:
    computed = float(value)
    close = recorded == computed or math.isclose(recorded, computed, rel_tol=_WIDTH)
    check.require(close, f"{where}: recorded {recorded:.17g}, computed {computed:.17g}")
