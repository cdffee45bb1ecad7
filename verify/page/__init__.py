"""The page people read: `report.html`, self-contained, and the figures beside it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import bounds
from bounds import Edition, Provenance
from verify.auditing import Audit, Report, versions
from verify.examine import CLAIMS
from verify.experiments.results import Experiment
from verify.page.experiments import experiment_card
from verify.page.figures import FigureFile, figures, panels
from verify.page.statements import IN_WORDS, refutations, statement_cards
from verify.verdict import Outcome, Rigor

__all__ = ["FigureFile", "figures", "panels", "render", "summary"]


def render(
    report: Report,
    drawn: dict[tuple[str, str], FigureFile],
    command: str,
    sources: dict[str, str],
    experiments: Sequence[Experiment] = (),
) -> str:
    """The page as one HTML text without any outside reference.

    Args:
        command: the command that made the report.
        sources: for each instance's name, the arguments that select it, for the line that reproduces a verdict.
        experiments: the paper's own, run (profile full).
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
        ledger=bool(report.ledger),
        alpha=report.alpha,
        editions=[str(e) for e in Edition],
        statements=statement_cards(report, drawn, sources),
        experiments=[experiment_card(e) for e in experiments],
        instances=[_instance(audit) for audit in report.audits],
        command=command,
        versions=", ".join(f"{name} {number}" for name, number in versions().items()),
    )


def summary(report: Report) -> str:
    """The page's first sentence: what is violated, what stands."""
    verdicts = [f.verdict for f in report.findings]
    if not verdicts:
        return "Nothing was run."
    broken = {(v.statement, str(v.edition)) for v in verdicts if v.outcome is Outcome.VIOLATED}
    counts = {outcome: sum(v.outcome is outcome for v in verdicts) for outcome in Outcome}
    tally = ", ".join(f"{n} {IN_WORDS[outcome]}" for outcome, n in counts.items() if n)
    known = _elsewhere(report, broken)
    if not broken:
        return f"No statement is violated on these instances: of {len(verdicts)} checks, {tally}.{known}"
    names, verb = _named(broken)
    stands = _stands({edition for _, edition in broken})
    doubt = _doubt(report)
    finding = f"{names} {verb} violated by a run that respects every hypothesis. {stands}{doubt}."
    return f"{finding} Of {len(verdicts)} checks: {tally}.{known}"


def _named(found: Collection[tuple[str, str]]) -> tuple[str, str]:
    """Statements in the paper's order, edition by edition, and their verb."""
    ids = bounds.ids()
    parts = []
    for edition in Edition:
        *more, last = [s for s in ids if (s, edition) in found] or [""]
        if last:
            parts.append(f"{', '.join(more)}{' and ' if more else ''}{last} as {edition}")
    return "; ".join(parts), "is" if len(found) == 1 else "are"


def _elsewhere(report: Report, broken: set[tuple[str, str]]) -> str:
    """The checked statements that no run here breaks and that are refuted all the same."""
    checked = {(f.verdict.statement, str(f.verdict.edition)) for f in report.findings}
    found = [key for key in refutations(report) if key in checked and key not in broken]
    if not found:
        return ""
    names, verb = _named(found)
    return f" Exact counterexamples refute more than these runs do: {names} {verb} false."


def _stands(broken: set[str]) -> str:
    """What stands, given the editions that some run violates."""
    if not broken - {Edition.PRINTED}:
        return "Every corrected and sharp edition stands"
    if Edition.CORRECTED not in broken:
        return "Every corrected edition stands, a sharp one does not"
    return "Not even the corrected edition stands"


def _doubt(report: Report) -> str:
    """What the violations of corrected and sharp editions rest on, where that is somebody's word or an estimate."""
    broken = [
        f
        for f in report.findings
        if f.verdict.outcome is Outcome.VIOLATED and f.verdict.edition != Edition.PRINTED
    ]
    given = {
        n for f in broken for n, c in f.constants.items() if n in CLAIMS and c.provenance is Provenance.GIVEN
    }
    if given:
        return f", if the instance's claims are true ({', '.join(sorted(given))} taken as given)"
    if broken and all(f.verdict.rigor is Rigor.INDICATIVE for f in broken):
        return ", as far as estimates show"
    return ""


def _instance(audit: Audit) -> dict[str, Any]:
    instance = audit.setup.instance
    return {
        "name": instance.name,
        "title": instance.title or instance.name,
        "description": _description(audit),
        "tally": _tally(audit),
    }


def _tally(audit: Audit) -> str:
    counts = {o: sum(f.verdict.outcome is o for f in audit.findings) for o in Outcome}
    return ", ".join(f"{n} {IN_WORDS[o]}" for o, n in counts.items() if n)


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
        f"N* = ({', '.join(f'{v:.6g}' for v in setup.equilibrium.N)}) {_within(setup.equilibrium.error_bound)}."
    )


def _within(error: float) -> str:
    """How exactly a point is known."""
    return f"to within {error:.1e}" if error else "exactly"
