"""Every certificate passes the re-check; a changed number, constant or hypothesis fails it."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from verify.planner.errors import NoPlan
from verify.planner.making import make_plan
from verify.planner.recheck import recheck


def certificate(constants: dict[str, Any], *how: Any, **choices: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(make_plan(constants, *how, **choices).certificate))
    return data


@pytest.mark.parametrize("edition", ["printed", "corrected", "sharp"])
@pytest.mark.parametrize("theorem", ["4.6", "4.9", "Lemma 4.3"])
def test_a_certificate_stands(theorem: str, edition: str, constants: dict[str, Any]) -> None:
    choices = {} if theorem.startswith("Lemma") else {"H": 4}
    data = certificate(constants, 0.05, theorem, edition, **choices)
    assert recheck(data).problems == []


def numbers(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all nonzero derived numbers."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if isinstance(value, float) and value and math.isfinite(value):
            yield (*path, key)
        else:
            yield from numbers(value, (*path, key))


def changed(data: dict[str, Any], path: tuple[Any, ...], factor: float) -> dict[str, Any]:
    other = copy.deepcopy(data)
    inner = other
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] *= factor
    return other


@pytest.mark.parametrize(
    ("theorem", "edition", "mode"), [("4.6", "corrected", "warm"), ("4.9", "sharp", "a-priori")]
)
def test_a_derived_number_that_is_changed_fails(
    theorem: str, edition: str, mode: str, constants: dict[str, Any]
) -> None:
    data = certificate(constants, 0.05, theorem, edition, H=4, start=mode)
    paths = [(part, *p) for part in ("statements", "start") for p in numbers(data[part])]
    assert len(paths) > 40
    for i, path in enumerate(paths):
        factor = 1 + 1e-6 if i % 2 else 1 - 1e-6
        assert not recheck(changed(data, path, factor)).passed, path


def test_a_binding_term_or_an_answer_that_is_changed_fails(constants: dict[str, Any]) -> None:
    data = certificate(constants, 0.05, "4.6", "corrected", H=4)
    other = copy.deepcopy(data)
    entry = other["statements"][0]
    entry["binding"] = next(t for t in entry["terms"] if t != entry["binding"])
    assert not recheck(other).passed
    other = copy.deepcopy(data)
    other["statements"][0]["hypotheses"][0]["holds"] = None
    assert not recheck(other).passed
    other = copy.deepcopy(data)
    del other["statements"][1]
    assert not recheck(other).passed
    other = copy.deepcopy(data)
    del other["statements"][0]["hypotheses"][2]
    assert not recheck(other).passed


def test_a_hypothesis_that_nobody_can_decide_fails(constants: dict[str, Any]) -> None:
    """Without sigma_h the strong convexity of h is neither proved nor refuted: no certificate may rest on it."""
    data = certificate({**constants, "sigma_h": 0.1}, 0.1, "4.10", "sharp", H=4)
    assert recheck(data).passed
    del data["constants"]["sigma_h"]
    item = next(h for h in data["statements"][0]["hypotheses"] if h["name"] == "h strongly convex")
    for key in ("holds", "lhs", "rhs", "lhs_within", "rhs_within"):
        item[key] = None
    assert recheck(data).problems == [
        "Theorem 4.10(ii): hypothesis 'h strongly convex' is not proved to hold"
    ]


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("L", 1.5),
        ("nu", 1.5),
        ("G", 2.0),
        ("B", 2.0),
        ("mu_F", 0.9),
        ("L_F", 1.1),
        ("dist_0", 1e9),
        ("f_gap_0", 1.1),
    ],
)
def test_an_input_that_is_changed_fails(name: str, factor: float, constants: dict[str, Any]) -> None:
    data = certificate(constants, 0.05, "4.6", "corrected", H=4)
    honest = copy.deepcopy(data)
    for key in (
        "value",
        "used",
    ):  # a consistent lie about the constant: the numbers that follow no longer match
        honest["constants"][name][key] *= factor
    assert not recheck(honest).passed
    data["constants"][name]["value"] *= factor  # a lie about the value alone
    assert any(f"constants.{name}" in problem for problem in recheck(data).problems)


@pytest.mark.parametrize("key", ["gamma", "gamma_tilde", "r_hat", "R"])
def test_a_choice_that_is_changed_fails(key: str, constants: dict[str, Any]) -> None:
    data = certificate(constants, 0.05, "4.6", "corrected", H=4)
    data["choice"][key] = data["choice"][key] - 1 if key in ("r_hat", "R") else data["choice"][key] * 1.5
    assert not recheck(data).passed


POSITIVE = st.floats(-3, 3).map(lambda e: 10.0**e)
MAYBE = st.one_of(st.just(0.0), POSITIVE)
SETS = st.fixed_dictionaries(
    {
        "m": st.integers(1, 30), "L": POSITIVE, "nu": MAYBE, "G": MAYBE, "B": MAYBE, "mu_F": st.floats(0.01, 1.0),
        "L_F": st.floats(1.0, 3.0), "dist_0": MAYBE, "N_star_l1": POSITIVE, "f_gap_0": MAYBE, "X_0": MAYBE, "S": MAYBE,
        "p_star_min": st.floats(0.01, 1.0),
    }
)  # fmt: skip


@given(
    constants=SETS,
    epsilon=POSITIVE,
    theorem=st.sampled_from(["4.6", "4.9"]),
    edition=st.sampled_from(["printed", "corrected", "sharp"]),
    H=st.integers(1, 20),
)
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_random_constants_give_a_plan_that_checks_or_a_reason(
    constants: dict[str, Any], epsilon: float, theorem: str, edition: str, H: int
) -> None:
    plan_or_reason(constants, epsilon, theorem, edition, H)


@pytest.mark.slow
@given(
    constants=SETS,
    epsilon=POSITIVE,
    theorem=st.sampled_from(["4.6", "4.9"]),
    edition=st.sampled_from(["printed", "corrected", "sharp"]),
    H=st.integers(1, 20),
)
@settings(
    max_examples=500,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],  # a failure is reported as found: shrinking it takes minutes
)
def test_500_random_constant_sets(
    constants: dict[str, Any], epsilon: float, theorem: str, edition: str, H: int
) -> None:
    plan_or_reason(constants, epsilon, theorem, edition, H)


def plan_or_reason(constants: dict[str, Any], epsilon: float, theorem: str, edition: str, H: int) -> None:
    """A plan that checks, or a reason that is true: even 10^18 rounds and an ideal step size are not enough."""
    try:
        data = certificate(constants, epsilon, theorem, edition, H=H)
    except NoPlan as found:
        reason = found.reason
    else:
        assert recheck(data).problems == []
        return
    assert "the best bound is" in reason or "warm-up" in reason or "need at least" in reason
