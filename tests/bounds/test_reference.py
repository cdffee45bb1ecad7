"""The references themselves: every draw is admissible, every bound finite, twins and units agree."""

import numpy as np
import pytest
from mpmath import isfinite, mp, mpf
from reference import ALL, EXTRA, REFERENCE
from reference.base import mean_power, power
from reference.scaling import INHOMOGENEOUS, VALUES, draw_ordered, scaled
from reference.section_4 import lemma_4_4_iii, power_sum

CASES = sorted(ALL)
SCALES = {"N": (8.0, 1.0, 1.0), "f": (1.0, 4.0, 1.0), "x": (1.0, 1.0, 0.5)}
TINY = mpf(10) ** -38  # 50 digits less what 1 - rho^2 and zeta differences may lose


@pytest.mark.parametrize("case", CASES, ids=" | ".join)
def test_draws_satisfy_the_hypotheses(case: tuple[str, str]) -> None:
    reference, rng = ALL[case], np.random.default_rng(7)
    for _ in range(20):
        constants = reference.draw(rng)
        failing = {k: v for k, v in reference.hypotheses(**constants).items() if v is False}
        assert not failing, (failing, constants)
        value = reference.value(**constants)
        if not isinstance(value, dict):
            assert isfinite(value), constants
        elif reference.direction == "order":
            assert not any(mp.isnan(v) for v in value.values()), constants
        else:
            assert all(v in (True, False, None) for v in value.values())


def test_extra_statements_are_told_apart() -> None:
    assert {name for name, _ in EXTRA} == {
        "Consensus",
        "Lemma 6.3 (18)",
        "Lemma 6.7 (any delta)",
        "Start distance",
        "Start gap",
        "Theorem 4.6(i-1)",
        "Theorem 4.9(i-1)",
    }
    assert ("Theorem 4.9(i-1)", "sharp") in REFERENCE


@pytest.mark.parametrize("s", [mpf(0), mpf("0.5"), mpf(1), mpf("1.25"), mpf(2)])
def test_power_sums_match_the_loop(s: mpf) -> None:
    R = 3500
    loop = mp.fsum(power(mpf(j), -s) for j in range(1, R + 1))
    assert abs(power_sum(s, R) / loop - 1) < mpf(10) ** -45


@pytest.mark.parametrize("x", [mpf(0), mpf("0.3"), 1 - mpf(10) ** -9])
def test_mean_of_powers_matches_the_loop(x: mpf) -> None:
    loop = mp.fsum(power(x, r) for r in range(4, 40)) / 36
    assert abs(mean_power(x, 4, 40) - loop) <= TINY * loop


@pytest.mark.parametrize("unit", SCALES)
@pytest.mark.parametrize("case", [c for c in CASES if c[0] in VALUES], ids=" | ".join)
def test_bounds_scale_as_their_quantities_do(case: tuple[str, str], unit: str) -> None:
    reference, rng, scales = ALL[case], np.random.default_rng(11), SCALES[unit]
    factor = mp.fprod(mpf(s) ** u for s, u in zip(scales, VALUES[case[0]], strict=True))
    agrees = []
    for _ in range(8):
        constants = reference.draw(rng)
        other = scaled(constants, scales)
        before, after = reference.value(**constants) * factor, reference.value(**other)
        same_hypotheses = reference.hypotheses(**constants) == reference.hypotheses(**other)
        agrees.append(abs(before - after) <= TINY * abs(before) and same_hypotheses)
    inhomogeneous = case in INHOMOGENEOUS and (unit == "N") == (case[0] == "Lemma 4.4(iv)")
    assert all(agrees) != inhomogeneous


@pytest.mark.parametrize(
    "name",
    ["Lemma 4.3(i)", "Lemma 4.3(ii)", "Lemma 4.4(iv)", "Theorem 4.6(i-1)", "Theorem 4.6(i-2)"],
)
def test_sharp_is_at_most_corrected(name: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        c = draw_ordered(rng)
        assert ALL[name, "sharp"].holds(c)
        assert ALL[name, "corrected"].holds(c)
        assert ALL[name, "sharp"].value(**c) <= ALL[name, "corrected"].value(**c)


@pytest.mark.parametrize("name", ["Consensus", "Theorem 4.6(i-1)", "Theorem 4.9(i-1)"])
def test_sharper_is_at_most_sharp(name: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        c = ALL[name, "sharp"].draw(rng)
        assert ALL[name, "sharper"].holds(c)
        assert ALL[name, "sharper"].value(**c) <= ALL[name, "sharp"].value(**c)


@pytest.mark.parametrize(
    ("a", "b", "holds"),
    [
        (0.5, 0.25, True),
        (0.5, 0.5, False),  # a = b, on a + b = 1
        (0.25, 0.25, False),  # a = b inside
        (0.75, 0.25, True),  # a + b = 1 with b < a: ln R diverges, sum r^-1.5 does not
        (0.25, 0.75, False),
        (0.5, 0.125, True),  # 2a = 1: ln R against a power
        (0.75, 0.0, False),  # lambda constant
        (0.75, 0.5, False),  # a + b > 1
        (0.0, 0.0, False),
    ],
)
def test_rate_conditions_at_the_edges(a: float, b: float, holds: bool) -> None:
    assert lemma_4_4_iii(a=a, b=b)["holds"] is holds
