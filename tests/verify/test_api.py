"""`check` and `assert_within` on numbers of a caller's own."""

import doctest
import math
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bounds
import verify
from bounds import Constant, Provenance
from verify import told
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


def test_the_error_of_the_seeds_values_is_the_callers_to_state() -> None:
    ceilings = {"grad_f_sq": 100.0, "f_gap": 1.0}

    def outcome(value: float, **errors: float) -> Outcome:
        run = {"grad_f_sq": np.full(3000, value), "f_gap": np.full(3000, 1.0)}
        verdict = check("Theorem 4.6(i-1)", EXPECTED, run, ceilings=ceilings, errors=errors or None)
        assert verdict.bound == pytest.approx(verdict.bound_low, rel=1e-6) or errors
        return verdict.outcome

    start = {"grad_f_sq": np.full(9, 1.0), "f_gap": np.full(9, 1.0)}
    bound = check("Theorem 4.6(i-1)", EXPECTED, start, ceilings=ceilings).bound
    assert bound is not None
    assert (outcome(1.3 * bound), outcome(0.7 * bound)) == (Outcome.VIOLATED, Outcome.HOLDS)
    for name, size in (("grad_f_sq", 0.4 * bound), ("f_gap", 1.0)):
        errors = {name: size}
        assert (outcome(1.3 * bound, **errors), outcome(0.7 * bound, **errors)) == (Outcome.INCONCLUSIVE,) * 2
    assert outcome(1.3 * bound, grad_f_sq=1e-3) is Outcome.VIOLATED


def test_by_default_an_error_is_what_the_number_type_explains() -> None:
    statement = bounds.get("Theorem 4.6(i-1)", "corrected")
    for kind, unit in (
        (np.float64, 2.0**-52),
        (np.float32, 2.0**-23),
        (np.float16, 2.0**-10),
        (np.int64, 2.0**-52),
    ):
        run = {"grad_f_sq": np.array([1, 4, 2], dtype=kind), "f_gap": np.array([8, 8, 8], dtype=kind)}
        found = told.arrays(run, statement)
        assert told.errors(None, run, found, statement) == {"grad_f_sq": 128 * unit, "f_gap": 256 * unit}
        assert told.errors({"f_gap": 0.5}, run, found, statement) == {"grad_f_sq": 128 * unit, "f_gap": 0.5}


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        ({"grad_f_sq": -1.0}, r"errors\['grad_f_sq'\] = -1\.0: give a finite number >= 0"),
        ({"grad_f_sq": math.inf}, r"errors\['grad_f_sq'\] = inf: give a finite"),
        ({"grad_f": 1.0}, r"errors\['grad_f'\] is not a variable that the run holds"),
        ({"x_dist_sq": 1.0}, r"errors\['x_dist_sq'\] is not a variable that the run holds"),
    ],
)
def test_a_wrong_error_is_refused(errors, message) -> None:
    run = {"grad_f_sq": [20.0, 19.0, 20.0], "f_gap": [1.0, 1.0, 1.0]}
    with pytest.raises(InputError, match=message):
        check("Theorem 4.6(i-1)", EXPECTED, run, errors=errors)


def test_an_estimated_constant_only_indicates() -> None:
    constants = {**CONSTANTS, "mu_F": Constant("mu_F", 1.0, Provenance.ESTIMATED)}
    verdict = check("Lemma 4.3(i)", constants, {"N": rotation(), "N_error": np.zeros(61)})
    assert verdict.rigor is Rigor.INDICATIVE


def test_measured_curves_and_assumptions() -> None:
    rounds = np.arange(1, 30)
    d = 0.5 * 3.0 * 0.875**rounds
    constants = {**EXPECTED, "R": 30}
    measured = {"ne_distance": d, "ne_distance_error": np.full(29, 1e-12), "round": rounds}
    verdict = check("Lemma 4.3(i)", constants, measured)
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


FINE = {"N": rotation(), "N_error": np.full(61, 1e-15)}


