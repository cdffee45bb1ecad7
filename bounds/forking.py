"""The clean process that worker processes are forked from, and what it reads about BLAS threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver, get_context

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes that start inside compute with one BLAS thread."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def start_server(*modules: str) -> None:
    """Starts the clean process, which imports `modules` while the caller imports what it needs itself."""
    get_context("forkserver").set_forkserver_preload(list(modules))
    with one_thread_each():
        forkserver.ensure_running()
