"""Every method against every other, and the policy of games.solve: what it accepts, and what it says."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

import games.engines
import games.low_rank
from games import (
    AffineGame,
    Certificate,
    CommonPoolGame,
    DiscoveryGame,
    Engine,
    GameError,
    Method,
    NotSolved,
    PowerLawGame,
    SkewGame,
    SmoothPoolGame,
    UserGame,
    solve,
)
from games.certificates import tangent_residual
from games.generate import affine_game, random_monotone
from games.lemke import lemke
from games.pivoting import FREE, block_pivoting, guess_state
from games.polish import state_of
from games.recheck import recheck
from games.solving import scale
from games.strategies import affine_games, discovery_games, monotone_games, nonlinear_games, starts

# a dozen examples by default, more in the nightly profile
FEW = settings(max_examples=max(12, settings.default.max_examples * 3 // 10))


@FEW
@given(affine_games())
def test_strongly_monotone_games_of_every_corner_are_solved_and_rechecked(game: AffineGame) -> None:
    plain, proof = solve(game), solve(game, certificate="proof")
    assert plain.residual <= 1e-9 * scale(game, plain.N)
    assert proof.certificate is Certificate.PROOF
    assert np.linalg.norm(plain.N - proof.N) <= plain.error_bound + proof.error_bound
    assert recheck(game, plain).stands is True
    assert recheck(game, proof).stands is True
    assert proof.unique is True


@FEW
@given(discovery_games())
def test_discovery_games_are_proven(game) -> None:  # type: ignore[no-untyped-def]
    found = solve(game, certificate="proof")
    assert found.exact is not None
    assert recheck(game, found).stands is True


@FEW
@given(monotone_games())
def test_merely_monotone_games_are_solved_and_rechecked(game) -> None:  # type: ignore[no-untyped-def]
    found = solve(game, certificate="proof")
    assert found.certificate is Certificate.PROOF
    assert recheck(game, found).stands is True


@FEW
@given(nonlinear_games())
def test_nonlinear_games_are_solved_or_said_not_to_be(game) -> None:  # type: ignore[no-untyped-def]
    found = solve(game)
    assert tangent_residual(game, found.N) <= 1e-9 * scale(game, found.N)
    assert recheck(game, found).stands is True


@FEW
@given(st.data())
def test_the_start_does_not_change_the_equilibrium(data) -> None:  # type: ignore[no-untyped-def]
    game = data.draw(affine_games(m=(1, 4), scales=(1.0, 1.0), L=8.0))
    start = data.draw(starts(game))
    cold, warm = solve(game), solve(game, start=start)
    assert np.linalg.norm(cold.N - warm.N) <= cold.error_bound + warm.error_bound


@pytest.mark.parametrize("method", list(Method))
@pytest.mark.parametrize("seed", range(3))
def test_all_methods_agree_within_their_proven_errors(method: Method, seed: int) -> None:
    made = affine_game(np.random.default_rng(seed), 6, 1.0, 20.0, 0.7)
    game = made.game
    assert made.N_star is not None
    reference = solve(game, certificate="proof")
    found = solve(game, tol=1e-8, method=method)
    assert found.method is method
    assert np.linalg.norm(found.N - reference.N) <= found.error_bound + reference.error_bound
    assert np.linalg.norm(found.N - made.N_star) <= 1e-6


@pytest.mark.parametrize("method", [Method.LEMKE, Method.PROXIMAL_POINT, Method.GAP_QP])
@pytest.mark.parametrize("seed", range(6))
def test_merely_monotone_methods_reach_an_equilibrium(method: Method, seed: int) -> None:
    game = random_monotone(np.random.default_rng(seed)).game
    found = solve(game, tol=1e-7, method=method)
    assert tangent_residual(game, found.N) <= 1e-7 * scale(game, found.N)  # type: ignore[arg-type]
    assert found.error_bound == np.inf
    assert "bounds no distance" in found.note


def test_large_merely_monotone_games_go_to_the_proximal_point_method() -> None:
    rng = np.random.default_rng(0)
    P, R, B = (rng.normal(size=(320, 2)) for _ in range(3))
    game = SkewGame(P, R, rng.normal(size=320), -np.ones(320), np.ones(320), B)
    found = solve(game, tol=1e-7)
    assert found.method is Method.PROXIMAL_POINT
    assert found.residual <= 1e-7 * scale(game, found.N)


def test_lemke_solves_what_block_pivoting_gives_up() -> None:
    rng = np.random.default_rng(3)
    skew = rng.normal(size=(40, 40))
    half = rng.normal(size=(40, 40))
    A = half @ half.T / 40 + 0.1 * np.eye(40) + 2 * (skew - skew.T)
    game = AffineGame(A, 3 * rng.normal(size=40), -rng.uniform(0.1, 1, 40), rng.uniform(0.1, 1, 40))
    start = guess_state(A, game.b, game.lower, game.upper)
    assert not block_pivoting(A, game.b, game.lower, game.upper, start).consistent
    found = solve(game)
    assert found.method is Method.LEMKE
    assert found.error_bound < 1e-9


def test_lemke_on_a_box_that_is_one_point() -> None:
    lower = np.array([1.0, 2.0])
    found = lemke(np.eye(2), np.zeros(2), lower, lower)
    assert found.consistent
    assert found.N.tolist() == [1.0, 2.0]


@pytest.mark.skipif(find_spec("numba") is None, reason="the extra 'fast' is not installed")
@pytest.mark.parametrize("m", [1, 5, 60, 130])
@pytest.mark.parametrize("condition", [10.0, 1000.0])
def test_numba_and_numpy_find_the_same_active_set(m: int, condition: float) -> None:
    game = affine_game(np.random.default_rng(m), m, 1.0, condition).game
    fast, plain = solve(game, engine="numba"), solve(game, engine="numpy")
    assert fast.at_lower.tolist() == plain.at_lower.tolist()
    assert np.linalg.norm(fast.N - plain.N) <= fast.error_bound + plain.error_bound


def test_without_numba_auto_is_numpy_and_asking_for_numba_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(games.engines, "find_spec", lambda name: None)
    assert games.engines.choose("auto") is Engine.NUMPY
    with pytest.raises(GameError, match="install the extra 'fast'"):
        games.engines.choose("numba")
    with pytest.raises(GameError, match="engine = 'gpu'"):
        games.engines.choose("gpu")


def test_large_solves_run_with_one_blas_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    import games.solving

    seen: list[int] = []
    real = games.solving.pivot

    def watching(*data):  # type: ignore[no-untyped-def]
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return real(*data)

    monkeypatch.setattr(games.solving, "pivot", watching)
    with threadpool_limits(2):
        solve(affine_game(np.random.default_rng(0), 120).game, engine="numpy")
    assert set(seen) == {1}


def test_a_solver_that_lies_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The status is not believed: a wrong active set declared consistent ends in NotSolved or another
    method."""
    import games.solving

    real = games.solving.pivot

    def lying(A, b, lower, upper, state, engine):  # type: ignore[no-untyped-def]
        found = real(A, b, lower, upper, state, engine)
        wrong = np.full(b.size, FREE, dtype=np.int8)
        return type(found)(lower.copy(), wrong, True, 1)

    monkeypatch.setattr(games.solving, "pivot", lying)
    game = affine_game(np.random.default_rng(0), 6).game
    found = solve(game)
    assert found.method is Method.LEMKE
    with pytest.raises(NotSolved):
        solve(game, method=Method.PIVOTING)


