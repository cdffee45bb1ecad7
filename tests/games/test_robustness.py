"""Random games over the whole range: a few by default, ten thousand in the slow run; and bad input, never a
success."""

import sys
from pathlib import Path

import numpy as np
import pytest

from games import AffineGame, GameError, NotSolved, solve

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from robustness_games import run


def judged(instances: int, seed: int) -> dict[str, int]:
    counts = run(instances, seed)
    bad = {
        k: v for k, v in counts.items() if k.isupper() or k.startswith(("RESIDUAL", "CERTIFICATE", "FARTHER"))
    }
    assert bad == {}
    return dict(counts)


def test_two_dozen_random_games() -> None:
    counts = judged(24, 1)
    solved = sum(v for k, v in counts.items() if k.startswith("solved"))
    assert solved == 24
    assert counts["rechecked at 128 bits: True"] >= 22


@pytest.mark.slow
def test_ten_thousand_random_games() -> None:
    counts = judged(10_000, 0)
    solved = sum(v for k, v in counts.items() if k.startswith("solved"))
    assert solved + counts.get("not solved (said so)", 0) == 10_000
    assert solved >= 9_990


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
@pytest.mark.parametrize("where", ["A", "b", "lower", "upper"])
def test_bad_numbers_never_succeed(value: float, where: str) -> None:
    data = {"A": np.eye(2), "b": np.zeros(2), "lower": -np.ones(2), "upper": np.ones(2)}
    data[where] = data[where].copy()
    data[where].flat[0] = value
    with pytest.raises((GameError, NotSolved)):
        solve(AffineGame(**data))  # type: ignore[arg-type]


def test_a_negative_definite_game_is_not_called_unique() -> None:
    found = solve(AffineGame(-np.eye(3), np.zeros(3), -np.ones(3), np.ones(3)))
    assert found.unique is None
    assert found.error_bound == np.inf


def test_a_tolerance_that_cannot_be_met_is_not_met() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6)) + 6 * np.eye(6)
    game = AffineGame(A, rng.normal(size=6), -np.ones(6), np.ones(6))
    with pytest.raises(NotSolved, match=r"residual .* > tol \* scale"):
        solve(game, tol=1e-40)
