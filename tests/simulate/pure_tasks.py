"""Functions that the tests of the seam send to workers."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info


def square(shared: int, task: int) -> int:
    """shared + task^2; a negative task is an error."""
    if task < 0:
        raise ValueError(f"task = {task}: give one >= 0")
    return shared + task * task


def product(shared: np.ndarray, task: int) -> tuple[float, ...]:
    """A row of a matrix product: its last bits would depend on BLAS's threads."""
    return tuple((shared @ shared)[task].tolist())


def threads(shared: None, task: int) -> tuple[int, int]:
    """The process, and the most threads that any of its linear algebra libraries may start."""
    return os.getpid(), max(library["num_threads"] for library in threadpool_info())


def die_once(shared: str, task: int) -> int:
    """Kills its process the first time that task 5 runs (`shared` is a folder that remembers)."""
    mark = Path(shared) / f"died-{task}"
    if task == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task


def die_always(shared: None, task: int) -> int:
    """Kills its process whenever task 3 runs."""
    if task == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task


class Stubborn(Exception):
    """An error that cannot be unpickled: it is made of two arguments and remembers one."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} {two}")


def unpicklable(shared: int, task: int) -> int:
    """Raises `Stubborn`."""
    raise Stubborn("one", "two")


def wait(shared: None, task: float) -> None:
    """Takes `task` seconds."""
    time.sleep(task)
