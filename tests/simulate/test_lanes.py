"""Compiled products and updates of padded rows against numpy."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="the extra `fast` (numba) is not installed")

import numba

from simulate.lanes import descend, dot, padded


@numba.njit
def walk(chunks, A, x, keep, push, products):  # type: ignore[no-untyped-def]
    """Every row's product with x[1], and then x[1] = keep x[1] - push row, in turn."""
    for row in range(A.shape[0]):
        products[row] = dot(chunks, A, row, x, 1)
        descend(chunks, keep, x, 1, push, A, row)


@pytest.mark.parametrize("n", [1, 4, 7, 20, 32, 33, 70])
def test_rows_of_any_length(n: int) -> None:
    rng = np.random.default_rng(n)
    rows, start = rng.standard_normal((6, n)), rng.standard_normal((3, n))
    A, chunks = padded(rows)
    x, products = padded(start)[0].copy(), np.empty(6)
    assert A.shape[1] % (4 if n <= 32 else 16) == 0
    assert len(chunks) == (A.shape[1] // 4 if n <= 32 else 0)
    walk(chunks, A, x, 0.75, 0.125, products)
    expected, at = np.empty(6), start[1].copy()
    for q, row in enumerate(rows):
        expected[q] = row @ at
        at = 0.75 * at - 0.125 * row
    assert np.abs(products - expected).max() <= 4 * n * 2.0**-53 * (np.abs(rows) @ np.abs(at) + n).max()
    assert np.abs(x[1, :n] - at).max() <= 1e-15 * (1 + np.abs(at).max())
    assert np.array_equal(x[[0, 2], :n], start[[0, 2]])  # the other rows are left alone
    assert np.all(x[:, n:] == 0)  # padding stays zero
