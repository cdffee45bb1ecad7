"""Linear models with a convex loss and an L2 regulariser: least squares and logistic regression."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from bounds.core.constant import Constant, Provenance
from simulate import certify
from simulate.problems.base import contraction_displacement
from simulate.problems.convex import StronglyConvex, convex_constants
from simulate.problems.linear.model import LinearModel
from simulate.problems.scalar import Logistic, Ridge, ScalarLoss, Squared
from simulate.problems.tradeoff import quadratic_pair


class _ConvexLinear(LinearModel, StronglyConvex):
    """Linear models with a convex loss and an L2 regulariser > 0."""

    def __init__(
        self,
        features: Sequence[np.ndarray],
        targets: Sequence[np.ndarray],
        loss: ScalarLoss,
        regulariser: float,
    ) -> None:
        if not regulariser > 0:
            raise ValueError(
                f"regulariser = {regulariser}: give a number > 0 (it makes x* unique and certified)"
            )
        super().__init__(features, targets, loss, Ridge(regulariser))
        self._minima: dict[bytes, certify.Minimiser] = {}

    def minimiser(self, p: Float[np.ndarray, " m"]) -> certify.Minimiser:
        p = np.asarray(p, dtype=float)
        if p.tobytes() not in self._minima:
            omega, weight = np.repeat(p / self.sizes, self.sizes), self.regulariser.weight * float(np.sum(p))

            def curvature(x: np.ndarray, v: np.ndarray) -> np.ndarray:
                c = self.scalar.curvature(self.A @ x, self.b) * omega
                return (c * (self.A @ v)) @ self.A + weight * v

            x = certify.newton(
                lambda x: float(self.loss(x, p)), lambda x: self.gradient(x, p), curvature, np.zeros(self.n)
            )
            mu = weight * (1 - 2.0**-45)
            self._minima[p.tobytes()] = certify.certify_minimiser(lambda q: self._enclose(q, p), mu, x)
        return self._minima[p.tobytes()]

    def sample_smoothness(self) -> float:
        """weight + sup phi'' max_j ||a_j||^2."""
        return self.regulariser.weight + self.scalar.curvature_max * float(self._largest.max()) ** 2

    @abstractmethod
    def _dissimilarity(self, p_star: Float[np.ndarray, " m"], t: float) -> dict[str, Constant]:
        """G and B."""

    def constants(
        self,
        p_star: Float[np.ndarray, " m"],
        *,
        sampling: str = "iid",
        batch: int = 1,
        replacement: str = "with",
        t: float = 1.0,
    ) -> dict[str, Constant]:
        """See `Problem.constants`; `t` trades G against B (larger t, smaller B)."""
        p_star = np.asarray(p_star, dtype=float)
        return {
            **self._common_constants(p_star, sampling, batch, replacement),
            **self._dissimilarity(p_star, t),
            **convex_constants(self, p_star),
        }

    def displacement_ceiling(self, x_0: Float[np.ndarray, " n"], gamma: float, K: int) -> float:
        """gamma sup_j ||grad f~(x_0, j)|| (1 - rho^K)/(1 - rho), a step being rho-Lipschitz.

        rho = max(|1 - gamma weight|, |1 - gamma (weight + sup phi'' max_j ||a_j||^2)|).
        """
        weight, steepest = self.regulariser.weight, self.sample_smoothness()
        rho = max(abs(1 - gamma * weight), abs(1 - gamma * steepest))
        slopes = np.abs(self.scalar.slope(self.A @ x_0, self.b)) * np.linalg.norm(self.A, axis=1)
        push = gamma * (float(slopes.max()) + weight * float(np.linalg.norm(x_0)))
        return contraction_displacement(rho, push, K)


class LeastSquares(_ConvexLinear):
    """f~_i(x, j) = (a_j^T x - b_j)^2/2 + (regulariser/2) ||x||^2."""

    name = "least-squares"

    def __init__(
        self, features: Sequence[np.ndarray], targets: Sequence[np.ndarray], regulariser: float
    ) -> None:
        super().__init__(features, targets, Squared(), regulariser)
        self._forms: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def gradient(
        self, x: Float[np.ndarray, "*batch n"], p: Float[np.ndarray, " m"]
    ) -> Float[np.ndarray, "*batch n"]:
        """grad f(x) = Q x - c from the quadratic form Q = sum_i p_i (A_i^T A_i / D_i + regulariser I), c = sum_i p_i
        A_i^T b_i / D_i: n^2 products a point in place of 2 n D.

        Its rounding error is at most (D + n + 3) u (|Q| |x| + |c|), |.| taken inside the sums: that of the sum over
        samples, but for a factor of two. Nothing else cancels: x* itself is enclosed from the samples.
        """
        p = np.asarray(p, dtype=float)
        if p.tobytes() not in self._forms:
            weighted_rows = np.repeat(p / self.sizes, self.sizes)[:, None] * self.A
            Q = weighted_rows.T @ self.A + self.regulariser.weight * float(np.sum(p)) * np.eye(self.n)
            self._forms = {
                p.tobytes(): (Q, self.b @ weighted_rows)
            }  # of the last weights: they seldom change
        Q, c = self._forms[p.tobytes()]
        return np.matmul(Q, x[..., None])[..., 0] - c

    def _dissimilarity(self, p_star: Float[np.ndarray, " m"], t: float) -> dict[str, Constant]:
        ridge = self.regulariser.weight * np.eye(self.n)
        A = np.array([certify.gram(self.A[rows])[0] + ridge for rows in self._clients])
        minimum = self.minimiser(p_star)
        G, B = quadratic_pair(A, self.gradients(minimum.x), p_star, minimum.radius, t)
        note = f"exact curve of quadratics, B^2 = (1 + 1/t) times the smallest, t = {t}"
        return {
            "G": Constant("G", G, Provenance.CERTIFIED, note=note),
            "B": Constant("B", B, Provenance.CERTIFIED, note=note),
        }


class LogisticRegression(_ConvexLinear):
    """f~_i(x, j) = log(1 + exp(-b_j a_j^T x)) + (regulariser/2) ||x||^2, b_j = +-1."""

    name = "logistic"

    def __init__(
        self, features: Sequence[np.ndarray], targets: Sequence[np.ndarray], regulariser: float
    ) -> None:
        super().__init__(features, targets, Logistic(), regulariser)

    def _dissimilarity(self, p_star: Float[np.ndarray, " m"], t: float) -> dict[str, Constant]:
        return self._pair(p_star, t)
