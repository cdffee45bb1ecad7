"""N*, its error, and the constants of the regularised update, against what can be worked out by hand."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from image_files import example

import bounds
import games
import simulate
from simulate.run import trajectory
from verify.applicable import NotApplicable
from verify.errors import InputError
from verify.instance import load_instance, parse_instance
from verify.known import distances
from verify.setup import build
from verify.target import find_target, pushed
from verify.verdict import Outcome


@pytest.fixture(scope="module")
def welfare():
    return build(load_instance("monotone-welfare"))


@pytest.fixture(scope="module")
def welsch():
    return build(load_instance("welsch-nonconvex"))


def best_on_the_line() -> list[Fraction]:
    """monotone-welfare by hand: F(N) = A (N - N0) with N0 = (20, 30, 25) and A's kernel spanned by d = (1, 1, -2);
    on N0 + t d the loss sum w (N - target)^2 / 2 is least at t = sum w d (target - N0) / sum w d^2."""
    d, w = (1, 1, -2), (Fraction(1), Fraction(3, 2), Fraction(1))
    N0, target = (20, 30, 25), (30, 20, 40)
    t = sum(wi * di * (a - b) for wi, di, a, b in zip(w, d, target, N0, strict=True)) / sum(
        wi * di * di for wi, di in zip(w, d, strict=True)
    )
    return [n + t * di for n, di in zip(N0, d, strict=True)]


def test_the_selected_equilibrium_is_the_one_worked_out_by_hand(welfare) -> None:
    exact = best_on_the_line()
    assert max(abs(welfare.game.F(np.array([float(v) for v in exact])))) < 1e-12
    off = math.sqrt(
        sum(float(Fraction(a) - b) ** 2 for a, b in zip(welfare.N_star.tolist(), exact, strict=True))
    )
    assert off <= welfare.N_star_error < 1e-13
    h = sum(w * (a - b) ** 2 for w, a, b in zip((1, Fraction(3, 2), 1), exact, (30, 20, 40), strict=True)) / 2
    assert welfare.h_star.low <= h <= welfare.h_star.high
    assert welfare.h_star.high - welfare.h_star.low < 1e-9
    assert welfare.equilibrium.N is welfare.N_star


def test_even_participation_fills_a_common_pool() -> None:
    setup = build(parse_instance(example("welsch-common-pool"), "here"))
    off = float(np.linalg.norm(setup.N_star - 20.0))
    assert off <= setup.N_star_error < 1e-3
    h = 60 * math.log(20)
    assert setup.h_star.low <= h <= setup.h_star.high


def test_a_welfare_loss_that_does_not_select_leaves_no_N_star() -> None:
    game = games.CommonPoolGame(60.0, [1.0] * 3, [40.0] * 3)
    target = find_target(game, games.SoftplusWelfare())
    assert math.isinf(target.error)
    assert "does not select" in target.reason
    assert target.h_star.low <= 60.0 <= target.h_star.high  # log(1 + e^60) is 60 to float64


def test_a_nonlinear_pool_is_bounded_from_below_only() -> None:
    game = games.SmoothPoolGame(90.0, [1.0] * 3, [60.0] * 3, 1e-4)
    target = find_target(game, games.QuadraticWelfare([50.0, 20.0, 20.0]))
    assert math.isinf(target.error)
    assert target.h_star.low <= 0.0  # the target fills the pool: h* = 0
    assert target.h_star.high == math.inf


def test_a_strongly_monotone_game_needs_no_selection() -> None:
    game = games.AffineGame([[2.0, 0.5], [-0.5, 1.0]], [-20.0, -5.0], [0.0, 0.0], [50.0, 50.0])
    target = find_target(game, games.QuadraticWelfare([1.0, 1.0]))
    alone = games.solve(game, certificate="proof")
    assert target.N.tolist() == alone.N.tolist()
    assert target.error == alone.error_bound
    exact = [Fraction(v) for v in alone.exact]
    h = sum((v - 1) ** 2 for v in exact) / 2
    assert target.h_star.low <= h <= target.h_star.high


def test_the_power_law_is_solved_by_signs() -> None:
    setup = build(load_instance("section-5.3"))
    assert setup.N_star.tolist() == [15000.0, 0.0, 0.0, 0.0, 0.0]
    assert setup.N_star_error == 0.0
    assert setup.monotone is False
    rng = np.random.default_rng(1)
    N = rng.uniform(setup.game.lower, setup.game.upper, (2000, 5))
    F = setup.game.F(N)
    assert np.all(F[:, 0] < 0)
    assert np.all(F[:, 1:] > 0)
    with pytest.raises(NotApplicable, match="not monotone") as why:
        setup.constants(bounds.get("Theorem 4.6(i-1)", "corrected"))
    assert why.value.outcome is Outcome.HYPOTHESIS_FAILS


def test_signs_that_change_prove_nothing() -> None:
    """Client 0 dominates at small totals only: F_0 changes sign at t = (alpha_0 beta_0 / alpha_1 beta_1)^(1/0.4)."""
    lower, upper = [10.0, 0.0], [1000.0, 1000.0]
    game = games.PowerLawGame([4.0, 1.0], [0.9, 0.5], lower, upper)
    turn = (4.0 * 0.9 / 0.5) ** (1 / 0.4)
    at = game.F(np.array([[turn * 0.99, 0.0], [turn * 1.01, 0.0]]))
    assert at[0, 0] < 0 < at[1, 0]
    assert pushed(game) is None
    below = games.PowerLawGame([4.0, 1.0], [0.9, 0.5], lower, [turn * 0.9, 0.0])
    assert pushed(below).N.tolist() == [turn * 0.9, 0.0]


def test_the_distances_along_the_path_hold_the_exact_ones(welfare) -> None:
    """The first rounds in rationals: schedules with a = b = 0 are exact, so the float path's radius can be checked."""
    h = games.QuadraticWelfare([30.0, 20.0, 40.0], [1.0, 1.5, 1.0])
    N_0, steps = np.array([50.0, 10.0, 12.0]), (0.25, 0.5)
    path = simulate.participation(welfare.game, N_0, steps[0], 12, welfare=h, lambda_0=steps[1])
    found = distances(path, welfare.target)
    A = welfare.game.exact_matrix()
    b = [Fraction(v) for v in welfare.game.b.tolist()]
    N, exact = [Fraction(v) for v in N_0.tolist()], best_on_the_line()
    for r in range(13):
        d = math.sqrt(sum(float(x - y) ** 2 for x, y in zip(N, exact, strict=True)))
        assert abs(d - found.value[r]) <= found.radius[r] + 1e-14 * d
        slope = [
            sum(Fraction(int(A[i, j].p), int(A[i, j].q)) * N[j] for j in range(3)) + b[i] for i in range(3)
        ]
        pull = [w * (x - t) for w, x, t in zip((1, Fraction(3, 2), 1), N, (30, 20, 40), strict=True)]
        moved = [x - Fraction(1, 4) * (s + p / 2) for x, s, p in zip(N, slope, pull, strict=True)]
        N = [min(max(x, Fraction(5)), Fraction(60)) for x in moved]


