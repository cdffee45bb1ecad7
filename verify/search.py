"""`python -m verify.search`: the instance that makes a statement's observed/bound largest, with its proof."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import bounds
from verify.errors import (
    EXIT_INTERRUPTED,
    EXIT_STANDS,
    EXIT_VIOLATED,
    InputError,
    Parser,
    integer,
    run_command,
)
from verify.progress import progress
from verify.searching.store import FILE, Stored, stored, table, write
from verify.searching.worst import BUDGET, Worst, known_statement, searchable, worst_case

_WIDER = 1e-9  # a ratio made again agrees with the stored one to this


def parser() -> argparse.ArgumentParser:
    """The command line of `python -m verify.search`."""
    p = Parser(
        prog="python -m verify.search",
        description="Search for the hypothesis-respecting instance with the largest observed/bound, shrink it, and "
        "prove its ratio. Statements that have a family: " + ", ".join(searchable()),
    )
    p.add_argument("id", nargs="?", metavar="ID", help="a statement, as 'Theorem 4.9(i-1)'")
    p.add_argument(
        "--edition", default="corrected", metavar="E", help="printed, corrected (default) or sharp"
    )
    p.add_argument("--seed", type=integer("seed", 0), default=0, metavar="K", help="of the random choices")
    p.add_argument(
        "--budget", type=integer("budget", 1), default=BUDGET, metavar="N", help="evaluations of the ratio"
    )
    p.add_argument(
        "--jobs", type=integer("jobs", 1), default=os.cpu_count() or 1, metavar="J", help="processes"
    )
    p.add_argument("--out", type=Path, metavar="FILE", help="write the instance (or the table) there")
    p.add_argument("--json", action="store_true", help="print everything as JSON")
    p.add_argument("--table", action="store_true", help="the table of the stored worst ratios, as Markdown")
    p.add_argument("--recheck", action="store_true", help="prove every stored ratio again")
    p.add_argument("--renew", action="store_true", help="search every statement and replace what is stored")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status as an int."""
    options = parser().parse_args(arguments)
    asked = [bool(x) for x in (options.id, options.table, options.recheck, options.renew)]
    if sum(asked) != 1:
        raise InputError(
            f"give one of a statement (ID), --table, --recheck and --renew; statements: {', '.join(searchable())}"
        )
    if options.out is not None:
        _check_file(options.out)
    if options.table:
        return _show(table(list(stored().values())), options.out)
    if options.recheck:
        return _recheck(list(stored().values()))
    if options.renew:
        return _renew(options)
    known_statement(options.id, options.edition)
    with progress() as tell:
        worst = worst_case(
            options.id, options.edition, seed=options.seed, budget=options.budget, jobs=options.jobs, progress=tell
        )  # fmt: skip
    if options.out is not None:
        options.out.write_text(worst.instance, "utf-8")
    print(json.dumps(worst.to_json(), indent=1) if options.json else describe(worst, options.out))
    return EXIT_INTERRUPTED if worst.partial else EXIT_STANDS


def describe(worst: Worst, out: Path | None) -> str:
    """The result for a person: the ratio, what it means, the instance."""
    lines = [
        f"{worst.statement}, {worst.edition}: observed/bound = {worst.ratio:.10g} ({worst.verdict.outcome}: "
        f"{worst.verdict.reason})",
        f"before shrinking {worst.searched:.10g}; {worst.evaluations} evaluations from seed {worst.seed}"
        + ("; interrupted, the worst so far" if worst.partial else ""),
    ]
    lines += ["", worst.instance] if out is None else [f"instance: {out}"]
    return "\n".join(lines).rstrip()


def _check_file(out: Path) -> None:
    if out.is_dir() or not out.absolute().parent.is_dir() or not os.access(out.absolute().parent, os.W_OK):
        raise InputError(f"--out {out}: give a file in a folder that exists and can be written to")


def _show(text: str, out: Path | None) -> int:
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, "utf-8")
    return EXIT_STANDS


def _recheck(items: list[Stored]) -> int:
    """Prove every stored ratio again; 1 if one is not what it was."""
    failed = 0
    for item in items:
        made = item.recheck()
        found = item.recheck_found()
        good = _same(made.low, item.ratio) and str(made.verdict.outcome) == item.outcome
        good &= found is None or _same(found.low, item.searched)
        failed += not good
        print(
            f"{'proved' if good else 'DIFFERS'}  {item.statement}, {item.edition}: {made.low:.10g}, {item.outcome}"
        )
    return EXIT_VIOLATED if failed else EXIT_STANDS


def _same(x: float, y: float) -> bool:
    return abs(x - y) <= _WIDER * abs(y)


def _renew(options: argparse.Namespace) -> int:
    winners: list[Worst] = []
    with progress() as tell:
        for statement in searchable():
            for edition in bounds.editions(statement):
                worst = worst_case(
                    statement, str(edition), seed=options.seed, budget=options.budget, jobs=options.jobs, progress=tell
                )  # fmt: skip
                if worst.partial:
                    raise KeyboardInterrupt  # half a table would replace a whole one
                winners.append(worst)
    write(winners, options.out or Path(__file__).parent / "searching" / FILE)
    return EXIT_STANDS


if __name__ == "__main__":
    run_command(lambda: main(sys.argv[1:]))
