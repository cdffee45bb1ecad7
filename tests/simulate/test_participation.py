"""The game's trajectory: against exact rational arithmetic, and its error bound never beaten."""

from fractions import Fraction as Q

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import AffineGame
from games.welfare import CvxpyWelfare, EntropyWelfare, QuadraticWelfare, SoftplusWelfare
from simulate.participation import gradient_error, participation, weights
from tests.simulate.conftest import small_game


def exact_trajectory(game: AffineGame, N_0: np.ndarray, gamma_tilde: float, R: int) -> list[list[Q]]:
    """The same recursion in rationals: N <- clip(N - gamma (A N + b))."""
    A = [[Q(float(v)) for v in row] for row in game.A]
    b, low, high = ([Q(float(v)) for v in row] for row in (game.b, game.lower, game.upper))
    N, step = [Q(float(v)) for v in N_0], Q(gamma_tilde)
    path = [N]
    for _ in range(R):
        F = [sum(a * v for a, v in zip(row, N, strict=True)) + c for row, c in zip(A, b, strict=True)]
        N = [min(max(v - step * f, lo), hi) for v, f, lo, hi in zip(N, F, low, high, strict=True)]
        path.append(N)
    return path


@given(seed=st.integers(0, 10_000), gamma_tilde=st.floats(0.01, 0.4))
def test_error_bound_holds_against_rationals(seed: int, gamma_tilde: float) -> None:
    rng = np.random.default_rng(seed)
    game = small_game(3, upper=float(rng.uniform(4, 12)))
    N_0 = rng.uniform(game.lower, game.upper)
    run = participation(game, N_0, gamma_tilde, 12)
    for stored, exact, bound in zip(
        run.N, exact_trajectory(game, N_0, gamma_tilde, 12), run.error, strict=True
    ):
        distance_sq = sum((Q(float(v)) - e) ** 2 for v, e in zip(stored, exact, strict=True))
        assert distance_sq <= Q(float(bound)) ** 2


def test_error_bound_is_small_and_not_zero() -> None:
    game = small_game(4)
    run = participation(game, np.full(4, 2.0), 0.2, 500)
    assert 0 < run.error[-1] < 1e-13
    assert run.error[0] == 0


def test_a_client_pinned_at_its_bound_has_no_error() -> None:
    game = AffineGame(np.eye(2), np.array([5.0, 5.0]), np.array([1.0, 1.0]), np.array([9.0, 9.0]))
    run = participation(game, np.array([1.0, 1.0]), 0.3, 5)
    assert np.array_equal(run.N, np.ones((6, 2)))
    assert np.array_equal(run.error, np.zeros(6))


def test_in_a_corner_that_the_exact_step_reaches_too_nothing_is_off() -> None:
    """An expanding rotation, pushed into a corner after two rounds that are off by rounding."""
    game = AffineGame(
        np.array([[0.1, 3.0], [-3.0, 0.1]]), np.array([-14.3, -2.1]), np.zeros(2), np.full(2, 3.0)
    )
    N_0 = np.array([1.1, 1.3])
    run = participation(game, N_0, 0.1, 9)
    path = exact_trajectory(game, N_0, 0.1, 9)
    cornered = [r for r in range(10) if set(run.N[r].tolist()) <= {0.0, 3.0}]
    free = [r for r in range(1, 10) if r not in cornered]
    assert cornered
    assert free
    assert np.all(run.error[cornered] == 0)
    assert all([Q(v) for v in run.N[r].tolist()] == path[r] for r in cornered)
    assert np.all(run.error[free] > 0)


def test_a_corner_that_the_exact_step_may_miss_is_not_called_certain() -> None:
    """The float step from N_1 lands in the corner by a hair; the exact one, whose N_1 is another, need not."""
    found = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        slope = float(rng.uniform(0.5, 2.0))
        N_0, gamma_tilde = np.array([float(rng.uniform(0.1, 0.9))]), 0.1
        aim = float(rng.uniform(-1.0, 1.0)) * 1e-16
        # chosen so that the second step ends at 1, the upper bound, up to a few units in the last place
        keep = 1 - gamma_tilde * slope
        b = -(1.0 + aim - keep**2 * float(N_0[0])) / (gamma_tilde * (1 + keep))
        game = AffineGame(np.array([[slope]]), np.array([b]), np.zeros(1), np.ones(1))
        run, path = participation(game, N_0, gamma_tilde, 2), exact_trajectory(game, N_0, gamma_tilde, 2)
        assert abs(Q(float(run.N[2, 0])) - path[2][0]) <= Q(float(run.error[2]))
        found += run.N[2, 0] == 1.0 and path[2][0] < 1
    assert found > 10


