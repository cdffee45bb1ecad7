"""The clients' data: real files, seeded synthetic data, or arrays in the file itself."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field, model_validator

from simulate.data import Partition, Samples, class_split, digits, dirichlet_split, normalise
from simulate.files import cifar10, mnist
from simulate.streams import Purpose, generator
from verify.schema.base import Count, Few, Finite, Index, NonNegative, Positive, Rows, Table, Vector

CIFAR_SHAPE, MNIST_SHAPE, DIGITS_SHAPE = (3, 32, 32), (1, 28, 28), (1, 8, 8)


@dataclass(frozen=True, eq=False)
class ClientData:
    """Every client's samples, ready for a problem.

    Attributes:
        features: per client [D_i, d].
        labels: per client [D_i], integers in [0, classes) (None where the targets are real numbers).
        targets: per client [D_i], real targets (None where there are labels).
        shape: (channels, height, width) of an image (None where the samples are none).
        source: where they come from, for a figure's caption.
    """

    features: list[Float[np.ndarray, "_ d"]]
    labels: list[Int[np.ndarray, " _"]] | None
    targets: list[Float[np.ndarray, " _"]] | None
    classes: int
    shape: tuple[int, int, int] | None
    source: str

    @property
    def distributions(self) -> Float[np.ndarray, "m t"]:
        """Q = [q_ic], the share of class c among client i's samples (Section 2.1).

        Raises:
            ValueError: for data without labels.
        """
        counts = [np.bincount(y, minlength=self.classes) for y in self.need_labels()]
        return np.array([row / row.sum() for row in counts])

    def need_labels(self) -> list[Int[np.ndarray, " _"]]:
        """The labels.

        Raises:
            ValueError: if there are none.
        """
        if self.labels is None:
            raise ValueError(
                "data: the targets are real numbers: this problem or game needs labels 0, 1, ..."
            )
        return self.labels

    def signs(self, positive: list[int] | None) -> list[Float[np.ndarray, " _"]]:
        """Targets of a linear model: the real ones, or +1 for the labels in `positive` and -1 for the others
        (default: the upper half of the classes).

        Raises:
            ValueError: for a class that does not exist.
        """
        if self.targets is not None:
            return self.targets
        labels = self.need_labels()
        chosen = list(range(self.classes // 2, self.classes)) if positive is None else positive
        for c in chosen:
            if not 0 <= c < self.classes:
                raise ValueError(f"problem.positive holds {c}: the classes are 0..{self.classes - 1}")
        return [np.where(np.isin(y, chosen), 1.0, -1.0) for y in labels]


class DataTable(Table):
    """One source of data."""

    @property
    @abstractmethod
    def m(self) -> int:
        """The number of clients."""

    @abstractmethod
    def build(self) -> ClientData:
        """The clients' data.

        Raises:
            ValueError: if it cannot be read or split as asked.
        """


class SplitTable(DataTable):
    """Labelled samples, split over `clients` by a seeded Dirichlet law of `concentration`, or so that each
    client holds `classes_each` classes; `sizes` keeps that many of each client's samples."""

    clients: Few
    concentration: Positive | None = None
    classes_each: Count | None = None
    sizes: list[Count] | None = None
    seed: Index
    normalise: Literal["none", "max", "unit", "standard"] = "unit"
    scale: Positive = 1.0
    bias: bool = True

    @model_validator(mode="after")
    def _one_law(self) -> SplitTable:
        if (self.concentration is None) == (self.classes_each is None):
            raise ValueError("give one of concentration (Dirichlet split) and classes_each (split by class)")
        if self.sizes is not None and len(self.sizes) != self.clients:
            raise ValueError(f"sizes has {len(self.sizes)} entries: give one per client ({self.clients})")
        return self

    @property
    def m(self) -> int:
        return self.clients

    @abstractmethod
    def samples(self) -> tuple[Samples, tuple[int, int, int]]:
        """All samples, and the shape of an image."""

    def build(self) -> ClientData:
        samples, shape = self.samples()
        parts = self._kept(self._split(samples.labels))
        features = normalise(samples.features, self.normalise, self.scale, self.bias)
        return ClientData(
            parts.split(features), parts.split(samples.labels), None, samples.classes,
            None if self.bias else shape, samples.source,
        )  # fmt: skip

    def _split(self, labels: Int[np.ndarray, " D"]) -> Partition:
        if self.classes_each is not None:
            return class_split(labels, self.clients, self.classes_each, self.seed)
        assert self.concentration is not None
        return dirichlet_split(labels, self.clients, self.concentration, self.seed)

    def _kept(self, parts: Partition) -> Partition:
        if self.sizes is None:
            return parts
        for i, (wanted, held) in enumerate(zip(self.sizes, parts.sizes.tolist(), strict=True)):
            if wanted > held:
                raise ValueError(
                    f"data.sizes[{i}] = {wanted}: client {i} got {held} samples; give at most that"
                )
        rng = generator(self.seed, 0, 1, Purpose.DATA)
        return Partition(
            tuple(np.sort(rng.permutation(c)[:k]) for c, k in zip(parts.clients, self.sizes, strict=True))
        )