@pytest.mark.parametrize(
    ("statement", "more", "run", "message"),
    [
        ("Lemma 4.3(i)", {"dist_0": 10.0}, FINE, r"'dist_0'\] = 10, but from .* it is 3:"),
        ("Lemma 4.3(i)", {"dist_0": 0.1}, FINE, r"'dist_0'\] = 0\.1, but from .* it is 3:"),
        ("Lemma 4.3(ii)", {"m": 1}, FINE, r"'m'\] = 1, but from run\['N'\] it is 2"),
        ("Lemma 4.3(ii)", {"N_star_l1": 0.01}, FINE, r"'N_star_l1'\] = 0\.01, but from .* it is 10"),
        ("Theorem 4.6(i-2)", {"R": 1000, "r_hat": 0}, FINE, r"'R'\] = 1000, but from run\['N'\] it is 60"),
        ("Theorem 4.6(i-2)", {"p_star": [0.5, 0.5], "r_hat": 0}, FINE, r"'p_star'\] = \[0\.5, 0\.5\], but"),
        ("Lemma 4.3(i)", {"dist_0": 9.0}, {"ne_distance": [3.0, 2.0]}, r"'dist_0'\] = 9, .* round 0 it is 3"),
    ],
)
def test_constants_that_contradict_the_run_are_refused(statement, more, run, message) -> None:
    with pytest.raises(InputError, match=message):
        check(statement, {**CONSTANTS, **more}, run)


def test_constants_that_agree_with_the_run_to_rounding_are_taken() -> None:
    own = {"dist_0": float(np.linalg.norm([1.8, 2.4])), "m": 2, "R": 60, "N_star_l1": 10.0}
    assert check("Lemma 4.3(i)", {**CONSTANTS, **own}, FINE).outcome is Outcome.HOLDS
    wide = {"dist_0": Constant("dist_0", 3.5, radius=0.6)}
    assert check("Lemma 4.3(i)", {**CONSTANTS, **wide}, FINE).outcome is not Outcome.VIOLATED


@pytest.mark.parametrize("alpha", [1, 2, 0, -1, float("nan"), "x", True, None])
def test_a_level_outside_0_1_is_refused(alpha) -> None:
    with pytest.raises(InputError, match=r"alpha = .*: give a number > 0 and < 1"):
        told.level(alpha)
    with pytest.raises(InputError, match=r"alpha = 2\.0: give a number > 0 and < 1"):
        check("Lemma 4.3(i)", CONSTANTS, FINE, alpha=2.0)


@pytest.mark.parametrize(
    ("ceilings", "message"),
    [
        ({"grad_f_sq": 5.0}, r"'grad_f_sq'\] = 5: run\['grad_f_sq'\] reaches 20"),
        ({"grad_f_sq": -1.0}, r"'grad_f_sq'\] = -1\.0: give a number >= 0"),
        ({"grad_f": 50.0}, r"'grad_f'\] is not a variable .* did you mean grad_f"),
        ({"f_gap": 0.5}, r"'f_gap'\] = 0\.5: run\['f_gap'\] reaches 1"),
    ],
)
def test_a_ceiling_that_the_run_exceeds_is_refused(ceilings, message) -> None:
    run = {"grad_f_sq": [20.0, 19.0, 20.0], "f_gap": [1.0, 1.0, 1.0]}
    with pytest.raises(InputError, match=message):
        check("Theorem 4.6(i-1)", EXPECTED, run, ceilings=ceilings)


def test_copies_of_the_start_go_before_a_constant_of_that_name() -> None:
    run = {"grad_f_sq": np.full(300, 50.0), "f_gap": np.full(300, 1e9)}
    both = check("Theorem 4.6(i-1)", {**EXPECTED, "f_gap": 0.0}, run, ceilings={"f_gap": 1e9})
    assert both == check("Theorem 4.6(i-1)", EXPECTED, run, ceilings={"f_gap": 1e9})
    alone = check("Theorem 4.6(i-1)", {**EXPECTED, "f_gap": 0.0}, {"grad_f_sq": np.full(300, 50.0)})
    assert alone.bound < both.bound


HORIZONS = {"grad_f_sq": [1.0, 2.0], "grad_f_sq_error": [0.0, 0.0]}


