"""L2-regularised softmax regression on per-client data, with proven constants.

f~_i(W, j) = -log softmax(W a_j)[y_j] + (regulariser/2) ||W||^2, W of shape [classes, d], flattened row by
row.
Write h_j = (softmax(W a_j) - e_{y_j}) (x) a_j, M_i = mean_j h_j over client i, so grad f_i = M_i +
regulariser W.

- L: softmax's Hessian in the logits is at most I/2 (Boehning 1992), so
  L = max_i lambda_max(A_i^T A_i / D_i)/2 + regulariser, the eigenvalue bounded by a certified Cholesky.
- mu = regulariser: f* , f*_i and x* from Newton's method and an enclosure of the gradient in balls.
- K_i >= sup ||M_i||: ||softmax - e|| <= sqrt 2, so K_i = sqrt 2 min(mean_j ||a_j||, sqrt(lambda_max(A_i^T
A_i / D_i))).
- nu: mean_j ||h_j - M_i||^2 <= mean_j ||h_j||^2 <= 2 mean_j ||a_j||^2.
- (G, B) of Assumption 4.5: the regulariser's part is common to all clients, so `base.common_part_pair`
applies.
- Ceilings: with 0 < gamma regulariser <= 1 a step is x -> (1 - gamma regulariser) x - gamma h with
  ||h|| <= h_max = sqrt 2 max_j ||a_j||, so ||x_k - x_0|| <= (1 - (1 - gamma
  regulariser)^k)(h_max/regulariser + ||x_0||), and ||grad f(x)|| <= sum_i p*_i K_i + regulariser ||x||.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb, arb_mat
from jaxtyping import Float, Int

from bounds.core.constant import Constant, Provenance
from simulate import certify
from simulate.problems.base import UP, check_client_data, common_part_pair, nu_constant
from simulate.problems.convex import StronglyConvex, convex_constants

CHUNK = 2  # points evaluated at once in the metrics: keeps [points, classes, samples] in cache


class SoftmaxRegression(StronglyConvex):
    """L2-regularised softmax regression (see the module's text for formulas and proofs).

    Args:
        features: per client, float64 [D_i, d].
        labels: per client, integers [D_i] in [0, classes).
        classes: number of classes.
        regulariser: lambda > 0 of the L2 term (bias included).

    Raises:
        ValueError: for empty clients, unequal widths, non-finite features, labels out of range, regulariser
            <= 0.
    """

    name = "softmax"

    def __init__(
        self,
        features: Sequence[Float[np.ndarray, "_ d"]],
        labels: Sequence[Int[np.ndarray, " _"]],
        classes: int,
        regulariser: float,
    ) -> None:
        check_client_data(features, labels)
        if not (np.isfinite(regulariser) and regulariser > 0):
            raise ValueError(f"regulariser = {regulariser}: give a number > 0")
        self.m, self.classes, self.d = len(features), classes, features[0].shape[1]
        self.n, self.regulariser = classes * self.d, float(regulariser)
        self.set_sizes([len(y) for y in labels])
        self.A = np.ascontiguousarray(np.concatenate(features), dtype=float)
        self.y = np.concatenate(labels).astype(np.int64)
        if self.y.min() < 0 or self.y.max() >= classes:
            raise ValueError(f"labels span {self.y.min()}..{self.y.max()}: they lie in 0..{classes - 1}")
        self._one_hot = np.zeros((classes, len(self.y)))
        self._one_hot[self.y, np.arange(len(self.y))] = 1.0
        self._AT = np.ascontiguousarray(self.A.T)
        norms = np.linalg.norm(self.A, axis=1)
        self._spectral = np.array([certify.gram_lambda_max(self._client(i)) for i in range(self.m)])
        mean = np.array([norms[self._rows(i)].mean() for i in range(self.m)])
        self._second_moment = np.array([(norms[self._rows(i)] ** 2).mean() for i in range(self.m)]) * UP
        self._largest = np.array([norms[self._rows(i)].max() for i in range(self.m)]) * UP
        self.K = np.sqrt(2.0) * np.minimum(mean, np.sqrt(self._spectral)) * UP
        self._minima: dict[bytes, certify.Minimiser] = {}

    def _rows(self, i: int) -> slice:
        return slice(int(self.first[i]), int(self.first[i] + self.sizes[i]))

    def _client(self, i: int) -> Float[np.ndarray, "_ d"]:
        return self.A[self._rows(i)]

    def content(self) -> dict[str, Any]:
        return {
            "A": self.A,
            "y": self.y,
            "sizes": self.sizes,
            "classes": self.classes,
            "regulariser": self.regulariser,
        }

    # Values and gradients ----------------------------------------------------------------------

    def _probabilities(
        self, x: Float[np.ndarray, "q n"], rows: slice
    ) -> tuple[Float[np.ndarray, "q c _"], Float[np.ndarray, "q _"]]:
        """softmax [q, classes, samples] and the log of its denominator plus the shift, [q, samples]."""
        z = np.matmul(x.reshape(-1, self.classes, self.d), self._AT[:, rows])
        top = z.max(axis=1, keepdims=True)
        z -= top
        np.exp(z, out=z)
        total = z.sum(axis=1, keepdims=True)
        z /= total
        return z, (np.log(total) + top)[:, 0]

    def losses(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch m"]:
        flat = np.ascontiguousarray(x).reshape(-1, self.n)
        out = np.empty((len(flat), self.m))
        for q in range(0, len(flat), CHUNK):
            points = flat[q : q + CHUNK]
            W = points.reshape(-1, self.classes, self.d)
            ridge = 0.5 * self.regulariser * (points * points).sum(axis=1)
            logits = np.matmul(W, self._AT)
            top = logits.max(axis=1)
            right = np.take_along_axis(logits, self.y[None, None, :], axis=1)[:, 0]
            per_sample = np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top - right
            for i in range(self.m):
                out[q : q + CHUNK, i] = per_sample[:, self._rows(i)].mean(axis=1) + ridge
        return out.reshape(*x.shape[:-1], self.m)

    def local_gradients(self, x: Float[np.ndarray, "*batch m n"]) -> Float[np.ndarray, "*batch m n"]:
        flat = np.ascontiguousarray(x).reshape(-1, self.m, self.n)
        out = np.empty_like(flat)
        for i in range(self.m):
            rows = self._rows(i)
            for q in range(0, len(flat), CHUNK):
                points = flat[q : q + CHUNK, i]
                P, _ = self._probabilities(points, rows)
                P -= self._one_hot[:, rows]
                g = np.matmul(P, self.A[rows]).reshape(-1, self.n) / self.sizes[i]
                out[q : q + CHUNK, i] = g + self.regulariser * points
        return out.reshape(x.shape)

    def gradient(
        self, x: Float[np.ndarray, "*batch n"], p: Float[np.ndarray, " m"]
    ) -> Float[np.ndarray, "*batch n"]:
        flat = np.ascontiguousarray(x).reshape(-1, self.n)
        out = np.empty_like(flat)
        omega = np.repeat(p / self.sizes, self.sizes)
        ridge = self.regulariser * float(np.sum(p))
        for q in range(0, len(flat), CHUNK):
            points = flat[q : q + CHUNK]
            P, _ = self._probabilities(points, slice(None))
            P -= self._one_hot
            P *= omega
            out[q : q + CHUNK] = np.matmul(P, self.A).reshape(-1, self.n) + ridge * points
        return out.reshape(x.shape)

    def sample_gradient(self, i: int, x: Float[np.ndarray, " n"], j: int) -> Float[np.ndarray, " n"]:
        W, a, y = x.reshape(self.classes, self.d), self._client(i)[j], self.y[self.first[i] + j]
        z = W @ a
        probability = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
        probability[y] -= 1.0
        return np.outer(probability, a).ravel() + self.regulariser * x

    def _coefficients(
        self, x: Float[np.ndarray, "S m n"], at: Int[np.ndarray, "S m batch"]
    ) -> tuple[Float[np.ndarray, "S m batch c"], Float[np.ndarray, "S m batch d"]]:
        """softmax - e_y and the feature rows of the samples `at`."""
        S, m, batch = at.shape
        rows = self.A.take(at.ravel(), axis=0).reshape(S, m, batch, self.d)
        W = x.reshape(S, m, self.classes, self.d)
        z = np.matmul(W, rows.swapaxes(-1, -2)).swapaxes(-1, -2).reshape(-1, self.classes)
        z -= z.max(axis=1, keepdims=True)
        z = np.exp(z)
        z /= z.sum(axis=1, keepdims=True)
        z[np.arange(len(z)), self.y.take(at.ravel())] -= 1.0
        return z.reshape(S, m, batch, self.classes), rows

    def sample_gradients(
        self, x: Float[np.ndarray, "S m n"], index: Int[np.ndarray, "S m batch"]
    ) -> Float[np.ndarray, "S m n"]:
        z, rows = self._coefficients(x, index + self.first[:, None])
        g = np.matmul(z.swapaxes(-1, -2), rows).reshape(x.shape)
        g /= index.shape[2]
        g += self.regulariser * x
        return g

    def descend(
        self, x: Float[np.ndarray, "S m n"], at: Int[np.ndarray, "S m batch"] | None, gamma: float
    ) -> None:
        if at is None:
            super().descend(x, at, gamma)
            return
        z, rows = self._coefficients(x, at)
        z *= gamma / at.shape[2]
        x *= 1.0 - gamma * self.regulariser
        W = x.reshape(*x.shape[:2], self.classes, self.d)  # a view: the subtraction below is in place
        if at.shape[2] == 1:
            W -= z[:, :, 0, :, None] * rows[:, :, 0, None, :]
        else:
            W -= np.matmul(z.swapaxes(-1, -2), rows)

    # Constants ---------------------------------------------------------------------------------

    def smoothness(self) -> float:
        """L = max_i lambda_max(A_i^T A_i / D_i)/2 + regulariser."""
        return float(self._spectral.max() / 2 + self.regulariser) * UP

    def sample_gradient_ceiling(self) -> float:
        """h_max >= ||h_j||, the unregularised gradient of any one sample at any x."""
        return float(np.sqrt(2.0) * self._largest.max()) * UP

    def sample_smoothness(self) -> float:
        """A smoothness constant of every single sample's loss: max_j ||a_j||^2 / 2 + regulariser."""
        return float(self._largest.max() ** 2 / 2 + self.regulariser) * UP

    def minimiser(self, p: Float[np.ndarray, " m"]) -> certify.Minimiser:
        """The minimiser of sum_i p_i f_i to a proven accuracy (p >= 0 sums to one)."""
        key = np.asarray(p, dtype=float).tobytes()
        if key not in self._minima:
            x = certify.newton(
                lambda x: float(self.loss(x, p)),
                lambda x: self.gradient(x, p),
                lambda x, v: self._curvature(x, v, p),
                np.zeros(self.n),
            )
            mu = self.regulariser * float(np.sum(p)) * (1 - 2.0**-45)
            self._minima[key] = certify.certify_minimiser(lambda W: self._enclose(W, p), mu, x)
        return self._minima[key]

    def _curvature(
        self, x: Float[np.ndarray, " n"], v: Float[np.ndarray, " n"], p: Float[np.ndarray, " m"]
    ) -> Float[np.ndarray, " n"]:
        P = self._probabilities(x[None], slice(None))[0][0]
        Z = v.reshape(self.classes, self.d) @ self._AT
        Z = P * (Z - (P * Z).sum(axis=0)) * np.repeat(p / self.sizes, self.sizes)
        return (Z @ self.A).ravel() + self.regulariser * float(np.sum(p)) * v

    def _enclose(self, W: Sequence[arb], p: Float[np.ndarray, " m"]) -> tuple[arb, list[arb]]:
        """Balls around sum_i p_i f_i and its gradient at exact W."""
        clients = np.flatnonzero(np.asarray(p) > 0)
        rows = np.concatenate([np.arange(self.first[i], self.first[i] + self.sizes[i]) for i in clients])
        omega = [arb(float(p[i])) / int(self.sizes[i]) for i in clients for _ in range(self.sizes[i])]
        A, weight = arb_mat(self.A[rows].tolist()), sum((arb(float(p[i])) for i in clients), arb(0))
        logits = A * arb_mat(self.classes, self.d, list(W)).transpose()
        entries, total, C = logits.entries(), arb(0), self.classes
        for j, (label, w) in enumerate(zip(self.y[rows], omega, strict=True)):
            z = entries[j * C : (j + 1) * C]
            top = arb(max(float(v.mid()) for v in z))
            e = [(v - top).exp() for v in z]
            denominator = sum(e, arb(0))
            total += w * (denominator.log() + top - z[label])
            scaled = [w * v / denominator for v in e]
            scaled[label] -= w
            entries[j * C : (j + 1) * C] = scaled
        g = (arb_mat(len(rows), C, entries).transpose() * A).entries()
        lam = arb(self.regulariser) * weight
        return total + lam / 2 * sum((w * w for w in W), arb(0)), [
            a + lam * w for a, w in zip(g, W, strict=True)
        ]

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
        G, B = common_part_pair(self.K, p_star, t)
        largest = 2 * (self._largest + self.K / np.sqrt(2)) ** 2
        nu = nu_constant(2 * self._second_moment, largest, self.sizes, sampling, batch, replacement)
        note = f"mean_i ||grad f_i||^2 <= (1 + 1/t) ||grad f||^2 + (1 + t) E^2 + mean K_i^2, t = {t}"
        certified = Provenance.CERTIFIED
        return {
            "L": Constant("L", self.smoothness(), certified, note="Boehning's bound, certified eigenvalue"),
            "nu": nu,
            "G": Constant("G", G, certified, note=note),
            "B": Constant("B", B, certified, note=note),
            **convex_constants(self, p_star),
        }

    def displacement_ceiling(self, x_0: Float[np.ndarray, " n"], gamma: float, K: int) -> float:
        """(1 - (1 - gamma regulariser)^K)(h_max/regulariser + ||x_0||); infinite if gamma regulariser > 1."""
        if not 0 < gamma * self.regulariser <= 1:
            return float("inf")
        reach = np.sqrt(2.0) * float(self._largest.max()) / self.regulariser + float(np.linalg.norm(x_0))
        return float(-np.expm1(K * np.log1p(-gamma * self.regulariser))) * reach * UP if K else 0.0

    def grad_f_sq_ceiling(
        self, x_0: Float[np.ndarray, " n"], gamma: float, K: int, p_star: Float[np.ndarray, " m"]
    ) -> float:
        """The base class's bound, or (sum_i p*_i K_i + regulariser (||x_0|| + displacement))^2 if smaller."""
        radius = float(np.linalg.norm(x_0)) + self.displacement_ceiling(x_0, gamma, K)
        bounded = (float(p_star @ self.K) + self.regulariser * radius) ** 2 * UP
        return min(bounded, super().grad_f_sq_ceiling(x_0, gamma, K, p_star))
