"""`python -m verify.search`: the instance that makes a statement's observed/bound largest, with its proof."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bounds.on_demand import lazy
from verify.errors import MOST_JOBS, InputError, Parser, integer, run_command
from verify.searching.names import BUDGET, SEARCHABLE, require_searchable

if TYPE_CHECKING:
    from verify.searching.command import describe

__all__ = ["describe", "main", "parser"]
__getattr__, __dir__ = lazy(__name__, {"verify.searching.command": ("describe",)})


def parser() -> argparse.ArgumentParser:
    """The command line of `python -m verify.search`."""
    p = Parser(
        prog="python -m verify.search",
        description="Search for the hypothesis-respecting instance with the largest observed/bound, shrink it, and "
        "prove its ratio. Statements that have a family: " + ", ".join(SEARCHABLE),
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
        "--jobs",
        type=integer("jobs", 1, MOST_JOBS),
        default=os.cpu_count() or 1,
        metavar="J",
        help="processes",
    )
    p.add_argument("--out", type=Path, metavar="FILE", help="write the instance (or the table) there")
    p.add_argument("--json", action="store_true", help="print everything as JSON")
    p.add_argument("--table", action="store_true", help="the table of the stored worst ratios, as Markdown")
    p.add_argument("--recheck", action="store_true", help="prove every stored ratio again")
    p.add_argument("--renew", action="store_true", help="search every statement and replace what is stored")
    return p


def check(options: argparse.Namespace) -> None:
    """Refuse, before the libraries load, what the words alone show to be wrong.

    Raises:
        InputError: for nothing or too much asked, a file that cannot be written, or a statement without a family.
    """
    asked = [bool(x) for x in (options.id, options.table, options.recheck, options.renew)]
    if sum(asked) != 1:
        raise InputError(
            f"give one of a statement (ID), --table, --recheck and --renew; statements: {', '.join(SEARCHABLE)}"
        )
    if options.out is not None:
        _check_file(options.out)
    if options.id:
        require_searchable(options.id)


def _check_file(out: Path) -> None:
    if out.is_dir() or not out.absolute().parent.is_dir() or not os.access(out.absolute().parent, os.W_OK):
        raise InputError(f"--out {out}: give a file in a folder that exists and can be written to")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status as an int."""
    options = parser().parse_args(arguments)
    check(options)
    from verify.searching.command import run  # the work needs the libraries, and seconds to import them

    return run(options)


if __name__ == "__main__":
    run_command(lambda: main(sys.argv[1:]))
