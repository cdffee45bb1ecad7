"""Nothing that a climb finds on exact runs exceeds a bound, and what it finds is not nothing.

The tests assert a worst ratio in (0, 1]: a bound that is too small goes red, and so does an attack that never
gets anywhere.
"""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import ALL
from reference.attack import ATTACKS, climb, walk
from reference.attack_game import GAME_ATTACKS, GAME_SIZE
from reference.attack_steps import STEP_ATTACKS, climb_step
from reference.base import delta_at, num
from reference.exact import Game, Observed, Quadratics, run_quadratics, weights


def fractions(rows: object) -> np.ndarray:
    """An object array of exact Fractions."""
    return np.vectorize(Fraction, otypes=[object])(np.array(rows))


def test_noise_of_one_client_has_its_closed_form() -> None:
    a, gamma, nu_sq, steps = 0.5, 0.25, 3.0, 7
    problem = Quadratics(np.array([[[a]]]), np.array([[1.0]]), np.array([1.0]), nu_sq)
    seen = run_quadratics(problem, np.ones((steps, 1)), np.array([4.0]), gamma, H=1)
    k = np.arange(steps)
    variance = np.array([gamma**2 * nu_sq * sum((1 - gamma * a) ** (2 * j) for j in range(n)) for n in k])
    np.testing.assert_allclose(seen.X_sq, 9 * (1 - gamma * a) ** (2 * k) + variance, rtol=1e-13)
    average = 3 * ((1 - gamma * a) ** k).mean()
    weight = [sum((1 - gamma * a) ** j for j in range(steps - 1 - t)) for t in range(steps - 1)]
    spread = gamma**2 * nu_sq * sum(w**2 for w in weight) / steps**2
    np.testing.assert_allclose(seen.gap_avg, a / 2 * (average**2 + spread), rtol=1e-13)


