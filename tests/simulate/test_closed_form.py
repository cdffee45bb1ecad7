"""Closed forms of quadratics against the reference, the engine, and the case that breaks Theorem 4.9."""

from fractions import Fraction as Q

import numpy as np
import pytest

from games import AffineGame
from simulate import RunConfig, run, run_reference
from simulate.closed_form import QuadraticOrbit, floats
from simulate.problems import Quadratics


def still_game(N: np.ndarray) -> AffineGame:
    """A game whose N_0 = N is its equilibrium: the weights never move."""
    return AffineGame(np.eye(len(N)), -N, np.ones(len(N)), 2 * N)


def test_closed_form_is_the_engines_run() -> None:
    rng = np.random.default_rng(0)
    a, c = rng.uniform(0.2, 1.5, (3, 2)), rng.standard_normal((3, 2))
    N = np.array([4.0, 2.0, 2.0])
    setting = RunConfig(
        gamma=0.1, gamma_tilde=0.5, H=4, R=30, r_hat=5, N_0=N, x_0=np.array([3.0, -2.0]), sampling="full",
        draws=1000, horizons=(12, 30), records=31,
    )  # fmt: skip
    orbit = QuadraticOrbit(a.tolist(), c.tolist(), [0.5, 0.25, 0.25], 0.1, 4, [3.0, -2.0])
    problem, p = Quadratics(a, c), N / 8
    data = run(problem, still_game(N), setting, p_star=p)
    literal = run_reference(problem, still_game(N), setting)
    f_star = float(problem.constants(p)["f_star"].value)
    for r in range(31):
        assert np.allclose(literal.x_hat[r], floats(orbit.x_hat(r)), rtol=1e-12, atol=1e-13)
    for j, k in enumerate(data.k.values[0].tolist()):
        assert float(data.e_bar[0, 0, j]) == pytest.approx(float(orbit.e_bar(k).mid()), rel=1e-10, abs=1e-28)
        assert float(data.grad_f_sq[0, 0, j]) == pytest.approx(
            float(orbit.grad_f_sq(k).mid()), rel=1e-10, abs=1e-26
        )
    for j, R in enumerate((12, 30)):
        gap = float(data.f_avg[0, 0, j]) - f_star
        assert gap == pytest.approx(float(orbit.f_gap_average(5, R).mid()), rel=1e-9)


def test_average_is_the_mean_of_its_terms() -> None:
    orbit = QuadraticOrbit([1, Q(1, 10)], [1, -1], [Q(1, 2)] * 2, Q(1, 20), 3, Q(2))
    terms = [orbit.x_bar(k)[0] for k in range(6, 24)]
    assert (sum(terms) / 18).overlaps(orbit.average(2, 8)[0])
    assert orbit.average(2, 8)[0].rad() < 1e-60


def test_the_drift_that_breaks_theorem_4_9() -> None:
    """a = (1, 1/10), c = (1, -1), p = 1/2 each, H = 10, x_0 = x*: the gap settles near 1.07e-6."""
    orbit = QuadraticOrbit([1, Q(1, 10)], [1, -1], [Q(1, 2)] * 2, 0.0029463, 10, Q(9, 11))
    assert (orbit.x_star()[0] * 11 - 9).contains(0)
    assert float(orbit.f_gap_average(0, 10**5).mid()) == pytest.approx(1.0696e-6, rel=1e-4)
    assert orbit.f_gap_average(0, 10**9).rad() < 1e-50


@pytest.mark.parametrize(
    "bad",
    [
        {"p": [1.0]},
        {"a": [1.0, -1.0]},
        {"gamma": 0.0},
        {"H": 0},
        {"x_0": [1.0, 2.0]},
    ],
)
def test_bad_orbits_are_refused(bad: dict) -> None:
    with pytest.raises(ValueError, match=r"out of|clients|weight|step|curvature"):
        QuadraticOrbit(
            **({"a": [1.0, 2.0], "c": [0.0, 1.0], "p": [0.5, 0.5], "gamma": 0.1, "H": 2, "x_0": 0.0} | bad)
        )
