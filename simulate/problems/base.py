"""What the simulator and the bounds need to know of a learning problem.

f_i(x) = (1/D_i) sum_j f~_i(x, j) over client i's D_i samples, f = sum_i p*_i f_i. All methods are batched
over leading axes; `simulate.reference` alone uses `sample_gradient`, which each problem writes as a plain
formula on its own, so that the batched kernels are tested against something else.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from bounds.core.constant import Constant, Provenance

UP = 1.0 + 2.0**-40  # outward margin for bounds computed in a few dozen float operations


class Problem(ABC):
    """A federated learning problem.

    Attributes:
        name: a short name.
        m, n: number of clients, number of parameters.
        sizes: D_i, the number of samples of each client, int64 [m]; first: where each client's samples start
            if all are joined in client order, int64 [m].
    """

    name: str
    m: int
    n: int
    sizes: Int[np.ndarray, " m"]
    first: Int[np.ndarray, " m"]
    dtype: type = np.float64

    def set_sizes(self, sizes: Sequence[int]) -> None:
        """Sets `sizes` and `first`."""
        self.sizes = np.array(sizes, dtype=np.int64)
        self.first = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)

    @abstractmethod
    def losses(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch m"]:
        """f_i(x) for every client."""

    @abstractmethod
    def local_gradients(self, x: Float[np.ndarray, "*batch m n"]) -> Float[np.ndarray, "*batch m n"]:
        """grad f_i(x_i): each client's full gradient at its own point."""

    @abstractmethod
    def sample_gradient(self, i: int, x: Float[np.ndarray, " n"], j: int) -> Float[np.ndarray, " n"]:
        """The gradient of f~_i(., j) at x for one client and one sample, as a plain formula."""

    @abstractmethod
    def sample_gradients(
        self, x: Float[np.ndarray, "S m n"], index: Int[np.ndarray, "S m batch"]
    ) -> Float[np.ndarray, "S m n"]:
        """The mean over the batch of the gradients of f~_i(., index) at x_i, one per (seed, client)."""

    @abstractmethod
    def constants(
        self,
        p_star: Float[np.ndarray, " m"],
        *,
        sampling: str = "iid",
        batch: int = 1,
        replacement: str = "with",
    ) -> dict[str, Constant]:
        """L, nu, f_star, f_i_star, G, B and, in the strongly convex case, x_star and S, each with its
        provenance.

        G and B are a pair of Assumption 4.5 (against ||grad f||^2). nu is for the gradient the sampling mode
        uses.
        """

    @abstractmethod
    def displacement_ceiling(self, x_0: Float[np.ndarray, " n"], gamma: float, K: int) -> float:
        """A proven bound on ||x - x_0|| over every client iterate of every run of K steps from x_0, any
        weights.

        Averages of such iterates obey it too, since balls are convex. Infinite where none is known.
        """

    def gradients(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch m n"]:
        """grad f_i(x) for every client, all at the same point."""
        return self.local_gradients(np.broadcast_to(x[..., None, :], (*x.shape[:-1], self.m, self.n)))

    def loss(
        self, x: Float[np.ndarray, "*batch n"], p: Float[np.ndarray, " m"]
    ) -> Float[np.ndarray, "*batch"]:
        """f(x) = sum_i p_i f_i(x), summed in client order."""
        return weighted(self.losses(x)[..., None], p)[..., 0]

    def gradient(
        self, x: Float[np.ndarray, "*batch n"], p: Float[np.ndarray, " m"]
    ) -> Float[np.ndarray, "*batch n"]:
        """grad f(x) = sum_i p_i grad f_i(x), summed in client order."""
        return weighted(self.gradients(x), p)

    def descend(
        self, x: Float[np.ndarray, "S m n"], at: Int[np.ndarray, "S m batch"] | None, gamma: float
    ) -> None:
        """One local step of every (seed, client) in place; without samples `at`, with full gradients.

        Args:
            at: rows of the clients' joined samples, first_i + index: engines add first_i once for many steps.
        """
        if at is None:
            x -= gamma * self.local_gradients(x)
        else:
            x -= gamma * self.sample_gradients(x, at - self.first[:, None])

    def grad_f_sq_ceiling(
        self, x_0: Float[np.ndarray, " n"], gamma: float, K: int, p_star: Float[np.ndarray, " m"]
    ) -> float:
        """A proven upper bound on ||grad f(x_bar_k)||^2, k <= K, over all runs from x_0.

        ||grad f(x)|| <= ||grad f(x_0)|| + L d with d the displacement; problems with bounded gradients do
        better.
        """
        start = float(np.linalg.norm(self.gradient(x_0, p_star)))
        d = self.displacement_ceiling(x_0, gamma, K)
        return (start + self.smoothness() * d) ** 2 * UP

    def f_gap_ceiling(
        self, x_0: Float[np.ndarray, " n"], gamma: float, K: int, p_star: Float[np.ndarray, " m"]
    ) -> float:
        """A proven upper bound on f(x) - f* over all iterates of runs from x_0, and over averages of them.

        The least of f(x_0) + ||grad f(x_0)|| d + L d^2 / 2 and f(x_0) + d sup ||grad f||, less the proven
        lower end of f*.
        """
        f_star = self.constants(p_star)["f_star"]
        start, slope = float(self.loss(x_0, p_star)), float(np.linalg.norm(self.gradient(x_0, p_star)))
        d = self.displacement_ceiling(x_0, gamma, K)
        growth = min(
            slope * d + self.smoothness() * d * d / 2,
            d * float(np.sqrt(self.grad_f_sq_ceiling(x_0, gamma, K, p_star))),
        )
        bottom = float(f_star.value) - float(f_star.radius)
        return (start - bottom + growth) * UP + 2.0**-40 * (abs(start) + abs(bottom))

    @abstractmethod
    def smoothness(self) -> float:
        """L, a common smoothness constant of the f_i (proven where `constants` says so)."""

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """The arrays and numbers that define the problem, by name."""

    def fingerprint(self) -> str:
        """SHA-256 of the problem's class and content: ties a run file to the problem it came from."""
        digest = hashlib.sha256(type(self).__name__.encode())
        for key, value in sorted(self.content().items()):
            digest.update(key.encode())
            array = np.ascontiguousarray(value)
            digest.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
        return digest.hexdigest()


def weighted(
    values: Float[np.ndarray, "*batch m n"], p: Float[np.ndarray, " m"]
) -> Float[np.ndarray, "*batch n"]:
    """sum_i p_i values_i in client order, elementwise: the same bits for any leading shape."""
    total = p[0] * values[..., 0, :]
    for i in range(1, len(p)):
        total += p[i] * values[..., i, :]
    return total


def check_sampling(sampling: str, batch: int, replacement: str) -> None:
    """Raises ValueError for an unknown sampling mode, batch or replacement."""
    if sampling not in ("iid", "full", "subset"):
        raise ValueError(f"sampling = {sampling!r}: one of iid, full, subset")
    if replacement not in ("with", "batch", "round"):
        raise ValueError(f"replacement = {replacement!r}: one of with, batch, round")
    if batch < 1:
        raise ValueError(f"batch = {batch}: give an integer >= 1")


def nu_constant(
    single: Float[np.ndarray, " m"],
    largest: Float[np.ndarray, " m"],
    sizes: Int[np.ndarray, " m"],
    sampling: str,
    batch: int,
    replacement: str,
    provenance: Provenance = Provenance.CERTIFIED,
) -> Constant:
    """nu of Assumption 2.1(ii) from per-client bounds on one sample's deviation from grad f_i.

    Args:
        single: [m] bounds on sup_x of the mean over samples of ||grad f~_i(x, j) - grad f_i(x)||^2.
        largest: [m] bounds on sup_x max_j of the same; used where the conditional law is not uniform.

    `iid`: independent draws divide the variance by the batch; distinct draws by batch (D - 1)/(D - batch).
    `full`: 0.
    `subset`, and "round", bias the gradient given the past; then nu^2 bounds E||g - grad f_i||^2 all the
    same.
    """
    check_sampling(sampling, batch, replacement)
    if sampling == "full":
        return Constant("nu", 0.0, Provenance.EXACT, note="full gradients have no noise")
    if sampling == "subset" or replacement == "round":
        note = "largest deviation of one sample: this mode's gradient is biased given the past"
        return Constant("nu", float(np.sqrt(largest.max())) * UP, provenance, note=note)
    divisor = np.full(len(sizes), float(batch))
    if replacement == "batch":
        divisor = np.where(sizes > batch, batch * (sizes - 1.0) / np.maximum(sizes - batch, 1), 1.0)
        single = np.where(sizes > batch, single, 0.0)  # a batch of all samples has no noise
    note = f"mean square deviation of a sample gradient, batch {batch}, replacement {replacement}"
    return Constant("nu", float(np.sqrt((single / divisor).max())) * UP, provenance, note=note)


def common_part_pair(
    K: Float[np.ndarray, " m"], p_star: Float[np.ndarray, " m"], t: float
) -> tuple[float, float]:
    """(G, B) of Assumption 4.5 when grad f_i = M_i + a part common to all clients and ||M_i|| <= K_i.

    With M = sum_i p*_i M_i and M_u = mean_i M_i: mean_i ||grad f_i||^2 = ||grad f + M_u - M||^2 + mean_i
    ||M_i - M_u||^2 <= (||grad f|| + E)^2 + mean_i K_i^2, E = sum_i |1/m - p*_i| K_i; so for every t > 0
    B^2 = 1 + 1/t and G^2 = (1 + t) E^2 + mean_i K_i^2.

    Raises:
        ValueError: for t <= 0.
    """
    if not t > 0:
        raise ValueError(f"t = {t}: the trade-off between G and B is a number > 0")
    E = float(np.abs(1.0 / len(K) - p_star) @ K) * UP
    return float(np.sqrt((1 + t) * E * E + (K**2).mean())) * UP, float(np.sqrt(1 + 1 / t)) * UP


def contraction_displacement(rho: float, push: float, K: int) -> float:
    """push (1 - rho^K)/(1 - rho): bounds ||x_K - x_0|| if steps are rho-Lipschitz and move x_0 by <= push."""
    if rho == 1.0:
        return push * K * UP
    if rho == 0.0:
        return push * min(K, 1) * UP
    return float(push * np.expm1(K * np.log(rho)) / (rho - 1.0)) * UP * UP


def check_client_data(
    features: Sequence[np.ndarray], labels: Sequence[np.ndarray], targets: str = "labels"
) -> None:
    """Raises ValueError for empty, unequal, mismatched or non-finite per-client data."""
    if len(features) == 0 or len(features) != len(labels):
        raise ValueError(
            f"features for {len(features)} clients, {targets} for {len(labels)}: give one of each"
        )
    for i, (a, y) in enumerate(zip(features, labels, strict=True)):
        if a.ndim != 2 or len(a) == 0 or len(a) != len(y) or a.shape[1] != features[0].shape[1]:
            raise ValueError(
                f"client {i}: features {a.shape}, {targets} {y.shape}: [D_i, d] and [D_i], D_i >= 1"
            )
        if not np.all(np.isfinite(a)):
            raise ValueError(f"client {i}: a feature is not finite")
