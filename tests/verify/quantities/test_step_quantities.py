"""One-step quantities against enumeration of the noise, identities against a broken run, verdicts by kind."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from flint import arb, ctx
from small_instance import SMALL
from sympy import Rational

import bounds
from bounds import Constant, Provenance
from simulate.problems.linear import LogisticRegression
from simulate.problems.quadratics import Quadratics, antipodal_noise
from simulate.reference import run_reference
from verify.auditing import run_seeds, watching
from verify.examine import examine
from verify.instance import parse_instance
from verify.quantities import replay, rounds
from verify.quantities.states import States
from verify.setup import build
from verify.verdict import Outcome, Rigor

TEXT = SMALL.replace("seeds = 2", "seeds = 6")


@pytest.fixture(scope="module")
def noisy():
    """The small instance with noise in its gradients and a batch of one."""
    setup = build(
        parse_instance(TEXT.replace('sampling = "full"', 'sampling = "iid"\ngamma = 0.02'), "small")
    )
    problem = Quadratics(
        setup.problem.a, setup.problem.c, antipodal_noise("cube", 3, 2, 0.7, atoms=2, seed=3)
    )
    shared = dict(setup.shared)
    shared["nu"] = problem.constants(setup.p_star)["nu"]
    setup = replace(setup, problem=problem, shared=shared)
    return setup, run_seeds(setup, 1, lambda *_: None)


def one_state(setup, run, r: int, h: int) -> States:
    part = replay.own(setup, run, r, 1)
    slack = np.full(run.sizes["round"], 1e-14)
    return States(setup, np.array([r]), np.array([h]), part.x[:1, h], run["p"].values, slack)


def outcomes(setup, state: States):
    """(probability, gradients of all clients) for every joint draw of one sample a client."""
    sizes = setup.problem.sizes
    for draw in itertools.product(*(range(s) for s in sizes)):
        g = [setup.problem.sample_gradient(i, state.x[0, i], j) for i, j in enumerate(draw)]
        yield 1 / np.prod(sizes), np.array(g)


@pytest.mark.parametrize("average", ["p_now", "p_next"])
@pytest.mark.parametrize("h", [0, 1])
def test_conditional_means_are_the_sums_over_all_draws(noisy, average, h) -> None:
    setup, run = noisy
    state = one_state(setup, run, 0, h)
    view, x = state.view(average), state.x[0]
    w = run["p"].values[int(average == "p_next")]
    after = run["p"].values[1] if h == 1 else w
    x_star = np.asarray(setup.shared["x_star"].value)
    square, inner, distance = 0.0, 0.0, 0.0
    for chance, g in outcomes(setup, state):
        g_bar = w @ g
        square += chance * g_bar @ g_bar
        inner += chance * sum(w[i] * g[i] @ g_bar for i in range(3))
        moved = after @ (x - setup.config.gamma * g) - x_star
        distance += chance * moved @ moved
    exact_square = (view.drift[0] ** 2).sum() + view.noise[0][0]
    assert exact_square == pytest.approx(square, rel=1e-12)
    assert view.next_dist_sq.values[0] == pytest.approx(distance, rel=1e-12)
    assert inner == pytest.approx(square, rel=1e-12)
    assert view.noise[0][0] > 1e-3  # the noise is there


def test_the_replayed_round_is_the_run_and_the_reference(noisy) -> None:
    setup, run = noisy
    part = replay.own(setup, run, 0, 2)
    reference = run_reference(setup.problem, setup.game, setup.config, seed=1)
    np.testing.assert_allclose(part.x[1], reference.x[:2], rtol=0, atol=1e-14)
    np.testing.assert_allclose(part.g[1], reference.g[:2], rtol=0, atol=1e-14)
    end = run["p"].values[1] @ (part.x[1, 1] - setup.config.gamma * part.g[1, 1])
    np.testing.assert_allclose(replay.model(run, 1, 2)[1], end, atol=1e-14)
    assert not np.allclose(replay.fresh(setup, run, 0, 2).g, part.g)


def test_fresh_rounds_have_the_mean_of_the_run(noisy) -> None:
    """E e_bar at the last step of round 0 over many fresh rounds, against the enumeration of the first step."""
    setup, run = noisy
    state = one_state(setup, run, 0, 0)
    w = run["p"].values[1]
    exact = 0.0
    for chance, g in outcomes(setup, state):
        x = state.x[0] - setup.config.gamma * g
        exact += chance * float(w @ ((x - w @ x) ** 2).sum(axis=1))
    many = run.isel(seed=[0] * 3000).assign_coords(seed=np.arange(3000))
    part = rounds._look(setup, many, 0, 3000, "p_next")
    seen = part.e_bar[:, 1]
    assert abs(seen.mean() - exact) < 5 * seen.std() / np.sqrt(3000)


def test_errors_cover_the_rounding_of_gradients() -> None:
    """Against balls at 200 bits: softmax's kin, a logistic regression, and quadratics with full matrices."""
    rng = np.random.default_rng(4)
    features = [rng.normal(size=(7, 4)) for _ in range(3)]
    logistic = LogisticRegression(features, [np.sign(rng.normal(size=7)) for _ in range(3)], 0.1)
    A = rng.normal(size=(3, 4, 4))
    quadratic = Quadratics(A @ A.swapaxes(1, 2), rng.normal(size=(3, 4)))
    setup = build(parse_instance(TEXT, "small"))
    for problem in (logistic, quadratic):
        x = 100 * rng.normal(size=(1, 3, 4))
        own = replace(setup, problem=problem)
        states = States(own, np.zeros(1, int), np.zeros(1, int), x, np.full((2, 3), 1 / 3), np.zeros(2))
        before, ctx.prec = ctx.prec, 200
        try:
            for i in range(3):
                _, exact = problem._enclose([arb(float(v)) for v in x[0, i]], np.eye(3)[i])
                off = [
                    float(abs(arb(float(g)) - e).upper())
                    for g, e in zip(states.gradient[0, i], exact, strict=True)
                ]
                assert np.linalg.norm(off) <= states.gradient_error[0, i]
                assert states.gradient_error[0, i] < 1e-8 * np.linalg.norm(states.gradient[0, i])
        finally:
            ctx.prec = before