def test_each_edition_of_theorem_4_10_counts_its_own_rounds(welfare) -> None:
    d = np.linalg.norm(trajectory(welfare.game, welfare.config).N - welfare.N_star, axis=1)
    c, r_hat, R = welfare.shared, welfare.r_hat, welfare.config.R
    m, l1, B = 3, float(c["N_star_l1"].value), float(c["B"].value)
    corrected = bounds.get("Theorem 4.10(i)", "corrected")
    by_name = {h.name: h for h in corrected.check(welfare.constants(corrected))}
    small = next(h for name, h in by_name.items() if name.startswith("17 m^2"))
    assert small.lhs == pytest.approx(
        17 * m**2 * B**2 * ((m - 1) / l1) ** 2 * (d[r_hat + 1 : R + 1] ** 2).max()
    )
    mean = ((m - 1) / l1) ** 2 * (d[r_hat + 1 : R + 1] ** 2).mean()
    given = {k: v for k, v in welfare.constants(corrected).items() if k != "d_sequence"} | {"f_gap": 1.0}
    alone = corrected.evaluate({**given, "delta_hat_sq_mean": mean, "delta_hat_sq_sup": 0.0})
    derived = corrected.evaluate({**welfare.constants(corrected), "f_gap": 1.0})
    assert derived == pytest.approx(alone, rel=1e-12)
    printed = bounds.get("Theorem 4.10(i)", "printed")
    with pytest.raises(bounds.HypothesisFails):
        printed.evaluate({**welfare.constants(printed), "f_gap": 1.0})


def test_the_warm_up_is_the_smallest_that_the_conditions_allow(welfare) -> None:
    def small(edition: str, r_hat: int) -> bool:
        statement = bounds.get("Theorem 4.10(i)", edition)
        checks = statement.check({**welfare.constants(statement), "r_hat": r_hat})
        return all(h.holds is True for h in checks if "r_hat on" in h.name or "r >= r_hat" in h.name)

    assert small("corrected", welfare.r_hat)
    assert small("sharp", welfare.r_hat)
    assert not (small("corrected", welfare.r_hat - 1) and small("sharp", welfare.r_hat - 1))


@pytest.mark.parametrize(
    ("fixture", "statement", "edition", "outcome", "why"),
    [
        ("welfare", "Theorem 4.6(i-1)", "corrected", Outcome.HYPOTHESIS_FAILS, "constant gamma_tilde"),
        ("welfare", "Lemma 4.3(i)", "printed", Outcome.HYPOTHESIS_FAILS, "constant gamma_tilde"),
        ("welsch", "Lemma 4.4(i)", "printed", Outcome.HYPOTHESIS_FAILS, "regularised update"),
        ("welsch", "Theorem 4.9(i-1)", "sharp", Outcome.HYPOTHESIS_FAILS, "convex"),
        ("welsch", "Assumption 2.3(iii)", "printed", Outcome.INCONCLUSIVE, "sigma_h"),
    ],
)
def test_a_statement_that_is_not_about_the_run_says_so(
    fixture, statement, edition, outcome, why, request
) -> None:
    with pytest.raises(NotApplicable, match=why) as error:
        request.getfixturevalue(fixture).constants(bounds.get(statement, edition))
    assert error.value.outcome is outcome


