"""Laws that bounds obey: monotone in what they must be, invariant under units, ordered by edition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twins
from mpmath import mpf
from reference import ALL
from reference.scaling import draw_ordered

import bounds
from bounds import SYMBOLS

UP = ("dist_0", "nu", "G", "f_gap", "S", "D_r_hat", "sigma_sq", "kappa", "s")
MONOTONE = [
    ("Theorem 4.6(i-1)", "printed"),
    ("Theorem 4.6(i-1)", "corrected"),
    ("Theorem 4.6(i-1)", "sharp"),
    ("Theorem 4.6(i-2)", "corrected"),
    ("Theorem 4.6(i-2)", "sharp"),
    ("Theorem 4.9(i-1)", "printed"),
    ("Theorem 4.9(i-1)", "corrected"),
    ("Theorem 4.9(i-1)", "sharp"),
    ("Lemma 4.3(i)", "corrected"),
    ("Lemma 4.3(ii)", "sharp"),
]


@pytest.mark.parametrize("case", MONOTONE, ids=" | ".join)
def test_monotone(case: tuple[str, str]) -> None:
    """Up in dist_0, noise, dissimilarity and gaps; down in R, strictly where the quantity is in the bound."""
    statement, rng = bounds.get(*case), np.random.default_rng(9)
    for _ in range(12):
        c = ALL[case].draw(rng)
        base = statement.evaluate(c, unchecked=True)
        for name in (n for n in UP if n in statement.symbols):
            more = statement.evaluate({**c, name: c[name] * 1.5 + 1e-3}, unchecked=True)
            assert more >= base * (1 - 1e-14), (name, c)
        if "R" in c and "R" in statement.symbols:
            longer = statement.evaluate({**c, "R": 2 * c["R"]}, unchecked=True)
            assert longer <= base * (1 + 1e-14)
        if "r" in statement.symbols:
            assert statement.evaluate({**c, "r": c["r"] + 1}) <= base


@pytest.mark.parametrize("case", MONOTONE, ids=" | ".join)
def test_strictly_monotone_away_from_the_corners(case: tuple[str, str]) -> None:
    from test_corners import ALL as BASE

    statement = bounds.get(*case)
    base = statement.evaluate({**BASE, "r": 3})
    for name in (n for n in UP if n in statement.symbols):
        assert statement.evaluate({**BASE, "r": 3, name: 1.01 * BASE[name]}, unchecked=True) > base, name


ORDERED = ("Lemma 4.3(i)", "Lemma 4.3(ii)", "Lemma 4.4(iv)", "Theorem 4.6(i-1)", "Theorem 4.6(i-2)")


@pytest.mark.parametrize("name", ORDERED)
def test_sharp_is_at_most_corrected(name: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        c = draw_ordered(rng)
        sharp, corrected = bounds.get(name, "sharp"), bounds.get(name, "corrected")
        assert sharp.evaluate(c) <= corrected.evaluate(c) * (1 + 1e-14)
        assert not sharp.enclose(c) > corrected.enclose(c)


def test_sharp_theorem_4_9_at_most_corrected_where_they_compare() -> None:
    """At the equilibrium, for one pair (G, B) of both: S <= m G^2 and sigma_sq <= S."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        c = {**ALL["Theorem 4.9(i-1)", "corrected"].draw(rng), "dist_0": 0.0, "r_hat": 0}
        c["G"] = max(c["G"], 1e-3)
        c.update(S=c["m"] * c["G"] ** 2 * rng.uniform(0, 1), s=1.0, omega=float(c["m"]), kappa=float(c["m"]))
        c["sigma_sq"] = c["S"] * rng.uniform(0, 1)
        sharp, corrected = bounds.get("Theorem 4.9(i-1)", "sharp"), bounds.get("Theorem 4.9(i-1)")
        c["gamma"] = min(sharp.largest("gamma", c), corrected.largest("gamma", c)) * rng.uniform(0.1, 1)
        assert sharp.evaluate(c) <= corrected.evaluate(c) * (1 + 1e-14)
        start = {**c, "dist_0": 1e-4 * c["N_star_l1"], "m": max(c["m"], 2)}
        start["gamma"] = min(sharp.largest("gamma", start), corrected.largest("gamma", start))
        without = sharp.evaluate({**start, "Delta_mean": 0.0}, unchecked=True)
        assert without <= sharp.evaluate(start, unchecked=True)
        assert without <= corrected.evaluate(start, unchecked=True) * (1 + 1e-14)


def scaled(constants: dict[str, Any], N: float, f: float) -> dict[str, Any]:
    """The same instance with N in units of 1/N and f in units of 1/f, from the units of the symbol table."""
    factors = {"N": N, "f": f, "F": 1.0, "h": 1.0, "x": 1.0, "1": 1.0}
    result = {}
    for name, value in constants.items():
        unit, scale = SYMBOLS[name].unit, 1.0
        sign = 1
        for part in unit.replace("*", " * ").replace("/", " / ").split():
            if part in "*/":
                sign = 1 if part == "*" else -1
                continue
            base, _, power = part.partition("^")
            scale *= factors[base] ** (sign * int(power or 1))
        result[name] = value * scale if scale != 1.0 else value
    return result


