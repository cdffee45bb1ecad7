"""The torch engine (automatic differentiation) against the numpy engine, and against itself."""

import numpy as np
import pytest

from simulate import RunConfig, run
from simulate.problems import Problem
from tests.simulate.conftest import all_problems, small_game
from tests.simulate.test_network import NETWORK, convolutional

pytest.importorskip("torch", reason="the extra `nn` (torch) is not installed")

PROBLEMS = {name: q for name, q in all_problems().items() if name not in ("cube", "rademacher")}
PROBLEMS |= {"network": NETWORK, "convolution": convolutional()}


def config(problem: Problem, **changes: object) -> RunConfig:
    base = {
        "gamma": 0.05,
        "gamma_tilde": 0.05,
        "H": 2,
        "R": 5,
        "r_hat": 2,
        "N_0": np.full(3, 4.0),
        "x_0": np.random.default_rng(3).standard_normal(problem.n) / problem.n**0.5,
        "seeds": 3,
        "batch": 2,
        "draws": 10,
        "horizons": (5,),
    }
    return RunConfig(**(base | changes))


@pytest.mark.parametrize(
    ("name", "sampling"), [(name, "iid") for name in PROBLEMS] + [("rare-full", "full"), ("network", "full")]
)
def test_automatic_differentiation_gives_the_numpy_engines_run(name: str, sampling: str) -> None:
    problem = PROBLEMS[name]
    setting = config(problem, sampling=sampling)
    one, other = (
        run(problem, small_game(3), setting, engine=e, x_star=np.zeros(problem.n)) for e in ("numpy", "torch")
    )
    for variable in ("f", "f_avg", "grad_f_sq", "dist_sq", "grad_f_sq_round"):
        assert np.allclose(one[variable], other[variable], rtol=1e-11, atol=1e-20), variable


@pytest.mark.parametrize("name", ["softmax", "logistic", "convolution"])
def test_blocks_change_no_bit(name: str) -> None:
    problem = PROBLEMS[name]
    setting = config(problem, seeds=5)
    whole = run(problem, small_game(3), setting, engine="torch", block=5)
    for block in (1, 2):
        assert whole.identical(run(problem, small_game(3), setting, engine="torch", block=block))


def test_an_unknown_device_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = PROBLEMS["softmax"]
    monkeypatch.setenv("BOUNDAUDIT_DEVICE", "abacus")
    with pytest.raises(ValueError, match="BOUNDAUDIT_DEVICE = 'abacus'"):
        run(problem, small_game(3), config(problem), engine="torch")
