"""The inner products of a network's samples, laid out so that clients of unequal size batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True, eq=False)
class Gram:
    """Inner products of all samples. Client i's j-th sample stands at place i D + j, D the largest client's size; the
    places behind a smaller client's last sample hold zeros.

    Attributes:
        place: where each of the joined samples stands.
        whole: a_s^T a_t for all places s, t = 1..m D.
        own: the same for t among the samples of s's own client alone.
        target: e_y by place.
    """

    place: Int[np.ndarray, " N"]
    whole: Float[np.ndarray, "mD mD"]
    own: Float[np.ndarray, "mD D"]
    target: Float[np.ndarray, "mD c"]

    @classmethod
    def of(
        cls, A: Float[np.ndarray, "N d"], target: Float[np.ndarray, "N c"], sizes: Int[np.ndarray, " m"]
    ) -> Gram:
        """The products of the joined samples A, of labels e_y = target, of clients with these sizes."""
        m, D = len(sizes), int(sizes.max())
        place = np.flatnonzero(np.arange(D) < sizes[:, None])
        samples, targets = (np.zeros((m * D, v.shape[1]), dtype=v.dtype) for v in (A, target))
        samples[place], targets[place] = A, target
        whole = samples @ samples.T
        blocks = whole.reshape(m, D, m, D)[np.arange(m), :, np.arange(m)]
        return cls(place, whole, blocks.reshape(m * D, D), targets)
