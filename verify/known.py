"""The constants of an instance, each with its provenance, and the step sizes that follow from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from jaxtyping import Float

import bounds
import simulate
from bounds import Constant, Provenance, Statement
from games.base import Game
from games.equilibrium import Equilibrium
from simulate.problems.base import Problem
from simulate.problems.quadratics import Quadratics
from simulate.problems.softmax import SoftmaxRegression
from verify.errors import InputError
from verify.extremes import Bound, largest_step, smallest_index
from verify.schema import Instance, QuadraticsProblem

_U = float(np.finfo(np.float64).eps)
_PAIR_OF_LEMMA_6_5 = ("Theorem 4.9", "Lemma 6.")


def dissimilarity(statement: Statement, constants: dict[str, Constant]) -> dict[str, Constant]:
    """The (G, B) that a statement means: Lemma 6.5's pair of its edition, or (shared) Assumption 4.5's.

    Raises:
        HypothesisFails: if the printed G^2 of Lemma 6.5 is negative here.
    """
    if statement.id.startswith(_PAIR_OF_LEMMA_6_5) and {"G", "B"} & set(statement.symbols):
        return bounds.lemma_6_5_pair(constants, statement.edition)
    return {}


def equilibrium_weights(equilibrium: Equilibrium) -> Constant:
    """p*_i = N*_i / ||N*||_1 with a proven radius (0 where the rational weights are floats)."""
    N = equilibrium.N
    p = N / N.sum()
    if equilibrium.exact is not None:
        total = sum(equilibrium.exact)
        off = [abs(Fraction(v) - e / total) for v, e in zip(p.tolist(), equilibrium.exact, strict=True)]
        radius = np.array([math.nextafter(float(o), math.inf) if o else 0.0 for o in off])
    else:
        radius = np.full(N.size, 2 * equilibrium.error_bound / float(N.sum()) + 4 * _U)
    return Constant("p_star", p, equilibrium.provenance, radius, "N*/||N*||_1")


def known_constants(
    instance: Instance,
    problem: Problem,
    game: Game,
    equilibrium: Equilibrium,
    weights: Constant,
    N_0: Float[np.ndarray, " m"],
) -> dict[str, Constant]:
    """What does not depend on the step sizes."""
    algorithm = instance.algorithm
    off, m, proof = equilibrium.error_bound, game.m, equilibrium.provenance
    dist_0 = float(np.linalg.norm(N_0 - equilibrium.N))
    l1 = float(np.abs(equilibrium.N).sum())
    p_star = np.asarray(weights.value)
    note = "N* with its proven error"
    constants = {
        "m": Constant("m", m, Provenance.EXACT, note="clients"),
        "H": Constant("H", algorithm.H, Provenance.GIVEN, note="local steps a round"),
        "R": Constant("R", algorithm.R, Provenance.GIVEN, note="rounds"),
        "dist_0": Constant("dist_0", dist_0, proof, off + (m + 4) * _U * dist_0, note),
        "N_star_l1": Constant("N_star_l1", l1, proof, math.sqrt(m) * off + m * _U * l1, note),
        "p_star": weights,
        "p_star_min": Constant(
            "p_star_min", float(p_star.min()), proof, float(np.max(weights.radius)), "min_i p*_i"
        ),
    }
    constants |= game.constants()
    assert isinstance(problem, SoftmaxRegression | Quadratics)
    constants |= problem.constants(
        p_star, sampling=algorithm.sampling, batch=algorithm.batch, t=instance.problem.tradeoff
    )
    if isinstance(instance.problem, QuadraticsProblem) and instance.problem.nu > 0:
        constants["nu"] = Constant(
            "nu", instance.problem.nu, Provenance.GIVEN, note="declared in the instance"
        )
    return constants


def require_strong_monotonicity(instance: Instance, shared: dict[str, Constant]) -> None:
    """Refuse a game whose F is not proved strongly monotone.

    Raises:
        InputError: naming what is known of mu_F.
    """
    mu_F = shared.get("mu_F")
    if mu_F is None or not float(np.asarray(mu_F.value)) > 0:
        found = "not proved monotone" if mu_F is None else f"mu_F = {mu_F.value}"
        raise InputError(
            f"{instance.name}: game: F is {found}: the checked statements need a strongly monotone F (mu_F > 0)"
        )


def choose_steps(
    instance: Instance,
    problem: Problem,
    game: Game,
    N_0: Float[np.ndarray, " m"],
    shared: dict[str, Constant],
    statements: list[Statement],
) -> dict[str, Constant]:
    """gamma_tilde, then r_hat, then gamma: each given, or as far as the hypotheses allow."""
    algorithm = instance.algorithm

    def choose(name: str, value: float | int | str, extreme: Callable[[list[Bound]], float | int]) -> None:
        note = "given in the instance"
        if isinstance(value, str):
            note = f"{value} that the hypotheses of the checked statements allow"
            value = extreme(_bindings(statements, shared))
        shared[name] = Constant(name, value, Provenance.GIVEN, note=note)

    shared = dict(shared)
    choose("gamma_tilde", algorithm.gamma_tilde, lambda b: largest_step("gamma_tilde", b))
    path = simulate.participation(game, N_0, float(np.asarray(shared["gamma_tilde"].value)), algorithm.R)
    choose("r_hat", algorithm.r_hat, lambda b: smallest_index("r_hat", b, algorithm.R))
    shared |= _weight_constants(problem, path, int(np.asarray(shared["r_hat"].value)), shared)
    choose("gamma", algorithm.gamma, lambda b: largest_step("gamma", b))
    return shared


def _weight_constants(
    problem: Problem, path: simulate.Participation, r_hat: int, shared: dict[str, Constant]
) -> dict[str, Constant]:
    """kappa, s, sigma_sq and omega of the sharp editions, rounded upwards, from the run's weights q_r = p_{r+1}."""
    m, p_star = problem.m, np.asarray(shared["p_star"].value)
    off = math.sqrt(m) * float(path.error.max()) / float(path.N.sum(axis=1).min()) + 8 * m * _U
    q = path.p[1:] + off
    x_star = np.asarray(shared["x_star"].value)
    slack = float(np.asarray(shared["L"].value)) * float(np.max(shared["x_star"].radius))
    local = (np.linalg.norm(problem.gradients(x_star), axis=1) * (1 + 64 * problem.n * _U) + slack) ** 2
    least = p_star - np.asarray(shared["p_star"].radius)
    values = {
        "kappa": (m * float(q.max()), "m max_{i,r} p_{i,r+1}"),
        "s": (float((q**2).sum(axis=1).max()), "max_r sum_i p_{i,r+1}^2: the clients draw independently"),
        "sigma_sq": (float((q[r_hat:] @ local).max()), "max_{r >= r_hat} sum_i p_{i,r+1} ||grad f_i(x*)||^2"),
        "omega": (float((q[r_hat:] / least).max()), "max_{r >= r_hat} p_{i,r+1}/p*_i"),
    }
    caps = {"kappa": float(m), "s": 1.0}
    return {
        name: Constant(
            name, min(value * (1 + 16 * _U), caps.get(name, math.inf)), Provenance.CERTIFIED, note=note
        )
        for name, (value, note) in values.items()
    }


