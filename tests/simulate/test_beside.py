"""Tasks beside the driver's own work: the same values wherever they run, whatever is lost."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

import pytest
from pure_tasks import die_once, square, wait

from simulate.parallel import Failed, InProcess, Processes, beside


@pytest.mark.parametrize("workers", [InProcess(), Processes(2)], ids=str)
def test_values_come_by_key_and_errors_as_failures(workers: InProcess | Processes) -> None:
    with beside(square, 3, workers) as aside:
        assert aside.values() == {}
        for task in (1, 2, -1):
            aside.give(f"of {task}", task)
        found = aside.values()
    failed = found.pop("of -1")
    assert found == {"of 1": 4, "of 2": 7}
    assert isinstance(failed, Failed)
    assert "task = -1" in failed.error


def test_a_task_lost_with_its_worker_is_computed_again(tmp_path: Path) -> None:
    with beside(die_once, str(tmp_path), Processes(2)) as aside:
        for task in range(7):
            aside.give(task, task)
        assert aside.values() == {task: task * task for task in range(7)}
    assert (tmp_path / "died-5").exists()


def test_the_driver_alone_computes_when_asked(tmp_path: Path) -> None:
    with beside(die_once, str(tmp_path), InProcess()) as aside:
        aside.give(5, 5)  # would end this process if it ran
        aside.given.clear()
    assert not (tmp_path / "died-5").exists()


def test_an_error_in_the_block_ends_the_workers() -> None:
    with pytest.raises(KeyboardInterrupt), beside(wait, None, Processes(1)) as aside:  # noqa: PT012
        aside.give(0, 30.0)
        began = time.monotonic()
        raise KeyboardInterrupt
    assert time.monotonic() - began < 20
    assert not multiprocessing.active_children()
