"""The ledger for a terminal: a table a statement, the errata, and everything about one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from verify.judge import Report, Standing, standings
from verify.provers.discharge import Status


def table(reports: Sequence[Report]) -> str:
    """Statement by statement, then the errata and the totals."""
    lines: list[str] = []
    for (statement, edition), group in groupby(reports, key=lambda r: (r.step.statement, r.step.edition)):
        lines += ["", f"{statement} ({edition})"]
        for r in group:
            grade = str(r.grade) if r.grade else ""
            spare = f"  spare: {'; '.join(r.spare)}" if r.spare else ""
            lines.append(
                f"  {r.step.id.rsplit('/', 1)[1]:>3} {r.status:8} {grade:12} {1000 * r.seconds:7.1f} ms "
                f" {r.step.text}{spare}"
            )
    return "\n".join([*lines, "", *errata(reports), "", *statements(reports), "", *totals(reports)])


def errata(reports: Iterable[Report]) -> list[str]:
    """Each refuted step with its counterexample, whether the statement survives, its repair and who uses
    it."""
    lines = ["Errata"]
    for r in reports:
        if r.status is Status.REFUTED:
            lines += _erratum(r)
    return lines if len(lines) > 1 else ["Errata: none"]


def _erratum(r: Report) -> list[str]:
    lines = [f"  {r.step.key}: {r.step.text}"]
    if r.counterexample is not None:
        lines.append(f"      fails at {point(r.counterexample)}")
    if r.sides is not None:
        lines.append(f"      left side {r.sides[0]}, right side {r.sides[1]}")
    lines.append(f"      the statement survives: {r.survives}")
    if r.repair:
        lines.append(f"      least repair found (proved): {r.repair}")
    if r.below:
        lines.append(f"      the candidate before it: {r.below}")
    if r.used_by:
        lines.append(f"      used by: {', '.join(r.used_by)}")
    return lines


def statements(reports: Iterable[Report]) -> list[str]:
    """The statements that are refuted, that stand by another proof, and that stay open."""
    words = {
        Standing.REFUTED: "refuted",
        Standing.REPAIRED: "a step of the proof is refuted, the statement is proved another way",
        Standing.OPEN: "open",
    }
    found = standings(reports)
    lines = []
    for standing, what in words.items():
        names = [f"{statement} ({edition})" for (statement, edition), s in found.items() if s is standing]
        if names:
            lines.append(f"{what}: {', '.join(names)}")
    return lines or ["every statement stands with every step proved"]


def point(values: Mapping[str, str]) -> str:
    """A counterexample on one line."""
    return ", ".join(f"{k} = {v}" for k, v in values.items())


def totals(reports: Sequence[Report]) -> list[str]:
    """Counts per edition, and the share of the not refuted steps that is proved."""
    lines = []
    for edition in ("printed", "corrected", "sharp"):
        chosen = [r for r in reports if r.step.edition == edition]
        if chosen:
            counts = {s: sum(r.status is s for r in chosen) for s in Status}
            lines.append(
                f"{edition}: {len(chosen)} steps, {counts[Status.PROVED]} proved, "
                f"{counts[Status.REFUTED]} refuted, {counts[Status.OPEN]} open"
            )
    true = [r for r in reports if r.status is not Status.REFUTED]
    proved = sum(r.status is Status.PROVED for r in true)
    if true:
        lines.append(f"of the {len(true)} steps not refuted, {100 * proved / len(true):.1f}% are proved")
    return lines


def explain(reports: Sequence[Report]) -> str:
    """Everything about the chosen steps."""
    return "\n\n".join("\n".join(_explained(r)) for r in reports)


def _explained(r: Report) -> list[str]:
    lines = [f"{r.step.key}  ({r.step.kind}; {r.step.source})", f"  {r.step.text}"]
    for o in r.step.obligations:
        lines.append(f"  to prove{f' [{o.name}]' if o.name else ''}: {o.claim}")
        lines += [f"      given {h.name}: {h.relation}" for h in o.hypotheses]
    lines.append(
        f"  {r.status}"
        + (f" by {r.prover}" if r.prover != "none" else "")
        + (f", {r.grade}" if r.grade else "")
    )
    lines.append(f"  tight: {'yes' if r.tight else 'no'}; spare hypotheses: {'; '.join(r.spare) or 'none'}")
    lines += [f"  {note}" for note in r.notes]
    if r.step.uses:
        lines.append(f"  rests on: {', '.join(r.step.uses)}")
    if r.tried:
        lines.append(f"  tried: {'; '.join(r.tried)}")
    if r.status is Status.REFUTED:
        lines += _erratum(r)[1:]
    lines.append(f'  again: python -m verify.ledger --explain "{r.step.key}"')
    return lines


def kills(result: Mapping[str, Any]) -> str:
    """The kill rate of the mutation run, and the survivors with the reason."""
    total, killed, steps = result["mutants"], result["killed"], result["steps"]
    rate = 100 * killed / max(total, 1)
    lines = [f"{killed} of {total} mutants of {steps} tight steps killed: {rate:.1f}%"]
    for s in result["survivors"]:
        lines.append(f"  survivor: {s['step']}: {s['mutation']}: {s['why']}")
    return "\n".join(lines)
