"""Constants that are intervals: verdicts use the right end of the bound, pages show both."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import bounds
from bounds import Constant, Provenance, Sense
from verify.envelope import enclosure, linear
from verify.examine import Finding, judge_curve, judge_samples
from verify.observed import Curve, Sample, Start
from verify.page.figures import _panel
from verify.page.statements import _sentences
from verify.plots import Envelope, _draw_envelope, draw
from verify.verdict import Outcome, Rigor, Verdict, apart

LEMMA, THEOREM = bounds.get("Lemma 4.3(i)", "sharp"), bounds.get("Theorem 4.9(i-1)", "sharp")


def given(radius: float = 0.0, **values: float) -> dict[str, Constant]:
    found = {name: Constant(name, value, Provenance.GIVEN) for name, value in values.items()}
    return found | {"dist_0": Constant("dist_0", 10.0, Provenance.CERTIFIED, radius)}


CONSTANTS = given(2.0, mu_F=1.0, L_F=1.0, gamma_tilde=0.5)  # the bound is dist_0 2^-r: 8 to 12 at r = 0
ROUNDS = np.arange(1, 6)


def curve(share: float) -> Curve:
    """Observed: a share of dist_0 = 1 times 2^-r."""
    values = share * 0.5**ROUNDS
    return Curve("r", ROUNDS, values, 1e-12 * values, np.zeros(5, dtype=bool))


def base(statement: bounds.Statement) -> Verdict:
    return Verdict(statement.id, statement.edition, Outcome.INCONCLUSIVE, Rigor.RIGOROUS, "interval")


@pytest.mark.parametrize(
    ("observed", "outcome"),
    [(7.9, "holds"), (8.1, "inconclusive"), (11.9, "inconclusive"), (12.1, "violated")],
)
def test_a_curve_holds_below_the_low_end_and_is_violated_above_the_high_one(observed, outcome) -> None:
    finding = judge_curve(base(LEMMA), LEMMA, CONSTANTS, curve(observed))
    verdict = finding.verdict
    assert verdict.outcome == outcome
    assert verdict.bound_low == pytest.approx(8 * 0.5**verdict.round, rel=1e-8)
    assert verdict.bound_high == verdict.bound == pytest.approx(12 * 0.5**verdict.round, rel=1e-8)
    np.testing.assert_allclose(finding.envelope, 12 * 0.5**ROUNDS, rtol=1e-8)
    np.testing.assert_allclose(finding.envelope_low, 8 * 0.5**ROUNDS, rtol=1e-8)


@pytest.mark.parametrize(
    ("observed", "outcome"),
    [(7.9, "violated"), (8.1, "inconclusive"), (11.9, "inconclusive"), (12.1, "holds")],
)
def test_a_bound_from_below_uses_the_ends_the_other_way_round(observed, outcome) -> None:
    below = replace(LEMMA, sense=Sense.AT_LEAST)
    verdict = judge_curve(base(below), below, CONSTANTS, curve(observed)).verdict
    assert verdict.outcome == outcome
    assert verdict.bound == verdict.bound_low


def test_an_equality_is_refuted_only_outside_both_ends() -> None:
    equal = replace(LEMMA, sense=Sense.EQUAL)
    found = {
        x: judge_curve(base(equal), equal, CONSTANTS, curve(x)).verdict.outcome for x in (7.9, 10.0, 12.1)
    }
    assert found == {7.9: Outcome.VIOLATED, 10.0: Outcome.INCONCLUSIVE, 12.1: Outcome.VIOLATED}


def theorem(radius: float) -> dict[str, Constant]:
    """Of sharp Theorem 4.9(i-1), with G^2 known to within a radius."""
    values = {
        "m": 2,
        "H": 1,
        "gamma": 0.01,
        "gamma_tilde": 0.5,
        "mu_F": 1.0,
        "L_F": 1.0,
        "R": 100,
        "r_hat": 0,
    }
    return given(0.0, **values) | {
        "L": Constant("L", 1.0, Provenance.GIVEN), "nu": Constant("nu", 20.0, Provenance.GIVEN, radius),
        "s": Constant("s", 1.0, Provenance.GIVEN), "sigma_sq": Constant("sigma_sq", 0.0, Provenance.GIVEN),
        "N_star_l1": Constant("N_star_l1", 100.0, Provenance.GIVEN), "S": Constant("S", 0.0, Provenance.GIVEN),
    }  # fmt: skip


def sample(mean: float, ceiling: float, seeds: int = 4000) -> Sample:
    """A variable that is almost the same in every seed; nothing random in its start."""
    values = np.full(seeds, mean)
    start = Start("D_r_hat", np.full(seeds, 1.0), 1.0, 1.0)
    return Sample(values, (start,), ceiling, np.inf, np.zeros(0, dtype=int), np.zeros((seeds, 0)), round=100)


def test_an_expectation_uses_the_right_ends_too() -> None:
    constants = theorem(5.0)
    bound = linear(THEOREM, constants, sample(1.0, 10.0))
    low, high = bound.ends([1.0])
    assert apart(np.asarray(low), np.asarray(high))
    found = {}
    for share in (-0.1, 0.1, 0.9, 1.1):
        x = max(low + share * (high - low), 0.7 * low)
        finding = judge_samples(base(THEOREM), THEOREM, constants, sample(x, 3 * high), 0.01)
        found[share] = finding.verdict.outcome
        assert (finding.verdict.bound_low, finding.verdict.bound_high) == pytest.approx((low, high))
    assert found == {
        -0.1: Outcome.HOLDS,
        0.1: Outcome.INCONCLUSIVE,
        0.9: Outcome.INCONCLUSIVE,
        1.1: Outcome.VIOLATED,
    }


def test_vacuous_needs_the_low_end_above_what_is_known() -> None:
    constants = theorem(5.0)
    low, high = linear(THEOREM, constants, sample(1.0, 10.0)).ends([1.0])
    between = judge_samples(base(THEOREM), THEOREM, constants, sample(0.1 * low, (low + high) / 2), 0.01)
    assert between.verdict.outcome is Outcome.HOLDS
    rest = linear(THEOREM, constants, sample(1.0, 10.0)).rest_low
    under = judge_samples(base(THEOREM), THEOREM, constants, sample(0.1 * low, 0.99 * rest), 0.01)
    assert under.verdict.outcome is Outcome.VACUOUS


def test_the_ends_enclose_the_bound_at_every_value_inside() -> None:
    low, high = enclosure(THEOREM, theorem(5.0) | {"D_r_hat": Constant("D_r_hat", 1.0, Provenance.GIVEN)})
    for nu in np.linspace(15.0, 25.0, 7):
        point = theorem(0.0) | {
            "nu": Constant("nu", float(nu), Provenance.GIVEN),
            "D_r_hat": Constant("D_r_hat", 1.0, Provenance.GIVEN),
        }
        assert low <= THEOREM.evaluate(point, unchecked=True) <= high


# On the page --------------------------------------------------------------------------------------


def panel(constants):
    return _panel([judge_curve(base(LEMMA), LEMMA, constants, curve(7.0))])


def drawn(ends: Envelope):
    axes = Figure().subplots()
    _draw_envelope(axes, ROUNDS, "sharp", ends)
    return axes


def test_a_wide_bound_is_a_band_that_the_legend_names() -> None:
    ends = panel(CONSTANTS).envelopes["sharp"]
    axes = drawn(ends)
    (band,) = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((8 / 32, 12 / 2))
    assert axes.get_legend_handles_labels()[1] == ["bound, sharp (band: constants are intervals)"]
    assert len(axes.lines) == 2


def test_a_narrow_bound_is_a_line() -> None:
    axes = drawn(
        panel(CONSTANTS | {"dist_0": Constant("dist_0", 10.0, Provenance.CERTIFIED, 1e-9)}).envelopes["sharp"]
    )
    assert len(axes.collections) == 0
    assert axes.get_legend_handles_labels()[1] == ["bound, sharp"]
    assert len(axes.lines) == 1


def test_the_picture_shows_it() -> None:
    narrow = CONSTANTS | {"dist_0": Constant("dist_0", 12.0, Provenance.CERTIFIED)}
    assert draw(panel(CONSTANTS)) != draw(panel(narrow))


def test_the_sentence_names_both_ends_where_they_are_apart() -> None:
    wide = judge_curve(base(LEMMA), LEMMA, CONSTANTS, curve(7.0)).verdict
    (said,) = _sentences([wide])
    assert "against a bound between 4 and 6 (constants are intervals) at round 1" in said["sentence"]
    (plain,) = _sentences([replace(wide, bound_low=wide.bound_high)])
    assert "against 6 at round 1" in plain["sentence"]


def test_a_finding_without_an_envelope_has_no_picture() -> None:
    none = np.zeros(0)
    assert _panel([Finding(base(LEMMA), LEMMA, {}, curve(1.0), none)]) is None
