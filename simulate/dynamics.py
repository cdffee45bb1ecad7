"""The game's dynamics alone, for very many clients: a coupled affine game whose Jacobian is diagonal plus
low rank.

One pass over the data a round: while a block of clients is in cache it is moved, and its share of V^T N for
the next round is added up. The matrices are copied once, block by block, with the clients along the rows: products
with ten long rows run twice as fast as with a million short ones. Memory is O(m); no trajectory is kept (for that,
and for its rounding bound, see `participation`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

BLOCK = 8192  # clients moved together: 10 columns of U make 640 KiB


@runtime_checkable
class LowRankGame(Protocol):
    """F(N) = d N + U V^T N + b on a box: `games.affine.DiagonalPlusLowRank` and its kin."""

    d: Float[np.ndarray, " m"]
    U: Float[np.ndarray, "m k"]
    V: Float[np.ndarray, "m k"]
    b: Float[np.ndarray, " m"]
    lower: Float[np.ndarray, " m"]
    upper: Float[np.ndarray, " m"]


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Where the dynamics stand: N [m] after `rounds` rounds, and the length ||N_R - N_{R-1}|| of the last step."""

    N: Float[np.ndarray, " m"]
    rounds: int
    last_step: float


def dynamics(game: LowRankGame, N_0: Float[np.ndarray, " m"], gamma_tilde: float, R: int) -> Dynamics:
    """N_{r+1} = Pi_box[N_r - gamma_tilde F(N_r)] for R rounds (line 10 of Algorithm 1, strongly monotone
    update).

    Raises:
        ValueError: for an N_0 of the wrong length or outside the box, gamma_tilde <= 0 or R < 1.
    """
    if N_0.shape != game.d.shape or not np.all((game.lower <= N_0) & (game.upper >= N_0)):
        raise ValueError(f"N_0 has shape {N_0.shape}: {len(game.d)} numbers inside the box")
    if not (np.isfinite(gamma_tilde) and gamma_tilde > 0) or R < 1:
        raise ValueError(f"gamma_tilde = {gamma_tilde}, R = {R}: a step > 0 and at least one round")
    N = N_0.astype(float)
    keep, shift = 1.0 - gamma_tilde * game.d, -gamma_tilde * game.b
    U = _blocks(game.U)
    V = U if np.array_equal(game.U, game.V) else _blocks(game.V)  # read once a round where they are the same
    z, square = game.V.T @ N, 0.0
    buffer = np.empty((2, BLOCK))
    for r in range(R):
        pull, ahead = gamma_tilde * z, np.zeros_like(z)
        for q, (u, v) in enumerate(zip(U, V, strict=True)):
            part = slice(q * BLOCK, (q + 1) * BLOCK)
            here = N[part]
            step, coupled = buffer[:, : len(here)]
            np.multiply(keep[part], here, out=step)
            step += shift[part]
            np.dot(pull, u, out=coupled)
            step -= coupled
            np.maximum(step, game.lower[part], out=step)
            if r == R - 1:
                square += float(np.sum((np.minimum(step, game.upper[part]) - here) ** 2))
            np.minimum(step, game.upper[part], out=here)
            ahead += v @ here
        z = ahead
    return Dynamics(N, R, float(np.sqrt(square)))


def _blocks(X: Float[np.ndarray, "m k"]) -> list[Float[np.ndarray, "k _"]]:
    """X^T in blocks of BLOCK columns, each contiguous."""
    return [np.ascontiguousarray(X[first : first + BLOCK].T) for first in range(0, len(X), BLOCK)]
