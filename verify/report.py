"""`python -m verify.report`: audit the paper on instances, and write the report."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import bounds
from bounds.forking import start_server
from bounds.on_demand import lazy
from verify.errors import MOST_JOBS, InputError, Parser, integer, run_command
from verify.instance_files import read_instance
from verify.output import check_writable

if TYPE_CHECKING:
    from verify.reporting import chosen, write

__all__ = ["chosen", "main", "parser", "write"]
__getattr__, __dir__ = lazy(__name__, {"verify.reporting": ("chosen", "write")})


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
        "--jobs",
        type=integer("jobs", 1, MOST_JOBS),
        default=os.cpu_count() or 1,
        metavar="J",
        help="processes",
    )
    p.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="default: report")
    return p


def check(options: argparse.Namespace) -> None:
    """Refuse, before the libraries load, what the words alone show to be wrong.

    Raises:
        InputError: for an output folder, an instance's file or a statement that cannot be used, or options that
            exclude each other.
    """
    check_writable(options.out)
    if options.run is not None and options.until_decided is not None:
        raise InputError("--until-decided goes with simulated runs: leave it out with --run")
    if options.run is not None and len(options.instance or ()) != 1:
        raise InputError(f"--run {options.run}: give the one instance that was run with --instance")
    for name in options.instance or ():
        read_instance(name)
    for statement in options.only or ():
        if statement not in bounds.ids():
            raise InputError(f"--only {statement!r}: give one of {', '.join(bounds.ids())}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status as an int."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(words)
    check(options)
    if options.jobs > 1:
        start_server("verify.reporting", "verify.ledger_run", "simulate.parallel", "simulate.preload")
    from verify.reporting import run  # the work needs the libraries, and seconds to import them

    return run(options, words)


if __name__ == "__main__":
    run_command(main)
