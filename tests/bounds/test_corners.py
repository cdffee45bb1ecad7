"""The corners: one client, one step, nothing to bound, no doubt, a start at the equilibrium, 10^12 rounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import bounds
from bounds import Constant, HypothesisFails, Provenance
from bounds.core import enclosure
from bounds.core.accurate import half_rate, rate_power, square_rate
from bounds.core.decide import PRECISIONS

GAME = {"m": 4, "mu_F": 0.5, "L_F": 1.0, "gamma_tilde": 0.25, "dist_0": 3.0, "N_star_l1": 80.0}
LOSS = {"L": 2.0, "nu": 0.5, "G": 0.75, "B": 1.25, "H": 5, "R": 400, "r_hat": 40, "gamma": 1e-4, "f_gap": 2.0}
CONVEX = {"D_r_hat": 1.5, "S": 2.0, "s": 0.5, "kappa": 2.0, "sigma_sq": 0.75, "omega": 1.5}
ALL: dict[str, Any] = {**GAME, **LOSS, **CONVEX}
MAIN = [
    ("Theorem 4.6(i-1)", "printed"),
    ("Theorem 4.6(i-1)", "corrected"),
    ("Theorem 4.6(i-1)", "sharp"),
    ("Theorem 4.9(i-1)", "printed"),
    ("Theorem 4.9(i-1)", "corrected"),
    ("Theorem 4.9(i-1)", "sharp"),
]


def value(case: tuple[str, str], **changes: Any) -> float:
    """The bound at the base constants with some changed; finite, and enclosed."""
    constants = {**ALL, **changes}
    statement = bounds.get(*case)
    result = statement.evaluate(constants)
    assert np.isfinite(result)
    with ctx.workprec(200):
        exact = statement.enclose(constants, 200)
    assert abs(result - float(exact)) <= 64 * np.spacing(result)
    return float(result)


@pytest.mark.parametrize("case", MAIN, ids=" | ".join)
def test_one_client_has_no_weight_error(case: tuple[str, str]) -> None:
    assert value(case, m=1, kappa=1.0, s=1.0) == value(case, m=1, kappa=1.0, s=1.0, dist_0=0.0)


@pytest.mark.parametrize("case", MAIN, ids=" | ".join)
def test_start_at_the_equilibrium_is_plain_federated_averaging(case: tuple[str, str]) -> None:
    """Then the participation constants do not matter, and no warm-up is asked for."""
    here = value(case, dist_0=0.0, r_hat=0)
    assert here == value(case, dist_0=0.0, r_hat=0, mu_F=0.25, gamma_tilde=0.125, N_star_l1=7.0)
    assert here < value(case)


def test_one_step_a_round_has_no_drift_in_sharp() -> None:
    c = {**ALL, "H": 1, "dist_0": 0.0}
    T = 400 - 40
    by_hand = 4 * 2.0 / (1e-4 * T) + 2 * 2.0 * 1e-4 * 0.5 * 0.25
    assert bounds.get("Theorem 4.6(i-1)", "sharp").evaluate(c) == pytest.approx(by_hand, rel=1e-15)
    assert bounds.get("Theorem 4.9(i-1)", "sharp").evaluate(c) == pytest.approx(
        2 * 2.25 / (1e-4 * T) + 2 * 1e-4 * 0.5 * 0.25, rel=1e-15
    )
    zero = {"gamma": 0.1, "L": 1.0, "nu": 1.0, "G": 1.0, "B": 1.0, "kappa": 1.0, "grad_f_sq": 1.0}
    assert bounds.get("Lemma 4.13(iii)", "sharp").evaluate({**zero, "H": 1, "R": 5, "r_hat": 0}) == 0.0
    game = {"sigma_sq": 1.0, "omega": 1.0, "D_f": 1.0}
    assert bounds.get("Lemma 6.9", "sharp").evaluate({**zero, **game, "H": 1}) == 0.0


def test_one_client_one_step_is_stochastic_gradient_descent() -> None:
    """Ghadimi and Lan: (2/(gamma T)) gap + L gamma nu^2 is within the factor two of sharp."""
    c = {**ALL, "m": 1, "H": 1, "kappa": 1.0, "s": 1.0}
    classical = 2 * 2.0 / (1e-4 * 360) + 2.0 * 1e-4 * 0.25
    assert bounds.get("Theorem 4.6(i-1)", "sharp").evaluate(c) == pytest.approx(2 * classical, rel=1e-15)


@pytest.mark.parametrize("case", MAIN, ids=" | ".join)
def test_vanishing_constants(case: tuple[str, str]) -> None:
    for changes in ({"B": 0.0}, {"G": 0.0}, {"nu": 0.0}, {"B": 0.0, "G": 0.0, "nu": 0.0}):
        assert value(case, **changes) <= value(case)


def test_a_vanishing_B_voids_its_conditions() -> None:
    for edition in ("printed", "sharp"):
        checks = bounds.get("Theorem 4.6(i-1)", edition).check({**ALL, "B": 0.0})
        assert all(c.holds for c in checks)
        assert [c.rhs for c in checks if "B" in c.name and c.name.startswith("gamma")] == [np.inf]
    warm = next(c for c in bounds.get("Theorem 4.6(i-1)").check({**ALL, "B": 0.0}) if "ln" in c.name)
    assert warm.rhs == -np.inf


def test_vanishing_noise_voids_the_conditions_of_4_10_ii() -> None:
    c = {**ALL, "a": 0.5, "b": 0.25, "epsilon": 0.1, "sigma_h": 0.1, "gamma": 1e-3}
    for edition in bounds.editions("Theorem 4.10(ii)"):
        checks = bounds.get("Theorem 4.10(ii)", edition).check({**c, "nu": 0.0, "G": 0.0})
        assert [x.rhs for x in checks if "epsilon" in x.name] == [np.inf, np.inf]


def test_zero_discount_is_a_failed_hypothesis() -> None:
    """B = 0 lets gamma reach the pole of the factor before the bracket of Theorem 4.9."""
    c = {**ALL, "m": 1 + 3, "H": 1, "B": 0.0, "mu_F": 1.0, "L_F": 1.0, "gamma_tilde": 1.0, "L": 1e-3}
    c.update(dist_0=80.0 / 3.0, N_star_l1=80.0, r_hat=0)
    statement = bounds.get("Theorem 4.9(i-1)")
    top = statement.largest("gamma", {**c, "gamma": 1.0})
    checks = {h.name: h for h in statement.check({**c, "gamma": top})}
    assert checks["m gamma sqrt(delta_0) H/(1 - sqrt(rho)) < 1"].slack < 1e-15


def test_powers_that_underflow() -> None:
    statement = bounds.get("Theorem 4.6(i-2)")
    c = {"mu_F": 1.0, "L_F": 1.0, "gamma_tilde": 1.0, "dist_0": 3.0, "r_hat": 600, "R": 10**12}
    assert statement.evaluate(c) == 0.0  # 0.25^600 / (0.75 10^12) is below the smallest float
    ball = statement.enclose(c)
    assert ball > 0
    assert ball < 1e-300
    half_way = {**c, "r_hat": 500}  # 2^-1000: still a normal number
    assert statement.evaluate(half_way) == pytest.approx(9 * 2.0**-1000 / 0.75 / (10**12 - 500), rel=1e-15)


@pytest.mark.parametrize("rounds", [10**9, 10**12])
def test_a_rate_next_to_one_at_many_rounds(rounds: int) -> None:
    """1 - rho^2 and rho^a - rho^b where rho^2 rounds to one."""
    c = {"mu_F": 1e-12, "L_F": 1.0, "gamma_tilde": 1e-12, "dist_0": 1.0, "r_hat": rounds // 2, "R": rounds}
    for edition in bounds.editions("Theorem 4.6(i-2)"):
        statement = bounds.get("Theorem 4.6(i-2)", edition)
        assert statement.evaluate(c) == pytest.approx(1.0, rel=1e-11)  # the mean of numbers near one
        with ctx.workprec(300):
            truth = statement.enclose(c, 300)
        assert abs(statement.evaluate(c) - float(truth)) <= 4 * np.spacing(float(truth))


def test_powers_keep_their_digits_at_10_to_the_12() -> None:
    with ctx.workprec(300):
        for mu, g, n in [(1e-3, 1e-9, 10**12), (0.3, 0.1, 40000), (1.0, 0.7, 1500)]:
            hi, ratio, _ = half_rate(np.float64(mu), np.float64(g))
            statement = bounds.get("Lemma 4.3(i)")
            c = {"mu_F": mu, "L_F": 1.0, "gamma_tilde": g, "dist_0": 1.0, "r": n}
            truth = float(statement.enclose(c, 300, unchecked=True))
            assert abs(float(rate_power(hi, ratio, float(n))) - truth) <= 4 * np.spacing(truth)


def test_the_best_rate_of_a_rotation_is_zero() -> None:
    """mu_F = L_F = 1/gamma_tilde: q = 0 exactly, and tiny where gamma_tilde is rounded."""
    with np.errstate(divide="ignore"):
        assert square_rate(np.float64(2.0), np.float64(2.0), np.float64(0.5))[0] == 0.0
    c = {"mu_F": 2.0, "L_F": 2.0, "gamma_tilde": 0.5, "dist_0": 1.0, "r_hat": 0, "R": 4}
    statement = bounds.get("Theorem 4.6(i-2)", "sharp")
    assert statement.evaluate(c) == 0.25
    assert statement.enclose(c) == 0.25
    assert statement.evaluate({**c, "r_hat": 1}) == 0.0
    assert statement.enclose({**c, "r_hat": 1}) == 0.0
    start = {**ALL, **c, "X_0": 0.75, "kappa": 1.0}
    assert bounds.start_distance().evaluate({**start, "r_hat": 0}) == 0.75  # no warm-up: 1 - q^0 = 0
    third = {**c, "mu_F": 3.0, "L_F": 3.0, "gamma_tilde": 1 / 3}
    lemma = bounds.get("Lemma 4.3(i)", "sharp")
    assert lemma.evaluate({**third, "r": 1}) == pytest.approx(abs(1 - 3 * Fraction(1 / 3)), rel=1e-15)


def test_a_rate_that_may_be_zero_is_still_enclosed() -> None:
    doubtful = Constant("L_F", 2.0, Provenance.CERTIFIED, radius=1e-9)
    c = {"mu_F": 2.0, "L_F": doubtful, "gamma_tilde": 0.5, "dist_0": 1.0, "r_hat": 0, "R": 4}
    ball = bounds.get("Theorem 4.6(i-2)", "sharp").enclose(c, unchecked=True)
    assert ball.contains(0.25)
    assert ball.rad() < 1e-8
    powers = bounds.get("Lemma 4.3(i)", "sharp").enclose({**c, "r": 3}, unchecked=True)
    assert powers.contains(0)
    largest = (2 * 0.5 * 1e-9 * (2 + 1e-9) * 0.5) ** 1.5  # q^2 = L_F^2 g^2 - 1 at the largest L_F
    assert powers.contains(largest)


def test_a_tie_is_settled_by_algebra() -> None:
    """gamma_tilde = mu_F / L_F^2 = 1/9 as a Fraction: no precision separates the sides."""
    tie = {"mu_F": 1, "L_F": 3, "gamma_tilde": Fraction(1, 9), "dist_0": 1, "r": 0}
    check = {c.name: c for c in bounds.get("Lemma 4.3(i)").check(tie)}["gamma_tilde <= mu_F/L_F^2"]
    assert check.holds is True
    strict = {
        c.name: c for c in bounds.get("Lemma 4.3(i)", "sharp").check({**tie, "gamma_tilde": Fraction(2, 9)})
    }
    assert strict["gamma_tilde < 2 mu_F/L_F^2"].holds is False
    irrational = {**ALL, "L": 1, "H": 1, "gamma": Fraction(1, 32)}
    assert {c.name: c for c in bounds.get("Theorem 4.6(i-1)").check(irrational)}["gamma <= 1/(32 L)"].holds
    nearest = {**tie, "gamma_tilde": 1 / 9}  # the float is above or below, and that is known
    holds = Fraction(1 / 9) * 9 <= 1
    assert {c.name: c for c in bounds.get("Lemma 4.3(i)").check(nearest)}[
        "gamma_tilde <= mu_F/L_F^2"
    ].holds is holds


def test_doubt_leaves_a_hypothesis_undecided() -> None:
    doubtful = Constant("L_F", 2.0, Provenance.CERTIFIED, radius=0.01)
    c = {"mu_F": 1.0, "L_F": doubtful, "gamma_tilde": 0.25, "dist_0": 1.0, "r": 2}
    check = {x.name: x for x in bounds.get("Lemma 4.3(i)").check(c)}["gamma_tilde <= mu_F/L_F^2"]
    assert check.holds is None
    assert "undecided" in check.text
    assert bounds.get("Lemma 4.3(i)").evaluate(c) > 0  # an undecided hypothesis does not raise
    sure = Constant("L_F", 2.0, Provenance.CERTIFIED, radius=1e-3)
    with pytest.raises(HypothesisFails):
        bounds.get("Lemma 4.3(i)").evaluate({**c, "L_F": sure, "gamma_tilde": 0.26})


def test_no_constants_at_all() -> None:
    for name in ("Theorem 4.6(i-1)", "Lemma 4.4(i)"):
        with pytest.raises(bounds.MissingConstants, match="is missing"):
            bounds.get(name).evaluate({})
        assert {c.holds for c in bounds.get(name).check({})} == {None}


def test_given_weight_errors_replace_their_bounds() -> None:
    c = {**ALL, "Delta_sq_mean": 0.25, "Delta_sq_sup": 1e-3}
    del c["dist_0"]
    base = {**ALL, "dist_0": 0.0}
    sharp = bounds.get("Theorem 4.6(i-1)", "sharp")
    assert sharp.evaluate(c) - sharp.evaluate(base) == pytest.approx(4 * 4 * 0.5625 * 0.25, rel=1e-12)


def test_distances_of_a_run_give_theorem_4_10() -> None:
    d = np.array([4.0, 2.0, 3.0, 1.0, 0.5])
    c = {**ALL, "a": 0.5, "b": 0.25, "sigma_h": 0.1, "B": 0.1, "r_hat": 1, "R": 4}
    means = {
        "printed": (d[1:4] ** 2).mean() * (3 * 3.0 / 80) ** 2,
        "corrected": (d[2:5] ** 2).mean() * (3 / 80) ** 2,
    }
    for edition, mean in means.items():
        statement = bounds.get("Theorem 4.10(i)", edition)
        run = {**c, "d_sequence": d}
        assert statement.evaluate(run) == pytest.approx(
            statement.evaluate({**c, "delta_hat_sq_mean": mean}), rel=1e-14
        )
        assert float(statement.enclose(run)) == pytest.approx(statement.evaluate(run), rel=1e-14)
        worst = next(x for x in statement.check(run) if x.name.startswith("17"))
        top = 9.0 if edition == "corrected" else 9.0 * 9.0
        assert worst.lhs == pytest.approx(17 * 16 * 0.01 * top * (3 / 80) ** 2, rel=1e-13)
    sharp = bounds.get("Theorem 4.10(i)", "sharp")
    same = {**c, "Delta_sq_mean": 4 * (d[2:5] ** 2).mean() / 80**2}
    assert sharp.evaluate({**c, "d_sequence": d}) == pytest.approx(sharp.evaluate(same), rel=1e-14)
    with pytest.raises(bounds.DomainError, match=r"give rounds 0\.\.R"):
        sharp.evaluate({**c, "d_sequence": d[:4]})


@pytest.mark.parametrize("bits", PRECISIONS)
def test_the_cube_root_of_zero_is_zero_at_every_precision(bits) -> None:
    with enclosure.precision(bits):
        assert enclosure.cbrt(0).is_zero()
        assert enclosure.cbrt(arb(0)).is_zero()
        assert enclosure.cbrt(arb(8)).contains(2)


def test_no_gradient_dissimilarity_voids_the_warm_up_with_inexact_constants_too() -> None:
    constants = {
        "m": 5, "L": 1.0, "nu": 1.0, "G": 1.0, "B": 0.0, "S": 1.0, "H": 2, "R": 100, "r_hat": 0, "gamma": 1e-4,
        "gamma_tilde": 0.5, "mu_F": 1.0, "L_F": 1.2, "N_star_l1": 100.0, "D_r_hat": 1.0,
        "dist_0": bounds.Constant("dist_0", 1.0, radius=1e-12),
    }  # fmt: skip
    checks = bounds.get("Theorem 4.9(i-1)").check(constants)
    (warm_up,) = [c for c in checks if c.name.startswith("r_hat >= ln")]
    assert warm_up.holds is True
    assert warm_up.rhs == -math.inf


def test_the_square_root_of_a_ball_around_zero_encloses_that_of_its_nonnegative_part() -> None:
    root = enclosure.sqrt(arb(0, 1e-14))
    assert root.contains(0)
    assert root.contains(arb(1e-14).sqrt())
    assert enclosure.sqrt(arb(0.25, 0.25)).contains(arb(0.5).sqrt())
    assert not enclosure.sqrt(arb(-1, 0.5)).is_finite()  # surely negative: no number
    assert enclosure.sqrt(arb(2)).rad() < 1e-14


@pytest.mark.parametrize("id", ["Theorem 4.9(i-1)", "Lemma 6.7", "Lemma 6.8", "Lemma 6.10"])
@pytest.mark.parametrize("radius", [1e-17, 1e-12])
def test_a_start_at_the_equilibrium_known_to_a_radius_is_enclosed(id, radius) -> None:
    constants = {
        "m": 5, "L": 1.0, "nu": 1.0, "G": 1.0, "B": 1.0, "S": 1.0, "H": 2, "R": 100, "r_hat": 0, "gamma": 1e-4,
        "gamma_tilde": 0.5, "mu_F": 1.0, "L_F": 1.2, "N_star_l1": 100.0, "D_r_hat": 1.0, "r": 3, "e_bar": 0.1,
        "D_f": 0.1, "X_sq": 0.1,
    }  # fmt: skip
    for edition in ("printed", "corrected"):
        statement = bounds.get(id, edition)
        near = statement.enclose(
            {**constants, "dist_0": Constant("dist_0", 0.0, radius=radius)}, unchecked=True
        )
        for distance in (0.0, radius):
            exact = statement.enclose({**constants, "dist_0": distance}, prec=200, unchecked=True)
            assert near.overlaps(exact)
        assert near.is_finite()


ORDER = {
    "B": 0.5, "G": 0.3, "H": 3, "L": 1.0, "L_F": 1.0, "N_star_l1": 50.0, "epsilon": 0.1, "f_star": 0.0, "f_sup": 2.0,
    "gamma_tilde": 0.5, "m": 3, "mu_F": 0.8, "nu": 0.2, "D_r_hat": 1.0, "S": 0.4, "r_hat": 2,
}  # fmt: skip
LATE = {**ORDER, "f_sup": 0.0, "G": 0.0, "nu": 0.0, "L": 0.01, "gamma_tilde": 1e-3}  # then R_2 binds


@pytest.mark.parametrize("name", ["Theorem 4.6(ii)", "Theorem 4.9(ii)"])
@pytest.mark.parametrize("edition", ["printed", "corrected"])
@pytest.mark.parametrize("constants", [ORDER, LATE], ids=["R_1 binds", "R_2 binds"])
@pytest.mark.parametrize("radius", [1e-9, 0.5])
def test_orders_enclose_a_start_known_to_lie_near_the_equilibrium(name, edition, constants, radius) -> None:
    """dist_0 in [0, radius]: the logarithm of dist_0 has no lower end, the largest of the terms has one."""
    statement = bounds.get(name, edition)
    near = bounds.Constant("dist_0", 0.0, radius=radius)
    around = statement.enclose({**constants, "dist_0": near}, unchecked=True)
    exact = [statement.enclose({**constants, "dist_0": d}, unchecked=True) for d in (0.0, radius / 3, radius)]
    assert around.is_finite()
    assert all(around.contains(e) for e in exact)
    assert around.upper() <= max(e.upper() for e in exact) * (1 + 1e-6) + 1e-6
    assert statement.enclose({**constants, "dist_0": near}).is_finite()


def test_the_logarithm_of_a_ball_around_zero_is_all_below_its_top() -> None:
    low = enclosure.log(arb(0, 4.0))
    assert low.contains(arb(-1000))
    assert low.contains(arb(4).log())
    for ball, top in ((low / arb(2), 2.0), (3 * low, 64.0), (enclosure.maximum(low, low / 2), 4.0)):
        assert math.log(top) <= float(ball.top) <= math.log(top) + 1e-7  # a radius is rounded up at 30 bits
    largest = enclosure.maximum(arb(1), low, arb(0.5))
    assert largest.contains(arb(1))
    assert largest.contains(arb(4).log())
    assert largest.lower() > 0.99
    assert largest.upper() < 1.3863
    assert not (low / arb(-1)).is_finite()
    assert not (low - 1).is_finite()
    assert enclosure.log(arb(-2, 1.0)).is_nan()


def test_the_cube_root_of_a_ball_around_zero_encloses_that_of_its_nonnegative_part() -> None:
    root = enclosure.cbrt(arb(0, 8.0))
    assert root.contains(arb(2))
    assert root.contains(arb(0))
    assert root.upper() < 2.001


def test_a_settled_point_is_not_taken_for_another() -> None:
    """What was settled is remembered by its numbers: other numbers, kinds and arrays are looked at anew."""
    statement = bounds.get("Lemma 4.3(i)")
    good = {"mu_F": 0.5, "L_F": 1.0, "gamma_tilde": 0.4, "dist_0": 2.0, "r": 3}
    first = repr(statement.enclose(good))
    assert repr(statement.enclose(dict(good))) == first
    exact = {**good, "mu_F": Fraction(1, 2), "dist_0": Constant("dist_0", 2.0)}
    assert repr(statement.enclose(exact)) == first
    assert repr(statement.enclose({**good, "dist_0": np.float64(2.0)})) == first
    for bad, words in (({"gamma_tilde": 0.6}, HypothesisFails), ({"dist_0": -2.0}, bounds.DomainError)):
        for _ in range(2):
            with pytest.raises(words):
                statement.enclose({**good, **bad})
    with pytest.raises(ValueError, match="one point at a time"):
        statement.enclose({**good, "dist_0": np.array([2.0, 2.0])})
    assert repr(statement.enclose(good)) == first
    assert ctx.prec == 53


def test_known_balls_are_the_numbers_and_few() -> None:
    for value in np.random.default_rng(0).standard_normal(6000).tolist():
        assert enclosure.ball(value) == arb(value)
    assert len(enclosure.KNOWN) <= 4096
    assert enclosure.ball(-0.0).is_zero()
    assert enclosure.ball(math.nan).is_nan()
