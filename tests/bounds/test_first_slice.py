"""The instance that refutes the printed Theorem 4.9(i-1), at the largest step its conditions allow."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

import bounds
from bounds import HypothesisFails

A, C, P = (1.0, 0.1), (1.0, -1.0), (0.5, 0.5)


def drift_constants() -> dict[str, object]:
    """Two scalar quadratics a_i (x - c_i)^2 / 2 with equal fixed weights, full gradients, started at x*."""
    x_star = sum(p * a * c for p, a, c in zip(P, A, C, strict=True)) / sum(
        p * a for p, a in zip(P, A, strict=True)
    )
    f_star = sum(p * a * (x_star - c) ** 2 / 2 for p, a, c in zip(P, A, C, strict=True))
    problem = {"m": 2, "L": 1.0, "f_star": f_star, "p_star": P, "f_i_star": (0.0, 0.0)}
    constants = {
        **problem,
        **bounds.lemma_6_5_pair(problem, "corrected"),
        "nu": 1e-9,
        "H": 10,
        "R": 10**5,
        "r_hat": 0,
        "dist_0": 0.0,
        "N_star_l1": 200.0,
        "mu_F": 1.0,
        "L_F": 2.0,
        "gamma_tilde": 0.25,
        "D_r_hat": 0.0,
        "S": sum((a * (x_star - c)) ** 2 for a, c in zip(A, C, strict=True)),
    }
    return {**constants, "gamma": bounds.get("Theorem 4.9(i-1)").largest("gamma", constants)}


@pytest.mark.parametrize(("edition", "expected"), [("printed", 2.2727e-7), ("corrected", 2.2727e-2)])
def test_drift_instance(edition: str, expected: float) -> None:
    constants = drift_constants()
    assert constants["gamma"] == pytest.approx(0.0029463, rel=1e-4)
    assert constants["B"].value == 1.0
    assert constants["G"].value ** 2 == pytest.approx(2 / 11, rel=1e-15)
    statement = bounds.get("Theorem 4.9(i-1)", edition)
    assert all(check.holds is True for check in statement.check(constants))
    assert statement.evaluate(constants) == pytest.approx(expected, rel=1e-4)
    assert statement.enclose(constants).contains(statement.enclose(constants, 300).mid())


def test_start_at_the_equilibrium_voids_the_conditions_on_delta_0() -> None:
    checks = {c.name: c for c in bounds.get("Theorem 4.9(i-1)").check(drift_constants())}
    assert checks["gamma <= 1/(16 L m^2 B^2 delta_0)"].rhs == np.inf
    assert checks["r_hat >= ln(delta_0 (16 L^2 B^4)^(1/3))/ln(1/rho)"].rhs == -np.inf
    binding = checks["gamma <= 1/(m H sqrt(delta_0)/(1 - sqrt(rho)) + 24 L H B sqrt(m))"]
    assert 0 <= binding.slack < 1e-17


def test_one_float_above_the_largest_step_fails() -> None:
    constants = drift_constants()
    constants["gamma"] = float(np.nextafter(constants["gamma"], 1.0))
    with pytest.raises(HypothesisFails, match="24 L H B sqrt") as raised:
        bounds.get("Theorem 4.9(i-1)").evaluate(constants)
    assert raised.value.lhs >= raised.value.rhs
    assert raised.value.count == 1


def test_pair_of_lemma_6_5() -> None:
    problem = {"m": 2, "L": 2, "f_star": Fraction(1, 4), "p_star": [0.25, 0.75], "f_i_star": [0.0, 0.125]}
    printed = bounds.lemma_6_5_pair(problem, "printed")
    # G^2 = 2L (1/4 - 1/16) + 2L * 1 * 1/4 with max |1/(m p) - 1| = 1; B^2 = 2.
    assert printed["G"].value == pytest.approx(sqrt(4 * 3 / 16 + 1), rel=1e-15)
    assert printed["B"].value == pytest.approx(sqrt(2), rel=1e-15)
    corrected = bounds.lemma_6_5_pair(problem)
    # B^2 = 1/(2/4) = 2, G^2 = 2 * 2 * 2 (1/4 - 3/32).
    assert corrected["G"].value == pytest.approx(sqrt(8 * 5 / 32), rel=1e-15)
    assert corrected["B"].value == pytest.approx(sqrt(2), rel=1e-15)


def test_negative_printed_square_is_a_failed_hypothesis() -> None:
    problem = {"m": 2, "L": 1.0, "f_star": -1.0, "p_star": [0.1, 0.9], "f_i_star": [-1.0, -1.2]}
    with pytest.raises(HypothesisFails, match=r"G\^2 >= 0") as raised:
        bounds.lemma_6_5_pair(problem, "printed")
    assert raised.value.lhs < 0 == raised.value.rhs
    assert bounds.lemma_6_5_pair(problem)["G"].value > 0


def test_theorem_4_6_by_hand() -> None:
    constants = {
        "m": 3, "H": 4, "R": 20, "r_hat": 6, "L": 2.0, "gamma": 1 / 400, "nu": 0.5, "G": 0.25, "B": 0.5,
        "f_gap": 3.0, "mu_F": 1.0, "L_F": 1.0, "gamma_tilde": 1.0, "dist_0": 5.0, "N_star_l1": 100.0,
    }  # fmt: skip
    rho, delta_0 = 0.5, 0.1
    geometric = (rho**12 - rho**40) / ((1 - rho**2) * 14)
    by_hand = (
        16 * 3.0 * 400 / 56
        + 8 * 2 * 0.25 / 400
        + 76.5 * (0.25 + 3 * 0.0625) * 3 * 4 * 16 / 400**2
        + 16 * 9 * delta_0**2 * 0.0625 * (1 + 4 / 400) * geometric
    )
    statement = bounds.get("Theorem 4.6(i-1)", "printed")
    assert statement.evaluate(constants) == pytest.approx(by_hand, rel=1e-14)
    assert bounds.get("Theorem 4.6(i-2)").evaluate(constants) == pytest.approx(geometric * 25, rel=1e-14)
    assert bounds.get("Lemma 4.3(i)").evaluate({**constants, "r": np.arange(4)}) == pytest.approx(
        5 * 0.5 ** np.arange(4)
    )
    assert bounds.get("Lemma 4.3(ii)").evaluate({**constants, "r": 3}) == pytest.approx(0.1 / 8)
    assert bounds.get("Lemma 4.3(i)", "sharp").evaluate({**constants, "r": 0}) == 5.0
    assert bounds.get("Lemma 4.3(i)", "sharp").evaluate({**constants, "r": 1}) == 0.0  # q = 0


def test_hypotheses_name_count_and_first_index() -> None:
    constants = {
        "mu_F": 1.0, "L_F": 2.0, "gamma_tilde": np.array([0.1, 0.25, 0.3, 0.1, 0.9]), "dist_0": 1.0, "r": 3,
    }  # fmt: skip
    with pytest.raises(HypothesisFails, match=r"gamma_tilde <= mu_F/L_F\^2.*2 points.*\(2,\)") as raised:
        bounds.get("Lemma 4.3(i)").evaluate(constants)
    assert (raised.value.count, raised.value.first) == (2, (2,))
    assert bounds.get("Lemma 4.3(i)").evaluate(constants, unchecked=True).shape == (5,)


def test_a_derived_name_may_be_given() -> None:
    statement = bounds.get("Lemma 4.3(i)")
    given = {"rho": 0.5, "dist_0": 8.0, "r": np.arange(4)}
    assert statement.evaluate(given) == pytest.approx([8, 4, 2, 1], rel=1e-15)
    assert {c.holds for c in statement.check(given)} == {None}


def test_bad_input_is_one_clear_line() -> None:
    good = {"mu_F": 1.0, "L_F": 2.0, "gamma_tilde": 0.1, "dist_0": 1.0, "r": 3}
    statement = bounds.get("Lemma 4.3(i)")
    for key, value, words in [
        ("dist_0", -1.0, "give a number >= 0"),
        ("dist_0", float("nan"), "dist_0 = .*nan"),
        ("r", 1.5, "give an integer >= 0"),
        ("L_F", 0.0, "give a number > 0"),
        ("gamma_tilde", np.array([0.1, np.nan]), "entry 1, one of 1"),
    ]:
        with pytest.raises(bounds.DomainError, match=words):
            statement.evaluate({**good, key: value})
    with pytest.raises(bounds.MissingConstants, match=r"dist_0 is missing \(distance of the start"):
        statement.evaluate({k: v for k, v in good.items() if k != "dist_0"})
    with pytest.raises(bounds.UnknownStatement, match=r"did you mean Lemma 4\.3"):
        bounds.get("Lemma 4.3")
    with pytest.raises(bounds.UnknownStatement, match="it has printed, corrected, sharp"):
        bounds.get("Lemma 4.3(i)", "final")
