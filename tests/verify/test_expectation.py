"""Expectation bounds: paired starts, ceilings, and what an undecided check says."""

import math
from dataclasses import replace

import numpy as np

from verify.expectation import Linear, judge
from verify.observed import Sample, Start
from verify.verdict import Outcome


def sample(values, start=None, ceiling=math.inf, start_ceiling=None, proxy=math.inf) -> Sample:
    values = np.asarray(values, dtype=float)
    start = np.zeros_like(values) if start is None else np.asarray(start, dtype=float)
    if start_ceiling is None:
        start_ceiling = float(start.max()) if np.all(start == start[0]) else math.inf
    none = np.zeros(0, dtype=int)
    return Sample(
        values, (Start("f_gap", start, 0.0, start_ceiling),), ceiling, proxy, none, np.zeros((values.size, 0))
    )


def flat(bound: float) -> Linear:
    return Linear(bound, bound, ((0.0, 0.0),))


def test_holds_needs_a_ceiling_or_a_proxy() -> None:
    x = np.full(400, 0.1)
    without = judge(sample(x), flat(0.5), 0.01)
    assert without.outcome is Outcome.INCONCLUSIVE
    assert "no ceiling" in without.reason
    assert judge(sample(x, ceiling=2.0), flat(0.5), 0.01).outcome is Outcome.HOLDS
    assert judge(sample(x, proxy=0.01), flat(0.5), 0.01).outcome is Outcome.HOLDS


def test_violated_needs_no_ceiling() -> None:
    assert judge(sample(np.full(60, 1.0)), flat(0.5), 0.01).outcome is Outcome.VIOLATED


def test_vacuous_when_the_bound_exceeds_the_ceiling() -> None:
    assert judge(sample(np.full(60, 0.1), ceiling=1.0), flat(1.5), 0.01).outcome is Outcome.VACUOUS


def test_few_seeds_are_inconclusive_and_say_how_many_decide() -> None:
    few = judge(sample(np.full(20, 0.1), ceiling=10.0), flat(0.5), 0.01)
    assert few.outcome is Outcome.INCONCLUSIVE
    assert few.more_seeds is not None
    enough = judge(sample(np.full(20 + few.more_seeds, 0.1), ceiling=10.0), flat(0.5), 0.01)
    assert enough.outcome is Outcome.HOLDS


def test_the_start_is_paired_not_plugged_in() -> None:
    # X = 2 start exactly, bound = 0.1 + 2 E[start]: true with room 0.1 although both vary a lot
    rng = np.random.default_rng(1)
    start = rng.random(300)
    holds = judge(
        sample(2 * start, start, ceiling=2.0, start_ceiling=1.0), Linear(0.1, 0.1, ((2.0, 2.0),)), 0.01
    )
    assert holds.outcome is Outcome.HOLDS
    # X = 2 start + 0.3 breaks it by 0.2, which the spread of X alone would hide
    broken = judge(
        sample(2 * start + 0.3, start, ceiling=2.5, start_ceiling=1.0), Linear(0.1, 0.1, ((2.0, 2.0),)), 0.01
    )
    assert broken.outcome is Outcome.VIOLATED


def test_a_random_start_without_a_ceiling_cannot_violate() -> None:
    start = np.linspace(0.0, 1.0, 100)
    finding = judge(sample(np.full(100, 5.0), start), Linear(0.1, 0.1, ((1.0, 1.0),)), 0.01)
    assert finding.outcome is Outcome.INCONCLUSIVE


def test_vacuous_only_where_the_low_end_of_the_bound_exceeds_what_is_known() -> None:
    wide = Linear(0.5, 2.0, ((0.0, 0.0),))
    assert judge(sample(np.full(400, 0.1), ceiling=1.0), wide, 0.01).outcome is Outcome.HOLDS
    assert judge(sample(np.full(400, 0.1), ceiling=0.4), wide, 0.01).outcome is Outcome.VACUOUS


def test_a_ceiling_that_the_run_gave_decides_and_is_not_called_vacuous() -> None:
    x = replace(sample(np.full(3, 0.1), ceiling=0.2), known=5.0)
    found = judge(x, flat(0.5), 0.01)
    assert found.outcome is Outcome.HOLDS
    assert "ceiling alone" in found.reason
    assert judge(x, flat(5.5), 0.01).outcome is Outcome.VACUOUS
