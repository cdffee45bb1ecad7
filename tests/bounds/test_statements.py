"""Every statement against its second implementation, at random constants with their corners."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import twins
from flint import ctx
from mpmath import mp, mpf
from reference import ALL
from reference.a_priori import start_limits
from reference.section_4_1 import (
    gamma_limits_4_6,
    gamma_limits_4_6_sharp,
    gamma_limits_4_9,
    gamma_limits_4_9_sharp,
    smallest_r_hat_4_6,
    smallest_r_hat_4_9,
)
from reference.section_4_2 import all_limits, all_limits_printed, all_limits_sharp
from reference.section_6_2 import gamma_limits_6_8, threshold_6_8

import bounds
from bounds import Constant, Edition, HypothesisFails, Kind
from bounds.core.statement import largest_float

CASES = twins.valued_cases()
ULPS = 12.0  # measured: 10 for the sums of Lemma 4.4, 5 elsewhere
# 1/(1 - x) near x = 1, exp of a large argument, differences of infima: the value itself is that sensitive
SENSITIVE = {
    "Theorem 4.9(i-1)",
    "Start gap",
    "Start distance",
    "Lemma 6.5",
    "Lemma 6.7",
    "Lemma 6.8",
    "Lemma 6.10",
}
SLOW_REFERENCE = {"Lemma 4.4(i)", "Lemma 4.4(ii)"}  # zeta functions of 50 digits


def shaken(constants: dict[str, Any]) -> dict[str, Any]:
    """The constants with half a unit in the last place of doubt, counts excepted."""
    return {
        n: v
        if isinstance(v, int)
        else Constant(n, v, radius=np.abs(v) * 2.0**-53 if np.ndim(v) else abs(v) * 2.0**-53)
        for n, v in constants.items()
    }


@pytest.mark.parametrize("case", CASES, ids=" | ".join)
def test_value_is_that_of_the_second_implementation(case: tuple[str, str]) -> None:
    compare(case, 6 if case[0] in SLOW_REFERENCE else twins.FEW, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=" | ".join)
def test_value_is_that_of_the_second_implementation_at_200_points(case: tuple[str, str]) -> None:
    compare(case, twins.DRAWS, seed=15)


def compare(case: tuple[str, str], count: int, seed: int) -> None:
    """evaluate within ULPS, enclose around the exact value, at `count` random sets of constants."""
    statement = twins.statement(*case)
    nonzero = 0
    for constants, truth in twins.draws(*case, count, seed):
        value = statement.evaluate(constants)
        if abs(truth) < mpf(10) ** -290:
            assert value == 0 or abs(value) < 1e-280
            continue
        nonzero += 1
        if abs(truth) > mpf(10) ** 300:
            assert value == np.inf or value > 1e299
            continue
        ball = statement.enclose(constants)
        with ctx.workprec(400):
            close = statement.enclose(constants, 400)
            assert close.overlaps(twins.ball(truth)), (constants, close, truth)
            assert ball.overlaps(close)
            assert ball.rad() <= abs(ball) * 2.0**-52 or case[0] in SENSITIVE
        error = abs(mpf(value) - truth)
        if case[0] in SENSITIVE:
            doubt = mpf(float(statement.enclose(shaken(constants), unchecked=True).rad()))
            assert error <= 4 * doubt + ULPS * mpf(np.spacing(abs(value))), constants
        else:
            assert twins.ulps(value, truth) <= ULPS, constants
    assert nonzero >= count // 2


@pytest.mark.parametrize("case", CASES, ids=" | ".join)
def test_hypotheses_of_admissible_constants_do_not_fail(case: tuple[str, str]) -> None:
    statement = twins.statement(*case)
    for constants, _ in twins.draws(*case, count=5, seed=6):
        assert all(check.holds is not False for check in statement.check(constants)), constants


@pytest.mark.parametrize("case", [c for c in CASES if c[0] not in SLOW_REFERENCE], ids=" | ".join)
def test_arrays_give_what_scalars_give(case: tuple[str, str]) -> None:
    """Vectorised evaluation is the scalar one, entry by entry, and refuses nothing that scalars allow."""
    statement = twins.statement(*case)
    sets = [c for c, _ in twins.draws(*case, count=25, seed=8)]
    vectors = {"theta_t", "p_star", "f_i_star"}
    sets = [{n: c[n] for n in (*statement.symbols, "q_rate") if n in c} for c in sets]
    first = next(c for c in sets if "q_rate" not in c)
    alike = [c for c in sets if set(c) == set(first) and not vectors & set(c)]
    if not alike:
        return
    stacked = {n: np.array([c[n] for c in alike], dtype=float) for n in first}
    expected = np.array([statement.evaluate(c) for c in alike])
    np.testing.assert_array_max_ulp(statement.evaluate(stacked), expected, maxulp=4)


@pytest.mark.parametrize("case", twins.order_cases(), ids=" | ".join)
def test_orders_name_their_terms(case: tuple[str, str]) -> None:
    names = {"R_4": "H(mBL)^2", "R_5": "L^2/H", "R_6": "1"} if "4.6" in case[0] else {}
    statement, reference = bounds.get(*case), ALL[case]
    rng = np.random.default_rng(3)
    for _ in range(25):
        constants = {**reference.draw(rng), "r_hat": 10**9}
        orders, truth = statement.orders(constants), reference.value(**constants)
        assert "not guarantees" in orders.text
        for name, value in orders.terms.items():
            if name == "R_hat":
                assert value == pytest.approx(r_hat_by_hand(constants, case[1]), rel=1e-12)
                continue
            expected = truth[names.get(name, name)]
            # a logarithm of a number near one is known to the rounding of that number
            slack = (
                1e-15
                * max(1.0, float(abs(expected)))
                / float(-mp.log(1 - mpf(constants["mu_F"]) * constants["gamma_tilde"] / 2))
            )
            assert value == pytest.approx(
                float(expected), rel=1e-13, abs=slack if name in ("R_2", "R_3") else 0
            )
        assert orders.value == max(orders.terms.values()) == orders.terms[str(orders.binding)]
        assert orders.value == statement.evaluate(constants)
        assert statement.enclose(constants).overlaps(statement.enclose(constants, 200))


def r_hat_by_hand(c: dict[str, Any], edition: str) -> float:
    """The rounds that the conditions of Theorem 4.9(i) and its proof ask for when gamma = (R H)^(-1/2)."""
    limits = gamma_limits_4_9(**c)
    rounds = [1 / (limit**2 * c["H"]) if mp.isfinite(limit) else mpf(0) for limit in limits.values()]
    rounds += [c["r_hat"] + 1, 4 * c["H"] * c["r_hat"] ** 2, 2 * c["r_hat"]]
    if edition == Edition.CORRECTED:
        rounds.append(ALL["Theorem 4.9(ii)", "corrected"].value(**c)["R for b_hat = 2"])
    return float(max(rounds))


def root_3(**c: Any) -> dict[str, mpf]:
    """1/(sqrt(3) H L)."""
    return {"1/(sqrt(3) H L)": 1 / (mp.sqrt(3) * c["H"] * mpf(c["L"]))}


def root_beta(**c: Any) -> dict[str, mpf]:
    """1/(H sqrt(beta))."""
    return {"1/(H sqrt(beta))": 1 / (c["H"] * mp.sqrt(mpf(c["beta"])))}


LIMITS = {
    ("Theorem 4.10(i)", "printed"): gamma_limits_4_6,
    ("Theorem 4.10(i)", "corrected"): gamma_limits_4_6,
    ("Theorem 4.10(i)", "sharp"): gamma_limits_4_6_sharp,
    ("Start gap", "sharp"): gamma_limits_4_6_sharp,
    ("Start distance", "sharp"): start_limits,
    ("Lemma 4.13(ii)", "corrected"): root_3,
    ("Lemma 4.13(iii)", "corrected"): root_3,
    ("Lemma 6.9", "corrected"): root_3,
    ("Lemma 6.3", "printed"): root_beta,
    ("Theorem 4.6(i-1)", "printed"): gamma_limits_4_6,
    ("Theorem 4.6(i-1)", "corrected"): gamma_limits_4_6,
    ("Theorem 4.6(i-1)", "sharp"): gamma_limits_4_6_sharp,
    ("Theorem 4.9(i-1)", "printed"): gamma_limits_4_9,
    ("Theorem 4.9(i-1)", "corrected"): gamma_limits_4_9,
    ("Theorem 4.9(i-1)", "sharp"): gamma_limits_4_9_sharp,
    ("Theorem 4.10(ii)", "printed"): lambda **c: all_limits_printed(**c),
    ("Theorem 4.10(ii)", "corrected"): lambda **c: all_limits(**c),
    ("Theorem 4.10(ii)", "sharp"): lambda **c: all_limits_sharp(**c),
    ("Lemma 6.8", "printed"): gamma_limits_6_8,
    ("Lemma 6.8", "corrected"): gamma_limits_6_8,
}


@pytest.mark.parametrize("case", sorted(LIMITS), ids=" | ".join)
def test_limits_of_the_step_size(case: tuple[str, str]) -> None:
    statement, rng = twins.statement(*case), np.random.default_rng(4)
    for _ in range(12):
        ours, theirs = twins.pair(*case, ALL[case].draw(rng))
        checks = [c for c in statement.check(ours) if c.name.startswith("gamma <=")]
        expected = sorted(float(v) for v in LIMITS[case](**theirs).values())
        assert sorted(c.rhs for c in checks) == pytest.approx(expected, rel=1e-14)
        largest = statement.largest("gamma", ours)
        assert largest == pytest.approx(expected[0], rel=1e-14)
        statement.evaluate({**ours, "gamma": largest})
        with pytest.raises(HypothesisFails, match="gamma <="):
            statement.evaluate({**ours, "gamma": float(np.nextafter(largest, np.inf))})


def test_the_largest_step_where_the_limit_is_known_only_to_a_radius() -> None:
    """Some 10^7 floats lie between the middle of the limit and the largest that is surely below it."""
    statement = bounds.get("Theorem 4.9(i-1)")
    constants = ALL["Theorem 4.9(i-1)", "corrected"].draw(np.random.default_rng(4))
    constants["dist_0"] = bounds.Constant("dist_0", 3.0, radius=1e-5)
    found = statement.largest("gamma", constants)
    ends = [statement.largest("gamma", {**constants, "dist_0": 3.0 + off}) for off in (-1e-5, 1e-5)]
    assert ends[1] < ends[0] * (1 - 1e-9)
    assert ends[1] * (1 - 1e-10) <= found <= ends[1]  # the enclosure is wider by the second order, (1e-5/3)^2


@pytest.mark.parametrize("limit", [1.0, 0.3, 1.0 - 1e-9, 1e-12, 1e-300, 5e-324, 0.0])
def test_the_largest_float_that_is_allowed(limit: float) -> None:
    asked = []

    def allowed(value: float) -> bool:
        asked.append(value)
        return 0 < value <= limit

    assert largest_float(1.0, allowed) == limit
    assert len(asked) <= (1 if limit == 1.0 else 126)


@pytest.mark.parametrize(
    ("name", "threshold"),
    [
        ("Theorem 4.6(i-1)", smallest_r_hat_4_6),
        ("Theorem 4.9(i-1)", smallest_r_hat_4_9),
        ("Lemma 6.8", smallest_r_hat_4_9),
    ],
)
def test_warm_up(name: str, threshold: Any) -> None:
    rng = np.random.default_rng(4)
    for _ in range(12):
        constants = ALL[name, "corrected"].draw(rng)
        check = next(c for c in bounds.get(name).check(constants) if "ln(" in c.name)
        assert check.rhs == pytest.approx(float(threshold(**constants)), rel=1e-12)
        assert check.holds is True


def test_printed_condition_on_r_lacks_the_logarithm() -> None:
    constants = ALL["Lemma 6.8", "printed"].draw(np.random.default_rng(0))
    check = next(c for c in bounds.get("Lemma 6.8", "printed").check(constants) if c.name.startswith("r >="))
    rate = -mp.log(1 - mpf(constants["mu_F"]) * constants["gamma_tilde"] / 2)
    assert check.rhs == pytest.approx(float(threshold_6_8(**constants) / rate), rel=1e-13)


@pytest.mark.parametrize("name", ["Lemma 4.2", "Lemma 4.11", "Remark 6.2", "Algorithm 1"])
def test_identities(name: str) -> None:
    constants, expected = twins.by_hand(name)
    for edition in bounds.editions(name):
        statement = bounds.get(name, edition)
        assert statement.kind is Kind.IDENTITY
        assert statement.sense == "="
        assert statement.evaluate(constants) == expected
        assert statement.enclose(constants) == expected


def test_the_projection_of_algorithm_1() -> None:
    statement = bounds.get("Algorithm 1")
    box = {"lower": 1.0, "upper": 9.0, "gamma_tilde": 0.5, "N_i": 4.0}
    slopes = np.array([-20.0, -2.0, 0.0, 2.0, 20.0])
    assert statement.evaluate({**box, "F_i": slopes}) == pytest.approx([9.0, 5.0, 4.0, 3.0, 1.0])
    with pytest.raises(HypothesisFails, match="N_min <= N_max"):
        statement.evaluate({**box, "F_i": 0.0, "lower": 10.0})
    with pytest.raises(HypothesisFails, match="N_min >= 1"):
        statement.evaluate({**box, "F_i": 0.0, "lower": 0.5})


def test_inequality_18() -> None:
    rng = np.random.default_rng(2)
    reference = ALL["Lemma 6.3 (18)", "printed"]
    for _ in range(50):
        constants = reference.draw(rng)
        (value,) = bounds.get("Lemma 6.3").parts(constants).values()
        assert value == pytest.approx(float(reference.value(**constants)), rel=1e-13)


def test_doubt_in_the_constants_widens_the_ball() -> None:
    rng = np.random.default_rng(1)
    statement = bounds.get("Theorem 4.6(i-1)", "sharp")
    for _ in range(50):
        constants = ALL["Theorem 4.6(i-1)", "sharp"].draw(rng)
        wide = {**constants, "f_gap": Constant("f_gap", constants["f_gap"], radius=0.25 * constants["f_gap"])}
        ball = statement.enclose(wide)
        for share in (0.75, 1.0, 1.25):
            assert ball.overlaps(statement.enclose({**constants, "f_gap": share * constants["f_gap"]}))
        assert constants["f_gap"] == 0 or not ball.is_exact()


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (2.0, "2 against 1, fails"),
        (1.0, "1 against 1, holds"),
        (1 + 2.0**-52, "1.0000000000000002 against 1, fails"),
        (1 + Fraction(1, 10**20), "1 against 1, fails beyond 17 digits"),
    ],
)
def test_a_check_prints_what_tells_its_sides_apart(step, text) -> None:
    values = {"mu_F": 1, "L_F": 1, "m": 2, "N_star_l1": 10, "dist_0": 1, "r": 0, "gamma_tilde": step}
    checks = bounds.get("Lemma 4.3(i)", "corrected").check(
        {name: bounds.Constant(name, value, bounds.Provenance.EXACT) for name, value in values.items()}
    )
    assert checks[-1].text == f"gamma_tilde <= mu_F/L_F^2: {text}"
