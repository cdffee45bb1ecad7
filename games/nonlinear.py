"""The built-in nonlinear games: costs, concave payoffs, common pools, the zero-sum power law."""

import numpy as np

from games.base import GameError, Numbers, Points, checked_box, checked_matrix, checked_vector
from games.composite import Composite
from games.scalars import Cubes, Exponentials, Powers, Reciprocals


def _nonnegative(name: str, values: Numbers, m: int) -> np.ndarray:
    array = checked_vector(name, values, m)
    if np.any(array < 0):
        i = int(np.flatnonzero(array < 0)[0])
        raise GameError(f"{name}[{i}] = {array[i]}: give numbers >= 0")
    return array


class CostlyDiscoveryGame(Composite):
    """Random discovery payoff Q Q' N with linear, quadratic, congestion and exponential costs.

    c_i(N) = cost_rate_i N_i + quadratic_i N_i^2/2 + congestion_i N_i sum_j N_j + scale_i (exp(rate_i N_i) -
    1), so F_i(N) = cost_rate_i - ||q_i||^2 + quadratic_i N_i + congestion_i (sum_j N_j + N_i) + scale_i
    rate_i exp(rate_i N_i).

    Args:
        labels: Q, [m, t]; cost_rate, quadratic, congestion, scale, rate: numbers or [m], at least 0.
        lower, upper: the box, [m].
    """

    def __init__(
        self,
        labels: Numbers,
        cost_rate: Numbers,
        lower: Numbers,
        upper: Numbers,
        quadratic: Numbers = 0.0,
        congestion: Numbers = 0.0,
        scale: Numbers = 0.0,
        rate: Numbers = 0.0,
    ) -> None:
        self.labels = checked_matrix("labels", labels)
        m = self.labels.shape[0]
        self.lower, self.upper = checked_box(lower, upper, m)
        self.cost_rate = _nonnegative("cost_rate", cost_rate, m)
        self.quadratic = _nonnegative("quadratic", quadratic, m)
        self.congestion = _nonnegative("congestion", congestion, m)
        self.scale, self.rate = _nonnegative("scale", scale, m), _nonnegative("rate", rate, m)
        worst = float(np.max(self.rate * np.maximum(np.abs(self.lower), np.abs(self.upper))))
        if worst > 600:
            raise GameError(f"rate * bound = {worst:.3g}: give at most 600 (exp overflows)")
        self.A = np.diag(self.quadratic + self.congestion) + self.congestion[:, None]
        self.b = self.cost_rate - np.einsum("ic,ic->i", self.labels, self.labels)
        self.U = self.V = np.eye(m)
        self.phi = Exponentials(self.scale, self.rate)

    def utility_losses(self, N: Points) -> Points:
        """l_i = c_i - a_i."""
        total = np.sum(N, axis=-1, keepdims=True)
        costs = N * (self.cost_rate + self.quadratic * N / 2.0 + self.congestion * total)
        return costs + self.scale * np.expm1(self.rate * N) - (N @ self.labels) @ self.labels.T


class ConcaveDiscoveryGame(Composite):
    """Payoff a_i(N) = worth log(1 + q_i Q' N): the same discovery with diminishing returns; quadratic costs.

    F_i(N) = cost_rate_i + quadratic_i N_i - worth ||q_i||^2 / (1 + q_i Q' N): nonsymmetric in general.

    Args:
        labels: Q, [m, t], at least 0; cost_rate, quadratic: numbers or [m], at least 0; worth: above 0.
        lower, upper: the box, [m], lower >= 0.
    """

    def __init__(
        self,
        labels: Numbers,
        cost_rate: Numbers,
        lower: Numbers,
        upper: Numbers,
        quadratic: Numbers = 0.0,
        worth: float | int = 1.0,
    ) -> None:
        self.labels = checked_matrix("labels", labels)
        if np.any(self.labels < 0):
            raise GameError(f"labels = {np.min(self.labels)}: give numbers >= 0")
        m = self.labels.shape[0]
        self.lower, self.upper = checked_box(lower, upper, m)
        if np.any(self.lower < 0):
            raise GameError(f"lower = {np.min(self.lower)}: give numbers >= 0 (log(1 + q_i Q'N))")
        self.cost_rate = _nonnegative("cost_rate", cost_rate, m)
        self.quadratic = _nonnegative("quadratic", quadratic, m)
        self.worth = float(_nonnegative("worth", worth, 1)[0])
        self.A, self.b = np.diag(self.quadratic), self.cost_rate
        self.U, self.V = np.eye(m), self.labels @ self.labels.T
        self.phi = Reciprocals(self.worth * np.diag(self.V).copy())

    def utility_losses(self, N: Points) -> Points:
        """l_i = cost_rate_i N_i + quadratic_i N_i^2 / 2 - worth log(1 + q_i Q' N)."""
        return N * (self.cost_rate + self.quadratic * N / 2.0) - self.worth * np.log1p(N @ self.V)


