"""Theorem 4.9 (ii) as printed, on one instance while epsilon shrinks: the rounds outgrow the printed order."""

from __future__ import annotations

from fractions import Fraction

from bounds.core.step import Experiment
from bounds.incentfedavg.steps.experiments import mean


def order_that_fails(factor: int = 1000, t: int = 10**6) -> Experiment:
    """Does R >= `factor` max{R_1, R_2, R_3, R_4, R_hat} give f(x_avg) - f* <= epsilon?

    Two clients with f_1 = (x - 1)^2/2 and f_2 = (x + 1)^2/4, N_0 = N*, full gradients, H = 2, x_0 = x* and
    r_hat = 0, so that D = 0 and R_3 = R_4 = 0; nu = epsilon, which the exact oracle satisfies. R = 2 t^2,
    for which gamma = (R H)^(-1/2) = 1/(2 t) is rational; epsilon is then chosen so that R_2 is R/`factor`.

    One round maps x to s x + b with 0 < s < 1, so that x after r rounds is y + s^r (x* - y), y the fixed
    point. Only 0 < s^R < 1 is used of the power: the left side is a lower bound of the gap, about c/R, while
    epsilon falls as 1/R^2; whatever the factor, a larger t refutes it.
    """
    m, h, smooth, rounds = 2, 2, Fraction(1), 2 * t**2
    a, c, p = [Fraction(1), Fraction(1, 2)], [Fraction(1), Fraction(-1)], [Fraction(1, 2)] * 2
    gamma, curvature = Fraction(1, 2 * t), mean(p, a)
    pull = mean(p, [ai * ci for ai, ci in zip(a, c, strict=True)])
    x_star = pull / curvature
    slopes = [(1 - gamma * ai) ** h for ai in a]
    s = mean(p, slopes)
    fixed = mean(p, [(1 - k) * ci for k, ci in zip(slopes, c, strict=True)]) / (1 - s)
    # the average over a round that starts at x is alpha x + beta
    alpha, beta = 1 - gamma * curvature / 2, gamma * pull / 2
    far = abs(alpha * fixed + beta - x_star) - alpha * abs(x_star - fixed) / (rounds * (1 - s))
    gap = curvature / 2 * max(far, Fraction(0)) ** 2
    g_sq = 2 * smooth * mean(p, [ai / 2 * (x_star - ci) ** 2 for ai, ci in zip(a, c, strict=True)])
    epsilon = 2 * smooth * m * g_sq * factor**2 / (h * rounds**2)
    nu = epsilon
    order_2_sq = smooth * (nu**2 + m * g_sq) / (h * epsilon)
    steps = Fraction((24 * h) ** 2 * m, h)  # the largest condition on gamma: gamma <= 1/(24 L H B sqrt(m))
    within = (
        factor**2 * order_2_sq <= rounds**2
        and factor * nu**4 / (h * epsilon**2) <= rounds
        and factor * steps <= rounds
    )
    assert within  # R is at least `factor` times every term of the printed order
    low = Fraction(int(gap * 10**30), 10**30)  # rounded down: still a lower bound, and readable
    return Experiment(
        low <= epsilon,
        low,
        epsilon,
        {
            "m": "2", "H": "2", "L": "1", "B": "1", "G_sq": str(g_sq), "p": "1/2, 1/2", "delta_0": "0",
            "f_1": "(x - 1)^2/2", "f_2": "(x + 1)^2/4", "x_0": "x_star", "r_hat": "0", "R": str(rounds),
            "gamma": str(gamma), "epsilon": str(epsilon), "nu": "epsilon", "factor": str(factor),
            "f_gap_avg_at_least": str(low),
        },
    )  # fmt: skip
