"""The engine against the literal reference, and against itself in other block shapes."""

import numpy as np
import pytest

from simulate import RunConfig, run, run_reference
from simulate.problems import Problem
from simulate.reference import exact_averages
from tests.simulate.conftest import all_problems, small_game, small_quadratics

PROBLEMS = {name: q for name, q in all_problems().items() if name not in ("cube", "rademacher")}
MODES = [
    ("iid", 1, "with"),
    ("iid", 3, "batch"),
    ("iid", 1, "round"),
    ("subset", 2, "with"),
    ("full", 1, "with"),
]


def config(problem: Problem, **changes: object) -> RunConfig:
    base = {
        "gamma": 0.05,
        "gamma_tilde": 0.1,
        "H": 3,
        "R": 8,
        "r_hat": 2,
        "N_0": np.full(problem.m, 2.5),
        "x_0": np.linspace(-1, 1, problem.n),
        "seeds": 4,
        "draws": 1000,
        "horizons": (5, 8),
        "records": (0, 3),
        "root_seed": 6,
    }
    return RunConfig(**(base | changes))


@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, mode) for name in ("softmax", "diagonal") for mode in MODES]
    + [
        (name, mode)
        for name in PROBLEMS
        if name not in ("softmax", "diagonal")
        for mode in (MODES[0], MODES[4])
    ],
)
def test_every_measurement_agrees_with_the_reference(name: str, mode: tuple[str, int, str]) -> None:
    problem, (sampling, batch, replacement) = PROBLEMS[name], mode
    game = small_game(problem.m)
    setting = config(problem, sampling=sampling, batch=batch, replacement=replacement)
    p_star = np.array([0.5, 0.3, 0.2])
    data = run(problem, game, setting, p_star=p_star, x_star=np.ones(problem.n))
    for seed in (0, 3):
        literal = run_reference(problem, game, setting, seed)
        at = data.isel(seed=seed)
        assert np.array_equal(at.N, literal.N)
        for average in ("p_now", "p_next"):
            for draw, k in enumerate(at.k.values.tolist()):
                x_bar = literal.x_bar(k, average)
                g = problem.gradient(x_bar, p_star)
                here = at.sel(average=average).isel(draw=draw)
                assert float(here.grad_f_sq) == pytest.approx(g @ g, rel=1e-11)
                assert float(here.e_bar) == pytest.approx(literal.e_bar(k, average), rel=1e-10, abs=1e-28)
            exact = exact_averages(problem, literal, 2, p_star, average)
            mean = float(at.sel(average=average).grad_f_sq.mean())
            assert mean == pytest.approx(exact["grad_f_sq"], rel=1e-11)
            for horizon in (5, 8):
                expected = problem.loss(literal.x_avg(2, horizon, average), p_star)
                assert float(at.f_avg.sel(average=average, horizon=horizon)) == pytest.approx(
                    float(expected), rel=1e-12
                )
        for r in (0, 2, 3, 8):
            x = literal.x_hat[r]
            assert float(at.f.sel(record=r)) == pytest.approx(float(problem.loss(x, p_star)), rel=1e-12)
            assert float(at.dist_sq.sel(record=r)) == pytest.approx(float(np.sum((x - 1) ** 2)), rel=1e-11)


def test_the_two_averages_differ_while_weights_move() -> None:
    problem = PROBLEMS["softmax"]
    data = run(problem, small_game(3), config(problem))
    assert np.abs(data.grad_f_sq.sel(average="p_now") - data.grad_f_sq.sel(average="p_next")).max() > 1e-6


@pytest.mark.parametrize("name", ["softmax", "rare-full", "logistic"])
def test_a_seed_has_the_same_bits_in_any_block(name: str) -> None:
    problem, game = PROBLEMS[name], small_game(3)
    whole = run(problem, game, config(problem, seeds=7, draws=5), block=7)
    for block in (1, 2, 3):
        other = run(problem, game, config(problem, seeds=7, draws=5), block=block)
        assert whole.identical(other)
    alone = run(problem, game, config(problem, seeds=(5,), draws=5))
    assert whole.sel(seed=[5]).drop_attrs().identical(alone.drop_attrs())
    shuffled = run(problem, game, config(problem, seeds=(3, 0, 6), draws=5), block=2)
    assert whole.sel(seed=[3, 0, 6]).drop_attrs().identical(shuffled.drop_attrs())


def test_m_1_H_1_is_sgd() -> None:
    problem = small_quadratics(m=1, n=3)
    setting = config(problem, H=1, R=30, N_0=np.array([2.0]), seeds=2)
    data = run(problem, small_game(1), setting, p_star=np.ones(1), x_star=np.zeros(3))
    for seed in range(2):
        index = run_reference(problem, small_game(1), setting, seed).index[:, 0, 0]
        x = setting.x_0.copy()
        for j in index:
            x = x - 0.05 * problem.sample_gradient(0, x, int(j))
        assert float(data.dist_sq.isel(seed=seed).sel(record=30)) == pytest.approx(float(x @ x), rel=1e-12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gamma": -1.0}, "gamma = -1.0"),
        ({"gamma": float("nan")}, "gamma = nan"),
        ({"H": 0}, "H = 0"),
        ({"r_hat": 8}, "r_hat = 8"),
        ({"sampling": "epoch"}, "sampling = 'epoch'"),
        ({"replacement": "no"}, "replacement = 'no'"),
        ({"batch": 0}, "batch = 0"),
        ({"horizons": (2,)}, "horizons holds 2"),
        ({"horizons": (4, 4)}, "stands twice"),
        ({"seeds": (1, 1)}, "seeds ="),
        ({"seeds": 0}, "seeds = 0"),
        ({"records": 1}, "records = 1"),
        ({"records": (99,)}, "records ="),
        ({"x_0": np.array([np.inf] * 12)}, "x_0 has shape"),
    ],
)
def test_bad_configurations_are_named(change: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        config(PROBLEMS["softmax"], **change)


def test_misfits_are_named() -> None:
    problem = PROBLEMS["softmax"]
    with pytest.raises(ValueError, match="game has 2 clients"):
        run(problem, small_game(2), config(problem))
    with pytest.raises(ValueError, match="n = 12 parameters"):
        run(problem, small_game(3), config(problem, x_0=np.zeros(3)))
    with pytest.raises(ValueError, match="has only 15 samples"):
        run(problem, small_game(3, upper=16.0), config(problem, sampling="subset"))
    with pytest.raises(ValueError, match="weights >= 0 that sum to one"):
        run(problem, small_game(3), config(problem), p_star=np.array([0.5, 0.5, 0.5]))


@pytest.mark.parametrize(
    "name",
    [
        "softmax",
        "least-squares",
        *(
            pytest.param(n, marks=pytest.mark.slow)
            for n in ("diagonal", "rare-full", "logistic", "saturating", "welsch")
        ),
    ],
)
def test_1000_rounds_agree_with_the_reference_to_1e_12(name: str) -> None:
    problem = PROBLEMS[name]
    setting = config(problem, R=1000, H=1, seeds=1, draws=0, horizons=())
    literal = run_reference(problem, small_game(3), setting)
    data = run(problem, small_game(3), setting, x_star=literal.x_hat[-1])
    assert float(data.dist_sq.isel(seed=0, record=-1)) ** 0.5 <= 1e-12 * np.linalg.norm(literal.x_hat[-1])
