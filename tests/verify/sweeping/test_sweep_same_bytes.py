"""The command: the same bytes however the work is done, cut off, split, or damaged."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from tiny_grid import GRID, POINTS, entries, start, sweep, write_grid, written

from simulate.parallel import InProcess, Processes
from verify.errors import EXIT_STANDS
from verify.sweeping.points import load_grid
from verify.sweeping.running import Run
from verify.sweeping.store import open_store

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "words", [("--jobs", "4"), pytest.param(("--jobs", "2"), marks=pytest.mark.slow)], ids=" ".join
)
def test_the_bytes_do_not_depend_on_the_processes(
    words: tuple[str, str], done: Path, grid: Path, tmp_path: Path
) -> None:
    assert sweep(grid, tmp_path / "out", *words) == EXIT_STANDS
    assert written(tmp_path / "out") == written(done)


@pytest.mark.parametrize(
    ("workers", "block"),
    [
        (InProcess(), 1),
        (Processes(1), 7),
        pytest.param(InProcess(), 7, marks=pytest.mark.slow),
        pytest.param(Processes(1), 1, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_results_do_not_depend_on_the_block(
    workers: InProcess | Processes, block: int, done: Path, grid: Path, tmp_path: Path
) -> None:
    loaded = load_grid(grid, 100)
    with open_store(tmp_path) as store:
        Run(loaded, store, workers, lambda what, part, total: None, block=block)()
    assert sorted((tmp_path / "results.jsonl").read_bytes().splitlines()) == sorted(
        (done / "cache" / "results.jsonl").read_bytes().splitlines()
    )


def test_nothing_is_computed_twice(done: Path, grid: Path, capsys: Capture) -> None:
    before = written(done)
    assert sweep(grid, done) == EXIT_STANDS
    assert f"0 computed, {POINTS} found" in capsys.readouterr().out
    assert written(done) == before


def test_fresh_computes_all_anew(grid: Path, tmp_path: Path, capsys: Capture) -> None:
    few = write_grid(
        tmp_path, GRID.replace("values = [1, 2]", "values = [1]").replace("step = 1.0", "step = 2.0")
    )
    assert sweep(few, tmp_path / "out") == EXIT_STANDS
    assert sweep(few, tmp_path / "out", "--fresh") == EXIT_STANDS
    assert "3 computed, 0 found" in capsys.readouterr().out.splitlines()[-2]


def test_shares_put_together_are_the_whole(done: Path, grid: Path, tmp_path: Path, capsys: Capture) -> None:
    for i in (1, 2, 3):
        assert sweep(grid, tmp_path / f"part{i}", "--share", f"{i}/3") == EXIT_STANDS
        assert not (tmp_path / f"part{i}" / "results.csv").exists()
    for i in (2, 3):
        log = tmp_path / f"part{i}" / "cache" / "results.jsonl"
        log.rename(tmp_path / "part1" / "cache" / f"part{i}.jsonl")
    assert sweep(grid, tmp_path / "part1") == EXIT_STANDS
    assert f"0 computed, {POINTS} found" in capsys.readouterr().out
    assert written(tmp_path / "part1") == written(done)


def test_a_corrupted_entry_is_computed_again(done: Path, grid: Path, tmp_path: Path, capsys: Capture) -> None:
    out = Path(shutil.copytree(done, tmp_path / "out"))
    log = out / "cache" / "results.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    at = lines[3].index(b'"observed":') + len(b'"observed":') + 2
    digit = b"5" if lines[3][at : at + 1] != b"5" else b"6"
    lines[3] = lines[3][:at] + digit + lines[3][at + 1 :]
    lines[-1] = lines[-1][:200]
    log.write_bytes(b"".join(lines))
    capsys.readouterr()
    assert sweep(grid, out) == EXIT_STANDS
    said = capsys.readouterr()
    assert "2 corrupted entries" in said.err
    assert f"2 computed, {POINTS - 2} found" in said.out
    assert written(out) == written(done)


@pytest.mark.parametrize("kills", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_kill_9_at_random_points_changes_nothing(kills: int, done: Path, grid: Path, tmp_path: Path) -> None:
    out, random_points = tmp_path / "out", random.Random(5)
    for _ in range(kills):
        driver = start(grid, out, "--jobs", "2")
        target = entries(out) + random_points.randint(1, 3)
        while entries(out) < target and driver.poll() is None:
            time.sleep(0.01)
        driver.kill()
        driver.communicate()
        assert driver.returncode in (-signal.SIGKILL, EXIT_STANDS)  # the last task may have been faster
    kept = entries(out)
    assert 0 < kept <= POINTS
    assert sweep(grid, out) == EXIT_STANDS
    assert entries(out) <= POINTS + kills  # at most a torn line for each kill
    assert written(out) == written(done)


def test_ctrl_c_keeps_what_is_finished(done: Path, grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    driver = start(grid, out, "--jobs", "2")
    while entries(out) < 1:
        time.sleep(0.01)
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert (
        said.splitlines()[-1] == f"interrupted: what is finished is kept in {out}; the same command goes on"
    )
    assert entries(out) >= 1
    assert sweep(grid, out) == EXIT_STANDS
    assert written(out) == written(done)


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing(done: Path, grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    driver = start(grid, out, "--jobs", "2")
    while entries(out) < 1:
        time.sleep(0.01)
    victims = [pid for pid in descendants(driver.pid) if pid not in children(driver.pid)]
    assert len(victims) == 2
    os.kill(victims[0], signal.SIGKILL)
    said, _ = driver.communicate(timeout=120)
    assert driver.returncode == EXIT_STANDS
    assert f"{POINTS} computed, 0 found, 0 failed" in said
    assert written(out, page=False) == written(done, page=False)


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and theirs: with a fork server, the workers are its children."""
    return [d for child in children(pid) for d in (child, *descendants(child))]
