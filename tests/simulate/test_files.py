"""IDX and CIFAR-10 files: read right, and every bad file ends in one line."""

import gzip
import os
import pickle
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from simulate import files
from simulate.data import DataError, dirichlet_split, label_distributions


def write_mnist(folder: Path, count: int = 7, zipped: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
    labels = rng.integers(0, 10, count, dtype=np.uint8)
    for part in ("train", "t10k"):
        for name, magic, array in (("images-idx3", 0x803, images), ("labels-idx1", 0x801, labels)):
            data = struct.pack(f">{1 + array.ndim}I", magic, *array.shape) + array.tobytes()
            path = folder / f"{part}-{name}-ubyte"
            if zipped:
                path.with_name(path.name + ".gz").write_bytes(gzip.compress(data))
            else:
                path.write_bytes(data)
    return images, labels


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("part", ["train", "test"])
def test_idx_files_are_read(tmp_path: Path, zipped: bool, part: str) -> None:
    images, labels = write_mnist(tmp_path, zipped=zipped)
    samples = files.mnist(tmp_path, part)
    assert np.array_equal(samples.features * 255, images.reshape(7, 784))
    assert np.array_equal(samples.labels, labels)


def header(magic: int, *shape: int) -> bytes:
    return struct.pack(f">{1 + len(shape)}I", magic, *shape)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("images-idx3", b"", "0 bytes, an IDX header has 16"),
        ("images-idx3", header(0x803, 7, 28), "an IDX header has 16"),
        ("images-idx3", header(0x803, 7, 28, 28) + bytes(99), "its header says"),
        ("images-idx3", header(0x803, 7, 28, 28) + bytes(7 * 784 + 1), "its header says"),
        ("images-idx3", header(0x803, 2**32 - 1, 2**32 - 1, 2**32 - 1), "its header says"),
        ("images-idx3", header(0x803, 0, 28, 28), "7 labels for 0 images"),
        ("images-idx3", header(0x803, 7, 14, 56) + bytes(7 * 784), "images of 14 x 56"),
        ("images-idx3", header(0x801, 7, 28, 28) + bytes(7 * 784), "magic number 0x00000801"),
        ("images-idx3", header(0xD03, 7, 28, 28) + bytes(7 * 784), "magic number 0x00000d03"),
        ("labels-idx1", header(0x801, 6) + bytes(6), "6 labels for 7 images"),
        ("labels-idx1", header(0x801, 7) + bytes([10] * 7), "0..9"),
        ("labels-idx1", pickle.dumps(np.arange(7)), "magic number"),
    ],
)
def test_bad_idx_files_are_named(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    write_mnist(tmp_path)
    (tmp_path / f"train-{name}-ubyte").write_bytes(data)
    with pytest.raises(DataError, match=words):
        files.mnist(tmp_path)


def test_bad_gzip_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_mnist(tmp_path, zipped=True)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    whole = path.read_bytes()
    for data in (whole[:50], b"\x1f\x8b" + bytes(40), whole[:30] + b"???" + whole[33:], b"plain"):
        path.write_bytes(data)
        with pytest.raises(DataError, match="cannot be read"):
            files.mnist(tmp_path)
    monkeypatch.setattr(files, "MAX_BYTES", 1 << 20)
    path.write_bytes(gzip.compress(bytes(1 << 24)))
    assert path.stat().st_size < 1 << 15
    with pytest.raises(DataError, match="more than"):
        files.mnist(tmp_path)


def write_cifar(folder: Path, rows: int = 3) -> np.ndarray:
    rng = np.random.default_rng(1)
    data = rng.integers(0, 256, (6, rows, 3073), dtype=np.uint8)
    data[:, :, 0] %= 10
    for name, block in zip([*files.CIFAR_NAMES["train"], "test_batch.bin"], data, strict=True):
        (folder / name).write_bytes(block.tobytes())
    return data


def test_cifar_is_read(tmp_path: Path) -> None:
    data = write_cifar(tmp_path)
    train, test = files.cifar10(tmp_path), files.cifar10(tmp_path, "test")
    assert np.array_equal(train.features * 255, data[:5].reshape(15, 3073)[:, 1:])
    assert np.array_equal(test.labels, data[5, :, 0])


class Bomb:
    def __reduce__(self) -> tuple:
        return os.mkdir, ("pickle-was-executed",)


def test_pickled_cifar_is_refused_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_cifar(tmp_path)
    (tmp_path / "data_batch_2.bin").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(DataError, match="pickled"):
        files.cifar10(tmp_path)
    (tmp_path / "data_batch_2.bin").rename(tmp_path / "data_batch_2")
    with pytest.raises(DataError, match=r"give the binary version, data_batch_2\.bin"):
        files.cifar10(tmp_path)
    assert not (tmp_path / "pickle-was-executed").exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "0 bytes"),
        (bytes(3072), "not a multiple"),
        (bytes(3074), "not a multiple"),
        (b"\x0b" + bytes(3072), "label 11"),
        (bytes(3073 * 10_001), "more than"),
    ],
)
def test_bad_cifar_files_are_named(tmp_path: Path, data: bytes, words: str) -> None:
    write_cifar(tmp_path)
    (tmp_path / "data_batch_4.bin").write_bytes(data)
    with pytest.raises(DataError, match=words):
        files.cifar10(tmp_path)


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        files.mnist(tmp_path / "nowhere")
    with pytest.raises(DataError, match="holds no train-images-idx3-ubyte"):
        files.mnist(tmp_path)
    with pytest.raises(DataError, match="part = 'valid'"):
        files.mnist(tmp_path, "valid")
    with pytest.raises(DataError, match=r"holds no data_batch_1\.bin"):
        files.cifar10(tmp_path)
    (tmp_path / "data_batch_1.bin").mkdir()
    with pytest.raises(DataError, match="not a file"):
        files.cifar10(tmp_path)


def fashion_mnist() -> Path | None:
    """The folder of Debian's dataset-fashion-mnist, if that package is installed."""
    if shutil.which("dpkg") is None:
        return None
    listing = subprocess.run(
        ["dpkg", "-L", "dataset-fashion-mnist"], capture_output=True, text=True, check=False
    )
    found = [Path(line) for line in listing.stdout.splitlines() if "train-images-idx3" in line]
    return found[0].parent if found else None


@pytest.mark.skipif(fashion_mnist() is None, reason="Debian's dataset-fashion-mnist is not installed")
def test_real_fashion_mnist() -> None:
    folder = fashion_mnist()
    assert folder is not None
    for part, count in (("train", 60_000), ("test", 10_000)):
        samples = files.mnist(folder, part)
        assert samples.features.shape == (count, 784)
        assert np.array_equal(np.bincount(samples.labels), np.full(10, count // 10))
    q = label_distributions(samples.labels, dirichlet_split(samples.labels, 5, 0.5, 0), 10)
    assert np.allclose(q.sum(axis=1), 1)
