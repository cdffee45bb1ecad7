"""Every constant is attacked with random and adversarial points and must not be beaten."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from bounds.core.constant import Provenance
from simulate.problems import Quadratics, SoftmaxRegression, StronglyConvex
from simulate.problems.base import common_part_pair
from simulate.problems.tradeoff import moments, quadratic_pair, smallest_G, tradeoff_sdp
from tests.simulate.conftest import all_problems, small_quadratics

PROBLEMS = all_problems()
CONVEX = [name for name, problem in PROBLEMS.items() if isinstance(problem, StronglyConvex)]
P_STAR = np.array([0.5, 0.3, 0.2])


def attack(score: object, n: int, seed: int, scale: float) -> float:
    """The largest value of `score` found by ascent from a random point (derivative by differences)."""
    start = np.random.default_rng(seed).standard_normal(n) * scale
    result = minimize(lambda v: -score(v), start, method="L-BFGS-B", options={"maxiter": 15})
    return max(score(start), float(-result.fun))


@pytest.mark.parametrize("name", PROBLEMS)
@settings(max_examples=12 if settings.default.max_examples < 100 else 200)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.1, 1.0, 30.0]))
def test_L_is_not_beaten(name: str, seed: int, scale: float) -> None:
    problem = PROBLEMS[name]
    L, rng = problem.smoothness(), np.random.default_rng(seed)
    x, y = scale * rng.standard_normal((2, problem.n))
    for _ in range(
        15
    ):  # follow the direction in which the gradient moves most: a power iteration on the Hessian
        difference = problem.gradients(x) - problem.gradients(y)
        ratio = np.linalg.norm(difference, axis=1) / np.linalg.norm(x - y)
        assert ratio.max() <= L * (1 + 1e-12)
        direction = difference[np.argmax(ratio)]
        y = x - 1e-3 * scale * direction / np.linalg.norm(direction)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("t", [0.2, None, pytest.param(30.0, marks=pytest.mark.slow)])
def test_G_and_B_are_not_beaten(name: str, t: float | None) -> None:
    problem = PROBLEMS[name]
    c = problem.constants(P_STAR) if t is None else problem.constants(P_STAR, t=t)
    G, B = float(c["G"].value), float(c["B"].value)

    def excess(x: np.ndarray) -> float:
        g = problem.gradients(x)
        return float((g**2).sum() / problem.m - G**2 - B**2 * np.sum((P_STAR @ g) ** 2))

    size = float((problem.gradients(np.zeros(problem.n)) ** 2).sum())
    for seed in range(1 if t is None else 2):
        assert attack(excess, problem.n, seed, 2.0) <= 1e-9 * (G**2 + size)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("batch", "replacement"), [(1, "with"), (3, "with"), (3, "batch")])
def test_nu_is_not_beaten(name: str, batch: int, replacement: str) -> None:
    problem = PROBLEMS[name]
    nu = float(problem.constants(P_STAR, batch=batch, replacement=replacement)["nu"].value)
    for seed, scale in enumerate([0.0, 1.0, 100.0]):
        x = np.random.default_rng(seed).standard_normal(problem.n) * scale
        full = problem.gradients(x)
        for i in range(problem.m):
            size = int(problem.sizes[i])
            deviations = [problem.sample_gradient(i, x, j) - full[i] for j in range(size)]
            variance = np.mean([d @ d for d in deviations]) / batch
            if replacement == "batch":
                variance *= (size - batch) / (size - 1)
            assert variance <= nu**2 * (1 + 1e-12)


def test_quadratics_nu_is_attained() -> None:
    for law in ("sphere", "rademacher", "rare"):
        assert float(small_quadratics(law=law).constants(P_STAR)["nu"].value) == pytest.approx(0.7, rel=1e-9)


@pytest.mark.parametrize("name", CONVEX)
def test_minima_are_where_they_are_said_to_be(name: str) -> None:
    problem = PROBLEMS[name]
    c = problem.constants(P_STAR)
    x, radius = c["x_star"].value, float(c["x_star"].radius)
    assert radius < 1e-12
    assert c["x_star"].provenance is Provenance.CERTIFIED
    assert np.linalg.norm(problem.gradient(x, P_STAR)) < 1e-12
    bottom = float(c["f_star"].value) - float(c["f_star"].radius)
    assert float(c["f_star"].radius) < 1e-12

    def value(v: np.ndarray) -> float:
        return float(problem.loss(v, P_STAR))

    best = minimize(value, np.ones(problem.n), method="BFGS", options={"gtol": 1e-9}).fun
    assert bottom <= best + 1e-14 <= bottom + 1e-9
    for i, (f_i, r_i) in enumerate(zip(c["f_i_star"].value, c["f_i_star"].radius, strict=True)):
        alone = minimize(lambda v, i=i: float(problem.losses(v)[i]), np.ones(problem.n), method="BFGS").fun
        assert f_i - r_i <= alone + 1e-13 <= f_i + 1e-7
    S = float((problem.gradients(x) ** 2).sum())
    assert abs(S - float(c["S"].value)) <= float(c["S"].radius) + 1e-13


@pytest.mark.parametrize("name", PROBLEMS)
def test_gradients_are_the_losses_derivatives(name: str) -> None:
    problem, rng = PROBLEMS[name], np.random.default_rng(2)
    x, step = rng.standard_normal(problem.n), 1e-6
    for d in range(problem.n):
        e = np.eye(problem.n)[d] * step
        slope = (problem.losses(x + e) - problem.losses(x - e)) / (2 * step)
        assert np.allclose(slope, problem.gradients(x)[:, d], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", PROBLEMS)
def test_sample_gradients_average_to_the_gradient(name: str) -> None:
    problem, x = PROBLEMS[name], np.linspace(-1, 1, PROBLEMS[name].n)
    for i in range(problem.m):
        mean = np.mean([problem.sample_gradient(i, x, j) for j in range(problem.sizes[i])], axis=0)
        assert np.allclose(mean, problem.gradients(x)[i], rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", PROBLEMS)
def test_ceilings_are_not_beaten_by_adversarial_runs(name: str) -> None:
    """Runs that always take the worst sample stay below the ceilings."""
    problem, gamma, K = PROBLEMS[name], 0.08, 40
    x_0 = np.linspace(-1, 1, problem.n)
    displacement = problem.displacement_ceiling(x_0, gamma, K)
    gap_ceiling = problem.f_gap_ceiling(x_0, gamma, K, P_STAR)
    grad_ceiling = problem.grad_f_sq_ceiling(x_0, gamma, K, P_STAR)
    f_star = problem.constants(P_STAR)["f_star"]
    bottom = float(f_star.value) - float(f_star.radius)
    for i in range(problem.m):
        x = x_0.copy()
        for _ in range(K):
            moves = [problem.sample_gradient(i, x, j) for j in range(problem.sizes[i])]
            x = min((x - gamma * g for g in moves), key=lambda y: -np.linalg.norm(y - x_0))
            assert np.linalg.norm(x - x_0) <= displacement
            assert problem.loss(x, P_STAR) - bottom <= gap_ceiling
            assert np.sum(problem.gradient(x, P_STAR) ** 2) <= grad_ceiling
    assert gap_ceiling < 1e4


@pytest.mark.slow
def test_quadratics_pair_is_the_semidefinite_programs_curve() -> None:
    for problem in (small_quadratics(), small_quadratics(full=True)):
        x = problem.minimiser(P_STAR).x
        A, at_star = problem.matrices(), problem.gradients(x)
        A2, M, b, s = moments(A, at_star, P_STAR)
        for weight in (0.5, 5.0):
            G_sq, B_sq = tradeoff_sdp(A, at_star, P_STAR, weight)
            assert smallest_G(A2, M, b, s, B_sq * (1 + 1e-6)) == pytest.approx(G_sq, rel=1e-3)
            for t in (0.1, 1.0, 10.0):
                G, B = quadratic_pair(A, at_star, P_STAR, 0.0, t)
                assert G**2 + weight * B**2 >= (G_sq + weight * B_sq) * (1 - 1e-6)
        G, B = quadratic_pair(A, at_star, P_STAR, 0.0, 1.0)
        assert smallest_G(A2, M, b, s, B**2) == pytest.approx(G**2, rel=1e-8)


def test_welsch_is_bounded_and_needs_no_B() -> None:
    problem = PROBLEMS["welsch"]
    c = problem.constants(P_STAR)
    assert c["B"].value == 0.0
    assert c["f_sup"].value == 1.0 + 0.1 * problem.n
    far = 1e3 * np.random.default_rng(0).standard_normal((50, problem.n))
    assert 1.3 < problem.losses(far).max() <= c["f_sup"].value


def test_nonconvex_minimum_lies_in_its_interval() -> None:
    for name in ("welsch", "saturating"):
        problem = PROBLEMS[name]
        f_star = problem.constants(P_STAR)["f_star"]
        values = [
            minimize(lambda v, f=problem: float(f.loss(v, P_STAR)), x).fun
            for x in np.random.default_rng(1).standard_normal((5, problem.n))
        ]
        assert min(values) >= float(f_star.value) - float(f_star.radius)
        assert min(values) >= (float(f_star.value) + float(f_star.radius)) * (1 - 1e-3)


def test_the_squared_loss_has_no_global_nu() -> None:
    assert PROBLEMS["least-squares"].constants(P_STAR)["nu"].value == np.inf


def test_full_and_subset_noise() -> None:
    problem = PROBLEMS["softmax"]
    assert problem.constants(P_STAR, sampling="full")["nu"].value == 0.0
    single = float(problem.constants(P_STAR)["nu"].value)
    assert float(problem.constants(P_STAR, sampling="subset")["nu"].value) > single


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Quadratics(np.ones(2), np.ones((3, 2))), "a has shape"),
        (lambda: Quadratics(np.array([1.0, np.nan]), np.ones((2, 2))), "not finite"),
        (lambda: Quadratics(np.array([1.0, -0.1]), np.ones((2, 2))), "smallest eigenvalue"),
        (lambda: Quadratics(np.array([[[1.0, 1.0], [0.0, 1.0]]]), np.ones((1, 2))), "asymmetric"),
        (lambda: Quadratics(np.ones(2), np.ones((2, 2)), np.ones((2, 3))), "noise has shape"),
        (lambda: common_part_pair(np.ones(3), P_STAR, 0.0), "t = 0.0"),
    ],
)
def test_bad_problems_are_named(build: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build()


def test_softmax_K_is_attained_by_one_label_and_equal_samples() -> None:
    """Confidently wrong everywhere: ||M_i|| = sqrt 2 ||a||, so a smaller K_i would be false."""
    a = np.array([1.0, 2.0, -1.0])
    problem = SoftmaxRegression([np.tile(a, (4, 1))], [np.zeros(4, dtype=int)], 3, 1e-3)
    W = np.outer(np.array([-50.0, 50.0, 0.0]), a / (a @ a)).ravel()
    M = np.linalg.norm(problem.gradients(W)[0] - 1e-3 * W)
    assert problem.K[0] * (1 - 1e-9) <= M <= problem.K[0]
