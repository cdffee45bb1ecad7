"""Nonlinear games: F against the losses, enclosures, constants, and the properties with their witnesses."""

import flint
import numpy as np
import pytest

from games import (
    AffineGame,
    CommonPoolGame,
    ConcaveDiscoveryGame,
    CostlyDiscoveryGame,
    Game,
    GameError,
    PowerLawGame,
    SkewGame,
    SmoothPoolGame,
    UserGame,
    properties,
    solve,
)
from games.certificates import prove_smooth
from games.composite import Composite
from games.generate import random_nonlinear
from games.properties import product_of_differences

LABELS = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [1.0, 0.0, 0.0]])


def examples() -> list[Game]:
    ones = np.ones(3)
    return [
        CostlyDiscoveryGame(LABELS, 0.125, ones, 20 * ones, 0.25, [0.0, 0.01, 0.02], 0.125, [0.1, 0.2, 0.0]),
        ConcaveDiscoveryGame(LABELS, 0.02, ones, 30 * ones, 0.01, 2.0),
        SmoothPoolGame(20.0, ones, 15 * ones, 0.125),
        PowerLawGame([1.0, 2.0, 0.5], [0.5, 0.25, 1.0], ones, 40 * ones),
        CommonPoolGame(20.0, ones, 15 * ones, 0.5),
        SkewGame(
            [[1.0], [2.0], [0.5]], [[0.0], [1.0], [-1.0]], [0.1, 0.2, 0.3], -ones, ones, [[1.0], [0.0], [1.0]]
        ),
    ]


