"""Hypotheses along a curve: decided anew wherever they read the point, also through names that derive from it."""

from dataclasses import replace

import numpy as np
import pytest

import bounds
from bounds import Constant, Provenance
from verify.envelope import checks_along
from verify.observed import Curve, Measured

NUMBERS = {
    "m": 2, "H": 2, "L": 1.0, "B": 1.0, "G": 1.0, "S": 1.0, "nu": 0.5, "gamma": 0.001, "gamma_tilde": 0.25, "mu_F": 1.0,
    "L_F": 2.0, "dist_0": 30.0, "N_star_l1": 10.0, "D_f": 0.5, "X_sq": 1.0, "e_bar": 0.1, "r_hat": 3,
    "a": 0.5, "b": 0.25, "f_gap": 1.0, "d_sequence": np.where(np.arange(82) < 50, 1e-3, 1.0),
}  # fmt: skip


def curve(axis: str, rounds: np.ndarray) -> Curve:
    zero = np.zeros(rounds.size)
    return Curve(axis, rounds, zero, zero, np.zeros(rounds.size, dtype=bool))


@pytest.mark.parametrize(
    ("statement", "axis"), [("Lemma 6.8", "r"), ("Theorem 4.6(i-2)", "R"), ("Theorem 4.10(i)", "R")]
)
def test_every_point_is_decided_as_if_it_were_alone(statement: str, axis: str) -> None:
    encoded = bounds.get(statement, "printed")
    constants = {n: Constant(n, v, Provenance.EXACT) for n, v in NUMBERS.items()}
    first = 4 if statement.startswith("Theorem 4.10") else 1  # its supremum is over r_hat <= r < R
    rounds = np.arange(first, 81)
    shown, applies = checks_along(encoded, constants, curve(axis, rounds))
    alone = [encoded.check({**constants, axis: int(r)}) for r in rounds]
    expected = [not any(c.holds is False for c in checks) for checks in alone]
    assert applies.tolist() == expected
    assert set(expected) == {True, False}
    assert shown == alone[int(np.flatnonzero(expected)[-1])]


@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_what_is_measured_along_a_curve_is_decided_with_its_radius(radius: float) -> None:
    encoded, rounds = bounds.get("Lemma 6.8", "printed"), np.arange(1, 81)
    constants = {n: Constant(n, v, Provenance.EXACT) for n, v in NUMBERS.items() if n != "dist_0"}
    values = 30.0 * 0.8**rounds
    along = {"dist_0": Measured(values, radius * values)}
    shown, applies = checks_along(encoded, constants, replace(curve("r", rounds), along=along))
    alone = [
        encoded.check(
            {**constants, "r": int(r), "dist_0": Constant("dist_0", v, Provenance.CERTIFIED, radius * v)}
        )
        for r, v in zip(rounds, values.tolist(), strict=True)
    ]
    expected = [not any(c.holds is False for c in checks) for checks in alone]
    assert applies.tolist() == expected
    assert set(expected) == {True, False}
    assert shown == alone[int(np.flatnonzero(expected)[-1])]


def test_a_curve_without_points_decides_nothing() -> None:
    shown, applies = checks_along(bounds.get("Lemma 6.8"), {}, curve("r", np.arange(0)))
    assert shown == ()
    assert applies.size == 0
