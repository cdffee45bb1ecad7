"""The two-layer network: backprop against a plain formula, engines, constants on a ball."""

import numpy as np
import pytest

from bounds.core.constant import Provenance
from simulate import RunConfig, run, run_reference
from simulate.problems import ConvolutionalNetwork, TwoLayerNetwork
from tests.simulate.conftest import small_game, small_quadratics

P_STAR = np.array([0.5, 0.3, 0.2])


def network(regulariser: float = 0.05, dtype: type = np.float64) -> TwoLayerNetwork:
    rng = np.random.default_rng(4)
    features = [rng.standard_normal((12 + i, 3)) for i in range(3)]
    labels = [rng.integers(0, 3, 12 + i) for i in range(3)]
    return TwoLayerNetwork(features, labels, 3, 4, regulariser=regulariser, dtype=dtype)


NETWORK = network()


def config(**changes: object) -> RunConfig:
    base = {
        "gamma": 0.05,
        "gamma_tilde": 0.05,
        "H": 3,
        "R": 10,
        "r_hat": 2,
        "N_0": np.full(3, 8.0),
        "x_0": NETWORK.random_start(1),
        "seeds": 2,
        "batch": 2,
        "draws": 20,
        "horizons": (5, 10),
    }
    return RunConfig(**(base | changes))


def test_printed_shapes() -> None:
    big = TwoLayerNetwork([np.zeros((1, 3072))], [np.zeros(1, dtype=int)], 10, 128)
    X1, X2 = big.layers(np.zeros(big.n))
    assert X1.shape == (3073, 128)
    assert X2.shape == (129, 10)


def test_gradients_are_the_losses_derivatives() -> None:
    x, step = NETWORK.random_start(0), 1e-6
    for d in range(NETWORK.n):
        e = np.eye(NETWORK.n)[d] * step
        slope = (NETWORK.losses(x + e) - NETWORK.losses(x - e)) / (2 * step)
        assert np.allclose(slope, NETWORK.gradients(x)[:, d], rtol=1e-6, atol=1e-8)


def test_samples_average_to_the_gradient() -> None:
    x = NETWORK.random_start(0)
    for i in range(3):
        mean = np.mean([NETWORK.sample_gradient(i, x, j) for j in range(NETWORK.sizes[i])], axis=0)
        assert np.allclose(mean, NETWORK.gradients(x)[i], rtol=0, atol=1e-15)


@pytest.mark.parametrize("sampling", ["iid", "full", "subset"])
def test_engines_agree_with_the_reference(sampling: str) -> None:
    setting = config(sampling=sampling)
    for engine in ("chain", "numpy"):
        data = run(NETWORK, small_game(3), setting, engine=engine, p_star=P_STAR, x_star=np.zeros(NETWORK.n))
        literal = run_reference(NETWORK, small_game(3), setting, 1)
        end = float(data.dist_sq.isel(seed=1, record=-1))
        assert end == pytest.approx(float(np.sum(literal.x_hat[-1] ** 2)), rel=1e-12)
        expected = NETWORK.loss(literal.x_avg(2, 10, "p_next"), P_STAR)
        assert float(data.f_avg.isel(seed=1).sel(average="p_next", horizon=10)) == pytest.approx(
            expected, rel=1e-12
        )
        k = int(data.k[1, 7])
        e_bar = float(data.e_bar.sel(average="p_now")[1, 7])
        assert e_bar == pytest.approx(literal.e_bar(k), rel=1e-10, abs=1e-25)


@pytest.mark.slow
def test_chains_change_no_bit_in_processes() -> None:
    setting = config(horizons=(), draws=7, seeds=3)
    alone = run(NETWORK, small_game(3), setting, engine="chain")
    assert alone.identical(run(NETWORK, small_game(3), setting, engine="chain", jobs=2))
    alike = run(NETWORK, small_game(3), config(draws=7, seeds=3), engine="chain")
    assert np.array_equal(alone.grad_f_sq, alike.grad_f_sq)


def test_float32_runs_and_stays_near_float64() -> None:
    small = run(network(dtype=np.float32), small_game(3), config(), engine="chain")
    assert np.allclose(small.f, run(NETWORK, small_game(3), config(), engine="chain").f, rtol=1e-4)


