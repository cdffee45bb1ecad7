"""SOL as a polyhedron, distances to it, welfare selection: against the other description and against hand
work."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings

from games import AffineGame, CommonPoolGame, DiscoveryGame, GameError, SkewGame, SmoothPoolGame, solve
from games.certificates import tangent_residual
from games.gaps import dual_gap
from games.generate import random_monotone
from games.polyhedron import Polyhedron
from games.rounding import fraction
from games.selection import _exact_projection, select, select_by_path
from games.solution_set import distance_to_solutions, solution_set
from games.strategies import monotone_games
from games.welfare import CvxpyWelfare, EntropyWelfare, QuadraticWelfare, SoftplusWelfare

POOL = CommonPoolGame(100.0, np.ones(4), 40 * np.ones(4))


def by_gap_constraint(game, target: np.ndarray) -> np.ndarray:  # type: ignore[no-untyped-def]
    """The projection onto SOL by the description with a gap constraint, written out anew in cvxpy."""
    A, b, lower, upper = game.matrix, game.b, game.lower, game.upper
    S = (A + A.T) / 2
    x0 = np.array([float(fraction(v)) for v in solution_set(game).point])
    x, s, t = cp.Variable(game.m), cp.Variable(game.m, nonneg=True), cp.Variable(game.m, nonneg=True)
    limits = [x >= lower, x <= upper, S @ x == S @ x0, A @ x + b == s - t]
    limits.append(x0 @ S @ x0 + b @ x - lower @ s + upper @ t <= 1e-9)
    cp.Problem(cp.Minimize(cp.sum_squares(x - target)), limits).solve(solver="CLARABEL")
    return np.asarray(x.value)


def test_the_pool_is_a_slice_of_the_box() -> None:
    solutions = solution_set(POOL)
    assert solutions.dimension == 3
    assert solutions.proven_dimension
    assert fraction(sum(solutions.point, start=solutions.point[0] - solutions.point[0])) == 100


@pytest.mark.parametrize("seed", range(6))
def test_both_descriptions_of_SOL_give_the_same_projection(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game = random_monotone(rng, largest=6).game
    target = rng.uniform(game.lower, game.upper)
    found = select(game, QuadraticWelfare(target))  # type: ignore[arg-type]
    other = by_gap_constraint(game, target)
    size = float(np.max(game.upper - game.lower))
    assert found.N is not None
    assert np.linalg.norm(found.N - other) <= 2e-3 * size
    assert np.linalg.norm(found.N - target) <= np.linalg.norm(other - target) + 2e-3 * size


@given(monotone_games(m=(1, 4)))
@settings(max_examples=8)
def test_members_of_SOL_are_equilibria_and_points_off_it_are_not(game) -> None:  # type: ignore[no-untyped-def]
    solutions = solution_set(game)
    middle, _ = solutions.interior
    member = np.array([float(fraction(x)) for x in solutions.member_near(middle)])
    size = 1.0 + float(np.max(np.abs(game.matrix))) * float(np.sum(np.abs(game.upper)))
    assert dual_gap(game, game.project(member)).high <= 1e-9 * size
    far = game.upper
    if distance_to_solutions(game, far, solutions).low > 1e-6:
        assert tangent_residual(game, far) > 0


def test_a_quadratic_target_selects_the_projection_exactly() -> None:
    found = select(POOL, QuadraticWelfare([10.0, 20.0, 30.0, 45.0]))
    assert found.unique is True
    assert found.N is not None
    assert found.N.tolist() == [10.0, 20.0, 30.0, 40.0]
    assert found.error_bound < 1e-290
    assert (found.dimension, found.minimisers_dimension) == (3, 0)
    assert found.tikhonov is not None
    assert found.tikhonov < 1e-6


def test_entropy_selects_the_even_split() -> None:
    found = select(POOL, EntropyWelfare())
    assert found.N is not None
    np.testing.assert_allclose(found.N, 25.0, atol=1e-7)
    assert np.linalg.norm(found.N - 25.0) <= found.error_bound < 1e-2


def test_softplus_does_not_select_and_says_so() -> None:
    found = select(POOL, SoftplusWelfare())
    assert found.unique is False
    assert found.N is None
    assert found.minimisers_dimension == 3
    assert "h does not select" in found.note


def test_softplus_of_the_sum_leaves_a_face_where_the_sum_is_not_fixed() -> None:
    """F = 0 for clients 0, 1, 2: SOL is a cube; the sum is least at one corner, which the sum alone
    selects."""
    labels = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    game = DiscoveryGame(labels, [1.0, 1.0, 0.5], 1.0, 9.0)
    found = select(game, SoftplusWelfare())
    assert found.dimension == 3
    assert found.minimisers_dimension == 0
    assert found.N is not None
    np.testing.assert_allclose(found.N, 1.0, atol=1e-7)


def test_a_skew_game_selects_along_its_line() -> None:
    """Rock-paper-scissors: SOL = {t 1}; the target's mean is selected, with a multiplier for the gap."""
    A = [[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]]
    game = AffineGame(A, [0.0, 0.0, 0.0], -np.ones(3), np.ones(3))
    found = select(game, QuadraticWelfare([0.25, 0.5, 0.75]))
    assert found.N is not None
    assert np.linalg.norm(found.N - 0.5) <= found.error_bound < 1e-6
    assert found.dimension == 1
    assert found.multiplier == pytest.approx(0.125, rel=1e-6)


