"""The ceilings around the run without noise: no run passes them, and worst noise comes close."""

import numpy as np
import pytest

from simulate.config import RunConfig
from simulate.problems.quadratics import LAWS, Quadratics, antipodal_noise
from simulate.reach import noise_free, reach
from simulate.streams import stratified_draws


def ceilings(problem, config, p, average, p_star=None):
    points = noise_free(problem, config, p)
    star = p[-1] if p_star is None else p_star
    return reach(problem, config, points, p, np.full(len(p), 1e-15), star, average)


def played(problem, config, p, average, p_star, pick):
    """||grad f(x_bar_k)||^2 and e_bar_k of one run, literally: `pick(r, h, x)` names the atom of each client."""
    x_hat, squares, e_bar = config.x_0.copy(), [], []
    for r in range(config.R):
        x = np.repeat(x_hat[None], problem.m, axis=0)
        w = p[r] if average == "p_now" else p[r + 1]
        for h in range(config.H):
            bar = sum(w[i] * x[i] for i in range(problem.m))
            gradient = sum(p_star[i] * problem.gradients(bar)[i] for i in range(problem.m))
            squares.append(gradient @ gradient)
            e_bar.append(sum(w[i] * (x[i] - bar) @ (x[i] - bar) for i in range(problem.m)))
            j = pick(r, h, x)
            x = np.stack(
                [x[i] - config.gamma * problem.sample_gradient(i, x[i], j[i]) for i in range(problem.m)]
            )
        x_hat = sum(p[r + 1][i] * x[i] for i in range(problem.m))
    shape = (config.R, config.H)
    return np.reshape(squares, shape), np.reshape(e_bar, shape), x_hat


def some_problem(rng, law):
    m, n = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    q = rng.standard_normal((m, n, n))
    a = q @ q.swapaxes(1, 2) / n + 0.1 * np.eye(n) if rng.random() < 0.5 else rng.uniform(0.0, 2.0, (m, n))
    a = (a + a.swapaxes(1, 2)) / 2 if a.ndim == 3 else a
    noise = antipodal_noise(law, m, n, float(rng.uniform(0.1, 2.0)), atoms=4, seed=int(rng.integers(99)))
    return Quadratics(a, rng.standard_normal((m, n)), noise)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("average", ["p_now", "p_next"])
def test_no_run_passes_its_ceilings(law, average) -> None:
    rng = np.random.default_rng(LAWS.index(law))
    nearest = 0.0
    for _ in range(8):
        problem = some_problem(rng, law)
        gamma = float(rng.choice([0.05, 0.5, 1.0, 1.9])) / problem.smoothness()
        R, H = 6, int(rng.integers(1, 5))
        config = RunConfig(
            gamma=gamma, gamma_tilde=1.0, H=H, R=R, N_0=np.ones(problem.m), x_0=np.zeros(problem.n)
        )
        p = rng.dirichlet(np.ones(problem.m), R + 1)
        p_star = rng.dirichlet(np.ones(problem.m))
        most = ceilings(problem, config, p, average, p_star)
        atoms = problem.atoms
        away = rng.standard_normal(problem.n)

        def push(r, h, x, atoms=atoms, away=away):
            return [int(np.argmin(a @ away)) for a in atoms]

        def apart(r, h, x, atoms=atoms):
            return [int(np.argmin(a @ (x[i] - x.mean(axis=0) + 1e-9 * (i + 1)))) for i, a in enumerate(atoms)]

        def dice(r, h, x, atoms=atoms):
            return rng.integers(0, atoms.shape[1], len(atoms)).tolist()

        for pick in [push, apart, *[dice] * 12]:
            squares, e_bar, _ = played(problem, config, p, average, p_star, pick)
            assert np.all(squares <= most.grad_f_sq)
            assert np.all(e_bar <= most.e_bar + 1e-28)  # the rounding of `played`, where nothing is apart
            nearest = max(nearest, float((squares / most.grad_f_sq).max()))
    assert nearest > 0.9  # at k = 0 nothing is random yet


