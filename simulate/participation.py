"""The participation game's trajectory N_0, ..., N_R, with a running bound on its rounding error.

The game part of Algorithm 1 is deterministic and does not look at the model, so one trajectory serves every
seed of a run, and N_{r+1} is known when round r starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from bounds.core.constant import Constant
from games.welfare import EntropyWelfare, QuadraticWelfare, SoftplusWelfare, Welfare

UNIT = 2.0**-53  # unit roundoff of float64
OUTWARD = (
    1.0 + 2.0**-40
)  # covers the roundings of the error recursion itself (a few dozen operations a round)
# A schedule value is a float power times a float: below four roundings for any libm within 2 ulp.
SCHEDULE_ERROR = 8 * UNIT


@dataclass(frozen=True, eq=False)
class Participation:
    """The trajectory of the game.

    Attributes:
        N: stored iterates, float64 [R + 1, m].
        error: [R + 1], a proven bound on ||N[r] - exact N_r||, where the exact trajectory starts from the
            same float N_0, step sizes and game data and is computed without rounding.
        gamma_tilde_r, lambda_r: the step sizes and regularisation weights used, [R] (lambda_r = 0 for the
            strongly monotone update).
    """

    N: Float[np.ndarray, "rounds m"]
    error: Float[np.ndarray, " rounds"]
    gamma_tilde_r: Float[np.ndarray, " steps"]
    lambda_r: Float[np.ndarray, " steps"]

    @property
    def p(self) -> Float[np.ndarray, "rounds m"]:
        """Weights p_{i,r} = N_{i,r} / sum_j N_{j,r}, [R + 1, m]."""
        return weights(self.N)

    def weighted_average(self, R: int) -> Float[np.ndarray, " m"]:
        """N_bar_R = sum_{r < R} gamma_tilde_r lambda_r N_r / sum_{r < R} gamma_tilde_r lambda_r (Lemma 4.4).

        Raises:
            ValueError: for R outside 1..len(lambda_r), or if every lambda_r is zero.
        """
        w = self.gamma_tilde_r * self.lambda_r
        if not 1 <= R <= len(w):
            raise ValueError(f"R = {R}: the trajectory has rounds 1..{len(w)}")
        if not w[0] > 0:
            raise ValueError("lambda_0 = 0: the weighted average of Lemma 4.4 needs a regularised trajectory")
        return (w[:R, None] * self.N[:R]).sum(axis=0) / w[:R].sum()


def weights(N: Float[np.ndarray, "*batch m"]) -> Float[np.ndarray, "*batch m"]:
    """p_i = N_i / sum_j N_j over the last axis."""
    return N / N.sum(axis=-1, keepdims=True)


def schedule(first: float, power: float, R: int) -> Float[np.ndarray, " R"]:
    """first * (r + 1)^-power for r = 0..R-1."""
    return first * np.arange(1.0, R + 1.0) ** -power


def participation(
    game: Any,
    N_0: Float[np.ndarray, " m"],
    gamma_tilde: float,
    R: int,
    *,
    welfare: Any = None,
    lambda_0: float | None = None,
    a: float = 0.0,
    b: float = 0.0,
) -> Participation:
    """Line 10 of Algorithm 1 for R rounds: N_{r+1} = Pi_box[N_r - gamma_tilde_r (F + lambda_r grad h)(N_r)].

    gamma_tilde_r = gamma_tilde (r + 1)^-a and lambda_r = lambda_0 (r + 1)^-b; without `welfare` and with a =
    0 it is the strongly monotone update with a constant step.

    The error bound runs e_{r+1} = q_r e_r + eps_r: q_r is the Lipschitz constant of the exact step (from the
    game's certified mu_F and L_F; the projection is nonexpansive) and eps_r the rounding error of the float
    step, componentwise, zero where float and exact step both land on the same end of the box. It never exceeds
    the box's diagonal, and is 0 where the exact step surely lands in the corner of the box that the float step does.

    Args:
        game: a game (m, lower, upper, F, F_error, constants).
        welfare: welfare loss h of `games.welfare`; needs lambda_0. Where the rounding of its gradient is not
            known (`gradient_error`), `error` is infinite from the first round on.

    Raises:
        ValueError: for a bad N_0, step size, R or schedule, naming it.
    """
    N_0 = np.asarray(N_0, dtype=float)
    _check(game, N_0, gamma_tilde, R, welfare, lambda_0, a, b)
    steps = schedule(gamma_tilde, a, R)
    lambdas = np.zeros(R) if welfare is None else schedule(float(lambda_0 or 0.0), b, R)
    rate = step_lipschitz(game, welfare, steps, lambdas)
    N, direction = np.empty((R + 1, game.m)), np.empty((R, game.m))
    N[0] = N_0
    for r in range(R):
        direction[r] = game.F(N[r])
        if welfare is not None:
            direction[r] += lambdas[r] * welfare.gradient(N[r])
        N[r + 1] = np.minimum(np.maximum(N[r] - steps[r] * direction[r], game.lower), game.upper)
        if welfare is None and a == 0.0 and np.array_equal(N[r + 1], N[r]):
            N[r + 1 :], direction[r:] = (
                N[r],
                direction[r],
            )  # a fixed point of the float step: nothing moves any more
            break
    local, beyond = _local_errors(
        game, welfare, N[:-1], direction, steps[:, None], lambdas[:, None], a != 0.0
    )
    lengths = np.sqrt((local * local).sum(axis=1)) * (OUTWARD + 2 * game.m * UNIT)
    # Where the map only just fails to contract the recursion grows; yet both iterates lie in the box.
    diagonal = float(np.linalg.norm(game.upper - game.lower)) * (OUTWARD + 2 * game.m * UNIT)
    ceiling = diagonal if np.all(np.isfinite(lengths)) else np.inf
    error = np.zeros(R + 1)
    with np.errstate(over="ignore"):  # a bound beyond float64 is infinite: nothing is proven then
        for r in range(R):
            carried = rate[r] * error[r] * OUTWARD
            # Cut off on every side by more than the exact step's target can differ: both land in the same corner.
            error[r + 1] = 0.0 if carried < beyond[r] else min((carried + lengths[r]) * OUTWARD, ceiling)
    return Participation(N, error, steps, lambdas)


def _local_errors(
    game: Any,
    welfare: Any,
    N: Float[np.ndarray, "R m"],
    direction: Float[np.ndarray, "R m"],
    steps: Float[np.ndarray, "R 1"],
    lambdas: Float[np.ndarray, "R 1"],
    scheduled: bool,
) -> tuple[Float[np.ndarray, "R m"], Float[np.ndarray, " R"]]:
    """Rounding error of one float step from the stored N_r, componentwise, in every round.

    Zero where the float and the exact step are both cut off at the same end of the box. The second array: by how much
    that exact step is cut off at least, over all components (negative where one is not).
    """
    slack, relative = game.F_error(N), UNIT
    if welfare is not None:
        pull = lambdas * welfare.gradient(N)
        slack = slack + lambdas * gradient_error(welfare, N) + (SCHEDULE_ERROR + UNIT) * np.abs(pull)
        slack = slack + UNIT * np.abs(direction)
    if scheduled:
        relative = UNIT + SCHEDULE_ERROR
    move = steps * direction
    target = N - move
    local = (steps * slack + relative * np.abs(move) + UNIT * np.abs(target)) * OUTWARD
    beyond = (np.maximum(game.lower - target, target - game.upper) - local).min(axis=1)
    local[(target + local <= game.lower) | (target - local >= game.upper)] = 0.0
    return local, beyond


def gradient_error(welfare: Welfare, N: Float[np.ndarray, "*batch m"]) -> Float[np.ndarray, "*batch m"]:
    """A bound on the rounding error of welfare.gradient(N), elementwise; infinite for a loss of another kind.

    Soft-plus: the sum of m terms errs by at most m u sum |N_i|, its logistic function moves by a quarter of that and
    errs by 8 u itself; quadratic: two roundings; entropy: a logarithm within 2 ulp and a sum.
    """
    if isinstance(welfare, SoftplusWelfare):
        of_sum = N.shape[-1] * UNIT * np.abs(N).sum(axis=-1, keepdims=True) / 4
        return (np.zeros_like(N) + of_sum + 8 * UNIT) * OUTWARD
    if isinstance(welfare, QuadraticWelfare):
        return 3 * UNIT * np.abs(welfare.gradient(N))
    if isinstance(welfare, EntropyWelfare):
        return (4 * UNIT * np.abs(np.log(N)) + UNIT * np.abs(1 + np.log(N))) * OUTWARD
    return np.full(N.shape, np.inf)


def step_lipschitz(
    game: Any, welfare: Any, steps: Float[np.ndarray, " R"], lambdas: Float[np.ndarray, " R"]
) -> Float[np.ndarray, " R"]:
    """Per round, a bound on the Lipschitz constant of N -> N - gamma_tilde_r (F + lambda_r grad h)(N)."""
    constants = game.constants()
    mu = (max(_end(constants["mu_F"], -1), 0.0) if "mu_F" in constants else 0.0) + np.zeros(len(steps))
    L = _end(constants["L_F"], +1) + np.zeros(len(steps))
    if welfare is not None:
        of_h = welfare.constants(game.lower, game.upper)
        L = L + lambdas * (1 + SCHEDULE_ERROR) * _end(of_h["L_h"], +1)
        mu = mu + lambdas * (1 - SCHEDULE_ERROR) * max(_end(of_h["sigma_h"], -1), 0.0)
    largest = steps * (1 + SCHEDULE_ERROR)
    square = 1.0 - 2.0 * steps * (1 - SCHEDULE_ERROR) * mu + (largest * L) ** 2
    return np.sqrt(np.maximum(square, 0.0)) * OUTWARD + 4 * UNIT


def _end(constant: Constant, side: int) -> float:
    """The lower (-1) or upper (+1) end of a scalar constant."""
    value, radius = float(constant.value), float(constant.radius)
    return value + side * radius * OUTWARD


def _check(
    game: Any,
    N_0: Float[np.ndarray, " n_0"],
    gamma_tilde: float,
    R: int,
    welfare: Any,
    lambda_0: float | None,
    a: float,
    b: float,
) -> None:
    if N_0.shape != (game.m,):
        raise ValueError(f"N_0 has shape {N_0.shape}: the game has {game.m} clients")
    if not np.all((game.lower <= N_0) & (game.upper >= N_0)):
        i = int(np.flatnonzero(~((game.lower <= N_0) & (game.upper >= N_0)))[0])
        raise ValueError(f"N_0[{i}] = {N_0[i]}: outside the box [{game.lower[i]}, {game.upper[i]}]")
    if not (np.isfinite(gamma_tilde) and gamma_tilde > 0):
        raise ValueError(f"gamma_tilde = {gamma_tilde}: give a number > 0")
    if R < 1:
        raise ValueError(f"R = {R}: give at least one round")
    if not (a >= 0 and b >= 0):
        raise ValueError(f"a = {a}, b = {b}: the powers of the schedules are >= 0")
    if welfare is None and lambda_0 is not None:
        raise ValueError(f"lambda_0 = {lambda_0}: a regularised update needs a `welfare` loss")
    if welfare is not None and not (lambda_0 is not None and lambda_0 > 0):
        raise ValueError(f"lambda_0 = {lambda_0}: a regularised update needs a number > 0")
