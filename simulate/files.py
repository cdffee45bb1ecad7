"""Image data from files the user names: IDX (MNIST, Fashion-MNIST) and CIFAR-10's binary version.

Both formats are plain bytes, read here with every size checked before it is believed: a truncated, wrong or
hostile file ends in one clear line. CIFAR-10's pickled version is not read: unpickling executes what the
file says.
"""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from simulate.data import DataError, Samples

MAX_BYTES = 1 << 30  # of uncompressed data in one file; MNIST's largest has 47 MB
IMAGES, LABELS = 0x00000803, 0x00000801  # IDX magic: unsigned bytes, 3 or 1 dimensions
CIFAR_ROW, CIFAR_ROWS = 3073, 10_000  # a label and 32 x 32 x 3 bytes; images in each of CIFAR-10's files
CIFAR_NAMES = {"train": [f"data_batch_{k}.bin" for k in range(1, 6)], "test": ["test_batch.bin"]}
IDX_NAMES = {"train": "train", "test": "t10k"}


def mnist(folder: str | os.PathLike[str], part: str = "train") -> Samples:
    """MNIST or Fashion-MNIST from a folder with the four IDX files, gzipped or not (784 features in 0..1).

    Args:
        folder: holds train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-..., with or without .gz.
        part: "train" or "test".

    Raises:
        DataError: for a missing, truncated, wrong or hostile file, naming it and what would be right.
    """
    if part not in IDX_NAMES:
        raise DataError(f"part = {part!r}: train or test")
    stem = IDX_NAMES[part]
    images_path = _find(Path(folder), f"{stem}-images-idx3-ubyte")
    labels_path = _find(Path(folder), f"{stem}-labels-idx1-ubyte")
    images, labels = read_idx(images_path, IMAGES), read_idx(labels_path, LABELS)
    if len(images) != len(labels):
        raise DataError(f"{labels_path}: {len(labels)} labels for {len(images)} images in {images_path.name}")
    if images.shape[1:] != (28, 28):
        raise DataError(f"{images_path}: images of {images.shape[1]} x {images.shape[2]}, MNIST has 28 x 28")
    if labels.size == 0 or labels.max() > 9:
        raise DataError(f"{labels_path}: labels must be there and lie in 0..9")
    features = images.reshape(len(images), -1) / 255.0
    return Samples(features, labels.astype(np.int64), 10, str(images_path))


def cifar10(folder: str | os.PathLike[str], part: str = "train") -> Samples:
    """CIFAR-10 from its binary version (data_batch_1.bin ... test_batch.bin): 3072 features in 0..1.

    Raises:
        DataError: for a missing, truncated or wrong file; the pickled version is refused by name.
    """
    if part not in CIFAR_NAMES:
        raise DataError(f"part = {part!r}: train or test")
    rows = [read_cifar(_find(Path(folder), name)) for name in CIFAR_NAMES[part]]
    joined = np.concatenate(rows)
    return Samples(joined[:, 1:] / 255.0, joined[:, 0].astype(np.int64), 10, str(folder))


def read_idx(path: Path, magic: int) -> UInt8[np.ndarray, ...]:
    """The array of one IDX file of unsigned bytes with the given magic number."""
    data = _read(path, MAX_BYTES)
    dimensions = magic & 0xFF
    header = 4 + 4 * dimensions
    if len(data) < header:
        raise DataError(f"{path}: {len(data)} bytes, an IDX header has {header}")
    found, *shape = struct.unpack(f">{1 + dimensions}I", data[:header])
    if found != magic:
        raise DataError(f"{path}: magic number {found:#010x}, expected {magic:#010x}")
    expected = header + _product(shape)
    if len(data) != expected:
        raise DataError(f"{path}: {len(data)} bytes, its header says {shape}, that is {expected}")
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)


def read_cifar(path: Path) -> UInt8[np.ndarray, "rows 3073"]:
    """The rows (label, 3072 bytes of image) of one binary CIFAR-10 file."""
    data = _read(path, CIFAR_ROW * CIFAR_ROWS)
    if data[:1] == b"\x80":  # a pickle's first byte; a label is at most 9
        raise DataError(f"{path}: this is the pickled (Python) version; give the binary version")
    if len(data) == 0 or len(data) % CIFAR_ROW:
        raise DataError(
            f"{path}: {len(data)} bytes, not a multiple of {CIFAR_ROW}; truncated or another format"
        )
    rows = np.frombuffer(data, np.uint8).reshape(-1, CIFAR_ROW)
    if rows[:, 0].max() > 9:
        raise DataError(f"{path}: label {rows[:, 0].max()}, CIFAR-10 has 0..9 (CIFAR-100 has another layout)")
    return rows


def _product(shape: list[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _find(folder: Path, name: str) -> Path:
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder")
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.exists():
            return candidate
    pickled = folder / name.removesuffix(".bin")
    if name.endswith(".bin") and pickled.exists():
        raise DataError(f"{pickled}: this is the pickled (Python) version; give the binary version, {name}")
    raise DataError(f"{folder}: holds no {name} (or {name}.gz)")


def _read(path: Path, most: int) -> bytes:
    """A file's bytes, unzipped if it ends in .gz, at most `most` (a small file can unzip to any size)."""
    try:
        if not path.is_file():
            raise DataError(f"{path}: not a file")
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            data = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({' '.join(str(error).split())[:100]})") from None
    if len(data) > most:
        raise DataError(f"{path}: more than {most} bytes; not a file of this format")
    return data
