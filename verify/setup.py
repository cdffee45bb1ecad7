"""An instance made real: data, problem, game, N*, and every constant with its provenance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from jaxtyping import Float

import bounds
import games
import simulate
from bounds import Constant, Provenance, Statement
from games.base import Game
from games.equilibrium import Equilibrium
from games.gaps import Bracket
from games.welfare import Welfare
from simulate.closed_form import QuadraticOrbit
from simulate.concentration import average_loss_proxy
from simulate.parallel import one_thread
from simulate.problems.base import Problem
from simulate.problems.chain import Network
from simulate.problems.network import TwoLayerNetwork
from simulate.problems.softmax import SoftmaxRegression
from simulate.run import check_fit
from simulate.streams import Purpose, generator
from verify.applicable import require_applicable
from verify.choosing import choose_steps
from verify.errors import InputError
from verify.known import Known, dissimilarity, equilibrium_weights, known_constants, needed, start_constants
from verify.observed import RUN_ROUNDING, Curve, Start, StartName
from verify.schema import Instance, QuadraticsProblem, RandomStart
from verify.target import Target, find_target

_U = float(np.finfo(np.float64).eps)
MOST_STEPS = 50_000


@dataclass(frozen=True, eq=False)
class Setup:
    """Everything a check needs besides the run.

    Attributes:
        welfare: h of the regularised update (None: the strongly monotone update).
        target: N*, its proven error, and a bracket on h(N*).
        p_star: N*'s weights, which define f.
        shared: the constants that do not depend on the statement.
        absent: constants that do not exist for this instance, each with the reason.
        monotone: whether F is monotone (True or False proved, None undecided).
        config: the run's configuration.
    """

    instance: Instance
    problem: Problem
    game: Game
    welfare: Welfare | None
    target: Target
    p_star: Float[np.ndarray, " m"]
    shared: dict[str, Constant]
    absent: Mapping[str, str]
    monotone: bool | None
    config: simulate.RunConfig

    @property
    def equilibrium(self) -> Equilibrium:
        """An equilibrium of the game whose point is `N_star`."""
        return self.target.equilibrium

    @property
    def N_star(self) -> Float[np.ndarray, " m"]:
        """The unique equilibrium, or the minimiser of h over the equilibria."""
        return self.target.N

    @property
    def N_star_error(self) -> float:
        """A proven bound on the distance of `N_star` from the point that the statements mean (inf: none proven)."""
        return self.target.error

    @property
    def h_star(self) -> Bracket | None:
        """A proven bracket on h(N*), also where h does not select one N* (None without a welfare loss)."""
        return self.target.h_star

    @property
    def regularised(self) -> bool:
        """Whether the run follows the iteratively regularised update."""
        return self.welfare is not None

    @property
    def r_hat(self) -> int:
        return self.config.r_hat

    @property
    def engine(self) -> str:
        """The engine that the instance asks for, or the one for its problem."""
        wanted = self.instance.run.engine
        if wanted != "auto":
            return wanted
        return "chain" if isinstance(self.problem, Network) else "numpy"

    @property
    def x_star(self) -> Float[np.ndarray, " n"] | None:
        """The certified minimiser of f, where there is one."""
        constant = self.shared.get("x_star")
        return None if constant is None else np.asarray(constant.value, dtype=float)

    @property
    def closed_form(self) -> bool:
        """Whether the run is a deterministic recursion that is solved instead of simulated."""
        return self.instance.algorithm.closed_form

    @property
    def certain(self) -> bool:
        """Whether nothing in a run is random."""
        return _is_certain(self.config.sampling, self.shared)

    def constants(self, statement: Statement) -> dict[str, Constant]:
        """The constants of one statement's edition: the shared ones and its own (G, B) pair.

        Raises:
            NotApplicable: if the statement is not about such a run, or a constant that it needs is not known.
            bounds.HypothesisFails: if the edition's pair does not exist here (a negative printed G^2).
        """
        require_applicable(
            statement,
            needed(statement),
            regularised=self.regularised,
            monotone=self.monotone,
            convex=self.instance.problem.convex,
            N_star_error=self.N_star_error,
            N_star_reason=self.target.reason,
            N_star_l1=float(np.abs(self.N_star).sum()),
            absent=self.absent,
        )
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

    @cached_property
    def _start_gap_ceiling(self) -> float:
        c = self.config
        return self.problem.f_gap_ceiling(c.x_0, c.gamma, c.H * c.r_hat, self.p_star)

    def f_gap_proxy(self, run: xr.Dataset) -> float:
        """A proven sub-Gaussian proxy of f(x_bar^avg) at the last horizon (infinite where none is known)."""
        if self.certain:
            return 0.0
        if not isinstance(self.problem, SoftmaxRegression):
            return math.inf
        return average_loss_proxy(self.problem, self.config, run["p"].values, self.p_star, self.config.R)

    def start_gap(self, run: xr.Dataset) -> Start:
        """f(x_bar_{T_r_hat}) - f* of every seed."""
        f_star = self.shared["f_star"]
        error = float(f_star.radius)
        gaps = run["f"].sel(record=self.r_hat).values - float(np.asarray(f_star.value))
        gaps = np.maximum(gaps, 0.0)
        if self.certain:
            return _certain("f_gap", gaps, error)
        ceiling = self._start_gap_ceiling
        return Start("f_gap", gaps, 0.0, max(ceiling, float(gaps.max())), error)

    def start_distance_sq(self, run: xr.Dataset) -> Start:
        """||x_bar_{T_r_hat} - x*||^2 of every seed: within the displacement of ||x_0 - x*||."""
        c, x_star = self.config, self.shared["x_star"]
        values = run["dist_sq"].sel(record=self.r_hat).values
        if self.certain:
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
        assert table.diagonals is not None  # the schema admits no other closed form
        exact = self.equilibrium.exact
        p = tuple(v / sum(exact) for v in exact) if exact is not None else tuple(self.p_star.tolist())
        orbit = QuadraticOrbit(table.diagonals, table.centre, p, c.gamma, c.H, c.x_0.tolist())
        balls = [orbit.f_gap_average(c.r_hat, R) for R in c.horizons]
        values = np.array([float(b.mid()) for b in balls])
        error = np.array([float(b.rad()) for b in balls]) * (1 + 4 * _U) + 2 * _U * values
        rounds = np.array(c.horizons)
        nothing = np.zeros(rounds.size, dtype=bool)
        return Curve("R", rounds, values, error, nothing, proven=exact is not None)


def _certain(name: StartName, values: Float[np.ndarray, " S"], error: float = 0.0) -> Start:
    """A start that is not random: known but for the rounding of the run (and `error`)."""
    low, high = float(values.min()) * (1 - RUN_ROUNDING), float(values.max()) * (1 + RUN_ROUNDING)
    return Start(name, values, low, high, error)


# What building raises for numbers that do not fit each other, or that leave the range of float64.
_REFUSALS = (ValueError, ArithmeticError, np.linalg.LinAlgError, games.NotSolved)


def build(instance: Instance, *, seeds: int | None = None, root_seed: int | None = None) -> Setup:
    """Build an instance: solve its game, certify its constants, fix its step sizes.

    Raises:
        InputError: if the tables do not fit each other, a number is out of range, or a `largest`/`smallest` does
            not exist.
    """
    what = "data or problem"
    try:
        with one_thread(), np.errstate(over="raise", invalid="raise", divide="raise"):
            data = None if instance.data is None else instance.data.build()
            problem = instance.problem.build(data)
            what = "game"
            game = instance.game.build(data, problem.sizes.astype(float))
            if game.m != problem.m:
                raise InputError(f"{instance.name}: the game has {game.m} clients, the problem {problem.m}")
            what = "welfare"
            welfare = None if instance.welfare is None else instance.welfare.build(game.m)
            if welfare is not None:
                welfare.constants(game.lower, game.upper)
            what = "game"
            target = find_target(game, welfare)
            if not float(target.N.sum()) > 0:
                raise InputError(
                    f"{instance.name}: game.lower: ||N*||_1 = 0, and there are no weights: give a bound > 0"
                )
            N_0 = _start(instance, game, target)
            what = "constants"
            known = known_constants(instance, problem, game, welfare, target, N_0)
            return _finished(instance, problem, game, welfare, target, N_0, known, seeds, root_seed)
    except InputError:
        raise
    except _REFUSALS as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{instance.name}: {what}: {words}") from None


def _finished(
    instance: Instance,
    problem: Problem,
    game: Game,
    welfare: Welfare | None,
    target: Target,
    N_0: Float[np.ndarray, " m"],
    known: Known,
    seeds: int | None,
    root_seed: int | None,
) -> Setup:
    """The step sizes, the start, and the run's configuration."""
    algorithm = instance.algorithm
    statements = [bounds.get(s, e) for s, e in checks(instance)]
    known, _ = choose_steps(instance, problem, game, welfare, target, N_0, known, statements)
    shared = dict(known.constants)
    p_star, r_hat = np.asarray(equilibrium_weights(target).value), int(np.asarray(shared["r_hat"].value))
    x_0 = _first_model(instance, problem, shared)
    if r_hat == 0:
        shared |= start_constants(problem, p_star, x_0, shared)
    step = "gamma_tilde_0" if algorithm.regularised else "gamma_tilde"
    config = simulate.RunConfig(
        gamma=float(np.asarray(shared["gamma"].value)),
        gamma_tilde=float(np.asarray(shared[step].value)),
        H=algorithm.H,
        R=algorithm.R,
        r_hat=r_hat,
        N_0=N_0,
        x_0=x_0,
        sampling=algorithm.sampling,
        batch=algorithm.batch,
        replacement=algorithm.replacement,
        seeds=seeds or instance.run.seeds,
        root_seed=instance.run.seed if root_seed is None else root_seed,
        draws=_draws(instance, _is_certain(algorithm.sampling, shared)),
        horizons=_horizons(r_hat, algorithm.R, instance.run.horizons),
        lambda_0=algorithm.lambda_0,
        a=algorithm.a or 0.0,
        b=algorithm.b or 0.0,
        welfare=welfare,
    )
    check_fit(problem, game, config)
    _within_ball(instance, problem, config)
    monotone = True if "mu_F" in shared else games.properties(game).monotone
    return Setup(instance, problem, game, welfare, target, p_star, shared, known.absent, monotone, config)


