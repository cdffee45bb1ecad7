"""Affine games: F, its error bound, its constants; the discovery game against its definition."""

from fractions import Fraction

import flint
import numpy as np
import pytest

from bounds.core.constant import Provenance
from games import AffineGame, DiscoveryGame, GameError
from games.rounding import fmpq, fraction


def exact_F(game: AffineGame | DiscoveryGame, N: np.ndarray) -> list[Fraction]:
    column = flint.fmpq_mat(game.m, 1, [fmpq(x) for x in N.tolist()])
    value = game.exact_matrix() * column + game.exact_b()
    return [fraction(value[i, 0]) for i in range(game.m)]


def random_game(m: int, seed: int, size: float = 1.0) -> AffineGame:
    rng = np.random.default_rng(seed)
    A = size * (rng.normal(size=(m, m)) + m * np.eye(m))
    return AffineGame(A, size * rng.normal(size=m), -np.ones(m), np.ones(m))


def discovery(m: int = 5, seed: int = 0) -> DiscoveryGame:
    rng = np.random.default_rng(seed)
    labels = rng.dirichlet(np.full(10, 0.5), size=m)
    return DiscoveryGame(
        labels, rng.uniform(0, 0.5, m), np.ones(m), 100 * np.ones(m), 1e-2, rng.uniform(1e-4, 1e-3, m)
    )


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_F_error_bounds_the_true_error_and_is_not_loose(size: float) -> None:
    game = random_game(7, seed=3, size=size)
    points = np.random.default_rng(1).normal(size=(50, 7))
    value, bound = game.F(points), game.F_error(points)
    for k in range(50):
        error = [
            abs(Fraction(v) - e) for v, e in zip(value[k].tolist(), exact_F(game, points[k]), strict=True)
        ]
        assert all(e <= Fraction(b) for e, b in zip(error, bound[k].tolist(), strict=True))
    assert np.max(bound) < 1e-13 * size * 100


@pytest.mark.parametrize("make", [lambda: random_game(9, 5), lambda: discovery(9, 2)])
def test_accurate_F_is_within_its_bound_and_far_sharper(make) -> None:  # type: ignore[no-untyped-def]
    game = make()
    N = np.random.default_rng(2).normal(size=9) * 30
    value, bound = game.accurate_F(N)
    for v, b, e in zip(value.tolist(), bound.tolist(), exact_F(game, N), strict=True):
        assert abs(Fraction(v) - e) <= Fraction(b)
    assert np.all(bound <= 2.0**-52 * np.abs(value) + 1e-28)


def test_accurate_F_survives_cancellation() -> None:
    game = AffineGame([[1.0, 0.0], [0.0, 1.0]], [-1.0, 0.0], [0.0, 0.0], [2.0, 2.0])
    N = np.array([1.0 + 2.0**-52, 0.0])
    assert game.accurate_F(N)[0][0] == 2.0**-52


def test_rotation_has_exact_modulus_and_a_norm_within_an_ulp() -> None:
    game = AffineGame([[1.0, -1.0], [1.0, 1.0]], [0.0, 0.0], [-1.0, -1.0], [1.0, 1.0])
    constants = game.constants()
    assert constants["mu_F"].value == 1.0
    assert constants["mu_F"].provenance is Provenance.EXACT
    L = constants["L_F"].value
    assert isinstance(L, float)
    assert Fraction(L) ** 2 >= 2
    assert np.sqrt(2) <= L <= np.sqrt(2) * (1 + 1e-12)


@pytest.mark.parametrize("m", [3, 12, 40])
def test_constants_bracket_the_float_estimates(m: int) -> None:
    game = random_game(m, seed=m)
    constants = game.constants()
    smallest = np.linalg.eigvalsh((game.A + game.A.T) / 2)[0]
    assert smallest * (1 - 1e-9) < constants["mu_F"].value <= smallest * (1 + 1e-13)
    largest = np.linalg.norm(game.A, 2)
    assert largest * (1 - 1e-13) <= constants["L_F"].value < largest * (1 + 1e-9)


def test_C_F_bounds_F_everywhere_and_is_attained_at_a_vertex() -> None:
    game = random_game(4, seed=8)
    points = np.random.default_rng(0).uniform(-1, 1, size=(2000, 4))
    vertices = np.sign(points)
    reached = np.linalg.norm(game.F(vertices), axis=1).max()
    C_F = game.constants()["C_F"].value
    assert np.linalg.norm(game.F(points), axis=1).max() <= C_F
    assert pytest.approx(reached, rel=1e-12) == C_F


def test_C_F_of_a_larger_game_bounds_random_vertices() -> None:
    game = random_game(30, seed=9)
    vertices = np.sign(np.random.default_rng(0).normal(size=(500, 30)))
    assert np.linalg.norm(game.F(vertices), axis=1).max() <= game.constants()["C_F"].value


