"""Section 5's counterexamples as runs in exact rational arithmetic.

Discovery games with F_i = theta_i - ||q_i||^2 + lambda N_i, and the zero-sum power law with exponents 1 and 1/2 at sums
that are squares, so that every number is rational.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from bounds.core.step import Experiment
from bounds.incentfedavg.steps.experiments import local_steps, mean

REGULARISER = Fraction(1, 100_000)  # Section 5.1
CAPACITIES = (15_000, 8_000, 18_000, 6_000, 13_000)  # Section 5.2


def _show(**values: object) -> dict[str, str]:
    return {k: ", ".join(map(str, v)) if isinstance(v, list | tuple) else str(v) for k, v in values.items()}


# Section 5.1 -----------------------------------------------------------------------------------------------


def more_local_steps() -> Experiment:
    """f_1 = (x - 1)^2/2, f_2 = (x + 1)^2/4, equal weights, gamma = 1/4, x_0 = 1: twenty rounds, H = 1 and H = 20."""
    a, c, p = [Fraction(1), Fraction(1, 2)], [Fraction(1), Fraction(-1)], [Fraction(1, 2)] * 2
    gamma, rounds = Fraction(1, 4), 20
    curvature = mean(p, a)
    best = mean(p, [ai * ci for ai, ci in zip(a, c, strict=True)]) / curvature
    gaps = {}
    for H in (1, 20):
        slopes = [(1 - gamma * ai) ** H for ai in a]
        x = Fraction(1)
        assert mean(p, local_steps(a, c, gamma, x, H)[-1]) == _round(p, slopes, c, x)
        for _ in range(rounds):
            x = _round(p, slopes, c, x)
        gaps[H] = curvature / 2 * (x - best) ** 2
    lhs, rhs = (gaps[H].limit_denominator(10**12) for H in (20, 1))
    assert (lhs <= rhs) == (gaps[20] <= gaps[1])  # shown with short denominators, compared in full
    return Experiment(
        gaps[20] <= gaps[1],
        lhs,
        rhs,
        _show(
            m=2, p=p, f_1="(x - 1)^2/2", f_2="(x + 1)^2/4", gamma=gamma, x_0=1, R=rounds,
            f_gap_H_20=f"{float(lhs):.4g}", f_gap_H_1=f"{float(rhs):.4g}",
        ),
    )  # fmt: skip


def _round(p: Sequence[Fraction], slopes: Sequence[Fraction], c: Sequence[Fraction], x: Fraction) -> Fraction:
    """One round of local steps on quadratics: x_i - c_i shrinks by its slope."""
    return mean(p, [ci + s * (x - ci) for s, ci in zip(slopes, c, strict=True)])


def either_direction() -> Experiment:
    """One client, ||q||^2 = 1/2, theta = 2/5, lambda = 1e-5: N* = 10,000; started at 5,000 and at 15,000."""
    size, theta, gamma_tilde = Fraction(1, 2), Fraction(2, 5), Fraction(20_000)
    moves = []
    for start in (5_000, 15_000):
        moves.append(-gamma_tilde * (theta - size + REGULARISER * start))
    return Experiment(
        (moves[0] > 0) == (moves[1] > 0),
        moves[0],
        moves[1],
        _show(
            q_i_sq=size, theta_i=theta, regulariser=REGULARISER, gamma_tilde=gamma_tilde, box="[1, 18000]",
            N_star_i=(size - theta) / REGULARISER, N_i_0=(5_000, 15_000), first_move=moves,
        ),
    )  # fmt: skip


def interior_equilibrium() -> Experiment:
    """q uniform over ten labels (||q||^2 = 1/10), theta = 0, capacity 6,000: the unconstrained point is 10,000."""
    size, theta, capacity = Fraction(1, 10), Fraction(0), Fraction(CAPACITIES[3])
    free = (size - theta) / REGULARISER
    return Experiment(
        free < capacity,
        free,
        capacity,
        _show(
            q_i_sq=size, theta_i=theta, regulariser=REGULARISER, N_i_max=capacity, zero_of_F_i=free,
            N_star_i=min(free, capacity),
        ),
    )  # fmt: skip


def same_limit_when_strongly_monotone() -> Experiment:
    """Section 5.1's game with gamma_tilde = 1/lambda: after one round two runs are at the same point."""
    size, theta, gamma_tilde = (
        [Fraction(1, 2), Fraction(1, 5)],
        [Fraction(2, 5), Fraction(3, 20)],
        1 / REGULARISER,
    )
    ends = []
    for start in ((Fraction(1), Fraction(1)), (Fraction(15_000), Fraction(8_000))):
        moved = [
            n - gamma_tilde * (t - s + REGULARISER * n) for n, t, s in zip(start, theta, size, strict=True)
        ]
        ends.append([min(max(n, Fraction(1)), Fraction(c)) for n, c in zip(moved, CAPACITIES, strict=False)])
    difference = max(abs(a - b) for a, b in zip(*ends, strict=True))
    return Experiment(
        difference > 0,
        difference,
        Fraction(0),
        _show(
            m=2, q_i_sq=size, theta=theta, regulariser=REGULARISER, gamma_tilde=gamma_tilde,
            N_0=("(1, 1)", "(15000, 8000)"), N_1=[f"({a}, {b})" for a, b in ends],
        ),
    )  # fmt: skip


