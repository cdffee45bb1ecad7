"""Runs of Algorithm 1 in exact rational arithmetic, small enough to check by hand.

Clients have f_i(x) = a_i/2 (x - c_i)^2 in one dimension and full gradients (nu = 0), so that every
expectation is a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bounds.core.step import Experiment

Weights = Sequence[Fraction]


def local_steps(
    a: Sequence[Fraction], c: Sequence[Fraction], gamma: Fraction, x: Fraction, steps: int
) -> list[list[Fraction]]:
    """The clients' iterates x_{i,k} after 0, 1, ..., `steps` local steps from a common x."""
    path = [[x] * len(a)]
    for _ in range(steps):
        path.append([y - gamma * ai * (y - ci) for y, ai, ci in zip(path[-1], a, c, strict=True)])
    return path


def mean(weights: Weights, values: Sequence[Fraction]) -> Fraction:
    """The weighted mean."""
    return sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0))


def weights_of(profile: Sequence[Fraction]) -> list[Fraction]:
    """p_i(N) = N_i / sum_j N_j."""
    total = sum(profile, Fraction(0))
    return [n / total for n in profile]


def _show(**values: object) -> dict[str, str]:
    return {k: ", ".join(map(str, v)) if isinstance(v, list | tuple) else str(v) for k, v in values.items()}


def boundary_average() -> Experiment:
    """Lemma 4.2 at a round boundary: m = 2, H = 1, N moves from (1, 1) to (1, 3), f_i = (x - c_i)^2/2, c =
    (0, 1)."""
    a, c, gamma, x = [Fraction(1)] * 2, [Fraction(0), Fraction(1)], Fraction(1, 4), Fraction(0)
    before, after = weights_of([Fraction(1), Fraction(1)]), weights_of([Fraction(1), Fraction(3)])
    end = local_steps(a, c, gamma, x, 1)[-1]
    aggregated = mean(after, end)  # line 13: x_hat_1; every client starts round 1 there, so x_bar_1 = x_hat_1
    gradient = mean(before, [ai * (x - ci) for ai, ci in zip(a, c, strict=True)])
    claimed = x - gamma * gradient
    return Experiment(
        aggregated == claimed,
        aggregated,
        claimed,
        _show(m=2, H=1, gamma=gamma, N_0=(1, 1), N_1=(1, 3), x_0=x, c=c, x_bar_1=aggregated, claimed=claimed),
    )


def compact_form() -> Experiment:
    """Remark 6.2 read with r the round of k: equation (16) aggregates with p_{j,0}, Algorithm 1 with
    p_{j,1}."""
    a, c, gamma, x = [Fraction(1)] * 2, [Fraction(0), Fraction(1)], Fraction(1, 4), Fraction(0)
    before, after = weights_of([Fraction(1), Fraction(1)]), weights_of([Fraction(1), Fraction(3)])
    end = local_steps(a, c, gamma, x, 1)[-1]
    algorithm, remark = mean(after, end), mean(before, end)
    return Experiment(
        algorithm == remark,
        algorithm,
        remark,
        _show(m=2, H=1, gamma=gamma, N_0=(1, 1), N_1=(1, 3), x_0=x, c=c, algorithm=algorithm, remark=remark),
    )


def negative_losses() -> Experiment:
    """Lemma 6.5 as printed with f_1 = x^2/2, f_2 = x^2/2 - c: the printed G^2 turns negative."""
    p, c, x = [Fraction(1, 4), Fraction(3, 4)], Fraction(4), Fraction(1)
    smooth = Fraction(1)
    worst = max(abs(1 / (2 * w) - 1) for w in p)
    f_star = -p[1] * c
    mean_star = -c / 2
    g_sq = 2 * smooth * (f_star - mean_star) + 2 * smooth * worst * f_star
    b_sq = 1 + worst
    lhs = x * x  # both gradients are x
    rhs = g_sq + 2 * smooth * b_sq * (x * x / 2)
    return Experiment(
        lhs <= rhs,
        lhs,
        rhs,
        _show(
            m=2, p_star=p, L=1, f_1="x^2/2", f_2=f"x^2/2 - {c}", x=x, G_sq=g_sq, B_sq=b_sq, lhs=lhs, rhs=rhs
        ),
    )


def weights_held_away(rounds: int = 5000) -> Experiment:
    """Theorem 4.10 (i) as printed: started at N* = (2, 2), delta_0 = 0, while the regularised update moves N.

    F(N) = N - N* on [1, 3]^2, h = ((N_1 - 4)^2 + N_2^2)/2, lambda_r = 10 (r+1)^(-1/4), gamma_tilde_r = (r+1)^(-1/2).
    As long as lambda_r > 1, which is (r+1) < 10^4, the corner (3, 1) is where every update from N* or from itself
    ends: F_1 + lambda_r h_1 = 1 - lambda_r < 0 and F_2 + lambda_r h_2 = lambda_r - 1 > 0 there. The losses are
    (x - 1)^2/2 and (x + 1)^2/2, H = 1, and the start is the fixed point of the round with the corner's weights.
    """
    lambda_0, gamma, m = Fraction(10), Fraction(1, 100), 2
    assert rounds < lambda_0**4  # (r+1)^(1/4) < lambda_0 for every r < rounds
    equilibrium, corner = [Fraction(2)] * 2, [Fraction(3), Fraction(1)]
    slope = [n - t for n, t in zip(equilibrium, (4, 0), strict=True)]  # grad h at N*, where F = 0
    moved = [n - lambda_0 * g for n, g in zip(equilibrium, slope, strict=True)]  # gamma_tilde_0 = 1
    assert [min(max(n, Fraction(1)), Fraction(3)) for n in moved] == corner
    a, c = [Fraction(1)] * 2, [Fraction(1), Fraction(-1)]
    p_star, q = weights_of(equilibrium), weights_of(corner)
    x = mean(q, c)
    assert mean(q, local_steps(a, c, gamma, x, 1)[-1]) == x  # the round repeats itself exactly
    lhs = (x - mean(p_star, c)) ** 2  # |f'(x)|^2 at every k
    f_gap = (x - mean(p_star, c)) ** 2 / 2
    rhs = (
        16 * f_gap / (gamma * rounds) + Fraction(153, 2) * m * m * gamma**2
    )  # L = B = G = H = 1, nu = delta_hat = 0
    return Experiment(
        lhs <= rhs,
        lhs,
        rhs,
        _show(
            m=m, H=1, R=rounds, r_hat=0, gamma=gamma, L=1, B=1, G=1, nu=0, F="N - (2, 2)", lower=(1, 1), upper=(3, 3),
            h="((N_1 - 4)^2 + N_2^2)/2", lambda_r="10 (r+1)^(-1/4)", gamma_tilde_r="(r+1)^(-1/2)", N_0=(2, 2),
            N_r=(3, 1), x_0=x, f_1="(x - 1)^2/2", f_2="(x + 1)^2/2", grad_f_sq=lhs, printed_bound=rhs,
        ),
    )  # fmt: skip


