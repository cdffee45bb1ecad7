"""The attack on Lemmas 4.3 and 4.4, by games of two clients.

F(N) = turn J (N - z) + pull (N - z), J a quarter turn, and h(N) = bend ||N - c||^2/2 + g^T N. With pull = 0
the game is merely monotone: F(N)^T (M - N) is linear in N, so the dual gap of M is attained at a corner of
the box; its equilibrium is z alone for turn > 0, and every point of the box is one for turn = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .attack import ratio
from .exact import Array
from .instances import ABOVE, positive, squash
from .section_4 import lemma_4_3_i, lemma_4_3_i_sharp, lemma_4_3_ii, lemma_4_3_ii_sharp
from .section_4 import lemma_4_4_i as upper
from .section_4 import lemma_4_4_ii as gap_bound

J = np.array([[0.0, 1.0], [-1.0, 0.0]])
GAME_SIZE = 14


@dataclass(frozen=True)
class Duel:
    """The game of two clients on the box [lower, upper]."""

    turn: float
    pull: float
    bend: float
    z: Array
    c: Array
    g: Array
    lower: Array
    upper: Array
    N_0: Array
    gammas: Array
    lambdas: Array

    def F(self, N: Array) -> Array:
        return self.turn * (J @ (N - self.z)) + self.pull * (N - self.z)

    def slope(self, N: Array) -> Array:
        return self.bend * (N - self.c) + self.g

    def h(self, N: Array) -> float:
        return float(self.bend * ((N - self.c) ** 2).sum() / 2 + self.g @ N)

    def clip(self, N: Array) -> Array:
        return np.minimum(np.maximum(N, self.lower), self.upper)

    def trajectory(self) -> Array:
        N = [self.N_0]
        for gamma, weight in zip(self.gammas, self.lambdas, strict=True):
            N.append(self.clip(N[-1] - gamma * (self.F(N[-1]) + weight * self.slope(N[-1]))))
        return np.array(N)

    def corners(self) -> Array:
        return np.array(
            [[x, y] for x in (self.lower[0], self.upper[0]) for y in (self.lower[1], self.upper[1])]
        )

    def best(self) -> Array:
        """The equilibrium that h selects: z, or the minimiser of h on the box when every point is one."""
        if self.turn > 0 or self.pull > 0:
            return self.z
        return self.clip(self.c - self.g / self.bend)

    def constants(self) -> dict[str, Any]:
        """C_F and C_H are attained at corners: norms of affine maps are convex."""
        corners = self.corners()
        C_F = max(float(np.linalg.norm(self.F(N))) for N in corners)
        C_H = max(float(np.linalg.norm(self.slope(N))) for N in corners)
        D_N = float(np.linalg.norm(self.upper - self.lower)) / 2**0.5
        sequences = {"gamma_tilde_r": self.gammas, "lambda_r": self.lambdas}
        return {"C_F": C_F * ABOVE, "C_H": C_H * ABOVE, "D_N": D_N * ABOVE, **sequences}

    def average(self) -> Array:
        weights = self.gammas * self.lambdas
        return weights @ self.trajectory()[:-1] / weights.sum()


def duel(theta: Array, merely: bool) -> Duel:
    """Every vector of GAME_SIZE + 2 R parameters is a game; a merely monotone one has turn = 0 at times."""
    R = (theta.size - GAME_SIZE) // 2
    lower, upper = 1 + positive(theta[:2], 2), np.zeros(2)
    upper = lower + positive(theta[2:4], 3)
    inside = lower + squash(theta[4:10].reshape(3, 2)) * (upper - lower)
    turn = 0.0 if merely and theta[10] < 0 else float(positive(theta[10], 3))
    gammas, lambdas = positive(theta[GAME_SIZE : GAME_SIZE + R]), positive(theta[GAME_SIZE + R :])
    return Duel(
        turn=turn,
        pull=0.0 if merely else 1.0,
        bend=float(positive(theta[11])),
        z=inside[0],
        c=inside[1],
        g=theta[12:14],
        lower=lower,
        upper=upper,
        N_0=inside[2],
        gammas=gammas,
        lambdas=np.sort(lambdas)[::-1].copy(),
    )


def attack_4_4_i(theta: Array) -> float:
    d = duel(theta, merely=True)
    return ratio(d.h(d.average()) - d.h(d.best()), upper(**d.constants()))


def attack_4_4_i_lower(theta: Array) -> float:
    """h(N*) - h(N_bar) against C_H dist(N_bar, SOL)."""
    d = duel(theta, merely=True)
    if d.turn == 0:
        return 0.0
    far = float(np.linalg.norm(d.average() - d.z))
    return ratio(d.h(d.best()) - d.h(d.average()), d.constants()["C_H"] * far * ABOVE)


def attack_4_4_ii(theta: Array) -> float:
    """The dual gap: max over the box of F(N)^T (N_bar - N), linear in N here."""
    d, M = duel(theta, merely=True), duel(theta, merely=True).average()
    return ratio(max(float(d.F(N) @ (M - N)) for N in d.corners()), gap_bound(**d.constants()))


def attack_4_3(theta: Array, weights: bool, sharp: bool) -> float:
    """The worst round r >= 1 of a run with a constant step (at r = 0 both sides of (i) are equal)."""
    d = duel(theta, merely=False)
    L_F = float(np.hypot(d.turn, 1.0)) * ABOVE
    widest = 2.0 if sharp else 1.0
    gamma = widest * float(squash(theta[11])) / L_F**2 / ABOVE
    d = Duel(**{**d.__dict__, "gammas": np.full(len(d.gammas), gamma), "lambdas": 0 * d.lambdas})
    N = d.trajectory()
    p, p_star = N / N.sum(axis=1, keepdims=True), d.z / d.z.sum()
    seen = np.abs(p - p_star).max(axis=1) if weights else np.linalg.norm(N - d.z, axis=1)
    c = {"m": 2, "mu_F": 1.0, "L_F": L_F, "gamma_tilde": gamma, "N_star_l1": float(d.z.sum())}
    c["dist_0"] = float(np.linalg.norm(d.N_0 - d.z))
    formulas = {
        (0, 0): lemma_4_3_i,
        (0, 1): lemma_4_3_i_sharp,
        (1, 0): lemma_4_3_ii,
        (1, 1): lemma_4_3_ii_sharp,
    }
    formula = formulas[int(weights), int(sharp)]
    # one step rounds N by a few ulps of its size, which a long contraction would count as a violation
    rounding = 4 * np.finfo(float).eps * (float(d.upper.max()) if not weights else 1.0)
    return max(ratio(seen[r] - (r + 1) * rounding, formula(**c, r=r)) for r in range(1, len(N)))


GAME_ATTACKS = {
    "Lemma 4.3(i), corrected": lambda t: attack_4_3(t, weights=False, sharp=False),
    "Lemma 4.3(i), sharp": lambda t: attack_4_3(t, weights=False, sharp=True),
    "Lemma 4.3(ii), corrected": lambda t: attack_4_3(t, weights=True, sharp=False),
    "Lemma 4.3(ii), sharp": lambda t: attack_4_3(t, weights=True, sharp=True),
    "Lemma 4.4(i)": attack_4_4_i,
    "Lemma 4.4(i-lower)": attack_4_4_i_lower,
    "Lemma 4.4(ii)": attack_4_4_ii,
}