class DigitsData(SplitTable):
    """scikit-learn's handwritten digits (1797 images of 8 x 8, shipped with it)."""

    source: Literal["digits"]

    def samples(self) -> tuple[Samples, tuple[int, int, int]]:
        return _digits(), DIGITS_SHAPE


@lru_cache(maxsize=1)
def _digits() -> Samples:
    return digits()


class FileData(SplitTable):
    """Images from a folder that the user names; `limit` keeps the first so many."""

    folder: str = Field(min_length=1)
    part: Literal["train", "test"] = "train"
    limit: Count | None = None

    def _first(self, samples: Samples) -> Samples:
        k = self.limit
        return Samples(samples.features[:k], samples.labels[:k], samples.classes, samples.source)


class MnistData(FileData):
    """MNIST or Fashion-MNIST: the four IDX files, gzipped or not."""

    source: Literal["mnist", "fashion"]

    def samples(self) -> tuple[Samples, tuple[int, int, int]]:
        return self._first(mnist(self.folder, self.part)), MNIST_SHAPE


class CifarData(FileData):
    """CIFAR-10 in its binary version."""

    source: Literal["cifar10"]

    def samples(self) -> tuple[Samples, tuple[int, int, int]]:
        return self._first(cifar10(self.folder, self.part)), CIFAR_SHAPE


class SyntheticData(DataTable):
    """Seeded Gaussian data: client i's features are standard normal around a centre of its own at distance
    about `shift`, divided by sqrt(dimension); with `classes` the label is the largest of as many random linear
    scores (each client sees its own mix), without it the target is a random linear score plus `noise`."""

    source: Literal["synthetic"]
    seed: Index
    sizes: list[Few] = Field(min_length=1)
    dimension: Few
    classes: Annotated[int, Field(ge=2, le=1000)] | None = None
    shift: NonNegative = 1.0
    noise: NonNegative = 0.1
    scale: Positive = 1.0

    @model_validator(mode="after")
    def _affordable(self) -> SyntheticData:
        if sum(self.sizes) * self.dimension > 100_000_000:
            raise ValueError(
                f"sizes and dimension ask for {sum(self.sizes) * self.dimension} numbers: at most 10^8"
            )
        return self

    @property
    def m(self) -> int:
        return len(self.sizes)

    def build(self) -> ClientData:
        rng, d = generator(self.seed, 0, 0, Purpose.DATA), self.dimension
        centres = rng.standard_normal((self.m, d)) * self.shift / np.sqrt(d)
        scores = rng.standard_normal((d, self.classes or 1))
        raw = [
            c / np.sqrt(d) + rng.standard_normal((D, d)) / np.sqrt(d)
            for c, D in zip(centres, self.sizes, strict=True)
        ]
        values = [a @ scores + self.noise * rng.standard_normal((len(a), 1)) for a in raw]
        features = [self.scale * a for a in raw]
        if self.classes is None:
            return ClientData(features, None, [v[:, 0] for v in values], 0, None, "synthetic")
        labels = [v.argmax(axis=1).astype(np.int64) for v in values]
        return ClientData(features, labels, None, self.classes, None, "synthetic")


class LiteralData(DataTable):
    """The arrays themselves: features per client, and per client either `targets` or `labels` (0, 1, ...)."""

    source: Literal["literal"]
    features: list[Rows] = Field(min_length=1)
    targets: list[Vector] | None = None
    labels: list[list[Annotated[int, Field(ge=0, le=999)]]] | None = None

    @model_validator(mode="after")
    def _fit(self) -> LiteralData:
        if (self.targets is None) == (self.labels is None):
            raise ValueError("give one of targets and labels")
        key = "labels" if self.targets is None else "targets"
        counts = [len(values) for values in (self.labels if self.targets is None else self.targets) or []]
        if len(counts) != len(self.features):
            raise ValueError(f"{key} has {len(counts)} entries: give one per client ({len(self.features)})")
        width = len(self.features[0][0])
        for i, (rows, count) in enumerate(zip(self.features, counts, strict=True)):
            if len(rows) != count:
                raise ValueError(
                    f"{key}[{i}] has {count} entries: give one per row of features[{i}] ({len(rows)})"
                )
            if any(len(row) != width for row in rows):
                raise ValueError(
                    f"features[{i}] has rows of different lengths: give every sample {width} numbers"
                )
        return self

    @property
    def m(self) -> int:
        return len(self.features)

    def build(self) -> ClientData:
        features = [np.array(rows, dtype=float) for rows in self.features]
        if self.targets is not None:
            return ClientData(
                features, None, [np.array(v, dtype=float) for v in self.targets], 0, None, "literal"
            )
        assert self.labels is not None
        labels = [np.array(v, dtype=np.int64) for v in self.labels]
        classes = max(2, 1 + max(int(y.max()) for y in labels))
        return ClientData(features, labels, None, classes, None, "literal")


AnyData = Annotated[
    DigitsData | MnistData | CifarData | SyntheticData | LiteralData, Field(discriminator="source")
]

__all__ = ["AnyData", "ClientData", "DataTable", "Finite"]
