import numpy as np
import pytest

from bounds.core.constant import Constant, Provenance, weakest


def test_nan_value_is_refused() -> None:
    with pytest.raises(ValueError, match="L = nan"):
        Constant("L", float("nan"))


def test_negative_radius_is_refused() -> None:
    with pytest.raises(ValueError, match="radius"):
        Constant("L", 1.0, radius=-1e-9)


def test_weakest_provenance_decides() -> None:
    exact = Constant("m", 5, Provenance.EXACT)
    assert weakest({}) is Provenance.EXACT
    assert weakest({"m": exact, "L": Constant("L", 1.0, Provenance.ESTIMATED)}) is Provenance.ESTIMATED
    assert weakest({"m": exact, "nu": Constant("nu", 1.0)}) is Provenance.GIVEN


def test_json_holds_plain_numbers() -> None:
    record = Constant(
        "p_star", np.array([0.5, 0.5]), Provenance.CERTIFIED, radius=1e-12, note="solved"
    ).to_json()
    assert record == {"value": [0.5, 0.5], "provenance": "certified", "radius": 1e-12, "note": "solved"}
