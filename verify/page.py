"""The page people read: `report.html`, self-contained, and the figures beside it."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from jaxtyping import Float
from jinja2 import Environment, PackageLoader, StrictUndefined
from latex2mathml.converter import convert
from markupsafe import Markup

from bounds import QUANTITIES, SYMBOLS, Edition
from verify.audit import Audit, Report, versions
from verify.check import Finding
from verify.observed import Curve
from verify.plots import DPI, SIZE, Panel, draw
from verify.provers.discharge import Status
from verify.verdict import Outcome, Verdict

GLYPHS = {
    Outcome.HOLDS: "✓",
    Outcome.VIOLATED: "✗",
    Outcome.INCONCLUSIVE: "?",
    Outcome.HYPOTHESIS_FAILS: "∅",
    Outcome.VACUOUS: "○",
}

IN_WORDS = {
    Outcome.HOLDS: "hold",
    Outcome.VIOLATED: "violated",
    Outcome.INCONCLUSIVE: "undecided",
    Outcome.HYPOTHESIS_FAILS: "outside the hypotheses",
    Outcome.VACUOUS: "vacuous",
}


@dataclass(frozen=True)
class FigureFile:
    """A figure of the report: its file name in `figures/` and its bytes."""

    name: str
    png: bytes


def figures(report: Report) -> dict[tuple[str, str], FigureFile]:
    """One figure per (instance, statement) that could be compared."""
    found: dict[tuple[str, str], FigureFile] = {}
    for audit in report.audits:
        for statement, group in _by_statement(audit).items():
            panel = _panel(group)
            if panel is not None:
                name = audit.setup.instance.name
                found[name, statement] = FigureFile(f"{name}-{slug(statement)}.png", draw(panel))
    return found


def render(
    report: Report, drawn: dict[tuple[str, str], FigureFile], command: str, sources: dict[str, str]
) -> str:
    """The page as one HTML text without any outside reference.

    Args:
        command: the command that made the report.
        sources: for each instance's name, the arguments that select it, for the line that reproduces a verdict.
    """
    environment = Environment(
        loader=PackageLoader("verify"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    css = (resources.files("verify") / "templates" / "report.css").read_text("utf-8")
    return environment.get_template("report.html.j2").render(
        title="Does the theorem hold where you use it?",
        summary=summary(report),
        css=Markup(css),
        partial=report.partial,
        alpha=report.alpha,
        instances=[
            _instance(audit, drawn, sources[audit.setup.instance.name], report) for audit in report.audits
        ],
        command=command,
        versions=", ".join(f"{name} {number}" for name, number in versions().items()),
    )


def summary(report: Report) -> str:
    """The page's first sentence: what is violated, what stands."""
    verdicts = [f.verdict for f in report.findings]
    broken = sorted({(v.statement, v.edition) for v in verdicts if v.outcome is Outcome.VIOLATED})
    counts = {outcome: sum(v.outcome is outcome for v in verdicts) for outcome in Outcome}
    tally = ", ".join(f"{n} {IN_WORDS[outcome]}" for outcome, n in counts.items() if n)
    if not broken:
        return f"No statement is violated on these instances: of {len(verdicts)} checks, {tally}."
    names = " and ".join(f"{statement} as {edition}" for statement, edition in broken)
    verb = "is" if len(broken) == 1 else "are"
    stands = (
        "Every corrected and sharp edition stands"
        if report.stands
        else "Not even the corrected edition stands"
    )
    finding = f"{names} {verb} violated by a run that respects every hypothesis. {stands}."
    return f"{finding} Of {len(verdicts)} checks: {tally}."


