"""`python -m verify.sweep`: audit a grid of instances, and write the table and the page."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from simulate.parallel import Processes, WorkersLost
from verify.errors import (
    EXIT_INCOMPLETE,
    EXIT_INTERRUPTED,
    EXIT_STANDS,
    EXIT_VIOLATED,
    InputError,
    Parser,
    run_command,
)
from verify.output import fresh_folder
from verify.parallel import chosen_workers
from verify.progress import progress
from verify.sweeping.page import write_page
from verify.sweeping.points import Grid, load_grid
from verify.sweeping.running import Progressed, Run, Share
from verify.sweeping.store import Store, open_store
from verify.sweeping.table import CSV, PARQUET, write_table
from verify.sweeping.work import compute

MOST_POINTS = 100_000
MARKER, PAGE, CACHE, WORST = "sweep.json", "sweep.html", "cache", "worst"


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
    p.add_argument("--jobs", type=_count, default=os.cpu_count() or 1, metavar="J", help="processes")
    where = p.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="tcp://HOST:PORT", help="compute on the Dask cluster there")
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
        "--share", type=_share, default=Share(), metavar="I/N",
        help="compute only the I-th of N parts; then put the parts' cache files together, and run without --share",
    )  # fmt: skip
    return p


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: give an integer >= 1")
    return int(text)


def _share(text: str) -> Share:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"{text}: give I/N with 1 <= I <= N")
    return Share(int(found[1]), int(found[2]))


def check_folder(out: Path) -> None:
    """Refuse a folder that holds something else, before any work.

    Raises:
        InputError: if `out` is a file, or a folder with other files in it.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: give a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise InputError(f"--out {out} holds other files: give a new folder, or one of an earlier sweep")


def mark(grid: Grid, out: Path) -> None:
    """Makes `out` a sweep's folder, and says in it what is swept.

    Raises:
        InputError: if it cannot be written to.
    """
    content = {"schema": 1, "grid": grid.file.model_dump(mode="json", exclude_none=True), "points": len(grid)}
    try:
        out.mkdir(parents=True, exist_ok=True)
        _replace(out / MARKER, json.dumps(content, indent=1) + "\n")
    except OSError as error:
        raise InputError(f"--out {out} cannot be written: {error.strerror}") from None


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, "utf-8")
    os.replace(beside, path)


def write(grid: Grid, store: Store, done: Progressed, out: Path) -> tuple[str, bool]:
    """Writes the table, the page and the worst instances, each complete or not at all; the summary, and whether no
    corrected or sharp statement is violated."""
    with fresh_folder(out / "written") as folder:
        write_table(grid, store, done.errors, folder)
        summary, stands = write_page(grid, folder / PARQUET, folder / PAGE, folder / WORST)
    written = out / "written"
    shutil.rmtree(out / WORST, ignore_errors=True)
    for name in (PARQUET, CSV, PAGE, WORST):
        os.replace(written / name, out / name)
    written.rmdir()
    return summary, stands


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status as an int."""
    options = parser().parse_args(list(sys.argv[1:] if arguments is None else arguments))
    if find_spec("pyarrow") is None:
        raise InputError("a sweep's table needs pyarrow: pip install 'boundaudit[sweep]'")
    if options.jobs > 1 and not (options.scheduler or options.cluster):
        Processes(options.jobs).prepare(compute)  # the workers' imports take as long as reading a large grid
    grid = load_grid(options.grid, options.max_points)
    out: Path = options.out or Path(f"sweep-{grid.file.name}")
    check_folder(out)
    mark(grid, out)
    with open_store(out / CACHE, options.fresh) as store:
        if store.corrupted:
            print(f"{store.corrupted} corrupted entries in {out / CACHE}: computed again", file=sys.stderr)
        try:
            with (
                chosen_workers(options.jobs, options.scheduler, options.cluster) as workers,
                progress() as tell,
            ):
                done = Run(grid, store, workers, tell, options.share)()
        except KeyboardInterrupt:
            print(
                f"interrupted: what is finished is kept in {out}; the same command goes on", file=sys.stderr
            )
            return EXIT_INTERRUPTED
        except WorkersLost as lost:
            print(
                f"error: {lost}: what is finished is kept in {out}; the same command goes on", file=sys.stderr
            )
            return EXIT_INCOMPLETE
        if options.share.count > 1:
            print(
                f"{done.computed} computed, {done.found} found: put {out / CACHE}'s files together with the others'"
            )
            return EXIT_INCOMPLETE if done.errors else EXIT_STANDS
        summary, stands = write(grid, store, done, out)
    print(summary)
    print(f"{done.computed} computed, {done.found} found, {len(done.errors)} failed")
    print(f"page: {out / PAGE}; table: {out / PARQUET}, {out / CSV}")
    if not stands:
        return EXIT_VIOLATED
    return EXIT_INCOMPLETE if done.errors else EXIT_STANDS


if __name__ == "__main__":
    run_command(main)
