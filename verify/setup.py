"""An instance made real: data, problem, game, certified equilibrium, and every constant with its provenance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from jaxtyping import Float

import bounds
import games
import simulate
from bounds import Constant, Statement
from games.base import Game
from games.equilibrium import Equilibrium
from simulate.closed_form import QuadraticOrbit
from simulate.concentration import average_loss_proxy
from simulate.data import digits, dirichlet_split, label_distributions, normalise
from simulate.problems.base import Problem
from simulate.problems.quadratics import Quadratics
from simulate.problems.softmax import SoftmaxRegression
from verify.errors import InputError
from verify.known import (
    choose_steps,
    dissimilarity,
    equilibrium_weights,
    known_constants,
    require_strong_monotonicity,
    start_constants,
)
from verify.observed import RUN_ROUNDING, Curve, Start, StartName
from verify.schema import AffineGameTable, Instance, QuadraticsProblem

_U = float(np.finfo(np.float64).eps)
MOST_STEPS = 50_000


@dataclass(frozen=True, eq=False)
class Setup:
    """Everything a check needs besides the run.

    Attributes:
        p_star: the equilibrium's weights, which define f.
        shared: the constants that do not depend on the statement.
        config: the run's configuration.
    """

    instance: Instance
    problem: Problem
    game: Game
    equilibrium: Equilibrium
    p_star: Float[np.ndarray, " m"]
    shared: dict[str, Constant]
    config: simulate.RunConfig

    @property
    def r_hat(self) -> int:
        return self.config.r_hat

    @property
    def welfare(self) -> games.Welfare | None:
        return None

    @property
    def regularised(self) -> bool:
        return False

    @property
    def N_star(self) -> Float[np.ndarray, " m"]:
        return self.equilibrium.N

    @property
    def N_star_error(self) -> float:
        return self.equilibrium.error_bound

    @property
    def closed_form(self) -> bool:
        """Whether the run is a deterministic recursion that is solved instead of simulated."""
        return self.instance.algorithm.closed_form

    def constants(self, statement: Statement) -> dict[str, Constant]:
        """The constants of one statement's edition: the shared ones and its own (G, B) pair.

        Raises:
            bounds.HypothesisFails: if the edition's pair does not exist here (a negative printed G^2).
        """
        return self.shared | dissimilarity(statement, self.shared)

    @cached_property
    def grad_f_sq_ceiling(self) -> float:
        """A proven bound on ||grad f(x_bar_k)||^2 over all runs."""
        c = self.config
        return float(self.problem.grad_f_sq_ceiling(c.x_0, c.gamma, c.T_R, self.p_star))

    @cached_property
    def f_gap_ceiling(self) -> float:
        """A proven bound on f(x_bar) - f* over all runs."""
        c = self.config
        return float(self.problem.f_gap_ceiling(c.x_0, c.gamma, c.T_R, self.p_star))

    def f_gap_proxy(self, run: xr.Dataset) -> float:
        """A proven sub-Gaussian proxy of f(x_bar^avg) at the last horizon (infinite where none is known)."""
        if self.config.sampling == "full":
            return 0.0  # nothing is random
        if not isinstance(self.problem, SoftmaxRegression):
            return math.inf
        return average_loss_proxy(self.problem, self.config, run["p"].values, self.p_star, self.config.R)

    def start_gap(self, run: xr.Dataset) -> Start:
        """f(x_bar_{T_r_hat}) - f* of every seed."""
        c, f_star = self.config, self.shared["f_star"]
        gaps = run["f"].sel(record=self.r_hat).values - float(np.asarray(f_star.value))
        gaps = np.maximum(gaps, 0.0)
        if c.sampling == "full":
            return _certain("f_gap", gaps)
        ceiling = self.problem.f_gap_ceiling(c.x_0, c.gamma, c.H * c.r_hat, self.p_star)
        return Start("f_gap", gaps, 0.0, max(ceiling, float(gaps.max())))

    def start_distance_sq(self, run: xr.Dataset) -> Start:
        """||x_bar_{T_r_hat} - x*||^2 of every seed: within the displacement of ||x_0 - x*||."""
        c, x_star = self.config, self.shared["x_star"]
        values = run["dist_sq"].sel(record=self.r_hat).values
        if c.sampling == "full":
            return _certain("D_r_hat", values)
        reach = float(self.problem.displacement_ceiling(c.x_0, c.gamma, c.H * c.r_hat)) + float(
            np.max(x_star.radius)
        )
        start = float(np.linalg.norm(c.x_0 - np.asarray(x_star.value)))
        floor = max(start * (1 - 1e-12) - reach, 0.0) ** 2
        ceiling = (start * (1 + 1e-12) + reach) ** 2
        return Start("D_r_hat", values, min(floor, float(values.min())), max(ceiling, float(values.max())))

    def closed_form_gap(self) -> Curve:
        """f(x_bar^avg over [T_r_hat, T_R')) - f* at the horizons R', enclosed in balls."""
        c, table = self.config, self.instance.problem
        assert isinstance(table, QuadraticsProblem)
        exact = self.equilibrium.exact
        p = tuple(v / sum(exact) for v in exact) if exact is not None else tuple(self.p_star.tolist())
        orbit = QuadraticOrbit(
            [[a] * len(row) for a, row in zip(table.curvature, table.centre, strict=True)],
            table.centre, p, c.gamma, c.H, c.x_0.tolist(),
        )  # fmt: skip
        balls = [orbit.f_gap_average(c.r_hat, R) for R in c.horizons]
        values = np.array([float(b.mid()) for b in balls])
        error = np.array([float(b.rad()) for b in balls]) * (1 + 4 * _U) + 2 * _U * values
        rounds = np.array(c.horizons)
        return Curve("R", rounds, values, error, np.zeros(rounds.size, dtype=bool))


def _certain(name: StartName, values: Float[np.ndarray, " S"]) -> Start:
    """A start that is not random: known but for the rounding of the run."""
    low, high = float(values.min()) * (1 - RUN_ROUNDING), float(values.max()) * (1 + RUN_ROUNDING)
    return Start(name, values, low, high)


def build(instance: Instance, *, seeds: int | None = None, root_seed: int | None = None) -> Setup:
    """Build an instance: solve its game, certify its constants, fix its step sizes.

    Raises:
        InputError: if the tables do not fit each other, or a `largest`/`smallest` does not exist.
    """
    try:
        problem, labels = _problem(instance)
    except ValueError as error:
        raise InputError(f"{instance.name}: data or problem: {error}") from None
    try:
        game = _game(instance, problem, labels)
        equilibrium = games.solve(game, certificate="proof")
    except InputError:
        raise
    except (ValueError, games.NotSolved) as error:
        raise InputError(f"{instance.name}: game: {error}") from None
    weights = equilibrium_weights(equilibrium)
    p_star = np.asarray(weights.value)
    algorithm = instance.algorithm
    N_0 = _start(instance, game, equilibrium)
    shared = known_constants(instance, problem, game, equilibrium, weights, N_0)
    require_strong_monotonicity(instance, shared)
    statements = [bounds.get(s, e) for s, e in checks(instance)]
    shared = choose_steps(instance, problem, game, N_0, shared, statements)
    x_0 = _first_model(instance, problem, shared)
    gamma = float(shared["gamma"].value)
    shared |= start_constants(problem, p_star, x_0, int(shared["r_hat"].value), shared)
    config = simulate.RunConfig(
        gamma=gamma,
        gamma_tilde=float(shared["gamma_tilde"].value),
        H=algorithm.H,
        R=algorithm.R,
        r_hat=int(shared["r_hat"].value),
        N_0=N_0,
        x_0=x_0,
        sampling=algorithm.sampling,
        batch=algorithm.batch,
        seeds=seeds or instance.run.seeds,
        root_seed=instance.run.seed if root_seed is None else root_seed,
        draws=_draws(instance),
        horizons=_horizons(int(shared["r_hat"].value), algorithm.R, instance.run.horizons),
    )
    return Setup(instance, problem, game, equilibrium, p_star, shared, config)


def checks(instance: Instance) -> list[tuple[str, str]]:
    """The (statement, edition) pairs that an instance asks for and that exist."""
    return [
        (statement, edition)
        for statement in instance.check.statements
        for edition in instance.check.editions
        if edition in bounds.editions(statement)
    ]


def _problem(instance: Instance) -> tuple[Problem, Float[np.ndarray, "m t"] | None]:
    table = instance.problem
    if isinstance(table, QuadraticsProblem):
        return Quadratics(np.array(table.curvature), np.array(table.centre)), None
    data = instance.data
    assert data is not None
    samples = digits()
    partition = dirichlet_split(samples.labels, data.clients, data.concentration, data.seed)
    features = normalise(samples.features, data.normalise, data.scale)
    problem = SoftmaxRegression(
        partition.split(features), partition.split(samples.labels), samples.classes, table.l2
    )
    return problem, label_distributions(samples.labels, partition, samples.classes)


def _game(instance: Instance, problem: Problem, labels: Float[np.ndarray, "m t"] | None) -> Game:
    table = instance.game
    sizes = problem.sizes.astype(float)
    upper = sizes if table.upper == "sizes" else np.array(table.upper)
    if instance.data is not None and np.any(upper > sizes):
        i = int(np.argmax(upper - sizes))
        raise InputError(
            f"{instance.name}: game.upper[{i}] = {upper[i]:g}: client {i} has only {sizes[i]:g} samples"
        )
    lower = np.array(table.lower)
    if np.any(lower > upper):
        i = int(np.argmax(lower - upper))
        raise InputError(
            f"{instance.name}: game.lower[{i}] = {lower[i]:g} > upper = {upper[i]:g}: give lower <= upper"
        )
    if isinstance(table, AffineGameTable):
        return games.AffineGame(np.array(table.matrix), np.array(table.offset), lower, upper)
    assert labels is not None
    return games.DiscoveryGame(
        labels, table.cost_rate, lower, upper, regulariser=table.regulariser, congestion=table.congestion
    )


def _start(instance: Instance, game: Game, equilibrium: Equilibrium) -> Float[np.ndarray, " m"]:
    N_0 = instance.algorithm.N_0
    named = {"lower": game.lower, "upper": game.upper, "equilibrium": equilibrium.N}
    if isinstance(N_0, str):
        return np.array(named[N_0], dtype=float)
    start = np.array(N_0, dtype=float)
    outside = (start < game.lower) | (start > game.upper)
    if np.any(outside):
        i = int(np.flatnonzero(outside)[0])
        raise InputError(
            f"{instance.name}: algorithm.N_0[{i}] = {start[i]:g}: give a number in the box "
            f"[{game.lower[i]:g}, {game.upper[i]:g}]"
        )
    return start


def _first_model(
    instance: Instance, problem: Problem, shared: dict[str, Constant]
) -> Float[np.ndarray, " n"]:
    x_0 = instance.algorithm.x_0
    if x_0 == "minimiser":
        return np.array(shared["x_star"].value, dtype=float)
    return np.full(problem.n, float(x_0))


def _draws(instance: Instance) -> int:
    """How many steps k a seed measures: all of them where that makes the run deterministic and is affordable."""
    steps = instance.algorithm.H * instance.algorithm.R
    everything = instance.algorithm.sampling == "full" and steps <= MOST_STEPS
    return steps if everything else instance.run.draws


def _horizons(r_hat: int, R: int, count: int) -> tuple[int, ...]:
    """About `count` horizons from r_hat + 1 to R, evenly spread on a log scale of R' - r_hat."""
    span = np.geomspace(1, R - r_hat, count)
    return tuple(int(h) for h in np.unique(r_hat + np.rint(span).astype(int)))
