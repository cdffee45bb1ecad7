"""Every engine against the literal reference after 1000 rounds, problem by problem: 1e-12 relative in float64."""

from importlib.util import find_spec

import numpy as np
import pytest

from simulate import RunConfig, run, run_reference
from simulate.problems import Problem
from tests.simulate.conftest import all_problems, small_game
from tests.simulate.test_network import NETWORK, convolutional
from tests.simulate.test_sample_space import wide

FEW = "few samples"  # a network whose chains step in the space of the samples
PROBLEMS: dict[str, Problem] = {
    **all_problems(),
    "network": NETWORK,
    "convolution": convolutional(),
    FEW: wide(),
}
NETWORKS = ("network", "convolution", FEW)
UNKNOWN_TO_NUMBA = ("softmax", "rare-full", *NETWORKS)
CASES = [("numpy", name) for name in PROBLEMS] + [("chain", name) for name in NETWORKS]
if find_spec("numba") is not None:
    CASES += [("numba", name) for name in PROBLEMS if name not in UNKNOWN_TO_NUMBA]
if find_spec("torch") is not None:
    CASES += [("torch", name) for name in PROBLEMS]
QUICK = [("numpy", "softmax"), ("numpy", "diagonal"), ("numpy", "logistic")]


def deviations(engine: str, name: str, rounds: int = 1000) -> tuple[float, float]:
    """Largest relative deviations of x_hat_R, and of f over ten recorded rounds, from the reference."""
    problem = PROBLEMS[name]
    config = RunConfig(
        gamma=0.05,
        gamma_tilde=0.05,
        H=4 if name == FEW else 2,
        batch=4 if name == FEW else 1,
        R=rounds,
        N_0=np.full(3, 4.0),
        x_0=np.random.default_rng(3).standard_normal(problem.n) / problem.n**0.5,
        seeds=(1,),
        records=10,
    )
    game, p_star = small_game(3), np.array([0.5, 0.3, 0.2])
    literal = run_reference(problem, game, config, 1)
    end = literal.x_hat[-1]
    data = run(problem, game, config, p_star=p_star, x_star=end, engine=engine)
    of_x = float(data.dist_sq.isel(seed=0, record=-1)) ** 0.5 / float(np.linalg.norm(end))
    f = np.array([float(problem.loss(literal.x_hat[r], p_star)) for r in data.record.values])
    return of_x, float(np.abs(data.f.isel(seed=0).values / f - 1).max())


@pytest.mark.parametrize(("engine", "name"), QUICK)
def test_1000_rounds_agree_with_the_reference(engine: str, name: str) -> None:
    assert max(deviations(engine, name)) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "name"), [case for case in CASES if case not in QUICK])
def test_1000_rounds_agree_with_the_reference_in_every_engine(engine: str, name: str) -> None:
    assert max(deviations(engine, name)) <= 1e-12


def test_another_stream_is_told_apart() -> None:
    """The comparison can fail: one seed further, and the runs are 10^9 times further apart than allowed."""
    problem, game = PROBLEMS["logistic"], small_game(3)
    config = RunConfig(
        gamma=0.05, gamma_tilde=0.05, H=2, R=50, N_0=np.full(3, 4.0), x_0=np.zeros(problem.n), seeds=(2,)
    )
    end = run_reference(problem, game, config, 1).x_hat[-1]
    data = run(problem, game, config, x_star=end)
    assert float(data.dist_sq.isel(seed=0, record=-1)) ** 0.5 > 1e-3 * np.linalg.norm(end)
