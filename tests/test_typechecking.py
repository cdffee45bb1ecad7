"""The test run checks annotations: in every test the first calls of each function, at least."""

from __future__ import annotations

import numpy as np
import pytest
from jaxtyping import TypeCheckError

from tests.typechecking import FIRST_CALLS
from verify.plots import Envelope, Panel
from verify.statistics import log_sum_exp

ROUNDS = np.arange(3)
CURVE = np.ones(3)


@pytest.mark.parametrize("test", [1, 2])
def test_a_wrong_shape_is_refused_in_each_test(test: int) -> None:
    for _ in range(FIRST_CALLS - 1):
        log_sum_exp(CURVE)
    with pytest.raises(TypeCheckError):
        log_sum_exp(np.ones((3, 3)))


def test_shapes_that_do_not_fit_together_are_refused() -> None:
    Panel(ROUNDS, CURVE, CURVE, CURVE, {"sharp": Envelope(CURVE, CURVE)}, "r", "x", "band", False)
    with pytest.raises(TypeCheckError):
        Panel(ROUNDS, CURVE, CURVE, np.ones(4), {"sharp": Envelope(CURVE, CURVE)}, "r", "x", "band", False)
