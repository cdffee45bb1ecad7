"""`check` and `assert_within` on numbers of a caller's own."""

import doctest
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bounds
import verify
from bounds import Constant, Provenance
from verify.api import check
from verify.errors import InputError
from verify.verdict import Outcome, Rigor

CONSTANTS = {"mu_F": 1.0, "L_F": 2.0, "gamma_tilde": 0.25, "N_star": [6.0, 4.0]}


def rotation(rounds: int = 60, q: float = 0.7) -> np.ndarray:
    """N_r that spirals into (6, 4), each round q times nearer."""
    angle = 0.5 * np.arange(rounds + 1)
    return (
        np.array([6.0, 4.0]) + 3.0 * (q ** np.arange(rounds + 1) * np.array([np.cos(angle), np.sin(angle)])).T
    )


def test_a_run_within_its_envelope() -> None:
    verdict = check("Lemma 4.3(i)", CONSTANTS, {"N": rotation(), "N_error": np.full(61, 1e-15)})
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.rigor is Rigor.RIGOROUS
    assert verdict.instance == "run"


def test_without_a_word_on_rounding_it_only_indicates() -> None:
    verdict = check("Lemma 4.3(i)", CONSTANTS, xr.Dataset({"N": (("round", "client"), rotation())}))
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.rigor is Rigor.INDICATIVE


def test_a_run_outside_its_envelope() -> None:
    verdict = check("Lemma 4.3(i)", CONSTANTS, {"N": rotation(q=0.95), "N_error": np.zeros(61)})
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.bound == pytest.approx(0.875**verdict.round * 3.0, rel=1e-12)
    with pytest.raises(AssertionError, match=r"Lemma 4\.3\(i\) \(corrected\): violated on run") as error:
        verify.assert_within("Lemma 4.3(i)", CONSTANTS, {"N": rotation(q=0.95), "N_error": np.zeros(61)})
    assert "\n" not in str(error.value)
    assert "Observed" in str(error.value)


def test_a_failing_hypothesis_is_named() -> None:
    constants = {**CONSTANTS, "gamma_tilde": 0.3}
    with pytest.raises(AssertionError, match="gamma_tilde <= mu_F/L_F"):
        verify.assert_within("Lemma 4.3(i)", constants, {"N": rotation()})
    sharp = check("Lemma 4.3(i)", constants, {"N": rotation(), "N_error": np.zeros(61)}, edition="sharp")
    assert sharp.outcome is Outcome.HOLDS


def test_what_is_missing_is_named_not_invented() -> None:
    verdict = check("Theorem 4.6(i-1)", CONSTANTS, {"N": rotation()})
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "grad_f_sq" in verdict.reason
    verdict = check("Lemma 4.3(i)", {"mu_F": 1.0}, {"N": rotation()})
    assert "N_star" in verdict.reason
    less = {k: v for k, v in CONSTANTS.items() if k != "gamma_tilde"}
    verdict = check("Lemma 4.3(i)", less, {"N": rotation()})
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "gamma_tilde" in verdict.reason
    with pytest.raises(AssertionError, match="inconclusive"):
        verify.assert_within("Lemma 4.3(i)", less, {"N": rotation()})
    verify.assert_within("Lemma 4.3(i)", less, {"N": rotation()}, inconclusive=True)


EXPECTED = {
    **CONSTANTS, "m": 2, "L": 1.0, "nu": 0.1, "G": 0.1, "B": 1.0, "H": 1, "R": 400, "r_hat": 40, "gamma": 0.02,
    "dist_0": 3.0, "N_star_l1": 10.0,
}  # fmt: skip


def test_expectations_are_tested_seed_by_seed() -> None:
    rng = np.random.default_rng(0)
    start = rng.uniform(0.5, 1.0, 300)
    run = {"grad_f_sq": 0.1 * rng.random(300), "f_gap": start}
    ceilings = {"grad_f_sq": 1.0, "f_gap": 1.0}
    verdict = check("Theorem 4.6(i-1)", EXPECTED, run, ceilings=ceilings)
    assert verdict.outcome is Outcome.HOLDS, verdict
    assert verdict.rigor is Rigor.STATISTICAL
    unknown = check("Theorem 4.6(i-1)", EXPECTED, run)
    assert unknown.outcome is Outcome.INCONCLUSIVE
    assert "ceiling" in unknown.reason
    run["grad_f_sq"] = 50.0 + rng.random(300)
    assert check("Theorem 4.6(i-1)", EXPECTED, run, ceilings={"f_gap": 1.0}).outcome is Outcome.VIOLATED


def test_an_estimated_constant_only_indicates() -> None:
    constants = {**CONSTANTS, "mu_F": Constant("mu_F", 1.0, Provenance.ESTIMATED)}
    verdict = check("Lemma 4.3(i)", constants, {"N": rotation(), "N_error": np.zeros(61)})
    assert verdict.rigor is Rigor.INDICATIVE


def test_measured_curves_and_assumptions() -> None:
    d = 0.5 * 3.0 * 0.875 ** np.arange(30)
    constants = {**EXPECTED, "R": 30}
    verdict = check("Lemma 4.3(i)", constants, {"ne_distance": d, "ne_distance_error": np.full(30, 1e-12)})
    assert verdict.outcome is Outcome.HOLDS
    assert check("Assumption 2.2(ii)", {"mu_F": 1.0, "L_F": 2.0}, {}).outcome is Outcome.HOLDS
    assert check("Assumption 2.2(ii)", {"mu_F": 0.0, "L_F": 2.0}, {}).outcome is Outcome.HYPOTHESIS_FAILS
    assert "an order" in check("Theorem 4.9(ii)", EXPECTED, {}).reason


@pytest.mark.parametrize(
    ("constants", "run", "message"),
    [
        (CONSTANTS, {"N": [1.0, 2.0]}, "shape"),
        (CONSTANTS, {"N": [["a", "b"], ["c", "d"]]}, "numbers"),
        (CONSTANTS, {"N": np.full((3, 2), np.nan)}, "finite"),
        ({**CONSTANTS, "N_star": [1.0]}, {"N": rotation()}, "N_star"),
        ({**CONSTANTS, "mu_F": -1.0}, {"N": rotation()}, "mu_F"),
        ({**CONSTANTS, "mu_F": "big"}, {"N": rotation()}, "mu_F"),
        (CONSTANTS, {"N": rotation(), "N_error": np.zeros(3)}, "N_error"),
        (CONSTANTS, {"N": np.zeros((4, 2))}, "participation"),
        ({**CONSTANTS, "mu_F": float("nan")}, {"N": rotation()}, "mu_F"),
    ],
)
def test_bad_input_is_one_line(constants, run, message) -> None:
    with pytest.raises(InputError, match=message) as error:
        check("Lemma 4.3(i)", constants, run)
    assert "\n" not in str(error.value)


def test_an_unknown_statement() -> None:
    with pytest.raises(bounds.UnknownStatement, match="did you mean"):
        check("Lemma 9.9", {}, {})


def test_the_documentation_runs() -> None:
    page = Path(__file__).parents[2] / "docs" / "api.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted > 15
    assert found.failed == 0