# F is the slope of a utility of no unit: 1/N, so that mu_F, L_F have the unit 1/N^2 and gamma_tilde N^2.
INVARIANT = [("Theorem 4.6(i-1)", e, "f") for e in ("printed", "corrected", "sharp")] + [
    ("Theorem 4.6(i-2)", e, "f") for e in ("printed", "corrected", "sharp")
]
INVARIANT += [("Theorem 4.10(i)", e, "f") for e in ("printed", "corrected", "sharp")]
INVARIANT += [("Theorem 4.9(i-1)", "sharp", "f")]
INVARIANT += [(i, e, "N") for i, e, _ in INVARIANT]
MIXED = [
    ("Theorem 4.9(i-1)", "printed"),
    ("Theorem 4.9(i-1)", "corrected"),
    ("Lemma 6.7", "printed"),
    ("Lemma 6.7", "corrected"),
    ("Lemma 6.8", "printed"),
    ("Lemma 6.8", "corrected"),
    ("Lemma 6.10", "printed"),
    ("Lemma 6.10", "corrected"),
]
VALUE_UNITS = {  # of N and of f
    "Theorem 4.6(i-1)": (0, 2),
    "Theorem 4.10(i)": (0, 2),
    "Theorem 4.6(i-2)": (2, 0),
    "Theorem 4.9(i-1)": (0, 1),
    "Lemma 6.7": (0, 1),
    "Lemma 6.8": (0, 0),
    "Lemma 6.10": (0, 0),
}


def disagreements(name: str, edition: str, unit: str) -> int:
    """At how many of 20 instances does a change of unit change more than the unit of the bound?"""
    statement, rng, count = bounds.get(name, edition), np.random.default_rng(2), 0
    N, f = (8.0, 1.0) if unit == "N" else (1.0, 4.0)
    on_N, on_f = VALUE_UNITS[name]
    for _ in range(20):
        ours, _ = twins.pair(name, edition, ALL[name, edition].draw(rng))
        ours = {n: v for n, v in ours.items() if n in SYMBOLS}
        before, after = (statement.evaluate(c, unchecked=True) for c in (ours, scaled(ours, N, f)))
        count += abs(after - before * N**on_N * f**on_f) > 1e-11 * abs(after)
        holds = [[h.holds for h in statement.check(c)] for c in (ours, scaled(ours, N, f))]
        count += holds[0] != holds[1]
    return count


@pytest.mark.parametrize("case", INVARIANT, ids=" | ".join)
def test_invariant_under_units(case: tuple[str, str, str]) -> None:
    assert disagreements(*case) == 0


@pytest.mark.parametrize("case", MIXED, ids=" | ".join)
def test_mixed_units_are_a_finding_that_the_note_names(case: tuple[str, str]) -> None:
    assert disagreements(*case, "f") >= 5
    assert disagreements(*case, "N") == 0
    assert "ot invariant under scaling f" in bounds.get(*case).note


@pytest.mark.parametrize("edition", ["printed", "corrected"])
def test_the_orders_mix_units(edition: str) -> None:
    statement, rng = bounds.get("Theorem 4.6(ii)", edition), np.random.default_rng(1)
    c = {**ALL["Theorem 4.6(ii)", edition].draw(rng), "dist_0": 5.0, "G": 1.0, "m": 3}
    terms = statement.parts(c)
    by_f = statement.parts(scaled({**c, "epsilon": c["epsilon"]}, 1.0, 4.0) | {"epsilon": c["epsilon"] * 16})
    assert by_f["R_1"] != pytest.approx(terms["R_1"], rel=1e-6)  # L^4 H^4 beside (f - f*)^2
    assert by_f["R_5"] == pytest.approx(16 * terms["R_5"], rel=1e-12)
    assert "invariant" in statement.note
    by_N = statement.parts(scaled(c, 8.0, 1.0))
    assert by_N["R_2"] != pytest.approx(terms["R_2"], rel=1e-6)  # epsilon bounds a square of N and one of f/x


def test_printed_4_9_drift_term_decays_and_must_not() -> None:
    """The difference of the editions is 72 gamma^2 L (nu^2 + m G^2) H^2 (1 - H/T) before the factor."""
    from test_corners import ALL as BASE

    printed, corrected = (bounds.get("Theorem 4.9(i-1)", e).evaluate(BASE) for e in ("printed", "corrected"))
    T = BASE["H"] * (BASE["R"] - BASE["r_hat"])
    drift = 72 * BASE["gamma"] ** 2 * BASE["L"] * (0.25 + 4 * 0.5625) * BASE["H"] ** 2
    rho, delta_0 = 1 - 0.5 * 0.25 / 2, 3 * 3.0 / 80
    factor = 1 / (1 - 4 * BASE["gamma"] * np.sqrt(delta_0) * BASE["H"] / (1 - np.sqrt(rho)))
    assert corrected - printed == pytest.approx(factor * drift * (1 - BASE["H"] / T), rel=1e-6)


def test_lemma_6_7_survives_on_the_step_that_proves_it() -> None:
    """The scalar inequalities of the proof sketch in the note, at random points (m >= 3 and m = 2)."""
    rng = np.random.default_rng(0)
    for m in range(3, 40):
        assert mpf(m) / (m - 1) ** 2 <= mpf(3) / 4
    s_1, s_2, y, extra = rng.exponential(1.0, (4, 100000))
    L = 2 * np.maximum(y - s_2, 0) + extra * rng.integers(0, 2, 100000)  # y <= s_2 + L/2
    assert np.all((s_1 + y) ** 2 <= (2 * s_1**2 + 3 * s_2**2 + 2 * L * y) * (1 + 1e-12))
