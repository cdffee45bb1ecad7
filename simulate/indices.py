"""Sample indices of a block of seeds, drawn from the streams in pieces of whole rounds.

One call per (seed, client) and piece; a piece is as many rounds as fit a fixed memory, and since a stream
continues where it stopped, the numbers do not depend on the piece.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from simulate import streams
from simulate.config import RunConfig
from simulate.problems.base import Problem

PIECE = 1 << 24  # indices held at a time (64 MiB of int32)


def pieces(
    problem: Problem, config: RunConfig, N: Float[np.ndarray, "rounds m"], seeds: Int[np.ndarray, " S"]
) -> Iterator[tuple[int, int, Int[np.ndarray, "S m steps batch"]]]:
    """Yields (first round, last round + 1, indices [S, m, steps, batch]) until R rounds are covered.

    Raises:
        ValueError: if a round's ceil(N) or a batch exceeds a client's samples.
    """
    purposes = (streams.Purpose.SAMPLES, streams.Purpose.SUBSET)[: 1 + (config.sampling == "subset")]
    m, H, batch = problem.m, config.H, config.batch
    rng = [
        [[streams.generator(config.root_seed, int(s), i, q) for q in purposes] for i in range(m)]
        for s in seeds
    ]
    rounds = max(1, min(config.R, PIECE // (len(seeds) * m * H * batch)))
    for first in range(0, config.R, rounds):
        last = min(first + rounds, config.R)
        out = np.empty((len(seeds), m, (last - first) * H, batch), dtype=np.int32)
        for s in range(len(seeds)):
            for i in range(m):
                out[s, i] = client_indices(rng[s][i], int(problem.sizes[i]), config, N[first:last, i])
        yield first, last, out


def client_indices(
    rng: list[np.random.Generator], size: int, config: RunConfig, N: Float[np.ndarray, " rounds"]
) -> Int[np.ndarray, "steps batch"]:
    """The next len(N) rounds of one client's indices; N holds its participation levels in those rounds."""
    H, batch = config.H, config.batch
    if config.sampling == "subset":
        counts = np.ceil(N).astype(np.int64)
        return streams.subset_indices(rng[1], rng[0], size, counts, H, batch, config.replacement)
    return streams.sample_indices(rng[0], size, len(N) * H, batch, config.replacement, H)