def test_weighted_average_is_lemma_4_4s() -> None:
    game = small_game(3)
    run = participation(
        game, np.full(3, 5.0), 0.1, 30, welfare=QuadraticWelfare([2.0] * 3), lambda_0=0.5, a=0.5, b=0.25
    )
    N, top, bottom = np.full(3, 5.0), np.zeros(3), 0.0
    for r in range(30):
        step, lam = 0.1 * (r + 1) ** -0.5, 0.5 * (r + 1) ** -0.25
        assert np.allclose(run.N[r], N, rtol=0, atol=1e-13)
        top, bottom = top + step * lam * N, bottom + step * lam
        N = np.clip(N - step * (game.F(N) + lam * (N - 2.0)), game.lower, game.upper)
    assert np.allclose(run.weighted_average(30), top / bottom, rtol=0, atol=1e-13)
    assert 0 < run.error[-1] < 1e-12


@pytest.mark.parametrize("welfare", [SoftplusWelfare(), QuadraticWelfare([2.0] * 3), EntropyWelfare()])
def test_the_welfare_gradients_rounding_is_bounded(welfare: object) -> None:
    rng = np.random.default_rng(1)
    mpmath.mp.prec = 200
    for scale in (0.1, 1.0, 5.0):
        N = scale * rng.uniform(0.5, 3.0, 3)
        exact = [mpmath.mpf(float(v)) for v in N]
        truth = {
            "SoftplusWelfare": [1 / (1 + mpmath.exp(-sum(exact)))] * 3,
            "QuadraticWelfare": [v - 2 for v in exact],
            "EntropyWelfare": [1 + mpmath.log(v) for v in exact],
        }[type(welfare).__name__]
        bound = gradient_error(welfare, N)
        assert np.all(bound < 1e-13)
        for g, t, e in zip(welfare.gradient(N), truth, bound, strict=True):
            assert abs(mpmath.mpf(float(g)) - t) <= float(e)


def test_an_unknown_welfare_loss_makes_the_error_infinite() -> None:
    class Other(QuadraticWelfare):
        pass

    assert np.all(np.isfinite(gradient_error(Other([1.0]), np.ones(1))))
    assert np.all(np.isinf(gradient_error(CvxpyWelfare(lambda x: x[0] ** 2, 1), np.ones(1))))


def test_weights_are_shares() -> None:
    assert np.array_equal(weights(np.array([1.0, 3.0])), np.array([0.25, 0.75]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"N_0": np.ones(2)}, "N_0 has shape"),
        ({"N_0": np.array([1.0, 2.0, 99.0])}, r"N_0\[2\] = 99.0: outside the box"),
        ({"N_0": np.array([1.0, np.nan, 2.0])}, r"N_0\[1\]"),
        ({"gamma_tilde": 0.0}, "gamma_tilde = 0.0"),
        ({"gamma_tilde": float("nan")}, "gamma_tilde = nan"),
        ({"R": 0}, "R = 0"),
        ({"a": -0.1}, "a = -0.1"),
        ({"lambda_0": 0.1}, "needs a `welfare`"),
        ({"welfare": SoftplusWelfare()}, "lambda_0 = None"),
        ({"welfare": SoftplusWelfare(), "lambda_0": 0.0}, "lambda_0 = 0.0"),
    ],
)
def test_bad_input_is_named(change: dict, words: str) -> None:
    arguments = {"N_0": np.full(3, 2.0), "gamma_tilde": 0.1, "R": 3} | change
    with pytest.raises(ValueError, match=words):
        participation(small_game(3), **arguments)
