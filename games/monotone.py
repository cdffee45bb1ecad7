"""Merely monotone affine games whose monotonicity is a matter of form: common pools, skew plus
semidefinite."""

import numpy as np

from games.base import GameError, Numbers, Points, checked_box, checked_matrix, checked_vector
from games.low_rank import DiagonalPlusLowRank


class CommonPoolGame(DiagonalPlusLowRank):
    """F(N) = weight (sum_j N_j - target) 1, with l_i = weight (sum_j N_j - target)^2 / 2 for everybody.

    Monotone, not strongly (m >= 2): the equilibria are {N in the box: sum N = target} when the box reaches
    the target, a continuum of dimension m - 1 in general.

    Args:
        target: a number; lower, upper: the box, [m]; weight: above 0.
    """

    def __init__(
        self, target: float | int, lower: Numbers, upper: Numbers, weight: float | int = 1.0
    ) -> None:
        low, high = checked_box(lower, upper)
        m = low.size
        self.target = float(checked_vector("target", target, 1)[0])
        self.weight = float(checked_vector("weight", weight, 1)[0])
        if self.weight <= 0:
            raise GameError(f"weight = {self.weight}: give a number > 0")
        ones = np.ones((m, 1))
        b = np.full(m, -self.weight * self.target)
        super().__init__(np.zeros(m), self.weight * ones, ones, b, low, high)

    @property
    def semidefinite_by_form(self) -> bool:
        """weight 1 1' is positive semidefinite."""
        return True

    def utility_losses(self, N: Points) -> Points:
        """weight (sum N - target)^2 / 2 for everybody."""
        loss = self.weight * (np.sum(N, axis=-1, keepdims=True) - self.target) ** 2 / 2.0
        return np.broadcast_to(loss, N.shape).copy()


class SkewGame(DiagonalPlusLowRank):
    """F(N) = (P R' - R P' + B B') N + b: skew plus semidefinite, both of low rank, monotone exactly.

    Stored in factors, so that rounding cannot spoil the monotonicity. The utility losses are
    l_i(N) = N_i (sum_{j != i} A_ij N_j + b_i) + A_ii N_i^2 / 2.

    Args:
        P, R: [m, k]; b: [m]; lower, upper: the box; B: [m, l] or None for a purely skew game.
    """

    def __init__(
        self, P: Numbers, R: Numbers, b: Numbers, lower: Numbers, upper: Numbers, B: Numbers | None = None
    ) -> None:
        self.P = checked_matrix("P", P)
        m, k = self.P.shape
        self.R = checked_matrix("R", R, m)
        if self.R.shape[1] != k:
            raise GameError(f"R has shape {self.R.shape}: give the shape of P, {self.P.shape}")
        self.B = np.zeros((m, 1)) if B is None else checked_matrix("B", B, m)
        U = np.concatenate([self.P, -self.R, self.B], axis=1)
        V = np.concatenate([self.R, self.P, self.B], axis=1)
        super().__init__(np.zeros(m), U, V, b, lower, upper)

    @property
    def semidefinite_by_form(self) -> bool:
        """The symmetric part is B B'."""
        return True

    def utility_losses(self, N: Points) -> Points:
        """N_i (sum_{j != i} A_ij N_j + b_i) + A_ii N_i^2 / 2."""
        diagonal = np.einsum("ik,ik->i", self.U, self.V)
        return N * (self.F(N) - diagonal * N / 2.0)
