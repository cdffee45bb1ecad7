"""Steps become reports: every obligation discharged and guarded, refuted steps repaired, survival decided.

Nothing here is written by hand: a status comes from a prover or a re-checked point, `survives` from the
statuses of
the steps that a refuted one names, the repair from a search.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np

from bounds.core.step import Kind, Obligation, Repair, Step
from verify.provers.discharge import Finding, Grade, Status, Workshop, discharge
from verify.provers.evaluate import Irrational, exact, floats
from verify.provers.guards import Guards, guard
from verify.provers.store import Store


@dataclass
class Report:
    """What the ledger says of one step."""

    step: Step
    status: Status
    prover: str
    grade: Grade | None = None
    counterexample: Mapping[str, str] | None = None
    sides: tuple[str, str] | None = None
    refuted_obligation: str = ""
    spare: tuple[str, ...] = ()
    tight: bool = False
    tried: tuple[str, ...] = ()
    seconds: float = 0.0
    repair: str | None = None
    below: str | None = None  # the candidate just before the repair, with the point that refutes it
    survives: str | None = None
    used_by: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    def to_json(self, *, times: bool = True) -> dict[str, Any]:
        """The entry of DESIGN.md; `times` adds the seconds spent."""
        entry: dict[str, Any] = {
            "step": self.step.id,
            "statement": self.step.statement,
            "edition": self.step.edition,
            "status": str(self.status),
            "kind": str(self.step.kind),
            "grade": None if self.grade is None else str(self.grade),
            "prover": self.prover,
            "counterexample": None if self.counterexample is None else dict(self.counterexample),
            "survives": self.survives,
            "sides": None if self.sides is None else list(self.sides),
            "repair": self.repair,
            "below": self.below,
            "spare": list(self.spare),
            "tight": self.tight,
            "text": self.step.text,
            "used_by": list(self.used_by),
        }
        if times:
            entry["seconds"] = round(self.seconds, 4)
        return entry


class Standing(StrEnum):
    """What the steps of a statement's proof say of the statement itself."""

    PROVED = "proved"
    REPAIRED = "stands"  # a step of the proof is refuted, and the statement is proved another way
    OPEN = "open"
    REFUTED = "refuted"


def standings(reports: Iterable[Report]) -> dict[tuple[str, str], Standing]:
    """By statement and edition, in the order of the reports."""
    steps: dict[tuple[str, str], list[Report]] = {}
    for r in reports:
        steps.setdefault((r.step.statement, r.step.edition), []).append(r)
    return {key: _standing(group) for key, group in steps.items()}


def _standing(steps: Sequence[Report]) -> Standing:
    refuted = [r for r in steps if r.status is Status.REFUTED]
    if any(r.survives == "no" for r in refuted):
        return Standing.REFUTED
    if any(r.survives != "yes" for r in refuted) or any(r.status is Status.OPEN for r in steps):
        return Standing.OPEN
    return Standing.REPAIRED if refuted else Standing.PROVED


def judge(steps: Iterable[Step], shop: Workshop, *, read: bool = True) -> list[Report]:
    """Reports on steps, in order; survival is decided among them."""
    stores: dict[str, Store] = {}
    reports = []
    for step in steps:
        store = stores.setdefault(step.statement, Store(step.statement, read=read))
        reports.append(judge_step(step, shop, store))
    conclude(reports)
    return reports


def conclude(reports: Sequence[Report]) -> None:
    """Decides, among all reports, which refuted steps' statements survive, and who uses what."""
    _decide_survival(reports)
    _link(reports)


def judge_step(step: Step, shop: Workshop, store: Store) -> Report:
    """One step: the run, or every obligation and its guards, and a repair when it is refuted."""
    started = time.perf_counter()
    report = _run(step) if step.kind is Kind.RUN else _obligations(step, shop, store)
    if report.status is Status.REFUTED and step.repair is not None:
        report.repair, report.below = _repair(step.repair, step, shop, store)
    report.seconds = time.perf_counter() - started
    return report


def _run(step: Step) -> Report:
    # Checks import the games and the simulator, which no other step needs.
    run = step.run or import_module("verify.experiments.claims").CHECKS[step.check]
    outcome = run()
    prover = "exact run" if step.run else "computation"
    sides = None if outcome.holds is None else (str(outcome.lhs), str(outcome.rhs))
    if outcome.holds is False:
        return Report(step, Status.REFUTED, prover, counterexample=dict(outcome.instance), sides=sides)
    notes = [f"{name}: {value}" for name, value in outcome.instance.items()]
    if outcome.holds and outcome.settles:
        return Report(step, Status.PROVED, prover, Grade.ONE, sides=sides, notes=notes)
    return Report(step, Status.OPEN, prover, sides=sides, tried=(outcome.note,), notes=notes)


