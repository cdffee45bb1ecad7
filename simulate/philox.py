"""numpy's Philox and its bounded int32 draws, compiled: the very numbers of `streams`, without a Generator object each.

Making a Generator costs more than drawing a short run from it. Here a stream is the 128-bit key that its SeedSequence
gives, and the draws are made in machine code: Philox4x64-10, each 64-bit word giving its low half first, and Lemire's
multiplication with rejection. `tests/simulate/test_philox.py` holds it to numpy's numbers word for word.
"""

from __future__ import annotations

from typing import Any, no_type_check

import numba
import numpy as np
from jaxtyping import Int, UInt32, UInt64
from llvmlite import ir  # type: ignore[import-untyped, import-not-found, unused-ignore]
from numba.extending import intrinsic
from numpy.random import SeedSequence

from simulate.streams import Purpose

MIX_IN, STIR_IN = 0x43B0D7E5, 0x931E8875  # SeedSequence's constants: taking entropy in,
MIX_OUT, STIR_OUT = 0x8B51F9DD, 0x58F38DED  # giving state out,
LEFT, RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)  # and joining two words
BATCH = 64  # counters whose words are made at a time (2 KiB)


def stream_key(root: int, seed: int, client: int, purpose: Purpose) -> UInt64[np.ndarray, 2]:
    """The Philox key of the stream (root, seed, client, purpose), as numpy derives it."""
    return SeedSequence(root, spawn_key=(seed, client, int(purpose))).generate_state(2, np.uint64)


def stream_keys(
    root: int, seeds: Int[np.ndarray, " q"], client: int, purpose: Purpose
) -> UInt64[np.ndarray, "q 2"]:
    """`stream_key` of many seeds at once: SeedSequence's mixing, word by word, over the seeds' axis."""
    if root >= 2**128 or client >= 2**32 or (len(seeds) and int(seeds.max()) >= 2**32):
        return np.array([stream_key(root, int(s), client, purpose) for s in seeds], np.uint64).reshape(-1, 2)
    entropy = [np.full(len(seeds), root >> (32 * j) & 0xFFFFFFFF, np.uint32) for j in range(4)]
    entropy += [np.asarray(w, np.uint32) + np.zeros(len(seeds), np.uint32) for w in (seeds, client, purpose)]
    stir = _Stir(MIX_IN, STIR_IN)
    pool = [stir(word) for word in entropy[:4]]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = _join(pool[target], stir(pool[source]))
    for word in entropy[4:]:
        pool = [_join(own, stir(word)) for own in pool]
    stir = _Stir(MIX_OUT, STIR_OUT)
    return np.stack([stir(word) for word in pool], axis=1).view(np.uint64)


class _Stir:
    """SeedSequence's hash of a word, whose constant moves on at every use."""

    def __init__(self, constant: int, factor: int) -> None:
        self.constant, self.factor = constant, factor

    def __call__(self, word: UInt32[np.ndarray, " q"]) -> UInt32[np.ndarray, " q"]:
        word = word ^ np.uint32(self.constant)
        self.constant = self.constant * self.factor & 0xFFFFFFFF
        word = word * np.uint32(self.constant)
        return word ^ (word >> np.uint32(16))


def _join(own: UInt32[np.ndarray, " q"], other: UInt32[np.ndarray, " q"]) -> UInt32[np.ndarray, " q"]:
    mixed: np.ndarray = own * LEFT - other * RIGHT
    return mixed ^ (mixed >> np.uint32(16))


@intrinsic
@no_type_check
def _high_product(typing: Any, a: Any, b: Any) -> Any:
    """The upper 64 bits of the 128-bit product of two uint64."""

    def build(context, builder, signature, arguments):
        wide = ir.IntType(128)
        x, y = (builder.zext(v, wide) for v in arguments)
        return builder.trunc(builder.lshr(builder.mul(x, y), ir.Constant(wide, 64)), ir.IntType(64))

    return numba.uint64(numba.uint64, numba.uint64), build


@numba.njit
@no_type_check
def _fill(key, first, count, words):
    """Philox4x64-10 of the counters first..first + count - 1 under a key: words[:4 count]."""
    M0, M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
    W0, W1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
    for c in range(count):
        x0, x1, x2, x3 = first + np.uint64(c), np.uint64(0), np.uint64(0), np.uint64(0)
        k0, k1 = key[0], key[1]
        for _ in range(10):
            h0, l0 = _high_product(M0, x0), M0 * x0
            h1, l1 = _high_product(M1, x2), M1 * x2
            x0, x1, x2, x3 = h1 ^ x1 ^ k0, l1, h0 ^ x3 ^ k1, l0
            k0 += W0
            k1 += W1
        words[4 * c], words[4 * c + 1], words[4 * c + 2], words[4 * c + 3] = x0, x1, x2, x3


@numba.njit(nogil=True, cache=True)
@no_type_check
def draw(keys, bound, out):
    """Fills out [q, steps], int32, with the first draws of integers(0, bound, dtype=int32) of q streams.

    A batch of words at a time: made into draws as if none were rejected, and once more, one by one, if one was.

    Args:
        keys: uint64 [q, 2]; bound: 2 <= bound < 2^31.
    """
    wide, half = np.uint64(bound), np.uint64(32)
    threshold = np.uint32((np.uint64(0x100000000) - wide) % wide)
    words = np.empty(4 * BATCH, np.uint64)
    halves = words.view(np.uint32)  # the low half of a word first: numba's machines are little-endian
    for q in range(out.shape[0]):
        made, counter = 0, np.uint64(1)  # numpy steps the counter before it is used
        while made < out.shape[1]:
            left = out.shape[1] - made
            count = min(BATCH, (left + 7) // 8)
            _fill(keys[q], counter, count, words)
            counter += np.uint64(count)
            rejected, used = 0, min(8 * count, left)
            for j in range(used):
                product = np.uint64(halves[j]) * wide
                out[q, made + j] = np.int32(product >> half)
                rejected += np.uint32(product) < threshold
            if rejected == 0:
                made += used
                continue
            for j in range(8 * count):
                product = np.uint64(halves[j]) * wide
                if np.uint32(product) >= threshold and made < out.shape[1]:
                    out[q, made] = np.int32(product >> half)
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
