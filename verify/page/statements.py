"""One card per statement: its outcome in every edition over all instances, and all that this rests on."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

import bounds
from bounds import QUANTITIES, Edition, Kind, Statement
from verify.auditing import Audit, Report
from verify.examine import Finding
from verify.judge import Standing, standings
from verify.page.figures import FigureFile, by_statement, slug
from verify.page.parts import constants, formulas, hypotheses, proof
from verify.plots import DPI, SIZE
from verify.searching.store import stored
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

# Over several instances the first of these that occurs is shown: one violation refutes, one instance inside the
# hypotheses is more than none.
_FIRST = (
    Outcome.VIOLATED,
    Outcome.HOLDS,
    Outcome.INCONCLUSIVE,
    Outcome.VACUOUS,
    Outcome.HYPOTHESIS_FAILS,
)

_VERB = {
    Kind.BOUND: "Bounds:",
    Kind.IDENTITY: "An identity:",
    Kind.IMPLICATION: "Concludes:",
    Kind.PREDICATE: "Assumes:",
    Kind.ORDER: "An order, not a guarantee:",
    Kind.CLAIM: "Reports:",
}


def statement_cards(
    report: Report, drawn: dict[tuple[str, str], FigureFile], sources: dict[str, str]
) -> list[dict[str, Any]]:
    """The cards in the paper's order: every statement that was checked or whose proof was judged."""
    checked = {f.verdict.statement for f in report.findings} | {s.step.statement for s in report.ledger}
    refuted = refutations(report)
    return [_card(report, s, drawn, sources, refuted) for s in bounds.ids() if s in checked]


def refutations(report: Report) -> dict[tuple[str, str], str]:
    """The statements that are known to be false, whatever these runs show, and by what.

    An assumption is not false but met or not met by a run, which its own outcome says.
    """
    found = {
        key: "by a worst instance" for key, worst in stored().items() if worst.outcome == Outcome.VIOLATED
    }
    proved = {
        key: "by an exact counterexample"
        for key, s in standings(report.ledger).items()
        if s is Standing.REFUTED
    }
    return {key: by for key, by in {**found, **proved}.items() if not key[0].startswith("Assumption")}


def _card(
    report: Report,
    statement: str,
    drawn: dict[tuple[str, str], FigureFile],
    sources: dict[str, str],
    refuted: dict[tuple[str, str], str],
) -> dict[str, Any]:
    editions = bounds.editions(statement)
    encoded = [bounds.get(statement, e) for e in editions]
    groups = [(a, by_statement(a).get(statement, [])) for a in report.audits]
    groups = [(audit, group) for audit, group in groups if group]
    proofs = proof(report, statement)
    steps = {part["edition"]: part["short"] for part in proofs}
    found = [f.verdict for _, group in groups for f in group]
    cells = [
        _cell(
            statement,
            str(e),
            str(e) in editions,
            [v for v in found if v.edition == e],
            steps.get(str(e), ""),
            refuted.get((statement, str(e)), ""),
        )
        for e in Edition
    ]
    return {
        "id": statement,
        "anchor": slug(statement),
        "sentence": _sentence(encoded),
        "source": encoded[0].source.rstrip("."),
        "cells": cells,
        "formulas": formulas(encoded),
        "runs": [_on_instance(a, statement, group, drawn, sources) for a, group in groups],
        "searched": any(cell["worst"] for cell in cells),
        "proof": proofs,
    }


def _sentence(encoded: Sequence[Statement]) -> str:
    """What the statement says something about, in one line (without what differs by edition)."""
    meanings = {QUANTITIES[s.quantity].meaning for s in encoded}
    meaning = sorted(meanings)[0]
    if len(meanings) > 1:
        meaning = meaning.split(", average with ")[0].split(", p_")[0]
    return f"{_VERB[encoded[0].kind]} {meaning}"


def _cell(
    statement: str, edition: str, exists: bool, verdicts: Sequence[Verdict], steps: str, refuted: str
) -> dict[str, Any]:
    """One edition over all instances. What is refuted elsewhere never shows as one that holds: its badge says so."""
    outcome = next((o for o in _FIRST if any(v.outcome is o for v in verdicts)), None)
    same = sum(v.outcome is outcome for v in verdicts)
    ratios = [r for r in map(_ratio, verdicts) if r is not None]
    return {
        "edition": edition,
        "outcome": outcome,
        "glyph": GLYPHS[outcome] if outcome else "",
        "refuted": "" if outcome is Outcome.VIOLATED else refuted,
        "absent": "not run" if exists else "no such edition",
        "count": f"{same} of {len(verdicts)}" if len(verdicts) > 1 else "",
        "ratio": f"{max(ratios):.3g}" if ratios else "",
        "steps": steps,
        "worst": _worst(statement, edition),
    }


def _worst(statement: str, edition: str) -> dict[str, Any] | None:
    """The largest observed/bound that the adversarial search proved, and the command that finds it again."""
    found = stored().get((statement, edition))
    if found is None:
        return None
    command = f"python -m verify.search '{statement}' --edition {edition} --seed {found.seed} --budget {found.budget}"
    return {"ratio": f"{found.largest:.4g}", "instance": found.instance, "command": command}


def _ratio(verdict: Verdict) -> float | None:
    return None if verdict.margin is None else 1 - verdict.margin


def _on_instance(
    audit: Audit,
    statement: str,
    group: Sequence[Finding],
    drawn: dict[tuple[str, str], FigureFile],
    sources: dict[str, str],
) -> dict[str, Any]:
    instance = audit.setup.instance
    figure = drawn.get((instance.name, statement))
    meaning = QUANTITIES[group[0].statement.quantity].meaning
    return {
        "name": instance.name,
        "anchor": f"{slug(statement)}-{slug(instance.name)}",
        "title": instance.title or instance.name,
        "verdicts": list(_sentences(f.verdict for f in group)),
        "figure": _figure(figure, statement, meaning) if figure else None,
        "hypotheses": hypotheses(group),
        "constants": constants(group),
        "command": f"python -m verify.report {sources[instance.name]} --only '{statement}'",
    }


def _sentences(verdicts: Iterable[Verdict]) -> Iterable[dict[str, Any]]:
    for v in verdicts:
        parts = []
        if v.observed is not None and v.bound is not None:
            where = "" if v.round is None else f" at round {v.round}"
            parts.append(f"observed {v.observed:.6g} against {v.bound:.6g}{where}")
        if v.margin is not None:
            parts.append(f"margin {v.margin:.3g}")
        parts.append(v.reason)
        if v.confidence is not None:
            parts.append(str(v.rigor))
        text = "; ".join(p for p in parts if p)
        yield {
            "edition": v.edition,
            "outcome": v.outcome,
            "glyph": GLYPHS[v.outcome],
            "sentence": f"{text}." if text else "",
        }


def _figure(figure: FigureFile, statement: str, meaning: str) -> dict[str, Any]:
    return {
        "data": "data:image/png;base64," + base64.b64encode(figure.png).decode("ascii"),
        "alt": f"{statement}: {meaning}, observed and bounds, log scale",
        "width": int(SIZE[0] * DPI),
        "height": int(SIZE[1] * DPI),
        "caption": f"{meaning.capitalize()}: the run (black) and the bounds of each edition. figures/{figure.name}",
    }
