"""Linear models with the saturating regulariser, which is not convex: Welsch's loss and logistic regression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from bounds.core.constant import Constant, Provenance
from simulate.problems.base import UP
from simulate.problems.linear.model import LinearModel
from simulate.problems.scalar import Logistic, Saturating, Welsch
from simulate.streams import Purpose, generator


class _NonconvexLinear(LinearModel):
    """Linear models with the saturating regulariser: no certified minimiser, bounded gradients."""

    def _lowest(self, p: Float[np.ndarray, " m"]) -> float:
        """The lowest value of sum_i p_i f_i that gradient descent finds from 8 starts."""
        rng = generator(0, 0, 0, Purpose.START)
        starts = np.concatenate([np.zeros((1, self.n)), rng.standard_normal((7, self.n))])
        step = 1.0 / self.smoothness()
        for _ in range(300):
            starts = starts - step * self.gradient(starts, p)
        return float(self.loss(starts, p).min()) * UP

    def constants(
        self,
        p_star: Float[np.ndarray, " m"],
        *,
        sampling: str = "iid",
        batch: int = 1,
        replacement: str = "with",
        t: float | None = None,
    ) -> dict[str, Constant]:
        """See `Problem.constants`; without `t`: B = 0 and G^2 = mean_i (K_i + sup ||grad regulariser||)^2."""
        p_star = np.asarray(p_star, dtype=float)
        certified = Provenance.CERTIFIED
        whole, parts = self._lowest(p_star), np.array([self._lowest(row) for row in np.eye(self.m)])
        note = "between 0 and the best value found"
        constants = {
            **self._common_constants(p_star, sampling, batch, replacement),
            "f_star": Constant("f_star", whole / 2, certified, whole / 2, note),
            "f_i_star": Constant("f_i_star", parts / 2, certified, parts / 2, note),
        }
        if t is None:
            common = self.regulariser.weight * self.regulariser.slope_max * float(np.sqrt(self.n))
            G = float(np.sqrt(((self.K + common) ** 2).mean())) * UP
            constants["G"] = Constant("G", G, certified, note="sup of the clients' gradients")
            constants["B"] = Constant("B", 0.0, Provenance.EXACT, note="bounded gradients: B = 0 will do")
        else:
            constants |= self._pair(p_star, t)
        ceiling = self.scalar.value_max + self.regulariser.weight * self.n * self.regulariser.value_max
        if np.isfinite(ceiling):
            constants["f_sup"] = Constant(
                "f_sup", ceiling, certified, note="loss and regulariser are bounded"
            )
        return constants

    def displacement_ceiling(self, x_0: Float[np.ndarray, " n"], gamma: float, K: int) -> float:
        """gamma K sup ||sample gradient||."""
        return gamma * K * self._step_ceiling() * UP

    def grad_f_sq_ceiling(
        self, x_0: Float[np.ndarray, " n"], gamma: float, K: int, p_star: Float[np.ndarray, " m"]
    ) -> float:
        """The base class's bound, or the square of the bounded gradient's supremum if smaller."""
        common = self.regulariser.weight * self.regulariser.slope_max * float(np.sqrt(self.n))
        bounded = (float(p_star @ self.K) + common) ** 2 * UP
        return min(bounded, super().grad_f_sq_ceiling(x_0, gamma, K, p_star))


class WelschRegression(_NonconvexLinear):
    """f~_i(x, j) = 1 - exp(-(a_j^T x - b_j)^2/2) + regulariser sum_d x_d^2/(1 + x_d^2), regulariser >= 0.

    Bounded (sup f finite, so Theorem 4.6(ii) applies), nonconvex, with bounded gradients (B = 0).
    """

    name = "welsch"

    def __init__(
        self, features: Sequence[np.ndarray], targets: Sequence[np.ndarray], regulariser: float = 0.0
    ) -> None:
        super().__init__(features, targets, Welsch(), Saturating(regulariser))


class SaturatingLogistic(_NonconvexLinear):
    """f~_i(x, j) = log(1 + exp(-b_j a_j^T x)) + regulariser sum_d x_d^2/(1 + x_d^2): not convex."""

    name = "saturating-logistic"

    def __init__(
        self, features: Sequence[np.ndarray], targets: Sequence[np.ndarray], regulariser: float
    ) -> None:
        super().__init__(features, targets, Logistic(), Saturating(regulariser))
