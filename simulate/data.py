"""Real data and its partition over clients: features, labels, label distributions, discovery matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from simulate.streams import Purpose, generator

NORMALISATIONS = ("none", "max", "unit", "standard")


class DataError(ValueError):
    """Data that cannot be used: the message names the file or value and what would be right."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Labelled samples: features float64 [D, d], labels int64 [D] in [0, classes), and their source."""

    features: Float[np.ndarray, "D d"]
    labels: Int[np.ndarray, " D"]
    classes: int
    source: str


@dataclass(frozen=True, eq=False)
class Partition:
    """Which samples each client holds: `clients[i]` are indices into the samples, disjoint and sorted."""

    clients: tuple[Int[np.ndarray, " _"], ...]

    @property
    def sizes(self) -> Int[np.ndarray, " m"]:
        """D_i, the number of samples of each client."""
        return np.array([len(c) for c in self.clients], dtype=np.int64)

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """The clients' rows of `values` ([D, ...])."""
        return [values[c] for c in self.clients]


def digits() -> Samples:
    """scikit-learn's handwritten digits (UCI, 1797 images 8 x 8, values 0..16), shipped in its wheel."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return Samples(bunch.data.astype(float), bunch.target.astype(np.int64), 10, "scikit-learn digits")


def normalise(
    features: Float[np.ndarray, "D d"], how: str = "unit", scale: float = 1.0, bias: bool = True
) -> Float[np.ndarray, "D e"]:
    """Scaled features, with a constant 1 appended before scaling if `bias`.

    how: "none"; "max" (divide by the largest absolute entry); "unit" (every row, bias included, has norm 1,
    so the smoothness constant of softmax regression is at most scale^2/2 plus the regulariser); "standard"
    (each column to mean 0 and variance 1, constant columns to 0, then all divided by sqrt of the width).

    Raises:
        DataError: for an unknown name, a scale <= 0 or features that are not finite.
    """
    if how not in NORMALISATIONS:
        raise DataError(f"normalise = {how!r}: one of {', '.join(NORMALISATIONS)}")
    if not (np.isfinite(scale) and scale > 0):
        raise DataError(f"scale = {scale}: give a number > 0")
    if not np.all(np.isfinite(features)):
        raise DataError("features hold a value that is not finite")
    a = np.asarray(features, dtype=float)
    if how == "max":
        a = a / (np.abs(a).max() or 1.0)
    if how == "standard":
        spread = a.std(axis=0)
        a = (a - a.mean(axis=0)) / np.where(spread > 0, spread, 1.0) / np.sqrt(a.shape[1])
    if bias:
        a = np.concatenate([a, np.full((len(a), 1), np.abs(a).max() if how == "unit" else 1.0)], axis=1)
    if how == "unit":
        norms = np.linalg.norm(a, axis=1, keepdims=True)
        a = a / np.where(norms > 0, norms, 1.0)
    return scale * a


def dirichlet_split(
    labels: Int[np.ndarray, " D"], m: int, concentration: float, seed: int, least: int = 1
) -> Partition:
    """Splits every class over the m clients by Dirichlet(concentration) proportions, seeded.

    Small concentrations give skewed label distributions. Draws afresh, from the same stream, until each
    client holds at least `least` samples.

    Raises:
        DataError: for m < 1, a concentration <= 0, too few samples, or no such split in 1000 draws.
    """
    if m < 1 or not (np.isfinite(concentration) and concentration > 0):
        raise DataError(f"m = {m}, concentration = {concentration}: at least one client and a number > 0")
    if len(labels) < m * least:
        raise DataError(f"{len(labels)} samples: too few for {m} clients with {least} each")
    rng = generator(seed, 0, 0, Purpose.DATA)
    for _ in range(1000):
        parts: list[list[np.ndarray]] = [[] for _ in range(m)]
        for label in np.unique(labels):
            members = rng.permutation(np.flatnonzero(labels == label))
            cuts = np.cumsum(rng.dirichlet(np.full(m, concentration)))[:-1]
            pieces = np.split(members, np.rint(np.clip(cuts, 0, 1) * len(members)).astype(np.int64))
            for part, piece in zip(parts, pieces, strict=True):
                part.append(piece)
        clients = tuple(np.sort(np.concatenate(part)) for part in parts)
        if min(len(c) for c in clients) >= least:
            return Partition(clients)
    raise DataError(
        f"concentration = {concentration}: no split in 1000 draws gave every client {least} samples; raise it"
    )


def class_split(labels: Int[np.ndarray, " D"], m: int, classes_each: int, seed: int) -> Partition:
    """Splits by class: client i holds `classes_each` classes, in a circle over a seeded order of the classes.

    The samples of a class are shared evenly by the clients that hold it; classes held by nobody are left out.

    Raises:
        DataError: unless 1 <= classes_each <= the number of classes, or if a client would get no sample.
    """
    rng = generator(seed, 0, 0, Purpose.DATA)
    names = rng.permutation(np.unique(labels))
    if m < 1 or not 1 <= classes_each <= len(names):
        raise DataError(
            f"m = {m}, classes_each = {classes_each}: at least one client, 1..{len(names)} classes"
        )
    held = [[names[(i * classes_each + j) % len(names)] for j in range(classes_each)] for i in range(m)]
    parts: list[list[np.ndarray]] = [[] for _ in range(m)]
    for label in names:
        owners = [i for i in range(m) if label in held[i]]
        members = rng.permutation(np.flatnonzero(labels == label))
        if owners:
            for i, piece in zip(owners, np.array_split(members, len(owners)), strict=True):
                parts[i].append(piece)
    clients = tuple(np.sort(np.concatenate(part)) for part in parts)
    if min(len(c) for c in clients) == 0:
        raise DataError(f"m = {m}: a client got no sample; use fewer clients or more classes each")
    return Partition(clients)


def label_distributions(
    labels: Int[np.ndarray, " D"], partition: Partition, classes: int
) -> Float[np.ndarray, "m t"]:
    """Q = [q_ic]: the share of class c among client i's samples (Section 2.1), from the actual partition."""
    counts = np.array([np.bincount(labels[c], minlength=classes) for c in partition.clients])
    return counts / counts.sum(axis=1, keepdims=True)


def discovery_matrix(q: Float[np.ndarray, "m t"]) -> Float[np.ndarray, "m m"]:
    """W = Q Q^T of the random discovery payoff a(N) = W N (Section 2.1)."""
    return q @ q.T
