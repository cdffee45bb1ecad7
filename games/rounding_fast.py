"""`rounding.accurate_affine` compiled by numba (the extra `fast`)."""

from typing import no_type_check

import numba
import numpy as np

from games.pivoting_fast import frozen
from games.rounding import TINY, UNIT, gamma


@numba.njit(cache=True)  # no reordering here: the error-free transformations live from the order
@no_type_check
def _dot2(A, x, b, value, bound, growth):
    """Ogita, Rump, Oishi's Dot2 row by row, with the errors' magnitudes summed for the bound."""
    split = 134217729.0
    n = x.size
    high, low = np.empty(n), np.empty(n)
    for j in range(n):
        c = split * x[j]
        high[j] = c - (c - x[j])
        low[j] = x[j] - high[j]
    for i in range(b.size):
        total, carry, carried = b[i], 0.0, 0.0
        for j in range(n):
            a = A[i, j]
            c = split * a
            a_high = c - (c - a)
            a_low = a - a_high
            p = a * x[j]
            e = ((a_high * high[j] - p) + a_high * low[j] + a_low * high[j]) + a_low * low[j]
            s = total + p
            z = s - total
            f = (total - (s - z)) + (p - z)
            total = s
            carry += e + f
            carried += abs(e) + abs(f)
        value[i] = total + carry
        bound[i] = (UNIT * abs(value[i]) + growth * carried) * (1.0 + (4 * n + 8) * UNIT) + TINY


@no_type_check
def accurate_affine(A, x, b):
    """A [k, m] x [m] + b [k] in twice the working precision: (value [k], bound [k])."""
    value, bound = np.empty(b.size), np.empty(b.size)
    A, x, b = frozen(A, x, b)
    _dot2(A, x, b, value, bound, gamma(4 * x.size + 4))
    return value, bound
