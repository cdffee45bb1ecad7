"""What the ledger proves is what `bounds` evaluates: the last step of each proof against the statement's
expression."""

import math

import numpy as np
import pytest

import bounds
from bounds.core.step import Step
from bounds.incentfedavg.steps import steps
from verify.provers.evaluate import floats

POINT = {
    "m": 3.0,
    "H": 5.0,
    "R": 40.0,
    "r_hat": 7.0,
    "L": 1.5,
    "gamma": 0.003,
    "nu": 0.7,
    "G": 1.3,
    "B": 0.9,
    "S": 2.1,
    "delta_0": 0.3,
    "rho": 0.95,
    "D_r_hat": 1.7,
    "f_gap": 4.2,
    "kappa": 1.4,
    "s": 0.4,
    "sigma_sq": 0.6,
    "omega": 1.2,
    "Delta_mean": 0.11,
    "Delta_sq_mean": 0.02,
    "delta_hat_sq_mean": 0.04,
}
LAST = {
    ("Theorem 4.6(i-1)", "printed"): "Theorem 4.6(i-1)/15",
    ("Theorem 4.6(i-1)", "corrected"): "Theorem 4.6(i-1)/15",
    ("Theorem 4.6(i-1)", "sharp"): "Theorem 4.6(i-1)/15@sharp",
    ("Theorem 4.9(i-1)", "printed"): "Theorem 4.9(i-1)/19",
    ("Theorem 4.9(i-1)", "corrected"): "Theorem 4.9(i-1)/7@corrected",
    ("Theorem 4.9(i-1)", "sharp"): "Theorem 4.9(i-1)/21@sharp",
    ("Theorem 4.10(i)", "corrected"): "Theorem 4.10(i)/3@corrected",
}


def ledger_bound(step: Step) -> float:
    """The right side of the step's claim, divided by the mean's factor on its left side."""
    p = POINT
    rho, rounds = p["rho"], p["R"] - p["r_hat"]
    c_min = 1 - p["H"] * math.sqrt(p["delta_0"]) * p["gamma"] * p["m"] / (1 - math.sqrt(rho))
    means = ("grad_f_sq_mean", "D_f_mean")
    env = {
        **p,
        "rounds": rounds,
        "sqrt_m": math.sqrt(p["m"]),
        "X_r_hat": p["D_r_hat"] ** 2,
        "c_min": c_min,
        "geometric_2": 1 / (1 - rho**2),
        "geometric_15": 1 / (1 - rho**1.5),
        "rho_mean": (rho ** (2 * p["r_hat"]) - rho ** (2 * p["R"])) / ((1 - rho**2) * rounds),
        "D_f_sum": p["H"] * rounds,  # a mean of 1
        **dict.fromkeys(means, 1.0),
    }
    arrays = {k: np.asarray(v) for k, v in env.items()}
    claim = step.obligations[0].claim
    return float(floats(claim.rhs, arrays)) / float(floats(claim.lhs, arrays))


@pytest.mark.parametrize(("statement", "edition"), list(LAST))
def test_the_last_step_bounds_what_the_statement_says(statement: str, edition: str) -> None:
    step = next(s for s in steps() if s.key == LAST[statement, edition])
    expression = bounds.get(statement, edition).expression
    arrays = {
        s.name: np.asarray({**POINT, "T": POINT["H"] * (POINT["R"] - POINT["r_hat"])}[s.name])
        for s in expression.free_symbols
    }
    assert ledger_bound(step) == pytest.approx(float(floats(expression, arrays)), rel=1e-12)