def test_a_pool_has_no_single_equilibrium_and_says_so() -> None:
    found = solve(CommonPoolGame(100.0, np.ones(4), 40 * np.ones(4)), certificate="proof")
    assert found.unique is None
    assert float(sum(found.exact or ())) == 100.0


def test_an_isolated_equilibrium_of_a_merely_monotone_game_is_proven_unique() -> None:
    """Matching pennies: skew, one interior equilibrium."""
    game = SkewGame([[1.0], [0.0]], [[0.0], [1.0]], [-0.25, 0.5], [-1.0, -1.0], [1.0, 1.0])
    found = solve(game, certificate="proof")
    assert found.unique is True
    assert [float(x) for x in found.exact or ()] == [0.5, 0.25]


def test_a_nonmonotone_game_is_solved_with_a_warning() -> None:
    game = AffineGame([[-1.0, 0.0], [0.0, 1.0]], [0.25, 0.0], [-1.0, -1.0], [1.0, 1.0])
    found = solve(game)
    assert found.unique is None
    assert "other equilibria may exist" in found.note
    assert found.error_bound == np.inf


class Spiral:
    """A user's strongly monotone map."""

    lower = np.zeros(3)
    upper = 2.0 * np.ones(3)

    def F(self, N: np.ndarray) -> np.ndarray:
        """N - target + a rotation."""
        return N - np.array([0.5, 3.0, -1.0]) + 0.3 * np.roll(N, 1, axis=-1)


