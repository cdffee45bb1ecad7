"""The one seam for parallel work: pure tasks mapped over an object shaped like `concurrent.futures.Executor`.

A task is data; `function(shared, task)` is a pure function that a worker imports by its name, and `shared` is what
all tasks of one call have in common: it travels to a worker once. Results come keyed and in any order, so whoever
collects them by key gets the same whatever the executor, its size, its losses.

A worker computes one task at a time with one BLAS thread: more threads would change the last bits of a product, and
the precision of ball arithmetic belongs to the whole process.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]

from bounds.forking import one_thread_each, start_server

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
_ALIVE_EVERY = 2.0  # seconds between questions whether the workers still exist
_LOSSES_IN_COMPANY = 2  # then a task is tried alone: it may be what kills the workers


@dataclass(frozen=True)
class Failed:
    """A task that ended without a value.

    Attributes:
        error: why, in one line.
        cause: what the task raised, where that can travel.
    """

    error: str
    cause: Exception | None = field(default=None, compare=False)

    def exception(self) -> Exception:
        """What to raise where a failed task ends all."""
        return self.cause or RuntimeError(self.error)


class TaskLost(RuntimeError):
    """One task was lost with its worker; the other workers go on."""


class WorkersLost(RuntimeError):
    """What runs the tasks is gone for good: what is finished is finished, the rest is not computed."""


@dataclass(frozen=True, eq=False)
class Opened:
    """An executor, and how a task names what all tasks share.

    Attributes:
        executor: runs the tasks; one lost with its worker ends with `TaskLost`, or `BrokenExecutor` if all are lost.
        held: stands for what is shared, among a task's arguments.
        trouble: why no result can be expected any more, if so.
    """

    executor: Executor
    held: Any
    trouble: Callable[[], str | None] = lambda: None


@runtime_checkable
class Workers(Protocol):
    """Where tasks run."""

    @property
    def window(self) -> int:
        """How many tasks to hand over ahead of their results."""

    def open(self, function: Callable[..., Any], shared: Any) -> AbstractContextManager[Opened]:
        """Workers that hold `shared` and are ready for `function`, until the block ends."""


@dataclass(eq=False)
class _Item(Generic[K, T]):
    """A task on its way."""

    key: K
    task: T
    losses: int = 0


@dataclass(eq=False)
class _Flow(Generic[K, T]):
    """Which tasks wait, which run, and which go again because their worker was lost."""

    fresh: Iterator[tuple[K, T]]
    again: deque[_Item[K, T]] = field(default_factory=deque)
    running: dict[Future[Any], _Item[K, T]] = field(default_factory=dict)
    done: SimpleQueue[Future[Any]] = field(default_factory=SimpleQueue)

    def next(self) -> _Item[K, T] | None:
        """The next task to hand over: lost ones first, a suspect only on its own."""
        if any(item.losses >= _LOSSES_IN_COMPANY for item in self.running.values()):
            return None
        if not self.again:
            found = next(self.fresh, None)
            return None if found is None else _Item(*found)
        if self.again[0].losses >= _LOSSES_IN_COMPANY and self.running:
            return None
        return self.again.popleft()

    def outcome(self, item: _Item[K, T], future: Future[Any]) -> _Outcome | None:
        """What a finished future gives for its task: a value or `Failed`; None if the task goes again."""
        error = future.exception()
        if isinstance(error, WorkersLost):
            raise error
        if error is None:
            return _Outcome(future.result())
        if not isinstance(error, BrokenExecutor | TaskLost):
            return _Outcome(Failed(_line(error)))
        item.losses += 1
        if item.losses > _LOSSES_IN_COMPANY:
            return _Outcome(
                Failed(f"its worker died {item.losses} times, the last time with this task alone")
            )
        self.again.append(item)
        return None


@dataclass(frozen=True)
class _Outcome:
    """A task's value (None is one) or `Failed`."""

    value: Any


def results(
    function: Callable[[Any, T], Any], shared: Any, tasks: Iterable[tuple[K, T]], workers: Workers
) -> Iterator[tuple[K, Any | Failed]]:
    """Each task's key with function(shared, task), as they finish.

    A task that raises gives a `Failed` and stops no other. Tasks that are lost with a worker are handed over again;
    one that was lost twice runs alone, and is `Failed` if its worker dies once more.

    Args:
        function: a module's own function, pure.
        tasks: (key, task), read as they are handed over.

    Raises:
        WorkersLost: if what runs the tasks (a cluster's scheduler) is gone.
    """
    flow: _Flow[K, T] = _Flow(iter(tasks))
    broken = True
    while broken:
        broken = False
        with workers.open(function, shared) as opened:
            while not broken:
                _hand_over(flow, opened, function, workers.window)
                if not flow.running:
                    return
                future = _wait(flow, opened)
                item = flow.running.pop(future)
                broken = isinstance(future.exception(), BrokenExecutor)
                if (value := flow.outcome(item, future)) is not None:
                    yield item.key, value.value
        # The broken executor's other tasks have all ended by now, some with a value.
        for future, item in flow.running.items():
            if (value := flow.outcome(item, future)) is not None:
                yield item.key, value.value
        flow.running.clear()
        flow.done = SimpleQueue()