IDENTITIES = ["Lemma 4.2", "Remark 6.2"]


@pytest.mark.parametrize("statement", IDENTITIES)
def test_the_printed_identity_is_false_where_the_weights_move(noisy, statement) -> None:
    setup, run = noisy
    printed = examine(setup, run, bounds.get(statement, "printed"), 0.01).verdict
    corrected = examine(setup, run, bounds.get(statement, "corrected"), 0.01).verdict
    assert printed.outcome is Outcome.VIOLATED
    assert printed.rigor is Rigor.RIGOROUS
    assert printed.round % setup.config.H == setup.config.H - 1  # a round boundary
    assert corrected.outcome is Outcome.HOLDS
    off = run.assign(x_hat=run["x_hat"] * xr.where(run["record"] == 1, 1 + 1e-9, 1.0))
    assert examine(setup, off, bounds.get(statement, "corrected"), 0.01).verdict.outcome is Outcome.VIOLATED


ONE_STEP = [
    "Lemma 4.11", "Lemma 4.12", "Lemma 4.14(a)", "Lemma 4.14(b)", "Remark 6.1", "Lemma 6.3", "Lemma 6.5", "Lemma 6.6",
    "Lemma 6.7", "Lemma 6.8", "Lemma 6.10",
]  # fmt: skip


@pytest.mark.parametrize("statement", ONE_STEP)
def test_one_step_lemmas_hold_without_statistics(noisy, statement) -> None:
    setup, run = noisy
    verdict = examine(setup, run, bounds.get(statement, "corrected"), 0.01).verdict
    assert verdict.outcome is Outcome.HOLDS, verdict.reason
    assert verdict.rigor is Rigor.RIGOROUS
    assert verdict.confidence == 1.0


@pytest.mark.parametrize(
    ("statement", "factor"),
    [
        ("Lemma 4.12", 5.0),
        ("Lemma 4.14(b)", 0.15),
        ("Lemma 6.5", 0.2),
        ("Lemma 6.7", 3.0),
        ("Lemma 6.8", 0.9),
    ],
)
def test_a_wrong_one_step_lemma_is_caught(noisy, statement, factor) -> None:
    """The same right side times a factor is false somewhere along the run, and is found out."""
    setup, run = noisy
    right = bounds.get(statement, "corrected")
    wrong = replace(right, expression=right.expression * Rational(factor))
    assert examine(setup, run, wrong, 0.01).verdict.outcome is Outcome.VIOLATED


