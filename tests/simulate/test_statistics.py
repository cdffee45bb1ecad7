"""Statistical self-checks: the sampling modes do to the assumptions what they are said to do.

Each threshold is a multiple of the standard error of the quantity tested (4 to 5 sigma), streams being fixed.
"""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from simulate import RunConfig, run, streams
from simulate.config import RunConfig as Config
from simulate.indices import pieces
from simulate.problems import Problem, Quadratics, WelschRegression, antipodal_noise
from simulate.streams import Purpose
from tests.simulate.conftest import small_game, small_linear, small_quadratics

SEEDS = 2000


def indices(problem: Problem, **changes: object) -> np.ndarray:
    """All indices [S, m, steps, batch] of a run with m = problem.m clients."""
    base = {
        "gamma": 0.1,
        "gamma_tilde": 0.1,
        "H": 2,
        "R": 1,
        "N_0": np.full(problem.m, 5.0),
        "x_0": np.zeros(problem.n),
        "seeds": SEEDS,
    }
    config = Config(**(base | changes))
    N = np.full((config.R + 1, problem.m), 5.0)
    return np.concatenate([part for _, _, part in pieces(problem, config, N, config.seed_indices)], axis=2)


def test_error_bars_of_independent_quantities_are_true() -> None:
    """The spread over 2000 seeds of sum_i x_i over independent clients is sqrt(sum of variances), within 5%.

    A generator seeded with seed + client would share numbers between neighbouring seeds and clients.
    """
    problem = Quadratics(np.ones(4), np.zeros((4, 1)), antipodal_noise("cube", 4, 1, 1.0, atoms=50))
    config = RunConfig(
        gamma=0.1,
        gamma_tilde=0.1,
        H=3,
        R=4,
        N_0=np.full(4, 5.0),
        x_0=np.zeros(1),
        seeds=SEEDS,
        sampling="iid",
    )
    data = run(problem, small_game(4), config, p_star=np.full(4, 0.25), x_star=np.zeros(1))
    square = np.mean((problem.atoms**2).sum(axis=2), axis=1)
    p, variance = data.p.values, 0.0
    for r in range(4):  # x_hat_{r+1} = sum_i p_i (0.9^3 x_hat_r - 0.1 sum_h 0.9^(2-h) w_{i,h})
        kept, fresh = 0.9**6, 0.01 * (1 + 0.81 + 0.6561)
        variance = kept * variance + fresh * float(p[r + 1] ** 2 @ square)
    mean_square = data.dist_sq.sel(record=4).values
    assert mean_square.mean() == pytest.approx(
        variance, rel=4 * mean_square.std() / mean_square.mean() / SEEDS**0.5
    )
    assert mean_square.mean() == pytest.approx(variance, rel=0.1)
    # The error bar computed as if seeds were independent, against the spread of the means of 40 groups.
    groups = mean_square.reshape(40, 50).mean(axis=1)
    assert groups.std(ddof=1) == pytest.approx(mean_square.std(ddof=1) / 50**0.5, rel=4 / (2 * 39) ** 0.5)


def test_error_bars_over_clients_and_seeds_within_5_percent() -> None:
    """The variance over seeds of a sum over clients is the sum of the variances: cross-covariances vanish."""
    draws = np.stack(
        [
            [
                streams.generator(0, s, i, Purpose.SAMPLES).integers(0, 1000, 20, dtype=np.int32)
                for i in range(5)
            ]
            for s in range(SEEDS)
        ]
    ).mean(axis=2)
    assert draws.sum(axis=1).var(ddof=1) == pytest.approx(
        5 * (1000**2 - 1) / 12 / 20, rel=4 * (2 / SEEDS) ** 0.5
    )
    assert draws.sum(axis=1).std(ddof=1) == pytest.approx((5 * (1000**2 - 1) / 12 / 20) ** 0.5, rel=0.05)
    shifted = np.corrcoef(draws[1:, :-1].ravel(), draws[:-1, 1:].ravel())[
        0, 1
    ]  # (s + 1, i) against (s, i + 1)
    assert abs(shifted) < 5 / (SEEDS * 4) ** 0.5
    neighbours = np.corrcoef(draws[1:].ravel(), draws[:-1].ravel())[0, 1]
    assert abs(neighbours) < 5 / (SEEDS * 5) ** 0.5


@pytest.mark.parametrize(("batch", "replacement"), [(1, "with"), (3, "with"), (3, "batch")])
def test_iid_is_unbiased_and_its_variance_is_below_nu_sq(batch: int, replacement: str) -> None:
    problem = small_linear(WelschRegression)
    index = indices(problem, batch=batch, replacement=replacement)
    x = np.broadcast_to(np.linspace(-1, 1, problem.n), (SEEDS, problem.m, problem.n))
    nu_sq = float(problem.constants(np.full(3, 1 / 3), batch=batch, replacement=replacement)["nu"].value) ** 2
    for step in range(2):
        deviation = problem.sample_gradients(np.ascontiguousarray(x), index[:, :, step]) - problem.gradients(
            x[0, 0]
        )
        error = deviation.mean(axis=0) / (deviation.std(axis=0) / SEEDS**0.5)
        assert np.abs(error).max() < 4.5
        square = (deviation**2).sum(axis=2)
        assert np.all(square.mean(axis=0) + 4 * square.std(axis=0) / SEEDS**0.5 < nu_sq)


