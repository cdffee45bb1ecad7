"""The run that refutes the printed order of Theorem 4.9 (ii), against a plain simulation."""

import pytest

from bounds.incentfedavg.steps.order_run import order_that_fails


def simulated(t: int) -> float:
    """f(x_avg) - f* after 2 t^2 rounds of two local steps from x*, step 1/(2 t)."""
    a, c, gamma, x_star = (1.0, 0.5), (1.0, -1.0), 1 / (2 * t), 1 / 3
    x, total = x_star, 0.0
    for _ in range(2 * t**2):
        local = [x, x]
        for _ in range(2):
            total += sum(local) / 2
            local = [y - gamma * ai * (y - ci) for y, ai, ci in zip(local, a, c, strict=True)]
        x = sum(local) / 2
    return 0.75 / 2 * (total / (4 * t**2) - x_star) ** 2


@pytest.mark.parametrize("t", [60, 120])
def test_the_left_side_is_a_lower_bound_of_the_simulated_gap_and_close_to_it(t: int) -> None:
    low, gap = float(order_that_fails(factor=1, t=t).lhs), simulated(t)
    assert 0.9 * gap <= low <= gap * (1 + 1e-9)


def test_a_larger_factor_only_asks_for_a_smaller_epsilon() -> None:
    ratios = [
        float(e.lhs / e.rhs) for e in (order_that_fails(1000, t) for t in (10**6, 2 * 10**6, 4 * 10**6))
    ]
    assert ratios[1] == pytest.approx(4 * ratios[0], rel=1e-4)
    assert ratios[2] == pytest.approx(4 * ratios[1], rel=1e-4)
    assert not order_that_fails(10**5, 10**8).holds


def test_a_step_size_outside_the_theorem_is_refused() -> None:
    with pytest.raises(AssertionError):
        order_that_fails(factor=1000, t=100)