def test_an_h_of_unknown_strictness_gives_a_representative_only() -> None:
    target = np.array([10.0, 20.0, 30.0, 45.0])
    found = select(POOL, CvxpyWelfare(lambda x: cp.norm(x - target, 1), 4))
    assert found.N is None
    assert found.unique is None
    assert found.value == pytest.approx(5.0, abs=1e-6)
    assert found.bracket.low <= 5.0
    assert (
        found.spread is not None
    )  # the only minimiser, though h is not strictly convex: it is seen to be a point
    assert found.spread.point
    np.testing.assert_allclose(found.spread.lower, [10, 20, 30, 40], atol=1e-4)
    np.testing.assert_allclose(found.spread.upper, [10, 20, 30, 40], atol=1e-4)


def test_an_h_that_does_not_select_gives_the_whole_set() -> None:
    """sum |x - target| with 10 to spare: every x >= target with the sum of the pool is a minimiser."""
    target = np.array([10.0, 20.0, 30.0, 30.0])
    found = select(POOL, CvxpyWelfare(lambda x: cp.norm(x - target, 1), 4))
    assert found.N is None
    assert found.unique is None
    assert found.spread is not None
    assert not found.spread.point
    np.testing.assert_allclose(found.spread.lower, target, atol=1e-3)
    np.testing.assert_allclose(found.spread.upper, [20, 30, 40, 40], atol=1e-3)
    first, second = found.spread.ends
    for end, value in zip(found.spread.ends, found.spread.values, strict=True):
        assert value == pytest.approx(10.0, abs=1e-4)
        assert tangent_residual(POOL, end) <= 1e-9
    assert np.max(np.abs(first - second)) == pytest.approx(found.spread.width, abs=1e-6)
    assert found.spread.width > 9.9
    assert "does not select" in found.note


def test_an_undeclared_strictly_convex_h_is_seen_to_have_one_minimiser() -> None:
    target = np.array([12.0, 20.0, 31.0, 45.0])
    found = select(POOL, CvxpyWelfare(lambda x: cp.sum_squares(x - target) / 2, 4))
    exact = select(POOL, QuadraticWelfare(target))
    assert found.N is None
    assert found.spread is not None
    assert found.spread.point
    assert exact.N is not None
    assert np.all(found.spread.lower <= exact.N + 1e-6)
    assert np.all(found.spread.upper >= exact.N - 1e-6)


def test_a_strongly_convex_cvxpy_welfare_agrees_with_the_built_in_one() -> None:
    target = np.array([12.0, 20.0, 31.0, 45.0])
    mine = CvxpyWelfare(lambda x: cp.sum_squares(x - target) / 2, 4, sigma_h=1.0)
    found, exact = select(POOL, mine), select(POOL, QuadraticWelfare(target))
    assert found.N is not None
    assert exact.N is not None
    assert np.linalg.norm(found.N - exact.N) <= found.error_bound + exact.error_bound


