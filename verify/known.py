"""The constants of an instance, each with its provenance: of the game, the welfare loss, the problem, the start."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float

import bounds
import simulate
from bounds import Constant, Provenance, Statement
from games.base import Game
from games.welfare import Welfare
from simulate.problems.base import Problem
from verify.applicable import outside_domains
from verify.errors import InputError
from verify.schema import Instance
from verify.schema.code import PREFIX
from verify.target import Target

_U = float(np.finfo(np.float64).eps)
_BASES_OF_THE_PAIR = ("m", "L", "f_star", "p_star", "f_i_star")
_PAIR_OF_LEMMA_6_5 = ("Theorem 4.9", "Lemma 6.")


@dataclass(frozen=True)
class Known:
    """The constants that exist, and why the others do not."""

    constants: dict[str, Constant]
    absent: dict[str, str]

    def usable(self) -> Known:
        """Without the constants that no statement can take; each leaves its reason behind."""
        outside = outside_domains(self.constants)
        constants = {name: c for name, c in self.constants.items() if name not in outside}
        return Known(constants, {**self.absent, **outside})


def takes_lemma_6_5(statement: Statement) -> bool:
    """Whether the statement's (G, B) is the pair of Lemma 6.5."""
    return statement.id.startswith(_PAIR_OF_LEMMA_6_5) and bool({"G", "B"} & set(statement.symbols))


def needed(statement: Statement) -> tuple[str, ...]:
    """The constants that a statement takes, those of its own (G, B) among them."""
    return (*statement.symbols, *(_BASES_OF_THE_PAIR if takes_lemma_6_5(statement) else ()))


def dissimilarity(statement: Statement, constants: Mapping[str, Constant]) -> dict[str, Constant]:
    """The (G, B) that a statement means: Lemma 6.5's pair of its edition, or (shared) Assumption 4.5's.

    Raises:
        HypothesisFails: if the printed G^2 of Lemma 6.5 is negative here.
    """
    if takes_lemma_6_5(statement):
        return bounds.lemma_6_5_pair(constants, statement.edition)
    return {}


def equilibrium_weights(target: Target) -> Constant:
    """p*_i = N*_i / ||N*||_1 with a proven radius (0 where the rational weights are floats)."""
    equilibrium, N = target.equilibrium, target.N
    p = N / N.sum()
    if equilibrium.exact is not None:
        total = sum(equilibrium.exact)
        off = [abs(Fraction(v) - e / total) for v, e in zip(p.tolist(), equilibrium.exact, strict=True)]
        radius = np.array([math.nextafter(float(o), math.inf) if o else 0.0 for o in off])
    else:
        radius = np.full(N.size, 2 * target.error / float(N.sum()) + 4 * _U)
    return Constant("p_star", p, equilibrium.provenance, radius, "N*/||N*||_1")


def known_constants(
    instance: Instance,
    problem: Problem,
    game: Game,
    welfare: Welfare | None,
    target: Target,
    N_0: Float[np.ndarray, " m"],
) -> Known:
    """What does not depend on the step sizes."""
    algorithm, weights = instance.algorithm, equilibrium_weights(target)
    constants = {
        "m": Constant("m", game.m, Provenance.EXACT, note="clients"),
        "H": Constant("H", algorithm.H, Provenance.GIVEN, note="local steps a round"),
        "R": Constant("R", algorithm.R, Provenance.GIVEN, note="rounds"),
    }
    constants |= _of_target(target, weights, N_0)
    constants |= _told(instance.game.kind, _of_game(game))
    absent: dict[str, str] = {}
    if "mu_F" not in constants:
        absent["mu_F"] = "F is not proved monotone"
    if welfare is not None:
        constants |= welfare.constants(game.lower, game.upper)
        constants |= _schedule(instance)
        absent["gamma_tilde"] = "the run follows the iteratively regularised update"
    else:
        for name in ("gamma_tilde_0", "a", "lambda_0", "b", "C_H", "L_h", "sigma_h"):
            absent[name] = "the run has a constant gamma_tilde and no welfare loss"
    found = _of_problem(instance, problem, np.asarray(weights.value))
    return Known({**constants, **found.constants}, {**absent, **found.absent}).usable()


