"""Thousands of small affine games in one call, with a verdict for each."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int8

from games.base import LARGEST, GameError
from games.engines import Engine, choose
from games.lemke import lemke
from games.pivoting import FREE, LOWER, PATIENCE, UPPER, default_budget
from games.rounding import gamma, round_up

Batch = Float[np.ndarray, "B m"]
Matrices = Float[np.ndarray, "B m m"]


class Verdict(StrEnum):
    """What is known about one game of a batch."""

    SOLVED = "solved"
    NOT_SOLVED = "not solved"


@dataclass(frozen=True, eq=False)
class BatchResult:
    """The points with their proven residuals; the distances are proven when first asked for.

    Attributes:
        A: the matrices, [B, m, m].
        N: float64 [B, m].
        residual: proven bounds on the tangent residuals, [B].
        limit: tol * scale, [B].
    """

    A: Matrices

    N: Batch
    residual: Float[np.ndarray, " B"]
    limit: Float[np.ndarray, " B"]

    @cached_property
    def mu_F(self) -> Float[np.ndarray, " B"]:
        """Proven lower bounds on the moduli of strong monotonicity (on all of R^m)."""
        return moduli(self.A)

    @cached_property
    def error_bound(self) -> Float[np.ndarray, " B"]:
        """Proven distances to N*; infinity where no positive modulus was proven, or the game not solved."""
        good = (self.mu_F > 0) & (self.residual <= self.limit)
        return np.where(good, np.nextafter(self.residual / np.where(good, self.mu_F, 1.0), np.inf), np.inf)

    @property
    def verdicts(self) -> list[Verdict]:
        """One for each game."""
        return [Verdict.SOLVED if ok else Verdict.NOT_SOLVED for ok in self.residual <= self.limit]


def solve_batch(
    A: np.ndarray,
    b: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    tol: float = 1e-9,
    engine: str | Engine = Engine.AUTO,
) -> BatchResult:
    """Solve B affine games F(N) = A[g] N + b[g] over their boxes.

    Args:
        A: float64 [B, m, m]; b, lower, upper: float64 [B, m].
        tol: relative to max(1, ||A||_F ||N|| + ||b||).
        engine: "auto", "numba" or "numpy".

    Raises:
        GameError: shapes that do not fit, NaN or infinite data, lower > upper, a bad tolerance or engine.
    """
    if b.ndim != 2 or A.shape != (*b.shape, b.shape[1]) or lower.shape != b.shape or upper.shape != b.shape:
        raise GameError(
            f"shapes {A.shape}, {b.shape}, {lower.shape}, {upper.shape}: give [B, m, m] and [B, m]"
        )
    for name, values in (("A", A), ("b", b), ("lower", lower), ("upper", upper)):
        good = np.abs(values) <= LARGEST
        if not np.all(good):
            g = int(np.nonzero(~good)[0][0])
            raise GameError(f"{name} of game {g} has NaN or entries beyond 1e100: give finite numbers")
    if np.any(lower > upper):
        g = int(np.nonzero(lower > upper)[0][0])
        raise GameError(f"game {g}: lower > upper: give lower <= upper")
    if not (np.isfinite(tol) and 0 < tol < 1):
        raise GameError(f"tol = {tol}: give a number in (0, 1)")
    N, residual = _numba(A, b, lower, upper) if choose(engine) is Engine.NUMBA else _numpy(A, b, lower, upper)
    size = np.linalg.norm(A.reshape(b.shape[0], -1), axis=1) * np.linalg.norm(N, axis=1)
    limit = tol * np.maximum(1.0, size + np.linalg.norm(b, axis=1))
    for g in np.flatnonzero(residual > limit).tolist():
        found = lemke(A[g], b[g], lower[g], upper[g])
        retried = np.clip(found.N, lower[g], upper[g])
        rest = tangent_residuals(
            A[g : g + 1], b[g : g + 1], lower[g : g + 1], upper[g : g + 1], retried[None]
        )[0]
        if rest < residual[g]:
            N[g], residual[g] = retried, rest
    return BatchResult(A, N, residual, limit)


def moduli(A: Matrices) -> Float[np.ndarray, " B"]:
    """Proven lower bounds on the smallest eigenvalues of (A + A')/2 (not of the moving clients only).

    Weyl with a computed eigendecomposition S = V diag(w) V' + R, V'V = I + D: lambda_min >= min(w) (1 -+
    ||D||) - ||R||, the residuals R and D evaluated with their rounding errors.
    """
    S = (A + A.transpose(0, 2, 1)) / 2.0
    w, V = np.linalg.eigh(S)
    m = A.shape[1]
    size = round_up(np.sqrt(np.sum(S * S, axis=(1, 2))), m * m + 4)
    rebuilt = (V * w[:, None, :]) @ V.transpose(0, 2, 1)
    product = (np.abs(V) * np.abs(w)[:, None, :]) @ np.abs(V).transpose(0, 2, 1)
    R = np.abs(S - rebuilt) + 2.0 * gamma(m + 4) * product + 2.0**-53 * np.abs(S)
    D = np.abs(V.transpose(0, 2, 1) @ V - np.eye(m)) + 2.0 * gamma(m + 2) * (
        np.abs(V).transpose(0, 2, 1) @ np.abs(V)
    )
    R_norm = round_up(np.sqrt(np.sum(R * R, axis=(1, 2))), m * m + 8)
    D_norm = round_up(np.sqrt(np.sum(D * D, axis=(1, 2))), m * m + 8)
    lowest = w[:, 0]
    return lowest - np.abs(lowest) * D_norm - R_norm - 4.0 * 2.0**-53 * size - 2.0**-1000


def tangent_residuals(A: Matrices, b: Batch, lower: Batch, upper: Batch, N: Batch) -> Float[np.ndarray, " B"]:
    """Proven bounds on dist(-F(N), normal cone), game by game."""
    m = b.shape[1]
    value = np.einsum("gij,gj->gi", A, N) + b
    bound = round_up(gamma(m + 2) * (np.einsum("gij,gj->gi", np.abs(A), np.abs(N)) + np.abs(b)), m + 3)
    part = np.where(lower < N, np.maximum(value + bound, 0.0), 0.0)
    part = np.maximum(part, np.where(upper > N, np.maximum(bound - value, 0.0), 0.0))
    return round_up(np.sqrt(np.sum(part * part, axis=1)), m + 6)


def _numba(A: Matrices, b: Batch, lower: Batch, upper: Batch) -> tuple[Batch, Float[np.ndarray, " B"]]:
    from games import pivoting_fast

    N, residual = np.empty_like(b), np.empty(b.shape[0])
    state = np.zeros(b.shape, dtype=np.int8)
    consistent, iterations = np.zeros(b.shape[0], dtype=bool), np.zeros(b.shape[0], dtype=np.int64)
    data = pivoting_fast.frozen(A, b, lower, upper)
    budget = default_budget(b.shape[1])
    pivoting_fast.pivot_batch(*data, budget, PATIENCE, N, state, consistent, iterations, residual)
    return N, residual


def _numpy(A: Matrices, b: Batch, lower: Batch, upper: Batch) -> tuple[Batch, Float[np.ndarray, " B"]]:
    """Block pivoting on all games at once: fixed clients get identity rows, solved games drop out."""
    state = np.where(lower < upper, FREE, LOWER).astype(np.int8)
    N = np.clip(np.zeros_like(b), lower, upper)
    open_games = np.arange(b.shape[0])
    for _ in range(default_budget(b.shape[1])):
        found, wanted = _step(
            A[open_games], b[open_games], lower[open_games], upper[open_games], state[open_games]
        )
        N[open_games] = np.clip(found, lower[open_games], upper[open_games])
        moved = np.any(wanted != state[open_games], axis=1)
        state[open_games] = wanted
        open_games = open_games[moved]
        if open_games.size == 0:
            break
    return N, tangent_residuals(A, b, lower, upper, N)


def _step(
    A: Matrices, b: Batch, lower: Batch, upper: Batch, state: Int8[np.ndarray, "B m"]
) -> tuple[Batch, Int8[np.ndarray, "B m"]]:
    free = state == FREE
    fixed = np.where(state == UPPER, upper, lower)
    matrix = np.where(free[:, :, None], A, np.eye(b.shape[1]))
    right = np.where(free, -b, fixed)
    try:
        N = np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        # one singular game spoils the whole call: least squares game by game, the residual will judge
        N = np.stack([np.linalg.lstsq(M, r, rcond=None)[0] for M, r in zip(matrix, right, strict=True)])
    N = np.where(free, N, fixed)
    slope = np.einsum("gij,gj->gi", A, N) + b
    moving = lower < upper
    wanted = state.copy()
    wanted[free & (lower > N)] = LOWER
    wanted[free & (upper < N)] = UPPER
    wanted[(state == LOWER) & (slope < 0) & moving] = FREE
    wanted[(state == UPPER) & (slope > 0) & moving] = FREE
    return N, wanted
