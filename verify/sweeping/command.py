"""The work of `python -m verify.sweep`: run the grid, go on where the last run stopped, write what was found."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

from simulate.parallel import WorkersLost
from verify.errors import EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_STANDS, EXIT_VIOLATED, InputError
from verify.output import fresh_folder
from verify.parallel import chosen_workers
from verify.progress import progress
from verify.sweeping.folder import CACHE, MARKER, PAGE, WORST, check_folder
from verify.sweeping.page import write_page
from verify.sweeping.points import Grid, load_grid
from verify.sweeping.running import Progressed, Run
from verify.sweeping.store import Store, open_store
from verify.sweeping.table import CSV, PARQUET, write_table


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


def run(options: argparse.Namespace) -> int:
    """Run the sweep that the options ask for; the exit status as an int."""
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
