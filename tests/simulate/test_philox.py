"""The compiled Philox gives numpy's numbers, word for word."""

import numpy as np
import pytest

from simulate import streams
from simulate.streams import Purpose

pytest.importorskip("numba", reason="the extra `fast` (numba) is not installed")

from simulate.philox import drawn, stream_key


@pytest.mark.parametrize("bound", [2, 3, 200, 60_000, 2**30 + 12_345, 2**31 - 1])
@pytest.mark.parametrize("purpose", [Purpose.SAMPLES, Purpose.DRAW])
def test_draws_are_numpys(bound: int, purpose: Purpose) -> None:
    """2^30 + 12345 rejects a quarter of the words: the rejection is tested too."""
    keys = np.array([stream_key(7, seed, 2, purpose) for seed in range(4)])
    for seed, row in enumerate(drawn(keys, bound, 1003)):
        rng = streams.generator(7, seed, 2, purpose)
        assert np.array_equal(row, rng.integers(0, bound, 1003, dtype=np.int32))


@pytest.mark.parametrize("bound", [1, 0, 2**31])
def test_bounds_it_does_not_draw_are_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="bound ="):
        drawn(np.zeros((1, 2), np.uint64), bound, 3)
