"""Outward rounding and error-free sums, against rationals."""

from fractions import Fraction

import flint
import numpy as np
import pytest

from games.rounding import (
    arb_lower,
    arb_upper,
    divide_up,
    exact_rows_sum,
    gamma,
    norm_up,
    round_up,
    sqrt_up,
    two_product,
    two_sum,
)


def cancelling(seed: int) -> np.ndarray:
    """Rows whose sums cancel to far below twice the working precision."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(40, 9)) * 10.0 ** rng.integers(-30, 1, size=(40, 9))
    tiny = rng.normal(size=(40, 1)) * 1e-45
    rows = np.concatenate([half, tiny, -half], axis=1)
    return rng.permuted(rows, axis=1)


@pytest.mark.parametrize("seed", range(4))
def test_row_sums_are_within_their_bounds_under_total_cancellation(seed: int) -> None:
    rows = cancelling(seed)
    value, bound = exact_rows_sum(rows)
    for row, v, b in zip(rows.tolist(), value.tolist(), bound.tolist(), strict=True):
        assert abs(Fraction(v) - sum(map(Fraction, row))) <= Fraction(b)
    assert np.all(bound < 1e-28)


def test_error_free_transformations_are_exact() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 200)) * 10.0 ** np.arange(-100, 100)
    for (x, e), operation in ((two_sum(a, b), Fraction.__add__), (two_product(a, b), Fraction.__mul__)):
        for p, q, r, s in zip(a.tolist(), b.tolist(), x.tolist(), e.tolist(), strict=True):
            assert operation(Fraction(p), Fraction(q)) == Fraction(r) + Fraction(s)


def test_upward_functions_are_above_the_truth_and_close() -> None:
    for x in np.random.default_rng(1).uniform(0, 10, 200).tolist():
        assert Fraction(sqrt_up(x)) ** 2 >= Fraction(x)
        assert sqrt_up(x) <= np.sqrt(x) * (1 + 1e-15)
        assert Fraction(divide_up(x, 3.0)) >= Fraction(x) / 3
        assert round_up(x) > x
    vector = np.random.default_rng(2).normal(size=50)
    assert Fraction(norm_up(vector)) ** 2 >= sum(Fraction(x) ** 2 for x in vector.tolist())
    assert norm_up(vector) <= np.linalg.norm(vector) * (1 + 1e-13)
    assert norm_up(np.zeros(3)) == 0.0
    assert Fraction(gamma(7)) >= Fraction(7, 2**53) / (1 - Fraction(7, 2**53))


def test_ends_of_balls_are_outside_and_exact_where_they_can_be() -> None:
    third = flint.arb(1) / 3
    assert flint.arb(arb_lower(third)) <= third <= flint.arb(arb_upper(third))
    assert Fraction(arb_lower(third)) < Fraction(1, 3) < Fraction(arb_upper(third))
    assert arb_lower(flint.arb(0.5)) == arb_upper(flint.arb(0.5)) == 0.5
    assert arb_lower(flint.arb(0)) == 0.0
