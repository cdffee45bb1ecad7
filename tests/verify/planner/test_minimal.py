"""The smallest number of rounds, against brute force over small grids and against scaling laws."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import bounds
from bounds.core.enclosure import precision
from verify.planner.curve import Ball, Start, least_one
from verify.planner.errors import NoPlan
from verify.planner.making import make_plan
from verify.planner.search import BITS

SMALL = {
    "m": 2, "L": 1.0, "nu": 0.05, "G": 0.3, "B": 1.0, "mu_F": 0.9, "L_F": 1.0, "dist_0": 2.0, "N_star_l1": 10.0,
    "S": 0.2, "p_star_min": 0.4,
}  # fmt: skip


def brute_force(
    theorem: str, edition: str, c: dict[str, Any], epsilon: float, start: dict[str, float]
) -> int:
    """The smallest R for which some r_hat < R and some gamma of a fine grid do, by the statements alone."""
    bound = bounds.get(f"Theorem {theorem}(i-1)", edition)
    distance = bounds.get(f"Theorem {theorem}(i-2)", edition)
    step = float(Fraction(c["mu_F"]) / Fraction(c["L_F"]) ** 2) * (1 - 1e-15)
    base = {**c, **start, "gamma_tilde": step}
    warm = lambda at: all(  # noqa: E731
        check.holds
        for h, check in zip(bound.hypotheses, bound.check(at), strict=True)
        if "gamma <=" not in h.name
    )
    for R in range(1, 4000):
        for r_hat in range(R):
            at = {**base, "R": R, "r_hat": r_hat}
            if not warm({**at, "gamma": 1e-9}):
                continue
            if theorem == "4.6" and distance.evaluate(at) > epsilon:
                continue
            cap = bound.largest("gamma", at)
            gammas = cap * np.geomspace(1e-3, 1, 4001)
            if np.min(bound.evaluate({**at, "gamma": gammas}, unchecked=True)) <= epsilon:
                return R
    raise AssertionError("no plan below 4000 rounds")


@pytest.mark.parametrize(
    ("theorem", "edition", "epsilon", "start"),
    [
        ("4.6", "sharp", 0.6, {"f_gap": 0.4}),
        ("4.9", "sharp", 0.4, {"D_r_hat": 0.3}),
        pytest.param("4.6", "corrected", 9.0, {"f_gap": 0.5}, marks=pytest.mark.slow),
        pytest.param("4.9", "corrected", 6.0, {"D_r_hat": 0.5}, marks=pytest.mark.slow),
    ],
)
def test_brute_force_finds_the_same_rounds(
    theorem: str, edition: str, epsilon: float, start: dict[str, float]
) -> None:
    c = {**SMALL, "H": 2, "kappa": 2.0, "s": 1.0, "sigma_sq": 0.2, "omega": 2.5}
    plan = make_plan({**c, **start}, epsilon, theorem, edition, H=2)
    assert plan.minimal["proved"]
    assert plan.R > 1
    assert brute_force(theorem, edition, c, epsilon, start) == plan.R


@pytest.mark.parametrize("edition", ["printed", "corrected", "sharp"])
@pytest.mark.parametrize("theorem", ["4.6", "4.9"])
def test_one_round_less_is_not_enough(theorem: str, edition: str, constants: dict[str, Any]) -> None:
    plan = make_plan(constants, 0.05, theorem, edition, H=4, start="warm")
    assert plan.minimal == {"proved": True, "infeasible_R": plan.R - 1, "cells": plan.minimal["cells"]}
    assert plan.bound <= 0.05
    with pytest.raises(NoPlan, match=f"R = {plan.R - 1}"):
        make_plan(constants, 0.05, theorem, edition, H=4, start="warm", R=plan.R - 1)
    again = make_plan(constants, 0.05, theorem, edition, H=4, start="warm", R=plan.R)
    assert again.bound <= 0.05


def rounds(
    constants: dict[str, Any], epsilon: float, theorem: str = "4.6", H: int = 4, **change: float
) -> float:
    quiet = {
        "dist_0": 1e-6,
        "f_gap": 2.0,
        "D_r_hat": 2.0,
    }  # the game hardly moves: only the learning terms remain
    return float(make_plan({**constants, **quiet, **change}, epsilon, theorem, "sharp", H=H).R)


def exponent(more: float, less: float, factor: float) -> float:
    return math.log(more / less) / math.log(factor)


def test_noise_costs_the_square_of_epsilon(constants: dict[str, Any]) -> None:
    few, many = (rounds(constants, e, G=0.0, B=0.0) for e in (4e-5, 1e-5))
    assert exponent(many, few, 4) == pytest.approx(2, abs=0.01)


def test_without_noise_or_dissimilarity_the_cost_is_one_over_epsilon(constants: dict[str, Any]) -> None:
    few, many = (rounds(constants, e, nu=0.0, G=0.0) for e in (4e-6, 1e-6))
    assert exponent(many, few, 4) == pytest.approx(1, abs=1e-3)


def test_dissimilarity_costs_epsilon_to_three_halves(constants: dict[str, Any]) -> None:
    few, many = (rounds(constants, e, nu=0.0, B=0.0) for e in (4e-6, 1e-6))
    assert exponent(many, few, 4) == pytest.approx(1.5, abs=0.01)


def test_more_local_steps_halve_the_rounds_where_noise_rules(constants: dict[str, Any]) -> None:
    two, four = (rounds(constants, 1e-6, G=0.0, B=0.0, H=H) for H in (2, 4))
    assert two / four == pytest.approx(2, rel=0.01)


def test_rounds_up_to_ten_to_the_eighteen(constants: dict[str, Any]) -> None:
    plan = make_plan({**constants, "f_gap": 2.0}, 1e-8, "4.6", "sharp", H=4)
    assert 10**15 < plan.R < 10**18
    assert plan.R - plan.minimal["infeasible_R"] <= max(1, plan.R * 2.0**-50)
    with pytest.raises(NoPlan, match="R = 1000000000000000000: the best bound"):
        make_plan({**constants, "f_gap": 2.0}, 1e-11, "4.6", "sharp", H=4)


def test_the_distance_alone(constants: dict[str, Any]) -> None:
    plan = make_plan(constants, 0.5, "Lemma 4.3", "sharp")
    rate = math.sqrt(1 - (0.3 / 0.5) ** 2)
    assert math.ceil(math.log(0.5 / 100) / math.log(rate)) == plan.R
    assert plan.minimal["proved"]


@pytest.mark.parametrize("mode", ["warm", "a-priori"])
@pytest.mark.parametrize(("theorem", "edition"), [("4.6", "corrected"), ("4.6", "sharp"), ("4.9", "sharp")])
def test_the_cover_never_calls_enough_rounds_too_few(
    theorem: str, edition: str, mode: str, constants: dict[str, Any]
) -> None:
    plan = make_plan(constants, 0.1, theorem, edition, H=4, start=mode)
    search = plan.search
    assert search is not None
    with precision(BITS):
        for R in (plan.R, plan.R + 1, 2 * plan.R, 100 * plan.R):
            assert search._cover(R, search.limits.first(R), R - 1).feasible is not False
        assert search._floor(plan.R, plan.r_hat, plan.r_hat) <= 0
        assert search._floor(plan.R, 0, plan.R - 1) <= 0
        assert search._cover(plan.R - 1, search.limits.first(plan.R - 1), plan.R - 2).feasible is False


@given(
    a=st.lists(st.floats(0, 10), min_size=3, max_size=3),
    c=st.floats(0.01, 10),
    b=st.lists(st.floats(0, 5), min_size=3, max_size=3),
    growth=st.floats(0, 3),
    cap=st.floats(0.01, 10),
    epsilon=st.floats(0.1, 5),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_tangent_bound_lies_below_the_curve(
    a: list[float], c: float, b: list[float], growth: float, cap: float, epsilon: float
) -> None:
    start = Start((0.5, *b), growth)
    guess = least_one((0, 1, 2), a, c, start, cap)
    balls = Start(tuple(arb(v) for v in start.b), arb(growth))
    with precision(BITS):
        curve = Ball((0, 1, 2), tuple(arb(v) for v in a), arb(c), arb(0), arb(epsilon), balls)
        floor = curve.surely_at_least(guess, cap)
        values = [curve.value(arb(g)) for g in np.geomspace(cap * 1e-4, cap, 200)]
        assert all(not value < floor for value in values)
        assert floor >= curve.value(arb(guess)) - arb(1e-12)
