"""Quantities of the participation, each against a second way to the same number."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import bounds
import games
import simulate
from bounds import Constant, Provenance, Sense
from verify.compare import compare
from verify.envelope import envelope, narrowed
from verify.everywhere import everywhere
from verify.observed import Curve, Measured, Unobserved
from verify.quantities import OBSERVED, observe, participation, selection
from verify.verdict import Outcome

R = 120


def bare(**known) -> SimpleNamespace:
    """A setting of which only `known` is known."""
    names = (
        "game", "problem", "equilibrium", "welfare", "regularised", "N_star", "N_star_error", "h_star",
        "p_star", "shared",
        "config", "r_hat",
    )  # fmt: skip
    return SimpleNamespace(**(dict.fromkeys(names) | known))


@pytest.fixture(scope="module")
def monotone():
    """A merely monotone game (a whole segment of equilibria), a quadratic welfare, and its regularised run."""
    A = np.array([[1.0, 1.0], [1.0, 1.0]])
    game = games.AffineGame(A, np.array([-10.0, -10.0]), np.array([1.0, 1.0]), np.array([9.0, 9.0]))
    h = games.QuadraticWelfare(np.array([2.0, 7.0]))
    chosen = games.select(game, h)
    assert chosen.unique
    config = simulate.RunConfig(
        gamma=0.1, gamma_tilde=0.3, H=1, R=R, N_0=np.array([8.0, 8.0]), x_0=np.zeros(1), welfare=h,
        lambda_0=0.5, a=0.5, b=0.25,
    )  # fmt: skip
    path = simulate.participation(game, config.N_0, 0.3, R, welfare=h, lambda_0=0.5, a=0.5, b=0.25)
    run = xr.Dataset(
        {
            "N": (("round", "client"), path.N),
            "N_error": ("round", path.error),
            "p": (("round", "client"), path.p),
        },
        coords={"round": np.arange(R + 1)},
    )
    shared = {**game.constants(), **h.constants(game.lower, game.upper)}
    corner = np.maximum(np.abs(game.F(game.lower)), np.abs(game.F(game.upper)))
    shared["C_F"] = Constant("C_F", float(np.linalg.norm(corner)), Provenance.CERTIFIED)
    setup = bare(
        game=game, welfare=h, regularised=True, N_star=chosen.N, N_star_error=chosen.error_bound,
        h_star=chosen.bracket, config=config,
        shared=shared, equilibrium=games.solve(game), p_star=chosen.N / chosen.N.sum(), r_hat=0,
    )  # fmt: skip
    return setup, run


def exact_average(run, horizon: int) -> list[float]:
    """N_bar_R by plain summation with a rational division at the end."""
    weight = [0.3 * (r + 1) ** -0.5 * 0.5 * (r + 1) ** -0.25 for r in range(horizon)]
    N = run["N"].values
    top = [sum(Fraction(w) * Fraction(N[r, i]) for r, w in enumerate(weight)) for i in range(2)]
    return [float(t / sum(Fraction(w) for w in weight)) for t in top]


def test_the_average_is_the_weighted_mean_of_the_rounds(monotone) -> None:
    setup, run = monotone
    found = selection.averages(setup, run, 10)
    assert found.R[0] == 1
    assert found.R[-1] == R
    for horizon, N, error in zip(found.R, found.N, found.error, strict=True):
        assert np.linalg.norm(N - exact_average(run, int(horizon))) <= error
    assert found.error.max() < 1e-11


def test_the_welfare_gap_is_signed_and_above_its_lower_bound(monotone) -> None:
    setup, run = monotone
    curve = selection.welfare_gap(setup, run)
    N = exact_average(run, R)
    direct = sum((x - t) ** 2 for x, t in zip(N, (2.0, 7.0), strict=True)) / 2 - float(
        setup.welfare.value(setup.N_star)
    )
    assert curve.values[-1] == pytest.approx(direct, rel=1e-9)
    assert curve.error.max() < 1e-6
    # the equilibria are N_1 + N_2 = 10 within the box: the distance to them is that to the line
    apart = np.array([abs(sum(exact_average(run, int(h))) - 10.0) / np.sqrt(2) for h in curve.rounds])
    assert np.all(np.abs(curve.along["dist_sol"].values - apart) <= curve.along["dist_sol"].radius + 1e-12)
    statement = bounds.get("Lemma 4.4(i-lower)")
    low, high = envelope(statement, setup.shared, curve)
    assert compare(curve, low, high, statement.sense).outcome is Outcome.HOLDS
    tight = Curve(**{**curve.__dict__, "values": low - 1e-3})
    assert compare(tight, low, high, statement.sense).outcome is Outcome.VIOLATED
    assert statement.sense is Sense.AT_LEAST


def test_the_dual_gap_is_the_supremum_over_a_grid(monotone) -> None:
    setup, run = monotone
    curve = selection.dual_gap(setup, run)
    grid = np.stack(np.meshgrid(np.linspace(1, 9, 401), np.linspace(1, 9, 401)), axis=-1).reshape(-1, 2)
    for i in (0, 5, len(curve.rounds) - 1):
        N = exact_average(run, int(curve.rounds[i]))
        best = float(np.max(np.einsum("ki,ki->k", setup.game.F(grid), np.array(N) - grid)))
        assert best <= curve.values[i] + curve.error[i] + 1e-12
        assert curve.values[i] - curve.error[i] <= best + 2e-2


def test_the_distance_of_a_round_goes_with_the_weights_of_that_round(monotone) -> None:
    setup, run = monotone
    curve = participation.weight_error_now(setup, run)
    d = curve.along["d_r"].values
    assert d[7] == pytest.approx(float(np.linalg.norm(run["N"].values[7] - setup.N_star)), rel=1e-14)
    statement = bounds.get("Lemma 4.4(iv)", "sharp")
    constants = {"m": 2, "N_star_l1": float(setup.N_star.sum())}
    low, high = envelope(statement, {n: Constant(n, v) for n, v in constants.items()}, curve)
    assert compare(curve, low, high).outcome is Outcome.HOLDS
    shifted = Curve(**{**curve.__dict__, "along": {"d_r": Measured(np.roll(d, -40), np.zeros(d.size))}})
    low, high = envelope(statement, {n: Constant(n, v) for n, v in constants.items()}, shifted)
    assert compare(shifted, low, high).outcome is Outcome.VIOLATED


def test_the_update_of_a_regularised_run_is_the_projected_step(monotone) -> None:
    setup, run = monotone
    statement = bounds.get("Algorithm 1", "corrected")
    curve = participation.participation_next(setup, run)
    low, high = envelope(statement, {}, curve)
    assert compare(curve, low, high, statement.sense).outcome is Outcome.HOLDS
    N = run["N"].values.copy()
    N[60, 1] += 1e-9
    broken = participation.participation_next(setup, run.assign(N=(("round", "client"), N)))
    low, high = envelope(statement, {}, broken)
    assert compare(broken, low, high, statement.sense).outcome is Outcome.VIOLATED


def test_a_run_without_regularisation_has_no_average(monotone) -> None:
    setup, run = monotone
    plain = bare(**{**setup.__dict__, "regularised": False})
    for name in ("welfare_gap", "dual_gap", "averaged_participation_limit"):
        with pytest.raises(Unobserved, match="regularised"):
            observe(name, plain, run)
    with pytest.raises(Unobserved, match="x_hat"):
        observe("g_bar_sq@p_next", plain, run)
    with pytest.raises(Unobserved, match="not something"):
        observe("experiment", plain, run)


def test_every_quantity_of_a_bound_or_identity_is_observed() -> None:
    statements = [bounds.get(i, e) for i in bounds.ids() for e in bounds.editions(i)]
    seen = {s.quantity for s in statements if s.kind in ("bound", "identity")}
    assert seen <= set(OBSERVED)
    assert set(OBSERVED) <= set(bounds.QUANTITIES)


def geometric(slip: int | None = None) -> tuple[Curve, dict[str, Constant]]:
    """d_r = half of the bound of Lemma 4.3(i) at each of 5001 rounds, but at round `slip`."""
    rounds = np.arange(5001)
    values = 0.5 * 3.0 * (1 - 0.02 / 2) ** rounds
    if slip is not None:
        values[slip] *= 2.1
    error = np.full(rounds.size, 1e-14)
    constants = {"mu_F": 1.0, "L_F": 1.0, "gamma_tilde": 0.02, "dist_0": 3.0}
    curve = Curve("r", rounds, values, error, rounds == 0, 10.0)
    return curve, {n: Constant(n, v, Provenance.EXACT) for n, v in constants.items()}


def test_every_round_of_a_long_curve_is_judged() -> None:
    statement = bounds.get("Lemma 4.3(i)")
    curve, constants = geometric()
    assert narrowed(curve).rounds.size < 700
    found = everywhere(statement, constants, curve)
    assert found.settled
    assert 1e-14 < found.resolution < 1e-13


@pytest.mark.parametrize("slip", [1, 777, 1501, 2499])
def test_one_bad_round_among_thousands_is_found(slip) -> None:
    curve, constants = geometric(slip)
    found = everywhere(bounds.get("Lemma 4.3(i)"), constants, curve)
    assert not found.settled
    assert found.index == slip


def test_a_round_that_cannot_be_told_apart_is_found() -> None:
    curve, constants = geometric()
    curve.error[1234] = 1.0
    found = everywhere(bounds.get("Lemma 4.3(i)"), constants, curve)
    assert found.index == 1234


def test_the_discount_is_the_product_of_its_definition() -> None:
    constants = {"mu_F": 1.0, "gamma_tilde": 0.5, "dist_0": 3.0, "N_star_l1": 20.0, "gamma": 0.01}
    shared = {n: Constant(n, v, Provenance.EXACT) for n, v in constants.items()}
    setup = bare(shared=shared, game=SimpleNamespace(m=3), config=SimpleNamespace(H=4))
    run = xr.Dataset(coords={"round": np.arange(21)})
    curve = participation.discount(setup, run)
    c, delta_0 = 1.0, 2 * 3.0 / 20.0
    for k in range(80):
        c /= 1 + 3 * 0.01 * np.sqrt(delta_0 * 0.75 ** (k // 4))
    assert abs(curve.values[-1] - c) <= curve.error[-1] + 1e-15
    assert curve.error[-1] < 1e-13