@pytest.mark.parametrize("statement", ["Lemma 4.13(i)", "Lemma 4.13(ii)", "Lemma 4.13(iii)", "Lemma 6.9"])
def test_consensus_lemmas_of_a_deterministic_run_are_rigorous(statement) -> None:
    setup = build(parse_instance(TEXT, "small"))
    run = run_seeds(setup, 1, lambda *_: None)
    for edition in bounds.editions(statement):
        right = bounds.get(statement, edition)
        verdict = examine(setup, run, right, 0.01).verdict
        assert verdict.outcome is Outcome.HOLDS
        assert verdict.rigor is Rigor.RIGOROUS
        wrong = replace(right, expression=right.expression * Rational(1, 10**4))
        assert examine(setup, run, wrong, 0.01).verdict.outcome is Outcome.VIOLATED


def test_consensus_lemmas_of_a_random_run_go_through_statistics(noisy) -> None:
    setup, run = noisy
    right = bounds.get("Lemma 4.13(i)", "corrected")
    verdict = examine(setup, run, right, 0.01).verdict
    assert verdict.rigor is Rigor.STATISTICAL
    many = run.isel(seed=np.arange(600) % 6).assign_coords(seed=np.arange(600))
    wrong = replace(right, expression=right.expression * Rational(1, 5000))
    assert examine(setup, many, wrong, 0.01).verdict.outcome is Outcome.VIOLATED


def test_orders_limits_and_claims_get_no_verdict(noisy) -> None:
    setup, run = noisy
    order = examine(setup, run, bounds.get("Theorem 4.9(ii)"), 0.01).verdict
    assert order.outcome is Outcome.INCONCLUSIVE
    assert "an order, not a guarantee" in order.reason
    claim = examine(setup, run, bounds.get("Section 5.1"), 0.01).verdict
    assert claim.outcome is Outcome.INCONCLUSIVE
    assert "ledger" in claim.reason


def test_assumptions_are_judged_by_their_constants(noisy) -> None:
    setup, run = noisy
    assert examine(setup, run, bounds.get("Assumption 2.2(ii)"), 0.01).verdict.outcome is Outcome.HOLDS
    flat = replace(setup, shared={**setup.shared, "mu_F": Constant("mu_F", 0.0, Provenance.CERTIFIED)})
    assert (
        examine(flat, run, bounds.get("Assumption 2.2(ii)"), 0.01).verdict.outcome is Outcome.HYPOTHESIS_FAILS
    )
    guess = replace(setup, shared={**setup.shared, "L": Constant("L", 2.0, Provenance.ESTIMATED)})
    assert examine(guess, run, bounds.get("Assumption 2.1(i)"), 0.01).verdict.rigor is Rigor.INDICATIVE
    word = replace(setup, shared={**setup.shared, "G": Constant("G", 2.0, Provenance.GIVEN)})
    unknown = examine(word, run, bounds.get("Assumption 4.5"), 0.01).verdict
    assert unknown.outcome is Outcome.INCONCLUSIVE
    assert "unknown" in unknown.reason


def test_a_statement_about_the_other_update_says_nothing(noisy) -> None:
    setup, run = noisy
    verdict = examine(setup, run, bounds.get("Lemma 4.4(iv)"), 0.01).verdict
    assert verdict.outcome is Outcome.HYPOTHESIS_FAILS
    assert "regularised" in verdict.reason


def test_a_run_without_models_names_what_is_missing(noisy) -> None:
    setup, run = noisy
    verdict = examine(setup, run.drop_vars("x_hat"), bounds.get("Lemma 6.8"), 0.01).verdict
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "x_hat" in verdict.reason


def test_few_models_are_kept(noisy) -> None:
    setup, run = noisy
    config = watching(setup)
    assert config.models
    assert run.sizes["record"] <= 8
    assert replay.watched(run) == sorted({0, setup.r_hat, setup.config.R - 1})
