"""numpy's Philox and its bounded int32 draws, compiled: the very numbers of `streams`, without a Generator object each.

Making a Generator costs more than drawing a short run from it. Here a stream is the 128-bit key that its SeedSequence
gives, and the draws are made in machine code: Philox4x64-10, each 64-bit word giving its low half first, and Lemire's
multiplication with rejection. `tests/simulate/test_philox.py` holds it to numpy's numbers word for word.
"""

from __future__ import annotations

from typing import Any, no_type_check

import numba
import numpy as np
from jaxtyping import Int, UInt64
from llvmlite import ir  # type: ignore[import-untyped, import-not-found, unused-ignore]
from numba.extending import intrinsic
from numpy.random import SeedSequence

from simulate.streams import Purpose


def stream_key(root: int, seed: int, client: int, purpose: Purpose) -> UInt64[np.ndarray, 2]:
    """The Philox key of the stream (root, seed, client, purpose), as numpy derives it."""
    return SeedSequence(root, spawn_key=(seed, client, int(purpose))).generate_state(2, np.uint64)


@intrinsic
@no_type_check
def _high_product(typing: Any, a: Any, b: Any) -> Any:
    """The upper 64 bits of the 128-bit product of two uint64."""

    def build(context, builder, signature, arguments):
        wide = ir.IntType(128)
        x, y = (builder.zext(v, wide) for v in arguments)
        return builder.trunc(builder.lshr(builder.mul(x, y), ir.Constant(wide, 64)), ir.IntType(64))

    return numba.uint64(numba.uint64, numba.uint64), build


@numba.njit(nogil=True, cache=True)
@no_type_check
def draw(keys, bound, out):
    """Fills out [q, steps], int32, with the first draws of integers(0, bound, dtype=int32) of q streams.

    Args:
        keys: uint64 [q, 2]; bound: 2 <= bound < 2^31.
    """
    M0, M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
    W0, W1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
    low_half, thirty_two = np.uint64(0xFFFFFFFF), np.uint64(32)
    wide = np.uint64(bound)
    threshold = np.uint64((np.uint64(0x100000000) - wide) % wide)
    words = np.empty(4, np.uint64)
    for q in range(out.shape[0]):
        counter, position, half, spare = np.uint64(0), 4, False, np.uint64(0)
        made = 0
        while made < out.shape[1]:
            if half:
                word, half = spare, False
            else:
                if position == 4:
                    counter += np.uint64(1)  # numpy steps the counter before it is used
                    x0, x1, x2, x3 = counter, np.uint64(0), np.uint64(0), np.uint64(0)
                    k0, k1 = keys[q, 0], keys[q, 1]
                    for _ in range(10):
                        h0, l0 = _high_product(M0, x0), M0 * x0
                        h1, l1 = _high_product(M1, x2), M1 * x2
                        x0, x1, x2, x3 = h1 ^ x1 ^ k0, l1, h0 ^ x3 ^ k1, l0
                        k0 += W0
                        k1 += W1
                    words[0], words[1], words[2], words[3] = x0, x1, x2, x3
                    position = 0
                whole = words[position]
                position += 1
                word, spare, half = whole & low_half, whole >> thirty_two, True
            product = word * wide
            if (product & low_half) >= threshold:
                out[q, made] = np.int32(product >> thirty_two)
                made += 1


def drawn(keys: UInt64[np.ndarray, "q 2"], bound: int, steps: int) -> Int[np.ndarray, "q steps"]:
    """`draw` into a new array.

    Raises:
        ValueError: for a bound outside 2..2^31 - 1 (a client with one sample needs no draw).
    """
    if not 2 <= bound < 2**31:
        raise ValueError(f"bound = {bound}: 2 <= bound < 2^31")
    out = np.empty((len(keys), steps), dtype=np.int32)
    draw(keys, bound, out)
    return out
