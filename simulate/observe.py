"""What a block of seeds must observe, and when: the engines' only view of the measurements.

An engine calls `round_start`, `step` and `round_end`; the plan copies what is due (the clients' iterates at drawn
steps, the models of recorded rounds, the running average) and turns it into numbers in batches once enough has
gathered, so that engines hold no metric and metrics never sit in the inner loop.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from jaxtyping import Float, Int

from simulate.config import RunConfig
from simulate.problems.base import Problem, weighted
from simulate.streams import stratified_draws

FLUSH = 1 << 17  # floats of iterates gathered before they are measured (1 MiB: few calls, still in cache)


class Observer:
    """Collects the measurements of one block of seeds.

    Args:
        problem, config: the run.
        p: weights [R + 1, m].
        p_star: weights of the global loss f, [m].
        x_star: reference point of dist_sq, or None (dist_sq is then not measured).
        seeds: the block's seed indices, [S].
    """

    def __init__(
        self,
        problem: Problem,
        config: RunConfig,
        p: Float[np.ndarray, "rounds m"],
        p_star: Float[np.ndarray, " m"],
        x_star: Float[np.ndarray, " n"] | None,
        seeds: Int[np.ndarray, " S"],
    ) -> None:
        self.problem, self.config, self.p, self.p_star, self.x_star = problem, config, p, p_star, x_star
        S, first = len(seeds), config.H * config.r_hat
        draws = min(config.draws, config.T_R - first)
        self.k = np.empty((S, draws), dtype=np.int64)
        for row, seed in enumerate(seeds):
            if draws:
                self.k[row] = stratified_draws(config.root_seed, int(seed), first, config.T_R, config.draws)
        self.e_bar = np.empty((2, S, draws))
        self.grad_f_sq = np.empty((2, S, draws))
        self.horizons = np.sort(np.array(config.horizons, dtype=np.int64))
        self.f_avg = np.empty((2, S, len(self.horizons)))
        self.records = config.record_rounds
        self.f = np.empty((S, len(self.records)))
        self.grad_f_sq_round = np.empty((S, len(self.records)))
        self.dist_sq = np.empty((S, len(self.records)))
        self.x_hat = np.empty((S, len(self.records), problem.n if config.models else 0))
        order = np.argsort(self.k, axis=None, kind="stable")
        steps, starts = np.unique(self.k.ravel()[order], return_index=True)
        self._due = [*steps.tolist(), config.T_R]  # the last stands for never
        self._due_cells = np.split(order, starts[1:])
        self._next_due = 0
        self._record_at = {int(r): j for j, r in enumerate(self.records)}
        self._horizon_at = {int(r): j for j, r in enumerate(self.horizons)}
        self._sum = np.zeros((2, S, problem.n)) if len(self.horizons) else None
        self._round_sum = np.zeros((S, problem.m, problem.n)) if len(self.horizons) else None
        self._pending: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # rounds, cells, iterates
        self._pending_floats = 0

    def round_start(self, r: int, x_hat: Float[np.ndarray, "S n"]) -> None:
        """Records round r's model (r = 0..R), if due."""
        j = self._record_at.get(r)
        if j is None:
            return
        if self.config.models:
            self.x_hat[:, j] = x_hat
        self.f[:, j] = self.problem.loss(x_hat, self.p_star)
        self.grad_f_sq_round[:, j] = square_norm(self.problem.gradient(x_hat, self.p_star))
        self.dist_sq[:, j] = np.nan if self.x_star is None else square_norm(x_hat - self.x_star)

    def recorded(self, r: int) -> bool:
        """Whether round r's model must be shown to `round_start` (engines may leave out the others)."""
        return r in self._record_at

    def due(self, k: int) -> bool:
        """Whether step k must be shown to `step` (engines may leave out the others)."""
        averaged = self._round_sum is not None and self.config.H * self.config.r_hat <= k
        return averaged or self._due[self._next_due] == k

    def due_in(self, r: int) -> list[int]:
        """The local steps h of round r that must be shown to `step`."""
        first, H = r * self.config.H, self.config.H
        if self._round_sum is not None and r >= self.config.r_hat:
            return list(range(H))
        stop = bisect_left(self._due, first + H, lo=self._next_due)
        return [k - first for k in self._due[self._next_due : stop]]

    def step(self, k: int, x: Float[np.ndarray, "S m n"]) -> None:
        """Sees the clients' iterates x_{i,k} before step k is made."""
        config = self.config
        if self._round_sum is not None and k >= config.H * config.r_hat and k // config.H < self.horizons[-1]:
            self._round_sum += x
        if self._due[self._next_due] != k:
            return
        cells = self._due_cells[self._next_due]
        self._next_due += 1
        rounds = np.full(len(cells), k // config.H)
        self.snapshot(rounds, cells, x[cells // self.k.shape[1]])

    def snapshot(
        self, rounds: Int[np.ndarray, " q"], cells: Int[np.ndarray, " q"], x: Float[np.ndarray, "q m n"]
    ) -> None:
        """Takes iterates x, one (seed, draw) cell and round each, to be measured soon (x is kept, not copied)."""
        self._pending.append((rounds, cells, x))
        self._pending_floats += x.size
        if self._pending_floats >= FLUSH:
            self._measure()

    def round_end(self, r: int) -> None:
        """Closes round r (its H steps are done): folds the round's sum into the running averages."""
        if self._round_sum is None or self._sum is None or not self.config.r_hat <= r < self.horizons[-1]:
            return
        for which in range(2):
            self._sum[which] += weighted(self._round_sum, self.p[r + which])
        self._round_sum[:] = 0.0
        self.average(r + 1, self._sum)

    def average(self, R: int, total: Float[np.ndarray, "2 S n"]) -> None:
        """Measures f at total/steps, the average of x_bar_k up to round R, if R is a horizon."""
        j = self._horizon_at.get(R)
        if j is not None:
            steps = self.config.H * (R - self.config.r_hat)
            self.f_avg[:, :, j] = self.problem.loss(total / steps, self.p_star)

    def finish(self) -> dict[str, np.ndarray]:
        """All measurements of the block, by name."""
        self._measure()
        return {
            "k": self.k,
            "grad_f_sq": self.grad_f_sq,
            "e_bar": self.e_bar,
            "f_avg": self.f_avg,
            "f": self.f,
            "grad_f_sq_round": self.grad_f_sq_round,
            "dist_sq": self.dist_sq,
            "x_hat": self.x_hat,
        }

    def _measure(self) -> None:
        """Averages, consensus errors and gradients of all iterates gathered."""
        if self._pending:
            rounds, cells, x = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
            self._pending, self._pending_floats = [], 0
            rest = max(1, FLUSH // x[0].size)
            for start in range(0, len(cells), rest):
                part = slice(start, start + rest)
                self._measure_batch(rounds[part], cells[part], x[part])

    def _measure_batch(
        self, rounds: Int[np.ndarray, " q"], cells: Int[np.ndarray, " q"], x: Float[np.ndarray, "q m n"]
    ) -> None:
        rows, columns = cells // self.k.shape[1], cells % self.k.shape[1]
        settled = np.array_equal(self.p[rounds], self.p[rounds + 1])  # then one average is the other
        for which in range(1 if settled else 2):
            p = self.p[rounds + which]
            average = weighted_rows(x, p)
            spread = square_norm(x - average[:, None, :])
            self.e_bar[which, rows, columns] = weighted_rows(spread[..., None], p)[..., 0]
            self.grad_f_sq[which, rows, columns] = square_norm(self.problem.gradient(average, self.p_star))
        if settled:
            for values in (self.e_bar, self.grad_f_sq):
                values[1, rows, columns] = values[0, rows, columns]


def square_norm(v: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch"]:
    """||v||^2 over the last axis."""
    return (v * v).sum(axis=-1)


def weighted_rows(
    values: Float[np.ndarray, "q m n"], p: Float[np.ndarray, "q m"]
) -> Float[np.ndarray, "q n"]:
    """sum_i p_qi values_qi in client order: `weighted` with weights of its own for each row."""
    total = p[:, 0, None] * values[:, 0]
    for i in range(1, values.shape[1]):
        total += p[:, i, None] * values[:, i]
    return total
