"""The e-values: closed forms, validity by exact enumeration, and measured error rates."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.statistics import (
    Evidence,
    against_at_least,
    against_at_least_subgaussian,
    against_at_most,
    average,
)


def exact_mean_e(test, values, probabilities, n):
    """E[e] over all n-samples of a finite law."""
    total = 0.0
    for draw in itertools.product(range(len(values)), repeat=n):
        weight = math.prod(probabilities[i] for i in draw)
        total += weight * math.exp(test(np.array([values[i] for i in draw], dtype=float)).log_e)
    return total


two_points = st.tuples(st.floats(0.0, 0.9), st.floats(0.05, 0.95))


@given(two_points)
def test_e_value_against_at_most_has_mean_at_most_one(case) -> None:
    low, q = case
    mean = (1 - q) * low + q * 1.0
    e = exact_mean_e(lambda x: against_at_most(x, mean), [low, 1.0], [1 - q, q], 4)
    assert e <= 1 + 1e-12


@given(two_points)
def test_e_value_against_at_least_has_mean_at_most_one(case) -> None:
    low, q = case
    mean = (1 - q) * low + q * 1.0
    e = exact_mean_e(lambda x: against_at_least(x, mean, 1.25), [low, 1.0], [1 - q, q], 4)
    assert e <= 1 + 1e-12


@given(st.floats(0.05, 0.95), st.floats(0.5, 2.0))
def test_subgaussian_e_value_has_mean_at_most_one(q, scale) -> None:
    # a two-point law on {0, scale} is sub-Gaussian with proxy scale^2 / 4 (Hoeffding)
    e = exact_mean_e(
        lambda x: against_at_least_subgaussian(x, q * scale, scale**2 / 4, 0.05), [0.0, scale], [1 - q, q], 4
    )
    assert e <= 1 + 1e-12


def test_subgaussian_rejects_exactly_at_the_hoeffding_bound() -> None:
    x = np.full(50, 1.0)
    radius = math.sqrt(2 * 0.3 * math.log(1 / 0.01) / 50)
    assert against_at_least_subgaussian(x, 1.0 + radius * 1.001, 0.3, 0.01).rejects(0.01)
    assert not against_at_least_subgaussian(x, 1.0 + radius * 0.999, 0.3, 0.01).rejects(0.01)


@pytest.mark.parametrize("law", ["beta", "lognormal", "rare"])
@pytest.mark.parametrize("n", [30, 300])
def test_false_violated_rate_at_the_boundary(law, n) -> None:
    rng = np.random.default_rng(5)
    draw = {
        "beta": lambda: rng.beta(0.2, 1.8, n) / 0.1,
        "lognormal": lambda: rng.lognormal(-0.5 * 1.5**2, 1.5, n),
        "rare": lambda: (rng.random(n) < 0.01) / 0.01,
    }[law]
    alpha = 0.05
    false = sum(against_at_most(draw(), 1.0).rejects(alpha) for _ in range(600))
    assert false <= 600 * alpha + 3 * math.sqrt(600 * alpha)


@pytest.mark.parametrize("n", [30, 300])
def test_false_holds_rate_at_the_boundary(n) -> None:
    rng = np.random.default_rng(6)
    alpha = 0.05
    false = sum(
        against_at_least((rng.random(n) < 0.01) / 0.01, 1.0, 100.0).rejects(alpha) for _ in range(600)
    )
    assert false <= 600 * alpha + 3 * math.sqrt(600 * alpha)


def test_power_when_far_from_the_bound() -> None:
    rng = np.random.default_rng(7)
    x = rng.random(200) * 0.1
    assert against_at_least(x, 0.3, 1.0).rejects(0.01)
    assert against_at_most(x + 1.0, 0.5).rejects(0.01)
    assert not against_at_most(x, 0.3).rejects(0.01)


def test_more_seeds_extrapolates_the_growth() -> None:
    evidence = Evidence((1.0,), (0.5,))
    assert evidence.more_seeds(math.exp(-3.0)) == 4
    assert Evidence((-1.0,), (0.0,)).more_seeds(0.01) is None
    assert Evidence((9.0,), (0.1,)).more_seeds(0.01) == 0


def test_more_seeds_of_the_subgaussian_test_is_enough() -> None:
    x = np.full(10, 1.0)
    evidence = against_at_least_subgaussian(x, 1.2, 0.3, 0.01)
    more = evidence.more_seeds(0.01)
    assert more is not None
    assert more > 0
    assert against_at_least_subgaussian(np.full(10 + more, 1.0), 1.2, 0.3, 0.01).rejects(0.01)
    assert not against_at_least_subgaussian(np.full(8 + more, 1.0), 1.2, 0.3, 0.01).rejects(0.01)


def test_a_broken_ceiling_or_floor_is_refused() -> None:
    with pytest.raises(ValueError, match="exceeds the ceiling"):
        against_at_least(np.array([2.0]), 0.5, 1.0)
    with pytest.raises(ValueError, match="below the floor"):
        against_at_most(np.array([-0.1]), 0.5)


def test_average_is_the_mean_of_e_values() -> None:
    mean = average(*(Evidence((log,), (0.0,)) for log in (math.log(2.0), math.log(6.0), -math.inf)))
    assert math.exp(mean.log_e) == pytest.approx(8 / 3)


def test_order_of_seeds_does_not_matter() -> None:
    x = np.random.default_rng(3).random(40)
    assert against_at_least(x, 0.7, 1.0).log_e == pytest.approx(
        against_at_least(x[::-1], 0.7, 1.0).log_e, rel=1e-13
    )
