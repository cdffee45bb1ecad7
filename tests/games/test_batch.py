"""Batches of small games: the same answers as one by one, a verdict each, proven moduli."""

from importlib.util import find_spec

import numpy as np
import pytest

from games import AffineGame, GameError, solve
from games.batch import Verdict, moduli, solve_batch
from games.generate import affine_game


def batch(count: int, m: int = 5) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(7)
    made = [affine_game(rng, m, 1.0, 10.0 ** (k % 4), 0.8, degenerate=k % 5 == 0).game for k in range(count)]
    return tuple(np.stack([getattr(g, name) for g in made]) for name in ("A", "b", "lower", "upper"))


NO_NUMBA = pytest.mark.skipif(find_spec("numba") is None, reason="the extra 'fast' is not installed")


@pytest.mark.parametrize("engine", ["numpy", pytest.param("numba", marks=NO_NUMBA)])
def test_a_batch_agrees_with_single_solves(engine: str) -> None:
    A, b, lower, upper = batch(24)
    result = solve_batch(A, b, lower, upper, engine=engine)
    assert result.verdicts == [Verdict.SOLVED] * 24
    for g in range(24):
        single = solve(AffineGame(A[g], b[g], lower[g], upper[g]), certificate="proof")
        assert np.linalg.norm(single.N - result.N[g]) <= result.error_bound[g] + single.error_bound


def test_one_unsolvable_game_does_not_spoil_the_others() -> None:
    A, b, lower, upper = (x.copy() for x in batch(8))
    A[3] = 0.0
    b[3] = 0.0
    A[5] = -np.eye(5)
    result = solve_batch(A, b, lower, upper, tol=1e-12, engine="numpy")
    assert all(result.verdicts[g] is Verdict.SOLVED for g in (0, 1, 2, 4, 6, 7))
    assert result.error_bound[3] == np.inf
    assert result.error_bound[5] == np.inf
    assert result.mu_F[5] < 0


def test_a_tolerance_beyond_the_arithmetic_is_not_called_solved() -> None:
    A, b, lower, upper = batch(10)
    result = solve_batch(A, b, lower, upper, tol=1e-25)
    assert Verdict.NOT_SOLVED in result.verdicts
    assert np.all(np.isinf(result.error_bound) | (result.residual <= result.limit))


@pytest.mark.parametrize("m", [1, 4, 9])
def test_moduli_are_below_the_smallest_eigenvalue_and_close(m: int) -> None:
    A = batch(12, m)[0]
    lowest = np.linalg.eigvalsh((A + A.transpose(0, 2, 1)) / 2)[:, 0]
    assert np.all(moduli(A) <= lowest)
    assert np.all(moduli(A) >= lowest - 1e-10 * np.linalg.norm(A, axis=(1, 2)))


def test_bad_batches_end_with_one_clear_line() -> None:
    A, b, lower, upper = batch(3)
    with pytest.raises(GameError, match="shapes"):
        solve_batch(A, b[:, :4], lower, upper)
    bad = b.copy()
    bad[1, 2] = np.nan
    with pytest.raises(GameError, match="b of game 1"):
        solve_batch(A, bad, lower, upper)
    with pytest.raises(GameError, match="game 0: lower > upper"):
        solve_batch(A, b, upper, lower)
    with pytest.raises(GameError, match="tol = 2"):
        solve_batch(A, b, lower, upper, tol=2.0)