def _of_target(target: Target, weights: Constant, N_0: Float[np.ndarray, " m"]) -> dict[str, Constant]:
    """What follows from N*: nothing where nothing is proved about it, but for the weights that f is built with."""
    if not math.isfinite(target.error):
        known = Constant(
            "p_star", weights.value, Provenance.ESTIMATED, note=f"N* is not known: {target.reason}"
        )
        return {"p_star": known}
    m, off, proof, N = N_0.size, target.error, target.equilibrium.provenance, target.N
    dist_0, l1 = float(np.linalg.norm(N_0 - N)), float(np.abs(N).sum())
    p_star, note = np.asarray(weights.value), "N* with its proven error"
    return {
        "dist_0": Constant("dist_0", dist_0, proof, off + (m + 4) * _U * dist_0, note),
        "N_star_l1": Constant("N_star_l1", l1, proof, math.sqrt(m) * off + m * _U * l1, note),
        "p_star": weights,
        "p_star_min": Constant(
            "p_star_min", float(p_star.min()), proof, float(np.max(weights.radius)), "min_i p*_i"
        ),
    }


def _of_game(game: Game) -> dict[str, Constant]:
    """mu_F, L_F, C_F, D_N; a constant F has every L_F > 0."""
    constants = game.constants()
    L_F = constants.get("L_F")
    if L_F is not None and float(np.asarray(L_F.value)) == 0.0:
        constants["L_F"] = Constant(
            "L_F", 1e-100, L_F.provenance, note="F is constant: any number > 0 will do"
        )
    return constants


def _schedule(instance: Instance) -> dict[str, Constant]:
    algorithm, note = instance.algorithm, "given in the instance"
    values = {name: getattr(algorithm, name) for name in ("gamma_tilde_0", "a", "lambda_0", "b")}
    return {name: Constant(name, value, Provenance.GIVEN, note=note) for name, value in values.items()}


def _of_problem(instance: Instance, problem: Problem, p_star: Float[np.ndarray, " m"]) -> Known:
    """L, nu, (G, B), f*, and in the strongly convex case x* and S; the least curvature where it is known."""
    table, algorithm = instance.problem, instance.algorithm
    constants = problem.constants(
        p_star,
        sampling=algorithm.sampling,
        batch=algorithm.batch,
        replacement=algorithm.replacement,
        **table.options(),
    )
    constants = _told(table.kind, constants)
    absent: dict[str, str] = {}
    if not float(np.asarray(constants["L"].value)) > 0:
        raise InputError(
            f"{instance.name}: problem: L = {constants['L'].value}: the losses must not all be linear"
        )
    if table.noise is not None:
        constants["nu"] = Constant("nu", table.noise, Provenance.GIVEN, note="declared in the instance")
    if table.curvature_floor is not None:
        constants["mu_f"] = Constant(
            "mu_f", table.curvature_floor, Provenance.CERTIFIED, note="least curvature of the f_i"
        )
    for name in ("x_star", "S", "sigma_sq", "D_r_hat"):
        if "x_star" not in constants:
            absent[name] = "no minimiser x* of f is known"
    for name in ("G", "B", "f_star", "f_i_star", "f_sup", "mu_f"):
        if name not in constants:
            absent[name] = f"not known for problem.kind = {table.kind!r}"
    return Known(constants, absent)


def _told(kind: str, constants: Mapping[str, Constant]) -> dict[str, Constant]:
    """The constants of a game or problem; those of a user's own class are its word, whatever their label says: no
    proof of them was seen."""
    if not kind.startswith(PREFIX):
        return dict(constants)
    proved = (Provenance.EXACT, Provenance.CERTIFIED)
    return {
        name: replace(c, provenance=Provenance.GIVEN) if c.provenance in proved else c
        for name, c in constants.items()
    }