def test_a_users_game_is_solved_but_not_proven() -> None:
    game = UserGame(Spiral(), {"mu_F": 0.5})
    found = solve(game, certificate="proof")
    np.testing.assert_allclose(found.N, [0.5, 2.0, 0.0], atol=1e-8)
    assert found.method is Method.GOLDEN_RATIO
    assert found.provenance == "estimated"
    assert "rounding error of F is unknown" in found.note


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"F": None}, "no F; give lower, upper, F"),
        ({"F": lambda N: N[..., :2]}, "returns shape"),
        ({"F": lambda N: N * np.nan}, "at the middle of the box"),
        ({"lower": 3.0 * np.ones(3)}, r"lower\[0\] = 3.0 > upper\[0\] = 2.0"),
    ],
)
def test_bad_user_games_end_with_one_clear_line(change: dict[str, object], message: str) -> None:
    class Mine:
        lower = np.zeros(3)
        upper = 2.0 * np.ones(3)
        F = staticmethod(lambda N: N)

    for key, value in change.items():
        if value is None:
            delattr(Mine, key)
        else:
            setattr(Mine, key, staticmethod(value) if callable(value) else value)
    with pytest.raises(GameError, match=message):
        UserGame(Mine())


def test_unknown_constants_of_a_user_game_are_refused() -> None:
    with pytest.raises(GameError, match="unknown key mu"):
        UserGame(Spiral(), {"mu": 1.0})
    with pytest.raises(GameError, match="L_F = -1"):
        UserGame(Spiral(), {"L_F": -1.0})


def test_methods_that_do_not_fit_are_refused() -> None:
    pool = SmoothPoolGame(10.0, np.ones(3), 9 * np.ones(3))
    with pytest.raises(GameError, match="only for affine games"):
        solve(pool, method="Lemke")
    with pytest.raises(GameError, match="method = 'magic'"):
        solve(pool, method="magic")
    saddle = AffineGame([[-1.0]], [0.0], [-1.0], [1.0])
    with pytest.raises(GameError, match="not proven monotone"):
        solve(saddle, method="gap QP")
    with pytest.raises(GameError, match="start = "):
        solve(saddle, start=np.array([np.nan]))


def test_a_flat_cubic_pool_reaches_the_tolerance() -> None:
    game = SmoothPoolGame(100.0, np.ones(4), 40 * np.ones(4))
    assert solve(game).residual <= 1e-9


def test_the_power_law_game_sends_everybody_to_a_bound() -> None:
    game = PowerLawGame([1.0, 2.0, 9.0], [0.5, 0.5, 0.5], [1.0, 1.0, 1.0], [50.0, 60.0, 70.0])
    found = solve(game, certificate="proof")
    assert found.at_lower.tolist() == [True, True, False]
    assert found.at_upper.tolist() == [False, False, True]


def test_state_of_names_the_pushed_clients() -> None:
    game = AffineGame(np.eye(3), [1.0, -5.0, 0.0], [0.0, 0.0, -1.0], [1.0, 1.0, 1.0])
    assert state_of(game, np.array([0.0, 1.0, 0.0])).tolist() == [-1, 1, 0]


def test_ten_thousand_discovery_clients_are_solved_without_a_matrix() -> None:
    rng = np.random.default_rng(0)
    m = 10_000
    labels = rng.dirichlet(np.full(10, 0.5), size=m)
    congestion = rng.uniform(1e-9, 2e-9, m)
    game = DiscoveryGame(labels, rng.uniform(0, 0.4, m), 1.0, 200.0, 1e-3, congestion)
    found = solve(game)
    assert "_dense" not in vars(game)
    assert 0 < game.monotonicity.value < 1e-3
    assert found.error_bound < 1e-8
    assert found.residual <= 1e-9 * scale(game, found.N)
    assert np.count_nonzero(found.at_lower) > 100
    assert np.count_nonzero(~(found.at_lower | found.at_upper)) > 100


def test_the_constants_without_a_matrix_bound_the_sharp_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    data = (rng.dirichlet(np.ones(10), size=30), 0.1, 1.0, 50.0, 1e-2, rng.uniform(1e-4, 2e-4, 30))
    sharp = DiscoveryGame(*data).constants()
    monkeypatch.setattr(games.low_rank, "DENSE_SIZE", 0)
    rough = DiscoveryGame(*data).constants()
    assert 0 < rough["mu_F"].value <= sharp["mu_F"].value
    assert sharp["L_F"].value <= rough["L_F"].value <= 3 * sharp["L_F"].value
    assert sharp["C_F"].value <= rough["C_F"].value * (1 + 1e-12)
    level = DiscoveryGame(
        data[0], 0.1, 1.0, 50.0, 1e-2, 2.0**-12
    )  # c 1 1': semidefinite, it costs the modulus nothing
    assert level.monotonicity.value == pytest.approx(1e-2 + 2.0**-12, rel=1e-9)


@pytest.mark.parametrize("start", [-1, 0, 1])
def test_block_pivoting_leaves_any_active_set(start: int) -> None:
    made = affine_game(np.random.default_rng(5), 12, 1.0, 10.0)
    game = made.game
    assert isinstance(game, AffineGame)
    state = np.full(12, start, dtype=np.int8)
    found = block_pivoting(game.A, game.b, game.lower, game.upper, state)
    assert found.consistent
    np.testing.assert_allclose(found.N, made.N_star, atol=1e-12)
