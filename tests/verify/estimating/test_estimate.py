"""Estimates are attained, close to the truth where it is known, and beat a constant that is declared too small."""

import doctest
import tomllib
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import games
from bounds.core.constant import Constant, Provenance
from simulate.problems import LeastSquares, LogisticRegression, Problem
from tests.simulate.conftest import small_linear, small_quadratics
from verify.constants import Attack, Client, Effort, Estimated, attack, clients_of, estimate, main
from verify.errors import InputError
from verify.estimating.toml import written

ROOT = Path(__file__).parents[3]
P = np.array([0.5, 0.3, 0.2])
DIAGONAL, FULL = small_quadratics(), small_quadratics(law="rare", full=True)
LOGISTIC = small_linear(LogisticRegression)
QUICK = Effort(starts=2, steps=15, draws=64)


@cache
def of(problem: Problem, steps: int = 15) -> dict[str, Constant]:
    B = float(problem.constants(P)["B"].value)
    effort = Effort(starts=2, steps=steps)
    start = np.zeros(problem.n)
    return estimate(clients_of(problem), start, radius=20.0, seed=1, weights=P.tolist(), B=B, effort=effort)


def value(constant: Constant) -> float:
    return float(np.asarray(constant.value))


@pytest.mark.parametrize(
    ("problem", "names", "share"),
    [
        (DIAGONAL, ("L", "nu", "G"), 0.999),
        (FULL, ("L", "nu", "G"), 0.999),
        (LOGISTIC, ("L",), 0.999),
        (LOGISTIC, ("nu",), 0.8),  # the certified nu of logistic regression is a bound
    ],
)
def test_estimates_are_below_the_truth_and_close(
    problem: Problem, names: tuple[str, ...], share: float
) -> None:
    found, known = of(problem), problem.constants(P)
    for name in names:
        truth = value(known[name])
        assert share * truth <= value(found[name]) <= truth * (1 + 1e-9), name
        assert found[name].provenance is Provenance.ESTIMATED
        assert isinstance(found[name], Estimated)


def test_the_recorded_points_attain_the_values() -> None:
    found = of(LOGISTIC)
    x, v = (found["L"].point[k] for k in ("x", "v"))  # type: ignore[attr-defined]
    step = 2e-3
    quotients = np.linalg.norm(LOGISTIC.gradients(x + step * v) - LOGISTIC.gradients(x - step * v), axis=1)
    assert quotients.max() / (2 * step) == pytest.approx(value(found["L"]), rel=1e-5)
    at = found["G"].point["x"]  # type: ignore[attr-defined]
    g = LOGISTIC.gradients(at)
    B = value(found["B"])
    assert (g**2).sum() / 3 - B**2 * np.sum((P @ g) ** 2) == pytest.approx(value(found["G"]) ** 2, rel=1e-9)
    z = found["nu"].point["x"]  # type: ignore[attr-defined]
    spread = max(
        np.mean([np.sum((LOGISTIC.sample_gradient(i, z, j) - slope) ** 2) for j in range(LOGISTIC.sizes[i])])
        for i, slope in enumerate(LOGISTIC.gradients(z))
    )
    assert np.sqrt(spread) == pytest.approx(value(found["nu"]), rel=1e-12)


def test_f_gap_and_S_are_those_of_the_certified_minimiser() -> None:
    found, known = of(LOGISTIC), LOGISTIC.constants(P)
    start = float(LOGISTIC.loss(np.zeros(LOGISTIC.n), P))
    assert value(found["f_gap"]) == pytest.approx(start - value(known["f_star"]), rel=1e-12)
    assert value(found["S"]) == pytest.approx(value(known["S"]), rel=1e-6)


@pytest.mark.parametrize("name", ["L", "nu", "G", "f_gap"])
def test_a_constant_declared_five_per_cent_too_small_is_beaten(name: str) -> None:
    known = DIAGONAL.constants(P)
    x_0 = np.zeros(DIAGONAL.n)
    truth = float(DIAGONAL.loss(x_0, P)) - value(known["f_star"]) if name == "f_gap" else value(known[name])
    options = {"clients": DIAGONAL, "x_0": x_0, "radius": 20.0, "weights": P.tolist(), "B": value(known["B"])}
    beaten = attack(name, 0.95 * truth, seed=7, effort=QUICK, **options)
    assert beaten.beaten
    assert beaten.point
    assert not attack(name, truth * (1 + 1e-12), seed=8, effort=QUICK, **options).beaten


def affine(m: int) -> games.AffineGame:
    rng = np.random.default_rng(m)
    skew = rng.standard_normal((m, m))
    A = np.diag(rng.uniform(1.0, 4.0, m)) + 0.3 * (skew - skew.T)
    return games.AffineGame(A, -A @ np.linspace(3.0, 6.0, m), np.ones(m), np.full(m, 12.0))


@pytest.mark.parametrize("m", [2, 6])
def test_game_constants_are_found_and_false_ones_beaten(m: int) -> None:
    game = affine(m)
    for name, wrong in (("mu_F", 1.05), ("L_F", 0.95)):
        truth = value(game.constants()[name])
        found = attack(name, wrong * truth, game=game, seed=3, effort=QUICK)
        assert found.beaten
        assert found.found == pytest.approx(truth, rel=1e-9)
        x, y = found.point["x"], found.point["y"]
        apart, change = x - y, game.F(x) - game.F(y)
        quotient = (
            change @ apart / (apart @ apart)
            if name == "mu_F"
            else np.linalg.norm(change) / np.linalg.norm(apart)
        )
        assert quotient == pytest.approx(found.found, rel=1e-12)
        assert not attack(name, truth, game=game, seed=3, effort=QUICK).beaten