def _hand_over(flow: _Flow[K, T], opened: Opened, function: Callable[..., Any], window: int) -> None:
    while len(flow.running) < window and (item := flow.next()) is not None:
        try:
            future = opened.executor.submit(call, function, opened.held, item.task)
        except BrokenExecutor as error:  # noticed at once: the task ends as if it had been running
            future = Future()
            future.set_exception(error)
        flow.running[future] = item
        future.add_done_callback(flow.done.put)


def _wait(flow: _Flow[K, T], opened: Opened) -> Future[Any]:
    while True:
        try:
            return flow.done.get(timeout=_ALIVE_EVERY)
        except Empty:
            if (reason := opened.trouble()) is not None:
                raise WorkersLost(reason) from None


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


@dataclass(eq=False)
class Beside(Generic[K, T]):
    """Tasks that workers compute while whoever gives them does other work; see `beside`."""

    function: Callable[[Any, T], Any]
    shared: Any
    workers: Workers
    opened: Opened | None
    given: dict[K, tuple[T, Future[Any] | None]] = field(default_factory=dict)

    def give(self, key: K, task: T) -> None:
        """Hands one task over, and does not wait for it."""
        future = None
        if self.opened is not None:
            with suppress(BrokenExecutor):  # then it is among what was lost
                future = self.opened.executor.submit(call, self.function, self.opened.held, task)
        self.given[key] = task, future

    def values(self) -> dict[K, Any | Failed]:
        """Waits for all that was given; what was lost with a worker is computed again, as by `results`."""
        found, missing = {}, []
        for key, (task, future) in self.given.items():
            error = None if future is None else future.exception()
            if future is None or isinstance(error, BrokenExecutor | TaskLost):
                missing.append((key, task))
            else:
                found[key] = future.result()
        return found | dict(results(self.function, self.shared, missing, self.workers))


@contextmanager
def beside(function: Callable[[Any, T], Any], shared: Any, workers: Workers) -> Iterator[Beside[Any, T]]:
    """Workers that compute tasks beside the block's own work, until it ends; what is not finished then is dropped.

    The driver alone (`InProcess`) computes them when their values are asked for.
    """
    if isinstance(workers, InProcess):
        yield Beside(function, shared, workers, None)
        return
    with workers.open(function, shared) as opened:
        yield Beside(function, shared, workers, opened)


# At the worker --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeldByWorker:
    """Says that the worker itself holds what the tasks share."""


_one_at_a_time = threading.RLock()  # a task may map tasks of its own, in its process
_limited = False
_shared: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread inside: two that share busy cores wait for each other in spin loops.

    A nested call changes nothing: asking all libraries again would cost milliseconds.
    """
    global _limited
    with _one_at_a_time:
        if _limited:
            yield
            return
        _limited = True
        try:
            with threadpool_limits(limits=1):
                yield
        finally:
            _limited = False


def call(function: Callable[[Any, T], Any], held: Any, task: T) -> Any:
    """function(shared, task), alone in its process and with one BLAS thread; an error becomes a `Failed`."""
    shared = _shared if isinstance(held, HeldByWorker) else held
    with one_thread():
        return _value(function, shared, task)


def _value(function: Callable[[Any, T], Any], shared: Any, task: T) -> Any:
    try:
        return function(shared, task)
    except Exception as error:
        return Failed(_line(error), _portable(error))


def _portable(error: Exception) -> Exception | None:
    """`error` if it survives pickling: one that does not would break the executor that carries it."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return None
    return error


def _start(shared: Any, lifeline: Connection) -> None:
    """Prepares a process: it holds `shared`, leaves Ctrl-C to the driver, and ends with the driver."""
    global _shared
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    """Ends this process once the driver has closed its end, or died."""
    try:
        lifeline.recv_bytes()
    except EOFError:
        os._exit(1)


# Executors ------------------------------------------------------------------------------------------


class _Here(Executor):
    """Runs a task where and when it is handed over."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The finished future of fn(*args, **kwargs)."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@dataclass(frozen=True)
class InProcess:
    """No workers: the driver computes task after task."""

    window: int = 1

    @contextmanager
    def open(self, function: Callable[..., Any], shared: Any) -> Iterator[Opened]:
        """See `Workers.open`."""
        yield Opened(_Here(), shared)


@dataclass(frozen=True)
class Processes:
    """`jobs` processes of this machine, forked from a clean one that has imported what the tasks need."""

    jobs: int

    @property
    def window(self) -> int:
        """Two a process: one runs, the next one waits there."""
        return 2 * self.jobs

    @contextmanager
    def open(self, function: Callable[..., Any], shared: Any) -> Iterator[Opened]:
        """See `Workers.open`."""
        self.prepare(function)
        context = get_context("forkserver")
        end, lifeline = context.Pipe(duplex=False)
        with one_thread_each():  # the processes read it when they start, with the first task
            pool = ProcessPoolExecutor(self.jobs, context, _start, (shared, end))
            try:
                yield Opened(pool, HeldByWorker())
            finally:
                lifeline.close()
                pool.shutdown(wait=True, cancel_futures=True)
                end.close()

    def prepare(self, function: Callable[..., Any]) -> None:
        """Starts the process that workers are forked from: it imports what `function` needs while the caller goes on.

        That is the function's module, and what the module names as PRELOAD.
        """
        home = function.__module__
        start_server(__name__, home, *getattr(sys.modules[home], "PRELOAD", ()))


def local(jobs: int) -> Workers:
    """`jobs` processes; one is the driver itself."""
    return InProcess() if jobs == 1 else Processes(jobs)
