"""Where a command's tasks run: this process, local processes, or a Dask cluster (the seam is `simulate.parallel`)."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bounds.forking import ONE_THREAD
from simulate.parallel import Opened, TaskLost, Workers, WorkersLost, local
from verify.errors import InputError

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as DaskFuture

CONNECT_SECONDS = 10
LOST = "the Dask scheduler is gone"
_LOOK_EVERY = 5.0  # seconds: workers may join and leave
_NO_WORKER_FOR = 60.0  # seconds: a restarted one needs some
_FEWEST_AHEAD = 8  # tasks handed over even while a cluster's workers are still joining


class DaskExecutor(Executor):
    """A Dask client as an executor; a task whose workers died ends with `TaskLost`, one without a scheduler with
    `WorkersLost`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """fn(*args, **kwargs) on some worker."""
        inner = self.client.submit(fn, *args, pure=False, **kwargs)
        loop: Any = self.client.loop  # tornado's, on asyncio
        return asyncio.run_coroutine_threadsafe(self._value(inner), loop.asyncio_loop)

    async def _value(self, inner: DaskFuture) -> Any:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            return await inner
        except KilledWorker as error:
            raise TaskLost(_short(error)) from None
        except FutureCancelledError as error:
            if self.client.status == "running":
                raise TaskLost(_short(error)) from None
            raise WorkersLost(LOST) from None


class Dask:
    """The workers of a Dask cluster."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._looked = -math.inf
        self._count = 0
        self._last_seen = time.monotonic()

    @property
    def window(self) -> int:
        """Two a worker: one runs, the next one waits there."""
        return max(2 * self._workers(), _FEWEST_AHEAD)

    @contextmanager
    def open(self, function: Callable[..., Any], shared: Any) -> Iterator[Opened]:
        """See `Workers.open`; what is shared travels with each task: a cluster can lose what was stored on it."""
        yield Opened(DaskExecutor(self.client), shared, self._trouble)

    def _workers(self) -> int:
        now = time.monotonic()
        if now > self._looked + _LOOK_EVERY and self.client.status == "running":
            self._looked, self._count = now, int(self.client.scheduler_info(n_workers=0)["n_workers"])
            if self._count:
                self._last_seen = now
        return self._count

    def _trouble(self) -> str | None:
        if self.client.status != "running":
            return LOST
        patient = self._workers() or time.monotonic() < self._last_seen + _NO_WORKER_FOR
        return None if patient else f"no Dask worker has been there for {_NO_WORKER_FOR:.0f} seconds"


@contextmanager
def chosen_workers(jobs: int, scheduler: str | None = None, cluster: int | None = None) -> Iterator[Workers]:
    """The workers that a command line asks for: `jobs` processes, the Dask cluster at `scheduler`, or a local Dask
    cluster of `cluster` processes that lives until the block ends.

    Raises:
        InputError: if Dask is not installed, or no scheduler answers.
    """
    if scheduler is None and cluster is None:
        yield local(jobs)
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError("--scheduler and --cluster need Dask: pip install 'boundaudit[cluster]'") from None
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"--scheduler {scheduler}: no Dask scheduler answers ({_short(error)})"
            ) from None
        with client:
            yield Dask(client)
        return
    with (
        LocalCluster(
            n_workers=cluster, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
            env=ONE_THREAD, memory_limit=0,
        ) as here,
        Client(here, set_as_default=False) as client,
    ):  # fmt: skip
        yield Dask(client)


def _short(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
