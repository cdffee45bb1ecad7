"""Affine games with a diagonal plus low rank matrix: nothing of size m x m is formed above `DENSE_SIZE`
clients."""

from functools import cached_property

import flint
import numpy as np
from jaxtyping import Float, Int

from games.affine import Affine
from games.base import Matrix, Numbers, Points, Vector, checked_box, checked_matrix, checked_vector
from games.rounding import (
    TINY,
    accurate_affine,
    exact_rows_sum,
    fmpq,
    fmpq_matrix,
    gamma,
    norm_up,
    round_up,
    two_product,
)
from games.spectral import SpectralBound

DENSE_SIZE = 1000  # up to here the constants come from the dense matrix, and are sharp


class DiagonalPlusLowRank(Affine):
    """F(N) = diag(d) N + U V' N + b: products and solves cost O(m k^2).

    Subclasses give the utility losses.

    Args:
        d: float64 [m]; U, V: float64 [m, k]; b: float64 [m]; lower, upper: the box.
    """

    def __init__(
        self, d: Numbers, U: Numbers, V: Numbers, b: Numbers, lower: Numbers, upper: Numbers
    ) -> None:
        self.d = checked_vector("d", d)
        self.U = checked_matrix("U", U, self.d.size)
        self.V = checked_matrix("V", V, self.d.size)
        self.b = checked_vector("b", b, self.d.size)
        self.lower, self.upper = checked_box(lower, upper, self.d.size)

    @cached_property
    def _dense(self) -> Matrix:
        A = self.U @ self.V.T
        A[np.diag_indices(self.m)] += self.d
        A.setflags(write=False)
        return A

    @property
    def matrix(self) -> Matrix:
        """diag(d) + U V', rounded."""
        return self._dense

    @cached_property
    def _dense_error(self) -> float:
        size = np.abs(self.U) @ np.abs(self.V).T
        size[np.diag_indices(self.m)] += np.abs(self.d)
        k = self.U.shape[1]
        return norm_up(round_up(gamma(k + 1) * size, k + 2))

    @property
    def matrix_error(self) -> float:
        """gamma_{k+1} || |U| |V|' + diag |d| ||_F."""
        return self._dense_error

    def exact_matrix(self) -> flint.fmpq_mat:
        """diag(d) + U V' in exact rationals."""
        return self._rational

    @cached_property
    def _rational(self) -> flint.fmpq_mat:
        low_rank = fmpq_matrix(self.U) * fmpq_matrix(self.V).transpose()
        for i, x in enumerate(self.d.tolist()):
            low_rank[i, i] += fmpq(x)
        return low_rank

    def F(self, N: Points) -> Points:
        """d N + U (V' N) + b."""
        return self.d * N + (N @ self.V) @ self.U.T + self.b

    def F_error(self, N: Points) -> Points:
        """gamma_{m+k+3} (|d| |N| + |U| |V|' |N| + |b|), with room for the roundings of the bound itself."""
        steps = self.m + self.U.shape[1] + 3
        size = np.abs(self.d * N) + (np.abs(N) @ np.abs(self.V)) @ np.abs(self.U).T + np.abs(self.b)
        return round_up(gamma(steps) * size, steps + 2)

    def accurate_F(self, N: Vector) -> tuple[Vector, Vector]:
        """F(N) in twice the working precision: V'N as value plus correction, then the rest error-free."""
        columns = np.ascontiguousarray(self.V.T)
        inner, _ = accurate_affine(columns, N, np.zeros(columns.shape[0]))
        rest, rest_bound = accurate_affine(columns, N, -inner)  # V'N = inner + rest, up to rest_bound
        parts = [*two_product(self.U, inner), *two_product(self.U, rest)]
        diagonal = [x[:, None] for x in two_product(self.d, N)]
        value, bound = exact_rows_sum(np.concatenate([*parts, *diagonal, self.b[:, None]], axis=1))
        missing = np.abs(self.U) @ rest_bound
        return value, round_up(bound + missing, columns.shape[0] + 3) + TINY

    @cached_property
    def monotonicity(self) -> SpectralBound:
        """As `Affine.monotonicity`; for large m from the rank-one parts.

        (u v' + v u')/2 has the smallest eigenvalue (u'v - ||u|| ||v||)/2, so the modulus is at least
        min d - sum_k (||u_k|| ||v_k|| - u_k'v_k)/2 (over the moving clients).
        """
        if self.m <= DENSE_SIZE:
            return super().monotonicity
        free = self.moving
        if not np.any(free):
            return SpectralBound(self.lipschitz.value, exact=False)
        loss = 0.0
        for u, v in zip(self.U[free].T, self.V[free].T, strict=True):
            inner = float(u @ v)
            slack = gamma(self.m + 2) * float(np.abs(u) @ np.abs(v))
            loss += max(0.0, round_up(norm_up(u) * norm_up(v) - inner + 2.0 * slack, 4)) / 2.0
        value = float(np.min(self.d[free])) - round_up(loss, self.U.shape[1] + 2)
        if value < 0.0 and self.semidefinite_by_form:
            value = 0.0
        return SpectralBound(float(np.nextafter(value, -np.inf)) if value > 0.0 else value, exact=False)

    @cached_property
    def lipschitz(self) -> SpectralBound:
        """As `Affine.lipschitz`; for large m max |d| + sum_k ||u_k|| ||v_k||."""
        if self.m <= DENSE_SIZE:
            return super().lipschitz
        parts = [norm_up(u) * norm_up(v) for u, v in zip(self.U.T, self.V.T, strict=True)]
        total = float(np.max(np.abs(self.d))) + float(sum(parts))
        return SpectralBound(round_up(total, len(parts) + 3), exact=False)

    @cached_property
    def largest_F(self) -> float:
        """As `Affine.largest_F`; for large m coordinate by coordinate from the factors."""
        if self.m <= DENSE_SIZE:
            return super().largest_F
        centre = (self.lower + self.upper) / 2.0
        radius = round_up(np.maximum(self.upper - centre, centre - self.lower), 2)
        spread = np.abs(self.d) * radius + np.abs(self.U) @ (np.abs(self.V).T @ radius)
        steps = self.m + self.U.shape[1] + 4
        return norm_up(np.abs(self.F(centre)) + self.F_error(centre) + round_up(spread, steps))

    def row_sizes(self) -> Vector:
        """sum_j |A_ij|, or a little more."""
        return np.abs(self.d) + np.abs(self.U) @ np.sum(np.abs(self.V), axis=0)

    def solve_block(
        self, free: Int[np.ndarray, " f"], right: Float[np.ndarray, " f"]
    ) -> Float[np.ndarray, " f"]:
        """The free block's solution by the Sherman-Morrison-Woodbury formula.

        Raises:
            LinAlgError: a zero on the free diagonal, or a singular small system.
        """
        d, U, V = self.d[free], self.U[free], self.V[free]
        if np.any(d == 0):
            raise np.linalg.LinAlgError("a zero on the diagonal")
        plain, spread = right / d, U / d[:, None]
        small = np.eye(U.shape[1]) + V.T @ spread
        return plain - spread @ np.linalg.solve(small, V.T @ plain)


class LowRankGame(DiagonalPlusLowRank):
    """The game of a diagonal plus low rank matrix, with the simplest utility losses that have this F:
    l_i(N) = N_i (sum_{j != i} A_ij N_j + b_i) + A_ii N_i^2 / 2, A = diag(d) + U V'."""

    def utility_losses(self, N: Points) -> Points:
        """N_i (F_i(N) - A_ii N_i / 2)."""
        own = self.d + np.einsum("ik,ik->i", self.U, self.V)
        return N * (self.F(N) - own * N / 2.0)
