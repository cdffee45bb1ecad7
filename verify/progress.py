"""Progress on standard error: a bar on a terminal; elsewhere a line per stage, and one every half minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from verify.auditing import Progress as Tell

_TELL_EVERY = 30.0


@contextmanager
def progress() -> Iterator[Tell]:
    """A function to tell (what, done, all)."""
    console = Console(stderr=True)
    if not console.is_terminal:
        stages: dict[str, tuple[float, float]] = {}  # when a stage began, and when it was last told

        def line(what: str, done: int, total: int) -> None:
            now = time.monotonic()
            if what not in stages:
                stages[what] = now, now
                print(what, file=sys.stderr, flush=True)
            began, told = stages[what]
            if done and now - told >= _TELL_EVERY:
                stages[what] = began, now
                left = (now - began) / done * (total - done)
                print(f"{what}: {done} of {total}, about {left:.0f} s left", file=sys.stderr, flush=True)

        yield line
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def advance(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield advance