def slug(text: str) -> str:
    """A file name and anchor for a statement's id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _by_statement(audit: Audit) -> dict[str, list[Finding]]:
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
    envelopes = {f.verdict.edition: f.envelope for f in shown if f.envelope.size == rounds.size}
    if isinstance(observation, Curve):
        keep = _resolved(observation, envelopes)
        rounds, middle, low, high = rounds[keep], middle[keep], low[keep], high[keep]
        envelopes = {edition: values[keep] for edition, values in envelopes.items()}
    axis = observation.axis if isinstance(observation, Curve) else "R"
    is_error = isinstance(observation, Curve)
    return Panel(rounds, middle, low, high, envelopes, axis, quantity.latex, band, is_error)


def _resolved(curve: Curve, envelopes: dict[str, Float[np.ndarray, " k"]]) -> slice:
    """The rounds worth drawing: until every envelope has sunk below the observation's error, and a little more."""
    above = np.flatnonzero(np.max(list(envelopes.values()), axis=0) > curve.error)
    last = int(above[-1]) if above.size else 0
    return slice(0, min(curve.rounds.size, max(last + 1 + last // 20, 2)))


def _instance(
    audit: Audit, drawn: dict[tuple[str, str], FigureFile], source: str, report: Report
) -> dict[str, Any]:
    instance = audit.setup.instance
    groups = _by_statement(audit)
    editions = [str(e) for e in Edition if any(f.verdict.edition == e for f in audit.findings)]
    return {
        "name": instance.name,
        "title": instance.title or instance.name,
        "description": _description(audit),
        "editions": editions,
        "rows": [
            _row(audit, s, group, editions, drawn, source) | {"proof": _proof(report, s)}
            for s, group in groups.items()
        ],
    }


def _description(audit: Audit) -> str:
    setup, c = audit.setup, audit.setup.config
    how = (
        "solved in closed form"
        if setup.closed_form
        else f"{len(c.seed_indices)} seeds from root seed {c.root_seed}, sampling {c.sampling}, batch {c.batch}"
    )
    return (
        f"m = {setup.game.m} clients, H = {c.H} local steps, R = {c.R} rounds, r̂ = {c.r_hat}, "
        f"γ = {c.gamma:.6g}, γ̃ = {c.gamma_tilde:.6g}; {how}. "
        f"N* = ({', '.join(f'{v:.6g}' for v in setup.equilibrium.N)}) to within {setup.equilibrium.error_bound:.1e}."
    )


def _row(
    audit: Audit,
    statement: str,
    group: Sequence[Finding],
    editions: Sequence[str],
    drawn: dict[tuple[str, str], FigureFile],
    source: str,
) -> dict[str, Any]:
    name = audit.setup.instance.name
    by_edition = {f.verdict.edition: f for f in group}
    figure = drawn.get((name, statement))
    quantity = QUANTITIES[group[0].statement.quantity]
    return {
        "statement": statement,
        "anchor": f"{name}-{slug(statement)}",
        "meaning": quantity.meaning,
        "source": group[0].statement.source.rstrip("."),
        "cells": [_cell(e, by_edition.get(e)) for e in editions],
        "formulas": _formulas(group),
        "figure": _figure(figure, statement, quantity.meaning) if figure else None,
        "hypotheses": _hypotheses(group),
        "constants": _constants(group),
        "command": f"python -m verify.report {source} --only '{statement}'",
    }


def _cell(edition: str, finding: Finding | None) -> dict[str, Any]:
    if finding is None:
        return {"edition": edition, "verdict": None}
    verdict = finding.verdict
    ratio = ""
    if verdict.observed is not None and verdict.bound:
        ratio = f"{verdict.observed / verdict.bound:.3g}"
    return {
        "edition": edition,
        "verdict": verdict,
        "glyph": GLYPHS[verdict.outcome],
        "ratio": ratio,
        "sentence": _sentence(verdict),
    }


def _sentence(v: Verdict) -> str:
    parts = []
    if v.observed is not None and v.bound is not None:
        parts.append(f"observed {v.observed:.6g} against {v.bound:.6g} at round {v.round}")
    if v.margin is not None:
        parts.append(f"margin {v.margin:.3g}")
    parts.append(v.reason)
    if v.confidence is not None:
        parts.append(str(v.rigor))
    return "; ".join(p for p in parts if p) + "."


def _formulas(group: Sequence[Finding]) -> list[dict[str, Any]]:
    """Editions with the same right-hand side share one line."""
    shown: dict[str, list[Finding]] = {}
    for finding in group:
        shown.setdefault(finding.statement.latex(), []).append(finding)
    return [
        {
            "editions": " = ".join(f.verdict.edition for f in same),
            "mathml": Markup(convert(latex, display="block")),
            "note": " ".join(dict.fromkeys(f.statement.note for f in same if f.statement.note)),
        }
        for latex, same in shown.items()
    ]


def _figure(figure: FigureFile, statement: str, meaning: str) -> dict[str, Any]:
    return {
        "data": "data:image/png;base64," + base64.b64encode(figure.png).decode("ascii"),
        "alt": f"{statement}: {meaning}, observed and bounds, log scale",
        "width": int(SIZE[0] * DPI),
        "height": int(SIZE[1] * DPI),
        "caption": f"{meaning.capitalize()}: the run (black) and the bounds of each edition. figures/{figure.name}",
    }


def _proof(report: Report, statement: str) -> list[dict[str, Any]]:
    """Per edition: how many steps of the proof are proved, and every refuted one with its counterexample."""
    shown = []
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
        shown.append({"edition": str(edition), "tally": f"{len(steps)} steps: {tally}", "refuted": refuted})
    return shown


def _hypotheses(group: Sequence[Finding]) -> list[dict[str, Any]]:
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


def _constants(group: Sequence[Finding]) -> list[dict[str, Any]]:
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
