"""The figures of a report: one per instance and statement that could be compared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from bounds import QUANTITIES
from verify.auditing import Audit, Report
from verify.examine import Finding
from verify.observed import Curve
from verify.plots import Envelope, Panel, draw


@dataclass(frozen=True)
class FigureFile:
    """A figure of the report: its file name in `figures/` and its bytes."""

    name: str
    png: bytes


def panels(audit: Audit) -> dict[tuple[str, str], Panel]:
    """What there is to draw of an audit, by instance and statement: one figure a statement that could be compared."""
    name = audit.setup.instance.name
    found = ((statement, _panel(group)) for statement, group in by_statement(audit).items())
    return {(name, statement): panel for statement, panel in found if panel is not None}


def figures(
    report: Report, drawn: Mapping[tuple[str, str], bytes] | None = None
) -> dict[tuple[str, str], FigureFile]:
    """One figure per (instance, statement) that could be compared.

    Args:
        drawn: those that are drawn already.
    """
    ready = drawn or {}
    return {
        key: FigureFile(f"{key[0]}-{slug(key[1])}.png", ready[key] if key in ready else draw(panel))
        for audit in report.audits
        for key, panel in panels(audit).items()
    }


def slug(text: str) -> str:
    """A file name and anchor for a statement's id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def by_statement(audit: Audit) -> dict[str, list[Finding]]:
    """An audit's findings, statement by statement."""
    groups: dict[str, list[Finding]] = {}
    for finding in audit.findings:
        groups.setdefault(finding.verdict.statement, []).append(finding)
    return groups


def _panel(group: Sequence[Finding]) -> Panel | None:
    shown = [f for f in group if f.observation is not None and f.envelope.size]
    if not shown:
        return None
    first = next((f for f in shown if f.verdict.edition != "printed"), shown[0])
    quantity, observation = QUANTITIES[first.statement.quantity], first.observation
    assert observation is not None
    if isinstance(observation, Curve):
        rounds, middle = observation.rounds, observation.values
        low, high, band = middle - observation.error, middle + observation.error, "with its error bound"
    else:
        rounds, middle = observation.horizon, observation.path.mean(axis=0)
        low, high = observation.path.min(axis=0), observation.path.max(axis=0)
        band = f"mean and range of {observation.values.size} seeds"
    fitting = [f for f in shown if f.envelope.size == rounds.size]
    if isinstance(observation, Curve) and _all_zero(observation, [f.envelope for f in fitting]):
        return None
    keep = slice(None)
    if isinstance(observation, Curve):
        keep = _resolved(observation, [f.envelope for f in fitting])
        rounds, middle, low, high = rounds[keep], middle[keep], low[keep], high[keep]
    envelopes = {f.verdict.edition: Envelope(f.envelope_low[keep], f.envelope[keep]) for f in fitting}
    axis = observation.axis if isinstance(observation, Curve) else "R"
    is_error = isinstance(observation, Curve)
    return Panel(rounds, middle, low, high, envelopes, axis, quantity.latex, band, is_error)


def _all_zero(curve: Curve, envelopes: Sequence[Float[np.ndarray, " k"]]) -> bool:
    """Whether nothing is there to see: what is observed and every bound are 0 (a start at N*)."""
    return not np.any(curve.values) and not np.any(envelopes)


def _resolved(curve: Curve, envelopes: Sequence[Float[np.ndarray, " k"]]) -> slice:
    """The rounds worth drawing: until every envelope has sunk below the observation's error, and a little more."""
    above = np.flatnonzero(np.max(envelopes, axis=0) > curve.error)
    last = int(above[-1]) if above.size else 0
    return slice(0, min(curve.rounds.size, max(last + 1 + last // 20, 2)))
