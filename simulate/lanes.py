"""Products and updates of rows of doubles in SIMD lanes, for compiled code.

Left to itself the compiler treats a row of twenty numbers as a long loop: blocks of sixteen, a remainder, a check
for overlap each time. Here the lanes are explicit: a row is a whole number of chunks, short rows are unrolled, and the
order of a sum is fixed by the source, the same for every seed. Rows are padded with zeros, which stay zero.
"""

from __future__ import annotations

from typing import Any, no_type_check

import numpy as np
from jaxtyping import Float
from llvmlite import ir  # type: ignore[import-untyped, import-not-found, unused-ignore]
from numba import types
from numba.extending import intrinsic

SHORT, LONG = 4, 16  # lanes a chunk; long rows add in four independent vectors of four
UNROLLED = 8  # chunks of a row that is written out; rows above are loops over long chunks
CONTRACT = ["contract"]  # a product and a sum may become one fused operation, nothing else is assumed
_INT, _INDEX = ir.IntType(64), ir.IntType(32)


def padded(rows: Float[np.ndarray, "q n"]) -> tuple[Float[np.ndarray, "q width"], tuple[int, ...]]:
    """The rows in whole chunks, and `chunks`: a tuple as long as a row has short chunks, empty for long ones.

    A compiled function that takes `chunks` knows its length as it is compiled: there is one for each.
    """
    n = rows.shape[1]
    lanes = SHORT if n <= SHORT * UNROLLED else LONG
    width = -(-n // lanes) * lanes
    out = rows if width == n else np.pad(rows, ((0, 0), (0, width - n)))
    return np.ascontiguousarray(out), (0,) * (width // SHORT) if lanes == SHORT else ()


@no_type_check
def _chunks(context, builder, kind, array, at, lanes):
    """The address of row `at`'s first chunk in a two-dimensional contiguous array."""
    view = context.make_array(kind)(context, builder, array)
    width = builder.extract_value(view.shape, 1)
    start = builder.gep(view.data, [builder.mul(at, width)])
    return builder.bitcast(start, ir.VectorType(ir.DoubleType(), lanes).as_pointer()), width


@no_type_check
def _load(builder, chunks, c):
    return builder.load(builder.gep(chunks, [c]), align=8)


@no_type_check
def _everywhere(builder, value, lanes):
    """`value` in all lanes."""
    empty = ir.Constant(ir.VectorType(ir.DoubleType(), lanes), ir.Undefined)
    one = builder.insert_element(empty, value, _INDEX(0))
    return builder.shuffle_vector(one, empty, ir.Constant(ir.VectorType(_INDEX, lanes), [0] * lanes))


@no_type_check
def _total(builder, vector, lanes):
    """The sum of the lanes, halving."""
    while lanes > 1:
        lanes //= 2
        low, high = (
            builder.shuffle_vector(
                vector, vector, ir.Constant(ir.VectorType(_INDEX, lanes), [*range(a, a + lanes)])
            )
            for a in (0, lanes)
        )
        vector = builder.fadd(low, high)
    return builder.extract_element(vector, _INDEX(0))


@no_type_check
def _each(builder, width, lanes, count, carried, body):
    """body(chunk number, carried) -> carried for every chunk: written out (count > 0), or as a loop."""
    if count:
        for c in range(count):
            carried = body(_INT(c), carried)
        return carried
    before, loop = builder.block, builder.append_basic_block("chunks")
    after = builder.append_basic_block("after")
    last = builder.udiv(width, _INT(lanes))
    builder.branch(loop)
    builder.position_at_end(loop)
    c = builder.phi(_INT)
    c.add_incoming(_INT(0), before)
    inside = carried
    if carried is not None:
        inside = builder.phi(carried.type)
        inside.add_incoming(carried, before)
    result = body(c, inside)
    following = builder.add(c, _INT(1))
    c.add_incoming(following, loop)
    if carried is not None:
        inside.add_incoming(result, loop)
    builder.cbranch(builder.icmp_unsigned("<", following, last), loop, after)
    builder.position_at_end(after)
    return result


@intrinsic
@no_type_check
def dot(typing: Any, chunks, A, row, x, at):
    """A[row] . x[at], for contiguous float64 arrays with rows of one width; `chunks` from `padded`."""
    count = len(chunks)
    lanes = SHORT if count else LONG

    def build(context, builder, signature, arguments):
        _, kind, _, other, _ = signature.args
        a, width = _chunks(context, builder, kind, arguments[1], arguments[2], lanes)
        b, _ = _chunks(context, builder, other, arguments[3], arguments[4], lanes)

        def body(c, total):
            product = builder.fmul(_load(builder, a, c), _load(builder, b, c), flags=CONTRACT)
            return builder.fadd(total, product, flags=CONTRACT)

        zero = ir.Constant(ir.VectorType(ir.DoubleType(), lanes), [0.0] * lanes)
        return _total(builder, _each(builder, width, lanes, count, zero, body), lanes)

    return types.float64(chunks, A, types.int64, x, types.int64), build


@intrinsic
@no_type_check
def descend(typing: Any, chunks, keep, x, at, push, A, row):
    """x[at] = keep x[at] - push A[row], arrays as in `dot`."""
    count = len(chunks)
    lanes = SHORT if count else LONG

    def build(context, builder, signature, arguments):
        _, _, kind, _, _, other, _ = signature.args
        b, width = _chunks(context, builder, kind, arguments[2], arguments[3], lanes)
        a, _ = _chunks(context, builder, other, arguments[5], arguments[6], lanes)
        kept, pushed = (_everywhere(builder, arguments[q], lanes) for q in (1, 4))

        def body(c, _):
            old = builder.fmul(kept, _load(builder, b, c), flags=CONTRACT)
            move = builder.fmul(pushed, _load(builder, a, c), flags=CONTRACT)
            builder.store(builder.fsub(old, move, flags=CONTRACT), builder.gep(b, [c]), align=8)

        _each(builder, width, lanes, count, None, body)
        return context.get_dummy_value()

    return types.void(chunks, types.float64, x, types.int64, types.float64, A, types.int64), build