def test_D_N_is_half_the_squared_diagonal() -> None:
    game = AffineGame(np.eye(2), [0.0, 0.0], [1.0, 2.0], [4.0, 6.0])
    assert game.constants()["D_N"].value == pytest.approx(np.sqrt(12.5), rel=1e-14)


def test_a_client_that_cannot_move_does_not_count_for_mu_F() -> None:
    game = AffineGame([[2.0, 0.0], [0.0, -1.0]], [0.0, 0.0], [0.0, 3.0], [1.0, 3.0])
    assert game.constants()["mu_F"].value == 2.0


def test_an_indefinite_game_has_no_mu_F() -> None:
    game = AffineGame([[1.0, 0.0], [0.0, -1.0]], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0])
    assert "mu_F" not in game.constants()


@pytest.mark.parametrize("make", [lambda: random_game(5, 1), discovery])
def test_F_is_the_own_derivative_of_the_utility_losses(make) -> None:  # type: ignore[no-untyped-def]
    game = make()
    N = game.lower + 0.3 * (game.upper - game.lower)
    for i in range(game.m):
        step = np.zeros(game.m)
        step[i] = 1e-4
        slope = (game.utility_losses(N + step)[i] - game.utility_losses(N - step)[i]) / 2e-4
        assert slope == pytest.approx(game.F(N)[i], abs=1e-7)


def test_discovery_game_is_its_formula() -> None:
    game = discovery()
    N = np.linspace(3, 40, 5)
    Q = game.labels
    expected = [
        game.cost_rate[i] - Q[i] @ Q[i] + game.regulariser * N[i] + game.congestion[i] * (N.sum() + N[i])
        for i in range(5)
    ]
    np.testing.assert_allclose(game.F(N), expected, rtol=1e-13)
    np.testing.assert_allclose(game.matrix @ N + game.b, expected, rtol=1e-12)
    assert not np.allclose(game.matrix, game.matrix.T)
    np.testing.assert_allclose(game.payoffs(N), Q @ Q.T @ N, rtol=1e-13)


def test_discovery_game_without_congestion_is_decoupled() -> None:
    game = DiscoveryGame([[0.5, 0.5], [1.0, 0.0]], [0.1, 0.2], 1.0, [10.0, 20.0], regulariser=1e-5)
    assert np.count_nonzero(game.matrix - np.diag(np.diag(game.matrix))) == 0
    assert game.constants()["mu_F"].value == 1e-5


def test_batches_follow_the_leading_axes() -> None:
    for game in (random_game(4, 0), discovery(4, 0)):
        points = np.random.default_rng(5).uniform(1, 2, size=(2, 3, 4))
        for function in (game.F, game.F_error, game.utility_losses):
            batch = function(points)
            assert batch.shape == (2, 3, 4)
            np.testing.assert_allclose(batch[1, 2], function(points[1, 2]), rtol=1e-12)
        assert game.jacobian(points).shape == (2, 3, 4, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": [[1.0, np.nan], [0.0, 1.0]]}, r"A\[0, 1\] = nan: give a finite number"),
        ({"A": [[1.0, 0.0]]}, r"A has shape \(1, 2\): give a square matrix"),
        ({"b": [1.0, np.inf]}, r"b\[1\] = inf: give a finite number"),
        ({"b": [1.0]}, r"b has shape \(1,\): give 2 numbers"),
        ({"lower": [0.0, 5.0]}, r"lower\[1\] = 5.0 > upper\[1\] = 1.0: give lower <= upper"),
        ({"upper": [np.inf, 1.0]}, r"upper\[0\] = inf"),
        ({"A": "x"}, "A: give a matrix of numbers"),
        ({"lower": "x"}, "lower = 'x': give a list of numbers"),
    ],
)
def test_bad_data_ends_with_one_clear_line(change: dict[str, object], message: str) -> None:
    data = {"A": np.eye(2), "b": [0.0, 0.0], "lower": [0.0, 0.0], "upper": [1.0, 1.0]} | change
    with pytest.raises(GameError, match=message):
        AffineGame(**data)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["labels", "cost_rate", "regulariser", "congestion"])
def test_discovery_game_refuses_negative_numbers(name: str) -> None:
    data = {"labels": [[0.5, 0.5], [1.0, 0.0]], "cost_rate": [0.1, 0.2], "lower": 0.0, "upper": 1.0}
    data |= {"labels": [[0.5, -0.5], [1.0, 0.0]]} if name == "labels" else {name: -1.0}
    with pytest.raises(GameError, match=f"{name} = -"):
        DiscoveryGame(**data)  # type: ignore[arg-type]
