"""`python -m verify.sweep`: audit a grid of instances, and write the table and the page."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from bounds.forking import start_server
from verify.errors import MOST_JOBS, InputError, Parser, integer, run_command
from verify.sweeping.folder import check_folder
from verify.sweeping.share import WHOLE, Share

MOST_POINTS = 100_000


def parser() -> argparse.ArgumentParser:
    """The command line of `python -m verify.sweep`."""
    p = Parser(
        prog="python -m verify.sweep",
        description="Audit every instance of a grid. Exit 0 if all is well, 1 if a corrected or sharp statement is "
        "violated somewhere, 2 on bad input, 3 if some instance could not be audited or workers were lost (run the "
        "same command again to go on), 130 on Ctrl-C.",
    )
    p.add_argument("grid", type=Path, metavar="GRID.toml")
    p.add_argument("--out", type=Path, metavar="DIR", help="default: sweep-NAME, after the grid's name")
    p.add_argument(
        "--jobs",
        type=integer("jobs", 1, MOST_JOBS),
        default=os.cpu_count() or 1,
        metavar="J",
        help="processes",
    )
    where = p.add_mutually_exclusive_group()
    where.add_argument(
        "--scheduler", type=_address, metavar="tcp://HOST:PORT", help="compute on the Dask cluster there"
    )
    where.add_argument(
        "--cluster", type=_count, metavar="N", help="compute on a local Dask cluster of N workers"
    )
    again = p.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on where the last run stopped (the default)")
    again.add_argument("--fresh", action="store_true", help="forget what DIR holds, and compute all anew")
    p.add_argument(
        "--max-points", type=_count, default=MOST_POINTS, metavar="N", help=f"default: {MOST_POINTS}"
    )
    p.add_argument(
        "--share", type=_share, default=WHOLE, metavar="I/N",
        help="compute only the I-th of N parts; then put the parts' cache files together, and run without --share",
    )  # fmt: skip
    return p


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: give an integer >= 1")
    return int(text)


def _address(text: str) -> str:
    """Checked here, because Dask's client leaves a traceback behind when it cannot read an address."""
    if not re.fullmatch(r"(?:[a-z]+://)?(?:\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):[0-9]{1,5}", text):
        raise argparse.ArgumentTypeError(f"--scheduler {text}: give tcp://HOST:PORT")
    return text


def _share(text: str) -> Share:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"{text}: give I/N with 1 <= I <= N")
    return Share(int(found[1]), int(found[2]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status as an int."""
    options = parser().parse_args(list(sys.argv[1:] if arguments is None else arguments))
    if find_spec("pyarrow") is None:
        raise InputError("a sweep's table needs pyarrow: pip install 'boundaudit[sweep]'")
    if options.out is not None:
        check_folder(options.out)
    if options.jobs > 1 and options.scheduler is None and options.cluster is None:
        start_server("verify.sweeping.work", "simulate.parallel", "simulate.preload")
    from verify.sweeping.command import run  # the work needs the libraries, and seconds to import them

    return run(options)


if __name__ == "__main__":
    run_command(main)
