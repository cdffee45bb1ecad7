"""The families that are searched: points of a unit cube become instances that respect the hypotheses.

Nothing points at a known counterexample: games, losses, starts, schedules, H and R are drawn from wide ranges, most
of them on a log scale, and every step size is a share of the largest that the hypotheses allow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from bounds import Statement
from verify.searching.moments import ROUNDS
from verify.searching.objective import GAME_ROUNDS, TARGETS, learning_constants
from verify.searching.population import Population
from verify.searching.sides import feasible, limit, own_pair

REGULARISED = ("Lemma 4.4", "Theorem 4.10")
LARGEST_H = 32
LARGEST_SPAN = 1e5  # rounds counted
LATEST_START = 64  # the largest r_hat: below `moments.ROUNDS`
_BELOW = 1 - 1e-9  # keeps the largest step inside its limit, rounding included


@dataclass(frozen=True)
class Family:
    """Instances of m clients for one statement.

    Attributes:
        noisy: whether the gradients have noise (the losses alone otherwise).
    """

    statement: Statement
    m: int
    noisy: bool = False

    @property
    def learns(self) -> bool:
        """Whether losses are part of an instance."""
        return TARGETS[self.statement.id].learns

    @property
    def dimension(self) -> int:
        """How many numbers in [0, 1] make an instance."""
        game = self.m * self.m + 5 * self.m + 3
        return game + 3 + (2 * self.m + 7 if self.learns else 0) + (self.m + 5 if self.regularised else 0)

    @property
    def regularised(self) -> bool:
        """Whether the statement is about the iteratively regularised update."""
        return self.statement.id.startswith(REGULARISED)

    def decode(self, z: Float[np.ndarray, "D P"]) -> Population:
        """The instances of the columns of `z`."""
        take = _Take(z)
        pop = _game(self.m, take)
        pop = self._schedules(pop, take) if self.regularised else pop
        rounds = ROUNDS if self.learns else GAME_ROUNDS
        span = np.rint(take.log(0, np.log10(LARGEST_SPAN if self.learns else GAME_ROUNDS / 2)))
        extra = np.rint(take.log(0, 1.5)) - 1
        if self.learns:
            pop = self._losses(pop, take)
        largest = limit(self.statement, "gamma_tilde", pop.game_constants())
        largest = np.where(np.isfinite(largest), largest, 1 / pop.game_constants()["L_F"])
        share = take.log(-12, 0) if self.regularised else self.share(take)
        pop = replace(pop, gamma_tilde=largest * share)
        r_hat = np.minimum(self._first_round(pop) + extra, LATEST_START).astype(int)
        R = np.minimum(r_hat + span, np.inf if self.learns else rounds).astype(int)
        pop = replace(pop, r_hat=r_hat, R=R)
        if self.learns:
            with np.errstate(all="ignore"):
                gamma = limit(
                    self.statement, "gamma", learning_constants(self.statement, pop, pop.path(rounds))
                )
            pop = replace(pop, gamma=np.where(np.isfinite(gamma), gamma, 0.0) * self.share(take))
        return pop

    @staticmethod
    def share(take: _Take) -> Float[np.ndarray, " P"]:
        """The share of the largest admissible step: from a hundredth to all of it."""
        return take.log(-2, 0) * _BELOW

    def _schedules(self, pop: Population, take: _Take) -> Population:
        """Powers 0 < b < a < 1 - b, a social target, and for half of the instances a merely monotone game: a skew A,
        in which for an odd m the last client does not care (so that the equilibria do not hang on a rounding)."""
        merely = take.flat(1)[:, 0] > 0.5
        skew = (pop.A - pop.A.swapaxes(1, 2)) / 2
        if self.m % 2:
            skew[:, -1, :] = skew[:, :, -1] = 0.0
        away = take.signed(-3, 1)[:, None] * pop.N_star * (2 * take.flat(self.m) - 1)
        b = take.flat(1)[:, 0] / 2
        return replace(
            pop,
            A=np.where(merely[:, None, None], skew, pop.A),
            push=np.where(merely[:, None], 0.0, pop.push),
            target=pop.N_star + np.where(merely[:, None], 0.0, away),
            lambda_0=take.log(-3, 2),
            a=b + (1 - 2 * b) * take.flat(1)[:, 0],
            b=b,
        )

    def _losses(self, pop: Population, take: _Take) -> Population:
        L, scale = take.log(-3, 3), take.log(-2, 2)
        curvature = L[:, None] * take.logs(self.m, -4, 0)
        centre = scale[:, None] * (2 * take.flat(self.m) - 1)
        pop = replace(pop, curvature=curvature, centre=centre)
        offset = scale * take.signed(-8, 2)
        nu = L * scale * take.log(-8, 2)
        return replace(
            pop,
            x_0=pop.x_star + offset,
            nu=nu if self.noisy else np.zeros_like(nu),
            tradeoff=take.log(-3, 3),
            H=np.rint(take.log(0, np.log10(LARGEST_H))).astype(int),
        )

    def _first_round(self, pop: Population) -> Float[np.ndarray, " P"]:
        """The least r_hat that the hypotheses on it allow; `LATEST_START` where none up to there does."""
        if "r_hat" not in self.statement.symbols:
            return np.zeros(pop.size)
        constants = pop.game_constants() | (pop.problem_constants() if self.learns else {})
        constants |= own_pair(self.statement, constants)
        for name in ("R", "p_star", "f_i_star"):
            constants.pop(name, None)
        grid = np.arange(LATEST_START + 1.0)[None, :]
        wide = {name: np.asarray(value)[:, None] for name, value in constants.items()} | {"r_hat": grid}
        allowed = feasible(self.statement, wide, (pop.size, grid.size))
        return np.where(allowed.any(axis=1), allowed.argmax(axis=1), LATEST_START).astype(float)


@dataclass
class _Take:
    """Takes the coordinates of a point one after the other."""

    z: Float[np.ndarray, "D P"]
    at: int = 0

    def flat(self, count: int) -> Float[np.ndarray, "P count"]:
        """The next `count` coordinates."""
        self.at += count
        return np.ascontiguousarray(self.z[self.at - count : self.at].T)

    def logs(self, count: int, low: float | int, high: float | int) -> Float[np.ndarray, "P count"]:
        """10 to the power of low..high."""
        return np.asarray(10.0 ** (low + (high - low) * self.flat(count)))

    def log(self, low: float | int, high: float | int) -> Float[np.ndarray, " P"]:
        """10 to the power of low..high, one number."""
        return self.logs(1, low, high)[:, 0]

    def signed(self, low: float | int, high: float | int) -> Float[np.ndarray, " P"]:
        """A number of either sign, its size on a log scale."""
        x = 2 * self.flat(1)[:, 0] - 1
        return np.asarray(np.sign(x) * 10.0 ** (low + (high - low) * np.abs(x)))


def _game(m: int, take: _Take) -> Population:
    """A strongly monotone affine game (a rotation is one of them), its box, its equilibrium, and a start.

    A = I + psd C C^T + skew (K - K^T): strengths from 1e-3 to 1e2. Each client's equilibrium sits at its lower bound,
    inside or at its upper bound.
    """
    psd, skew = take.log(-3, 2), take.log(-3, 2)
    lower_triangle, strict = np.tril_indices(m), np.tril_indices(m, -1)
    P = take.z.shape[1]
    C, K = np.zeros((P, m, m)), np.zeros((P, m, m))
    C[:, lower_triangle[0], lower_triangle[1]] = 2 * take.flat(len(lower_triangle[0])) - 1
    K[:, strict[0], strict[1]] = 2 * take.flat(len(strict[0])) - 1
    A = np.eye(m) + psd[:, None, None] * np.matmul(C, C.swapaxes(1, 2))
    A += skew[:, None, None] * (K - K.swapaxes(1, 2))
    N_star, place, width = take.logs(m, 0, 3), take.flat(m), take.logs(m, -2, 2)
    at_lower, at_upper = place < 0.15, place > 0.85
    strength = take.logs(m, -3, 3)
    lower = np.where(at_lower, N_star, np.maximum(N_star - width * N_star, 1.0))
    upper = np.where(at_upper, N_star, N_star + width * N_star)
    push = strength * (at_lower.astype(float) - at_upper.astype(float))
    direction, distance = 2 * take.flat(m) - 1, take.log(-6, 1)
    step = distance[:, None] * np.linalg.norm(N_star, axis=1)[:, None] * direction
    return Population(
        A=A, N_star=N_star, push=push, lower=lower, upper=upper,
        N_0=np.clip(N_star + step, lower, upper), gamma_tilde=np.ones(P),
        lambda_0=np.zeros(P), a=np.zeros(P), b=np.zeros(P), target=N_star,
        curvature=np.ones((P, m)), centre=np.zeros((P, m)), x_0=np.zeros(P), nu=np.zeros(P),
        tradeoff=np.ones(P), gamma=np.full(P, 1 / 32), H=np.ones(P, dtype=int),
        r_hat=np.zeros(P, dtype=int), R=np.full(P, GAME_ROUNDS),
    )  # fmt: skip
