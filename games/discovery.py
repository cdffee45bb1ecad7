"""The random discovery game of Sections 2.1 and 5.1."""

import numpy as np

from games.base import GameError, Numbers, Points, checked_matrix, checked_vector
from games.low_rank import DiagonalPlusLowRank


class DiscoveryGame(DiagonalPlusLowRank):
    """Payoff a(N) = Q Q' N, cost c_i(N) = cost_rate_i N_i + congestion_i N_i sum_j N_j + regulariser N_i^2
    / 2.

    Hence F_i(N) = cost_rate_i - ||q_i||^2 + regulariser N_i + congestion_i (sum_j N_j + N_i): affine,
    decoupled without congestion (as in Section 5.1), nonsymmetric when the congestion differs between
    clients. `b_i` = fl(cost_rate_i - ||q_i||^2) and `d_i` = fl(regulariser + congestion_i) are rounded once
    here; the game is the one with these stored numbers.

    Args:
        labels: Q, float64 [m, t]; row q_i is client i's label distribution (rewards per label in general).
        cost_rate: theta of Section 5.1 (lambda_i in Section 2.1), a number or [m].
        lower, upper: the box, [m].
        regulariser: at least 0 (10^-5 in Section 5.1).
        congestion: at least 0, a number or [m].

    Raises:
        GameError: negative labels, cost rates, regulariser or congestion; bad shapes; NaN; lower > upper.
    """

    def __init__(
        self,
        labels: Numbers,
        cost_rate: Numbers,
        lower: Numbers,
        upper: Numbers,
        regulariser: float | int = 0.0,
        congestion: Numbers = 0.0,
    ) -> None:
        self.labels = checked_matrix("labels", labels)
        m = self.labels.shape[0]
        self.cost_rate = checked_vector("cost_rate", cost_rate, m)
        self.regulariser = float(checked_vector("regulariser", regulariser, 1)[0])
        self.congestion = checked_vector("congestion", congestion, m)
        for name in ("labels", "cost_rate", "congestion"):
            if np.any(getattr(self, name) < 0):
                raise GameError(f"{name} = {np.min(getattr(self, name))}: give numbers >= 0")
        if self.regulariser < 0:
            raise GameError(f"regulariser = {self.regulariser}: give a number >= 0")
        self.worth = np.einsum("ic,ic->i", self.labels, self.labels)
        super().__init__(
            d=self.regulariser + self.congestion,
            U=self.congestion[:, None],
            V=np.ones((m, 1)),
            b=self.cost_rate - self.worth,
            lower=lower,
            upper=upper,
        )

    def payoffs(self, N: Points) -> Points:
        """a(N) = Q Q' N."""
        return (N @ self.labels) @ self.labels.T

    def costs(self, N: Points) -> Points:
        """cost_rate_i N_i + congestion_i N_i sum_j N_j + regulariser N_i^2 / 2."""
        total = np.sum(N, axis=-1, keepdims=True)
        return N * (self.cost_rate + self.congestion * total + self.regulariser * N / 2.0)

    def utility_losses(self, N: Points) -> Points:
        """l_i = c_i - a_i."""
        return self.costs(N) - self.payoffs(N)
