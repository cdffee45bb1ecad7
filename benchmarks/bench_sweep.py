"""A sweep's speed, overhead and traffic, and what they project for a cluster.

    python benchmarks/bench_sweep.py [--instances N] [--json FILE] [--docs]

`--docs` writes the projection in docs/sweeps.md anew, from these figures (or those of --json, if it exists): the page
holds them, and a test compares it with them.

Runs N instances of the grid examples/sweeps/sweep.toml (64 seeds, m = 5, n = 20, R = 200) spread over all of it, in
one process and in two, each from an empty store. Run it on a quiet machine: the wall times need two free cores.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from simulate.parallel import InProcess, Processes, Workers, results
from verify.sweeping.engine import engine_version
from verify.sweeping.points import Grid, load_grid
from verify.sweeping.running import BLOCK, level
from verify.sweeping.store import open_store
from verify.sweeping.work import Unit, audit_unit, compute

GRID = Path(__file__).parents[1] / "examples" / "sweeps" / "sweep.toml"
DOCS = Path(__file__).parents[1] / "docs" / "sweeps.md"
MARKER = "<!-- projection -->"
EMPTY_TASKS = 200
QUIET = 0.9  # of a core
MILLION, WORKERS = 10**6, 1_000


def nothing(shared: tuple[str, float], units: tuple[Unit, ...]) -> list[tuple[str, None]]:
    """A task of a sweep's size that computes nothing."""
    return [(unit.key, None) for unit in units]


@dataclass(frozen=True)
class Pass:
    """One pass over the instances: wall seconds from the first task to the last result, stored bytes, rows."""

    wall: float
    bytes: int
    rows: int


def blocks_of(units: list[Unit]) -> list[tuple[Unit, ...]]:
    """Units in tasks of the default size."""
    return [tuple(units[i : i + BLOCK]) for i in range(0, len(units), BLOCK)]


def measure(units: list[Unit], shared: tuple[str, float], workers: Workers) -> Pass:
    """Audits `units` into an empty store; the workers have imported and compiled what they need before."""
    blocks = blocks_of(units)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder)) as store:
        began, size, rows = time.perf_counter(), 0, 0
        for _, found in results(compute, shared, enumerate(blocks), workers):
            for key, value in found:
                size += store.add(key, value)
                rows += len(value["rows"])
        return Pass(time.perf_counter() - began, size, rows)


def overhead(units: list[Unit], shared: tuple[str, float], workers: Workers) -> tuple[float, float]:
    """Wall seconds that a task of the default size costs besides its computation, and the driver's CPU seconds."""
    block = blocks_of(units)[0]
    stream = results(nothing, shared, ((i, block) for i in range(EMPTY_TASKS + 1)), workers)
    next(stream)  # the workers are there
    wall, spent = time.perf_counter(), time.process_time()
    for _ in stream:
        pass
    return (time.perf_counter() - wall) / EMPTY_TASKS, (time.process_time() - spent) / EMPTY_TASKS


def start_seconds(units: list[Unit], shared: tuple[str, float], workers: Workers) -> float:
    """Seconds until fresh workers have done one task of one instance: processes, imports, compilation."""
    began = time.perf_counter()
    list(results(compute, shared, [(0, (units[0],))], workers))
    return time.perf_counter() - began


