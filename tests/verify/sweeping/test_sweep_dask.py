"""The same sweep on a real two-worker Dask cluster over loopback, and what happens when its scheduler dies."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pure_tasks
import pytest
from tiny_grid import POINTS, start, sweep, write_grid, written

from simulate.parallel import Failed, Workers, results
from verify.errors import EXIT_INCOMPLETE, EXIT_STANDS, InputError
from verify.parallel import chosen_workers


@pytest.fixture(scope="module")
def cluster() -> Iterator[Workers]:
    with chosen_workers(1, cluster=2) as workers:
        yield workers


def test_results_are_those_of_one_process(cluster: Workers) -> None:
    found = dict(results(pure_tasks.square, 100, ((i, i) for i in range(-1, 30)), cluster))
    expected = {i: 100 + i * i for i in range(30)}
    assert found == expected | {-1: Failed("ValueError: task = -1: give one >= 0")}


def test_workers_compute_one_task_at_a_time_with_one_thread(cluster: Workers) -> None:
    found = dict(results(pure_tasks.threads, None, ((i, i) for i in range(8)), cluster))
    assert {count for _, count in found.values()} == {1}
    assert len({pid for pid, _ in found.values()} - {os.getpid()}) == 2


def test_a_killed_worker_changes_nothing(cluster: Workers, tmp_path: Path) -> None:
    found = dict(results(pure_tasks.die_once, str(tmp_path), ((i, i) for i in range(12)), cluster))
    assert (tmp_path / "died-5").exists()
    assert found == {i: i * i for i in range(12)}


def test_a_scheduler_that_does_not_answer_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        sweep(write_grid(tmp_path), tmp_path / "out", "--scheduler", "nonsense://127.0.0.1:1")


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a scheduler with two workers, each a process of its own, and the scheduler's process."""
    contact = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    cli, file = [sys.executable, "-m"], ["--scheduler-file", str(contact), "--no-dashboard"]
    first = [*cli, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *file]
    server = subprocess.Popen(first, **quiet)
    second = [*cli, "distributed.cli.dask_worker", "--nthreads", "1", *file]
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    workers = [subprocess.Popen(second, env=environment, **quiet) for _ in range(2)]
    while not contact.exists():
        time.sleep(0.05)
    yield json.loads(contact.read_text())["address"], server
    for process in (*workers, server):
        process.terminate()
    for process in (*workers, server):
        process.wait(30)


@pytest.mark.slow
def test_a_sweep_on_a_cluster_gives_the_same_bytes_and_survives_its_scheduler(
    scheduler: tuple[str, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    address, server = scheduler
    grid = write_grid(tmp_path)
    assert sweep(grid, tmp_path / "one") == EXIT_STANDS
    assert sweep(grid, tmp_path / "cluster", "--scheduler", address) == EXIT_STANDS
    assert written(tmp_path / "cluster") == written(tmp_path / "one")
    out = tmp_path / "lost"
    driver = start(grid, out, "--scheduler", address)
    log = out / "cache" / "results.jsonl"
    while not (log.exists() and log.stat().st_size):
        time.sleep(0.02)
    server.send_signal(signal.SIGKILL)
    _, said = driver.communicate(timeout=120)
    assert driver.returncode == EXIT_INCOMPLETE
    line = f"error: the Dask scheduler is gone: what is finished is kept in {out}; the same command goes on"
    assert line in said.splitlines()
    kept = log.read_bytes().count(b"\n")
    assert 0 < kept < POINTS
    assert sweep(grid, out) == EXIT_STANDS
    assert written(out) == written(tmp_path / "one")
