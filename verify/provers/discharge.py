"""One obligation through the provers, in their fixed order; the first answer stands.

(1) the falsifier, (2) a stored certificate or an identity, (3) slack substitution, (4) the Handelman
program, (5) z3,
(6) calculus; otherwise open. `refuted` always carries a point that was re-substituted exactly, `proved` a
grade.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

import sympy

from bounds.core.step import Expr, Hypothesis, Obligation
from verify.provers import calculus, certificate, falsify, handelman, slack
from verify.provers.nlsat import SECONDS, Solver
from verify.provers.system import NotAlgebraic, System, build, fraction

Point = Mapping[str, Fraction]


class Status(StrEnum):
    """What the machine says of a step."""

    PROVED = "proved"
    REFUTED = "refuted"
    OPEN = "open"


class Grade(StrEnum):
    """How firmly a proof is held."""

    CERTIFICATE = "certificate"
    TWO = "two provers"
    ONE = "one prover"


@dataclass(frozen=True)
class Finding:
    """The verdict on one obligation."""

    status: Status
    prover: str
    grade: Grade | None = None
    counterexample: Point | None = None
    tried: tuple[str, ...] = ()


@dataclass
class Workshop:
    """What the provers share: the z3 process, its time limit, and whether to search or only to re-check."""

    solver: Solver
    seconds: float = SECONDS
    search: bool = True  # look for new certificates; stored ones are re-checked either way

    def close(self) -> None:
        """Ends the z3 process."""
        self.solver.close()


def workshop(*, search: bool = True, seconds: float = SECONDS) -> Workshop:
    """A fresh workshop."""
    return Workshop(Solver(), seconds, search)


def discharge(
    obligation: Obligation,
    shop: Workshop,
    memory: dict[str, Any],
    hints: Sequence[Expr] = (),
    cases: Sequence[Point] = (),
) -> Finding:
    """The verdict on an obligation; `memory` is its stored findings, and receives a new certificate."""
    stored = memory.get("goals")
    known = [{k: Fraction(v) for k, v in memory["refuted"].items()}] if "refuted" in memory else []
    samples, rounds = (300, 0) if stored else (falsify.SAMPLES, falsify.ROUNDS)
    point = falsify.search(obligation, [*known, *cases], samples=samples, rounds=rounds)
    if point is not None:
        memory["refuted"] = {k: str(v) for k, v in point.items()}
        return Finding(Status.REFUTED, "falsifier", counterexample=point)
    memory.pop("refuted", None)
    try:
        system = build(obligation)
    except NotAlgebraic as reason:
        return _transcendental(obligation, shop, str(reason))
    return _algebraic(obligation, system, shop, memory, hints)


def _transcendental(obligation: Obligation, shop: Workshop, reason: str) -> Finding:
    def rational(inner: Obligation) -> bool:
        return discharge(inner, shop, {}).status is Status.PROVED

    if calculus.prove(obligation, rational):
        return Finding(Status.PROVED, "calculus", Grade.ONE)
    return Finding(Status.OPEN, "none", tried=("falsifier", "calculus", reason))


def _algebraic(
    obligation: Obligation, system: System, shop: Workshop, memory: dict[str, Any], hints: Sequence[Expr]
) -> Finding:
    stored = memory.get("goals")
    if stored is not None:
        if len(stored) == len(system.goals) and not any(
            certificate.check(system, g, c) for g, c in zip(system.goals, stored, strict=True)
        ):
            return Finding(Status.PROVED, "stored certificate", Grade.CERTIFICATE)
        memory.pop("goals")
    found = [certificate.trivial(system, goal) for goal in system.goals]
    if all(c is not None for c in found):
        return Finding(Status.PROVED, "identity", Grade.CERTIFICATE)
    by_slack = [c is not None or slack.prove(system, g) for c, g in zip(found, system.goals, strict=True)]
    if shop.search:
        squares = _squares(system, hints)
        found = [c or handelman.prove(system, g, squares) for c, g in zip(found, system.goals, strict=True)]
        if all(c is not None for c in found):
            memory["goals"] = found
            return Finding(Status.PROVED, "Handelman program", Grade.CERTIFICATE)
    return _by_z3(obligation, system, shop, by_slack, [c is not None for c in found])


def _squares(system: System, hints: Sequence[Expr]) -> list[Any]:
    squares = []
    symbols = {s.name: s for h in hints for s in h.free_symbols}
    swap = {
        symbols[name]: sympy.Symbol(base, positive=True) ** degree
        for name, (base, degree) in system.roots.items()
        if name in symbols
    }
    for hint in (h.xreplace(swap) for h in hints):
        if {s.name for s in hint.free_symbols} <= set(system.names):
            squares.append(fraction(hint, system)[0])
    return squares


def _by_z3(
    obligation: Obligation, system: System, shop: Workshop, by_slack: list[bool], certified: list[bool]
) -> Finding:
    """z3 on the goals that are left, or as a second opinion on those that slack substitution settled."""
    if all(s or c for s, c in zip(by_slack, certified, strict=True)) and not shop.search:
        return Finding(Status.PROVED, "slack substitution", Grade.ONE)
    tried = ["falsifier", "slack substitution", "Handelman program"]
    verdicts = []
    for goal, done in zip(system.goals, certified, strict=True):
        if done:
            verdicts.append("certified")
            continue
        verdict, model = shop.solver.ask(system, goal, shop.seconds)
        verdicts.append(verdict)
        if verdict == "sat" and falsify.refutes(obligation, system.point(model)):
            point = {s.name: system.point(model)[s.name] for s in obligation.symbols}
            return Finding(Status.REFUTED, "z3", counterexample=point)
        tried.append(f"z3: {verdict}")
    if all(v in ("unsat", "certified") for v in verdicts):
        grade = Grade.TWO if all(s or c for s, c in zip(by_slack, certified, strict=True)) else Grade.ONE
        return Finding(Status.PROVED, "z3", grade)
    if all(s or c for s, c in zip(by_slack, certified, strict=True)):
        return Finding(Status.PROVED, "slack substitution", Grade.ONE)
    return Finding(Status.OPEN, "none", tried=tuple(tried))


def without(obligation: Obligation, hypothesis: Hypothesis) -> Obligation:
    """The obligation with one hypothesis dropped."""
    return replace(obligation, hypotheses=tuple(h for h in obligation.hypotheses if h is not hypothesis))
