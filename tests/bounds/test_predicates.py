"""Assumptions and claims: what holds, what fails, what constants cannot decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bounds


def answers(name: str, edition: str = "corrected", **constants: Any) -> dict[str, bool | None]:
    """The checks of a predicate by name."""
    return {c.name: c.holds for c in bounds.get(name, edition).check(constants)}


@pytest.mark.parametrize(
    ("name", "edition", "constants", "expected"),
    [
        ("Assumption 2.1(i)", "printed", {"L": 2.0}, [True]),
        ("Assumption 2.1(i)", "printed", {"L": np.inf}, [False]),
        ("Assumption 2.1(ii)", "printed", {"nu": 0.0, "noise_bias": 0.0}, [False, True, True]),
        ("Assumption 2.1(ii)", "corrected", {"nu": 0.0, "noise_bias": 0.0}, [True, True, True]),
        ("Assumption 2.1(ii)", "corrected", {"nu": 1.0, "noise_bias": 0.1}, [True, True, False]),
        ("Assumption 2.1(ii)", "corrected", {"nu": 1.0}, [True, True, None]),
        ("Assumption 2.1(iii)", "printed", {"f_star": -1e9}, [True]),
        ("Assumption 2.1(iii)", "printed", {"f_star": -np.inf}, [False]),
        ("Assumption 2.2(i)", "corrected", {"mu_own": -0.1}, [False]),
        ("Assumption 2.2(i)", "corrected", {"mu_F": 0.0}, [True]),
        ("Assumption 2.2(i)", "corrected", {}, [None]),
        ("Assumption 2.2(ii)", "corrected", {"mu_F": 1.0, "L_F": 2.0}, [True, True, True]),
        ("Assumption 2.2(ii)", "corrected", {"mu_F": 0.0, "L_F": 2.0}, [False, True, True]),
        ("Assumption 2.2(ii)", "corrected", {"mu_F": 3.0, "L_F": 2.0}, [True, True, False]),
        ("Assumption 2.3(i)", "corrected", {"mu_own": 0.1}, [True]),
        ("Assumption 2.3(ii)", "corrected", {"mu_F": 0.0, "L_F": np.inf}, [True, False, True]),
        ("Assumption 2.3(iii)", "corrected", {"sigma_h": 0.5}, [True]),
        ("Assumption 2.3(iii)", "corrected", {"sigma_h": 0.0}, [None]),
        ("Assumption 4.8", "printed", {"mu_f": 0.5, "L": 1.0, "nu": 0.0}, [True, True, False, True, True]),
        ("Assumption 4.8", "corrected", {"mu_f": 0.0, "L": 1.0, "nu": 0.0}, [True, True, True, True, None]),
        ("Assumption 4.8", "corrected", {"mu_f": -0.1, "L": 1.0, "nu": 0.0}, [False, True, True, True, None]),
    ],
)
def test_assumptions(
    name: str, edition: str, constants: dict[str, float], expected: list[bool | None]
) -> None:
    assert list(answers(name, edition, **constants).values()) == expected


def test_dissimilarity_can_be_refuted_at_a_point_but_not_proved() -> None:
    pair = {"G": 1.0, "B": 2.0, "m": 2}
    last = "(1/m) sum ||grad f_i||^2 <= G^2 + B^2 ||grad f||^2"
    points = {"grad_f_sq": np.array([0.0, 1.0, 2.0]), "grad_fi_sq_sum": np.array([2.0, 10.0, 18.0])}
    assert answers("Assumption 4.5", **pair, **points)[last] is None  # ties at every point
    points["grad_fi_sq_sum"][1] = 10.5
    assert answers("Assumption 4.5", **pair, **points)[last] is False
    assert answers("Assumption 4.5", **pair)[last] is None
    check = bounds.get("Assumption 4.5").check({**pair, **points})[-1]
    assert (check.lhs, check.rhs, check.slack) == (5.25, 5.0, -0.25)


def test_section_5_2_against_itself() -> None:
    printed = answers("Section 5.2", "printed")
    assert [n for n, holds in printed.items() if holds is False] == [
        "N_min >= 1 (Section 4) against clients driven to zero",
        "h strictly convex: its curvature along e_1 - e_2 is positive",
    ]
    assert set(answers("Section 5.2").values()) == {True}


def test_softplus_of_the_sum_is_flat_along_a_difference() -> None:
    """h(N) = log(1 + exp(sum N)) at N, N + d, N - d with sum d = 0; and it grows with participation."""
    N, d = np.array([3.0, 1.0]), np.array([1.0, -1.0])
    values = [np.log1p(np.exp((N + t * d).sum())) for t in (-1, 0, 1)]
    assert values[0] == values[1] == values[2]
    assert np.log1p(np.exp((N + 1).sum())) > values[1]


def test_section_5_3_at_most_one_client_dominates() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        slopes = dict(zip(("slope_0", "slope_4", "slope_rest"), rng.exponential(1.0, 3), strict=True))
        printed = answers("Section 5.3", "printed", **slopes)
        climbs = [holds for name, holds in printed.items() if name.startswith("client")]
        assert climbs.count(True) <= 1
        assert set(answers("Section 5.3", **slopes).values()) == {True}


def test_section_5_1_needs_a_step_size_to_be_checked() -> None:
    assert list(answers("Section 5.1", "printed").values()) == [True, None]
    step = {"mu_F": 1e-5, "L_F": 1e-5, "gamma_tilde": 2e5}
    assert list(answers("Section 5.1", "printed", **step).values()) == [True, False]


def test_sharp_condition_on_the_weights() -> None:
    c = {"m": 4, "B": 0.5, "Delta_sq_sup": 0.125}
    name = "m B^2 Delta_r^2 <= 1/8 for r >= r_hat"
    for statement in ("Theorem 4.6(i-1)", "Theorem 4.10(i)"):
        checks = {x.name: x for x in bounds.get(statement, "sharp").check(c)}
        assert (checks[name].holds, checks[name].lhs, checks[name].rhs) == (True, 0.125, 0.125)
        above = {x.name: x for x in bounds.get(statement, "sharp").check({**c, "Delta_sq_sup": 0.1250001})}
        assert above[name].holds is False


@pytest.mark.parametrize("name", ["Theorem 4.10(i)", "Theorem 4.10(ii)"])
def test_exponents_of_theorem_4_10(name: str) -> None:
    for edition in bounds.editions(name):
        for (a, b), expected in {
            (0.5, 0.25): [True, True, True],
            (0.5, 0.5): [True, False, False],
            (0.75, 0.25): [True, True, False],
            (0.5, 0.0): [False, True, True],
        }.items():
            assert list(answers(name, edition, a=a, b=b).values())[:3] == expected


def test_rounds_inside_a_round() -> None:
    c = {"H": 4, "gamma": 1e-3, "L": 1.0, "nu": 1.0, "m": 2, "G": 1.0, "B": 1.0, "grad_f_sq": 1.0}
    statement = bounds.get("Lemma 4.13(ii)")
    assert statement.evaluate({**c, "tau": 4}) > 0
    with pytest.raises(bounds.HypothesisFails, match="T_"):
        statement.evaluate({**c, "tau": 5})
    with pytest.raises(bounds.HypothesisFails, match="r_hat <= R - 1"):
        bounds.get("Lemma 4.13(iii)").evaluate({**c, "R": 3, "r_hat": 3})