def test_noise_that_always_pushes_the_same_way_reaches_the_ceiling() -> None:
    problem = Quadratics(np.array([0.5, 0.5]), np.zeros((2, 1)), np.full((2, 1, 1), 0.25))
    config = RunConfig(gamma=0.5, gamma_tilde=1.0, H=3, R=20, N_0=np.ones(2), x_0=np.array([1.0]))
    p = np.full((21, 2), 0.5)
    most = ceilings(problem, config, p, "p_next")
    # atom 1 is -0.25: each step moves x up by gamma/4, and the start is positive
    squares, _, x = played(problem, config, p, "p_next", p[0], lambda r, h, x: [1, 1])
    np.testing.assert_allclose(squares, most.grad_f_sq, rtol=1e-9)
    still = noise_free(problem, config, p)[-1, -1, 0, 0]
    assert x[0] - still == pytest.approx(most.distance[-1], rel=1e-9)


def test_clients_pushed_apart_reach_the_consensus_ceiling() -> None:
    """Equal curvatures and centres: what the clients share cancels, and only this round's noise is left."""
    problem = Quadratics(np.array([0.5, 0.5]), np.zeros((2, 1)), np.full((2, 1, 1), 0.25))
    config = RunConfig(gamma=0.5, gamma_tilde=1.0, H=4, R=1, N_0=np.ones(2), x_0=np.array([1.0]))
    p = np.full((2, 2), 0.5)
    most = ceilings(problem, config, p, "p_next")
    _, e_bar, _ = played(problem, config, p, "p_next", p[0], lambda r, h, x: [0, 1])
    np.testing.assert_allclose(e_bar, most.e_bar, rtol=1e-9, atol=1e-25)
    assert e_bar[0, 3] > 0.05


def test_wrong_weights_within_their_error_are_covered() -> None:
    problem = Quadratics(np.array([0.3, 1.0]), np.array([[-2.0], [3.0]]), np.zeros((2, 1, 1)))
    config = RunConfig(gamma=0.9, gamma_tilde=1.0, H=3, R=8, N_0=np.ones(2), x_0=np.array([1.0]))
    told, true = np.full((9, 2), 0.5), np.tile([0.51, 0.49], (9, 1))
    points = noise_free(problem, config, told)
    for slack, covered in ((0.01, True), (0.0, False)):
        most = reach(problem, config, points, told, np.full(9, slack), told[0], "p_next")
        squares, e_bar, _ = played(problem, config, true, "p_next", told[0], lambda r, h, x: [0, 0])
        assert bool(np.all(squares <= most.grad_f_sq) and np.all(e_bar <= most.e_bar)) is covered


def test_a_common_shift_pulls_unequal_clients_apart() -> None:
    """Pushed far up for 60 rounds, the steep client comes back faster: e_bar without a noise that differs."""
    problem = Quadratics(np.array([8.0, 0.05]), np.zeros((2, 1)), np.full((2, 1, 1), 1.0))
    config = RunConfig(gamma=0.025, gamma_tilde=1.0, H=3, R=60, N_0=np.ones(2), x_0=np.array([0.0]))
    p = np.tile([0.1, 0.9], (61, 1))
    most = ceilings(problem, config, p, "p_next")
    _, e_bar, x = played(problem, config, p, "p_next", p[0], lambda r, h, x: [1, 1])
    assert np.all(e_bar <= most.e_bar + 1e-28)
    assert x[0] == pytest.approx(most.distance[-1], rel=1e-9)
    assert e_bar[-1, 2] > 0.5 * most.e_bar[-1, 2] * p[0, 0]  # one client in ten is off


@pytest.mark.parametrize(("length", "draws"), [(7, 3), (16, 16), (40, 16), (5, 9), (12, 4)])
def test_the_mean_over_drawn_steps_takes_the_worst_step_of_each_stratum(length, draws) -> None:
    problem = Quadratics(np.array([1.0]), np.zeros((1, 1)))
    config = RunConfig(gamma=0.1, gamma_tilde=1.0, H=1, R=length + 2, N_0=np.ones(1), x_0=np.ones(1))
    most = ceilings(problem, config, np.ones((length + 3, 1)), "p_next")
    rng = np.random.default_rng(draws)
    for _ in range(40):
        values = rng.exponential(size=(length + 2, 1))
        bound = most.drawn(values, 2, draws)
        counted = values[2:, 0]
        # exactly: step k falls into every stratum [j, j + 1) length / draws that it meets
        worst = [
            max(
                counted[k]
                for k in range(length)
                if k * draws < (j + 1) * length and (k + 1) * draws > j * length
            )
            for j in range(draws)
        ]
        assert np.mean(worst if draws < length else counted) <= bound
        assert bound <= counted.max() * (1 + 1e-9)
    for seed in range(20):
        k = stratified_draws(0, seed, 2, length + 2, draws)
        assert values.ravel()[k].mean() <= bound