def test_floats_agree_with_fractions() -> None:
    rng = np.random.default_rng(4)
    A = np.array([np.diag(v) for v in rng.integers(1, 9, (3, 2)) / 8])
    c, N_star, N_0 = rng.integers(-4, 5, (3, 2)) / 2.0, np.array([4.0, 8.0, 2.0]), np.array([1.0, 9.0, 6.0])
    game = (np.array([[1.0, 0.5, 0.0], [-0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3), np.ones(3))
    results = []
    for kind in (np.array, fractions):
        M, w, lower = (kind(x) for x in game)
        N = Game(M, w, lower, 10 * lower, kind(N_star)).trajectory(kind(N_0), Fraction(1, 4), 4)
        p_star = kind(N_star) / kind(N_star).sum()
        problem = Quadratics(kind(A), kind(c), p_star, Fraction(1, 2), correlated=False)
        results.append(run_quadratics(problem, weights(N)[1:], kind([1.0, -1.0]), Fraction(1, 8), 3, r_hat=1))
    for name in ("grad_f_sq", "gap", "X_sq", "e_bar", "V", "grad_fi_sq_sum", "gap_avg"):
        low, exact = (np.asarray(getattr(seen, name), dtype=float) for seen in results)
        np.testing.assert_allclose(low, exact, rtol=1e-12, atol=1e-15)


def test_averages_move_as_lemma_4_2_says_with_the_weights_of_the_aggregation() -> None:
    """And not with the paper's p_{i,r}: at a round's end x_bar jumps when the weights move."""
    problem = Quadratics(fractions([[[1]], [[1]]]), fractions([[0], [1]]), fractions(["1/2", "1/2"]))
    p = fractions([["3/4", "1/4"], ["5/8", "3/8"], ["9/16", "7/16"]])
    gamma, H = Fraction(1, 4), 2
    corrected = run_quadratics(problem, p[1:], fractions([4]), gamma, H)
    printed = run_quadratics(problem, p[1:], fractions([4]), gamma, H, now=p[:-1])
    assert list(corrected.boundary) == [0, 0, 0, 0]
    assert [v > 0 for v in printed.boundary] == [False, True, False, False]


@pytest.mark.parametrize("name", ATTACKS)
def test_no_run_exceeds_its_bound(name: str) -> None:
    worst, shape, _ = climb(name, np.random.default_rng(1), restarts=6, steps=12)
    assert 0 < worst <= 1, shape


@pytest.mark.parametrize("clients", [(1, 2), (3, 6)], ids=["m<=2", "m>=3"])
@pytest.mark.parametrize("name", STEP_ATTACKS)
def test_no_step_exceeds_its_bound(name: str, clients: tuple[int, int]) -> None:
    worst, step = climb_step(STEP_ATTACKS[name], np.random.default_rng(2), 3, 25, clients)
    assert 0 < worst <= 1, step


@pytest.mark.parametrize("name", GAME_ATTACKS)
def test_no_game_exceeds_its_bound(name: str) -> None:
    """These bounds are nearly attained by long climbs; a short one has to come some of the way."""
    rng = np.random.default_rng(8)
    worst = max(walk(GAME_ATTACKS[name], GAME_SIZE + 2 * R, rng, 40)[1] for R in (1, 2, 5))
    assert 0.1 < worst <= 1


@pytest.mark.parametrize("edition", ["printed", "corrected"])
def test_the_recursion_of_lemma_6_3_at_equality_stays_below_its_bounds(edition: str) -> None:
    """a_k = (k - T_r) gamma^2 sum (beta a_t + theta_t): the largest sequence that the hypothesis allows."""
    reference, rng, largest = ALL["Lemma 6.3", edition], np.random.default_rng(1), mpf(0)
    for _ in range(60):
        c = reference.draw(rng)
        a, g = [mpf(0)], num(c["gamma"]) ** 2
        for k in range(1, len(c["theta_t"]) + 1):
            a.append(k * g * sum(num(c["beta"]) * a[t] + num(c["theta_t"][t]) for t in range(k)))
        bound = ALL["Lemma 6.3 (18)", edition].value(**c)
        assert a[-1] <= bound <= reference.value(**c)
        largest = max(largest, a[-1] / bound if bound else mpf(0))
    assert largest == 1  # H = 1, or the first step of a round


def test_the_product_of_lemma_6_10_stays_above_its_bound() -> None:
    reference, rng, largest = ALL["Lemma 6.10", "printed"], np.random.default_rng(1), mpf(0)
    for _ in range(20):
        c = reference.draw(rng)
        factors = [1 + c["m"] * num(c["gamma"]) * mp.sqrt(delta_at(r, **c)) for r in range(60)]
        c_k = 1 / mp.fprod(f ** c["H"] for f in factors)
        assert reference.value(**c) <= c_k
        largest = max(largest, reference.value(**c) / c_k)
    assert largest > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_no_run_exceeds_its_bound_after_a_long_climb(name: str) -> None:
    worst, shape, _ = climb(name, np.random.default_rng(5), restarts=60, steps=150)
    assert 0 < worst <= 1, shape


@pytest.mark.slow
def test_theorem_4_6_survives_beyond_the_reach_of_lemma_4_13() -> None:
    """With m B < 0.198 its step size may exceed 1/(sqrt(3) H L) from H = 19 on."""
    worst, shape, _ = climb("Theorem 4.6(i-1), corrected", np.random.default_rng(9), 60, 100, H_max=80)
    assert 0 < worst <= 1, shape


@pytest.mark.slow
@pytest.mark.parametrize("clients", [(2, 2), (3, 3), (4, 8)], ids=["m=2", "m=3", "m>=4"])
@pytest.mark.parametrize("name", STEP_ATTACKS)
def test_no_step_exceeds_its_bound_after_a_long_climb(name: str, clients: tuple[int, int]) -> None:
    worst, step = climb_step(STEP_ATTACKS[name], np.random.default_rng(6), 40, 400, clients)
    assert 0 < worst <= 1, step


def lone_term(term: str) -> tuple[dict[str, object], Observed]:
    """A run from x* that only drift, only noise, or only moving weights disturb: two clients on a line."""
    moving, H = term == "weights", 4 if term == "drift" else 1
    nu_sq = 1.0 if term == "noise" else 0.0
    q = np.array([[0.6, 0.4] if moving else [0.5, 0.5]] * 200)
    problem = Quadratics(np.array([[[1.0]], [[0.25]]]), np.array([[0.0], [1.0]]), np.array([0.5, 0.5]), nu_sq)
    u_sq = float((problem.gradients_at(problem.minimiser()) ** 2).sum())
    gamma = 1 / 200.0
    seen = run_quadratics(problem, q, problem.minimiser(), gamma, H)
    M, w = (1 + 1 / 16) / 2 / 0.625**2, u_sq / 2  # mean of (a_i/a)^2, of u_i^2; v as in `dissimilarity`
    v = (1 - 0.25) * 0.2 / 2 / 0.625
    c = {
        "m": 2,
        "H": H,
        "R": 200,
        "r_hat": 0,
        "L": 1.0,
        "nu": nu_sq**0.5,
        "gamma": gamma,
        "kappa": 1.2,
        "s": 0.52,
    }
    c |= {"B": (2 * M) ** 0.5, "G": (w + v**2 / M) ** 0.5, "f_gap": 0.0, "D_r_hat": 0.0, "S": u_sq}
    c |= {"sigma_sq": 0.6 * u_sq, "omega": 1.2, "Delta_sq_mean": 0.02 if moving else 0.0}
    D = c["Delta_sq_mean"] ** 0.5
    return {**c, "Delta_mean": D, "Delta_sup": D, "A_sum": 200 * (2 * 2**0.5 * D + D**2)}, seen


@pytest.mark.parametrize("edition", ["sharp", "sharper"])
@pytest.mark.parametrize("term", ["drift", "noise", "weights"])
def test_each_term_of_the_sharp_theorems_is_needed(term: str, edition: str) -> None:
    """From x* without drift, noise or weights both bounds are 0; each alone moves the run, within bounds."""
    c, seen = lone_term(term)
    pairs = {"Theorem 4.6(i-1)": seen.grad_f_sq.mean(), "Theorem 4.9(i-1)": seen.gap_avg}
    for name, observed in pairs.items():
        assert 1e-5 < float(observed / ALL[name, edition].value(**c)) <= 1, name
        without = {**c, "sigma_sq": 0.0, "nu": 0.0, "H": 1, "Delta_sq_mean": 0.0, "Delta_mean": 0.0}
        assert ALL[name, edition].value(**without) == 0
