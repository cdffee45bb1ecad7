"""`python -m verify.report`: audit the paper on instances, and write the report."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import bounds
from verify.auditing import Progress, Report, audit, dump, proof_steps
from verify.errata import latex
from verify.errors import (
    EXIT_INTERRUPTED,
    EXIT_STANDS,
    EXIT_VIOLATED,
    InputError,
    Parser,
    integer,
    run_command,
)
from verify.experiments.results import Experiment
from verify.foreign import audit_run
from verify.instance import builtin_instances, load_instance
from verify.output import check_writable, fresh_folder
from verify.page import figures, render, summary
from verify.progress import progress
from verify.schema import Instance


def parser() -> argparse.ArgumentParser:
    """The command line of `python -m verify.report`."""
    p = Parser(
        prog="python -m verify.report",
        description="Check the paper's statements against runs; exit 0 if every corrected and sharp one stands, "
        "1 if one is violated, 2 on bad input.",
    )
    p.add_argument(
        "--instance",
        action="append",
        metavar="NAME|FILE.toml",
        help="default: the profile's built-in instances",
    )
    p.add_argument(
        "--profile",
        choices=("quick", "full"),
        default="quick",
        help="quick (default): within a minute; full: every built-in instance and the paper's experiments",
    )
    p.add_argument(
        "--allow-code", action="store_true", help="let an instance name your own Python class (it is run)"
    )
    p.add_argument(
        "--run",
        metavar="FILE.nc|.csv|.npz",
        help="check a run that another implementation made of one instance",
    )
    p.add_argument("--only", action="append", metavar="ID", help="only this statement (repeatable)")
    p.add_argument("--seeds", type=integer("seeds", 1), metavar="S", help="seeds per instance")
    p.add_argument(
        "--until-decided",
        type=integer("until-decided", 1),
        metavar="BUDGET",
        help="go on until every expectation is decided, with at most BUDGET seeds an instance",
    )
    p.add_argument("--seed", type=integer("seed", 0), metavar="K", help="root of all random streams")
    p.add_argument(
        "--jobs", type=integer("jobs", 1), default=os.cpu_count() or 1, metavar="J", help="processes"
    )
    p.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="default: report")
    return p


def chosen(names: Sequence[str], only: Sequence[str] | None, allow_code: bool = False) -> list[Instance]:
    """The instances to audit: those that check a statement in `only`.

    Raises:
        InputError: for an unknown statement, or one that no named instance checks.
    """
    loaded = [load_instance(name, allow_code=allow_code) for name in names]
    if len({i.name for i in loaded}) < len(loaded):
        raise InputError("two instances have the same name: give each its own")
    if only is None:
        return loaded
    for statement in only:
        if statement not in bounds.ids():
            raise InputError(f"--only {statement!r}: give one of {', '.join(bounds.ids())}")
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
    from verify.experiments import SECTIONS, run_section
    from verify.ledger import run_ledger  # the provers are heavy, and only this needs them

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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status as an int."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(words)
    check_writable(options.out)
    if options.run is not None and options.until_decided is not None:
        raise InputError("--until-decided goes with simulated runs: leave it out with --run")
    if options.run is not None and len(options.instance or ()) != 1:
        raise InputError(f"--run {options.run}: give the one instance that was run with --instance")
    named = options.instance or builtin_instances(None if options.profile == "full" else "quick")
    instances = chosen(named, options.only, options.allow_code)
    sources = {
        load_instance(name, allow_code=options.allow_code).name: _select(name, options) for name in named
    }
    with progress() as tell:
        if options.run is not None:
            report = audit_run(instances[0], options.run, only=options.only, progress=tell)
        else:
            report = audit(
                instances,
                seeds=options.seeds,
                root_seed=options.seed,
                jobs=options.jobs,
                only=options.only,
                progress=tell,
                until_decided=options.until_decided is not None,
                budget=options.until_decided,
            )
        if report.partial and not report.audits:
            raise KeyboardInterrupt
        whole = options.instance is None and options.only is None
        experiments: tuple[Experiment, ...] = ()
        if not report.partial:
            report, experiments = _the_paper(report, options, tell) if whole else (_proofs(report, tell), ())
        tell("drawing and writing", 0, 1)
        command = shlex.join(["python", "-m", "verify.report", *words])
        write(report, options.out, command, sources, experiments)
    if report.partial:
        print("Interrupted: this is what was finished, and the rest was not checked.")
    print(summary(report))
    print(f"report: {options.out / 'report.html'}")
    if report.partial:
        return EXIT_INTERRUPTED
    return EXIT_STANDS if report.stands else EXIT_VIOLATED


if __name__ == "__main__":
    run_command(main)
