"""games.solve on strongly monotone affine games: against brute force, with certificates that are checked
exactly."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from games import Affine, AffineGame, Certificate, DiscoveryGame, GameError, NotSolved, solve
from games.certificates import rational_proof, tangent_residual
from games.generate import affine_game


def by_enumeration(game: Affine) -> tuple[Fraction, ...]:
    """The equilibrium from all 3^m active sets, in rationals."""
    for state in product((-1, 0, 1), repeat=game.m):
        proof = rational_proof(game, np.array(state, dtype=np.int8))
        if proof is not None:
            assert proof.exact is not None
            return proof.exact
    raise AssertionError("no active set fits")


def random_game(m: int, seed: int) -> AffineGame:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(m, m))
    skew = rng.normal(size=(m, m))
    A = half @ half.T / m + 0.1 * np.eye(m) + 2 * (skew - skew.T)
    return AffineGame(A, 3 * rng.normal(size=m), -rng.uniform(0.1, 1, m), rng.uniform(0.1, 1, m))


def distance(N: np.ndarray, exact: tuple[Fraction, ...]) -> float:
    square = sum((Fraction(x) - y) ** 2 for x, y in zip(N.tolist(), exact, strict=True))
    return float(np.sqrt(float(square)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("certificate", ["residual", "proof"])
def test_the_proven_distance_holds_against_enumeration(seed: int, certificate: str) -> None:
    game = random_game(1 + seed % 5, seed)
    exact = by_enumeration(game)
    found = solve(game, certificate=certificate)
    assert found.certificate is Certificate(certificate)
    assert distance(found.N, exact) <= found.error_bound <= 1e-10
    assert found.unique is True
    if certificate == "proof":
        assert found.exact == exact
        assert found.at_lower.tolist() == [x == y for x, y in zip(exact, game.lower, strict=True)]


@pytest.mark.parametrize("seed", range(3))
def test_a_larger_game_is_proven_in_intervals(seed: int) -> None:
    game = random_game(40, seed)
    proof, plain = solve(game, certificate="proof"), solve(game)
    assert proof.certificate is Certificate.PROOF
    assert proof.exact is None
    assert proof.error_bound <= 1e-14
    assert np.linalg.norm(proof.N - plain.N) <= proof.error_bound + plain.error_bound
    assert 0 < plain.error_bound < 1e-9


def test_a_degenerate_equilibrium_is_decided_in_rationals() -> None:
    """F(N*) = 0 at a vertex: every multiplier vanishes, so no strict sign exists."""
    m = 20
    A = 2 * np.eye(m)
    A[0, 1], A[1, 0] = 1.0, -1.0
    corner = np.ones(m)
    game = AffineGame(A, -(A @ corner), corner, 3 * corner)
    found = solve(game, certificate="proof")
    assert found.certificate is Certificate.PROOF
    assert found.error_bound == 0.0
    assert found.exact == tuple(Fraction(1) for _ in range(m))


def test_three_kinds_of_clients_in_a_discovery_game() -> None:
    labels = [[0.8, 0.2], [0.5, 0.5], [1.0, 0.0]]
    game = DiscoveryGame(labels, [0.665, 0.6, 0.1], 1.0, [50.0, 60.0, 20.0], 1e-3, [1e-4, 2e-4, 1e-4])
    found = solve(game, certificate="proof")
    assert found.exact is not None
    assert found.at_upper.tolist() == [False, False, True]
    assert found.at_lower.tolist() == [False, True, False]
    assert tangent_residual(game, found.N) <= 1e-14


def test_equal_bounds_everywhere_leave_one_point() -> None:
    game = AffineGame([[1.0, 5.0], [-5.0, 1.0]], [1.0, 1.0], [2.0, 3.0], [2.0, 3.0])
    found = solve(game, certificate="proof")
    assert found.exact == (Fraction(2), Fraction(3))
    assert found.error_bound == 0.0


def test_the_residual_counts_only_what_pushes_into_the_box() -> None:
    game = AffineGame(np.eye(2), [0.0, -5.0], [1.0, 0.0], [2.0, 1.0])
    assert tangent_residual(game, np.array([1.0, 1.0])) < 1e-290
    assert tangent_residual(game, np.array([1.5, 1.0])) == pytest.approx(1.5)
    assert tangent_residual(game, np.array([1.0, 0.0])) == pytest.approx(5.0)


@pytest.mark.parametrize("tol", [0.0, -1.0, np.nan, np.inf, 1.0])
def test_bad_tolerances_are_refused(tol: float) -> None:
    with pytest.raises(GameError, match="tol = "):
        solve(random_game(2, 0), tol=tol)


def test_bad_certificate_name_is_refused() -> None:
    with pytest.raises(GameError, match="certificate = 'guess'"):
        solve(random_game(2, 0), certificate="guess")


def test_a_tolerance_beyond_the_arithmetic_is_not_met() -> None:
    with pytest.raises(NotSolved, match="raise tol"):
        solve(random_game(4, 1), tol=1e-30)


@pytest.mark.parametrize("seed", range(12))
def test_multipliers_that_vanish_but_for_rounding_are_decided_exactly(seed: int) -> None:
    """Their signs are those of b's rounding errors: floats cannot see them, exact exchanges can."""
    made = affine_game(np.random.default_rng(seed), 5, 1.0, 100.0, 0.5, 1.0, degenerate=True)
    found = solve(made.game, certificate="proof")
    assert found.certificate is Certificate.PROOF
    assert found.exact == by_enumeration(made.game)