def test_the_selected_equilibrium_of_a_strongly_monotone_game_is_the_equilibrium() -> None:
    game = AffineGame([[2.0, 1.0], [-1.0, 2.0]], [-1.0, 0.5], [0.0, 0.0], [3.0, 3.0])
    found = select(game, SoftplusWelfare())
    assert found.unique is True
    assert found.N is not None
    np.testing.assert_allclose(found.N, solve(game).N, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_distance_brackets_hold_and_are_tight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game = random_monotone(rng, largest=5).game
    N = rng.uniform(game.lower, game.upper)
    bracket = distance_to_solutions(game, N)  # type: ignore[arg-type]
    other = float(np.linalg.norm(by_gap_constraint(game, N) - N))
    size = float(np.max(game.upper - game.lower))
    assert bracket.low <= bracket.high
    assert bracket.high - bracket.low <= 1e-4 * size
    assert bracket.low <= other + 1e-3 * size


def test_distance_to_the_pool_in_closed_form() -> None:
    bracket = distance_to_solutions(POOL, 10.0 * np.ones(4))
    assert bracket.low <= 30.0 <= bracket.high
    assert bracket.high - bracket.low < 1e-9


def test_the_path_brackets_the_welfare_of_a_nonlinear_pool() -> None:
    game = SmoothPoolGame(100.0, np.ones(4), 40 * np.ones(4))
    found = select_by_path(game, QuadraticWelfare([10.0, 20.0, 30.0, 45.0]))
    assert found.bracket.low <= 12.5 <= found.bracket.high + 1e-3
    np.testing.assert_allclose(found.N, [10.0, 20.0, 30.0, 40.0], atol=1e-2)


def test_games_that_are_not_monotone_or_too_large_are_refused() -> None:
    with pytest.raises(GameError, match="not proven monotone"):
        solution_set(AffineGame([[-1.0]], [0.0], [0.0], [1.0]))
    P, R = np.ones((130, 1)), np.arange(130.0)[:, None]
    with pytest.raises(GameError, match="m = 130"):
        solution_set(SkewGame(P, R, np.zeros(130), -np.ones(130), np.ones(130)))


def test_linear_minima_are_proven_below_the_truth() -> None:
    solutions: Polyhedron = solution_set(POOL)
    low, x = solutions.linear_minimum(np.array([1.0, 2.0, 3.0, 4.0]))
    assert low <= 40 + 2 * 40 + 3 * 19 + 4 * 1 <= low + 1e-6
    np.testing.assert_allclose(x, [40.0, 40.0, 19.0, 1.0], atol=1e-7)


def test_exact_membership() -> None:
    solutions = solution_set(POOL)
    assert solutions.contains(solutions.member_near(np.array([30.0, 30.0, 20.0, 21.0])))
    off = list(solutions.point)
    off[0] = off[0] + Fraction(1, 10**30).numerator * (off[0] - off[0]) + type(off[0])(1, 10**30)
    assert not solutions.contains(off)


def test_inequalities_of_SOL_stay_inequalities() -> None:
    """F = (N_2, -N_1) on the unit square: SOL = {0} x [0, 1], where F_1 = N_2 grows from 0 at x0 = (0, 0)."""
    game = AffineGame([[0.0, 1.0], [-1.0, 0.0]], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0])
    assert solution_set(game).dimension == 1
    found = select(game, QuadraticWelfare([0.5, 0.75]))
    assert found.N is not None
    np.testing.assert_allclose(found.N, [0.0, 0.75], atol=1e-12)


def test_the_symmetric_part_keeps_SOL_small() -> None:
    """F = N on [0, 1]: 0 is the equilibrium; without S x = S x0 every point would satisfy the rest."""
    solutions = solution_set(AffineGame([[1.0]], [0.0], [0.0], [1.0]))
    assert solutions.dimension == 0
    assert not solutions.contains([solutions.point[0] + 1])


def test_a_bound_that_only_looks_active_is_let_go() -> None:
    """The projection is 5e-6 inside a box 100 wide: the solver cannot tell, the multiplier's sign can."""
    game = CommonPoolGame(100.0, [0.0, 0.0], [100.0, 100.0])
    target = np.array([2.0**-18, 100.0 - 2.0**-18])
    found = select(game, QuadraticWelfare(target))
    assert found.N is not None
    assert found.N.tolist() == target.tolist()
    assert found.error_bound < 1e-290
    exact = _exact_projection(solution_set(game), QuadraticWelfare(target), np.array([0.0, 100.0]))
    assert exact is not None
    assert [float(fraction(x)) for x in exact] == target.tolist()
