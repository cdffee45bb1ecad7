"""A two-layer tanh network with cross-entropy, the shapes of Section 5.1: X1 (d + 1) x M and X2 (M + 1) x
classes.

f~_i(x, j) = -log softmax([tanh(a_j^T X1), 1] X2)[y_j] + (regulariser/2) ||x||^2, a_j with a constant 1
appended. (The paper's activation is not printed; ReLU is not smooth, so Assumption 2.1(i) needs another
one.) 3072-128-10 has the printed shapes 3073 x 128 and 129 x 10.

No global L exists (the loss is a product of the two layers). On the ball ||x|| <= rho, with s_j^2 = 1 +
min(M, (rho a_j)^2), a_j = ||a_j||:
- the logits' derivative has norm <= sqrt(s_j^2 + rho^2 a_j^2), cross-entropy's gradient in the logits has
norm <= sqrt 2 and its
  Hessian is <= I/2, and the logits' second derivative is <= a_j + kappa rho a_j^2, kappa = max |tanh''| =
  4/(3 sqrt 3); hence
- L_j = (s_j^2 + rho^2 a_j^2)/2 + sqrt 2 (a_j + kappa rho a_j^2) + regulariser, L = max_i mean_j L_j;
- ||h_j|| <= g_j = sqrt(2 (s_j^2 + rho^2 a_j^2)) for the loss part h_j of the gradient: nu^2 = max_i mean_j
g_j^2, K_i = mean_j g_j.
Iterates stay in the ball if `reach` says so; without a ball the constants are estimates and say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import blas

from bounds.core.constant import Constant, Provenance
from simulate.problems.base import UP, common_part_pair, nu_constant
from simulate.problems.chain import Network
from simulate.problems.gram import Gram
from simulate.streams import Purpose, generator

KAPPA = 4.0 / (3.0 * float(np.sqrt(3.0)))


class TwoLayerNetwork(Network):
    """Cross-entropy of a d-M-classes tanh network (see the module's text).

    Args:
        features: per client, [D_i, d]; labels: per client, integers in [0, classes).
        hidden: M. dtype: np.float64 or np.float32.
        regulariser: L2 weight >= 0.

    Raises:
        ValueError: for unfit data, labels out of range, hidden < 1 or a negative regulariser.
    """

    name = "two-layer-network"

    def __init__(
        self,
        features: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        classes: int,
        hidden: int,
        *,
        regulariser: float = 0.0,
        dtype: type = np.float64,
    ) -> None:
        if hidden < 1:
            raise ValueError(f"hidden = {hidden}: at least one unit")
        joined = self.set_data(features, labels, classes, regulariser, dtype)
        self.hidden, self.width = hidden, joined.shape[1] + 1
        self.split = self.width * hidden
        self.n = self.split + (hidden + 1) * classes
        ones = np.ones((len(joined), 1))
        self.A = np.ascontiguousarray(np.concatenate([joined, ones], axis=1), dtype=dtype)
        self.targets = np.eye(classes, dtype=dtype)[self.y]

    def content(self) -> dict[str, Any]:
        shape = {"hidden": self.hidden, "classes": self.classes, "regulariser": self.regulariser}
        return {"A": self.A, "y": self.y, "sizes": self.sizes, **shape}

    def random_start(self, seed: int, scale: float = 1.0) -> Float[np.ndarray, " n"]:
        """A seeded x_0 with entries of variance scale^2/fan-in ("scaled random values", Section 5.1)."""
        rng = generator(seed, 0, 0, Purpose.START)
        first = rng.standard_normal(self.split) / np.sqrt(self.width)
        second = rng.standard_normal(self.n - self.split) / np.sqrt(self.hidden + 1)
        return scale * np.concatenate([first, second])

    # Values and gradients ----------------------------------------------------------------------

    def layers(self, x: Float[np.ndarray, " n"]) -> tuple[Float[np.ndarray, "d M"], Float[np.ndarray, "N c"]]:
        """X1 [d + 1, M] and X2 [M + 1, classes], views of x."""
        return x[: self.split].reshape(self.width, self.hidden), x[self.split :].reshape(-1, self.classes)

    @cached_property
    def gram(self) -> Gram:
        """Inner products of the samples."""
        return Gram.of(self.A, self.targets, self.sizes)

    def logits(
        self, x: Float[np.ndarray, " n"], rows: slice | Int[np.ndarray, " b"]
    ) -> Float[np.ndarray, "b c"]:
        X1, X2 = self.layers(x)
        return _logits(np.tanh(self.A[rows] @ X1), X2[:-1], X2[-1])

    def _residuals(
        self, x: Float[np.ndarray, " n"], rows: slice | Int[np.ndarray, " b"]
    ) -> tuple[
        Float[np.ndarray, "b d"], Float[np.ndarray, "b M"], Float[np.ndarray, "b c"], Float[np.ndarray, "b M"]
    ]:
        """The rows' samples, phi, softmax - e_y, and its pull-back through the hidden layer."""
        X1, X2 = self.layers(x)
        a = self.A[rows]
        phi, z = residuals(a @ X1, X2[:-1], X2[-1], self.targets[rows])
        return a, phi, z, pulled_back(phi, z, X2[:-1])

    def mean_gradient(
        self, x: Float[np.ndarray, " n"], rows: slice | Int[np.ndarray, " b"]
    ) -> Float[np.ndarray, " n"]:
        """Mean gradient over the given rows of the joined samples."""
        x = np.ascontiguousarray(x, dtype=self.dtype)
        a, phi, z, back = self._residuals(x, rows)
        g = np.concatenate([(a.T @ back).ravel(), (phi.T @ z).ravel(), z.sum(axis=0)])
        g /= len(a)
        g += self.dtype(self.regulariser) * x
        return g

    def sample_gradient(self, i: int, x: Float[np.ndarray, " n"], j: int) -> Float[np.ndarray, " n"]:
        a, y = self.A[self.first[i] + j].astype(float), int(self.y[self.first[i] + j])
        X1, X2 = self.layers(np.asarray(x, dtype=float))
        phi = np.append(np.tanh(X1.T @ a), 1.0)
        z = X2.T @ phi
        residual = np.exp(z - z.max()) / np.exp(z - z.max()).sum() - np.eye(self.classes)[y]
        back = (1.0 - phi[:-1] ** 2) * (X2[:-1] @ residual)
        gradient = np.concatenate([np.outer(a, back).ravel(), np.outer(phi, residual).ravel()])
        return gradient + self.regulariser * x

    def descend_one(
        self, x: Float[np.ndarray, " n"], rows: slice | Int[np.ndarray, " b"], gamma: float
    ) -> None:
        """One local step of one client in place: manual backprop, BLAS writing the updates into x itself."""
        gemm = blas.dgemm if self.dtype is np.float64 else blas.sgemm
        a, phi, z, back = self._residuals(x, rows)
        scale = -gamma / len(a)
        if self.regulariser:
            x *= self.dtype(1.0 - gamma * self.regulariser)
        X1, X2 = self.layers(x)
        # X^T += scale * (right^T left): Fortran order sees the C-ordered layers transposed, so BLAS writes
        # in place.
        gemm(scale, back.T, a.T, beta=1.0, c=X1.T, trans_b=True, overwrite_c=True)
        gemm(scale, z.T, phi.T, beta=1.0, c=X2[:-1].T, trans_b=True, overwrite_c=True)
        X2[-1] += self.dtype(scale) * z.sum(axis=0)

    # Constants ---------------------------------------------------------------------------------

    def _norms(self) -> Float[np.ndarray, " D"]:
        return np.linalg.norm(self.A.astype(float), axis=1) * UP

    def _gradient_bounds(self, rho: float) -> Float[np.ndarray, " D"]:
        """g_j of the module's text."""
        a = self._norms()
        return np.sqrt(2.0 * (1.0 + np.minimum(self.hidden, (rho * a) ** 2) + (rho * a) ** 2)) * UP

    def reach(self, x_0: Float[np.ndarray, " n"], gamma: float, K: int) -> float:
        """A radius that no iterate of any run of K steps leaves: rho_{k+1} = rho_k + gamma max_j g_j."""
        rho, a = float(np.linalg.norm(x_0)), float(self._norms().max())
        for _ in range(K):
            square = 1.0 + min(self.hidden, (rho * a) ** 2) + (rho * a) ** 2
            rho += gamma * (float(np.sqrt(2.0 * square)) + self.regulariser * rho) * UP
        return rho * UP

    def smoothness(self, ball: float | None = None) -> float:
        """L on the ball ||x|| <= ball, proven; without a ball an estimate (no global L exists)."""
        if ball is None:
            return super().smoothness()
        a, square = self._norms(), self._gradient_bounds(ball) ** 2 / 2
        each = square / 2 + np.sqrt(2.0) * (a + KAPPA * ball * a * a)
        return (max(float(each[self.rows(i)].mean()) for i in range(self.m)) + self.regulariser) * UP

    def constants(
        self,
        p_star: Float[np.ndarray, " m"],
        *,
        sampling: str = "iid",
        batch: int = 1,
        replacement: str = "with",
        ball: float | None = None,
        t: float | None = None,
    ) -> dict[str, Constant]:
        """See `Problem.constants`; with `ball` certified for iterates that stay in it (see `reach`), else
        estimated.

        `t` gives the pair of `common_part_pair`; without it B = 0 and G bounds the gradients on the ball.
        """
        if ball is None:
            return self.estimated_constants(sampling, batch, replacement)
        g = self._gradient_bounds(ball)
        K = np.array([g[self.rows(i)].mean() for i in range(self.m)]) * UP
        single = np.array([(g[self.rows(i)] ** 2).mean() for i in range(self.m)]) * UP
        largest = np.array([(2 * g[self.rows(i)].max()) ** 2 for i in range(self.m)]) * UP
        if t is None:
            G, B = float(np.sqrt(((K + self.regulariser * ball) ** 2).mean())) * UP, 0.0
        else:
            G, B = common_part_pair(K, np.asarray(p_star, dtype=float), t)
        note = f"for iterates with ||x|| <= {ball}"
        values = {"L": self.smoothness(ball), "G": G, "B": B}
        found = {
            name: Constant(name, value, Provenance.CERTIFIED, note=note) for name, value in values.items()
        }
        nu = nu_constant(single, largest, self.sizes, sampling, batch, replacement)
        return {**found, "nu": nu, **self.minima()}

    def displacement_ceiling(self, x_0: Float[np.ndarray, " n"], gamma: float, K: int) -> float:
        """`reach` less the norm at the start: the sum of the largest possible steps."""
        return (self.reach(x_0, gamma, K) - float(np.linalg.norm(x_0))) * UP

    def grad_f_sq_ceiling(
        self, x_0: Float[np.ndarray, " n"], gamma: float, K: int, p_star: Float[np.ndarray, " m"]
    ) -> float:
        """The square of the largest gradient on the ball of radius `reach`."""
        rho = self.reach(x_0, gamma, K)
        return (float(self._gradient_bounds(rho).max()) + self.regulariser * rho) ** 2 * UP

    def f_gap_ceiling(
        self, x_0: Float[np.ndarray, " n"], gamma: float, K: int, p_star: Float[np.ndarray, " m"]
    ) -> float:
        """f(x_0) + displacement times the largest gradient, f* being at least 0."""
        slope = float(np.sqrt(self.grad_f_sq_ceiling(x_0, gamma, K, p_star)))
        return (float(self.loss(x_0, p_star)) + slope * self.displacement_ceiling(x_0, gamma, K)) * UP


def residuals(
    pre: Float[np.ndarray, "*m b M"],
    V: Float[np.ndarray, "*m M c"],
    bias: Float[np.ndarray, "*m c"],
    target: Float[np.ndarray, "*m b c"],
) -> tuple[Float[np.ndarray, "*m b M"], Float[np.ndarray, "*m b c"]]:
    """phi = tanh of the pre-activations, written over them, and softmax(phi V + bias) - target."""
    phi = np.tanh(pre, out=pre)
    z = _logits(phi, V, bias)
    np.exp(z, out=z)
    z /= np.add.reduce(z, axis=-1, keepdims=True)
    z -= target
    return phi, z


def pulled_back(
    phi: Float[np.ndarray, "*m b M"], z: Float[np.ndarray, "*m b c"], V: Float[np.ndarray, "*m M c"]
) -> Float[np.ndarray, "*m b M"]:
    """The residuals z in the pre-activations: z V^T (1 - phi^2)."""
    back = z @ V.swapaxes(-1, -2)
    slope = phi * phi
    np.subtract(1.0, slope, out=slope)
    back *= slope
    return back


def _logits(
    phi: Float[np.ndarray, "*m b M"], V: Float[np.ndarray, "*m M c"], bias: Float[np.ndarray, "*m c"]
) -> Float[np.ndarray, "*m b c"]:
    """phi V + bias, less each row's largest."""
    z = phi @ V
    z += bias[..., None, :]
    z -= np.maximum.reduce(z, axis=-1, keepdims=True)
    return z
