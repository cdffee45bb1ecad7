"""Which implementation of the pivoting runs: numba (the extra `fast`) or numpy. Chosen in the open."""

from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from functools import cache
from importlib.util import find_spec

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from games.base import GameError, Matrix, Vector
from games.pivoting import Pivoted, State, block_pivoting, default_budget, guess_state

GUARDED_SIZE = 100
COMPILED_SIZE = 100  # above this only the first guess is compiled: LAPACK eliminates faster


class Engine(StrEnum):
    """`auto` is numba where it is installed, else numpy."""

    AUTO = "auto"
    NUMBA = "numba"
    NUMPY = "numpy"


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread(m: int) -> AbstractContextManager[object]:
    """Guards a solve of m clients: one BLAS thread while it runs.

    Two threads on a busy two-core machine wait for each other in spin loops, which has made one solve 300
    times slower. Small games call no threaded routine and are left alone.
    """
    return _controller().limit(limits=1, user_api="blas") if m >= GUARDED_SIZE else nullcontext()


def choose(engine: Engine | str) -> Engine:
    """NUMBA or NUMPY.

    Raises:
        GameError: an unknown name, or numba asked for where it is not installed.
    """
    try:
        wanted = Engine(engine)
    except ValueError:
        raise GameError(f"engine = {engine!r}: give 'auto', 'numba' or 'numpy'") from None
    installed = find_spec("numba") is not None
    if wanted is Engine.NUMBA and not installed:
        raise GameError("engine = 'numba': numba is not installed; install the extra 'fast' or give 'numpy'")
    if wanted is Engine.AUTO:
        return Engine.NUMBA if installed else Engine.NUMPY
    return wanted


def pivot(A: Matrix, b: Vector, lower: Vector, upper: Vector, state: State | None, engine: Engine) -> Pivoted:
    """Block principal pivoting from the active set `state` (None: guess one)."""
    if engine is Engine.NUMPY:
        start = guess_state(A, b, lower, upper) if state is None else state
        return block_pivoting(A, b, lower, upper, start)
    from games import pivoting_fast  # lazily: compiled code is loaded only by those who solve

    if b.size <= COMPILED_SIZE:
        found = np.zeros(b.size, dtype=np.int8) if state is None else state.copy()
        data = pivoting_fast.frozen(A, b, lower, upper)
        N, consistent, iterations, _ = pivoting_fast.solve_one(*data, found, state is not None)
        return Pivoted(N, found, consistent, iterations)
    start = np.zeros(b.size, dtype=np.int8) if state is None else state
    if state is None:
        pivoting_fast.guess(*pivoting_fast.frozen(A, b, lower, upper), start)
    return block_pivoting(A, b, lower, upper, start, default_budget(b.size))
