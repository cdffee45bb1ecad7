"""The exact run against the printed Theorem 4.10 (i), seen by the simulator and by the encoded statement."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq

import bounds
from bounds.incentfedavg.steps.experiments import weights_held_away
from games import AffineGame, QuadraticWelfare
from simulate import participation
from verify.ledger_run import run_ledger

ROUNDS = 5000


def test_the_regularised_update_ends_in_the_corner_and_stays() -> None:
    game = AffineGame(np.eye(2), np.array([-2.0, -2.0]), np.ones(2), np.full(2, 3.0))
    welfare = QuadraticWelfare(np.array([4.0, 0.0]))
    path = participation(
        game, np.array([2.0, 2.0]), 1.0, ROUNDS, welfare=welfare, lambda_0=10.0, a=0.5, b=0.25
    )
    assert np.array_equal(path.N[0], [2.0, 2.0])
    assert np.array_equal(path.N[1:], np.tile([3.0, 1.0], (ROUNDS, 1)))


def test_the_encoded_statement_applies_and_its_bound_is_the_run_s() -> None:
    constants = {
        "m": 2, "H": 1, "R": ROUNDS, "r_hat": 0, "gamma": Fraction(1, 100), "L": 1, "G": 1, "B": 1, "nu": 0,
        "f_gap": Fraction(1, 8), "a": Fraction(1, 2), "b": Fraction(1, 4), "delta_hat_sq_mean": 0,
        "delta_hat_sq_sup": 0,
    }  # fmt: skip
    statement = bounds.get("Theorem 4.10(i)", "printed")
    assert all(check.holds for check in statement.check(constants))
    run = weights_held_away(ROUNDS)
    ball = statement.enclose(constants)
    with ctx.workprec(200):  # the rational as a ball much smaller than the statement's
        assert ball.contains(arb(fmpq(run.rhs.numerator, run.rhs.denominator)))
    assert ball < float(run.lhs)
    # The corrected edition takes the weights of the average, (3, 1)/4 against (2, 2)/4: delta_hat = sqrt(2)/4.
    corrected = bounds.get("Theorem 4.10(i)", "corrected")
    moved = {**constants, "delta_hat_sq_mean": Fraction(1, 8), "delta_hat_sq_sup": Fraction(1, 8)}
    assert corrected.evaluate(moved, unchecked=True) > float(run.lhs)


def test_the_ledger_says_that_the_printed_statement_falls() -> None:
    reports = {r.step.key: r for r in run_ledger(only="Theorem 4.10(i)", edition="printed")}
    assert reports["Theorem 4.10(i)/14"].status == "refuted"
    assert {r.survives for r in reports.values() if r.status == "refuted"} == {"no"}


@pytest.mark.parametrize("rounds", [10_000, 20_000])
def test_the_corner_is_left_once_lambda_is_small(rounds: int) -> None:
    with pytest.raises(AssertionError):
        weights_held_away(rounds)
