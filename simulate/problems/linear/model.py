"""The part that all linear models share: values, gradients, steps, and constants of any loss and regulariser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb
from jaxtyping import Float, Int

from bounds.core.constant import Constant, Provenance
from simulate import certify
from simulate.problems.base import UP, Problem, check_client_data, common_part_pair, nu_constant
from simulate.problems.scalar import Regulariser, Ridge, ScalarLoss

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
