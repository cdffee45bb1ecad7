"""Quantities of the participation alone: deterministic, known but for the rounding of N_r and the error of N*."""

from __future__ import annotations

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from games.certificates import evaluate
from simulate.participation import SCHEDULE_ERROR, gradient_error, schedule
from verify.observed import Curve, Measured, Unobserved
from verify.setting import Setting

U = float(np.finfo(np.float64).eps)
OUT = 1 + 1e-12  # covers the roundings of an error bound itself
MOST = 600  # points of a curve whose envelope is evaluated point by point


def thinned(first: int, last: int, most: int = MOST) -> Int[np.ndarray, " k"]:
    """At most `most` integers of first..last with both ends: all of them, or log-spaced from the first."""
    if last - first < most:
        return np.arange(first, last + 1)
    steps = np.unique(np.rint(np.geomspace(1, last - first, most)).astype(np.int64))
    return np.concatenate([[first], first + steps])


def distances(setup: Setting, run: xr.Dataset) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """||N_r - N*|| for r = 0..R and a proven bound on its error: run, equilibrium and this very sum."""
    distance = np.linalg.norm(run["N"].values - setup.N_star, axis=1)
    rounding = (setup.game.m + 4) * U * distance
    return distance, (run["N_error"].values + setup.N_star_error + rounding) * (1 + 4 * U)


def weight_slack(setup: Setting, run: xr.Dataset) -> Float[np.ndarray, " rounds"]:
    """A bound on the error of each p_{i,r}: |p_i(N) - p_i(N')| <= sqrt(m - 1) ||N - N'|| / ||N'||_1."""
    least = np.maximum(run["N"].values.sum(axis=1) - np.sqrt(setup.game.m) * run["N_error"].values, 0.0)
    with np.errstate(divide="ignore"):
        moved = np.sqrt(setup.game.m) * run["N_error"].values / least
    return np.where(least > 0, moved + (2 * setup.game.m + 8) * U, np.inf) * OUT


def _none(rounds: Int[np.ndarray, " k"]) -> np.ndarray:
    return np.zeros(rounds.size, dtype=bool)


def ne_distance(setup: Setting, run: xr.Dataset) -> Curve:
    """||N_r - N*||, an equality at r = 0."""
    values, error = distances(setup, run)
    rounds = run["round"].values.astype(int)
    diameter = float(np.linalg.norm(setup.game.upper - setup.game.lower)) * OUT
    return Curve("r", rounds, values, error, rounds == 0, diameter)