def test_a_nonlinear_games_extremes_lie_where_the_curvature_is() -> None:
    """F_1 = N_1 + N_1^2/20 on [0, 10]: slopes from 1 to 2, at the ends."""

    class Curved:
        lower, upper = np.zeros(2), np.array([10.0, 1.0])

        def F(self, N: np.ndarray) -> np.ndarray:
            return np.array([N[0] + N[0] ** 2 / 20, 1.5 * N[1]])

    found = estimate(clients_of(DIAGONAL), np.zeros(4), radius=5.0, seed=0, game=Curved(), effort=QUICK)
    assert value(found["mu_F"]) == pytest.approx(1.0, abs=1e-4)
    assert value(found["L_F"]) == pytest.approx(2.0, abs=1e-4)


def test_a_built_in_problem_keeps_what_its_class_certifies() -> None:
    found = estimate(LOGISTIC, np.zeros(LOGISTIC.n), radius=5.0, seed=0, weights=P.tolist(), game=affine(3))
    for name in ("L", "nu", "G", "B", "f_star", "f_gap", "S"):
        assert found[name].provenance is Provenance.CERTIFIED, name
    assert found["mu_F"].provenance is not Provenance.ESTIMATED
    # Least squares has no nu that holds everywhere: on a ball it is an estimate.
    least = small_linear(LeastSquares)
    nu = estimate(least, np.zeros(least.n), radius=5.0, seed=0, weights=P.tolist(), effort=QUICK)["nu"]
    assert nu.provenance is Provenance.ESTIMATED
    assert np.isfinite(value(nu))


def test_draws_estimate_what_all_samples_give() -> None:
    def sampler(x: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
        return x + 0.5 * rng.choice([-1.0, 1.0], size=(count, 3)) / np.sqrt(3.0)

    client = Client(lambda x: float(x @ x) / 2, lambda x: x, sampler)
    nu = estimate([client], np.ones(3), radius=1.0, seed=0, effort=QUICK)["nu"]
    assert value(nu) == pytest.approx(0.5, rel=1e-12)  # every draw has the same length
    silent = Client(lambda x: float(x @ x) / 2, lambda x: x)
    assert "nu" not in estimate([silent], np.ones(3), radius=1.0, seed=0, effort=QUICK)


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, second = (of.__wrapped__(DIAGONAL, 2) for _ in range(2))
    assert all(np.array_equal(first[k].value, second[k].value) for k in first)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"radius": 0.0}, "radius = 0.0"),
        ({"weights": [1.0, 1.0, 1.0]}, "sum to one"),
        ({"x_0": [float("nan")] * 4}, "finite numbers"),
        ({"x_0": np.zeros(4), "clients": [Client(lambda x: 0.0, lambda x: np.zeros(3))]}, "client 0"),
        ({"clients": []}, "at least one"),
    ],
)
def test_bad_input_is_named(changes: dict, words: str) -> None:
    options = {"clients": clients_of(DIAGONAL), "x_0": np.zeros(4), "radius": 1.0, "seed": 0} | changes
    with pytest.raises(InputError, match=words):
        estimate(**options)


def test_an_attack_needs_its_target() -> None:
    with pytest.raises(InputError, match="give game="):
        attack("mu_F", 1.0)
    with pytest.raises(InputError, match="give one of L, nu"):
        attack("rho", 1.0)
    silent = Client(lambda x: float(x @ x) / 2, lambda x: x)
    with pytest.raises(InputError, match="no client has a sampler"):
        attack("nu", 1.0, clients=[silent], x_0=np.ones(2))


def test_toml_reads_back() -> None:
    constants = {
        "L": Constant("L", 2.5, Provenance.CERTIFIED, 0.25, 'a "quoted" note'),
        "p_star": Constant("p_star", np.array([0.25, 0.75]), Provenance.EXACT),
        "gamma": Constant("gamma", Fraction(1, 3)),
        "nu": Constant("nu", np.inf),
        "x_star": Constant("x_star", np.arange(100.0)),
        "G": Estimated("G", 1.0, Provenance.ESTIMATED, point={"x": np.array([1.0, -2.0])}),
    }
    attacks = {"L": Attack("L", 2.5, 2.0, False, {})}
    read = tomllib.loads(written(constants, attacks, "a command"))["constants"]
    of_L = {"value": 2.5, "radius": 0.25, "provenance": "certified", "note": 'a "quoted" note'}
    assert read["L"] == of_L | {"attack": 2.0, "beaten": False}
    assert read["p_star"]["value"] == [0.25, 0.75]
    assert read["gamma"]["exact"] == "1/3"
    assert read["nu"]["value"] == np.inf
    assert read["x_star"]["value_length"] == 100
    assert read["G"]["at_x"] == [1.0, -2.0]


def test_the_command_writes_and_attacks_an_instance(small_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "constants.toml"
    assert main(["--instance", str(small_file), "--attack", "--out", str(out)]) == 0
    read = tomllib.loads(out.read_text("utf-8"))["constants"]
    assert read["L"]["provenance"] == "certified"
    assert read["L"]["attack"] == pytest.approx(read["L"]["value"], rel=1e-6)
    assert not any(c.get("beaten", False) for c in read.values())
    with pytest.raises(InputError, match="cannot be written"):
        main(["--instance", str(small_file), "--out", str(tmp_path)])


def test_the_page_says_what_the_code_does() -> None:
    failed, tried = doctest.testfile(str(ROOT / "docs" / "constants.md"), module_relative=False)
    assert tried >= 15
    assert failed == 0
