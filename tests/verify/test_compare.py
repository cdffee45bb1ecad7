"""Curves against envelopes: the rotation on which a naive float comparison cries wolf."""

import numpy as np
import pytest

from verify.compare import compare
from verify.observed import Curve
from verify.verdict import Outcome


def curve(values, error, ceiling=float("inf"), identity_at=()) -> Curve:
    values = np.asarray(values, dtype=float)
    rounds = np.arange(values.size)
    return Curve(
        axis="r",
        rounds=rounds,
        values=values,
        error=np.broadcast_to(np.asarray(error, dtype=float), values.shape).copy(),
        identity=np.isin(rounds, identity_at),
        ceiling=ceiling,
    )


def test_holds_when_every_round_clears_its_error() -> None:
    finding = compare(curve([0.9, 0.4], 1e-3), np.array([1.0, 0.5]), np.array([1.0, 0.5]))
    assert finding.outcome is Outcome.HOLDS
    assert finding.resolution == 0.0
    assert finding.index == 0  # 0.9/1 is nearer to its bound than 0.4/0.5


def test_violated_only_beyond_the_error() -> None:
    bound = np.array([1.0, 1.0])
    assert compare(curve([0.5, 1.01], 1e-3), bound, bound).outcome is Outcome.VIOLATED
    assert compare(curve([0.5, 1.0005], 1e-3), bound, bound).outcome is Outcome.INCONCLUSIVE


def test_a_tie_says_whether_the_run_is_too_coarse() -> None:
    bound = np.array([1.0, 1.0])
    assert "known only to 0.001 there: too coarse" in compare(curve([0.5, 1.0], 1e-3), bound, bound).reason
    wide = compare(
        curve([0.5, 1.0], 1e-15), bound - 1e-3, bound + 1e-3
    )  # here it is the bound that is not known
    assert wide.outcome is Outcome.INCONCLUSIVE
    assert "coarse" not in wide.reason


def test_violation_names_the_worst_round() -> None:
    bound = np.ones(4)
    assert compare(curve([0.5, 1.1, 1.4, 1.2], 1e-3), bound, bound).index == 2


def test_ties_below_the_resolution_do_not_block() -> None:
    bound = np.array([1.0, 1e-3, 1e-12])
    finding = compare(curve([0.9, 5e-4, 0.0], 1e-12), bound, bound)
    assert finding.outcome is Outcome.HOLDS
    assert finding.resolution == pytest.approx(1e-12)


def test_a_coarse_bound_hides_no_observation() -> None:
    """However small both are: an observation that is known well may exceed a bound that is not."""
    coarse = compare(curve([0.9, 3e-11], 1e-16), np.array([1.0, 0.0]), np.array([1.0, 6e-10]))
    assert coarse.outcome is Outcome.INCONCLUSIVE
    assert "the bound is known only to 3e-10 there" in coarse.reason
    unseen = compare(curve([0.9, 3e-11], 1e-10), np.array([1.0, 0.0]), np.array([1.0, 6e-10]))
    assert unseen.outcome is Outcome.HOLDS
    assert unseen.resolution == pytest.approx(6e-10)


def test_a_tie_above_the_resolution_is_rounding() -> None:
    bound = np.array([1.0, 0.5])
    finding = compare(curve([0.9, 0.5], 1e-15), bound, bound)
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert "rounding" in finding.reason
    assert finding.index == 1


def test_an_identity_round_is_not_a_tie() -> None:
    bound = np.array([1.0, 0.5])
    assert compare(curve([1.0, 0.4], 1e-15, identity_at=[0]), bound, bound).outcome is Outcome.HOLDS
    assert compare(curve([1.0, 0.4], 1e-15), bound, bound).outcome is Outcome.INCONCLUSIVE


def test_vacuous_when_the_envelope_never_goes_below_what_is_known() -> None:
    bound = np.array([3.0, 2.0])
    assert compare(curve([0.1, 0.1], 1e-9, ceiling=1.0), bound, bound).outcome is Outcome.VACUOUS
    assert compare(curve([0.1, 0.1], 1e-9, ceiling=2.5), bound, bound).outcome is Outcome.HOLDS


def test_on_the_tight_rotation_nothing_is_violated() -> None:
    # d_r = q^r exactly; the float trajectory lands on either side of the float envelope
    c, s, gamma = 0.8, 0.6, 0.1
    q = np.hypot(1 - gamma * c, gamma * s)
    step = np.array([[1 - gamma * c, gamma * s], [-gamma * s, 1 - gamma * c]])
    point, distances = np.array([1.0, 0.0]), []
    for _ in range(200):
        distances.append(np.linalg.norm(point))
        point = step @ point
    envelope = q ** np.arange(200)
    error = 1e-14 * np.ones(200)
    assert np.sum(np.array(distances) > envelope) > 50
    finding = compare(
        curve(distances, error, identity_at=[0]), envelope * (1 - 1e-15), envelope * (1 + 1e-15)
    )
    assert finding.outcome is Outcome.INCONCLUSIVE
