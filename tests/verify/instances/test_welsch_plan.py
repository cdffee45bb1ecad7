"""The planner takes a bounded nonconvex instance: Theorem 4.6 at epsilon in every edition."""

import json

import pytest

from verify.instance import load_instance
from verify.planner import instance as planning
from verify.planner.front import make_plan
from verify.planner.recheck import recheck
from verify.planner.simulated import simulate_plan

EPSILON = 0.03


@pytest.fixture(scope="module")
def plans():
    return {e: make_plan("welsch-nonconvex", EPSILON, "4.6", e) for e in ("printed", "corrected", "sharp")}


def test_every_edition_has_a_plan_that_checks(plans) -> None:
    for plan in plans.values():
        assert plan.bound <= EPSILON
        assert recheck(json.loads(json.dumps(plan.certificate))).passed


def test_what_the_sharp_edition_saves(plans) -> None:
    assert plans["printed"].R == plans["corrected"].R  # Theorem 4.6(i) needs no correction of its constants
    assert plans["sharp"].R < plans["corrected"].R / 10


def test_without_a_minimiser_nothing_of_x_star_is_planned_with() -> None:
    known = planning.constants_of(load_instance("welsch-nonconvex")).constants
    assert {"X_0", "S", "sigma_sq", "x_star"}.isdisjoint(known)
    assert known["f_gap_0"].radius > 0  # f* lies in a bracket


def test_a_plan_without_a_minimiser_is_simulated(plans) -> None:
    """A prefix of it: the run is not compared with x*, which does not exist here."""
    known = planning.constants_of(load_instance("welsch-nonconvex"))
    seen = simulate_plan(plans["sharp"], known, seeds=2, most_rounds=50)
    assert seen.rounds < seen.planned == plans["sharp"].R
    assert 0 < seen.learning < seen.promised