def _obligations(step: Step, shop: Workshop, store: Store) -> Report:
    findings: list[Finding] = []
    guards: list[Guards] = []
    for obligation in step.obligations:
        memory = store.get(obligation)
        finding = discharge(obligation, shop, memory, step.hints, step.cases)
        findings.append(finding)
        if finding.status is Status.REFUTED:
            return _refuted(step, obligation, finding)
        if finding.status is Status.PROVED:
            guards.append(guard(obligation, shop, memory, step.cases))
    return _proved_or_open(step, findings, guards)


def _refuted(step: Step, obligation: Obligation, finding: Finding) -> Report:
    point = finding.counterexample or {}
    sides = tuple(_value(side, point) for side in (obligation.claim.lhs, obligation.claim.rhs))
    return Report(
        step,
        Status.REFUTED,
        finding.prover,
        counterexample={k: str(v) for k, v in sorted(point.items())},
        sides=(sides[0], sides[1]),
        refuted_obligation=f"{obligation.name}: {obligation.claim}"
        if obligation.name
        else str(obligation.claim),
    )


def _value(expr: Any, point: Mapping[str, Fraction]) -> str:
    try:
        return str(exact(expr, point))
    except Irrational:
        return f"{float(floats(expr, {k: np.asarray(float(v)) for k, v in point.items()})):.6g}"


def _proved_or_open(step: Step, findings: Sequence[Finding], guards: Sequence[Guards]) -> Report:
    still = [f for f in findings if f.status is Status.OPEN]
    tried = tuple(dict.fromkeys(t for f in still for t in f.tried))
    if still:
        return Report(step, Status.OPEN, "none", tried=tried)
    grades = [f.grade for f in findings if f.grade is not None]
    weakest = max(grades, key=list(Grade).index)
    prover = ", ".join(dict.fromkeys(f.prover for f in findings))
    spare = tuple(
        name
        for name in dict.fromkeys(n for g in guards for n in g.spare)
        if all(name not in (*g.needed, *g.undecided) for g in guards)
    )
    report = Report(
        step, Status.PROVED, prover, weakest, spare=spare, tight=bool(guards) and all(g.tight for g in guards)
    )
    if any(g.satisfiable is not True for g in guards):
        report.status, report.tried = Status.OPEN, ("no point satisfies the hypotheses, as far as we know",)
    elif step.sharp and not report.tight:
        report.status, report.tried = Status.OPEN, ("claimed sharp, but a nudged constant was not refuted",)
    undecided = sorted({n for g in guards for n in g.undecided})
    if undecided:
        report.notes.append(f"need undecided: {', '.join(undecided)}")
    return report


def _repair(repair: Repair, step: Step, shop: Workshop, store: Store) -> tuple[str | None, str | None]:
    """The first candidate that is proved, and the one before it with what speaks against it."""
    before: str | None = None
    for text, obligations in repair.options:
        verdicts = [discharge(o, shop, store.get(o), step.hints, step.cases) for o in obligations]
        if all(v.status is Status.PROVED for v in verdicts):
            return text, before
        bad = next(v for v in verdicts if v.status is not Status.PROVED)
        point = (
            ""
            if bad.counterexample is None
            else " at " + ", ".join(f"{k} = {v}" for k, v in sorted(bad.counterexample.items()))
        )
        before = f"{text}: {bad.status}{point}"
    return None, before


def _decide_survival(reports: Sequence[Report]) -> None:
    """A statement falls with any refuted step that refutes the statement itself; else it stands by proved
    steps."""
    status: dict[str, Status] = {r.step.key: r.status for r in reports}
    refuted = [r for r in reports if r.status is Status.REFUTED]
    fallen = {
        (r.step.statement, r.step.edition)
        for r in refuted
        if any(status.get(k) is Status.REFUTED for k in r.step.fails_by)
    }
    for report in refuted:
        step = report.step
        if (step.statement, step.edition) in fallen:
            report.survives = "no"
        elif step.survives_by and all(status.get(k) is Status.PROVED for k in step.survives_by):
            report.survives = "yes"
        else:
            report.survives = "open"


def _link(reports: Sequence[Report]) -> None:
    """Who uses what: a step is used by those that name it or its statement."""
    for report in reports:
        names = {report.step.key, report.step.id, report.step.statement}
        users = [
            r.step.key
            for r in reports
            if r.step.statement != report.step.statement and names & set(r.step.uses)
        ]
        report.used_by = tuple(dict.fromkeys(users))