@pytest.mark.parametrize("game", examples(), ids=lambda g: type(g).__name__)
def test_F_is_the_own_derivative_of_the_losses_and_the_jacobian_its_derivative(game: Game) -> None:
    N = game.lower + np.array([0.3, 0.5, 0.8]) * (game.upper - game.lower)
    step = 1e-5
    for i in range(3):
        shift = step * np.eye(3)[i]
        slope = (game.utility_losses(N + shift) - game.utility_losses(N - shift)) / (2 * step)
        assert slope[i] == pytest.approx(game.F(N)[i], rel=1e-6, abs=1e-7)
        column = (game.F(N + shift) - game.F(N - shift)) / (2 * step)
        np.testing.assert_allclose(game.jacobian(N)[:, i], column, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("game", examples()[:4], ids=lambda g: type(g).__name__)
def test_enclosures_and_error_bounds_hold(game: Composite) -> None:
    points = np.random.default_rng(0).uniform(game.lower, game.upper, size=(6, 3))
    bound = game.F_error(points)
    assert np.all(bound <= game.roundings(points))
    assert np.all(bound < 1e-11 * (1 + np.abs(game.F(points))))
    for N, value, error in zip(points, game.F(points), bound, strict=True):
        for ball, v, e in zip(game.enclose_F([flint.arb(x) for x in N.tolist()]), value, error, strict=True):
            assert not abs(ball - float(v)) > float(e)
        J = game.enclose_jacobian([flint.arb(x) for x in N.tolist()])
        close = np.array([[float(J[i, j].mid()) for j in range(3)] for i in range(3)])
        np.testing.assert_allclose(game.jacobian(N), close, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("seed", range(12))
def test_constants_hold_on_samples(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game = random_nonlinear(rng).game
    constants = game.constants()
    x, y = rng.uniform(game.lower, game.upper, size=(2, 300, game.m))
    difference, image = x - y, game.F(x) - game.F(y)
    length = np.linalg.norm(difference, axis=1)
    assert np.all(np.linalg.norm(image, axis=1) <= constants["L_F"].value * length * (1 + 1e-9) + 1e-12)
    assert np.all(np.linalg.norm(game.F(x), axis=1) <= constants["C_F"].value)
    if "mu_F" in constants:
        inner = np.sum(image * difference, axis=1)
        slack = 1e-12 * np.linalg.norm(image, axis=1) * length
        assert np.all(inner >= constants["mu_F"].value * length**2 - slack)


def test_mu_of_separable_costs_is_sharp() -> None:
    """Exponential cost with congestion 0: the modulus is quadratic + scale rate^2 exp(rate lower)."""
    game = CostlyDiscoveryGame([[1.0], [1.0]], 0.0, [1.0, 1.0], [9.0, 9.0], 0.5, 0.0, 0.25, [1.0, 2.0])
    assert game.modulus == pytest.approx(0.5 + 0.25 * np.e, rel=1e-10)
    assert game.modulus <= 0.5 + 0.25 * np.e


@pytest.mark.parametrize("game", examples(), ids=lambda g: type(g).__name__)
def test_properties_never_contradict_samples(game: Game) -> None:
    found = properties(game)
    rng = np.random.default_rng(3)
    x, y = rng.uniform(game.lower, game.upper, size=(2, 3000, 3))
    inner = np.sum((game.F(x) - game.F(y)) * (x - y), axis=1)
    if found.monotone:
        assert np.all(inner >= -1e-10 * np.max(np.abs(inner)))
    if found.monotone is False:
        assert found.witness is not None
        assert product_of_differences(game, *found.witness) < 0  # type: ignore[arg-type]
        for point in found.witness:
            assert np.all((point >= game.lower) & (point <= game.upper))
    own = np.diagonal(game.jacobian(x[:200]), axis1=1, axis2=2)
    for i, convex in enumerate(found.convex):
        if convex:
            assert np.all(own[:, i] >= -1e-12)
    if found.convexity_witness is not None:
        i, N = found.convexity_witness
        assert game.jacobian(N)[i, i] < 0


def test_known_properties() -> None:
    costly, _, pool, power, common, skew = (properties(g) for g in examples())
    assert (costly.strongly_monotone, costly.unique, costly.potential) == (True, True, False)
    assert (pool.monotone, pool.mu_F, pool.potential) == (True, 0.0, True)
    assert power.monotone is False
    assert False in power.convex
    assert (common.monotone, common.strongly_monotone, common.potential) == (True, False, True)
    assert (skew.monotone, skew.strongly_monotone, skew.potential) == (True, False, False)


def test_an_indefinite_affine_game_has_an_exact_witness() -> None:
    game = AffineGame([[1.0, 3.0], [0.0, 1.0]], [0.0, 0.0], [0.0, 0.0], [1.0, 2.0])
    found = properties(game)
    assert (found.monotone, found.strongly_monotone, found.unique) == (False, False, None)
    assert found.witness is not None
    x, y = found.witness
    assert (game.A @ (x - y)) @ (x - y) < 0
    assert product_of_differences(game, x, y) < 0


def test_a_semidefinite_matrix_of_17_clients_is_decided_in_rationals() -> None:
    ones = np.ones((17, 17))
    game = AffineGame(ones, np.zeros(17), np.zeros(17), np.ones(17))
    assert (properties(game).monotone, properties(game).strongly_monotone) == (True, False)
    nudged = ones.copy()
    nudged[3, 3] -= 2.0**-40
    found = properties(AffineGame(nudged, np.zeros(17), np.zeros(17), np.ones(17)))
    assert found.monotone is False
    assert found.witness is not None


def test_concave_own_losses_have_a_witness() -> None:
    found = properties(AffineGame([[-1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]))
    assert found.convex == (False, True)
    assert found.convexity_witness is not None


def test_a_users_game_is_undecided_or_as_given() -> None:
    class Mine:
        lower = np.zeros(2)
        upper = np.ones(2)
        F = staticmethod(lambda N: N)

    assert properties(UserGame(Mine())).monotone is None
    given = properties(UserGame(Mine(), {"mu_F": 1.0}))
    assert (given.strongly_monotone, given.provenance) == (True, "given")


def test_the_power_law_losses_of_two_clients_sum_to_zero() -> None:
    game = PowerLawGame([1.0, 2.0], [0.5, 0.75], [1.0, 1.0], [50.0, 60.0])
    N = np.random.default_rng(0).uniform(1, 50, size=(20, 2))
    np.testing.assert_allclose(np.sum(game.utility_losses(N), axis=1), 0.0, atol=1e-14)


@pytest.mark.parametrize("certificate", ["residual", "proof"])
def test_nonlinear_proofs_agree_with_a_long_extragradient_run(certificate: str) -> None:
    game = examples()[0]
    found = solve(game, certificate=certificate)
    slow = solve(game, method="extragradient", tol=1e-7)
    assert found.certificate == certificate
    assert found.error_bound < 1e-9
    assert np.linalg.norm(found.N - slow.N) <= found.error_bound + slow.error_bound


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: PowerLawGame([1.0], [2.0], [1.0], [2.0]), r"beta = \[2.0\]: give numbers in"),
        (lambda: PowerLawGame([0.0], [0.5], [1.0], [2.0]), "alpha = 0.0"),
        (lambda: PowerLawGame([1.0], [0.5], [0.0], [2.0]), "positive sum"),
        (lambda: ConcaveDiscoveryGame([[1.0]], 0.1, [-1.0], [2.0]), "lower = -1.0"),
        (lambda: CostlyDiscoveryGame([[1.0]], 0.1, [0.0], [1e4], 0, 0, 1.0, 1.0), "exp overflows"),
        (lambda: CostlyDiscoveryGame([[1.0]], -0.1, [0.0], [1.0]), r"cost_rate\[0\] = -0.1"),
        (lambda: SmoothPoolGame(np.nan, [0.0], [1.0]), r"target\[0\] = nan"),
        (lambda: CommonPoolGame(1.0, [0.0], [1.0], 0.0), "weight = 0.0"),
        (lambda: SkewGame([[1.0]], [[1.0, 2.0]], [0.0], [0.0], [1.0]), "R has shape"),
    ],
)
def test_bad_nonlinear_data_ends_with_one_clear_line(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(GameError, match=message):
        build()


def test_krawczyk_refuses_a_ball_too_wide_to_prove_a_zero() -> None:
    """F = -1 + 2e-4 exp(N/5) vanishes at 42.59: provable from there, not from 41, where J varies too much."""
    game = CostlyDiscoveryGame([[1.0]], 0.0, [0.0], [100.0], 0.0, 0.0, 1e-3, 0.2)
    state = np.zeros(1, dtype=np.int8)
    assert prove_smooth(game, np.array([41.0]), state) is None
    proof = prove_smooth(game, np.array([5 * np.log(5000.0)]), state)
    assert proof is not None
    assert abs(proof.N[0] - 5 * np.log(5000.0)) <= proof.error_bound + 1e-12
