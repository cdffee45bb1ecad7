"""The exact expectations against Algorithm 1 itself: every sign of the noise, in rationals, step by step."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq

import bounds
from simulate.closed_form import QuadraticOrbit
from verify.errors import InputError
from verify.instance import parse_instance
from verify.searching.exact import equilibrium, expectations, path, precision, shares
from verify.searching.families import Family
from verify.searching.moments import ROUNDS, moments
from verify.searching.objective import TARGETS, ratios
from verify.searching.population import Population
from verify.searching.recheck import Recheck, recheck
from verify.searching.toml import instance_toml
from verify.setup import build

THEOREM = bounds.get("Theorem 4.9(i-1)", "corrected")


def small(**changes: object) -> Population:
    """Two clients, a rotation with damping, noise: every number exact in binary."""
    base = {
        "A": [[[1.0, 2.0], [-2.0, 1.0]]], "N_star": [[4.0, 8.0]], "push": [[0.0, 0.0]], "lower": [[1.0, 1.0]],
        "upper": [[16.0, 16.0]], "N_0": [[5.0, 15.0]], "gamma_tilde": [0.125], "lambda_0": [0.0], "a": [0.0],
        "b": [0.0], "target": [[4.0, 8.0]], "curvature": [[1.0, 0.25]], "centre": [[1.0], [-2.0]], "x_0": [3.0],
        "nu": [0.5], "tradeoff": [1.0], "gamma": [0.125], "H": [2], "r_hat": [1], "R": [2],
    }  # fmt: skip
    arrays = {name: np.array(value) for name, value in (base | changes).items()}
    arrays["centre"] = arrays["centre"].reshape(1, -1)
    return Population(**arrays)


def literal(pop: Population, now: bool) -> dict[str, Fraction]:
    """Algorithm 1, line by line, averaged over all signs of the noise."""
    F = Fraction
    A = [[F(v) for v in row] for row in pop.A[0].tolist()]
    star, low, high = ([F(v) for v in x[0].tolist()] for x in (pop.N_star, pop.lower, pop.upper))
    a, c = ([F(v) for v in x[0].tolist()] for x in (pop.curvature, pop.centre))
    g, gt, nu, H, R, r_hat = (
        F(pop.gamma[0]),
        F(pop.gamma_tilde[0]),
        F(pop.nu[0]),
        *(int(x[0]) for x in (pop.H, pop.R, pop.r_hat)),
    )
    m = len(a)
    N = [[F(v) for v in pop.N_0[0].tolist()]]
    for _ in range(R):
        x = N[-1]
        step = [x[i] - gt * sum(A[i][j] * (x[j] - star[j]) for j in range(m)) for i in range(m)]
        N.append([min(max(v, lo), hi) for v, lo, hi in zip(step, low, high, strict=True)])
    p = [[v / sum(x) for v in x] for x in N]
    p_star = [v / sum(star) for v in star]
    curvature = sum(q * v for q, v in zip(p_star, a, strict=True))
    x_star = sum(q * v * w for q, v, w in zip(p_star, a, c, strict=True)) / curvature
    total = dict.fromkeys(("f_gap_avg", "grad_f_sq", "f_gap", "D_sq"), F(0))
    count = 0
    for signs in product((-1, 1), repeat=m * H * R) if nu else [(0,) * (m * H * R)]:
        count += 1
        draw = iter(signs)
        server, seen = F(pop.x_0[0]), []
        for r in range(R):
            if r == r_hat:
                total["f_gap"] += curvature * (server - x_star) ** 2 / 2
                total["D_sq"] += (server - x_star) ** 2
            x = [server] * m
            for _ in range(H):
                if r >= r_hat:
                    weights = p[r] if now else p[r + 1]
                    seen.append(sum(w * v for w, v in zip(weights, x, strict=True)))
                x = [v - g * (a[i] * (v - c[i]) + next(draw) * nu) for i, v in enumerate(x)]
            server = sum(w * v for w, v in zip(p[r + 1], x, strict=True))
        average = sum(seen) / len(seen)
        total["f_gap_avg"] += curvature * (average - x_star) ** 2 / 2
        total["grad_f_sq"] += curvature**2 * sum((v - x_star) ** 2 for v in seen) / len(seen)
    return {name: value / count for name, value in total.items()}


CASES = {
    "noise": {},
    "noise from the start": {"r_hat": [0]},
    "three rounds without noise": {"nu": [0.0], "R": [3], "H": [3]},
    "one local step": {"H": [1], "R": [3]},
    "a start cut off by the box": {"N_0": [[16.0, 1.0]], "nu": [0.0], "R": [6], "r_hat": [2]},
    "gamma = 1/L": {"gamma": [1.0], "nu": [0.25]},
}


@pytest.mark.parametrize("average", ["p_now", "p_next"])
@pytest.mark.parametrize("case", CASES)
def test_both_ways_equal_every_sign_of_the_noise(case: str, average: str) -> None:
    pop = small(**CASES[case])
    truth = literal(pop, average == "p_now")
    setup = build(parse_instance(instance_toml(pop, THEOREM), case))
    with precision(128):
        enclosed = expectations(setup, path(setup), average)
        for name, value in truth.items():
            ball = getattr(enclosed, name)
            assert ball.overlaps(arb(fmpq(value.numerator, value.denominator))), (name, ball, float(value))
            assert float(ball.rad()) < 1e-30
    fast = moments(pop, pop.path(ROUNDS), average)
    assert fast.f_gap_avg[0] == pytest.approx(float(truth["f_gap_avg"]), rel=1e-12)
    assert fast.grad_f_sq[0] == pytest.approx(float(truth["grad_f_sq"]), rel=1e-12)
    assert fast.f_gap[0] == pytest.approx(float(truth["f_gap"]), rel=1e-12)
    assert fast.D_r_hat[0] ** 2 == pytest.approx(float(truth["D_sq"]), rel=1e-12)


def test_at_rest_the_closed_form_gives_the_same_to_the_last_round() -> None:
    pop = small(N_0=[[4.0, 8.0]], nu=[0.0], r_hat=[0], R=[1500], H=[5], gamma=[0.03125])
    setup = build(parse_instance(instance_toml(pop, THEOREM), "rest"))
    orbit = QuadraticOrbit([1.0, 0.25], [1.0, -2.0], (Fraction(1, 3), Fraction(2, 3)), 0.03125, 5, 3.0)
    with precision(256):
        found = expectations(setup, path(setup), "p_next")
        assert found.f_gap_avg.overlaps(orbit.f_gap_average(0, 1500))
        assert float(found.f_gap_avg.rad()) < 1e-40
    fast = moments(pop, pop.path(ROUNDS), "p_next")
    assert fast.f_gap_avg[0] == pytest.approx(float(orbit.f_gap_average(0, 1500).mid()), rel=1e-10)


def test_the_run_of_the_simulator_is_the_path() -> None:
    import simulate

    pop = small(R=[40])
    setup = build(parse_instance(instance_toml(pop, THEOREM), "path"))
    run = simulate.participation(setup.game, setup.config.N_0, setup.config.gamma_tilde, 40)
    with precision(128):
        balls = path(setup)
        star = equilibrium(setup)
        assert [float(x.mid()) for x in star] == [4.0, 8.0]
        assert float(sum(x.rad() for x in shares(balls[40]))) < 1e-25
    middle = np.array([[float(x.mid()) for x in N] for N in balls])
    assert np.all(np.linalg.norm(middle - run.N, axis=1) <= run.error + 1e-18)
    assert np.abs(pop.path(40)[0] - middle).max() < 1e-12


def test_the_regularised_path_is_the_simulators() -> None:
    import simulate

    pop = small(lambda_0=[2.0], a=[0.5], b=[0.25], target=[[3.0, 12.0]], R=[30])
    statement = bounds.get("Lemma 4.4(iv)", "corrected")
    setup = build(parse_instance(instance_toml(pop, statement), "regularised"))
    c = setup.config
    run = simulate.participation(
        setup.game, c.N_0, c.gamma_tilde, c.R, welfare=c.welfare, lambda_0=c.lambda_0, a=c.a, b=c.b
    )
    with precision(128):
        middle = np.array([[float(x.mid()) for x in N] for N in path(setup)])
    assert np.all(np.linalg.norm(middle - run.N, axis=1) <= run.error + 1e-18)
    assert np.abs(pop.path(30)[0] - middle).max() < 1e-12
    assert np.abs(middle[-1] - [4.0, 8.0]).max() > 1e-3  # the regularisation pulls


def proof_of(pop: Population, statement: bounds.Statement) -> Recheck | None:
    """The proof; None for a vertex of a merely monotone game, whose N* is not proved: no verdict."""
    try:
        return recheck(parse_instance(instance_toml(pop, statement), "random"), statement)
    except InputError as error:
        if "degenerate" in str(error) and pop.lambda_0[0] > 0:
            return None
        raise


RANDOM = [(id, noisy) for id in TARGETS for noisy in ((False, True) if TARGETS[id].learns else (False,))]


@pytest.mark.parametrize(("id", "noisy"), RANDOM)
def test_float_and_proof_agree_on_random_instances(id: str, noisy: bool) -> None:
    """The ratio that the search sees is the one that the proof finds, and its hypotheses are proved to hold."""
    agreed = 0
    for edition in bounds.editions(id):
        statement = bounds.get(id, edition)
        family = Family(statement, 2, noisy)
        pop = family.decode(np.random.default_rng(5).random((family.dimension, 24)))
        pop = Population(**{**vars_of(pop), "R": np.minimum(pop.R, pop.r_hat + 60)})
        seen = ratios(statement, pop)
        for i in np.argsort(-seen)[:3]:
            near = np.abs(pop.N_0[i] - pop.N_star[i]).max() < 1e-5 * pop.N_star[i].sum()
            if seen[i] == -np.inf or near:  # so near N* that float64 data no longer say where N* is
                continue
            proof = proof_of(pop.only(int(i)), statement)
            if proof is None:
                continue
            assert all(h.holds for h in proof.verdict.hypotheses)
            assert seen[i] == pytest.approx(proof.low, rel=1e-5), (edition, i)
            assert proof.high - proof.low <= 1e-7 * proof.high
            agreed += 1
    assert agreed >= 2


def vars_of(pop: Population) -> dict[str, np.ndarray]:
    """The fields of a population."""
    return {name: getattr(pop, name) for name in Population.__dataclass_fields__}
