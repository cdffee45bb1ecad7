"""The random games: what they promise holds, every corner occurs, and counterexamples shrink to small
games."""

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from games import AffineGame, Game, GameError, properties
from games.generate import CORNERS, affine_game, random_affine, random_monotone, random_nonlinear
from games.strategies import affine_games, discovery_games, monotone_games, nonlinear_games, schedules, starts

# a dozen examples by default, more in the nightly profile
FEW = settings(max_examples=max(12, settings.default.max_examples * 3 // 10))


@FEW
@given(affine_games())
def test_affine_games_are_strongly_monotone(game: AffineGame) -> None:
    assert game.monotonicity.value > 0


@FEW
@given(discovery_games())
def test_discovery_games_are_strongly_monotone(game) -> None:  # type: ignore[no-untyped-def]
    assert properties(game).strongly_monotone is True


@FEW
@given(monotone_games())
def test_monotone_games_are_monotone(game) -> None:  # type: ignore[no-untyped-def]
    assert properties(game).monotone is True


@FEW
@given(nonlinear_games())
def test_nonlinear_games_have_finite_F(game: Game) -> None:
    assert np.all(np.isfinite(game.F(np.stack([game.lower, game.upper]))))


@FEW
@given(schedules())
def test_schedules_satisfy_the_rate_conditions(schedule: dict[str, float]) -> None:
    assert 0 < schedule["b"] < schedule["a"] < 1
    assert schedule["a"] + schedule["b"] < 1


@FEW
@given(st.data())
def test_starts_lie_in_the_box(data) -> None:  # type: ignore[no-untyped-def]
    game = data.draw(discovery_games())
    start = data.draw(starts(game))
    assert np.all((start >= game.lower) & (start <= game.upper))


def test_corners_are_reached() -> None:
    corners = {
        "one client": lambda g: g.m == 1,
        "equal bounds": lambda g: np.any(g.lower == g.upper),
        "condition beyond 1e5": lambda g: np.linalg.cond(g.A) > 1e5,
        "small": lambda g: np.max(np.abs(g.A)) < 1e-3,
        "large": lambda g: np.max(np.abs(g.A)) > 1e6,
        "nonsymmetric": lambda g: not np.allclose(g.A, g.A.T),
        "multiplier zero at a bound": lambda g: np.any((g.F(g.lower) == 0) | (g.F(g.upper) == 0)),
    }
    seen: set[str] = set()

    @settings(max_examples=100, database=None)
    @given(affine_games())
    def collect(game: AffineGame) -> None:
        seen.update(name for name, holds in corners.items() if holds(game))

    collect()
    assert seen == set(corners)


def test_counterexamples_shrink_to_small_plain_games() -> None:
    game = find(affine_games(), lambda g: g.m >= 2, settings=settings(database=None))
    assert game.m == 2
    assert np.count_nonzero(game.A - np.diag(np.diag(game.A))) == 0
    assert np.all(game.lower == 0)


@pytest.mark.parametrize("condition", [1.0, 1e3])
@pytest.mark.parametrize("active", [0.0, 0.5, 1.0])
def test_the_generator_keeps_its_promises(condition: float, active: float) -> None:
    made = affine_game(np.random.default_rng(0), 12, 1.0, condition, 0.5, active)
    game, N = made.game, made.N_star
    assert isinstance(game, AffineGame)
    assert N is not None
    spectrum = np.linalg.eigvalsh((game.A + game.A.T) / 2)
    assert spectrum[0] == pytest.approx(1.0)
    assert spectrum[-1] == pytest.approx(condition)
    assert np.count_nonzero((game.lower == N) | (game.upper == N)) == round(12 * active)
    np.testing.assert_allclose(game.F(N)[(game.lower < N) & (game.upper > N)], 0.0, atol=1e-11 * condition)


def test_the_generators_reach_every_corner_and_repeat_themselves() -> None:
    seen = {random_affine(np.random.default_rng(k)).corner for k in range(80)}
    assert seen == set(CORNERS)
    kinds = {random_monotone(np.random.default_rng(k)).corner for k in range(40)}
    assert kinds == {"common pool", "discovery", "skew", "skew plus semidefinite"}
    assert len({random_nonlinear(np.random.default_rng(k)).corner for k in range(40)}) == 4
    first, second = (random_affine(np.random.default_rng(5)).game for _ in range(2))
    np.testing.assert_array_equal(first.upper, second.upper)


def test_bad_generator_arguments_end_with_one_clear_line() -> None:
    with pytest.raises(GameError, match="out of range"):
        affine_game(np.random.default_rng(0), 0)