def test_quadratics_noise_attains_nu_sq() -> None:
    problem = small_quadratics(law="rare")
    index, x = indices(problem), np.zeros((SEEDS, 3, 4))
    deviation = problem.sample_gradients(x, index[:, :, 0]) - problem.gradients(x[0, 0])
    square = (deviation**2).sum(axis=2)
    nu_sq = float(problem.constants(np.full(3, 1 / 3))["nu"].value) ** 2
    assert np.all(np.abs(square.mean(axis=0) - nu_sq) < 4.5 * square.std(axis=0) / SEEDS**0.5)


def second_step_law(mode: str, size: int, count: int) -> dict[tuple[int, int], float]:
    """P(second index = j | first index = i), enumerated; `subset` draws both from one random subset."""
    law: Counter = Counter()
    if mode == "subset":
        subsets = list(combinations(range(size), count))
        for chosen in subsets:
            for i in chosen:
                for j in chosen:
                    law[i, j] += 1 / len(subsets) / count**2
    else:
        for i in range(size):
            for j in range(size):
                law[i, j] = 1 / size**2 if mode == "iid" else (i != j) / size / (size - 1)
    return {pair: p * size for pair, p in law.items()}


@pytest.mark.parametrize("mode", ["iid", "round", "subset"])
def test_the_second_steps_conditional_gradient_is_the_enumerated_one(mode: str) -> None:
    """Given the first sample, the second gradient's mean: grad f for `iid`, biased in the others."""
    size, count = 4, 2
    problem = Quadratics(
        np.ones(1), np.zeros((1, 1)), antipodal_noise("cube", 1, 1, 1.0, atoms=size // 2, seed=1)
    )
    settings = {
        "iid": {},
        "round": {"replacement": "round"},
        "subset": {"sampling": "subset", "gamma_tilde": 0.1},
    }[mode]
    seeds = 3000
    config = Config(
        gamma=0.1, gamma_tilde=0.1, H=2, R=1, N_0=np.ones(1), x_0=np.zeros(1), seeds=seeds,
        **{key: value for key, value in settings.items() if key != "gamma_tilde"},
    )  # fmt: skip
    N = np.full((2, 1), 1.5)  # ceil(1.5) = 2 samples
    index = np.concatenate([part for _, _, part in pieces(problem, config, N, config.seed_indices)], axis=2)
    first, second = index[:, 0, 0, 0], index[:, 0, 1, 0]
    law, atoms = second_step_law(mode, size, count), problem.atoms[0, :, 0]
    for i in range(size):
        expected = sum(law.get((i, j), 0.0) * atoms[j] for j in range(size))
        seen = atoms[second[first == i]]
        assert abs(seen.mean() - expected) < 4.5 * seen.std() / len(seen) ** 0.5
        if mode == "iid":
            assert expected == pytest.approx(0.0, abs=1e-15)
    biased = max(abs(sum(law.get((i, j), 0.0) * atoms[j] for j in range(size))) for i in range(size))
    assert (biased > 0.1) == (mode != "iid")


def test_a_subsets_members_are_uniform() -> None:
    problem = small_quadratics()
    index = indices(problem, sampling="subset", H=1)
    counts = np.bincount(index[:, 0, 0, 0], minlength=16)
    assert ((counts - SEEDS / 16) ** 2 / (SEEDS / 16)).sum() < 37.7  # 0.999 quantile, 15 degrees of freedom


def test_runs_mean_is_the_noiseless_run_for_quadratics() -> None:
    """Additive noise: E x_hat_R follows the linear recursion of full gradients exactly."""
    problem, game = small_quadratics(law="rademacher"), small_game(3)
    base = {
        "gamma": 0.1,
        "gamma_tilde": 0.05,
        "H": 3,
        "R": 6,
        "N_0": np.full(3, 8.0),
        "x_0": np.ones(4),
        "draws": 0,
    }
    still = run(problem, game, RunConfig(**base, sampling="full", seeds=1), x_star=np.zeros(4))
    noisy = run(problem, game, RunConfig(**base, seeds=SEEDS), x_star=np.zeros(4))
    spread = noisy.dist_sq.sel(record=6).values
    assert spread.mean() > float(still.dist_sq[0, -1])  # E||x||^2 = ||E x||^2 + variance
    target = np.zeros(4)
    target[0] = 1e3  # ||x - target||^2 = ||x||^2 - 2000 x_0 + 10^6: the mean of the first coordinate
    means = [
        run(problem, game, RunConfig(**base, sampling=mode, seeds=seeds), x_star=target)
        .dist_sq.sel(record=6)
        .values
        for mode, seeds in (("iid", SEEDS), ("full", 1))
    ]
    first = (spread + 1e6 - means[0]) / 2e3
    expected = (float(still.dist_sq[0, -1]) + 1e6 - means[1][0]) / 2e3
    assert abs(first.mean() - expected) < 4.5 * first.std() / SEEDS**0.5
