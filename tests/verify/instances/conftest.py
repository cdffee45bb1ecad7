"""A working directory with small image files where the examples look for them."""

from pathlib import Path

import pytest
from image_files import write_cifar, write_mnist


@pytest.fixture
def at_data(tmp_path: Path, monkeypatch) -> Path:
    """A working directory in which the examples' image folders are there."""
    write_mnist(tmp_path / "data" / "mnist")
    write_cifar(tmp_path / "data" / "cifar-10-batches-bin")
    monkeypatch.chdir(tmp_path)
    return tmp_path
