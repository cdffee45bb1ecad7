"""No verdict beyond what its constants, its arithmetic and its numbers show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bounds
from bounds import Constant
from verify import audit
from verify.api import check
from verify.auditing import run_seeds
from verify.errors import InputError
from verify.examine import examine
from verify.instance import parse_instance
from verify.setup import build
from verify.verdict import Outcome, Rigor

NETWORK = """
name = "network"

[data]
source = "synthetic"
seed = 6
sizes = [30, 30, 30]
dimension = 4
classes = 2

[problem]
kind = "network"
hidden = 4
regulariser = 1e-3

[game]
kind = "affine"
matrix = [[1.0, 0.2, -0.1], [-0.2, 1.1, 0.1], [0.1, -0.1, 0.9]]
offset = [-22.0, -18.0, -23.0]
lower = [1.0, 1.0, 1.0]
upper = "sizes"

[algorithm]
gamma = 1e-2
gamma_tilde = 0.1
H = 3
R = 20
r_hat = 0
N_0 = "upper"
x_0 = { seed = 1, scale = 0.5 }

[run]
seeds = 2

[check]
statements = [
  "Lemma 4.2", "Remark 6.2", "Lemma 4.11", "Remark 6.1", "Assumption 2.1(i)", "Assumption 4.5", "Theorem 4.9(i-1)",
]
editions = ["corrected"]
"""


def verdicts(text: str):
    report = audit([parse_instance(text, "network")])
    return {f.verdict.statement: f.verdict for f in report.findings}


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_network_s_rounding_is_its_own_precision_s_and_only_indicates(precision: str) -> None:
    found = verdicts(NETWORK.replace("hidden = 4", f'hidden = 4\nprecision = "{precision}"'))
    for statement in ("Lemma 4.2", "Remark 6.2", "Lemma 4.11", "Remark 6.1"):
        assert found[statement].outcome in (Outcome.HOLDS, Outcome.INCONCLUSIVE), found[statement]
        assert found[statement].rigor is Rigor.INDICATIVE
    if precision == "float64":
        assert found["Lemma 4.2"].outcome is Outcome.HOLDS


def test_estimates_show_no_assumption_and_unknown_convexity_is_no_failure() -> None:
    found = verdicts(NETWORK)
    assert found["Assumption 2.1(i)"].outcome is Outcome.INCONCLUSIVE
    assert "estimate" in found["Assumption 2.1(i)"].reason
    assert found["Theorem 4.9(i-1)"].outcome is Outcome.INCONCLUSIVE
    assert "not proved convex" in found["Theorem 4.9(i-1)"].reason


@pytest.mark.parametrize(
    ("problem", "convex"),
    [
        ('kind = "welsch"\nregulariser = 0.1', False),
        ('kind = "saturating"\nregulariser = 0.1\npositive = [1]', False),
        ('kind = "saturating"\npositive = [1]', True),
        ('kind = "logistic"\nl2 = 0.1\npositive = [1]', True),
    ],
)
def test_convexity_fails_only_where_it_is_disproved(problem: str, convex: bool) -> None:
    text = NETWORK.replace('kind = "network"\nhidden = 4\nregulariser = 1e-3', problem)
    verdict = verdicts(text)["Theorem 4.9(i-1)"]
    assert (verdict.reason == "the f_i are not convex (Assumption 4.8)") is not convex
    assert "proved convex" not in verdict.reason


def test_constants_of_a_ball_are_a_run_s_that_stays_in_it_and_no_assumption_s() -> None:
    wide = NETWORK.replace("hidden = 4", "hidden = 4\nball = 50.0").replace("1e-2", "1e-4")
    setup = build(parse_instance(wide, "network"))
    c = setup.config
    reach = setup.problem.reach(c.x_0, c.gamma, c.T_R)
    assert np.linalg.norm(c.x_0) < reach < 50
    found = verdicts(wide)
    for statement in ("Assumption 2.1(i)", "Assumption 4.5"):
        assert found[statement].outcome is Outcome.INCONCLUSIVE
        assert "||x|| <= 50 only" in found[statement].reason
    with pytest.raises(InputError, match=r"problem\.ball = 1: the iterates are only known to stay within"):
        build(parse_instance(wide.replace("50.0", "1.0"), "network"))


CONSTANTS = {
    "mu_F": 1.0, "L_F": 2.0, "gamma_tilde": 0.25, "m": 2, "H": 1, "gamma": 0.02, "L": 1.0, "nu": 0.1, "G": 0.1,
    "B": 1.0, "dist_0": 3.0, "N_star_l1": 10.0, "R": 400, "r": 0, "e_bar": 1.0, "grad_f_sq": 4.0, "g_bar_sq": 1.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "run"),
    [
        ("Lemma 4.11", {"weighted_inner": np.full(500, 0.5)}),
        ("Lemma 4.12", {"descent_inner": np.full(500, 100.0)}),
    ],
)
def test_seeds_test_no_equality_and_no_bound_from_below(statement: str, run) -> None:
    name = next(iter(run))
    with pytest.raises(InputError, match=rf"{name}_error'\] is missing: {statement} is"):
        check(statement, CONSTANTS, run, ceilings={name: 1000.0})
    curve = {name: run[name][:1], f"{name}_error": [1e-9]}
    right = Outcome.VIOLATED if statement == "Lemma 4.11" else Outcome.HOLDS
    assert check(statement, CONSTANTS, curve).outcome is right


def test_what_is_not_random_is_a_curve_without_a_word_on_its_error() -> None:
    below = check("Lemma 6.10", CONSTANTS, {"discount": np.full(5, 1e-3), "round": np.arange(1, 6)})
    assert (below.outcome, below.rigor) == (Outcome.VIOLATED, Rigor.INDICATIVE)
    law = {"C_F": 1.0, "C_H": 1.0, "D_N": 1.0, "gamma_tilde_0": 0.5, "a": 0.5, "lambda_0": 1.0, "b": 0.2}
    bound = [float(bounds.get("Lemma 4.4(ii)").evaluate({**law, "R": R})) for R in (1, 10, 1000)]
    within = {"dual_gap": 0.9 * np.array(bound), "round": [1, 10, 1000]}
    verdict = check("Lemma 4.4(ii)", {**law, "R": 1000}, within)
    assert (verdict.outcome, verdict.rigor) == (Outcome.HOLDS, Rigor.INDICATIVE)


@pytest.mark.parametrize("error", [{}, {"ne_distance_error": [0.0, 0.0]}])
@pytest.mark.parametrize("values", [[-3.0, -2.0], [3.0, -2.0]])
def test_a_negative_distance_is_refused(values, error) -> None:
    with pytest.raises(InputError, match=r"run\['ne_distance'\] holds -\d: it cannot be negative"):
        check("Lemma 4.3(i)", CONSTANTS, {"ne_distance": values, **error})


def test_an_implication_is_not_violated_by_its_conclusion_alone() -> None:
    known = {"H": 2, "gamma": 0.1, "beta": 1.0, "theta_t": [1.0, 1.0]}
    verdict = check("Lemma 6.3", known, {"recursion_term": [1e9], "recursion_term_error": [0.0]})
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "premise" in verdict.reason


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"p_star": [0.9, 0.9]}, r"'p_star'\] sums to 1\.8"),
        ({"p_star": [0.5, 0.5], "m": 3}, r"'p_star'\] has 2 entries: give one per client \(3\)"),
        ({"p_star": [0.5, 0.5], "f_i_star": [0.0]}, r"'f_i_star'\] has 1 entries: give one per client \(2\)"),
    ],
)
def test_weights_are_a_distribution_over_the_clients(more, message) -> None:
    known = {"m": 2, "L": 1.0, "f_star": 0.0, "f_i_star": [0.0, 0.0], "D_f": 1.0, **more}
    run = {"local_gradient_mean_sq": [1.0], "local_gradient_mean_sq_error": [0.0]}
    with pytest.raises(InputError, match=message):
        check("Lemma 6.5", known, run)


def test_a_ceiling_that_the_run_exceeds_by_a_rounding_is_one() -> None:
    known = {**CONSTANTS, "f_gap": 1.0, "r_hat": 40}
    top = 1.0 * (1 + 5e-10)
    verdict = check("Theorem 4.6(i-1)", known, {"grad_f_sq": np.full(50, top)}, ceilings={"grad_f_sq": 1.0})
    assert verdict.outcome is Outcome.VACUOUS
    tight = check("Theorem 4.6(i-1)", known, {"grad_f_sq": np.full(50, 5 * top)}, ceilings={"grad_f_sq": 5.0})
    assert tight.outcome is Outcome.VIOLATED


def test_as_printed_utility_losses_are_convex_for_every_strategy_of_the_others_not_only_on_the_box() -> None:
    text = NETWORK.replace('kind = "network"\nhidden = 4\nregulariser = 1e-3', 'kind = "welsch"')
    text = (
        text[: text.index("[check]")]
        + '[check]\nstatements = ["Assumption 2.2(i)"]\neditions = ["printed", "corrected"]\n'
    )
    affine = audit([parse_instance(text, "affine")]).findings
    assert [f.verdict.outcome for f in affine] == [Outcome.HOLDS, Outcome.HOLDS]
    first, last = text.index("[game]"), text.index("lower =")
    payoff = (
        '[game]\nkind = "concave_discovery"\nlabels = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]\n'
        "cost_rate = 0.1\nquadratic = 0.1\n"
    )
    concave = audit([parse_instance(text[:first] + payoff + text[last:], "concave")]).findings
    assert [f.verdict.outcome for f in concave] == [Outcome.INCONCLUSIVE, Outcome.HOLDS]
    assert "every N_{-i}" in concave[0].verdict.reason


def test_a_verdict_says_which_claims_it_took_as_given(small: str) -> None:
    setup = build(parse_instance(small, "small"))
    run = run_seeds(setup, 1, lambda *_: None)
    statement = bounds.get("Lemma 4.3(i)")
    assert "as given" not in examine(setup, run, statement, 0.01).verdict.reason
    word = replace(setup, shared={**setup.shared, "mu_F": Constant("mu_F", 1.5)})
    verdict = examine(word, run, statement, 0.01).verdict
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.reason.endswith("; mu_F taken as given")
