"""mu_F and L_F of a map F on a box, attacked: extreme eigenvalues of the Jacobian, climbed over the box."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from games.user import ParticipationGame
from verify.errors import InputError
from verify.estimating.ascent import Found, ascend, best_of, slope_by_differences
from verify.estimating.clients import Ball

Profile = Float[np.ndarray, " m"]
SPREAD = 1e-4  # of an interval's width: half the distance of a pair of points


def modulus(game: ParticipationGame, rng: np.random.Generator, starts: int, steps: int) -> Found:
    """The least (F(x) - F(y))'(x - y)/||x - y||^2 found: mu_F is no larger. Its point is x, y flattened."""
    found = _extreme(game, _flattest, lambda F, s: -float(F @ s) / float(s @ s), rng, starts, steps)
    return Found(-found.value, found.point)


def lipschitz(game: ParticipationGame, rng: np.random.Generator, starts: int, steps: int) -> Found:
    """The largest ||F(x) - F(y)||/||x - y|| found: L_F is no smaller. Its point is x, y flattened."""

    def quotient(F: Profile, s: Profile) -> float:
        return float(np.linalg.norm(F)) / float(np.linalg.norm(s))

    return _extreme(game, _steepest, quotient, rng, starts, steps)


def _extreme(
    game: ParticipationGame,
    direction: Callable[[Float[np.ndarray, "k k"]], Float[np.ndarray, " k"]],
    quotient: Callable[[Profile, Profile], float],
    rng: np.random.Generator,
    starts: int,
    steps: int,
) -> Found:
    low, high, free = _box(game)
    offset = SPREAD * float(np.min((high - low)[free]))
    ball = Ball((low + high) / 2.0, float(np.linalg.norm(high - low)) / 2.0)

    def pair(N: Profile) -> tuple[Profile, Profile]:
        """Two points of the box around N, apart along the extreme direction of the Jacobian there."""
        centre = np.clip(N, low + offset * free, high - offset * free)
        steps_in = offset * np.eye(low.size)[free]
        columns = [(game.F(centre + s) - game.F(centre - s))[free] / (2.0 * offset) for s in steps_in]
        step = np.zeros(low.size)
        step[free] = offset * direction(np.stack(columns, axis=1))
        return centre + step, centre - step

    def score(N: Profile) -> float:
        x, y = pair(N)
        return quotient(np.asarray(game.F(x)) - game.F(y), x - y)

    begin = [ball.centre, low, high, *(low + (high - low) * rng.uniform(size=(starts, low.size)))]
    slope = slope_by_differences(score, ball, rng)
    best = best_of([ascend(score, slope, N, ball, steps) for N in begin])
    return Found(best.value, np.concatenate(pair(best.point)))


def _box(game: ParticipationGame) -> tuple[Profile, Profile, np.ndarray]:
    low, high = np.asarray(game.lower, dtype=float), np.asarray(game.upper, dtype=float)
    free = high > low
    if low.shape != high.shape or np.any(low > high) or not np.any(free):
        raise InputError(
            f"lower = {low.tolist()}, upper = {high.tolist()}: give lower <= upper, not all equal"
        )
    return low, high, free


def _flattest(J: Float[np.ndarray, "k k"]) -> Float[np.ndarray, " k"]:
    return np.asarray(np.linalg.eigh((J + J.T) / 2.0)[1][:, 0])


def _steepest(J: Float[np.ndarray, "k k"]) -> Float[np.ndarray, " k"]:
    return np.asarray(np.linalg.svd(J)[2][0])
