"""Streams: what a draw is, and that it depends on (root, seed, client, purpose) alone."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from simulate import streams
from simulate.streams import Purpose


def test_pieces_continue_the_one_call_draw() -> None:
    whole = streams.sample_indices(streams.generator(1, 2, 3, Purpose.SAMPLES), 201, 997, 3)
    rng = streams.generator(1, 2, 3, Purpose.SAMPLES)
    pieces = [streams.sample_indices(rng, 201, steps, 3) for steps in (7, 13, 500, 477)]
    assert whole.dtype == np.int32
    assert np.array_equal(whole, np.concatenate(pieces))


def test_the_definition_is_pinned() -> None:
    """A change of these numbers is a change of every stored run."""
    from numpy.random import Generator, Philox, SeedSequence

    expected = Generator(Philox(SeedSequence(7, spawn_key=(11, 2, 0)))).integers(
        0, 50, size=6, dtype=np.int32
    )
    assert np.array_equal(
        streams.sample_indices(streams.generator(7, 11, 2, Purpose.SAMPLES), 50, 6, 1)[:, 0], expected
    )


@pytest.mark.parametrize(
    "change",
    [
        (1, 0, 0, Purpose.SAMPLES),
        (0, 1, 0, Purpose.SAMPLES),
        (0, 0, 1, Purpose.SAMPLES),
        (0, 0, 0, Purpose.SUBSET),
    ],
)
def test_every_word_of_the_key_matters(change: tuple[int, int, int, Purpose]) -> None:
    base = streams.generator(0, 0, 0, Purpose.SAMPLES).integers(0, 2**62, 4)
    assert not np.any(base == streams.generator(*change).integers(0, 2**62, 4))


def test_seed_and_client_do_not_add_up() -> None:
    """(seed 0, client 1) and (seed 1, client 0) are different streams: never `seed + client`."""
    a = streams.generator(0, 0, 1, Purpose.SAMPLES).integers(0, 2**62, 4)
    assert not np.any(a == streams.generator(0, 1, 0, Purpose.SAMPLES).integers(0, 2**62, 4))


def test_distinct_draws_are_distinct_and_uniform_over_ordered_choices() -> None:
    picks = streams.distinct(streams.generator(0, 0, 0, Purpose.SAMPLES), 4, 24_000, 3)
    counts = Counter(map(tuple, picks.tolist()))
    assert set(counts) == set(permutations(range(4), 3))
    chi_square = sum((n - 1000) ** 2 / 1000 for n in counts.values())
    assert chi_square < 49.7  # 0.999 quantile of chi-square with 23 degrees of freedom


def test_round_replacement_makes_a_rounds_samples_distinct() -> None:
    index = streams.sample_indices(streams.generator(0, 0, 0, Purpose.SAMPLES), 9, 12, 2, "round", H=4)
    for r in range(3):
        assert len(set(index[4 * r : 4 * r + 4].ravel().tolist())) == 8


def test_subset_draws_stay_inside_the_rounds_subset() -> None:
    rngs = [streams.generator(3, 1, 0, q) for q in (Purpose.SUBSET, Purpose.SAMPLES)]
    index = streams.subset_indices(*rngs, 30, np.array([4, 7, 1]), H=50, batch=2)
    subsets = [set(block.ravel().tolist()) for block in np.split(index, 3)]
    assert [len(s) for s in subsets] == [4, 7, 1]


@pytest.mark.parametrize(("length", "draws"), [(10, 3), (7, 7), (1000, 64), (5, 9)])
def test_stratified_draws_lie_in_their_strata(length: int, draws: int) -> None:
    k = streams.stratified_draws(0, 4, 20, 20 + length, draws)
    if draws >= length:
        assert np.array_equal(k, np.arange(20, 20 + length))
        return
    edges = np.arange(draws + 1) * length / draws
    assert np.all(k - 20 >= np.floor(edges[:-1]))
    assert np.all(k - 20 <= np.ceil(edges[1:]))


def test_stratified_draws_are_uniform_even_where_strata_do_not_divide() -> None:
    k = np.concatenate([streams.stratified_draws(0, s, 0, 10, 3) for s in range(3000)])
    counts = np.bincount(k, minlength=10)
    assert np.abs(counts / len(k) - 0.1).max() < 4 * np.sqrt(0.09 / len(k))


@pytest.mark.parametrize("bad", [(-1, 0, 0), (0, -2, 0), (0, 0, -3)])
def test_negative_keys_are_refused(bad: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="integer >= 0"):
        streams.generator(*bad, Purpose.SAMPLES)


def test_too_large_a_batch_or_subset_is_refused() -> None:
    rng = streams.generator(0, 0, 0, Purpose.SAMPLES)
    with pytest.raises(ValueError, match="only 3 distinct"):
        streams.sample_indices(rng, 3, 2, 4, "batch")
    with pytest.raises(ValueError, match="only 3 samples"):
        streams.subset(rng, 3, 4)
