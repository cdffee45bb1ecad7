"""The work of `python -m verify.report`: choose, audit, judge the proof steps, draw and write."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simulate.parallel import Beside, Failed, beside, local
from verify.auditing import Audit, Progress, Report, audit, dump, proof_steps
from verify.errata import latex
from verify.errors import EXIT_INTERRUPTED, EXIT_STANDS, EXIT_VIOLATED, InputError
from verify.experiments.results import Experiment
from verify.foreign import audit_run
from verify.instance import builtin_instances, load_instance
from verify.judge import Report as ProofStep
from verify.output import fresh_folder
from verify.page import figures, panels, render, summary
from verify.plots import Panel, draw
from verify.progress import progress
from verify.schema import Instance
from verify.setup import checks

LEDGER = "ledger"


def chosen(names: Sequence[str], only: Sequence[str] | None, allow_code: bool = False) -> list[Instance]:
    """The instances to audit: those that check a statement in `only`.

    Raises:
        InputError: for a statement that no named instance checks.
    """
    loaded = [load_instance(name, allow_code=allow_code) for name in names]
    if len({i.name for i in loaded}) < len(loaded):
        raise InputError("two instances have the same name: give each its own")
    if only is None:
        return loaded
    for statement in only:
        if not any(statement in i.check.statements for i in loaded):
            raise InputError(f"--only {statement!r}: none of {', '.join(i.name for i in loaded)} checks it")
    return [i for i in loaded if set(i.check.statements) & set(only)]


def write(
    report: Report,
    out: Path,
    command: str,
    sources: dict[str, str],
    experiments: Sequence[Experiment] = (),
    drawn: Mapping[tuple[str, str], bytes] | None = None,
) -> None:
    """Write report.html, report.json, figures/ and (with a ledger) errata.tex into `out`, all or nothing.

    Args:
        drawn: the figures that are drawn already, by instance and statement.
    """
    shown = figures(report, drawn)
    files = {f.name: f.png for f in shown.values()}
    files |= {f"{d.name}.png": d.png for e in experiments for d in e.drawings}
    page = render(report, shown, command, sources, experiments)
    data = dump(report, [f"figures/{name}" for name in files])
    with fresh_folder(out) as folder:
        (folder / "figures").mkdir()
        for name, png in files.items():
            (folder / "figures" / name).write_bytes(png)
        (folder / "report.html").write_text(page, "utf-8")
        (folder / "report.json").write_text(data, "utf-8")
        if report.ledger:
            (folder / "errata.tex").write_text(latex(report.ledger), "utf-8")


def _select(name: str, options: argparse.Namespace) -> str:
    """The arguments that select one instance and the numbers that were overridden."""
    words = ["--instance", name, *(["--allow-code"] if options.allow_code else [])]
    words += ["--seeds", str(options.seeds)] if options.seeds is not None else []
    words += ["--seed", str(options.seed)] if options.seed is not None else []
    if options.until_decided is not None:
        words += ["--until-decided", str(options.until_decided)]
    words += ["--run", options.run] if options.run is not None else []
    return shlex.join(words)


@dataclass(frozen=True)
class Proofs:
    """The task of judging the proof steps of some statements, or (None) of all."""

    statements: tuple[str, ...] | None


def made(_: None, task: Panel | Proofs) -> bytes | tuple[ProofStep, ...]:
    """What a report needs beside its audits: a figure's bytes, or judged proof steps."""
    if isinstance(task, Panel):
        return draw(task)
    if task.statements is not None:
        return proof_steps(task.statements)
    from verify.ledger_run import run_ledger  # the provers are heavy, and only this needs them

    return tuple(run_ledger())


def _proofs(instances: Sequence[Instance], options: argparse.Namespace) -> Proofs:
    """All of them where the whole paper is audited, else those of the statements that are checked."""
    if options.instance is None and options.only is None:
        return Proofs(None)
    checked = (statement for i in instances for statement, _ in checks(i))
    return Proofs(tuple(s for s in dict.fromkeys(checked) if options.only is None or s in options.only))


def _audited(
    instances: Sequence[Instance],
    options: argparse.Namespace,
    tell: Progress,
    finished: Callable[[Audit], None],
) -> Report:
    """The audits of a report.

    Raises:
        KeyboardInterrupt: if none was finished.
    """
    if options.run is not None:
        report = audit_run(instances[0], options.run, only=options.only, progress=tell)
        for done in report.audits:
            finished(done)
        return report
    report = audit(
        instances,
        seeds=options.seeds,
        root_seed=options.seed,
        jobs=options.jobs,
        only=options.only,
        progress=tell,
        until_decided=options.until_decided is not None,
        budget=options.until_decided,
        finished=finished,
    )
    if report.partial and not report.audits:
        raise KeyboardInterrupt
    return report


def _experiments(options: argparse.Namespace, tell: Progress) -> tuple[Experiment, ...]:
    """The paper's own, where the whole paper is audited in the full profile."""
    from verify.experiments import SECTIONS
    from verify.experiments.running import run_section

    if options.profile != "full" or options.instance is not None or options.only is not None:
        return ()
    found: list[Experiment] = []
    for section in SECTIONS:
        found += run_section(section, options.seed or 0, tell)
    return tuple(found)


def _values(aside: Beside[Any, Panel | Proofs]) -> dict[Any, Any]:
    found = aside.values()
    for value in found.values():
        if isinstance(value, Failed):
            raise value.exception()
    return found


def run(options: argparse.Namespace, words: Sequence[str]) -> int:
    """Make the report that the command line asks for; the exit status as an int.

    Args:
        words: the command line as it was given, for the page.
    """
    named = options.instance or builtin_instances(None if options.profile == "full" else "quick")
    instances = chosen(named, options.only, options.allow_code)
    sources = {
        load_instance(name, allow_code=options.allow_code).name: _select(name, options) for name in named
    }
    with progress() as tell, beside(made, None, local(options.jobs)) as aside:
        aside.give(LEDGER, _proofs(instances, options))  # the longest, and it needs no audit

        def draw_beside(done: Audit) -> None:
            for key, panel in panels(done).items():
                aside.give(key, panel)

        report = _audited(instances, options, tell, draw_beside)
        experiments: tuple[Experiment, ...] = ()
        drawn: dict[Any, Any] = {}
        if not report.partial:
            try:
                experiments = _experiments(options, tell)
                tell("re-checking the proof steps and drawing", 0, 1)
                drawn = _values(aside)
                report = replace(report, ledger=drawn.pop(LEDGER))
            except KeyboardInterrupt:  # what is finished is kept
                report = replace(report, partial=True)
        tell("writing", 0, 1)
        command = shlex.join(["python", "-m", "verify.report", *words])
        write(report, options.out, command, sources, experiments, drawn)
    if report.partial:
        print("Interrupted: this is what was finished, and the rest was not checked.")
    print(summary(report))
    print(f"report: {options.out / 'report.html'}")
    if report.partial:
        return EXIT_INTERRUPTED
    return EXIT_STANDS if report.stands else EXIT_VIOLATED
