"""Which images an experiment runs on: those in the folder that the user names, else scikit-learn's digits.

The paper uses MNIST and CIFAR-10. Neither comes with a package, so by default the digits (1797 images, 8 x 8) stand in
for MNIST, every figure says so, and CIFAR-10 is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from simulate.data import DataError, Partition, Samples, digits
from simulate.files import cifar10, mnist
from simulate.streams import Purpose, generator
from verify.errors import InputError

CONCENTRATION = 0.5  # of the clients' label distributions; the paper prints no partition


@dataclass(frozen=True, eq=False)
class Images:
    """Labelled images and what they are.

    Attributes:
        stands_for: "MNIST" or "CIFAR-10".
        name: what they are, in a word; title: the same at the head of a figure.
        note: one sentence for a figure that says which data stood in.
    """

    samples: Samples
    stands_for: str
    name: str
    title: str
    note: str


def stand_in() -> Images:
    """scikit-learn's digits, features in 0..1, in place of MNIST."""
    found = digits()
    samples = Samples(found.features / 16.0, found.labels, found.classes, found.source)
    note = "Data: scikit-learn's digits (1797 images of 8 x 8) in place of MNIST."
    return Images(samples, "MNIST", "digits", "Digits in place of MNIST", note)


def load(folder: Path | None) -> tuple[Images, ...]:
    """What `folder` or its direct subfolders hold: IDX files (MNIST or a set of its shape), CIFAR-10's binary files.

    Without a folder, and where it holds no IDX files, the digits stand in for MNIST.

    Raises:
        InputError: for a folder that does not exist or holds neither, or a file that cannot be used.
    """
    if folder is None:
        return (stand_in(),)
    if not folder.is_dir():
        raise InputError(f"--data {folder}: no such folder: give one with IDX or binary CIFAR-10 files")
    places = [folder, *sorted(p for p in folder.iterdir() if p.is_dir())]
    try:
        found = [_idx(p) for p in places if _holds(p, "train-images-idx3-ubyte")][:1]
        colour = [_cifar(p) for p in places if _holds(p, "data_batch_1.bin") or (p / "data_batch_1").exists()]
    except DataError as error:
        raise InputError(f"--data: {error}") from None
    if not found and not colour:
        raise InputError(
            f"--data {folder}: holds neither train-images-idx3-ubyte nor data_batch_1.bin: give the folder of "
            "MNIST's IDX files or of CIFAR-10's binary version"
        )
    return (*(found or [stand_in()]), *colour[:1])


def _holds(folder: Path, name: str) -> bool:
    return (folder / name).exists() or (folder / f"{name}.gz").exists()


def _idx(folder: Path) -> Images:
    return Images(
        mnist(folder),
        "MNIST",
        folder.name,
        f"IDX images ({folder.name})",
        f"Data: the training images of the IDX files in {folder.name!r} (MNIST, or a set of its shape).",
    )


def _cifar(folder: Path) -> Images:
    note = f"Data: CIFAR-10's training images, the binary files in {folder.name!r}."
    return Images(cifar10(folder), "CIFAR-10", folder.name, "CIFAR-10", note)


def proportional_sizes(total: int, capacities: Float[np.ndarray, " m"]) -> Int[np.ndarray, " m"]:
    """Shares of `total` samples in proportion to the capacities, rounded down (the capacities where they add up)."""
    return np.floor(total * capacities / capacities.sum() + 1e-9).astype(np.int64)


def skewed_split(labels: Int[np.ndarray, " D"], sizes: Int[np.ndarray, " m"], seed: int) -> Partition:
    """Clients of the given sizes with label distributions drawn from a Dirichlet law, seeded.

    Client after client draws its label distribution and fills its share from what is left of each class; what a class
    cannot give any more comes from the classes of which most is left.

    Raises:
        DataError: for sizes that need more samples than there are.
    """
    if sizes.sum() > len(labels):
        raise DataError(f"sizes = {sizes.tolist()}: {sizes.sum()} samples, there are {len(labels)}")
    rng = generator(seed, 0, 0, Purpose.DATA)
    names = np.unique(labels)
    pools = [rng.permutation(np.flatnonzero(labels == name)) for name in names]
    left = np.array([len(pool) for pool in pools])
    clients = []
    for size in sizes.tolist():
        wanted = np.floor(rng.dirichlet(np.full(len(names), CONCENTRATION)) * size).astype(np.int64)
        taken = np.minimum(wanted, left)
        while taken.sum() < size:  # top up, at most a whole class at a time
            k = int(np.argmax(left - taken))
            taken[k] += min(size - int(taken.sum()), int(left[k] - taken[k]))
        parts = [
            pool[len(pool) - rest : len(pool) - rest + count]
            for pool, rest, count in zip(pools, left, taken, strict=True)
        ]
        clients.append(np.sort(np.concatenate(parts)))
        left = left - taken
    return Partition(tuple(clients))
