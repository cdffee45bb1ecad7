"""The compiled engine against the numpy engine and the reference, and against itself."""

import numpy as np
import pytest

from simulate import RunConfig, run, run_reference
from simulate.problems import LeastSquares, Problem
from tests.simulate.conftest import all_problems, small_game, small_linear, small_softmax

pytest.importorskip("numba", reason="the extra `fast` (numba) is not installed")

PROBLEMS = {name: q for name, q in all_problems().items() if name not in ("softmax", "rare-full")}


def config(problem: Problem, **changes: object) -> RunConfig:
    base = {
        "gamma": 0.05,
        "gamma_tilde": 0.05,
        "H": 5,
        "R": 200,
        "r_hat": 20,
        "N_0": np.full(3, 9.5),
        "x_0": np.linspace(-1, 1, problem.n),
        "seeds": 2,
        "draws": 40,
        "horizons": (50, 200),
        "records": 9,
    }
    return RunConfig(**(base | changes))


@pytest.mark.parametrize(
    ("name", "sampling", "batch"),
    [(name, "iid", 1) for name in PROBLEMS] + [("logistic", "iid", 3), ("saturating", "subset", 2)],
)
def test_1000_steps_agree_with_the_numpy_engine(name: str, sampling: str, batch: int) -> None:
    problem = PROBLEMS[name]
    setting = config(problem, sampling=sampling, batch=batch)
    one, other = (run(problem, small_game(3), setting, engine=e) for e in ("numpy", "numba"))
    for variable in ("k", "f", "f_avg", "grad_f_sq", "dist_sq", "grad_f_sq_round", "e_bar"):
        assert np.allclose(one[variable], other[variable], rtol=1e-11, atol=1e-14, equal_nan=True), variable


def test_1000_rounds_agree_with_the_reference_to_1e_12() -> None:
    for name in ("least-squares",):
        problem = PROBLEMS[name]
        setting = config(problem, R=1000, H=1, seeds=1, draws=0, horizons=())
        literal = run_reference(problem, small_game(3), setting)
        data = run(problem, small_game(3), setting, engine="numba", x_star=literal.x_hat[-1])
        assert float(data.dist_sq.isel(seed=0, record=-1)) ** 0.5 <= 1e-12 * np.linalg.norm(literal.x_hat[-1])


@pytest.mark.slow  # compiles the engine once more; test_lanes has long rows in short
def test_long_rows_agree_with_the_numpy_engine() -> None:
    """Rows of more than 32 numbers are loops over long chunks, padded to 48 here."""
    problem = small_linear(LeastSquares, n=37)
    setting = config(problem, R=50, gamma=0.005, horizons=(50,))
    one, other = (run(problem, small_game(3), setting, engine=e) for e in ("numpy", "numba"))
    for variable in ("f", "f_avg", "grad_f_sq", "e_bar"):
        assert np.allclose(one[variable], other[variable], rtol=1e-12, atol=1e-14), variable


def test_blocks_and_threads_change_no_bit() -> None:
    problem = PROBLEMS["logistic"]
    setting = config(problem, seeds=7)
    whole = run(problem, small_game(3), setting, engine="numba", jobs=2)
    for block, jobs in ((1, 1), (3, 2), (7, 1)):
        other = run(problem, small_game(3), setting, engine="numba", block=block, jobs=jobs)
        assert whole.identical(other)


def test_what_it_does_not_know_is_said() -> None:
    with pytest.raises(ValueError, match="does not know softmax"):
        run(small_softmax(), small_game(3), config(small_softmax()), engine="numba")
    with pytest.raises(ValueError, match="use engine 'numpy'"):
        run(
            PROBLEMS["diagonal"], small_game(3), config(PROBLEMS["diagonal"], sampling="full"), engine="numba"
        )
