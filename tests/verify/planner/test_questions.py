"""Lemma 4.4, Theorem 4.10, the inverse questions, sensitivity, and the cost."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import bounds
from verify.errors import InputError
from verify.planner.cost import cost_of, draw_front, pareto
from verify.planner.errors import NoPlan
from verify.planner.inverse import largest_constant, least_epsilon, rounds_within, sensitivity
from verify.planner.making import make_plan
from verify.planner.recheck import recheck
from verify.planner.regularised import _Pair

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
    for g in np.geomspace(1e-3, 1, 25):
        for lam in np.geomspace(1e-3, 1, 25):
            at = {**GAME, "R": R, "gamma_tilde_0": g, "lambda_0": lam, "a": 0.0, "b": 0.0}
            least = min(least, max(first.evaluate(at), second.evaluate(at)))
    assert least > 1.0


@pytest.mark.slow
def test_lemma_4_4_does_not_call_a_feasible_number_of_rounds_impossible() -> None:
    plan = make_plan(GAME, 1.0, "Lemma 4.4", a=0.1, b=0.1)
    choice = plan.certificate["choice"]
    point = (math.log(choice["gamma_tilde_0"]), math.log(choice["lambda_0"]))
    pair = _Pair("corrected", GAME, 1.0, 1.0)
    assert not pair.impossible(plan.R, 0.1, 0.1, point)
    assert pair.impossible(plan.R - 1, 0.1, 0.1, point)


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
