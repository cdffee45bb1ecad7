"""Lemma 4.4: partial sums at any length, sequences as arrays, and the rate conditions at their edges."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

import bounds
from bounds.core.series import power_sum, power_sum_ball

BOX = {"C_F": 3.0, "C_H": 2.0, "D_N": 5.0}
LAW = {**BOX, "gamma_tilde_0": 0.5, "lambda_0": 0.75, "a": 0.5, "b": 0.25}
EXPONENTS = [0.0, 0.25, 0.5, 0.75, 1.0 - 2.0**-30, 1.0, 1.0 + 2.0**-30, 1.25, 2.0, 3.5]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_partial_sums_are_those_of_a_loop(exponent: float) -> None:
    for terms in (1, 2, 15, 16, 17, 100, 5000):
        with ctx.workprec(160):
            loop = arb(0)
            for j in range(1, terms + 1):
                loop = loop + (-arb(exponent) * arb(j).log()).exp()
            close = power_sum_ball(arb(exponent), terms)
            assert close.overlaps(loop)
            assert close.rad() < 1e-30
        assert power_sum(exponent, terms) == pytest.approx(float(loop), rel=4e-16 * 8)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("terms", [10**9, 10**12])
def test_long_partial_sums_in_floats_are_within_6_ulps_of_the_ball(exponent: float, terms: int) -> None:
    with ctx.workprec(120):
        truth = power_sum_ball(arb(exponent), terms)
        assert truth.rad() < 1e-18 * truth
    assert abs(float(power_sum(exponent, terms)) - float(truth)) <= 6 * np.spacing(float(truth))


def test_partial_sums_are_vectorised() -> None:
    exponents, terms = np.array([[0.5], [1.0]]), np.array([1, 10, 10**9])
    table = power_sum(exponents, terms)
    assert table.shape == (2, 3)
    assert table[1, 1] == pytest.approx(7381 / 2520, rel=1e-15)


@pytest.mark.parametrize("name", ["Lemma 4.4(i)", "Lemma 4.4(ii)"])
def test_power_law_is_its_sequence(name: str) -> None:
    statement, r = bounds.get(name), np.arange(200)
    arrays = {**BOX, "gamma_tilde_r": 0.5 * (r + 1.0) ** -0.5, "lambda_r": 0.75 * (r + 1.0) ** -0.25}
    law = statement.evaluate({**LAW, "R": 200})
    assert statement.evaluate(arrays) == pytest.approx(law, rel=1e-14)
    assert statement.evaluate({**arrays, "R": 200}) == pytest.approx(law, rel=1e-14)
    assert float(statement.enclose(arrays)) == pytest.approx(law, rel=1e-14)
    rounds = np.array([1, 7, 50, 200])
    expected = [statement.evaluate({**LAW, "R": int(k)}) for k in rounds]
    assert statement.evaluate({**arrays, "R": rounds}) == pytest.approx(expected, rel=1e-13)
    assert statement.evaluate({**LAW, "R": rounds}) == pytest.approx(expected, rel=1e-14)
    batch = {**BOX, "gamma_tilde_r": np.stack([arrays["gamma_tilde_r"]] * 2), "lambda_r": arrays["lambda_r"]}
    assert statement.evaluate(batch) == pytest.approx([law, law], rel=1e-14)


def test_one_round_by_hand() -> None:
    # (2 25 + (3 + 1.5)^2 0.25) / (2 0.375)
    assert bounds.get("Lemma 4.4(i)").evaluate({**LAW, "R": 1}) == pytest.approx(55.0625 / 0.75, rel=1e-15)


def test_sequences_that_are_too_short_or_rise() -> None:
    arrays = {**BOX, "gamma_tilde_r": [0.5, 0.4], "lambda_r": [0.3, 0.3]}
    statement = bounds.get("Lemma 4.4(i)")
    assert statement.check(arrays)[0].holds is True
    with pytest.raises(bounds.DomainError, match="R = 3 but gamma_tilde_r has 2 entries"):
        statement.evaluate({**arrays, "R": 3})
    with pytest.raises(bounds.HypothesisFails, match="nonincreasing"):
        statement.evaluate({**arrays, "lambda_r": [0.3, 0.4]})
    with pytest.raises(bounds.HypothesisFails, match="nonincreasing"):
        statement.evaluate({**LAW, "b": -0.125, "R": 10})
    assert statement.check({**LAW, "b": 0.0, "R": 10})[0].holds is True


@pytest.mark.parametrize(
    ("a", "b", "diverges", "second", "third"),
    [
        (Fraction(1, 2), Fraction(1, 4), True, True, True),
        (Fraction(1, 2), Fraction(1, 2), True, True, False),  # a = b on a + b = 1
        (Fraction(1, 4), Fraction(1, 4), True, True, False),  # a = b inside
        (Fraction(2, 3), Fraction(1, 3), True, True, True),  # a + b = 1: outside `in particular`, but fine
        (Fraction(1, 3), Fraction(2, 3), True, True, False),
        (Fraction(1, 2), Fraction(1, 8), True, True, True),  # 2a = 1
        (Fraction(3, 4), 0, True, False, True),
        (Fraction(3, 4), Fraction(1, 2), False, False, False),
        (0, 0, True, False, False),
        (0.75, 0.25, True, True, True),
        (0.75, 0.25 + 2.0**-54, False, False, False),  # one bit beyond the edge
    ],
)
@pytest.mark.parametrize("edition", ["printed", "corrected"])
def test_rate_conditions(a: float, b: float, diverges: bool, second: bool, third: bool, edition: str) -> None:
    monotone, *rates = bounds.get("Lemma 4.4(iii)", edition).check({"a": a, "b": b})
    assert monotone.holds is True
    assert [c.holds for c in rates] == [diverges, second, third]


def test_rate_conditions_of_arrays_are_undecided() -> None:
    checks = bounds.get("Lemma 4.4(iii)").check({"gamma_tilde_r": [0.1, 0.05], "lambda_r": [0.2, 0.1]})
    assert {c.holds for c in checks} == {None}
    assert all("limit" in c.text for c in checks)


def test_partial_sums_follow_the_rate_conditions() -> None:
    """The verdicts agree with what the sums do between 10^6 and 10^12."""
    for a, b in [(0.5, 0.25), (0.5, 0.5), (2 / 3, 1 / 3), (0.75, 0.0), (0.9, 0.3)]:
        early, late = (
            (power_sum(a + 2 * b, R) / power_sum(a + b, R), power_sum(2 * a, R) / power_sum(a + b, R))
            for R in (10**6, 10**12)
        )
        _, _, second, third = bounds.get("Lemma 4.4(iii)").check({"a": a, "b": b})
        assert bool(late[0] < 0.9 * early[0]) is second.holds
        assert bool(late[1] < 0.9 * early[1]) is third.holds