@pytest.mark.parametrize("ball", [0.5, 10.0])
def test_constants_on_a_ball_are_not_beaten(ball: float) -> None:
    c = NETWORK.constants(P_STAR, ball=ball)
    L, G, nu = (float(c[name].value) for name in ("L", "G", "nu"))
    assert c["L"].provenance is Provenance.CERTIFIED
    rng = np.random.default_rng(int(ball))
    for _ in range(8):
        x = rng.standard_normal(NETWORK.n)
        x *= 0.999 * ball / np.linalg.norm(x)
        direction = rng.standard_normal(NETWORK.n)
        for _ in range(10):  # power iteration towards the largest curvature
            y = x + 1e-5 * direction / np.linalg.norm(direction)
            difference = NETWORK.gradients(x) - NETWORK.gradients(y)
            ratio = np.linalg.norm(difference, axis=1) / 1e-5
            assert ratio.max() <= L
            direction = difference[np.argmax(ratio)]
        g = NETWORK.gradients(x)
        assert (g**2).sum() / 3 <= G**2
        for i in range(3):
            spread = [np.sum((NETWORK.sample_gradient(i, x, j) - g[i]) ** 2) for j in range(NETWORK.sizes[i])]
            assert np.mean(spread) <= nu**2


def test_reach_and_ceilings_hold_for_adversarial_runs() -> None:
    x_0, gamma, K = NETWORK.random_start(2), 0.02, 25
    reach = NETWORK.reach(x_0, gamma, K)
    gap = NETWORK.f_gap_ceiling(x_0, gamma, K, P_STAR)
    grad = NETWORK.grad_f_sq_ceiling(x_0, gamma, K, P_STAR)
    for i in range(3):
        x = x_0.copy()
        for _ in range(K):
            moves = [x - gamma * NETWORK.sample_gradient(i, x, j) for j in range(NETWORK.sizes[i])]
            x = max(moves, key=np.linalg.norm)
            assert np.linalg.norm(x) <= reach
            assert NETWORK.loss(x, P_STAR) <= gap
            assert np.sum(NETWORK.gradient(x, P_STAR) ** 2) <= grad


def test_without_a_ball_constants_are_estimates() -> None:
    c = NETWORK.constants(P_STAR)
    assert c["L"].provenance is Provenance.ESTIMATED
    assert c["nu"].provenance is Provenance.ESTIMATED
    assert 0 < c["L"].value < NETWORK.constants(P_STAR, ball=3.0)["L"].value


def test_what_the_chain_engine_does_not_run_is_said() -> None:
    problem = small_quadratics()
    with pytest.raises(ValueError, match="runs networks, not quadratics"):
        run(problem, small_game(3), config(x_0=np.zeros(4)), engine="chain")
    with pytest.raises(ValueError, match="one seed at a time"):
        run(NETWORK, small_game(3), config(), engine="chain", block=2)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"hidden": 0}, "hidden = 0"), ({"classes": 2}, "labels span"), ({"dtype": np.int64}, "dtype")],
)
def test_bad_networks_are_named(change: dict, words: str) -> None:
    rng = np.random.default_rng(0)
    arguments = {"classes": 3, "hidden": 4} | change
    with pytest.raises(ValueError, match=words):
        TwoLayerNetwork([rng.standard_normal((9, 3))], [np.arange(9) % 3], **arguments)


def convolutional(dtype: type = np.float64) -> ConvolutionalNetwork:
    rng = np.random.default_rng(6)
    features = [rng.standard_normal((5, 2 * 11 * 10)) for _ in range(3)]
    labels = [rng.integers(0, 3, 5) for _ in range(3)]
    return ConvolutionalNetwork(features, labels, 3, (2, 11, 10), (2, 3), regulariser=0.05, dtype=dtype)


def test_convolutional_backprop_is_the_loops_and_the_derivative() -> None:
    problem = convolutional()
    x, step = problem.random_start(0), 1e-6
    g = problem.gradients(x)
    for i in range(3):
        mean = np.mean([problem.sample_gradient(i, x, j) for j in range(5)], axis=0)
        assert np.allclose(mean, g[i], rtol=0, atol=1e-15)
    for d in range(0, problem.n, 7):
        e = np.eye(problem.n)[d] * step
        slope = (problem.losses(x + e) - problem.losses(x - e)) / (2 * step)
        assert np.allclose(slope, g[:, d], rtol=1e-6, atol=1e-8)


def test_convolutional_chains_agree_with_the_reference() -> None:
    problem = convolutional()
    setting = config(x_0=problem.random_start(1), N_0=np.full(3, 4.0), R=3, horizons=())
    data = run(problem, small_game(3), setting, engine="chain", x_star=np.zeros(problem.n))
    literal = run_reference(problem, small_game(3), setting, 1)
    end = float(data.dist_sq.isel(seed=1, record=-1))
    assert end == pytest.approx(float(np.sum(literal.x_hat[-1] ** 2)), rel=1e-12)


def test_convolutional_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="shape = "):
        ConvolutionalNetwork([np.zeros((1, 100))], [np.zeros(1, dtype=int)], 2, (1, 10, 11))
