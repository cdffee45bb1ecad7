"""The work of `python -m verify.report`: choose, audit, judge the proof steps, draw and write."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from verify.auditing import Progress, Report, audit, dump, proof_steps
from verify.errata import latex
from verify.errors import EXIT_INTERRUPTED, EXIT_STANDS, EXIT_VIOLATED, InputError
from verify.experiments.results import Experiment
from verify.foreign import audit_run
from verify.instance import builtin_instances, load_instance
from verify.output import fresh_folder
from verify.page import figures, render, summary
from verify.progress import progress
from verify.schema import Instance


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
) -> None:
    """Write report.html, report.json, figures/ and (with a ledger) errata.tex into `out`, all or nothing."""
    drawn = figures(report)
    files = {f.name: f.png for f in drawn.values()}
    files |= {f"{d.name}.png": d.png for e in experiments for d in e.drawings}
    page = render(report, drawn, command, sources, experiments)
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


def _proofs(report: Report, tell: Progress) -> Report:
    return replace(report, ledger=proof_steps(report, tell))


def _the_paper(
    report: Report, options: argparse.Namespace, tell: Progress
) -> tuple[Report, tuple[Experiment, ...]]:
    """The whole ledger and, in the full profile, the paper's experiments; Ctrl-C keeps what is finished."""
    from verify.experiments import SECTIONS
    from verify.experiments.running import run_section
    from verify.ledger_run import run_ledger  # the provers are heavy, and only this needs them

    experiments: list[Experiment] = []
    try:
        tell("re-checking every proof step", 0, 1)
        report = replace(report, ledger=tuple(run_ledger()))
        if options.profile == "full":
            for section in SECTIONS:
                experiments += run_section(section, options.seed or 0, tell)
    except KeyboardInterrupt:
        report = replace(report, partial=True)
    return report, tuple(experiments)


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
    with progress() as tell:
        if options.run is not None:
            made = audit_run(instances[0], options.run, only=options.only, progress=tell)
        else:
            made = audit(
                instances,
                seeds=options.seeds,
                root_seed=options.seed,
                jobs=options.jobs,
                only=options.only,
                progress=tell,
                until_decided=options.until_decided is not None,
                budget=options.until_decided,
            )
        if made.partial and not made.audits:
            raise KeyboardInterrupt
        whole = options.instance is None and options.only is None
        experiments: tuple[Experiment, ...] = ()
        if not made.partial:
            made, experiments = _the_paper(made, options, tell) if whole else (_proofs(made, tell), ())
        tell("drawing and writing", 0, 1)
        command = shlex.join(["python", "-m", "verify.report", *words])
        write(made, options.out, command, sources, experiments)
    if made.partial:
        print("Interrupted: this is what was finished, and the rest was not checked.")
    print(summary(made))
    print(f"report: {options.out / 'report.html'}")
    if made.partial:
        return EXIT_INTERRUPTED
    return EXIT_STANDS if made.stands else EXIT_VIOLATED
