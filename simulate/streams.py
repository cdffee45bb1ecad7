"""Random streams: one per (root seed, seed index, client, purpose).

A stream is `Philox(SeedSequence(root, spawn_key=(seed, client, purpose)))`. It depends on nothing else, so
the seed of index 7 gives the same run alone or among a thousand, in one process or eight, today or resumed
tomorrow. Indices are drawn as int32: that is part of a stream's definition, an int64 draw gives other
numbers.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from jaxtyping import Int
from numpy.random import Generator, Philox, SeedSequence


class Purpose(IntEnum):
    """What a stream is for; the last word of its spawn key."""

    SAMPLES = 0  # xi_{i,k} of `iid`, or the positions inside the subset of `subset`
    SUBSET = 1  # the subset of round r
    DRAW = 2  # k_star (client 0)
    DATA = 3  # synthetic data, partitions (seed 0, client 0)
    START = 4  # random initial points


def generator(root: int, seed: int, client: int, purpose: Purpose) -> Generator:
    """The stream of (root, seed, client, purpose).

    Raises:
        ValueError: for a negative root, seed or client.
    """
    for name, value in (("root_seed", root), ("seed", seed), ("client", client)):
        if value < 0:
            raise ValueError(f"{name} = {value}: a stream needs an integer >= 0")
    return Generator(Philox(SeedSequence(root, spawn_key=(seed, client, int(purpose)))))


def distinct(rng: Generator, size: int, rows: int, count: int) -> Int[np.ndarray, "rows count"]:
    """`rows` independent draws of `count` distinct integers of [0, size), each ordered choice equally likely.

    The j-th number of a row is uniform over [0, size - j) and then stepped over the earlier picks of the row
    in increasing order, which maps it onto the j-th remaining integer. Costs O(rows count^2) operations, all
    vectorised over rows.

    Raises:
        ValueError: if count > size.
    """
    if count > size:
        raise ValueError(f"batch = {count}: only {size} distinct samples to draw from")
    high = np.broadcast_to(size - np.arange(count), (rows, count))
    picks = rng.integers(0, high, dtype=np.int32)
    for j in range(1, count):
        earlier = np.sort(picks[:, :j], axis=1)
        for column in range(j):
            picks[:, j] += picks[:, j] >= earlier[:, column]
    return picks


def sample_indices(
    rng: Generator, size: int, steps: int, batch: int, replacement: str = "with", H: int = 1
) -> Int[np.ndarray, "steps batch"]:
    """Indices into a client's `size` samples for `steps` local steps (mode `iid`).

    Args:
        rng: the client's `SAMPLES` stream; consecutive calls continue it, so that drawing a run in pieces of
            whole rounds gives the same numbers as drawing it at once.
        replacement: "with": all draws are independent and uniform; "batch": the `batch` samples of one step
            are distinct (still independent from step to step); "round": the H * batch samples of one round
            are distinct, so given the past only the first step of a round is unbiased.
        H: local steps a round, used by "round"; it divides `steps`.
    """
    if replacement == "with":
        return rng.integers(0, size, size=(steps, batch), dtype=np.int32)
    if replacement == "batch":
        return distinct(rng, size, steps, batch)
    return distinct(rng, size, steps // H, H * batch).reshape(steps, batch)


def subset(rng: Generator, size: int, count: int) -> Int[np.ndarray, " count"]:
    """A uniformly random subset of `count` of `size` samples (Algorithm 1, line 5), in random order.

    Raises:
        ValueError: if count > size: the box must keep N_i at or below the number of samples.
    """
    if count > size:
        raise ValueError(f"ceil(N) = {count}: the client has only {size} samples; lower its `upper` to that")
    return rng.permutation(size).astype(np.int32)[:count]


def subset_indices(
    rng_subset: Generator,
    rng_samples: Generator,
    size: int,
    counts: Int[np.ndarray, " rounds"],
    H: int,
    batch: int,
    replacement: str = "with",
) -> Int[np.ndarray, "steps batch"]:
    """Indices of mode `subset`, lines 5-8 of Algorithm 1 to the letter, for len(counts) rounds of H steps.

    Args:
        counts: ceil(N_{i,r}) for the rounds at hand.
        replacement: as in `sample_indices`, with the round's subset in place of all samples.
    """
    rows = []
    for count in counts:
        chosen = subset(rng_subset, size, int(count))
        rows.append(chosen[sample_indices(rng_samples, int(count), H, batch, replacement, H)])
    return np.concatenate(rows)


def stratified_draws(root: int, seed: int, first: int, last: int, draws: int) -> Int[np.ndarray, " draws"]:
    """k_star of one seed: `draws` steps of [first, last), one in each of `draws` equal strata, increasing.

    Stratum j is [j, j + 1)/draws of the unit interval and k = first + floor(u (last - first)), so the mixture
    over j is exactly the uniform law of Theorems 4.6 and 4.10 whether or not `draws` divides the length, and
    the mean over one seed's strata is unbiased for the mean over k. With draws >= last - first: every k once.
    """
    length = last - first
    if draws >= length:
        return np.arange(first, last)
    u = (np.arange(draws) + generator(root, seed, 0, Purpose.DRAW).random(draws)) / draws
    return first + np.minimum((u * length).astype(np.int64), length - 1)


def uniform_draw(root: int, seed: int, first: int, last: int) -> int:
    """One k_star uniform on {first, ..., last - 1} (Theorem 4.6); its round is r_star = k_star // H."""
    return int(generator(root, seed, 0, Purpose.DRAW).integers(first, last))
