"""The exact expectations of Algorithm 1 on scalar quadratics with noise, in float64, for a whole population.

With y = x_hat_r - x*, S = sum_k (x_bar_k - x*) and Q = sum_k (x_bar_k - x*)^2 over the counted steps, a round is
affine in y plus independent noise, so the seven numbers (1, E y, E S, E y^2, E y S, E S^2, E Q) move by one linear
map. Inside a round client i has x_{i,t} - x* = e_i + s_i^t (y - e_i) - gamma sum_{j < t} s_i^{t-1-j} noise_j with
s_i = 1 - gamma a_i and e_i = c_i - x*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from verify.searching.population import Population

ROUNDS = 96  # followed one by one; later rounds have weights that do not move, see `settled`
SETTLED = 1e-9  # relative to ||N*||_1
_ONE, _Y, _S, _YY, _YS, _SS, _Q = range(7)


@dataclass(frozen=True)
class Moments:
    """E f(x_bar^avg) - f*, the mean of E||grad f(x_bar_k)||^2 over the counted steps, and both starts, each [P]."""

    f_gap_avg: Float[np.ndarray, " P"]
    grad_f_sq: Float[np.ndarray, " P"]
    f_gap: Float[np.ndarray, " P"]
    D_r_hat: Float[np.ndarray, " P"]


def moments(pop: Population, N: Float[np.ndarray, "P rounds_1 m"], average: str) -> Moments:
    """The expectations for weights N_r / sum N_r (`average`: "p_now" or "p_next" inside a round).

    Args:
        N: the game's path N_0, ..., N_ROUNDS; every r_hat is below ROUNDS.
    """
    p = N / N.sum(axis=2, keepdims=True)
    maps = _maps(pop, p[:, :-1] if average == "p_now" else p[:, 1:], p[:, 1:])
    y = pop.x_0 - pop.x_star
    state = np.zeros((pop.size, 7))
    state[:, _ONE], state[:, _Y], state[:, _YY] = 1.0, y, y * y
    start = state[:, _YY]
    for r in range(ROUNDS):
        at_start = pop.r_hat == r
        if np.any(at_start):
            state[np.ix_(at_start, (_S, _YS, _SS, _Q))] = 0.0
            start = np.where(at_start, state[:, _YY], start)
        moved = np.matmul(maps[:, r], state[..., None])[..., 0]
        state = np.where((r < pop.R)[:, None], moved, state)
    rest = np.where(at_equilibrium(pop, N)[:, None], pop.p_star, p[:, -1])[:, None]
    state = _tail(_maps(pop, rest, rest)[:, 0], state, np.maximum(pop.R - ROUNDS, 0))
    steps = pop.H * (pop.R - pop.r_hat)
    half = pop.mean_curvature / 2
    return Moments(
        half * state[:, _SS] / steps.astype(float) ** 2,
        pop.mean_curvature**2 * state[:, _Q] / steps,
        half * start,
        np.sqrt(start),
    )


def at_equilibrium(pop: Population, N: Float[np.ndarray, "P rounds_1 m"]) -> Bool[np.ndarray, " P"]:
    """Whether the path has come to N*, up to what its rounding can tell."""
    return np.asarray(np.linalg.norm(N[:, -1] - pop.N_star, axis=1) <= SETTLED * pop.N_star.sum(axis=1))


def settled(pop: Population, N: Float[np.ndarray, "P rounds_1 m"]) -> Bool[np.ndarray, " P"]:
    """Whether the rounds after the last one followed may be taken with weights that do not move."""
    creep = np.linalg.norm(N[:, -1] - N[:, -2], axis=1) * np.maximum(pop.R - ROUNDS, 0)
    slow = creep <= SETTLED * pop.N_star.sum(axis=1)
    return np.asarray((pop.R <= ROUNDS) | at_equilibrium(pop, N) | slow)


def _tail(
    base: Float[np.ndarray, "P 7 7"], state: Float[np.ndarray, "P 7"], rounds: np.ndarray
) -> Float[np.ndarray, "P 7"]:
    """base^rounds state, by repeated squaring."""
    while np.any(rounds > 0):
        odd = (rounds & 1).astype(bool)
        state = np.where(odd[:, None], np.matmul(base, state[..., None])[..., 0], state)
        base, rounds = np.matmul(base, base), rounds >> 1
    return state


def _maps(
    pop: Population, w: Float[np.ndarray, "P K m"], u: Float[np.ndarray, "P K m"]
) -> Float[np.ndarray, "P K 7 7"]:
    """The linear map of every round: weights w inside it, u at its end."""
    steps = np.arange(int(pop.H.max()))
    inside = (steps[None, :] < pop.H[:, None]).astype(float)[..., None]  # [P, t, 1]
    s = 1.0 - pop.gamma[:, None] * pop.curvature
    power = s[:, None, :] ** steps[None, :, None] * inside
    e = pop.centre - pop.x_star[:, None]
    last = s ** pop.H[:, None].astype(float)
    alpha = np.matmul(w, power.swapaxes(1, 2))
    beta = np.matmul(w, ((inside - power) * e[:, None, :]).swapaxes(1, 2))
    A, b = (u * last[:, None]).sum(axis=2), (u * ((1 - last) * e)[:, None]).sum(axis=2)
    B, d = alpha.sum(axis=2), beta.sum(axis=2)
    # A unit of noise j steps before the round's end moves x_{i,T_{r+1}} by s^j and the sum over the rest by `sums`.
    sums = (np.cumsum(power, axis=1) - power) * inside
    squares = (np.cumsum(power**2, axis=1) - power**2) * inside
    noise = ((pop.gamma * pop.nu) ** 2)[:, None]

    def spread(
        left: Float[np.ndarray, "P K m"],
        right: Float[np.ndarray, "P K m"],
        each: Float[np.ndarray, "P m"],
    ) -> Float[np.ndarray, "P K"]:
        return noise * (left * right * each[:, None]).sum(axis=2)

    M = np.zeros((*A.shape, 7, 7))
    M[..., _ONE, _ONE] = 1.0
    M[..., _Y, _ONE], M[..., _Y, _Y] = b, A
    M[..., _S, _ONE], M[..., _S, _Y], M[..., _S, _S] = d, B, 1.0
    M[..., _YY, _ONE] = b * b + spread(u, u, (power**2).sum(axis=1))
    M[..., _YY, _Y], M[..., _YY, _YY] = 2 * A * b, A * A
    M[..., _YS, _ONE] = b * d + spread(u, w, (power * sums).sum(axis=1))
    M[..., _YS, _Y], M[..., _YS, _S] = A * d + b * B, b
    M[..., _YS, _YY], M[..., _YS, _YS] = A * B, A
    M[..., _SS, _ONE] = d * d + spread(w, w, (sums**2).sum(axis=1))
    M[..., _SS, _Y], M[..., _SS, _S], M[..., _SS, _YY] = 2 * B * d, 2 * d, B * B
    M[..., _SS, _YS], M[..., _SS, _SS] = 2 * B, 1.0
    M[..., _Q, _ONE] = (beta**2).sum(axis=2) + spread(w, w, squares.sum(axis=1))
    M[..., _Q, _Y], M[..., _Q, _YY] = 2 * (alpha * beta).sum(axis=2), (alpha**2).sum(axis=2)
    M[..., _Q, _Q] = 1.0
    return M


__all__ = ["ROUNDS", "Moments", "at_equilibrium", "moments", "settled"]
