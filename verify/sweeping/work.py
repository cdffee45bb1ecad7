"""What a worker computes: one instance audited, or planned for; pure functions of data that fits in a message."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import bounds
from bounds import Constant
from verify.auditing import run_seeds
from verify.errors import InputError
from verify.examine import Finding, examine_all
from verify.planner.cost import cost_of
from verify.planner.errors import NoPlan
from verify.planner.goals import GOALS, limits_of
from verify.planner.instance import constants_of, require_unbiased
from verify.planner.making import make_plan
from verify.planner.names import THEOREMS
from verify.schema import Instance
from verify.setup import build, checks
from verify.sweeping.engine import engine_version
from verify.verdict import plain

PRELOAD = ("simulate.preload",)
_NAME = "instance"  # a result does not depend on what an instance is called
# What a plan does not depend on: it chooses these itself, or does not run anything.
_CHOSEN: dict[str, Any] = {
    "gamma": 1e-12, "gamma_tilde": "largest", "r_hat": 0, "R": 1, "closed_form": False
}  # fmt: skip
_NO_TARGETS: dict[str, float | None] = {"epsilon": None, "epsilon_gap": None}


@dataclass(frozen=True)
class Unit:
    """A piece of work: an audit (`epsilon` None) or the plans for a target.

    Attributes:
        instance: canonical JSON.
        key: a hash of all that the result depends on.
    """

    key: str
    instance: str
    epsilon: float | None = None


@dataclass(frozen=True)
class Error:
    """Why a unit has no result."""

    text: str


def audit_unit(instance: Instance, level: float) -> Unit:
    """The audit of an instance, each statistical verdict at `level`."""
    text = canonical(instance)
    return Unit(_key("audit", text, level), text)


def plan_unit(instance: Instance, epsilon: float) -> Unit:
    """The plans of an instance's checked statements for a target."""
    algorithm = instance.algorithm.model_copy(update=_CHOSEN)
    text = canonical(instance.model_copy(update={"algorithm": algorithm, "run": type(instance.run)()}))
    return Unit(_key("plan", text, epsilon), text, epsilon)


def canonical(instance: Instance) -> str:
    """An instance as JSON, without what names or describes it."""
    table = instance.model_dump(mode="json", exclude={"name", "title", "report"})
    return json.dumps(table | {"name": _NAME}, sort_keys=True, separators=(",", ":"))


def _key(kind: str, text: str, number: float) -> str:
    content = f"{kind}\n{engine_version()}\n{number!r}\n{text}"
    return hashlib.sha256(content.encode()).hexdigest()[:40]


def compute(shared: tuple[str, float], units: tuple[Unit, ...]) -> list[tuple[str, Any]]:
    """Each unit's key with its result, or `Error`.

    Args:
        shared: the engine version that the keys were made with, and the level of a statistical verdict.

    Raises:
        InputError: if this worker runs another version: its results would stand under the wrong keys.
    """
    engine, level = shared
    if engine != engine_version():
        raise InputError(
            "a worker has another version of the code or its libraries: install the same everywhere"
        )
    return [(unit.key, _computed(unit, level)) for unit in units]


def _computed(unit: Unit, level: float) -> Any:
    try:
        instance = Instance.model_validate_json(unit.instance)
        return audited(instance, level) if unit.epsilon is None else planned(instance, unit.epsilon)
    except InputError as error:
        return Error(str(error).removeprefix(f"{_NAME}: "))
    except Exception as error:  # whatever it is, the other instances go on, and the table says so
        return Error(f"{type(error).__name__}: {' '.join(str(error).split())}")


def audited(instance: Instance, level: float) -> dict[str, Any]:
    """The verdicts of an instance and the constants that they rest on, as JSON."""
    setup = build(instance)
    run = run_seeds(setup, 1, lambda what, done, total: None)
    findings = list(examine_all(setup, run, (bounds.get(*pair) for pair in checks(instance)), level))
    shared = _scalars(setup.shared)
    return {
        "constants": shared,
        "rounds": setup.config.R,
        "gradients": setup.config.T_R * (setup.config.batch if setup.config.sampling != "full" else 1),
        "rows": [_row(finding, shared) for finding in findings],
    }


def _row(finding: Finding, shared: Mapping[str, Any]) -> dict[str, Any]:
    verdict = finding.verdict
    own = {n: v for n, v in _scalars(finding.constants).items() if shared.get(n) != v}
    row = {
        "statement": verdict.statement,
        "edition": str(verdict.edition),
        "outcome": str(verdict.outcome),
        "rigor": str(verdict.rigor),
        "observed": plain(verdict.observed),
        "bound": plain(verdict.bound),
        "round": verdict.round,
        "fails": "; ".join(h.name for h in verdict.hypotheses if h.holds is False),
        "reason": verdict.reason,
        "own": own,
    }
    return {name: value for name, value in row.items() if value not in (None, "", {})}


def _scalars(constants: Mapping[str, Constant]) -> dict[str, Any]:
    return {
        name: plain(float(np.asarray(c.value)))
        for name, c in sorted(constants.items())
        if np.asarray(c.value).ndim == 0
    }


def planned(instance: Instance, epsilon: float) -> list[dict[str, Any]]:
    """For each checked statement that a plan can rest on: the rounds and their cost, or why there is no plan."""
    require_unbiased(instance)
    known = constants_of(instance)
    plans = []
    for theorem, edition in dict.fromkeys((theorem_of(s), e) for s, e in checks(instance)):
        if theorem is None:
            continue
        entry: dict[str, Any] = {"theorem": theorem, "edition": str(edition)}
        choices: dict[str, Any] = {} if theorem.startswith("Lemma") else {"H": instance.algorithm.H}
        try:
            plan = make_plan(known.constants, epsilon, theorem, str(edition), **choices)
        except (NoPlan, InputError, bounds.UnknownStatement) as reason:
            entry["note"] = str(reason)
        else:
            cost = cost_of(plan, known.setup.problem.n)
            entry |= {"R": plan.R, "gradients": cost.gradients, "bytes_up": cost.bytes_up}
        plans.append(entry)
    return plans


def theorem_of(statement: str) -> str | None:
    """The theorem of `verify.plan` whose plans hold a statement's bound to the target, if there is one."""
    for theorem in THEOREMS:
        goal = GOALS.get(theorem)
        held = (goal.bound, goal.distance) if goal else tuple(limits_of(theorem, _NO_TARGETS))
        if statement in held:
            return theorem
    return None


def level_of(alpha: float, verdicts: int) -> float:
    """The level of each of at most `verdicts` statistical verdicts, so that all together err with probability at most
    `alpha`; as alpha over a power of two, so that a grid that grows a little keeps its results."""
    return alpha / 2 ** math.ceil(math.log2(max(verdicts, 1)))
