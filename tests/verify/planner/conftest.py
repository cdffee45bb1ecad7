"""Constants of a small federation, for plans that take milliseconds."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def constants() -> dict[str, Any]:
    return {
        "m": 5, "L": 1.2, "nu": 0.5, "G": 1.0, "B": 1.4, "mu_F": 0.3, "L_F": 0.5, "dist_0": 100.0,
        "N_star_l1": 1000.0, "f_gap_0": 2.3, "X_0": 3.0, "S": 2.0, "p_star_min": 0.1,
    }  # fmt: skip
