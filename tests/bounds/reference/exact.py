"""A tiny exact simulator: IncentFedAvg on quadratics (all moments), and on the line with full gradients.

Works on float arrays and on object arrays of Fractions alike. Inside round r the averages use q_r = p_{r+1},
the weights with which the server aggregates, unless `now` gives the paper's p_r.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Game:
    """F(N) = A (N - N_star) + w on a box; w_i has the sign that makes N_star its equilibrium."""

    A: Array
    w: Array
    lower: Array
    upper: Array
    N_star: Array

    def trajectory(self, N_0: Array, gamma_tilde: Any, R: int) -> Array:
        """N_0, ..., N_R of the projected gradient update, [R + 1, m]."""
        N = [N_0]
        for _ in range(R):
            step = N[-1] - gamma_tilde * (self.A @ (N[-1] - self.N_star) + self.w)
            N.append(np.minimum(np.maximum(step, self.lower), self.upper))
        return np.array(N)


def weights(N: Array) -> Array:
    """p_{i,r} = N_{i,r}/sum_j N_{j,r}, [R + 1, m]."""
    return N / N.sum(axis=-1, keepdims=True)


@dataclass(frozen=True)
class Observed:
    """Expectations at the steps k of rounds 0..R-1, each [H R], and what the window from r_hat on yields."""

    grad_f_sq: Array
    gap: Array
    X_sq: Array
    e_bar: Array
    V: Array  # sum_i q_i E||grad f_i(x_bar)||^2
    grad_fi_sq_sum: Array
    gap_avg: Any  # E f(x_bar^avg) - f*
    boundary: Array  # ||x_bar_{k+1} - (x_bar_k - gamma g_bar_k)||^2 of the means, [H R]


@dataclass(frozen=True)
class Quadratics:
    """f_i(x) = (x - c_i)^T A_i (x - c_i)/2, A [m, n, n], c [m, n]; noise of variance nu^2 per client."""

    A: Array
    c: Array
    p_star: Array
    nu_sq: Any = 0
    correlated: bool = False  # all clients draw the same noise

    @property
    def mean_A(self) -> Array:
        return sum(p * A for p, A in zip(self.p_star, self.A, strict=True))

    def minimiser(self) -> Array:
        right = sum(p * (A @ c) for p, A, c in zip(self.p_star, self.A, self.c, strict=True))
        return solve(self.mean_A, right)

    def loss(self, i: int, x: Array) -> Any:
        return (x - self.c[i]) @ self.A[i] @ (x - self.c[i]) / 2

    def gradients_at(self, x: Array) -> Array:
        return np.array([A @ (x - c) for A, c in zip(self.A, self.c, strict=True)])


def solve(M: Array, b: Array) -> Array:
    """Gauss elimination with pivoting that serves Fractions too."""
    M, b, n = M.copy(), b.copy(), len(b)
    for j in range(n):
        k = j + int(np.argmax([abs(v) for v in M[j:, j]]))
        M[[j, k]], b[[j, k]] = M[[k, j]], b[[k, j]]
        for i in range(j + 1, n):
            factor = M[i, j] / M[j, j]
            M[i] = M[i] - factor * M[j]
            b[i] = b[i] - factor * b[j]
    x = b.copy()
    for j in reversed(range(n)):
        x[j] = (b[j] - M[j, j + 1 :] @ x[j + 1 :]) / M[j, j]
    return x


def trace(M: Array) -> Any:
    return sum(M[i, i] for i in range(len(M)))


class _State:
    """Mean and covariance of (x_1, ..., x_m, sum of x_bar so far); every step is a linear map."""

    def __init__(self, x_0: Array, m: int) -> None:
        self.m, self.n = m, len(x_0)
        zero = x_0[0] * 0
        self.one = zero + 1
        self.mean = np.concatenate([np.tile(x_0, m), np.full(self.n, zero)])
        self.cov = np.full((self.mean.size, self.mean.size), zero)
        self.eye = np.full((self.n, self.n), zero)
        for j in range(self.n):
            self.eye[j, j] = self.one

    def block(self, i: int) -> slice:
        return slice(i * self.n, (i + 1) * self.n)

    def identity(self) -> Array:
        E = self.cov * 0
        for j in range(len(E)):
            E[j, j] = self.one
        return E

    def apply(self, M: Array, shift: Array | None = None, noise: Array | None = None) -> None:
        self.mean = M @ self.mean if shift is None else M @ self.mean + shift
        self.cov = M @ self.cov @ M.T
        if noise is not None:
            self.cov = self.cov + noise

    def row(self, coefficients: Array) -> Array:
        """The map to sum_i coefficients_i x_i."""
        rows = [self.eye * v for v in coefficients]
        return np.concatenate([*rows, self.eye * 0], axis=1)


def _noise(problem: Quadratics, state: _State, gamma: Any) -> Array | None:
    if problem.nu_sq == 0:
        return None
    per_axis = gamma**2 * problem.nu_sq / state.n
    cov = state.cov * 0
    for i in range(state.m):
        for j in range(state.m):
            if i == j or problem.correlated:
                cov[state.block(i), state.block(j)] = state.eye * per_axis
    return cov


def run_quadratics(
    problem: Quadratics, q: Array, x_0: Array, gamma: Any, H: int, r_hat: int = 0, now: Array | None = None
) -> Observed:
    """R = len(q) rounds; `q[r]` aggregates round r and, unless `now[r]` does, forms what is observed."""
    m, x_star, mean_A = len(problem.A), problem.minimiser(), problem.mean_A
    state = _State(x_0, m)
    noise, step, shift = _noise(problem, state, gamma), state.identity(), state.mean * 0
    for i in range(m):
        b = state.block(i)
        step[b, b] = state.eye - gamma * problem.A[i]
        shift[b] = gamma * (problem.A[i] @ problem.c[i])
    rows: dict[str, list[Any]] = {k: [] for k in ("grad_f_sq", "gap", "X_sq", "e_bar", "V", "all", "jump")}
    expected: Array | None = None
    for r, aggregate in enumerate(q):
        seen = aggregate if now is None else now[r]
        average = state.row(seen)
        collect = state.identity()
        collect[m * state.n :, : m * state.n] = average[:, : m * state.n]
        for _ in range(H):
            mean, cov = average @ state.mean, average @ state.cov @ average.T
            _observe(rows, problem, state, seen, mean, cov, mean_A, x_star)
            if expected is not None:
                rows["jump"].append((mean - expected) @ (mean - expected))
            gradients = [A @ (state.mean[state.block(i)] - problem.c[i]) for i, A in enumerate(problem.A)]
            expected = mean - gamma * sum(w * g for w, g in zip(seen, gradients, strict=True))
            if r >= r_hat:
                state.apply(collect)
            state.apply(step, shift, noise)
        merge = state.identity()
        for i in range(m):
            merge[state.block(i)] = state.row(aggregate)
        state.apply(merge)
    count = H * (len(q) - r_hat)
    total, spread = state.mean[m * state.n :] / count, state.cov[m * state.n :, m * state.n :] / count**2
    y = total - x_star
    gap_avg = (y @ mean_A @ y + trace(mean_A @ spread)) / 2
    rows["jump"].append(gap_avg * 0)
    return Observed(*(np.array(v) for k, v in rows.items() if k != "jump"), gap_avg, np.array(rows["jump"]))


def _observe(
    rows: dict[str, list[Any]],
    problem: Quadratics,
    state: _State,
    q: Array,
    mean: Array,
    cov: Array,
    mean_A: Array,
    x_star: Array,
) -> None:
    y, g = mean - x_star, mean_A @ (mean - x_star)
    rows["grad_f_sq"].append(g @ g + trace(mean_A @ cov @ mean_A))
    rows["gap"].append((y @ mean_A @ y + trace(mean_A @ cov)) / 2)
    rows["X_sq"].append(y @ y + trace(cov))
    squares = [v @ v + trace(A @ cov @ A) for v, A in zip(problem.gradients_at(mean), problem.A, strict=True)]
    rows["V"].append(sum(w * s for w, s in zip(q, squares, strict=True)))
    rows["all"].append(sum(squares))
    error = 0
    for i, w in enumerate(q):
        own = np.array([state.one * (i == j) for j in range(state.m)])
        D = state.row(own - q)
        d = D @ state.mean
        error = error + w * (d @ d + trace(D @ state.cov @ D.T))
    rows["e_bar"].append(error)


@dataclass(frozen=True)
class Curve:
    """One-dimensional losses with full gradients: `loss(x)` and `slope(x)` map [...] to [..., m]."""

    loss: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    p_star: Array
    x_star: float
    f_star: float


def run_curve(problem: Curve, q: Array, x_0: float, gamma: float, H: int, r_hat: int = 0) -> Observed:
    """The deterministic run of R = len(q) rounds."""
    xs, centre = [], float(x_0)
    for aggregate in q:
        x = np.full(q.shape[1], centre)
        for _ in range(H):
            xs.append(x)
            x = x - gamma * np.diagonal(problem.slope(x))
        centre = float(aggregate @ x)
    points, per_step = np.array(xs), np.repeat(q, H, axis=0)
    bar = (points * per_step).sum(axis=1)
    slopes, gap = problem.slope(bar), problem.loss(bar) @ problem.p_star - problem.f_star
    average = bar[H * r_hat :].mean()
    return Observed(
        grad_f_sq=(slopes @ problem.p_star) ** 2,
        gap=gap,
        X_sq=(bar - problem.x_star) ** 2,
        e_bar=(per_step * (points - bar[:, None]) ** 2).sum(axis=1),
        V=(per_step * slopes**2).sum(axis=1),
        grad_fi_sq_sum=(slopes**2).sum(axis=1),
        gap_avg=float(problem.loss(average) @ problem.p_star - problem.f_star),
        boundary=np.zeros(len(bar)),
    )
