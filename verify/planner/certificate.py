"""The certificate of a plan: what was chosen, what it rests on, and every number that follows, enclosed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from bounds import Provenance, Statement, weakest
from bounds.core.enclosure import ball, precision
from verify.planner.enclosures import (
    WRITE_BITS,
    Evaluation,
    Side,
    evaluate,
    fraction_above,
    infinite,
    outward,
    sides,
)
from verify.planner.given import Given
from verify.verdict import plain

SCHEMA = 1


@dataclass(frozen=True)
class StartValue:
    """What bounds the unknown start of a theorem.

    Args:
        mode: given, at-once, warm or a-priori.
        symbol, power: the name in the theorem, and its power there.
        value: a rational upper bound on symbol^power.
        evaluation: of the statement that gave it (a-priori).
    """

    mode: str
    symbol: str
    power: int
    value: Fraction
    evaluation: Evaluation | None = None

    @property
    def entering(self) -> Fraction:
        """A rational upper bound on the symbol itself, exact where the root is rational at sight."""
        if self.power == 1:
            return self.value
        with precision(WRITE_BITS * 2):
            return fraction_above(ball(self.value).sqrt()) if self.value else Fraction(0)


@dataclass(frozen=True)
class Record:
    """One statement in a certificate: its evaluation against a limit (None: no limit of its own)."""

    evaluation: Evaluation
    limit: float | None

    def holds(self) -> bool:
        """Is the total proved to be at most the limit, and every hypothesis to hold?"""
        within = self.limit is None or bool(self.evaluation.total <= arb(self.limit))
        return within and not self.evaluation.failing

    def to_json(self) -> dict[str, Any]:
        """Total, terms, binding term and hypotheses."""
        e = self.evaluation
        return {
            "id": e.statement.id,
            "edition": str(e.statement.edition),
            "limit": self.limit,
            "total": interval(e.total),
            "terms": {name: interval(value) for name, value in e.terms.items()},
            "binding": e.binding,
            "hypotheses": [hypothesis(s) for s in e.sides],
        }


def interval(x: arb | None) -> list[float | str | None] | None:
    """[lower, upper] as JSON carries it, rounded outwards."""
    return None if x is None else [plain(end) for end in outward(x)]


def hypothesis(side: Side) -> dict[str, Any]:
    """A report's item (name, holds, lhs, rhs), with both sides as enclosures."""

    def middle(x: arb | None) -> float | str | None:
        return None if x is None else plain(float(x.mid()) if x.is_finite() else infinite(x) or math.nan)

    return {
        "name": side.name,
        "holds": side.holds,
        "lhs": middle(side.lhs),
        "rhs": middle(side.rhs),
        "lhs_within": interval(side.lhs),
        "rhs_within": interval(side.rhs),
    }


def records(
    statement: Statement,
    distance: Statement | None,
    constants: Mapping[str, Any],
    start: StartValue | None,
    epsilon: float,
    epsilon_ne: float | None,
    bits: int = WRITE_BITS,
) -> list[Record]:
    """The statements of a plan, evaluated at its choice: the bound, the NE distance, the start."""
    full = dict(constants) | ({start.symbol: start.entering} if start is not None else {})
    found = [Record(evaluate(statement, full, bits), epsilon)]
    if distance is not None:
        found.append(Record(evaluate(distance, full, bits), epsilon_ne))
    if start is not None and start.evaluation is not None:
        found.append(Record(start.evaluation, None))
    return found


def certificate(
    theorem: str,
    edition: str,
    targets: Mapping[str, float | None],
    choice: Mapping[str, Any],
    given: Given,
    start: StartValue | None,
    found: list[Record],
    minimal: Mapping[str, Any],
    insisted: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The certificate as JSON; `insisted`: choices that were the caller's, not the search's."""
    used = {n: c for n, c in given.known.items() if n in given.used and n != "H"}
    strength = weakest(used) if used else Provenance.EXACT
    return {
        "schema": SCHEMA,
        "kind": "plan",
        "theorem": theorem,
        "edition": str(edition),
        "targets": dict(targets),
        "choice": dict(choice),
        "constants": given.to_json(),
        "start": None
        if start is None
        else {
            "mode": start.mode,
            "symbol": start.symbol,
            "power": start.power,
            "value": str(start.value),
            "about": float(start.value),
        },
        "statements": [r.to_json() for r in found],
        "minimal": dict(minimal),
        "insisted": dict(insisted or {}),
        "rests_on": str(strength),
    }


__all__ = ["SCHEMA", "Record", "StartValue", "certificate", "hypothesis", "interval", "records", "sides"]
