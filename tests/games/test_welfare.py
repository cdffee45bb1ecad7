"""Welfare losses: values, gradients, constants, convexity with its witness."""

import cvxpy as cp
import numpy as np
import pytest

from games import GameError
from games.welfare import CvxpyWelfare, EntropyWelfare, QuadraticWelfare, SoftplusWelfare, Welfare

LOWER, UPPER = np.array([1.0, 0.5, 2.0]), np.array([4.0, 3.0, 2.5])


def losses() -> list[Welfare]:
    return [
        SoftplusWelfare(),
        QuadraticWelfare([1.0, 2.0, 3.0], [1.0, 0.5, 2.0]),
        EntropyWelfare(),
        CvxpyWelfare(lambda x: cp.sum_squares(x) / 2 + cp.sum(x), 3, 1.0),
    ]


@pytest.mark.parametrize("h", losses(), ids=lambda h: type(h).__name__)
def test_gradients_and_hessians_are_derivatives(h: Welfare) -> None:
    N = np.array([1.5, 1.0, 2.25])
    if isinstance(h, SoftplusWelfare):
        N = N - 1.5  # where the softplus bends
    step = 1e-5 * np.eye(3)
    slope = (h.value(N + step) - h.value(N - step)) / 2e-5
    np.testing.assert_allclose(h.gradient(N), slope, rtol=1e-6, atol=1e-8)
    bend = (h.gradient(N + step) - h.gradient(N - step)) / 2e-5
    np.testing.assert_allclose(h.hessian(N), bend, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("h", losses(), ids=lambda h: type(h).__name__)
def test_constants_hold_on_samples(h: Welfare) -> None:
    constants = h.constants(LOWER, UPPER)
    count = 20 if isinstance(h, CvxpyWelfare) else 400
    x, y = np.random.default_rng(0).uniform(LOWER, UPPER, size=(2, count, 3))
    assert np.all(np.linalg.norm(h.gradient(x), axis=1) <= constants["C_H"].value)
    inner = np.sum((h.gradient(x) - h.gradient(y)) * (x - y), axis=1)
    square = np.sum((x - y) ** 2, axis=1)
    assert np.all(inner >= constants["sigma_h"].value * square * (1 - 1e-9) - 1e-12)
    if "L_h" in constants:
        change = np.linalg.norm(h.gradient(x) - h.gradient(y), axis=1)
        assert np.all(change <= constants["L_h"].value * np.sqrt(square) * (1 + 1e-9) + 1e-15)


def test_softplus_does_not_overflow_at_46000() -> None:
    h = SoftplusWelfare()
    N = np.array([15000.0, 0.0, 18000.0, 0.0, 13000.0])
    assert h.value(N) == 46000.0
    assert h.gradient(N).tolist() == [1.0] * 5
    assert h.value(-N) == 0.0
    assert h.value(np.zeros(5)) == pytest.approx(np.log(2))


def test_softplus_is_affine_between_its_witnesses() -> None:
    h = SoftplusWelfare()
    convexity = h.convexity(LOWER, UPPER)
    assert convexity.strict is False
    assert convexity.witness is not None
    x, y = convexity.witness
    assert not np.array_equal(x, y)
    assert np.all((x >= LOWER) & (x <= UPPER) & (y >= LOWER) & (y <= UPPER))
    assert h.value((x + y) / 2) == h.value(x) == h.value(y)


def test_softplus_of_one_moving_client_is_strictly_convex() -> None:
    convexity = SoftplusWelfare().convexity(np.array([-1.0, 2.0]), np.array([1.0, 2.0]))
    assert convexity.strict is True
    assert 0 < convexity.sigma_h <= 1 / (1 + np.exp(3)) * (1 - 1 / (1 + np.exp(3)))


def test_bad_welfare_data_ends_with_one_clear_line() -> None:
    with pytest.raises(GameError, match="weights = -1"):
        QuadraticWelfare([1.0], -1.0)
    with pytest.raises(GameError, match="needs lower > 0"):
        EntropyWelfare().convexity(np.zeros(2), np.ones(2))
    with pytest.raises(GameError, match="not a scalar that cvxpy recognises as convex"):
        CvxpyWelfare(lambda x: -cp.sum_squares(x), 3)
    kinked = CvxpyWelfare(lambda x: cp.max(x), 2)
    assert kinked.value(np.array([[1.0, 2.0], [4.0, 3.0]])).tolist() == [2.0, 4.0]
