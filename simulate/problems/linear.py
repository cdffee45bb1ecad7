"""Linear models f~_i(x, j) = phi(a_j^T x, b_j) + regulariser(x): least squares, logistic regression,
Welsch's loss.

With M_i = mean_j phi' a_j over client i and lambda_i >= lambda_max(A_i^T A_i / D_i) (certified):

- L = sup|phi''| max_i lambda_i + sup|regulariser''|.
- K_i >= sup ||M_i||: K_i = sup|phi'| min(mean_j ||a_j||, sqrt lambda_i); nu^2 <= sup|phi'|^2 max_i mean_j
||a_j||^2 (infinite for
  the squared loss: its sample gradients spread without bound, and no nu exists for all x).
- (G, B): grad f_i = M_i + a part common to all clients, so `base.common_part_pair` applies; where the
gradient itself
  is bounded (Welsch, and the saturating regulariser with a bounded slope), also B = 0 with G^2 = mean_i sup
  ||grad f_i||^2.
  Least squares has quadratic f_i: the exact curve of `tradeoff`.
- f*, f*_i, x*: enclosed by strong convexity in the convex case; for the nonconvex ones f* lies between 0 and
the best
  value found, so its radius is half of that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb
from jaxtyping import Float, Int

from bounds.core.constant import Constant, Provenance
from simulate import certify
from simulate.problems.base import (
    UP,
    Problem,
    check_client_data,
    common_part_pair,
    contraction_displacement,
    nu_constant,
)
from simulate.problems.convex import StronglyConvex, convex_constants
from simulate.problems.scalar import Logistic, Regulariser, Ridge, Saturating, ScalarLoss, Squared, Welsch
from simulate.problems.tradeoff import quadratic_pair
from simulate.streams import Purpose, generator

CHUNK = 64  # points evaluated at once in the metrics


class LinearModel(Problem):
    """The common part of all linear models.

    Args:
        features: per client, float64 [D_i, n].
        targets: per client, float64 [D_i].
        loss, regulariser: the two scalar functions.

    Raises:
        ValueError: for empty, unequal or non-finite data, or targets unfit for the loss.
    """

    def __init__(
        self,
        features: Sequence[np.ndarray],
        targets: Sequence[np.ndarray],
        loss: ScalarLoss,
        regulariser: Regulariser,
    ) -> None:
        check_client_data(features, targets, "targets")
        self.scalar, self.regulariser = loss, regulariser
        self.m, self.n = len(features), features[0].shape[1]
        self.A = np.ascontiguousarray(np.concatenate(features), dtype=float)
        self.b = np.concatenate(targets).astype(float)
        loss.check_targets(self.b)
        self.set_sizes([len(y) for y in targets])
        norms = np.linalg.norm(self.A, axis=1)
        clients = [slice(int(s), int(e)) for s, e in zip(self.first, self.first + self.sizes, strict=True)]
        self._clients = clients
        self._spectral = np.array([certify.gram_lambda_max(self.A[rows]) for rows in clients])
        mean = np.array([norms[rows].mean() for rows in clients])
        self._second_moment = np.array([(norms[rows] ** 2).mean() for rows in clients]) * UP
        self._largest = np.array([norms[rows].max() for rows in clients]) * UP
        self.K = loss.slope_max * np.minimum(mean, np.sqrt(self._spectral)) * UP
        self._buffers: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def content(self) -> dict[str, Any]:
        return {"A": self.A, "b": self.b, "sizes": self.sizes, "regulariser": self.regulariser.weight}

    # Values and gradients ----------------------------------------------------------------------

    def losses(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch m"]:
        flat = np.ascontiguousarray(x).reshape(-1, self.n)
        out = np.empty((len(flat), self.m))
        for q in range(0, len(flat), CHUNK):
            points = flat[q : q + CHUNK]
            values = self.scalar.value(np.matmul(self.A, points[:, :, None])[..., 0], self.b)
            common = self.regulariser.value(points)
            for i, rows in enumerate(self._clients):
                out[q : q + CHUNK, i] = values[:, rows].mean(axis=1) + common
        return out.reshape(*x.shape[:-1], self.m)

    def local_gradients(self, x: Float[np.ndarray, "*batch m n"]) -> Float[np.ndarray, "*batch m n"]:
        flat = np.ascontiguousarray(x).reshape(-1, self.m, self.n)
        out = self.regulariser.gradient(flat)
        for i, rows in enumerate(self._clients):
            A, b = self.A[rows], self.b[rows]
            for q in range(0, len(flat), CHUNK):
                slope = self.scalar.slope(np.matmul(A, flat[q : q + CHUNK, i, :, None])[..., 0], b)
                out[q : q + CHUNK, i] += np.matmul(slope[:, None, :], A)[:, 0] / self.sizes[i]
        return out.reshape(x.shape)

    def gradient(
        self, x: Float[np.ndarray, "*batch n"], p: Float[np.ndarray, " m"]
    ) -> Float[np.ndarray, "*batch n"]:
        flat = np.ascontiguousarray(x).reshape(-1, self.n)
        out = self.regulariser.gradient(flat) * float(np.sum(p))
        omega = np.repeat(p / self.sizes, self.sizes)
        for q in range(0, len(flat), CHUNK):
            z = np.matmul(self.A, flat[q : q + CHUNK, :, None])[..., 0]
            slope = self.scalar.slope(z, self.b) * omega
            out[q : q + CHUNK] += np.matmul(slope[:, None, :], self.A)[:, 0]
        return out.reshape(x.shape)

    def sample_gradient(self, i: int, x: Float[np.ndarray, " n"], j: int) -> Float[np.ndarray, " n"]:
        row = self.first[i] + j
        a, b = self.A[row], self.b[row : row + 1]
        return self.scalar.slope(np.array([a @ x]), b) * a + self.regulariser.gradient(x)

    def sample_gradients(
        self, x: Float[np.ndarray, "S m n"], index: Int[np.ndarray, "S m batch"]
    ) -> Float[np.ndarray, "S m n"]:
        g = self.regulariser.gradient(x)
        at = index + self.first[:, None]
        for j in range(index.shape[2]):
            rows = self.A.take(at[..., j], axis=0)
            slope = self.scalar.slope(np.vecdot(rows, x), self.b.take(at[..., j]))
            g += rows * (slope / index.shape[2])[..., None]
        return g

    def descend(
        self, x: Float[np.ndarray, "S m n"], at: Int[np.ndarray, "S m batch"] | None, gamma: float
    ) -> None:
        if at is None or at.shape[2] > 1:
            super().descend(x, at, gamma)
            return
        if x.shape not in self._buffers:
            self._buffers = {x.shape: (np.empty_like(x), np.empty(x.shape[:2]), np.empty(x.shape[:2]))}
        rows, z, b = self._buffers[x.shape]
        flat = at.reshape(-1)  # one list of rows is gathered twice as fast as an [S, m] table of them
        self.A.take(flat, axis=0, out=rows.reshape(-1, self.n), mode="clip")
        np.vecdot(rows, x, out=z)
        self.b.take(flat, out=b.reshape(-1), mode="clip")
        slope = self.scalar.slope(z, b)
        slope *= gamma
        rows *= slope[:, :, None]
        if isinstance(self.regulariser, Ridge):
            x *= 1.0 - gamma * self.regulariser.weight
        elif self.regulariser.weight:
            rows += gamma * self.regulariser.gradient(x)
        x -= rows

    def _enclose(self, x: Sequence[arb], p: Float[np.ndarray, " m"]) -> tuple[arb, list[arb]]:
        """Balls around sum_i p_i f_i and its gradient."""
        value, gradient = self.regulariser.enclose(x)
        weight = sum((arb(float(q)) for q in p), arb(0))
        value, gradient = weight * value, [weight * g for g in gradient]
        for i in np.flatnonzero(p):
            share = arb(float(p[i])) / int(self.sizes[i])
            for a, b in zip(self.A[self._clients[i]], self.b[self._clients[i]], strict=True):
                row = certify.balls(a)
                phi, slope = self.scalar.enclose(
                    sum((v * w for v, w in zip(row, x, strict=True)), arb(0)), float(b)
                )
                value += share * phi
                gradient = [g + share * slope * v for g, v in zip(gradient, row, strict=True)]
        return value, gradient

    # Constants ---------------------------------------------------------------------------------

    def smoothness(self) -> float:
        """L = sup|phi''| max_i lambda_i + sup|regulariser''|."""
        regulariser = self.regulariser
        return (
            self.scalar.curvature_max * float(self._spectral.max())
            + regulariser.weight * regulariser.curvature_max
        ) * UP

    def _common_constants(
        self, p_star: Float[np.ndarray, " m"], sampling: str, batch: int, replacement: str
    ) -> dict[str, Constant]:
        slope = self.scalar.slope_max
        largest = slope**2 * (self._largest + np.sqrt(self._second_moment)) ** 2
        nu = nu_constant(slope**2 * self._second_moment, largest, self.sizes, sampling, batch, replacement)
        L = Constant(
            "L", self.smoothness(), Provenance.CERTIFIED, note="certified eigenvalue of A_i^T A_i / D_i"
        )
        return {"L": L, "nu": nu}

    def _pair(self, p_star: Float[np.ndarray, " m"], t: float) -> dict[str, Constant]:
        G, B = common_part_pair(self.K, p_star, t)
        note = f"mean_i ||grad f_i||^2 <= (1 + 1/t) ||grad f||^2 + (1 + t) E^2 + mean K_i^2, t = {t}"
        return {
            "G": Constant("G", G, Provenance.CERTIFIED, note=note),
            "B": Constant("B", B, Provenance.CERTIFIED, note=note),
        }

    def _step_ceiling(self) -> float:
        """sup over samples and x of the sample gradient's norm (infinite where it is unbounded)."""
        slope = self.regulariser.weight * self.regulariser.slope_max if self.regulariser.weight else 0.0
        return (self.scalar.slope_max * float(self._largest.max()) + slope * float(np.sqrt(self.n))) * UP


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
