"""Large coupled games: the one-pass dynamics are the plain ones."""

import numpy as np
import pytest

from games import DiagonalPlusLowRank
from simulate.dynamics import BLOCK, dynamics
from simulate.participation import participation


class Coupled(DiagonalPlusLowRank):
    """A game given by its gradient map alone."""

    def utility_losses(self, N: np.ndarray) -> np.ndarray:
        return N * self.F(N)


def coupled(m: int, k: int = 3) -> Coupled:
    rng = np.random.default_rng(0)
    U = rng.standard_normal((m, k)) / m**0.5
    V = U + 0.1 * rng.standard_normal((m, k)) / m**0.5
    return Coupled(rng.uniform(1, 2, m), U, V, -rng.uniform(3, 9, m), np.ones(m), np.full(m, 5.0))


def test_one_pass_is_the_trajectory() -> None:
    m = 2 * BLOCK + 17
    game, N_0 = coupled(m), np.full(m, 2.0)
    result = dynamics(game, N_0, 0.2, 9)
    N = [N_0]
    for _ in range(9):
        N.append(np.clip(N[-1] - 0.2 * game.F(N[-1]), game.lower, game.upper))
    assert np.allclose(result.N, N[-1], rtol=0, atol=1e-12)
    assert result.last_step == pytest.approx(np.linalg.norm(N[-1] - N[-2]), rel=1e-9)
    assert np.array_equal(N_0, np.full(m, 2.0))


def test_it_ends_where_participation_does() -> None:
    game, N_0 = coupled(40), np.full(40, 2.0)
    assert np.allclose(
        dynamics(game, N_0, 0.2, 30).N, participation(game, N_0, 0.2, 30).N[-1], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    "change", [{"N_0": np.ones(3)}, {"N_0": np.zeros(40)}, {"gamma_tilde": 0.0}, {"R": 0}]
)
def test_bad_input_is_named(change: dict) -> None:
    arguments = {"N_0": np.full(40, 2.0), "gamma_tilde": 0.2, "R": 2} | change
    with pytest.raises(ValueError, match=r"N_0 has shape|gamma_tilde ="):
        dynamics(coupled(40), **arguments)