def spread(grid: Grid, count: int) -> list[Unit]:
    """`count` audits spread over a grid."""
    each, step = level(grid), max(len(grid) // count, 1)
    return [audit_unit(grid.point(i).instance, each) for i in range(0, len(grid), step)][:count]


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--instances", type=int, default=120)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    if options.docs and options.json is not None and options.json.exists():
        figures = json.loads(options.json.read_text("utf-8"))
    else:
        figures = measured(options.instances)
    for name, value in figures.items():
        print(f"{name:34s} {value:.6g}")
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    if options.docs:
        write_section(figures)


def measured(count: int) -> dict[str, float]:
    """All figures, measured on `count` instances."""
    grid = load_grid(GRID, 10**6)
    began = time.perf_counter()
    units = spread(grid, count)
    reading = (time.perf_counter() - began) / len(units)
    shared = engine_version(), level(grid)
    compute(shared, (units[0],))  # imports and compiles, as every worker does once
    spent = time.process_time()
    one = measure(units, shared, InProcess())
    spent = time.process_time() - spent
    start = start_seconds(units, shared, Processes(2))
    again = start_seconds(units, shared, Processes(2))  # forked from a process that has imported all
    two = measure(units, shared, Processes(2))
    ready = two.wall - again + one.wall / len(units)  # one instance is computed in both
    task, driver = overhead(units, shared, Processes(2))
    task_bytes = len(pickle.dumps((compute, shared, blocks_of(units)[0])))
    figures = {
        "instances": len(units),
        "cpu_seconds_an_instance": spent / len(units),
        "core_share": spent / one.wall,
        "reading_seconds_an_instance": reading,
        "wall_1": one.wall,
        "wall_2": ready,
        "start_2": start,
        "speed_up": one.wall / ready,
        "speed_up_with_start": one.wall / (ready + start),
        "overhead_seconds_a_task": task,
        "driver_cpu_seconds_a_task": driver,
        "overhead_share": task / (BLOCK * one.wall / len(units)),
        "result_bytes_a_row": one.bytes / one.rows,
        "result_bytes_an_instance": one.bytes / len(units),
        "task_bytes": task_bytes,
        "task_bytes_an_instance": task_bytes / BLOCK,
    }
    return figures | projection(figures)


def projection(figures: dict[str, float]) -> dict[str, float]:
    """10^6 such instances on 1,000 workers: hours of computing, and what passes through the driver."""
    core_hours = MILLION * figures["cpu_seconds_an_instance"] / 3600
    hours = core_hours / WORKERS
    tasks = MILLION / BLOCK
    return {
        "million_core_hours": core_hours,
        "million_minutes_on_1000": 60 * hours,
        "million_tasks_a_second": tasks / (3600 * hours),
        "million_driver_busy_share": tasks * figures["driver_cpu_seconds_a_task"] / (3600 * hours),
        "million_gigabytes_out": MILLION * figures["task_bytes_an_instance"] / 1e9,
        "million_gigabytes_back": MILLION * figures["result_bytes_an_instance"] / 1e9,
    }


def write_section(figures: dict[str, float]) -> None:
    """Replaces what docs/sweeps.md says from its marker on."""
    kept = DOCS.read_text("utf-8").partition(MARKER)[0]
    DOCS.write_text(kept + generated(figures), "utf-8")


def generated(figures: dict[str, float]) -> str:
    """All that stands in docs/sweeps.md from the marker on."""
    held = json.dumps({name: float(f"{value:.6g}") for name, value in figures.items()})
    return f"{MARKER}\n<!-- {held} -->\n\n{section(figures)}"


def section(figures: dict[str, float]) -> str:
    """The projection as a chapter."""
    f = figures
    return f"""## A million instances on a thousand workers

Written by `benchmarks/bench_sweep.py --docs` from {f["instances"]:.0f} instances of `examples/sweeps/sweep.toml`
(m = 5, n = 20, R = 200, 64 seeds, 15 checks each), measured on one machine; it is a projection, not a run.
{_quietness(f)}

| measured | |
| --- | --- |
| CPU seconds an instance | {f["cpu_seconds_an_instance"]:.3g} |
| a task of {BLOCK}, besides its computation | {f["overhead_share"]:.1%} of it |
| bytes of a task | {f["task_bytes"]:.0f} |
| bytes of a result, a row | {f["result_bytes_a_row"]:.0f} |
| bytes of a result, an instance | {f["result_bytes_an_instance"]:.0f} |
{_wall_times(f)}
| projected: 10^6 instances, 1,000 workers | |
| --- | --- |
| core hours | {f["million_core_hours"]:.0f} |
| minutes of computing | {f["million_minutes_on_1000"]:.0f} |
| tasks a second through the driver | {f["million_tasks_a_second"]:.0f} |
| share of its time that the driver is busy with them | {f["million_driver_busy_share"]:.0%} |
| to the workers | {f["million_gigabytes_out"]:.1f} GB |
| back from them | {f["million_gigabytes_back"]:.1f} GB |

A driver that would be busy for more than all of its time is the limit: split the grid with `--share`, or
make the tasks longer (more seeds, more rounds).
"""


def is_quiet(figures: dict[str, float]) -> bool:
    """Whether one process had a core for itself: only then a wall time says anything."""
    return figures["core_share"] >= QUIET


def _quietness(f: dict[str, float]) -> str:
    if is_quiet(f):
        return "The machine had nothing else to do."
    return f"Other work left it {f['core_share']:.0%} of a core: only CPU seconds, shares and bytes are told."


def _wall_times(f: dict[str, float]) -> str:
    if not is_quiet(f):
        return ""
    return (
        f"| two processes against one, once they have started | {f['speed_up']:.2f} |\n"
        f"| the same with their start, over these {f['instances']:.0f} instances | {f['speed_up_with_start']:.2f} |\n"
        f"| start of two workers (processes, imports, compilation, one instance) | {f['start_2']:.1f} s |\n"
    )


if __name__ == "__main__":
    main()
