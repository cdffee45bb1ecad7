"""Rounds in the space of the samples against rounds with the weights, and against the literal reference."""

import numpy as np
import pytest

from simulate import RunConfig, run, run_reference
from simulate.engine_chain import WeightSpace, chain_of
from simulate.problems import TwoLayerNetwork
from simulate.sample_space import SampleSpace, pays
from tests.simulate.conftest import small_game

P_STAR = np.array([0.5, 0.3, 0.2])
MODES = [
    ("iid", 4, "with"),
    ("iid", 4, "batch"),
    ("iid", 3, "round"),
    ("subset", 4, "with"),
    ("full", 1, "with"),
]


def wide(regulariser: float = 0.1, dtype: type = np.float64) -> TwoLayerNetwork:
    """Few samples of many features, clients of unequal size."""
    rng = np.random.default_rng(4)
    features = [rng.standard_normal((14 - i, 90)) for i in range(3)]
    labels = [rng.integers(0, 3, 14 - i) for i in range(3)]
    return TwoLayerNetwork(features, labels, 3, 4, regulariser=regulariser, dtype=dtype)


def config(problem: TwoLayerNetwork, **changes: object) -> RunConfig:
    base = {
        "gamma": 0.3,
        "gamma_tilde": 0.05,
        "H": 4,
        "R": 12,
        "r_hat": 2,
        "N_0": np.full(3, 8.0),
        "x_0": problem.random_start(1),
        "seeds": 2,
        "batch": 4,
        "draws": 3,
    }
    return RunConfig(**(base | changes))


@pytest.mark.parametrize(("mode", "regulariser"), [(MODES[0], 0.0), *((mode, 0.1) for mode in MODES)])
def test_every_measurement_agrees_with_the_reference(mode: tuple[str, int, str], regulariser: float) -> None:
    problem, (sampling, batch, replacement) = wide(regulariser), mode
    setting = config(problem, sampling=sampling, batch=batch, replacement=replacement)
    assert isinstance(chain_of(problem, setting), SampleSpace)
    data = run(problem, small_game(3), setting, engine="chain", p_star=P_STAR, x_star=np.zeros(problem.n))
    literal = run_reference(problem, small_game(3), setting, 1)
    at = data.isel(seed=1)
    for r in data.record.values:
        assert float(at.dist_sq.sel(record=r)) == pytest.approx(np.sum(literal.x_hat[r] ** 2), rel=1e-12)
    for draw, k in enumerate(at.k.values.tolist()):
        g = problem.gradient(literal.x_bar(k, "p_next"), P_STAR)
        here = at.sel(average="p_next").isel(draw=draw)
        assert float(here.grad_f_sq) == pytest.approx(g @ g, rel=1e-10)
        assert float(here.e_bar) == pytest.approx(literal.e_bar(k, "p_next"), rel=1e-10, abs=1e-25)


@pytest.mark.parametrize("regulariser", [0.0, 0.1])
@pytest.mark.parametrize("law", ["one sample", "two samples", "all once", "full"])
def test_rounds_are_those_with_weights(law: str, regulariser: float) -> None:
    """A sample many times in a batch, in a round, never; iterates of every step."""
    problem = wide(regulariser)
    setting = config(problem)
    rng, p = np.random.default_rng(1), np.array([0.2, 0.5, 0.3])
    ours, weights = SampleSpace(problem, setting), WeightSpace(problem, setting)
    index = {
        "one sample": lambda: np.full((3, 4, 5), 2),
        "two samples": lambda: rng.integers(0, 2, (3, 4, 5)),
        "all once": lambda: np.tile(np.arange(12), (3, 4, 1)),
    }
    for _ in range(5):
        rows = None if law == "full" else index[law]() + problem.first[:, None, None]
        shown = ours.round(rows, p, range(4)), weights.round(rows, p, range(4))
        assert np.allclose(*shown, rtol=0, atol=1e-13)
        assert np.allclose(ours.x_hat(), weights.x_hat(), rtol=0, atol=1e-13)
    assert np.abs(weights.x_hat() - setting.x_0).max() > 0.1


def test_weights_that_do_not_sum_to_one_are_summed_as_they_are() -> None:
    problem = wide()
    ours, weights = (kind(problem, config(problem)) for kind in (SampleSpace, WeightSpace))
    for chain in (ours, weights):
        chain.round(None, np.array([0.2, 0.5, 0.4]), ())
        chain.round(None, np.array([0.1, 0.5, 0.2]), ())
    assert np.allclose(ours.x_hat(), weights.x_hat(), rtol=0, atol=1e-13)


def test_float32_stays_float32() -> None:
    problem = wide(dtype=np.float32)
    ours, weights = (kind(problem, config(problem)) for kind in (SampleSpace, WeightSpace))
    p = np.full(3, 1 / 3, dtype=np.float32)
    for _ in range(10):
        shown = ours.round(None, p, (1,))
        weights.round(None, p, ())
    assert {ours.x_hat().dtype, ours.S.dtype, shown[0].dtype} == {np.dtype(np.float32)}
    assert np.allclose(ours.x_hat(), weights.x_hat(), rtol=0, atol=2e-6)


def test_seeds_and_order_change_no_bit() -> None:
    problem = wide()
    whole = run(problem, small_game(3), config(problem, seeds=4), engine="chain")
    some = run(problem, small_game(3), config(problem, seeds=(3, 1)), engine="chain")
    assert whole.sel(seed=[3, 1]).drop_attrs().identical(some.drop_attrs())


@pytest.mark.slow
def test_processes_change_no_bit() -> None:
    problem, fresh = wide(), wide()
    alone = run(problem, small_game(3), config(problem), engine="chain")
    assert alone.identical(run(fresh, small_game(3), config(problem), engine="chain", jobs=2))


def test_the_way_is_chosen_by_multiplications() -> None:
    """N = 42 places, d = 91, 48 samples a round, (draws + 3 records)/12 iterates built a round: 42^2 + 48 * 14 + 2 v 42
    * 91 is below 2 * 48 * 91 for v < 0.824.
    """
    problem = wide()
    assert pays(problem, config(problem, draws=6))
    assert not pays(problem, config(problem, draws=7))
    assert pays(problem, config(problem, sampling="full", draws=0))  # 4 * 39 samples a round
    assert not pays(problem, config(problem, H=1, batch=1, draws=0))
    assert not pays(problem, config(problem, horizons=(5,)))  # every step is shown


def test_large_data_keep_the_weights() -> None:
    narrow = [TwoLayerNetwork([np.ones((D, 30))] * 2, [np.zeros(D, dtype=int)] * 2, 3, 4) for D in (31, 32)]
    setting = config(narrow[0], H=1000, N_0=np.full(2, 8.0))
    assert [pays(problem, setting) for problem in narrow] == [True, False]  # 62 and 64 places, d = 31
    assert isinstance(chain_of(narrow[0], setting), SampleSpace)
    assert isinstance(chain_of(narrow[1], setting), WeightSpace)
