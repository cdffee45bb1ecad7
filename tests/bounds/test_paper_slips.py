"""Where the printed paper is wrong, or its proof does not reach: counterexamples with exact numbers."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import ALL
from reference.base import delta_0, rho
from reference.section_4_1 import gamma_limits_4_6, gamma_limits_4_6_sharp, iterations
from reference.section_4_3 import small_step
from reference.section_6_2 import (
    gamma_limits_6_8,
    lemma_6_7,
    lemma_6_7_any_delta,
    pair_6_5,
    pair_6_5_printed,
    threshold_6_8,
)

GAME = {"m": 2, "mu_F": 1.0, "L_F": 1.0, "gamma_tilde": 1.0, "dist_0": 0.0, "N_star_l1": 2.0}


def test_lemma_4_3_strict_inequality_of_its_proof_fails_for_a_gradient_game() -> None:
    """mu_F = L_F, gamma_tilde = mu_F/L_F^2: 1 - 2 mu g + L^2 g^2 = 0, not > 0. The statement stands."""
    assert 1 - 2 * GAME["mu_F"] * GAME["gamma_tilde"] + (GAME["L_F"] * GAME["gamma_tilde"]) ** 2 == 0


@pytest.mark.parametrize(("near", "violated"), [(Fraction(1, 10), True), (Fraction(2), False)])
def test_lemma_4_4_iv_printed_fails_close_to_the_equilibrium(near: Fraction, violated: bool) -> None:
    """N* = (50, 50), N_r = N_0 = (50, 50 + near): delta_0 holds ||N_0 - N*|| already."""
    N_star, N = [Fraction(50), Fraction(50)], [Fraction(50), 50 + near]
    error = abs(N[0] / sum(N) - N_star[0] / sum(N_star))
    c = {"m": 2, "dist_0": near, "d_r": near, "N_star_l1": 100}
    assert (mpf(error.numerator) / error.denominator > ALL["Lemma 4.4(iv)", "printed"].value(**c)) is violated
    for edition in ("corrected", "sharp"):
        assert mpf(error.numerator) / error.denominator <= ALL["Lemma 4.4(iv)", edition].value(**c)


def test_lemma_6_5_printed_fails_when_losses_are_negative() -> None:
    """f_1 = (x - 1)^2/2 - 10, f_2 = (x + 1)^2/2 - 10, p* = (1/4, 3/4): printed G^2 = -18.5."""
    p, x_star = np.array([0.25, 0.75]), -0.5
    f_star = float(p @ [(x_star - 1) ** 2 / 2, (x_star + 1) ** 2 / 2]) - 10
    c = {"m": 2, "L": 1.0, "p_star": p, "f_star": f_star, "f_i_star": np.array([-10.0, -10.0])}
    mean = ((x_star - 1) ** 2 + (x_star + 1) ** 2) / 2
    G_sq, B_sq = pair_6_5_printed(**c)
    assert (G_sq, B_sq) == (-18.5, 2)
    assert ALL["Lemma 6.5", "printed"].value(**c, D_f=0.0) < mean
    assert ALL["Lemma 6.5", "printed"].hypotheses(**c)["G^2 >= 0"] is False
    assert ALL["Lemma 6.5", "corrected"].value(**c, D_f=0.0) >= mean
    raised = {**c, "f_star": f_star + 10, "f_i_star": np.zeros(2)}
    assert pair_6_5(**raised) == pair_6_5(**c)  # adding a number to every loss changes nothing here
    assert pair_6_5_printed(**raised)[0] >= 0


def local_gd_average(H: int, a: list[mpf], c: list[int], R: int) -> tuple[mpf, mpf, mpf]:
    """f(x^avg) - f*, f* and gamma of full-gradient FedAvg on a_i (x - c_i)^2/2, equal weights, x_0 = x*.

    One round is x -> sum p (c_i + s_i^H (x - c_i)), s_i = 1 - gamma a_i: an affine map, so that averages over
    R rounds have a closed form.
    """
    p, L = mpf(1) / len(a), max(a)
    gamma = 1 / (34 * H * L)
    s = [1 - gamma * v for v in a]

    def f(x: mpf) -> mpf:
        return sum(p * v * (x - w) ** 2 / 2 for v, w in zip(a, c, strict=True))

    x_star = sum(v * w for v, w in zip(a, c, strict=True)) / sum(a)
    slope = sum(p * v**H for v in s)
    fixed = sum(p * w * (1 - v**H) for v, w in zip(s, c, strict=True)) / (1 - slope)
    starts = fixed + (x_star - fixed) * (1 - slope**R) / ((1 - slope) * R)
    inside = sum(p * v**j for v in s for j in range(H)) / H
    offset = sum(p * w * (1 - v**j) for v, w in zip(s, c, strict=True) for j in range(H)) / H
    return f(offset + inside * starts) - f(x_star), f(x_star), gamma


def test_theorem_4_9_printed_promises_that_drift_dies_out() -> None:
    """dist_0 = nu = 0, x_0 = x*: the printed bound is O(1/T), but local gradient descent leaves x*."""
    H, R, a = 10, 10**5, [mpf(1), mpf(1) / 5]
    gap, f_star, gamma = local_gd_average(H, a, [0, 1], R)
    c = {**GAME, "H": H, "R": R, "r_hat": 0, "L": 1, "nu": 0, "B": 1, "gamma": gamma, "D_r_hat": 0}
    c |= {"G": mp.sqrt(2 * f_star), "S": 2 * (a[1] / (1 + a[1])) ** 2}
    assert ALL["Theorem 4.9(i-1)", "printed"].holds(c)
    assert gap > 6 * ALL["Theorem 4.9(i-1)", "printed"].value(**c)
    assert gap < ALL["Theorem 4.9(i-1)", "corrected"].value(**c)
    c |= {"s": 0.5, "omega": 1, "sigma_sq": c["S"] / 2}
    assert gap < ALL["Theorem 4.9(i-1)", "sharp"].value(**c)


def test_theorem_4_9_ii_printed_misplaces_H_even_by_its_own_bound() -> None:
    """144 L (..) H^3/(R H)^2 <= epsilon asks R >= 12 sqrt(L (..) H/epsilon), not sqrt(L (..)/(H epsilon))."""
    c = {**GAME, "L": 1, "nu": 1, "G": 0, "B": 1, "S": 0, "D_r_hat": 0, "epsilon": 1}
    at = [ALL["Theorem 4.9(ii)", "printed"].value(**c, H=H)["R_2"] for H in (1, 100)]
    own = [mp.sqrt(mpf(H)) for H in (1, 100)]
    assert at[0] == own[0]
    assert at[1] * 100 == own[1]


def test_theorem_4_9_ii_b_hat_can_be_negative() -> None:
    """b_hat = (1 - sqrt(delta_0) H/(2 L (1 - sqrt(rho))))^-1 at delta_0 = H = L = 1."""
    c = {**GAME, "dist_0": 2.0}
    assert delta_0(**c) == 1
    assert 1 - 1 / (2 * (1 - mp.sqrt(rho(**c)))) < 0


def test_lemma_6_7_printed_needs_the_delta_of_lemma_4_3() -> None:
    """m = 16, delta = max |p_i - p*_i| rounded up to 1/16: the factor m that the proof loses is missed.

    Clients 1..8 have f_i = 16 x^2 and p_i = 1/800, clients 9..16 have f_i = 0; x_i = 1, x* = 0, p* = 1/16.
    The left side is -2 * 8/800 * 32 = -0.64; printed right side -2 (1 - 1/2) 8 + 16/4 = -4.
    """
    left = -2 * 8 * mpf(32) / 800
    c = {"m": 16, "L": 32, "G": 0, "B": 1, "D_f": 8, "X_sq": 1, "S": 0, "e_bar": 0, "r": 0, "mu_F": 1}
    generic = {**c, "gamma_tilde": 1, "dist_0": mpf(1) / 240, "N_star_l1": 1}
    assert delta_0(**generic) == mpf(1) / 16
    assert left > lemma_6_7(0, **generic) == -4
    assert left <= lemma_6_7_any_delta(**c, delta=mpf(1) / 16)
    # the delta of Lemma 4.3 for N* = 100 (1, ..., 1), N = (1, ..., 1, 99, ..., 99)
    distance = mp.sqrt(8 * 99**2 + 8)
    assert left <= lemma_6_7(0, **{**c, "gamma_tilde": 1, "dist_0": distance, "N_star_l1": 1600})


def test_lemma_6_8_constant_of_its_proof_needs_delta_at_most_1() -> None:
    """N* = (1, 1), N = (1, 9): delta_0 = 4, and 1 - L B^2 delta^1.5 - 4 L gamma (m^2 delta^2 B^2 + 1) < 1/4.

    The statement survives: |p_i - p*_i| <= min(delta_r, 1) serves Lemma 6.6, and
    4 L gamma m^2 B^2 min(delta_r, 1)^2 <= min(delta_r, 1)^2/(4 delta_0) <= 1/4.
    """
    c = {**GAME, "dist_0": 8.0, "L": mpf(1) / 64, "B": 1, "r": 0}
    assert threshold_6_8(**c) <= 1
    gamma = min(gamma_limits_6_8(**c).values())
    d = delta_0(**c)
    claimed = 1 - c["L"] * d * mp.sqrt(d) - 4 * c["L"] * gamma * (4 * d**2 + 1)
    assert d == 4
    assert claimed < 0
    assert 1 - c["L"] * d * mp.sqrt(d) - 4 * c["L"] * gamma * (4 + 1) >= mpf(1) / 4


def test_theorem_4_6_does_not_imply_the_step_size_of_lemma_4_13() -> None:
    """B = 0 (bounded gradients), H = 40: gamma = 1/(32 L) exceeds 1/(sqrt(3) H L); at H = 18 it does not.

    The statement survives: m B^2 < 1 bounds every ||grad f_i||^2 by m G^2/(1 - m B^2).
    """
    for H, within in ((18, True), (19, False), (40, False)):
        c = {"m": 3, "H": H, "L": 1.0, "B": 0.0}
        gamma = min(gamma_limits_4_6(**c).values())
        assert small_step(gamma=gamma, **c)["gamma <= 1/(sqrt(3) H L)"] is within


def test_theorem_4_6_ii_proof_divides_by_H_once_too_often() -> None:
    """(i-1) has (1 - rho^2)(R - r_hat); its proof of (ii) writes (1 - rho^2) R H instead of (1 - rho^2) R."""
    c = {**GAME, "dist_0": 2.0, "H": 10, "R": 20, "r_hat": 10, "L": 1, "nu": 0, "G": 1, "B": 0, "f_gap": 0}
    gamma = mpf(1) / 200
    bound = ALL["Theorem 4.6(i-1)", "printed"].value(**c, gamma=gamma)
    drift = mpf(153) / 2 * 2 * 2 * 100 * gamma**2
    p = rho(**c)
    claimed = 32 * 4 * (1 + 2 * gamma) * p**20 / ((1 - p**2) * 20 * 10)
    assert bound - drift > 9 * claimed
    assert iterations(**c) == 100


def test_theorem_4_10_ii_printed_step_gives_three_halves_by_its_own_bound_yet_survives() -> None:
    """gamma^2 = 2 epsilon/(153 X): the drift term of (i) is epsilon; the sharp bound is below epsilon."""
    eps, m, H = mpf("0.01"), 3, 5
    c = {"m": m, "H": H, "L": 1, "nu": mpf("0.001"), "G": 1, "B": 1, "epsilon": eps, "kappa": m, "s": 1}
    gamma = mp.sqrt(2 * eps / (153 * (c["nu"] ** 2 + m) * m * H**2))
    c |= {"gamma": gamma, "a": 0.5, "b": 0.25, "f_gap": 0, "delta_hat_sq_mean": 0, "Delta_sq_mean": 0}
    c |= {"R": 1, "r_hat": 0}
    assert ALL["Theorem 4.10(ii)", "printed"].holds(c)
    assert not ALL["Theorem 4.10(ii)", "corrected"].holds(c)
    assert ALL["Theorem 4.10(i)", "corrected"].value(**c) > eps
    assert gamma <= min(gamma_limits_4_6_sharp(**c).values())
    assert ALL["Theorem 4.10(i)", "sharp"].value(**c) < eps


def test_rounds_before_the_first_are_not_excluded_by_the_printed_r_hat() -> None:
    """ln(17 m^2 delta_0^2 B^2) may be negative: the reference adds r_hat >= 0."""
    c = {**GAME, "dist_0": 1e-3, "H": 1, "L": 1.0, "B": 1.0, "gamma": 1e-3, "R": 1, "r_hat": -1}
    answers = ALL["Theorem 4.6(i-1)", "printed"].hypotheses(**c)
    assert answers.pop("r_hat >= 0") is False
    assert all(answers.values())