class SmoothPoolGame(Composite):
    """A common pool with F(N) = weight (sum_j N_j - target)^3 1: monotone, and flat where the pool is full.

    Every l_i = weight (sum_j N_j - target)^4 / 4. The equilibria are a slice of the box where sum N = target,
    when the box reaches it.

    Args:
        target: a number; lower, upper: the box, [m]; weight: above 0.
    """

    def __init__(
        self, target: float | int, lower: Numbers, upper: Numbers, weight: float | int = 1.0
    ) -> None:
        self.lower, self.upper = checked_box(lower, upper)
        m = self.lower.size
        self.target = float(checked_vector("target", target, 1)[0])
        self.weight = float(_nonnegative("weight", weight, 1)[0])
        self.A, self.b = np.zeros((m, m)), np.zeros(m)
        self.U = self.V = np.ones((m, 1))
        self.phi = Cubes(np.array([self.weight]), np.array([self.target]))

    def utility_losses(self, N: Points) -> Points:
        """weight (sum N - target)^4 / 4 for everybody."""
        loss = self.weight * (np.sum(N, axis=-1, keepdims=True) - self.target) ** 4 / 4.0
        return np.broadcast_to(loss, N.shape).copy()


class PowerLawGame(Composite):
    """The zero-sum game of Section 5.3: a_i(N) = 1 - alpha_i ||N||_1^(-beta_i), c_i = sum_{j != i} a_j.

    F_i(N) = sum_{j != i} alpha_j beta_j ||N||_1^(-beta_j - 1) - alpha_i beta_i ||N||_1^(-beta_i - 1) (the
    paper's formula). Not monotone in general, and l_i need not be convex in N_i: ask `games.properties`.

    Args:
        alpha: [m], above 0; beta: [m], in (0, 1]; lower, upper: the box, [m], lower >= 0 with a positive sum.
    """

    def __init__(self, alpha: Numbers, beta: Numbers, lower: Numbers, upper: Numbers) -> None:
        self.lower, self.upper = checked_box(lower, upper)
        m = self.lower.size
        self.alpha, self.beta = checked_vector("alpha", alpha, m), checked_vector("beta", beta, m)
        if np.any(self.alpha <= 0):
            raise GameError(f"alpha = {np.min(self.alpha)}: give numbers > 0")
        if np.any((self.beta <= 0) | (self.beta > 1)):
            raise GameError(f"beta = {self.beta.tolist()}: give numbers in (0, 1]")
        if np.any(self.lower < 0) or np.sum(self.lower) <= 0:
            raise GameError(
                f"lower = {self.lower.tolist()}: give numbers >= 0 with a positive sum (||N||_1 > 0)"
            )
        self.A, self.b = np.zeros((m, m)), np.zeros(m)
        self.U, self.V = np.ones((m, m)) - 2.0 * np.eye(m), np.ones((m, m))
        self.phi = Powers(self.alpha * self.beta, -self.beta - 1.0)

    def payoffs(self, N: Points) -> Points:
        """a_i = 1 - alpha_i ||N||_1^(-beta_i)."""
        return 1.0 - self.alpha * np.sum(N, axis=-1, keepdims=True) ** -self.beta

    def utility_losses(self, N: Points) -> Points:
        """l_i = sum_{j != i} a_j - a_i."""
        payoffs = self.payoffs(N)
        return np.sum(payoffs, axis=-1, keepdims=True) - 2.0 * payoffs
