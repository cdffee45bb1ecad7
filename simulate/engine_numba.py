"""The compiled engine (extra `fast`): seeds in parallel threads, clients interleaved step by step.

One seed's m models stay in the first-level cache; at each step the m independent dot products overlap. It
knows linear models and quadratics with diagonal curvature, in the index modes `iid` and `subset`; it takes
the same indices as every other engine and stops at the rounds where the observer wants to see something.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, no_type_check

import numpy as np
from jaxtyping import Float, Int

from simulate.config import RunConfig
from simulate.indices import PIECE, pieces
from simulate.observe import Observer
from simulate.problems.base import Problem
from simulate.problems.linear import LinearModel
from simulate.problems.quadratics import Quadratics
from simulate.streams import Purpose

try:
    import numba
except ImportError:
    raise ValueError("engine = 'numba': numba is not installed; pip install 'boundaudit[fast]'") from None

from simulate.lanes import descend, dot, padded
from simulate.philox import draw, stream_keys

QUADRATIC = 3  # beyond the scalar losses' kinds
SNAPSHOT = 1 << 22  # floats of client iterates held between two observations (32 MiB)


_threads = 1


def set_threads(jobs: int) -> None:
    """Shares the seeds of a block among `jobs` threads (the kernel holds no lock while it runs)."""
    global _threads
    _threads = jobs


class Model(NamedTuple):
    """A problem as the kernel sees it: a row of `A` (and `b`) per sample, curvature and centre per client.

    Rows of A are padded, and `chunks` says how (see `lanes.padded`): the kernel is compiled for each length of it.
    """

    kind: int
    chunks: tuple[int, ...]
    A: np.ndarray
    b: np.ndarray
    curvature: np.ndarray
    centre: np.ndarray
    ridge: float
    saturating: float


def model_of(problem: Problem) -> Model:
    """The kernel's view of a problem.

    Raises:
        ValueError: for a problem the kernel does not know.
    """
    none = np.zeros((1, 1))
    if isinstance(problem, LinearModel):
        weight, saturates = problem.regulariser.weight, problem.regulariser.kind == 1
        ridge, saturating = (0.0, weight) if saturates else (weight, 0.0)
        A, chunks = padded(problem.A)
        return Model(problem.scalar.kind, chunks, A, problem.b, none, none, ridge, saturating)
    if isinstance(problem, Quadratics) and not problem.full:
        A, chunks = padded(problem.atoms.reshape(-1, problem.n))
        return Model(QUADRATIC, chunks, A, np.zeros(len(A)), problem.a, problem.c, 0.0, 0.0)
    raise ValueError(f"engine = 'numba' does not know {problem.name} (full curvature, network); use 'numpy'")


def run_block(
    problem: Problem,
    config: RunConfig,
    N: Float[np.ndarray, "rounds m"],
    p: Float[np.ndarray, "rounds m"],
    observer: Observer,
    seeds: Int[np.ndarray, " S"],
) -> None:
    """Runs Algorithm 1 for the block's seeds and shows the iterates to `observer`."""
    if config.sampling == "full":
        raise ValueError(
            "engine = 'numba' runs sampling iid and subset; use engine 'numpy' for full gradients"
        )
    model, S, H = model_of(problem), len(seeds), config.H
    x_hat = np.repeat(config.x_0[None, :], S, axis=0)
    total = np.zeros((2, S, problem.n))
    averaging = config.r_hat if len(observer.horizons) else config.R
    per_round = max(1, S * problem.m * problem.n * min(H, max(observer.k.shape[1], 1)))
    stops = np.unique(np.concatenate([observer.records, observer.horizons, [config.R, averaging]]))
    for first, last, index in _pieces(problem, config, N, seeds):
        r = first
        while r < last:
            observer.round_start(r, x_hat)
            stop = min(
                last, int(stops[np.searchsorted(stops, r, side="right")]), r + max(1, SNAPSHOT // per_round)
            )
            window = (observer.k >= r * H) & (observer.k < stop * H)
            cells = np.flatnonzero(window)
            starts = np.concatenate([[0], np.cumsum(window.sum(axis=1))])
            steps = observer.k.ravel()[cells]
            shown = np.empty((len(cells), problem.m, problem.n))
            arguments = (
                model,
                config.gamma,
                H,
                r,
                stop,
                first,
                p,
                problem.first,
                index,
                x_hat,
                starts,
                steps,
                shown,
            )
            _share(S, *arguments, averaging <= r, total)
            if len(cells):
                observer.snapshot(steps // H, cells, shown)
            r = stop
            observer.average(r, total)
    observer.round_start(config.R, x_hat)


def _pieces(
    problem: Problem, config: RunConfig, N: Float[np.ndarray, "rounds m"], seeds: Int[np.ndarray, " S"]
) -> Iterator[tuple[int, int, Int[np.ndarray, "S m steps batch"]]]:
    """`indices.pieces`, by the compiled generator where the run is drawn in one piece of independent draws."""
    S, m, steps, batch = len(seeds), problem.m, config.T_R, config.batch
    independent = config.sampling == "iid" and config.replacement == "with" and int(problem.sizes.min()) > 1
    if not independent or S * m * steps * batch > PIECE:
        yield from pieces(problem, config, N, seeds)
        return
    out = np.empty((S, m, steps * batch), dtype=np.int32)
    for i in range(m):
        draw(stream_keys(config.root_seed, seeds, i, Purpose.SAMPLES), int(problem.sizes[i]), out[:, i])
    yield 0, config.R, out.reshape(S, m, steps, batch)


def _share(S: int, *arguments: Any) -> None:
    """Runs the kernel for all seeds of a block, in `_threads` shares."""
    if _threads == 1 or S == 1:
        _rounds(0, S, *arguments)
        return
    cuts = np.linspace(0, S, min(_threads, S) + 1).astype(int).tolist()
    with ThreadPoolExecutor(len(cuts) - 1) as pool:
        for share in [pool.submit(_rounds, a, b, *arguments) for a, b in itertools.pairwise(cuts)]:
            share.result()


@numba.njit(cache=True, error_model="numpy")
@no_type_check
def _slope(kind, product, b):
    """phi'(z, b) of the scalar loss of this kind."""
    if kind == 0:
        return product - b
    if kind == 1:
        u = b * product
        if u > 0.0:
            e = np.exp(-u)
            return -b * e / (1.0 + e)
        return -b / (1.0 + np.exp(u))
    u = product - b
    return u * np.exp(-0.5 * u * u)


@numba.njit(error_model="numpy")
@no_type_check
def _steps(model, gamma, row_of, index, s, start, stop, x):
    """Steps start..stop - 1 (columns of index) of seed s's clients in a linear model, batch 1: x [m, width].

    The clients take turns: their chains of additions overlap.
    """
    keep = 1.0 - gamma * model.ridge
    for t in range(start, stop):
        for i in range(x.shape[0]):
            row = row_of[i] + index[s, i, t, 0]
            push = gamma * _slope(model.kind, dot(model.chunks, model.A, row, x, i), model.b[row])
            descend(model.chunks, keep, x, i, push, model.A, row)


@numba.njit(error_model="numpy")
@no_type_check
def _general_steps(model, gamma, row_of, index, s, start, stop, x, g):
    """`_steps` for any model and batch; g [1, width] is workspace."""
    n, batch = model.curvature.shape[1], index.shape[3]
    for t in range(start, stop):
        for i in range(x.shape[0]):
            for d in range(x.shape[1]):
                q = 1.0 + x[i, d] * x[i, d]
                g[0, d] = gamma * (model.ridge + 2.0 * model.saturating / (q * q)) * x[i, d]
            if model.kind == QUADRATIC:
                for d in range(n):
                    g[0, d] += gamma * model.curvature[i, d] * (x[i, d] - model.centre[i, d])
            for j in range(batch):
                row, push = row_of[i] + index[s, i, t, j], gamma / batch
                if model.kind != QUADRATIC:
                    push *= _slope(model.kind, dot(model.chunks, model.A, row, x, i), model.b[row])
                descend(model.chunks, 1.0, g, 0, -push, model.A, row)
            descend(model.chunks, 1.0, x, i, 1.0, g, 0)


@numba.njit(nogil=True, cache=True, error_model="numpy")
@no_type_check
def _rounds(
    low,
    high,
    model,
    gamma,
    H,
    first,
    last,
    drawn_from,
    p,
    row_of,
    index,
    x_hat,
    starts,
    steps,
    shown,
    averaging,
    total,
):
    """Rounds first..last - 1 of the seeds low..high - 1 of the block, in place.

    Args:
        index: [S, m, steps, batch] sample indices from round drawn_from on; row_of: [m] where each client's
            rows start.
        starts, steps, shown: seed s shows its clients' iterates at steps[starts[s]:starts[s + 1]]
            (increasing).
        averaging: whether to add x_bar_k, with both weights, to total [2, S, n].
    """
    m, n = index.shape[1], x_hat.shape[1]
    simple = model.kind != QUADRATIC and model.saturating == 0.0 and index.shape[3] == 1
    x, g, mean = np.zeros((m, model.A.shape[1])), np.zeros((1, model.A.shape[1])), np.zeros((m, n))
    for s in range(low, high):
        due = starts[s]
        for r in range(first, last):
            for i in range(m):
                for d in range(n):
                    x[i, d] = x_hat[s, d]
            h = 0
            while h < H:
                while due < starts[s + 1] and steps[due] == r * H + h:
                    for i in range(m):
                        for d in range(n):
                            shown[due, i, d] = x[i, d]
                    due += 1
                stop = H
                if averaging:
                    stop = h + 1
                    for i in range(m):
                        for d in range(n):
                            mean[i, d] += x[i, d]
                elif due < starts[s + 1]:
                    stop = min(H, steps[due] - r * H)
                at = (r - drawn_from) * H
                if simple:
                    _steps(model, gamma, row_of, index, s, at + h, at + stop, x)
                else:
                    _general_steps(model, gamma, row_of, index, s, at + h, at + stop, x, g)
                h = stop
            for d in range(n):
                x_hat[s, d] = p[r + 1, 0] * x[0, d]
            for i in range(1, m):
                for d in range(n):
                    x_hat[s, d] += p[r + 1, i] * x[i, d]
            if averaging:
                for which in range(2):
                    for i in range(m):
                        for d in range(n):
                            total[which, s, d] += p[r + which, i] * mean[i, d]
                for i in range(m):
                    for d in range(n):
                        mean[i, d] = 0.0
