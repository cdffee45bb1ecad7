"""Makes the small instance importable here, and draws pictures only where a test asks for them."""

import hashlib
import sys
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture(autouse=True, scope="session")
def _no_pictures(request: pytest.FixtureRequest) -> None:
    """A picture takes as long as several audits: here a hash of what it would show stands for it."""

    def hashed(frame: pd.DataFrame, *what: str) -> bytes:
        return hashlib.sha256(f"{frame.to_csv()} {what}".encode()).digest()

    patch = pytest.MonkeyPatch()
    patch.setattr("verify.sweeping.page.draw_axis", hashed)
    patch.setattr("verify.sweeping.page.draw_heat", hashed)
    request.addfinalizer(patch.undo)
