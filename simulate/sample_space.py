"""Rounds of a two-layer network in the space of its samples: the weights themselves are built only to be shown.

Every step adds a combination of samples to the first layer, so X1 = s X1_0 + A^T S throughout, with a number s and
S [samples, M], and the samples' pre-activations are Z = A X1 = s A X1_0 + K S, K = A A^T (`problems.gram`). With c =
1 - gamma regulariser and Delta_i what client i has added in this round, after h of its steps

    X1_i = c^h X1 + A_i^T Delta_i,   pre-activations of its samples   c^h Z_i + K_i Delta_i,   K_i = A_i A_i^T,

and at the round's end, Delta stacking the p_i Delta_i,

    s <- c^H (sum_i p_i) s,   S <- c^H (sum_i p_i) S + Delta.

The small second layer is held as it is. All clients step together: their batches are the rows of one array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float, Int

from simulate.config import RunConfig
from simulate.problems.base import weighted
from simulate.problems.network import TwoLayerNetwork, pulled_back, residuals

Batch = tuple[Int[np.ndarray, " _"] | None, float | np.ndarray, float | np.ndarray]


def pays(problem: TwoLayerNetwork, config: RunConfig) -> bool:
    """Whether rounds cost fewer multiplications here than with the weights themselves.

    With N = m max D_i places, b samples drawn a round (by all clients and steps), v iterates of all clients built a
    round to be shown and M hidden units: M (N^2 + b max D_i + 2 v N d) against the 2 M b d of two products a step. And
    the Gram matrix may take at most about twice the memory of the samples: N <= 2 d (beyond, building X1 every round
    would be cheaper than K S).
    """
    D, d = int(problem.sizes.max()), problem.width
    N = problem.m * D
    drawn = config.H * (int(problem.sizes.sum()) if config.sampling == "full" else problem.m * config.batch)
    shown = config.H if config.horizons else min(config.draws, config.T_R) / config.R
    shown += len(config.record_rounds) / config.R
    return N <= 2 * d and N * N + drawn * D + 2 * shown * N * d < 2 * drawn * d


class SampleSpace:
    """One seed's model and its rounds (see the module's text)."""

    def __init__(self, problem: TwoLayerNetwork, config: RunConfig) -> None:
        self.problem, self.gram, self.H, self.gamma = problem, problem.gram, config.H, config.gamma
        self.decay = 1.0 - config.gamma * problem.regulariser
        x_0: np.ndarray = config.x_0.astype(problem.dtype)
        self.X1_0, X2 = problem.layers(x_0)
        self.V, self.bias = X2[:-1], X2[-1]
        self.scale = 1.0
        self.S: np.ndarray = np.zeros((len(self.gram.target), problem.hidden), dtype=problem.dtype)
        self.Z_0 = np.zeros_like(self.S)
        self.Z_0[self.gram.place] = problem.A @ self.X1_0

    def x_hat(self) -> Float[np.ndarray, " n"]:
        """The server's model."""
        return np.concatenate([self._first_layer().ravel(), self.V.ravel(), self.bias])

    def round(
        self,
        rows: Int[np.ndarray, "m H batch"] | None,
        p_next: Float[np.ndarray, " m"],
        due: Sequence[int],
    ) -> list[Float[np.ndarray, "m n"]]:
        """One round of Algorithm 1 with these rows of the joined samples (None: full gradients); returns the clients'
        iterates before each of the steps `due`.
        """
        problem, gram, m, M = self.problem, self.gram, self.problem.m, self.problem.hidden
        delta: np.ndarray = np.zeros((m, gram.own.shape[1], M), dtype=problem.dtype)
        flat = delta.reshape(-1, M)
        V, bias = np.repeat(self.V[None], m, axis=0), np.repeat(self.bias[None], m, axis=0)
        X1 = self._first_layer() if due else self.X1_0
        Z = gram.whole @ self.S
        Z += self.scale * self.Z_0
        shown = []
        for h, (at, share, times) in enumerate(self._batches(rows)):
            if h in due:
                shown.append(self._iterates(self.decay**h * X1, flat, V, bias))
            pre = _taken(Z, at, m) * self.decay**h
            if h:  # at first Delta is zero
                pre += _taken(gram.own, at, m) @ delta
            phi, z = residuals(pre, V, bias, _taken(gram.target, at, m))
            z *= share
            back = pulled_back(phi, z * times, V)
            if problem.regulariser:
                for held in (delta, V, bias):
                    held *= self.decay
            if at is None:
                flat += back.reshape(-1, M)
            else:
                flat[at] = flat.take(at, axis=0) + back.reshape(-1, M)
            V += phi.swapaxes(1, 2) @ z
            bias += np.add.reduce(z, axis=1)
        delta *= p_next[:, None, None]
        kept = self.decay**self.H * float(p_next.sum(dtype=float))
        self.scale *= kept
        self.S *= kept
        self.S += flat
        self.V, self.bias = (weighted(held.reshape(m, -1), p_next) for held in (V, bias))
        self.V = self.V.reshape(M, -1)
        return shown

    def _batches(self, rows: Int[np.ndarray, "m H batch"] | None) -> Iterator[Batch]:
        """For each step: the places drawn, the factor -gamma/(batch size) of a residual, and how often its batch holds
        each place: a place that stands there t times is written t times, each time with t times its part.
        """
        gram, sizes = self.gram, self.problem.sizes
        if rows is None:
            share: np.ndarray = np.zeros(len(gram.target), dtype=self.problem.dtype)
            share[gram.place] = np.repeat(-self.gamma / sizes, sizes)
            yield from [(None, share.reshape(len(sizes), -1, 1), 1.0)] * self.H
            return
        at = gram.place[rows]
        by_step = at * self.H + np.arange(self.H)[:, None]
        times = np.bincount(by_step.ravel(), minlength=len(gram.target) * self.H)[by_step]
        times = times.astype(self.problem.dtype)[..., None]
        for h in range(self.H):
            yield at[:, h].ravel(), -self.gamma / rows.shape[2], times[:, h]

    def _first_layer(self) -> Float[np.ndarray, "d M"]:
        return self.scale * self.X1_0 + (self.S[self.gram.place].T @ self.problem.A).T

    def _iterates(
        self,
        X1: Float[np.ndarray, "d M"],
        flat: Float[np.ndarray, "mD M"],
        V: Float[np.ndarray, "m M c"],
        bias: Float[np.ndarray, "m c"],
    ) -> Float[np.ndarray, "m n"]:
        """The clients' weights: X1 + A_i^T Delta_i and their second layers."""
        problem, added = self.problem, flat[self.gram.place]
        out: np.ndarray = np.empty((problem.m, problem.n), dtype=problem.dtype)
        for i, x in enumerate(out):
            rows, (first, second) = problem.rows(i), problem.layers(x)
            first[:] = X1 + (added[rows].T @ problem.A[rows]).T
            second[:-1], second[-1] = V[i], bias[i]
        return out


def _taken(
    table: Float[np.ndarray, "mD k"], at: Int[np.ndarray, " _"] | None, m: int
) -> Float[np.ndarray, "m b k"]:
    """The rows at these places, client by client (None: all)."""
    rows = table if at is None else table.take(at, axis=0)
    return rows.reshape(m, -1, table.shape[1])