@pytest.mark.parametrize(
    ("more", "run", "message"),
    [
        ({"r_hat": -1}, FINE, r"r_hat = -1\.0: give an integer >= 0"),
        ({"r_hat": 2.7}, FINE, r"r_hat = 2\.7: give an integer >= 0"),
        ({}, {"N": rotation() + 1j}, r"run\['N'\] is not an array of real numbers"),
        ({}, {"N": rotation() > 1}, r"run\['N'\] is not an array of real numbers"),
        ({}, {"N": rotation() - 5.0}, r"run\['N'\]\[\d+, 1\] = -.* lies outside \[0, inf\]"),
        ({"upper": 5.0}, FINE, r"run\['N'\]\[0, 0\] = .* lies outside \[0, 5\]"),
        ({"lower": [5.5, 5.5]}, FINE, r"run\['N'\]\[\d+, 1\] = .* lies outside \[5.5, inf\]"),
        ({"lower": 5, "upper": 1}, FINE, r"'lower'\] = 5 exceeds constants\['upper'\] = 1"),
        ({"lower": "a"}, FINE, r"'lower'\] = 'a': give a number"),
        ({"N_star": [-1.0, 4.0]}, FINE, r"'N_star'\]\[0\] = -1 lies outside"),
        ({"N_star_error": -1.0}, FINE, r"'N_star_error'\] = -1: give a finite number >= 0"),
        ({"N_star_eror": 1.0}, FINE, r"'N_star_eror'\] is not a constant .* did you mean N_star_error"),
        ({"mu_F": "1.0"}, FINE, r"'mu_F'\] = '1\.0': give a number"),
        ({"mu_F": True}, FINE, r"'mu_F'\] = True: give a number"),
        ({"mu_F": [1.0, 1.0]}, FINE, r"'mu_F'\] is an array: give one number"),
        ({"mu_F": np.float64(-1.0)}, FINE, r"mu_F = -1\.0: give a number >= 0"),
        (
            {},
            {"ne_distance": [1.0], "ne_distance_error": [0.0], "round": [100.7]},
            "holds 100.7: give integers",
        ),
        ({}, {"ne_distance": [1.0, 1.0], "round": [3, 3]}, "give increasing rounds"),
    ],
)
def test_numbers_that_are_none_are_named(more, run, message) -> None:
    with pytest.raises(InputError, match=message) as error:
        check("Lemma 4.3(i)", {**CONSTANTS, **more}, run)
    assert "\n" not in str(error.value)
    assert "np.float64" not in str(error.value)


def test_what_is_no_mapping_is_named() -> None:
    statement = bounds.get("Lemma 4.3(i)")
    with pytest.raises(InputError, match="constants is of type NoneType"):
        told.constants(None, statement)
    with pytest.raises(InputError, match="run is of type list"):
        told.arrays([1, 2], statement)
    with pytest.raises(InputError, match="ceilings is of type list"):
        told.ceilings([1.0], {}, statement)
    with pytest.raises(InputError, match="errors is of type list"):
        told.errors([1.0], {}, {}, statement)
    with pytest.raises(InputError, match=r"'f_gap'\] = 'x': give a number >= 0"):
        told.ceilings({"f_gap": "x"}, {}, statement)


def test_a_curve_over_horizons_says_which() -> None:
    constants = {**EXPECTED, "f_gap": 1.0}
    with pytest.raises(InputError, match=r"run\['round'\] is missing: give the horizon R"):
        check("Theorem 4.6(i-1)", constants, HORIZONS)
    with pytest.raises(InputError, match=r"run\['round'\] holds 40: give integers >= 41"):
        check("Theorem 4.6(i-1)", constants, {**HORIZONS, "round": [40, 50]})
    two = check("Theorem 4.6(i-1)", constants, {**HORIZONS, "round": [100, 400]})
    alone = {"grad_f_sq": [2.0], "grad_f_sq_error": [0.0]}
    one = check("Theorem 4.6(i-1)", constants, alone)
    assert one.round == 400
    assert two.outcome is not Outcome.INCONCLUSIVE


def test_an_unknown_statement() -> None:
    with pytest.raises(bounds.UnknownStatement, match="did you mean"):
        check("Lemma 9.9", {}, {})


def test_the_documentation_runs() -> None:
    page = Path(__file__).parents[2] / "docs" / "api.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted > 15
    assert found.failed == 0
