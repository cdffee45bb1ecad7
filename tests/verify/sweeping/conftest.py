"""Makes the small instance and the pure tasks importable here, and draws pictures only where a test asks for them."""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

_TESTS = Path(__file__).parents[2]
sys.path[:0] = [str(_TESTS / "verify"), str(_TESTS / "simulate")]


@pytest.fixture(autouse=True, scope="session")
def _no_pictures() -> Iterator[None]:
    """A picture takes as long as several audits: here a hash of what it would show stands for it."""

    def hashed(frame: pd.DataFrame, *what: str) -> bytes:
        return hashlib.sha256(f"{frame.to_csv()} {what}".encode()).digest()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("verify.sweeping.page.draw_axis", hashed)
        patch.setattr("verify.sweeping.page.draw_heat", hashed)
        yield


@pytest.fixture(scope="session")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tiny_grid import write_grid

    return write_grid(tmp_path_factory.mktemp("grid"))


@pytest.fixture(scope="session")
def done(grid: Path) -> Path:
    """The folder of a sweep that ran in one process from start to end."""
    from tiny_grid import sweep

    out = grid.parent / "done"
    assert sweep(grid, out) == 0
    return out
