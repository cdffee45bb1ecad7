"""Gaps and regret: brackets that contain what a fine grid finds, and are tight where the theory says so."""

import numpy as np
import pytest

import games.gaps
from games import AffineGame, CommonPoolGame, GameError, PowerLawGame, SmoothPoolGame, UserGame, solve
from games.composite import Composite
from games.gaps import dual_gap, is_nash, primal_gap, range_F, regret
from games.generate import affine_game, random_monotone, random_nonlinear
from games.surrogate import Piece, bound_over


def by_sampling(game, N: np.ndarray, count: int = 4000) -> float:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    x = rng.uniform(game.lower, game.upper, size=(count, game.m))
    corners = np.where(rng.uniform(size=(count, game.m)) < 0.5, game.lower, game.upper)
    points = np.concatenate([x, corners])
    return float(np.max(np.sum(game.F(points) * (N - points), axis=1)))


@pytest.mark.parametrize("seed", range(8))
def test_affine_gaps_are_tight_and_above_every_sample(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game = affine_game(rng, 4).game if seed % 2 else random_monotone(rng).game
    N = rng.uniform(game.lower, game.upper)
    dual, primal = dual_gap(game, N), primal_gap(game, N)
    assert by_sampling(game, N) <= dual.high * (1 + 1e-12) + 1e-12
    assert dual.low <= dual.high <= primal.high + 1e-9 * primal.high
    assert dual.high - dual.low <= 1e-6 * max(1.0, dual.high)
    assert primal.high - primal.low <= 1e-9 * max(1.0, primal.high)


def test_gaps_of_a_pool_in_closed_form() -> None:
    """F = (s - 100) 1: Gap(N) = sup (s - 100)(40 - s) = 900 at s = 70; primal (40 - 100)(40 - 160) = 7200."""
    game = CommonPoolGame(100.0, np.ones(4), 40 * np.ones(4))
    N = 10.0 * np.ones(4)
    dual, primal = dual_gap(game, N), primal_gap(game, N)
    assert dual.low <= 900.0 <= dual.high
    assert dual.high - dual.low < 1e-9
    assert primal.low <= 7200.0 <= primal.high


def test_gaps_vanish_at_the_equilibrium_and_not_elsewhere() -> None:
    made = affine_game(np.random.default_rng(1), 5)
    N = solve(made.game).N
    assert dual_gap(made.game, N).high < 1e-12
    assert primal_gap(made.game, N).high < 1e-12
    away = made.game.project(N + 0.1)
    assert dual_gap(made.game, away).low > 1e-4


def test_a_pool_of_seven_is_bracketed_to_a_ten_thousandth() -> None:
    """F = phi'(s - 20) 1 on [0, 10]^7, N = 1: on the slice sum x = s the gap is F(s) (7 - s), one-dimensional."""
    game = SmoothPoolGame(20.0, np.zeros(7), 10 * np.ones(7))
    bracket = dual_gap(game, np.ones(7), tol=1e-4)
    s = np.linspace(0, 70, 700_001)
    slope = game.F(np.repeat(s[::1000, None] / 7, 7, axis=1))[:, 0]
    np.testing.assert_allclose(slope, (s[::1000] - 20) ** 3, rtol=1e-9, atol=1e-6)
    exact = float(np.max((s - 20) ** 3 * (7 - s)))
    assert bracket.low <= exact * (1 + 1e-9)
    assert exact <= bracket.high * (1 + 1e-12)
    assert bracket.high - bracket.low <= 1e-4 * bracket.high


@pytest.mark.parametrize("seed", [1, 3])
def test_the_surrogate_bound_lies_above_every_point_of_its_piece(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game = random_nonlinear(rng, largest=7).game
    assert isinstance(game, Composite)
    assert game.modulus >= 0
    N = rng.uniform(game.lower, game.upper)
    for _ in range(8):
        ends = np.sort(rng.uniform(game.lower, game.upper, (2, game.m)), axis=0)
        piece = Piece(ends[0], ends[1], *game.arguments_on(ends[0], ends[1]))
        bound = bound_over(game, N, piece, False).bound
        x = rng.uniform(ends[0], ends[1], (4000, game.m))
        assert np.max(np.sum(game.F(x) * (N - x), axis=1)) <= bound * (1 + 1e-12) + 1e-12


def test_a_slice_of_a_pool_is_bounded_above_all_its_points_to_second_order() -> None:
    game = SmoothPoolGame(20.0, np.zeros(7), 10 * np.ones(7))
    excess = []
    for width in (2.0, 1.0, 0.5):
        piece = Piece(game.lower, game.upper, np.array([12.0]), np.array([12.0 + width]))
        s = np.linspace(12.0, 12.0 + width, 1001)
        excess.append(bound_over(game, np.ones(7), piece, True).bound - np.max((s - 20) ** 3 * (7 - s)))
    assert excess[0] > 0
    assert 0 <= excess[1] <= excess[0] / 3
    assert 0 <= excess[2] <= excess[1] / 3


@pytest.mark.parametrize("seed", range(5))
def test_nonlinear_dual_gaps_are_above_every_sample(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game = random_nonlinear(rng, largest=3).game
    N = rng.uniform(game.lower, game.upper)
    bracket = dual_gap(game, N, boxes=16)
    assert 0 <= bracket.low <= bracket.high
    assert by_sampling(game, N) <= bracket.high * (1 + 1e-9)


def test_a_two_client_nonlinear_gap_is_closed_in_by_branch_and_bound() -> None:
    """F = (s - 5)^3 1 on [0, 10]^2 at N = (1, 1): sup (s - 5)^3 (2 - s), at s = 2.75."""
    game = SmoothPoolGame(5.0, np.zeros(2), 10 * np.ones(2))
    bracket = dual_gap(game, np.ones(2), tol=1e-2, boxes=20)
    assert bracket.low <= 2.25**3 * 0.75 * (1 + 1e-9)
    assert bracket.low >= 2.25**3 * 0.75 * (1 - 1e-6)
    assert 2.25**3 * 0.75 <= bracket.high < 0.5 * primal_gap(game, np.ones(2)).high
    assert dual_gap(game, np.ones(2), boxes=40).high < bracket.high


@pytest.mark.parametrize("seed", range(6))
def test_range_of_F_contains_F(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game = random_nonlinear(rng).game if seed % 2 else affine_game(rng, 4).game
    low, high = range_F(game, game.lower, game.upper)  # type: ignore[arg-type]
    values = game.F(rng.uniform(game.lower, game.upper, size=(500, game.m)))
    assert np.all(values >= low)
    assert np.all(values <= high)


@pytest.mark.parametrize("seed", range(8))
def test_regret_brackets_contain_a_fine_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game = random_nonlinear(rng).game if seed % 2 else affine_game(rng, 4).game
    N = rng.uniform(game.lower, game.upper)
    brackets = regret(game, N)
    for i in range(game.m):
        line = np.repeat(N[None], 4001, axis=0)
        line[:, i] = np.linspace(game.lower[i], game.upper[i], 4001)
        losses = game.utility_losses(line)[:, i]
        found = float(game.utility_losses(N)[i] - np.min(losses))
        size = float(np.max(np.abs(losses))) + 1.0
        assert brackets[i].low - 1e-12 * size <= found + 1e-5 * size
        assert found <= brackets[i].high + 1e-12 * size
        assert brackets[i].high - brackets[i].low <= 2e-2 * max(1e-3, float(np.ptp(losses)))


def test_a_stationary_point_that_is_no_equilibrium_is_exposed() -> None:
    """l_1 = -N_1^2/2 is concave: 0 is stationary, but both ends are better by 1/2."""
    game = AffineGame([[-1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], [-1.0, -1.0], [1.0, 1.0])
    N = np.zeros(2)
    assert primal_gap(game, N).high < 1e-290
    assert is_nash(game, N, 1e-6) is False
    assert regret(game, N)[0].low == pytest.approx(0.5)
    assert regret(game, N)[1].high < 1e-290


def test_is_nash_of_a_proven_equilibrium() -> None:
    made = affine_game(np.random.default_rng(2), 4)
    assert is_nash(made.game, solve(made.game).N, 1e-9) is True


def test_a_distant_minimum_of_a_power_law_client_is_found() -> None:
    """At the far end the first client's loss falls again: local stationarity at the near end misses it."""
    game = PowerLawGame([1.0, 4.0], [0.2, 1.0], [1.0, 1.0], [1000.0, 1.0])
    N = np.array([1.0, 1.0])
    line = np.stack([np.linspace(1.0, 1000.0, 100001), np.ones(100001)], axis=1)
    losses = game.utility_losses(line)[:, 0]
    expected = losses[0] - losses.min()
    bracket = regret(game, N)[0]
    assert bracket.low <= expected <= bracket.high + 1e-12
    assert bracket.high - bracket.low < 1e-2


def test_a_users_game_has_no_gap() -> None:
    class Mine:
        lower = np.zeros(2)
        upper = np.ones(2)
        F = staticmethod(lambda N: N)

    game = UserGame(Mine())
    for function in (dual_gap, regret):
        with pytest.raises(GameError, match="no enclosures"):
            function(game, np.zeros(2))


def test_the_upper_end_does_not_rest_on_the_maximiser_found(monkeypatch: pytest.MonkeyPatch) -> None:
    game = affine_game(np.random.default_rng(4), 4).game
    N = game.project(np.full(4, 0.3))
    sharp = dual_gap(game, N)
    for poor in (game.lower, game.upper, np.zeros(4)):
        monkeypatch.setattr(games.gaps, "monotone_point", lambda *_, poor=poor: poor)
        rough = dual_gap(game, N)
        assert rough.low <= sharp.high
        assert rough.high >= sharp.low