def _weight_errors(
    setup: Setting, run: xr.Dataset
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """max_i |p_{i,r} - p*_i| and its error (sharp Lemma 4.3(ii) turns a distance of N into one of p)."""
    m, l1 = setup.game.m, float(setup.N_star.sum())
    values = np.abs(run["p"].values - setup.p_star).max(axis=1)
    moved = np.sqrt(m) * setup.N_star_error / max(l1 - np.sqrt(m) * setup.N_star_error, np.finfo(float).tiny)
    return values, (weight_slack(setup, run) + moved + (2 * m + 8) * U) * OUT


def weight_error(setup: Setting, run: xr.Dataset) -> Curve:
    """max_i |p_{i,r} - p*_i|."""
    values, error = _weight_errors(setup, run)
    rounds = run["round"].values.astype(int)
    return Curve("r", rounds, values, error, _none(rounds), 1.0)


def weight_error_now(setup: Setting, run: xr.Dataset) -> Curve:
    """max_i |p_{i,r} - p*_i| against d_r, the measured distance of the same round."""
    values, error = _weight_errors(setup, run)
    rounds = run["round"].values.astype(int)
    return Curve("r", rounds, values, error, _none(rounds), 1.0, {"d_r": Measured(*distances(setup, run))})


def ne_infeasibility(setup: Setting, run: xr.Dataset) -> Curve:
    """E||N_{r*} - N*||^2 for r* uniform on {r_hat, ..., R' - 1}: the exact mean over r, for every R' <= R."""
    distance, error = distances(setup, run)
    r_hat = setup.r_hat
    d, e = distance[r_hat:-1], error[r_hat:-1]
    count = np.arange(1, d.size + 1)
    values = np.cumsum(d**2) / count
    slack = np.cumsum(2 * d * e + e**2) / count + (count + 4) * U * values
    rounds = r_hat + count
    identity = (rounds == 1) if r_hat == 0 else _none(rounds)
    diameter = float(((setup.game.upper - setup.game.lower) ** 2).sum()) * OUT
    return Curve("R", rounds, values, slack * OUT, identity, diameter)


def projected_step(
    setup: Setting, N: Float[np.ndarray, "rounds m"]
) -> tuple[
    Float[np.ndarray, "R m"], Float[np.ndarray, "R m"], Float[np.ndarray, "R m"], Float[np.ndarray, "R m"]
]:
    """Line 10 of Algorithm 1 from each row of N but the last, taken as it is.

    Returns:
        (projected, room, slope, slack): the step, a bound on its rounding, and F (+ lambda_r grad h) with its own.
    """
    game, config, R = setup.game, setup.config, len(N) - 1
    pairs = [evaluate(game, N[r]) for r in range(R)]
    slope, slack = np.array([v for v, _ in pairs]), np.array([e for _, e in pairs])
    steps = schedule(config.gamma_tilde, config.a, R)[:, None]
    if setup.welfare is not None:
        lambdas = schedule(float(config.lambda_0 or 0.0), config.b, R)[:, None]
        pull = lambdas * setup.welfare.gradient(N[:-1])
        slack = (
            slack + lambdas * gradient_error(setup.welfare, N[:-1]) + (SCHEDULE_ERROR + 2 * U) * np.abs(pull)
        )
        slope = slope + pull
        slack = slack + U * np.abs(slope)
    target = N[:-1] - steps * slope
    projected = np.clip(target, game.lower, game.upper)
    room = steps * slack + (SCHEDULE_ERROR + 4 * U) * (np.abs(N[:-1]) + np.abs(steps * slope))
    room = np.where(_cut(target, room, game.lower, game.upper), 0.0, room)
    return projected, room * OUT, slope, slack * OUT


def participation_next(setup: Setting, run: xr.Dataset) -> Curve:
    """N_{i,r+1} against the projected step from N_{i,r}: the client that fits worst, in every round.

    The recorded N_r is taken as it is, so only this one step's rounding counts: that of F (and of lambda_r
    grad h), and that of the recorded N_{r+1}.
    """
    game, config = setup.game, setup.config
    N, R = run["N"].values, run.sizes["round"] - 1
    projected, room, slope, slack = projected_step(setup, N)
    room = room + U * np.abs(N[1:])
    steps = schedule(config.gamma_tilde, config.a, R)
    worst = np.argmax(np.abs(N[1:] - projected) / np.maximum(room, np.finfo(float).tiny), axis=1)
    at = (np.arange(R), worst)
    along = {
        "N_i": Measured(N[:-1][at], np.zeros(R)),
        "F_i": Measured(slope[at], slack[at]),
        "gamma_tilde": Measured(steps, SCHEDULE_ERROR * steps),
        "lower": Measured(game.lower[worst], np.zeros(R)),
        "upper": Measured(game.upper[worst], np.zeros(R)),
    }
    rounds = np.arange(R)
    size = float(np.max(np.abs(N)))
    return Curve("r", rounds, N[1:][at], room[at] * OUT, _none(rounds), along=along, scale=size)


def _cut(target: np.ndarray, room: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Where exact and float step surely land on the same end of the box."""
    return (target + room <= lower) | (target - room >= upper)


def discount(setup: Setting, run: xr.Dataset) -> Curve:
    """c_k = 1 / prod_{j<k} (1 + m gamma sqrt(delta_{r_j})) at k = T_1, T_2, ..., T_R (Lemma 6.10).

    It does not look at the run: delta_r = delta_0 rho^r comes from the constants, each known to within a
    share, and R factors to the power H multiply these shares.
    """
    shared, m = setup.shared, setup.game.m
    if "gamma_tilde" not in shared or "dist_0" not in shared:
        raise Unobserved("c_k needs the constants of Lemma 4.3: gamma_tilde and ||N_0 - N*||")
    value = {
        n: float(np.asarray(shared[n].value)) for n in ("mu_F", "gamma_tilde", "dist_0", "N_star_l1", "gamma")
    }
    radius = {n: float(np.max(shared[n].radius)) for n in value}
    rho = 1 - value["mu_F"] * value["gamma_tilde"] / 2
    R, H = run.sizes["round"] - 1, setup.config.H
    delta_0 = (m - 1) * value["dist_0"] / value["N_star_l1"]
    share = (
        radius["dist_0"] / max(value["dist_0"], np.finfo(float).tiny) if value["dist_0"] else 0.0
    ) + radius["N_star_l1"] / value["N_star_l1"]
    if radius["mu_F"] or radius["gamma_tilde"] or radius["gamma"]:
        raise Unobserved("c_k needs mu_F, gamma_tilde and gamma as numbers, without a radius")
    terms = m * value["gamma"] * np.sqrt(delta_0) * np.sqrt(rho) ** np.arange(R)
    exponent = np.cumsum(H * np.log1p(terms))
    # each term is off by the share (half of it, by the square root) and r + 8 roundings of rho^(r/2)
    off = np.cumsum(H * terms * (share + (np.arange(R) + 16.0) * U)) + (R + 8) * U * exponent
    rounds = np.arange(1, R + 1)
    error = np.exp(-exponent) * (np.expm1(off) + 4 * U) * OUT
    return Curve("R", rounds, np.exp(-exponent), error, _none(rounds), scale=1.0)
