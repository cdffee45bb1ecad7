"""The attack on whole runs: instances climbed towards the worst ratio observed/bound of each statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mpf

from .a_priori import (
    consensus,
    consensus_sharper,
    margin_4_6,
    start_distance,
    start_gap,
    start_limits,
    theorem_4_6_i_1_sharper,
    theorem_4_9_i_1_sharper,
)
from .exact import Array
from .instances import ABOVE, Instance, Shape, decode, random_shape
from .section_4_1 import (
    gamma_limits_4_6,
    gamma_limits_4_6_sharp,
    gamma_limits_4_9,
    gamma_limits_4_9_sharp,
    hypotheses_4_6,
    hypotheses_4_9,
    theorem_4_6_i_1,
    theorem_4_6_i_1_sharp,
    theorem_4_9_i_1,
    theorem_4_9_i_1_sharp,
)


def observed_weights(i: Instance, rounds: slice) -> dict[str, Any]:
    """kappa, s, omega and the Delta_r of the rounds that count."""
    q, m = i.q[rounds], i.shape.m
    return {
        "kappa": min(float(m), m * float(q.max()) * ABOVE),
        "s": 1.0 if i.shape.correlated else min(1.0, float((q**2).sum(axis=1).max()) * ABOVE),
        "omega": max(1.0, float((q / i.p_star).max()) * ABOVE),
        "Delta": np.linalg.norm(q - i.p_star, axis=1) * ABOVE,
        "S": float(i.at_minimiser.sum()) * ABOVE,
        "sigma_sq": float((q @ i.at_minimiser).max()) * ABOVE,
    }


def first_step(i: Instance) -> int:
    return i.shape.H * i.shape.r_hat


def ratio(observed: Any, bound: Any) -> float:
    """observed/bound; an observed 0 is no violation of a bound 0."""
    top, bottom = mpf(float(observed)), mpf(bound)
    return float(top / bottom) if bottom > 0 else (0.0 if top <= 0 else float("inf"))


def growth(observed: Any, bound: Any, start: float) -> float:
    """(observed - start)/(bound - start), at most 1 when the ratio is; a long start does not make it 1.

    A rounding error of the run counts as growth: it is subtracted.
    """
    rounding = 1e-13 * abs(float(observed))
    return ratio(float(observed) - start - rounding, mpf(bound) - mpf(start))


def step_size(i: Instance, limits: dict[str, Any]) -> float:
    return float(min(limits.values())) / ABOVE * i.part


def attack_4_6_sharp(i: Instance) -> float:
    late = observed_weights(i, slice(i.shape.r_hat, None))
    G, B = i.pair
    c = {**i.constants, **late, "G": G, "B": B, "Delta_sq_mean": float((late["Delta"] ** 2).mean())}
    if i.shape.m * (B * late["Delta"].max()) ** 2 > 1 / 8:
        return 0.0
    c["gamma"] = step_size(i, gamma_limits_4_6_sharp(**c))
    seen = i.run(c["gamma"], i.shape.r_hat)
    c["f_gap"] = max(0.0, float(seen.gap[first_step(i)]) + i.rounding)
    return ratio(seen.grad_f_sq[first_step(i) :].mean(), theorem_4_6_i_1_sharp(**c))


def attack_4_6_sharper(i: Instance) -> float:
    late = observed_weights(i, slice(i.shape.r_hat, None))
    G, B = i.pair
    D, H, L = late["Delta"], i.shape.H, i.constants["L"]
    c = {**i.constants, **late, "G": G, "B": B, "Delta_sup": D.max(), "Delta_sq_mean": (D**2).mean()}
    c["gamma"] = i.part * min(1 / L, 0.999 / (2 * L**2 * max(H * (H - 1), 0.1)) ** 0.5) / ABOVE
    if margin_4_6(**c) <= 0.01:
        return 0.0
    seen = i.run(c["gamma"], i.shape.r_hat)
    c["f_gap"] = max(0.0, float(seen.gap[first_step(i)]) + i.rounding)
    return ratio(seen.grad_f_sq[first_step(i) :].mean(), theorem_4_6_i_1_sharper(**c))


def attack_start_gap(i: Instance) -> float:
    early = observed_weights(i, slice(0, i.shape.r_hat))
    G, B = i.pair
    c = {**i.constants, **early, "G": G, "B": B, "Delta_sq_sum": float((early["Delta"] ** 2).sum())}
    c["gamma"] = step_size(i, gamma_limits_4_6_sharp(**c))
    seen = i.run(c["gamma"], 0)
    c["f_gap_0"] = max(0.0, float(seen.gap[0]) + i.rounding)
    return growth(seen.gap[first_step(i)], start_gap(**c), c["f_gap_0"])


def attack_4_9_sharp(
    i: Instance, formula: Callable[..., Any] = theorem_4_9_i_1_sharp, with_ln_2: bool = True
) -> float:
    late, m = observed_weights(i, slice(i.shape.r_hat, None)), i.shape.m
    D = late["Delta"]
    c = {**i.constants, **late, "Delta_mean": D.mean(), "Delta_sq_mean": (D**2).mean()}
    c["A_sum"] = (2 * m**0.5 * D + m * D**2 / 2).sum()
    c["gamma"] = step_size(i, gamma_limits_4_9_sharp(**c) if with_ln_2 else start_limits(**c))
    seen = i.run(c["gamma"], i.shape.r_hat)
    c["D_r_hat"] = float(np.sqrt(seen.X_sq[first_step(i)]))
    return ratio(seen.gap_avg - i.rounding, formula(**c))


def attack_4_9_sharper(i: Instance) -> float:
    return attack_4_9_sharp(i, theorem_4_9_i_1_sharper, with_ln_2=False)


def attack_start_distance(i: Instance) -> float:
    early = observed_weights(i, slice(0, i.shape.r_hat))
    D = early["Delta"]
    c = {**i.constants, **early, "Delta_sum": float(D.sum()), "Delta_sq_sum": float((D**2).sum())}
    c["gamma"] = step_size(i, start_limits(**c))
    seen = i.run(c["gamma"], 0)
    c["X_0"] = float(seen.X_sq[0])
    return growth(seen.X_sq[first_step(i)], start_distance(**c), c["X_0"])


def attack_consensus(i: Instance, formula: Callable[..., Any] = consensus) -> float:
    H, L = i.shape.H, i.constants["L"]
    if H == 1:
        return 0.0
    gamma = 1 / (2 * L * (H * (H - 1)) ** 0.5) / ABOVE * i.part
    seen = i.run(gamma, 0)
    return ratio(seen.e_bar.mean(), formula(**i.constants, gamma=gamma, V=float(seen.V.mean())))


def attack_consensus_sharper(i: Instance) -> float:
    return attack_consensus(i, consensus_sharper)


def attack_4_6(i: Instance) -> float:
    """The corrected edition: delta_0 and rho of a game."""
    G, B = i.pair
    c = {**i.constants, "G": G, "B": B}
    c["gamma"] = step_size(i, gamma_limits_4_6(**c))
    if not all(hypotheses_4_6(**c).values()):
        return 0.0
    seen = i.run(c["gamma"], i.shape.r_hat)
    c["f_gap"] = max(0.0, float(seen.gap[first_step(i)]) + i.rounding)
    return ratio(seen.grad_f_sq[first_step(i) :].mean(), theorem_4_6_i_1(**c))


def attack_4_9(i: Instance) -> float:
    """The corrected edition, with the pair of the corrected Lemma 6.5 (every f_i* is 0 here)."""
    B_sq = 1 / (i.shape.m * float(i.p_star.min()))
    G_sq = 2 * i.constants["L"] * B_sq * max(i.f_star, 0.0)
    c = {**i.constants, "S": float(i.at_minimiser.sum()) * ABOVE}
    c |= {"B": B_sq**0.5 * ABOVE, "G": G_sq**0.5 * ABOVE}
    c["gamma"] = step_size(i, gamma_limits_4_9(**c))
    if not all(hypotheses_4_9(**c).values()):
        return 0.0
    seen = i.run(c["gamma"], i.shape.r_hat)
    c["D_r_hat"] = float(np.sqrt(seen.X_sq[first_step(i)]))
    return ratio(seen.gap_avg - i.rounding, theorem_4_9_i_1(**c))


NONCONVEX = ("quadratic", "cosine")
CONVEX = ("quadratic", "huber")
ATTACKS: dict[str, tuple[Callable[[Instance], float], tuple[str, ...]]] = {
    "Theorem 4.6(i-1), corrected": (attack_4_6, NONCONVEX),
    "Theorem 4.6(i-1), sharp": (attack_4_6_sharp, NONCONVEX),
    "Theorem 4.6(i-1), sharper": (attack_4_6_sharper, NONCONVEX),
    "Start gap, sharp": (attack_start_gap, NONCONVEX),
    "Theorem 4.9(i-1), corrected": (attack_4_9, CONVEX),
    "Theorem 4.9(i-1), sharp": (attack_4_9_sharp, CONVEX),
    "Theorem 4.9(i-1), sharper": (attack_4_9_sharper, CONVEX),
    "Start distance, sharp": (attack_start_distance, CONVEX),
    "Consensus, sharp": (attack_consensus, ("quadratic", "cosine", "huber")),
    "Consensus, sharper": (attack_consensus_sharper, ("quadratic", "cosine", "huber")),
}


def climb(
    name: str, rng: np.random.Generator, restarts: int, steps: int, H_max: int = 10
) -> tuple[float, Shape, Array]:
    """The worst ratio that a (1+1) evolution strategy finds, with its instance."""
    attack, families = ATTACKS[name]
    needs_game = name.endswith("corrected")
    worst: tuple[float, Shape, Array] | None = None
    for _ in range(restarts):
        shape = random_shape(rng, families, needs_game, H_max, first=int(name.startswith("Start")))
        theta, best = walk(lambda t, s=shape: attack(decode(t, s)), shape.size, rng, steps)
        if worst is None or best > worst[0]:
            worst = (best, shape, theta)
    assert worst is not None
    return worst


def walk(
    value: Callable[[Array], float], size: int, rng: np.random.Generator, steps: int
) -> tuple[Array, float]:
    """Sparse normal moves; the width grows with success and shrinks with failure."""
    theta, width = rng.normal(0, 1, size), 0.5
    best = value(theta)
    for _ in range(steps):
        other = theta + width * rng.normal(0, 1, size) * (rng.random(size) < 0.4)
        seen = value(other)
        if seen >= best:
            theta, best, width = other, seen, min(width * 1.3, 3.0)
        else:
            width = max(width * 0.93, 1e-3)
    return theta, best
