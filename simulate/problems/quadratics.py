"""Heterogeneous quadratics f_i(x) = (x - c_i)^T A_i (x - c_i) / 2 with bounded additive noise.

A sample is an atom of the noise: f~_i(x, j) = f_i(x) + w_{i,j}^T x, the atoms being the given rows and their
negatives, so their mean is exactly zero. nu^2 = max_i mean_j ||w_{i,j}||^2 is then attained, not only a
bound.

- L = max_i lambda_max(A_i); mu = min_i lambda_min(A_i) >= 0; f* and x* by the linear system and balls.
- (G, B) of Assumption 4.5: with M = mean_i A_i^2, A = sum_i p*_i A_i, b = mean_i A_i grad_i and
  s = mean_i ||grad_i||^2 (grad_i = grad f_i(x*)), mean_i ||grad f_i(x* + y)||^2 = y^T M y + 2 b^T y + s, so
  for a given B the smallest G^2 is s + b^T (B^2 A^2 - M)^-1 b wherever B^2 A^2 - M is positive definite: the
  exact curve, which `simulate.problems.tradeoff` also gets from the S-lemma's semidefinite program.
- Ceilings: a step contracts distances by rho = max_i ||I - gamma A_i|| and moves x_0 by at most
  gamma (max_i ||A_i (x_0 - c_i)|| + w_max), so ||x_k - x_0|| <= gamma (...) (1 - rho^k)/(1 - rho).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb
from jaxtyping import Float, Int

from bounds.core.constant import Constant, Provenance
from simulate import certify
from simulate.problems.base import contraction_displacement, nu_constant
from simulate.problems.convex import StronglyConvex, convex_constants
from simulate.problems.tradeoff import quadratic_pair
from simulate.streams import Purpose, generator

LAWS = ("sphere", "cube", "rademacher", "rare")


def antipodal_noise(
    law: str, m: int, n: int, scale: float, atoms: int = 64, seed: int = 0
) -> Float[np.ndarray, "m atoms n"]:
    """Noise atoms for `Quadratics` (their negatives are added there), each client with nu = `scale` or below.

    Laws: "sphere" (norm exactly scale), "cube" (uniform in a cube, mean square norm about scale^2),
    "rademacher" (every coordinate +-scale/sqrt n), "rare" (one atom in `atoms` carries all of scale^2 atoms,
    the rest are zero).

    Raises:
        ValueError: for an unknown law or a non-positive scale or count.
    """
    if law not in LAWS:
        raise ValueError(f"law = {law!r}: one of {', '.join(LAWS)}")
    if not (scale > 0 and atoms >= 1):
        raise ValueError(f"scale = {scale}, atoms = {atoms}: give a scale > 0 and at least one atom")
    rng = generator(seed, 0, 0, Purpose.DATA)
    if law == "sphere":
        w = rng.standard_normal((m, atoms, n))
        return scale * w / np.linalg.norm(w, axis=2, keepdims=True)
    if law == "cube":
        return rng.uniform(-1.0, 1.0, (m, atoms, n)) * scale * np.sqrt(3.0 / n)
    if law == "rademacher":
        return np.where(rng.random((m, atoms, n)) < 0.5, -1.0, 1.0) * scale / np.sqrt(n)
    w = np.zeros((m, atoms, n))
    first = rng.standard_normal((m, n))
    w[:, 0] = scale * np.sqrt(atoms) * first / np.linalg.norm(first, axis=1, keepdims=True)
    return w


class Quadratics(StronglyConvex):
    """f_i(x) = (x - c_i)^T A_i (x - c_i)/2 with antipodal additive noise (see the module's text).

    Args:
        a: curvatures: [m] (A_i = a_i I), [m, n] (diagonal) or [m, n, n] (symmetric positive semidefinite).
        c: centres [m, n] ([m] is read as n = 1).
        noise: atoms [m, q, n], or None for exact gradients; client i then has 2 q samples.
        samples: without noise, the number of (identical) samples each client is said to hold.

    Raises:
        ValueError: for shapes that do not fit, non-finite entries, a negative or asymmetric curvature.
    """

    name = "quadratics"

    def __init__(
        self,
        a: np.ndarray,
        c: np.ndarray,
        noise: np.ndarray | None = None,
        samples: int = 1,
    ) -> None:
        c = np.asarray(c, dtype=float)
        self.c = np.ascontiguousarray(c[:, None] if c.ndim == 1 else c)
        self.m, self.n = self.c.shape
        a = np.asarray(a, dtype=float)
        self.full = a.ndim == 3
        if a.ndim == 1:
            a = np.repeat(a[:, None], self.n, axis=1)
        if a.shape != (self.m, *([self.n] * (a.ndim - 1))):
            raise ValueError(f"a has shape {a.shape}: [m], [m, n] or [m, n, n] with [m, n] = {self.c.shape}")
        self.a = np.ascontiguousarray(a)
        if not (np.all(np.isfinite(self.a)) and np.all(np.isfinite(self.c))):
            raise ValueError("a or c holds an entry that is not finite")
        if self.full and not np.array_equal(self.a, self.a.swapaxes(1, 2)):
            raise ValueError("a holds an asymmetric matrix: give symmetric curvatures")
        self._check_noise(noise, samples)
        eigenvalues = [self._ends(i) for i in range(self.m)]
        self._low = np.array([e[0] for e in eigenvalues])
        self._high = np.array([e[1] for e in eigenvalues])
        if np.any(self._low < 0):
            i = int(np.argmin(self._low))
            raise ValueError(f"a[{i}] has smallest eigenvalue {self._low[i]}: a convex f_i needs it >= 0")

    def _check_noise(self, noise: np.ndarray | None, samples: int) -> None:
        if noise is None:
            if samples < 1:
                raise ValueError(f"samples = {samples}: give an integer >= 1")
            self.atoms = np.zeros((self.m, samples, self.n))
        else:
            noise = np.asarray(noise, dtype=float)
            if noise.ndim != 3 or noise.shape[::2] != (self.m, self.n) or not np.all(np.isfinite(noise)):
                raise ValueError(f"noise has shape {noise.shape}: finite atoms [{self.m}, q, {self.n}]")
            self.atoms = np.ascontiguousarray(np.concatenate([noise, -noise], axis=1))
        self.set_sizes([self.atoms.shape[1]] * self.m)
        self._table = self.atoms.reshape(-1, self.n)

    def _ends(self, i: int) -> tuple[float, float]:
        if not self.full:
            return float(self.a[i].min()), float(self.a[i].max())
        low = certify.lambda_min(self.a[i])
        if -1e-9 * np.abs(self.a[i]).max() * self.n < low < 0 and np.linalg.eigvalsh(self.a[i])[0] > -1e-12:
            low = 0.0  # singular up to the certificate's own slack: treated as merely convex, mu = 0
        return low, certify.lambda_max(self.a[i])

    def content(self) -> dict[str, Any]:
        return {"a": self.a, "c": self.c, "atoms": self.atoms}

    # Values and gradients ----------------------------------------------------------------------

    def _times(self, y: Float[np.ndarray, "*batch m n"]) -> Float[np.ndarray, "*batch m n"]:
        if self.full:
            return np.matmul(self.a, y[..., None])[..., 0]
        return self.a * y

    def losses(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch m"]:
        y = x[..., None, :] - self.c
        return 0.5 * (y * self._times(y)).sum(axis=-1)

    def local_gradients(self, x: Float[np.ndarray, "*batch m n"]) -> Float[np.ndarray, "*batch m n"]:
        return self._times(x - self.c)

    def sample_gradient(self, i: int, x: Float[np.ndarray, " n"], j: int) -> Float[np.ndarray, " n"]:
        A = self.a[i] if self.full else np.diag(self.a[i])
        return A @ (x - self.c[i]) + self.atoms[i, j]

    def sample_gradients(
        self, x: Float[np.ndarray, "S m n"], index: Int[np.ndarray, "S m batch"]
    ) -> Float[np.ndarray, "S m n"]:
        at = index + self.first[:, None]
        noise = self._table.take(at[..., 0], axis=0)
        for b in range(1, index.shape[2]):
            noise += self._table.take(at[..., b], axis=0)
        noise /= index.shape[2]
        return self._times(x - self.c) + noise

    # Constants ---------------------------------------------------------------------------------

    def smoothness(self) -> float:
        """L = max_i lambda_max(A_i)."""
        return float(self._high.max())

    def sample_smoothness(self) -> float:
        """L: a client's samples differ by a linear term alone."""
        return self.smoothness()

    def strong_convexity(self, p: Float[np.ndarray, " m"]) -> float:
        """A proven lower bound on the strong convexity of sum_i p_i f_i."""
        if self.full:
            mean = np.tensordot(p, self.a, axes=1)
            return certify.lambda_min((mean + mean.T) / 2, 1e-13 * float(np.abs(mean).sum()))
        return float((p @ self.a).min()) * (1 - 2.0**-45)

    def minimiser(self, p: Float[np.ndarray, " m"]) -> certify.Minimiser:
        """The minimiser of sum_i p_i f_i to a proven accuracy.

        Raises:
            ValueError: if sum_i p_i A_i is not provably positive definite (unless p picks one client, whose
                minimiser is c_i and minimum 0).
        """
        p = np.asarray(p, dtype=float)
        if np.count_nonzero(p) == 1:
            i = int(np.flatnonzero(p)[0])
            return certify.Minimiser(self.c[i], 0.0, 0.0, 0.0, 0.0)
        if self.full:
            x = np.linalg.solve(np.tensordot(p, self.a, axes=1), p @ self._times(self.c))
        else:
            x = (p @ (self.a * self.c)) / (p @ self.a)
        return certify.certify_minimiser(lambda q: self._enclose(q, p), self.strong_convexity(p), x)

    def _enclose(self, x: Sequence[arb], p: Float[np.ndarray, " m"]) -> tuple[arb, list[arb]]:
        total, gradient = arb(0), [arb(0)] * self.n
        for i in np.flatnonzero(p):
            weight = arb(float(p[i]))
            y = [v - c for v, c in zip(x, certify.balls(self.c[i]), strict=True)]
            if self.full:
                rows = [certify.balls(row) for row in self.a[i]]
                g = [sum((q * v for q, v in zip(row, y, strict=True)), arb(0)) for row in rows]
            else:
                g = [q * v for q, v in zip(certify.balls(self.a[i]), y, strict=True)]
            total += weight * sum((q * v for q, v in zip(g, y, strict=True)), arb(0)) / 2
            gradient = [s + weight * q for s, q in zip(gradient, g, strict=True)]
        return total, gradient

    def matrices(self) -> Float[np.ndarray, "m n n"]:
        """A_i as full matrices."""
        return self.a if self.full else self.a[:, :, None] * np.eye(self.n)

    def constants(
        self,
        p_star: Float[np.ndarray, " m"],
        *,
        sampling: str = "iid",
        batch: int = 1,
        replacement: str = "with",
        t: float = 1.0,
    ) -> dict[str, Constant]:
        """See `Problem.constants`; B^2 is (1 + 1/t) times the smallest, G the smallest for that B."""
        p_star = np.asarray(p_star, dtype=float)
        squares = (self.atoms**2).sum(axis=2)
        nu = nu_constant(squares.mean(axis=1), squares.max(axis=1), self.sizes, sampling, batch, replacement)
        minimum = self.minimiser(p_star)
        G, B = quadratic_pair(self.matrices(), self.gradients(minimum.x), p_star, minimum.radius, t)
        return {
            "L": Constant("L", self.smoothness(), Provenance.CERTIFIED, note="largest curvature"),
            "nu": nu,
            "G": Constant("G", G, Provenance.CERTIFIED, note=f"smallest G for this B (exact curve), t = {t}"),
            "B": Constant("B", B, Provenance.CERTIFIED, note=f"(1 + 1/t) times the smallest B^2, t = {t}"),
            **convex_constants(self, p_star),
        }

    def displacement_ceiling(self, x_0: Float[np.ndarray, " n"], gamma: float, K: int) -> float:
        """gamma (max_i ||A_i (x_0 - c_i)|| + w_max)(1 - rho^K)/(1 - rho), rho = max_i ||I - gamma A_i||."""
        start = float(np.linalg.norm(self.gradients(x_0), axis=1).max())
        push = gamma * (start + float(self.largest_noise().max()))
        return contraction_displacement(float(self.contractions(gamma).max()), push, K)

    def contractions(self, gamma: float) -> Float[np.ndarray, " m"]:
        """||I - gamma A_i||: what a step of each client multiplies distances by, at most."""
        ends = np.maximum(np.abs(1 - gamma * self._low), np.abs(1 - gamma * self._high))
        return np.asarray(ends)

    def largest_noise(self) -> Float[np.ndarray, " m"]:
        """Each client's largest atom: no batch of them has a mean of larger norm."""
        return np.sqrt((self.atoms**2).sum(axis=2).max(axis=1))
