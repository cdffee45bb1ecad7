"""The small instance as a text and as a file."""

from pathlib import Path

import pytest
from small_instance import SMALL


@pytest.fixture
def small() -> str:
    """The text of a small instance."""
    return SMALL


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    """The small instance as a file."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, "utf-8")
    return path
