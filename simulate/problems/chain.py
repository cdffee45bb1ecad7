"""What networks have in common: one chain at a time, cross-entropy, and constants that can only be estimated.

A network says how it maps samples to logits and how a gradient is pulled back; everything else is here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from bounds.core.constant import Constant, Provenance
from simulate.problems.base import Problem, check_client_data, nu_constant


class Network(Problem):
    """A classifier with cross-entropy and an L2 term: f~_i(x, j) = -log softmax(z(x, a_j))[y_j] +
    (regulariser/2) ||x||^2.

    Attributes:
        A, y: the clients' joined samples, as the network reads them, and their labels.
        classes, regulariser, dtype: as given.
    """

    A: np.ndarray
    y: Int[np.ndarray, " D"]
    classes: int
    regulariser: float

    def set_data(
        self,
        features: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        classes: int,
        regulariser: float,
        dtype: type,
    ) -> Float[np.ndarray, "D d"]:
        """Checks and stores what all networks need; returns the joined features.

        Raises:
            ValueError: for unfit data, labels out of range, a negative regulariser or another dtype.
        """
        check_client_data(features, labels)
        if not (np.isfinite(regulariser) and regulariser >= 0):
            raise ValueError(f"regulariser = {regulariser}: give a number >= 0")
        if dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype = {dtype}: np.float64 or np.float32")
        self.m, self.classes, self.regulariser, self.dtype = len(features), classes, float(regulariser), dtype
        self.y = np.concatenate(labels).astype(np.int64)
        if self.y.min() < 0 or self.y.max() >= classes:
            raise ValueError(f"labels span {self.y.min()}..{self.y.max()}: they lie in 0..{classes - 1}")
        self.set_sizes([len(y) for y in labels])
        return np.concatenate(features)

    def rows(self, i: int) -> slice:
        """Client i's rows of the joined samples."""
        return slice(int(self.first[i]), int(self.first[i] + self.sizes[i]))

    @abstractmethod
    def logits(
        self, x: Float[np.ndarray, " n"], rows: slice | Int[np.ndarray, " b"]
    ) -> Float[np.ndarray, "b c"]:
        """Logits of the given rows, less each row's largest."""

    @abstractmethod
    def mean_gradient(
        self, x: Float[np.ndarray, " n"], rows: slice | Int[np.ndarray, " b"]
    ) -> Float[np.ndarray, " n"]:
        """Mean gradient over the given rows, the L2 term included."""

    @abstractmethod
    def random_start(self, seed: int, scale: float = 1.0) -> Float[np.ndarray, " n"]:
        """A seeded x_0 with entries of variance scale^2/fan-in ("scaled random values", Section 5.1)."""

    def descend_one(
        self, x: Float[np.ndarray, " n"], rows: slice | Int[np.ndarray, " b"], gamma: float
    ) -> None:
        """One local step of one client in place."""
        x -= self.dtype(gamma) * self.mean_gradient(x, rows)

    def losses(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch m"]:
        flat: np.ndarray = np.ascontiguousarray(x, dtype=self.dtype).reshape(-1, self.n)
        out = np.empty((len(flat), self.m))
        for q, point in enumerate(flat):
            z = self.logits(point, slice(None))
            each = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(z)), self.y]
            ridge = 0.5 * self.regulariser * float(np.vdot(point, point))
            for i in range(self.m):
                out[q, i] = each[self.rows(i)].mean(dtype=float) + ridge
        return out.reshape(*x.shape[:-1], self.m)

    def local_gradients(self, x: Float[np.ndarray, "*batch m n"]) -> Float[np.ndarray, "*batch m n"]:
        flat = np.ascontiguousarray(x).reshape(-1, self.m, self.n)
        out: np.ndarray = np.empty(flat.shape, dtype=self.dtype)
        for q in range(len(flat)):
            for i in range(self.m):
                out[q, i] = self.mean_gradient(flat[q, i], self.rows(i))
        return out.reshape(x.shape)

    def sample_gradients(
        self, x: Float[np.ndarray, "S m n"], index: Int[np.ndarray, "S m batch"]
    ) -> Float[np.ndarray, "S m n"]:
        out: np.ndarray = np.empty(x.shape, dtype=self.dtype)
        for s in range(x.shape[0]):
            for i in range(self.m):
                out[s, i] = self.mean_gradient(x[s, i], index[s, i] + self.first[i])
        return out

    # Constants ---------------------------------------------------------------------------------

    def smoothness(self) -> float:
        """An estimate of L: networks have none that holds everywhere."""
        return self.estimates()["L"]

    def estimates(self) -> dict[str, float]:
        """Largest values met at 6 random starts: L by difference quotients, nu and G by their definitions."""
        seen = {"L": 0.0, "nu_sq": 0.0, "G_sq": 0.0, "f": np.inf}
        for seed in range(6):
            x = self.random_start(seed)
            g = self.gradients(x).astype(float)
            y = x + 1e-3 * g[seed % self.m] / (np.linalg.norm(g[seed % self.m]) or 1.0)
            quotient = np.linalg.norm(self.gradients(y) - g, axis=1).max() / np.linalg.norm(x - y)
            sample = [
                self.sample_gradient(seed % self.m, x, j) for j in range(min(20, self.sizes[seed % self.m]))
            ]
            spread = np.mean([float(np.sum((h - g[seed % self.m]) ** 2)) for h in sample])
            seen["L"] = max(seen["L"], float(quotient))
            seen["nu_sq"] = max(seen["nu_sq"], float(spread))
            seen["G_sq"] = max(seen["G_sq"], float((g**2).sum() / self.m))
            seen["f"] = min(seen["f"], float(self.losses(x).max()))
        return seen

    def estimated_constants(self, sampling: str, batch: int, replacement: str) -> dict[str, Constant]:
        """L, nu, G (with B = 0) as the largest values met at random starts, and `minima`."""
        seen, estimated = self.estimates(), Provenance.ESTIMATED
        spread = np.full(self.m, seen["nu_sq"])
        note = "largest value met at random starts"
        values = {"L": seen["L"], "G": float(np.sqrt(seen["G_sq"])), "B": 0.0}
        found = {name: Constant(name, value, estimated, note=note) for name, value in values.items()}
        nu = nu_constant(spread, spread, self.sizes, sampling, batch, replacement, estimated)
        return {**found, "nu": nu, **self.minima()}

    def minima(self) -> dict[str, Constant]:
        """f* and f*_i: from 0 (cross-entropy's infimum) to the least max_i f_i met at random starts."""
        certified, best = Provenance.CERTIFIED, self.estimates()["f"]
        note = "between 0 and the best value met"
        f_i = Constant("f_i_star", np.full(self.m, best / 2), certified, np.full(self.m, best / 2), note)
        return {"f_star": Constant("f_star", best / 2, certified, best / 2, note), "f_i_star": f_i}
