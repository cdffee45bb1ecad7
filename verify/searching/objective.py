"""observed/bound for a whole population: what the search maximises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from bounds import Statement
from verify.searching.moments import ROUNDS, moments, settled
from verify.searching.population import Population
from verify.searching.sides import feasible, own_pair

GAME_ROUNDS = 48  # how far a game-only statement is followed
_TINY = 1e-290
# Below this share of the size of the numbers that it is the difference of, a distance is too full of rounding errors.
_RESOLVED = 1e-7
_RESOLVED_MODEL = 1e-10  # the same for models, which are not read as ratios of consecutive rounds


@dataclass(frozen=True)
class Target:
    """What a statement observes, and what an instance of it consists of.

    Attributes:
        ratios: the largest observed/bound over the statement's rounds, [P]; -inf where a hypothesis fails.
        learns: whether it speaks of the losses, or of the game alone.
    """

    ratios: Callable[[Statement, Population], Float[np.ndarray, " P"]]
    learns: bool


def ratios(statement: Statement, pop: Population) -> Float[np.ndarray, " P"]:
    """observed/bound of every instance: -inf where a hypothesis fails or the bound is not a number."""
    with np.errstate(all="ignore"):
        found = TARGETS[statement.id].ratios(statement, pop)
    return np.where(np.isnan(found), -np.inf, found)


def _curve(
    statement: Statement,
    pop: Population,
    observed: Float[np.ndarray, "P k"],
    own: dict[str, np.ndarray],
    counted: np.ndarray,
) -> Float[np.ndarray, " P"]:
    """The largest ratio over the counted rounds; `own` are the statement's constants that change with the round."""
    constants = {name: value[:, None] for name, value in pop.game_constants().items()} | own
    bound = np.broadcast_to(np.asarray(statement.evaluate(constants, unchecked=True)), observed.shape)
    good = feasible(statement, constants, observed.shape) & (bound > _TINY) & counted
    return np.asarray(np.where(good, observed / bound, -np.inf).max(axis=1))


def _distance(statement: Statement, pop: Population) -> Float[np.ndarray, " P"]:
    """||N_r - N*|| at r = 1, 2, ...: at r = 0 the statement is an identity."""
    d = np.linalg.norm(pop.path(GAME_ROUNDS) - pop.N_star[:, None], axis=2)
    r = np.arange(GAME_ROUNDS + 1)[None, :]
    return _curve(statement, pop, d, {"r": r.astype(float)}, _seen(pop, r, 1) & _resolved(pop, d))


def _weights(statement: Statement, pop: Population) -> Float[np.ndarray, " P"]:
    """max_i |p_{i,r} - p*_i| at r = 0, 1, ..."""
    N = pop.path(GAME_ROUNDS)
    d = np.linalg.norm(N - pop.N_star[:, None], axis=2)
    error = np.abs(N / N.sum(axis=2, keepdims=True) - pop.p_star[:, None]).max(axis=2)
    r = np.arange(GAME_ROUNDS + 1)[None, :]
    counted = _seen(pop, r, 0) & _resolved(pop, d)
    return _curve(statement, pop, error, {"r": r.astype(float), "d_r": d}, counted)


def _infeasibility(statement: Statement, pop: Population) -> Float[np.ndarray, " P"]:
    """The mean of ||N_r - N*||^2 over r_hat <= r < R', for every R'; R' = 1 after r_hat = 0 is an identity."""
    N = pop.path(GAME_ROUNDS)[:, :-1]
    d = np.linalg.norm(N - pop.N_star[:, None], axis=2) ** 2
    r = np.arange(GAME_ROUNDS)[None, :]
    counted = r >= pop.r_hat[:, None]
    mean = np.cumsum(np.where(counted, d, 0.0), axis=1) / np.maximum(np.cumsum(counted, axis=1), 1)
    R = (r + 1).astype(float)
    seen = counted & _seen(pop, r + 1, 2) & _resolved(pop, np.sqrt(mean))
    return _curve(statement, pop, mean, {"R": R + 0 * mean}, seen)


def _resolved(pop: Population, d: np.ndarray) -> np.ndarray:
    return np.asarray(d > _RESOLVED * pop.N_star.sum(axis=1)[:, None])


def _seen(pop: Population, r: np.ndarray, first: int) -> np.ndarray:
    return np.asarray((r >= first) & (r <= pop.R[:, None]))


def _learning(
    observed: str,
) -> Callable[[Statement, Population], Float[np.ndarray, " P"]]:
    def ratios_of(statement: Statement, pop: Population) -> Float[np.ndarray, " P"]:
        N = pop.path(ROUNDS)
        found = moments(pop, N, statement.quantity.partition("@")[2])
        constants = learning_constants(statement, pop, N)
        constants |= {"f_gap": found.f_gap, "D_r_hat": found.D_r_hat}
        bound = np.asarray(statement.evaluate(constants, unchecked=True))
        good = feasible(statement, constants, (pop.size,)) & (bound > _TINY) & np.isfinite(bound)
        good &= settled(pop, N) & (pop.gamma * pop.curvature.max(axis=1) <= 1.0)
        seen = getattr(found, observed)
        unit = pop.mean_curvature if observed == "f_gap_avg" else pop.mean_curvature**2
        good &= seen > unit * (_RESOLVED_MODEL * np.abs(pop.x_star[:, None] - pop.centre).max(axis=1)) ** 2
        return np.where(good, seen / bound, -np.inf)

    return ratios_of


def learning_constants(
    statement: Statement, pop: Population, N: Float[np.ndarray, "P rounds_1 m"]
) -> dict[str, np.ndarray]:
    """All constants that do not come from the run's expectations."""
    constants = pop.game_constants() | pop.problem_constants() | {"gamma": pop.gamma}
    constants |= own_pair(statement, constants)
    if statement.id.startswith("Theorem 4.10"):
        constants |= pop.weight_errors(N, str(statement.edition))
    return constants | pop.weight_constants(N)


TARGETS: dict[str, Target] = {
    "Lemma 4.3(i)": Target(_distance, learns=False),
    "Lemma 4.3(ii)": Target(_weights, learns=False),
    "Lemma 4.4(iv)": Target(_weights, learns=False),
    "Theorem 4.6(i-1)": Target(_learning("grad_f_sq"), learns=True),
    "Theorem 4.6(i-2)": Target(_infeasibility, learns=False),
    "Theorem 4.9(i-1)": Target(_learning("f_gap_avg"), learns=True),
    "Theorem 4.9(i-2)": Target(_infeasibility, learns=False),
    "Theorem 4.10(i)": Target(_learning("grad_f_sq"), learns=True),
}

__all__ = ["GAME_ROUNDS", "TARGETS", "Target", "learning_constants", "ratios"]
