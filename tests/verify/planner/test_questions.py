"""Lemma 4.4, Theorem 4.10, the inverse questions, sensitivity, and the cost."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Float

import bounds
from verify.errors import InputError
from verify.planner.cost import cost_of, draw_front, pareto
from verify.planner.errors import NoPlan
from verify.planner.inverse import largest_constant, least_epsilon, rounds_within, sensitivity
from verify.planner.making import make_plan
from verify.planner.minimality import minimality
from verify.planner.recheck import recheck
from verify.planner.regularised import Pair

GAME = {"C_F": 2.0, "C_H": 1.0, "D_N": 3.0}


def stands(plan: Any) -> bool:
    return recheck(json.loads(json.dumps(plan.certificate))).problems == []


def test_lemma_4_4_no_schedule_of_a_grid_beats_the_plan() -> None:
    plan = make_plan(GAME, 1.0, "Lemma 4.4", a=0.0, b=0.0)
    assert plan.minimal["proved"]
    assert stands(plan)
    first, second = (bounds.get(f"Lemma 4.4({part})") for part in ("i", "ii"))
    R = plan.R - 1
    least = math.inf
    for g in np.geomspace(1e-2, 0.5, 12):
        for lam in np.geomspace(1e-2, 0.5, 12):
            at = {**GAME, "R": R, "gamma_tilde_0": g, "lambda_0": lam, "a": 0.0, "b": 0.0}
            least = min(least, max(first.evaluate(at), second.evaluate(at)))
    assert least > 1.0


def test_lemma_4_4_a_feasible_number_of_rounds_is_never_called_impossible() -> None:
    """The threshold itself: with targets just above the best value nothing is impossible, just below all is."""
    R, margin = 400, 1e-7
    value, log_g, log_lam = Pair("corrected", GAME, 1.0, 1.0).best(R, 0.0, 0.0)
    for factor, impossible in ((1 + margin, False), (1 - margin, True)):
        pair = Pair("corrected", GAME, value * factor, value * factor)
        assert pair.impossible(R, 0.0, 0.0, (log_g, log_lam)) is impossible


@pytest.mark.slow
def test_lemma_4_4_the_threshold_with_decreasing_schedules() -> None:
    plan = make_plan(GAME, 1.0, "Lemma 4.4", a=0.1, b=0.1)
    choice = plan.certificate["choice"]
    point = (math.log(choice["gamma_tilde_0"]), math.log(choice["lambda_0"]))
    pair = Pair("corrected", GAME, 1.0, 1.0)
    assert not pair.impossible(plan.R, 0.1, 0.1, point)
    assert pair.impossible(plan.R - 1, 0.1, 0.1, point)


def test_lemma_4_4_constant_schedules_are_the_default_and_no_exponents_beat_them() -> None:
    plan = make_plan(GAME, 1.0, "Lemma 4.4")
    assert (plan.certificate["choice"]["a"], plan.certificate["choice"]["b"]) == (0.0, 0.0)
    pair = Pair("corrected", GAME, 1.0, 1.0)
    best = pair.best(plan.R, 0.0, 0.0)[0]
    for a, b in ((0.02, 0.0), (0.0, 0.02), (0.1, 0.05), (0.05, 0.1), (0.5, 0.25)):
        assert pair.best(plan.R, a, b)[0] > best


@pytest.mark.slow
def test_lemma_4_4_for_a_given_b_the_best_a_is_searched() -> None:
    plan = make_plan(GAME, 2.0, "Lemma 4.4", b=0.05)
    assert plan.certificate["choice"]["b"] == 0.05
    assert all(plan.R <= make_plan(GAME, 2.0, "Lemma 4.4", a=a, b=0.05).R for a in (0.0, 0.02, 0.05, 0.3))


@given(
    steps=st.lists(st.floats(0.01, 1), min_size=1, max_size=8), lam=st.lists(st.floats(0.01, 1), min_size=8)
)
def test_lemma_4_4_the_constant_schedule_of_the_proof_is_no_worse(
    steps: list[float], lam: list[float]
) -> None:
    g = np.sort(steps)[::-1]
    welfare, dual = _gaps(g, np.sort(lam)[::-1][: g.size])
    level = float(g @ np.sort(lam)[::-1][: g.size] ** 2 / (g @ np.sort(lam)[::-1][: g.size]))
    flat = _gaps(np.full(g.size, g.mean()), np.full(g.size, level))
    assert flat[0] <= welfare * (1 + 1e-12)
    assert flat[1] <= dual * (1 + 1e-12)


def _gaps(g: Float[np.ndarray, " R"], lam: Float[np.ndarray, " R"]) -> tuple[float, float]:
    """Both bounds of Lemma 4.4 as the paper writes them, for arbitrary schedules."""
    c = (GAME["C_F"] + lam[0] * GAME["C_H"]) ** 2
    d, whole = GAME["D_N"], g @ lam
    welfare = (2 * d**2 + c * (g @ g)) / (2 * whole)
    dual = lam[0] * d**2 + c * (g**2 @ lam) / 2 + GAME["C_H"] * math.sqrt(2) * d * (g @ lam**2)
    return float(welfare), float(dual / whole)


@pytest.mark.parametrize("edition", ["printed", "corrected", "sharp"])
def test_theorem_4_10(edition: str, constants: dict[str, Any]) -> None:
    known = {**constants, "sigma_h": 0.1}
    plan = make_plan(known, 0.1, "4.10", edition, H=4)
    assert stands(plan)
    assert all(side.holds for side in plan.hypotheses)
    data = json.loads(json.dumps(plan.certificate))
    data["choice"]["R"] -= 1
    assert not recheck(data).passed
    with pytest.raises(NoPlan, match="a > b"):
        make_plan(known, 0.1, "4.10", edition, H=4, a=0.2, b=0.3)


@pytest.mark.parametrize(("edition", "shift"), [("printed", 0), ("corrected", 1), ("sharp", 1)])
def test_theorem_4_10_counts_the_moving_weights(edition: str, shift: int, constants: dict[str, Any]) -> None:
    """Against the bound written out: the first R from which the start's and the weights' terms stay small."""
    path = 0.4 / np.sqrt(np.arange(1500) + 1.0)
    path[500] = 8.0  # not monotone: what was small may grow again
    known = {**constants, "sigma_h": 0.1, "f_gap": 1e-4, "dist_0": 1.0, "d_sequence": path}
    step = float(make_plan(known, 0.1, "4.10", edition, H=4, r_hat=7, tolerance=1e3).gamma or 0)
    m, L, G = 5, 1.2, 1.0
    R = np.arange(8, 1500 - shift)
    means = np.cumsum(path[7 + shift :] ** 2)[: R.size] / (R - 7)
    if edition == "sharp":
        left = 4 * 1e-4 / (step * 4 * (R - 7)) + 4 * m * G**2 * means * m / 1000**2
    else:
        scale = (m - 1) / 1000  # delta_0 = (m-1) dist_0/||N*||_1, and dist_0 = 1
        left = 16 * 1e-4 / (step * 4 * (R - 7)) + 16 * m**2 * G**2 * (1 + 2 * L * step) * means * scale**2
    tolerance = float(0.97 * left[520 - 8])
    plan = make_plan(known, 0.1, "4.10", edition, H=4, r_hat=7, tolerance=tolerance)
    assert plan.R == R[np.nonzero(left > tolerance)[0][-1]] + 1 > 520
    assert plan.minimal["proved"]
    assert stands(plan)
    assert minimality(plan.certificate) is True
    data = json.loads(json.dumps(plan.certificate))
    for key in ("value", "used"):
        data["constants"]["d_sequence"][key][510] *= 2.0
    assert not recheck(data).passed


def test_theorem_4_10_says_what_is_left_when_the_path_is_too_short(constants: dict[str, Any]) -> None:
    known = {**constants, "d_sequence": np.full(50, 100.0)}
    with pytest.raises(NoPlan, match="after the 49 rounds"):
        make_plan(known, 0.1, "4.10", H=4)
    alone = make_plan(constants, 0.1, "4.10", H=4)
    assert alone.certificate["horizon"]["weights"] is None


@pytest.mark.parametrize("theorem", ["4.6", "4.9", "4.10", "Lemma 4.3", "Lemma 4.4"])
def test_minimality_is_proved_again_and_a_larger_R_is_not_minimal(
    theorem: str, constants: dict[str, Any]
) -> None:
    choices = {} if theorem.startswith("Lemma") else {"H": 4}
    known = GAME if theorem == "Lemma 4.4" else constants
    data = json.loads(json.dumps(make_plan(known, 0.5, theorem, **choices).certificate))
    assert minimality(data) is True
    later = {**data, "choice": {**data["choice"], "R": data["choice"]["R"] + 1}}
    assert minimality(later) is False  # the file still claims R - 2
    later["minimal"] = {**data["minimal"], "infeasible_R": data["choice"]["R"]}
    assert minimality(later) is False
    assert minimality({**data, "minimal": {**data["minimal"], "proved": None}}) is None


@pytest.mark.slow
def test_a_budget_gives_the_epsilon_whose_plan_it_is(constants: dict[str, Any]) -> None:
    best = least_epsilon(constants, 20000, "4.6", "sharp", H=4, start="warm")
    assert best.R == 20000
    again = make_plan(constants, best.epsilon, "4.6", "sharp", H=4, start="warm")
    assert again.R <= 20000
    fewer = make_plan(constants, best.epsilon * (1 - 1e-5), "4.6", "sharp", H=4, start="warm")
    assert fewer.R > 20000


def test_budgets(constants: dict[str, Any]) -> None:
    assert rounds_within(rounds=100, gradients=350, H=4) == 87
    assert rounds_within(traffic=8 * 11 * 7, model_size=10) == 7
    with pytest.raises(InputError, match="no budget"):
        rounds_within()


@pytest.mark.parametrize("name", ["nu", pytest.param("G", marks=pytest.mark.slow)])
def test_the_noise_that_is_covered(name: str, constants: dict[str, Any]) -> None:
    value, plan = largest_constant(constants, name, 0.2, 20000, "4.6", "sharp", H=4, start="warm")
    assert value > 0
    assert plan.bound <= 0.2
    how = {"H": 4, "start": "warm", "R": 20000}
    with pytest.raises(NoPlan):
        make_plan({**constants, name: value * (1 + 1e-4)}, 0.2, "4.6", "sharp", **how)


def test_sensitivity_where_it_is_known(constants: dict[str, Any]) -> None:
    quiet = {**constants, "dist_0": 1e-9, "G": 0.0, "B": 0.0, "f_gap": 2.0}
    slopes = sensitivity(
        quiet, 1e-5, "4.6", "sharp", H=4
    )  # noise rules: R is about 8 L nu^2 f_gap/(H epsilon^2) s
    assert slopes["nu"] == pytest.approx(2, abs=0.01)
    assert slopes["L"] == pytest.approx(1, abs=0.01)
    assert slopes["f_gap"] == pytest.approx(1, abs=0.01)
    assert "mu_F" not in slopes or abs(slopes["mu_F"]) < 1e-3


def test_cost_and_pareto(constants: dict[str, Any]) -> None:
    plans = [make_plan(constants, 0.1, "4.6", "sharp", H=H, start="warm") for H in (1, 2, 4, 8)]
    best = pareto(plans)
    for p in plans:
        rivals = [q for q in best if q.training_rounds <= p.training_rounds]
        assert any(cost_of(q).gradients <= cost_of(p).gradients for q in rivals)
    cost = cost_of(plans[2], model_size=10)
    assert cost.rounds == plans[2].R
    assert cost.game_rounds == plans[2].r_hat
    assert cost.gradients == 4 * (plans[2].R - plans[2].r_hat)
    assert cost.bytes_up == 8 * (10 * (plans[2].R - plans[2].r_hat) + plans[2].R)
    assert draw_front(plans)[:4] == b"\x89PNG"