def path_constants(
    problem: Problem, path: simulate.Participation, r_hat: int, target: Target, known: Known
) -> Known:
    """kappa, s, sigma_sq and omega of the sharp editions, rounded upwards, from this run's weights q_r = p_{r+1},
    r < R; in the regularised update also d_r = ||N_r - N*|| of rounds 0..R, from which every edition derives its own
    delta_hat and Delta over the rounds that it counts.

    Nothing here speaks of rounds from R on: a statement about this run's horizons needs none of them.
    """
    m = problem.m
    total = float(path.N.sum(axis=1).min())
    off = math.sqrt(m) * float(path.error.max()) / total + 8 * m * _U
    q = np.minimum(path.p[1:] + off, 1.0)
    values = {
        "kappa": (min(m * float(q.max()), float(m)), "m max p_{i,r+1} over this run's rounds r < R"),
        "s": (
            min(float((q**2).sum(axis=1).max()), 1.0),
            "max over r < R of sum_i p_{i,r+1}^2: the clients draw independently",
        ),
    }
    absent: dict[str, str] = {}
    if "x_star" in known.constants:
        local = _local_slopes(problem, known.constants)
        values["sigma_sq"] = (
            float((q[r_hat:] @ local).max()),
            "max over r_hat <= r < R of sum_i p_{i,r+1} ||grad f_i(x*)||^2",
        )
    weights = equilibrium_weights(target)
    least = np.asarray(weights.value) - np.asarray(weights.radius)
    if np.all(least > 0):
        values["omega"] = (float((q[r_hat:] / least).max()), "max over r_hat <= r < R of p_{i,r+1}/p*_i")
    else:
        absent["omega"] = "a client takes no part in N*: p*_i = 0"
    caps = {"kappa": float(m), "s": 1.0}
    constants = {
        name: Constant(
            name, min(value * (1 + 16 * _U), caps.get(name, math.inf)), Provenance.CERTIFIED, note=note
        )
        for name, (value, note) in values.items()
    }
    if "gamma_tilde_0" in known.constants and math.isfinite(target.error):
        found = distances(path, target)
        if np.all(np.isfinite(found.radius)):
            constants["d_sequence"] = found
        else:
            why = "the rounding error of the participation path is not bounded"
            absent |= dict.fromkeys(("d_sequence", "delta_hat_sq_mean", "Delta_sq_mean"), why)
    return Known({**known.constants, **constants}, {**known.absent, **absent}).usable()


def _local_slopes(problem: Problem, constants: Mapping[str, Constant]) -> Float[np.ndarray, " m"]:
    """Upper bounds on ||grad f_i(x*)||^2."""
    x_star = np.asarray(constants["x_star"].value)
    slack = float(np.asarray(constants["L"].value)) * float(np.max(constants["x_star"].radius))
    return (np.linalg.norm(problem.gradients(x_star), axis=1) * (1 + 64 * problem.n * _U) + slack) ** 2


def distances(path: simulate.Participation, target: Target) -> Constant:
    """d_r = ||N_r - N*||, r = 0..R: radii from the path's rounding, N*'s error and the sum's own rounding."""
    d = np.linalg.norm(path.N - target.N, axis=1)
    radius = (path.error + target.error + (path.N.shape[1] + 4) * _U * d) * (1 + 4 * _U)
    note = "||N_r - N*|| along this run, rounds 0..R: suprema over r range over its rounds, none beyond R"
    provenance = target.equilibrium.provenance
    return Constant("d_sequence", d, provenance, radius, note)


def start_constants(
    problem: Problem,
    p_star: Float[np.ndarray, " m"],
    x_0: Float[np.ndarray, " n"],
    shared: Mapping[str, Constant],
) -> dict[str, Constant]:
    """f_gap and D_r_hat for r_hat = 0, where they are known before the run: x_bar_0 = x_0."""
    rounding = (64 * problem.n + 4 * int(problem.sizes.max())) * _U  # n-term products, a mean over samples
    found: dict[str, Constant] = {}
    if "f_star" in shared:
        f_star, f_0 = shared["f_star"], float(problem.loss(x_0, p_star))
        gap, off = f_0 - float(np.asarray(f_star.value)), float(f_star.radius) + rounding * abs(f_0)
        found["f_gap"] = Constant("f_gap", max(gap, 0.0), f_star.provenance, off, "f(x_0) - f*")
    if "x_star" in shared:
        x_star = shared["x_star"]
        distance = float(np.linalg.norm(x_0 - np.asarray(x_star.value)))
        off = float(np.linalg.norm(x_star.radius)) + rounding * distance
        found["D_r_hat"] = Constant("D_r_hat", distance, x_star.provenance, off, "||x_0 - x*||")
    return found
