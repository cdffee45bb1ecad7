"""What the small built-in instances are there to show, and what a run's sampling takes away from a statement."""

from __future__ import annotations

import pytest

from verify import audit
from verify.instance import load_instance
from verify.verdict import Outcome, Rigor


def outcomes(report):
    return {(f.verdict.statement, f.verdict.edition): f.verdict for f in report.findings}


@pytest.fixture(scope="module")
def corner():
    return outcomes(audit([load_instance("theorem-4.10-corner")]))


def test_held_weights_violate_the_printed_theorem_4_10_and_no_other_edition(corner) -> None:
    printed = corner["Theorem 4.10(i)", "printed"]
    assert (printed.outcome, printed.rigor) == (Outcome.VIOLATED, Rigor.RIGOROUS)
    assert printed.observed == pytest.approx(
        0.01, rel=1e-12
    )  # (x_0 - 0)^2: f' = x at the equal weights of N*
    assert all(h.holds is True for h in printed.hypotheses)
    for edition in ("corrected", "sharp"):
        assert corner["Theorem 4.10(i)", edition].outcome is Outcome.HOLDS
        assert all(h.holds is True for h in corner["Theorem 4.10(i)", edition].hypotheses)


def test_at_a_start_at_the_equilibrium_the_printed_lemma_4_4_iv_bounds_the_weights_by_zero(corner) -> None:
    printed = corner["Lemma 4.4(iv)", "printed"]
    assert (printed.outcome, printed.bound) == (Outcome.VIOLATED, 0.0)
    assert printed.observed == pytest.approx(
        22 / 40 - 1 / 2, rel=1e-12
    )  # N_r = (22, 18) against N* = (20, 20)
    assert corner["Lemma 4.4(iv)", "corrected"].outcome is Outcome.HOLDS


def test_fresh_subsets_take_the_oracle_s_assumption_away_and_leave_the_game() -> None:
    found = outcomes(audit([load_instance("fresh-subsets")], seeds=2))
    for edition in ("printed", "corrected"):
        for statement in ("Assumption 2.1(ii)", "Theorem 4.6(i-1)"):
            verdict = found[statement, edition]
            assert verdict.outcome is Outcome.HYPOTHESIS_FAILS
            assert verdict.reason == "sampling = subset: the statement assumes iid or full"
        assert found["Algorithm 1", edition].outcome is Outcome.HOLDS
        assert found["Lemma 4.3(i)", edition].outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    ("replacement", "H", "outside"),
    [("round", 3, True), ("round", 1, False), ("batch", 3, False), ("with", 3, False)],
)
def test_drawing_without_replacement_over_a_round_of_several_steps_is_biased(
    replacement: str, H: int, outside: bool
) -> None:
    instance = load_instance("fresh-subsets")
    instance = instance.model_copy(
        update={
            "algorithm": instance.algorithm.model_copy(
                update={"sampling": "iid", "replacement": replacement, "H": H, "R": 5}
            ),
        }
    )
    found = outcomes(audit([instance], seeds=2))
    for statement in ("Assumption 2.1(ii)", "Theorem 4.6(i-1)"):
        verdict = found[statement, "corrected"]
        assert (verdict.outcome is Outcome.HYPOTHESIS_FAILS) is outside, verdict
        assert ("biased" in verdict.reason) is outside
