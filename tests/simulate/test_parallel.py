"""The seam: the same results from every executor, whatever dies."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pure_tasks
import pytest

from simulate.parallel import Failed, InProcess, Processes, Workers, local, results

EXECUTORS = [InProcess(), Processes(1), Processes(2), Processes(4)]


def test_local_is_the_driver_itself_for_one_job() -> None:
    assert isinstance(local(1), InProcess)
    assert local(2) == Processes(2)


@pytest.mark.parametrize("workers", EXECUTORS, ids=str)
def test_results_do_not_depend_on_the_executor(workers: Workers) -> None:
    found = dict(results(pure_tasks.square, 100, ((f"k{i}", i) for i in range(-1, 12)), workers))
    expected = {f"k{i}": 100 + i * i for i in range(12)}
    assert found == expected | {"k-1": Failed("ValueError: task = -1: give one >= 0")}


@pytest.mark.parametrize("workers", EXECUTORS[:2], ids=str)
def test_an_error_comes_back_as_itself_or_else_as_its_text(workers: Workers) -> None:
    [(_, refused)] = results(pure_tasks.square, 0, [("k", -2)], workers)
    assert isinstance(refused.exception(), ValueError)
    assert str(refused.exception()) == "task = -2: give one >= 0"
    [(_, stuck)] = results(pure_tasks.unpicklable, 0, [("k", 1)], workers)
    assert stuck == Failed("Stubborn: one two")
    # Libraries that teach exceptions to travel (Dask does) may bring it back as itself.
    assert str(stuck.exception()) in ("Stubborn: one two", "one two")


@pytest.mark.parametrize("workers", EXECUTORS[:3], ids=str)
def test_products_have_the_same_bits_everywhere(workers: Workers) -> None:
    matrix = np.random.default_rng(0).normal(size=(300, 300))
    found = dict(results(pure_tasks.product, matrix, ((i, i) for i in range(4)), workers))
    here = dict(results(pure_tasks.product, matrix, ((i, i) for i in range(4)), InProcess()))
    assert found == here


def test_workers_have_one_thread_and_are_other_processes() -> None:
    found = dict(results(pure_tasks.threads, None, ((i, i) for i in range(8)), Processes(2)))
    assert {count for _, count in found.values()} == {1}
    assert os.getpid() not in {pid for pid, _ in found.values()}


def test_no_tasks_give_no_results() -> None:
    assert list(results(pure_tasks.square, 0, [], Processes(2))) == []


def test_tasks_are_read_as_they_are_handed_over() -> None:
    read = []

    def tasks() -> object:
        for i in range(1000):
            read.append(i)
            yield i, i

    stream = results(pure_tasks.square, 0, tasks(), Processes(2))  # type: ignore[arg-type]
    next(stream)
    assert len(read) <= 5
    stream.close()  # type: ignore[attr-defined]


def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    found = list(results(pure_tasks.die_once, str(tmp_path), ((i, i) for i in range(20)), Processes(2)))
    assert (tmp_path / "died-5").exists()
    assert len(found) == 20
    assert dict(found) == {i: i * i for i in range(20)}


def test_a_task_that_kills_its_workers_fails_alone() -> None:
    found = list(results(pure_tasks.die_always, None, ((i, i) for i in range(12)), Processes(3)))
    assert len(found) == 12
    values = dict(found)
    assert values.pop(3) == Failed("its worker died 3 times, the last time with this task alone")
    assert values == {i: i * i for i in range(12) if i != 3}


_DRIVER = """
import time
from multiprocessing import active_children
import pure_tasks
from simulate.parallel import Processes, results
for key, value in results(pure_tasks.threads, None, ((i, i) for i in range(10**6)), Processes(2)):
    print(value[0], flush=True)
    time.sleep(0.01)
"""


def test_workers_end_with_a_driver_that_is_killed() -> None:
    here = str(Path(__file__).parent)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([here, str(Path.cwd())])}
    driver = subprocess.Popen(
        [sys.executable, "-c", _DRIVER], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    workers = {int(driver.stdout.readline()) for _ in range(20)}
    driver.kill()
    driver.wait()
    driver.stdout.close()
    patience = time.monotonic() + 20
    while any(_alive(pid) for pid in workers) and time.monotonic() < patience:
        time.sleep(0.05)
    assert not any(_alive(pid) for pid in workers)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] == "Z")