def drift_that_stays(rounds: int = 100_000) -> Experiment:
    """Theorem 4.9 (i-1) as printed: N_0 = N*, nu = 0, and the start is the fixed point of a round with H = 2.

    Every round repeats itself, so the left side does not change with R while the printed right side tends
    to 0.
    """
    m, h, smooth = 2, 2, Fraction(1)
    a, c, gamma = [Fraction(1), Fraction(1, 2)], [Fraction(1), Fraction(-1)], Fraction(1, 68)
    p = [Fraction(1, 2), Fraction(1, 2)]
    slopes = [(1 - gamma * ai) ** h for ai in a]
    fixed = mean(p, [(1 - s) * ci for s, ci in zip(slopes, c, strict=True)]) / (1 - mean(p, slopes))
    curvature = mean(p, a)
    x_star = mean(p, [ai * ci for ai, ci in zip(a, c, strict=True)]) / curvature
    path = local_steps(a, c, gamma, fixed, h)
    assert mean(p, path[-1]) == fixed  # the round repeats itself exactly
    average = sum((mean(p, x) for x in path[:-1]), Fraction(0)) / h
    lhs = curvature / 2 * (average - x_star) ** 2
    f_star = mean(p, [ai / 2 * (x_star - ci) ** 2 for ai, ci in zip(a, c, strict=True)])
    g_sq, steps = 2 * smooth * f_star, h * rounds  # every f_i* is 0, both weights are 1/m: B^2 = 1
    rhs = 4 * (fixed - x_star) ** 2 / (gamma * steps) + 72 * gamma**2 * smooth * m * g_sq * h**3 / steps
    return Experiment(
        lhs <= rhs,
        lhs,
        rhs,
        _show(
            m=m,
            H=h,
            R=rounds,
            r_hat=0,
            gamma=gamma,
            L=1,
            nu=0,
            delta_0=0,
            B=1,
            G_sq=g_sq,
            p=p,
            x_0=fixed,
            x_star=x_star,
            f_1="(x - 1)^2/2",
            f_2="(x + 1)^2/4",
            f_gap_avg=lhs,
            printed_bound=rhs,
        ),
    )


def regularised_rest_point() -> Experiment:
    """Lemma 4.4 (iv): F(N) = N - c (so N* = c), h = (N_1^2 + 2 N_2^2)/2, lambda_r = 1 for all r: N_0 is a
    rest point.

    N_r is constant, hence convergent, yet p_{i,r} stays away from p*_i; all that is missing is (iii)'s
    rate conditions.
    """
    c, lam, step = [Fraction(4), Fraction(6)], Fraction(1), Fraction(1, 4)
    start = [c[0] / (1 + lam), c[1] / (1 + 2 * lam)]
    moved = [
        n - step * ((n - ci) + lam * k * n)
        for n, ci, k in zip(start, c, (Fraction(1), Fraction(2)), strict=True)
    ]
    assert moved == start  # the box [1, 10]^2 is inactive: a rest point
    p, p_star = weights_of(start)[0], weights_of(c)[0]
    return Experiment(
        p == p_star,
        p,
        p_star,
        _show(
            m=2,
            F="N - (4, 6)",
            h="(N_1^2 + 2 N_2^2)/2",
            lambda_r=1,
            gamma_tilde_r=step,
            N_r=start,
            p_1=p,
            p_star_1=p_star,
        ),
    )


def fixed_subset() -> Experiment:
    """Algorithm 1, lines 5 to 8, with data {-1, 1}, f~(x, xi) = (x - xi)^2/2 and a subset of one sample a
    round.

    Given the first sample of the round (xi = 1, of probability 1/2) the second is 1 for sure: E[xi | past]
    = 1, not 0.
    """
    data = [Fraction(-1), Fraction(1)]
    paths = [
        (subset, subset) for subset in data
    ]  # the two samples of a round come from the one-element subset
    given_first = [second for first, second in paths if first == 1]
    conditional = sum(given_first, Fraction(0)) / len(given_first)
    x = Fraction(0)
    oracle, gradient = x - conditional, x - sum(data, Fraction(0)) / len(data)
    return Experiment(
        oracle == gradient,
        oracle,
        gradient,
        _show(
            data=data, subset_size=1, first_sample=1, x=x, conditional_mean_gradient=oracle, gradient=gradient
        ),
    )
