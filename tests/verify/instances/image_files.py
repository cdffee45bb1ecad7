"""The examples' texts, and small files in the formats of MNIST and CIFAR-10."""

import struct
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def example(name: str) -> str:
    """The text of an example."""
    return (EXAMPLES / f"{name}.toml").read_text("utf-8")


def write_mnist(folder: Path, count: int = 60) -> None:
    """Two IDX files with random images and labels 0..9 in turn."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    images = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
    labels = (np.arange(count) % 10).astype(np.uint8)
    header = struct.pack(">4I", 0x803, count, 28, 28)
    (folder / "train-images-idx3-ubyte").write_bytes(header + images.tobytes())
    (folder / "train-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, count) + labels.tobytes())


def write_cifar(folder: Path, count: int = 20) -> None:
    """Five binary batches with random images and labels 0..9 in turn."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    for k in range(1, 6):
        rows = rng.integers(0, 256, (count, 3073), dtype=np.uint8)
        rows[:, 0] = np.arange(count) % 10
        (folder / f"data_batch_{k}.bin").write_bytes(rows.tobytes())