def time_scales() -> Experiment:
    """Section 5.1's game: rounds until the distance to N* is halved, with gamma_tilde = 1/lambda and gamma_tilde = 1.

    Both steps are allowed by Lemma 4.3 and neither enters the model's update; times within a factor ten of the same
    number of rounds are within a factor 100 of each other.
    """
    fast, slow = 1, 50_000
    assert 1 - (slow - 1) * REGULARISER > Fraction(1, 2)  # (1 - lambda)^n >= 1 - n lambda (Bernoulli)
    return Experiment(
        slow <= 100 * fast,
        Fraction(slow),
        Fraction(100 * fast),
        _show(
            regulariser=REGULARISER, gamma_tilde=("100000", "1"), rounds_to_halve_the_distance=("1", f"at least {slow}")
        ),
    )  # fmt: skip


# Section 5.3: l_0 = a_1 - a_0, l_1 = a_0 - a_1, with a_0 = 1 - 1/s and a_1 = 1 - s^(-1/2), s = N_0 + N_1 --------------


def _root(s: Fraction) -> Fraction:
    root = Fraction(isqrt(s.numerator), isqrt(s.denominator))
    assert root * root == s
    return root


def slopes(s: Fraction) -> tuple[Fraction, Fraction]:
    """alpha_i beta_i s^(-beta_i - 1) for alpha = (1, 1), beta = (1, 1/2), at a square s."""
    return 1 / s**2, 1 / (2 * _root(s) ** 3)


def _gradient(s: Fraction) -> tuple[Fraction, Fraction]:
    """(F_0, F_1) = (t_1 - t_0, t_0 - t_1)."""
    t_0, t_1 = slopes(s)
    return t_1 - t_0, t_0 - t_1


def _loss_1(s: Fraction) -> Fraction:
    """l_1 = a_0 - a_1."""
    return 1 / _root(s) - 1 / s


GAME = {"m": "2", "alpha": "1, 1", "beta": "1, 1/2", "box": "[0, 15000] x [0, 8000]"}


def partition_moves() -> Experiment:
    """The sign of F_0 at ||N||_1 = 1 and at 9."""
    low, high = _gradient(Fraction(1))[0], _gradient(Fraction(9))[0]
    return Experiment(
        (low < 0) == (high < 0),
        low,
        high,
        {**GAME, **_show(N_l1=(1, 9), F_0=[low, high], F_1=[-low, -high])},
    )


def dominating_client_stops() -> Experiment:
    """Client 0 dominates while ||N||_1 < 4; with N_1 = 1 it rests at N_0 = 3, far below its capacity."""
    below, at, above = (_gradient(Fraction(s))[0] for s in (1, 4, 9))
    assert below < at == 0 < above
    reached, capacity = Fraction(3), Fraction(CAPACITIES[0])
    return Experiment(
        reached >= capacity,
        reached,
        capacity,
        {**GAME, **_show(N_1=1, N_0=reached, F_0=at, F_0_below=below, F_0_above=above, N_0_max=capacity)},
    )


def boundary_is_left() -> Experiment:
    """gamma_tilde = 16 from N = (433/576, 143/576): client 1 goes to 0, pushed there, and in the next round leaves."""
    gamma_tilde, upper = Fraction(16), [Fraction(c) for c in CAPACITIES[:2]]
    path = [[Fraction(433, 576), Fraction(143, 576)]]
    gradients = []
    for _ in range(2):
        F = _gradient(sum(path[-1], Fraction(0)))
        gradients.append(F[1])
        path.append(
            [
                min(max(n - gamma_tilde * f, Fraction(0)), u)
                for n, f, u in zip(path[-1], F, upper, strict=True)
            ]
        )
    first, second, third = (N[1] for N in path)
    assert min(gradients[0], first) > second == 0
    return Experiment(
        third <= second,
        third,
        second,
        {
            **GAME,
            **_show(
                gamma_tilde=gamma_tilde, N_0_r=[N[0] for N in path], N_1_r=[N[1] for N in path], F_1=gradients
            ),
        },
    )


def two_rest_points() -> Experiment:
    """N = (3, 1) and N = (2, 2) are both at rest: F = 0, so each run stays where it starts."""
    starts = ([Fraction(3), Fraction(1)], [Fraction(2), Fraction(2)])
    assert all(_gradient(sum(N, Fraction(0))) == (0, 0) for N in starts)
    return Experiment(
        starts[0][0] == starts[1][0],
        starts[0][0],
        starts[1][0],
        {**GAME, **_show(N_0=["(3, 1)", "(2, 2)"], F="0 at both", limit=["(3, 1)", "(2, 2)"])},
    )


def stationary_is_not_nash() -> Experiment:
    """N = (3, 1) is stationary; client 1 lowers its loss by 1/36 by moving to N_1 = 6 alone."""
    assert _gradient(Fraction(4)) == (0, 0)
    at, moved = _loss_1(Fraction(4)), _loss_1(Fraction(9))
    return Experiment(
        at <= moved,
        at,
        moved,
        {**GAME, **_show(N=(3, 1), F="0, 0", l_1=at, N_1_moved=6, l_1_moved=moved)},
    )