def _within_ball(instance: Instance, problem: Problem, config: simulate.RunConfig) -> None:
    """Constants that are certified on a ball are those of a run that provably stays in it."""
    ball = instance.problem.region
    if ball is None or not isinstance(problem, TwoLayerNetwork):
        return
    reach = problem.reach(config.x_0, config.gamma, config.T_R)
    if reach > ball:
        raise InputError(
            f"{instance.name}: problem.ball = {ball:g}: the iterates are only known to stay within ||x|| <= "
            f"{reach:.6g}: give a larger ball, a smaller gamma or fewer steps, or leave the ball out (the "
            "constants are then estimates)"
        )


def checks(instance: Instance) -> list[tuple[str, str]]:
    """The (statement, edition) pairs that an instance asks for and that exist."""
    return [
        (statement, edition)
        for statement in instance.check.statements
        for edition in instance.check.editions
        if edition in bounds.editions(statement)
    ]


def _start(instance: Instance, game: Game, target: Target) -> Float[np.ndarray, " m"]:
    N_0 = instance.algorithm.N_0
    named = {"lower": game.lower, "upper": game.upper, "equilibrium": target.N}
    if isinstance(N_0, str):
        return np.array(named[N_0], dtype=float)
    if len(N_0) != game.m:
        raise InputError(
            f"{instance.name}: algorithm.N_0 has {len(N_0)} entries: give one per client ({game.m})"
        )
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
    instance: Instance, problem: Problem, shared: Mapping[str, Constant]
) -> Float[np.ndarray, " n"]:
    x_0 = instance.algorithm.x_0
    if x_0 == "minimiser":
        if "x_star" not in shared:
            raise InputError(
                f"{instance.name}: algorithm.x_0 = 'minimiser': no minimiser is known: give numbers"
            )
        return np.array(shared["x_star"].value, dtype=float)
    if isinstance(x_0, RandomStart):
        if isinstance(problem, Network):
            return np.asarray(problem.random_start(x_0.seed, x_0.scale), dtype=float)
        return x_0.scale * generator(x_0.seed, 0, 0, Purpose.START).standard_normal(problem.n)
    if isinstance(x_0, list):
        if len(x_0) != problem.n:
            raise InputError(
                f"{instance.name}: algorithm.x_0 has {len(x_0)} entries: give one per parameter ({problem.n})"
            )
        return np.array(x_0, dtype=float)
    assert isinstance(x_0, float)
    return np.full(problem.n, x_0)


def _is_certain(sampling: str, shared: Mapping[str, Constant]) -> bool:
    """Full gradients, or samples that provably all have the same one (their deviation nu is 0)."""
    nu = shared.get("nu")
    if sampling == "full" or nu is None:
        return sampling == "full"
    proven = nu.provenance in (Provenance.EXACT, Provenance.CERTIFIED)
    return proven and float(np.asarray(nu.value)) == 0 and float(np.max(nu.radius)) == 0


def _draws(instance: Instance, certain: bool) -> int:
    """How many steps k a seed measures: all of them where that makes the run deterministic and is affordable."""
    steps = instance.algorithm.H * instance.algorithm.R
    everything = certain and steps <= MOST_STEPS
    return steps if everything else instance.run.draws


def _horizons(r_hat: int, R: int, count: int) -> tuple[int, ...]:
    """About `count` horizons from r_hat + 1 to R, evenly spread on a log scale of R' - r_hat."""
    span = np.geomspace(1, R - r_hat, count)
    return tuple(int(h) for h in np.unique(r_hat + np.rint(span).astype(int)))
