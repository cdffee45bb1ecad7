"""The compiled Philox gives numpy's numbers, word for word."""

import numpy as np
import pytest

from simulate import streams
from simulate.streams import Purpose

pytest.importorskip("numba", reason="the extra `fast` (numba) is not installed")

from simulate.philox import drawn, stream_key, stream_keys


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


@pytest.mark.parametrize("root", [0, 7, 2**32 - 1, 2**32, 2**64 + 5, 2**128 - 1, 2**130 + 7])
@pytest.mark.parametrize("seeds", [[0, 1, 2, 99], [2**32 - 1, 3], [2**32 + 1, 0], []])
def test_keys_of_many_seeds_are_seed_sequences(root: int, seeds: list[int]) -> None:
    """Entropy of more than four words and seeds of more than one take numpy's own road."""
    for client in (0, 3):
        keys = stream_keys(root, np.array(seeds, dtype=np.int64), client, Purpose.SUBSET)
        assert keys.shape == (len(seeds), 2)
        for key, seed in zip(keys, seeds, strict=True):
            assert np.array_equal(key, stream_key(root, seed, client, Purpose.SUBSET))


def test_several_batches_and_a_rejection_in_each_place() -> None:
    """A bound that rejects about one word in a thousand: batches with and without a rejection, cut at any length."""
    bound = 2**31 - 2**21  # 2^32 mod bound is 2^22: one word in 1024
    keys = np.array([stream_key(3, seed, 0, Purpose.SAMPLES) for seed in range(40)])
    for steps in (1, 7, 511, 512, 513, 1500):
        for seed, row in enumerate(drawn(keys, bound, steps)):
            rng = streams.generator(3, seed, 0, Purpose.SAMPLES)
            assert np.array_equal(row, rng.integers(0, bound, steps, dtype=np.int32))