def _bindings(statements: list[Statement], shared: dict[str, Constant]) -> list[Bound]:
    """Each statement with its constants; placeholders stand in for those that are not chosen yet."""
    unit = dict.fromkeys(("kappa", "s", "sigma_sq", "omega"), 1.0)
    pending = {"gamma_tilde": 1e-300, "r_hat": 0, "gamma": 1e-300, "f_gap": 0.0, "D_r_hat": 0.0, **unit}
    placeholders = {name: Constant(name, value) for name, value in pending.items()}
    bound: list[Bound] = []
    for statement in statements:
        try:
            bound.append((statement, placeholders | shared | dissimilarity(statement, shared)))
        except bounds.HypothesisFails:
            continue  # an edition without constants here limits nothing; its check says so
    return bound


def start_constants(
    problem: Problem,
    p_star: Float[np.ndarray, " m"],
    x_0: Float[np.ndarray, " n"],
    r_hat: int,
    shared: dict[str, Constant],
) -> dict[str, Constant]:
    """f_gap and D_r_hat where they are known before the run: x_bar_0 = x_0 when r_hat = 0."""
    if r_hat > 0:
        return {}
    f_star, x_star = shared["f_star"], shared["x_star"]
    f_0 = float(problem.loss(x_0, p_star))
    gap = f_0 - float(np.asarray(f_star.value))
    distance = float(np.linalg.norm(x_0 - np.asarray(x_star.value)))
    rounding = 64 * problem.n * _U
    return {
        "f_gap": Constant(
            "f_gap", max(gap, 0.0), Provenance.CERTIFIED, float(f_star.radius) + rounding * abs(f_0), "f(x_0) - f*"
        ),
        "D_r_hat": Constant(
            "D_r_hat", distance, Provenance.CERTIFIED, float(np.linalg.norm(x_star.radius)) + rounding * distance,
            "||x_0 - x*||",
        ),
    }  # fmt: skip