def test_least_squares_with_samples_has_no_noise_level() -> None:
    text = (
        example("least-squares-low-rank").replace('"full"', '"iid"').replace("H = 3", "H = 3\ngamma = 1e-3")
    )
    setup = build(parse_instance(text, "here"))
    with pytest.raises(NotApplicable, match="nu: it is infinite"):
        setup.constants(bounds.get("Theorem 4.6(i-1)", "corrected"))


def test_a_pool_known_too_roughly_leaves_f_undecided() -> None:
    setup = build(parse_instance(example("welsch-common-pool"), "here"))
    setup.constants(bounds.get("Lemma 4.4(iv)", "corrected"))
    with pytest.raises(NotApplicable, match="not well enough"):
        setup.constants(bounds.get("Theorem 4.10(i)", "corrected"))


def test_an_equilibrium_or_a_path_without_weights_is_refused() -> None:
    text = example("own-instance").replace("lower = [1.0, 5.0, 1.0]", "lower = [0.0, 0.0, 0.0]")
    text = text.replace("offset = [-20.0, -3.0, -90.0]", "offset = [20.0, 3.0, 90.0]")
    with pytest.raises(InputError, match=r"\|\|N\*\|\|_1 = 0"):
        build(parse_instance(text, "here"))
    text = text.replace("offset = [20.0, 3.0, 90.0]", "offset = [-1.0, 3.0, 90.0]\n")
    with pytest.raises(InputError, match=r"\|\|N_r\|\|_1 = 0 at round 0"):
        build(parse_instance(text.replace("N_0 = [8.0, 5.0, 48.0]", 'N_0 = "lower"'), "here"))


def test_the_start_of_a_nonconvex_run_is_known_to_within_the_bracket_of_f_star(welsch) -> None:
    few = replace(welsch, config=replace(welsch.config, seeds=2, R=4, draws=2, horizons=(4,)))
    run = simulate.run(few.problem, few.game, few.config, p_star=few.p_star)
    start = few.start_gap(run)
    f_star = welsch.shared["f_star"]
    assert start.error == f_star.radius > 0
    f_0 = float(welsch.problem.loss(welsch.config.x_0, welsch.p_star))
    assert np.allclose(start.values, f_0 - f_star.value)
    assert start.values.max() <= start.ceiling


def test_a_stationary_path_is_the_path_step_by_step() -> None:
    """The early end of a path that rests changes no number."""
    game = games.AffineGame([[2.0, 0.5], [-0.5, 1.0]], [-20.0, -60.0], [0.0, 0.0], [50.0, 50.0])
    N, path = np.array([50.0, 0.0]), simulate.participation(game, np.array([50.0, 0.0]), 0.3, 400)
    for r in range(400):
        assert path.N[r].tolist() == N.tolist()
        N = np.clip(N - 0.3 * game.F(N), game.lower, game.upper)
    assert path.N[400].tolist() == N.tolist() == path.N[300].tolist()
    longer = simulate.participation(game, np.array([50.0, 0.0]), 0.3, 800)
    assert longer.error[400] == path.error[400]


def test_the_constants_of_the_weights_and_the_curvature(welfare) -> None:
    path = trajectory(welfare.game, welfare.config)
    q = path.N[1:] / path.N[1:].sum(axis=1, keepdims=True)
    for name, value in (("kappa", 3 * q.max()), ("s", (q**2).sum(axis=1).max())):
        assert value <= welfare.shared[name].value <= value * (1 + 1e-9)
    least = (q[welfare.r_hat :] / (welfare.N_star / 75.0)).max()
    assert least <= welfare.shared["omega"].value <= least * (1 + 1e-9)
    assert welfare.shared["mu_f"].value == 0.8  # the least curvature of the three quadratics
    assert welfare.shared["nu"].value == pytest.approx(0.2, rel=1e-9)  # the sphere's radius


def test_a_client_that_leaves_the_game_has_no_smallest_weight() -> None:
    setup = build(load_instance("section-5.2"))
    assert setup.N_star.tolist() == [
        15000.0,
        0.0,
        18000.0,
        0.0,
        13000.0,
    ]  # the limit that Section 5.2 reports
    with pytest.raises(NotApplicable, match="p_star: it is 0 here"):
        setup.constants(bounds.get("Lemma 6.5", "corrected"))
    assert "p_star_min" not in setup.shared
    setup.constants(bounds.get("Theorem 4.10(i)", "corrected"))  # needs no smallest weight
