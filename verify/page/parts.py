"""Parts of a statement's card: formulas, hypotheses, constants, the proof."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from latex2mathml.converter import convert
from markupsafe import Markup

from bounds import SYMBOLS, Edition, Statement
from verify.auditing import Report
from verify.examine import Finding
from verify.judge import Standing, standings
from verify.provers.discharge import Status


def formulas(encoded: Sequence[Statement]) -> list[dict[str, Any]]:
    """The editions' formulas; those with the same one share a line."""
    shown: dict[str, list[Statement]] = {}
    for statement in encoded:
        shown.setdefault(statement.latex(), []).append(statement)
    return [
        {
            "editions": " = ".join(str(s.edition) for s in same),
            "mathml": Markup(convert(latex, display="block")),
            "note": " ".join(dict.fromkeys(s.note for s in same if s.note)),
        }
        for latex, same in shown.items()
    ]


def proof(report: Report, statement: str) -> list[dict[str, Any]]:
    """Per edition: how many steps of the proof are proved, and every refuted one with its counterexample."""
    shown = []
    standing = standings(report.ledger)
    for edition in Edition:
        steps = [s for s in report.ledger if s.step.statement == statement and s.step.edition == edition]
        if not steps:
            continue
        counts = {status: sum(s.status is status for s in steps) for status in Status}
        refuted = [
            {
                "step": s.step.id,
                "text": s.step.text,
                "point": ", ".join(f"{name} = {value}" for name, value in (s.counterexample or {}).items()),
                "survives": s.survives or "open",
                "repair": s.repair or "none found",
            }
            for s in steps
            if s.status is Status.REFUTED
        ]
        tally = ", ".join(f"{n} {status}" for status, n in counts.items() if n)
        shown.append(
            {
                "edition": str(edition),
                "tally": f"{len(steps)} steps: {tally}",
                "short": _short(counts, standing.get((statement, str(edition)))),
                "refuted": refuted,
            }
        )
    return shown


def _short(counts: dict[Status, int], standing: Standing | None) -> str:
    """The proof in a few words."""
    total = sum(counts.values())
    if counts[Status.PROVED] == total:
        return f"proof ✓ {total}"
    bad = [f"{n} {s}" for s, n in counts.items() if n and s is not Status.PROVED]
    stands = "; stands" if standing is Standing.REPAIRED else ""
    return f"proof: {', '.join(bad)} of {total}{stands}"


def hypotheses(group: Sequence[Finding]) -> list[dict[str, Any]]:
    """The hypotheses of all editions with both sides; the same one on one line."""
    rows: dict[tuple[str, str, str, bool | None], list[str]] = {}
    for finding in group:
        for h in finding.verdict.hypotheses:
            key = (h.name if h.holds is not None else h.text, f"{h.lhs:.6g}", f"{h.rhs:.6g}", h.holds)
            rows.setdefault(key, []).append(finding.verdict.edition)
    marks = {True: "✓ holds", False: "✗ fails", None: "? undecided"}
    return [
        {"text": text, "lhs": lhs, "rhs": rhs, "mark": marks[holds], "editions": ", ".join(editions)}
        for (text, lhs, rhs, holds), editions in rows.items()
    ]


def constants(group: Sequence[Finding]) -> list[dict[str, Any]]:
    """The constants of all editions with their provenance; the same one on one line."""
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for finding in group:
        for name, constant in finding.constants.items():
            value = np.asarray(constant.value)
            shown = f"{float(value):.9g}" if value.ndim == 0 else f"array of {value.size}"
            if value.ndim == 0 and float(np.max(constant.radius)) > 0:
                shown += f" ± {float(np.max(constant.radius)):.1e}"
            rows.setdefault((name, shown, str(constant.provenance), constant.note), []).append(
                finding.verdict.edition
            )
    return [
        {
            "name": name,
            "mathml": Markup(convert(SYMBOLS[name].latex)),
            "value": value,
            "provenance": provenance,
            "note": note,
            "editions": ", ".join(editions),
        }
        for (name, value, provenance, note), editions in rows.items()
    ]
