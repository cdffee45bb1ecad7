"""The attack on single steps: Lemmas 4.12, 4.14, 6.5 to 6.8 at arbitrary points and weights, 6.9 on a round.

Full gradients of quadratics with minimal value 0. Terms that a bound subtracts are carried to the other side,
so that every attack is a ratio of two nonnegative numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp, mpf

from .attack import growth, ratio, walk
from .exact import Array, Quadratics, run_quadratics
from .instances import ABOVE, dissimilarity, squash
from .section_4_3 import lemma_4_12, lemma_4_14_a, lemma_4_14_b
from .section_6_2 import (
    gamma_limits_6_8,
    lemma_6_6,
    lemma_6_7,
    lemma_6_7_any_delta,
    lemma_6_8,
    lemma_6_9,
    pair_6_5,
    pair_6_5_printed,
    threshold_6_8,
)


@dataclass(frozen=True)
class Step:
    """Clients at x [m, n] with weights q on the way to the p* of the problem; `c` holds the constants."""

    problem: Quadratics
    q: Array
    x: Array
    part: float
    c: dict[str, Any]

    @property
    def mean(self) -> Array:
        return self.q @ self.x

    @property
    def own_gradients(self) -> Array:
        return np.array([A @ (x - c) for A, x, c in zip(self.problem.A, self.x, self.problem.c, strict=True)])

    @property
    def g_bar(self) -> Array:
        return self.q @ self.own_gradients


def size(m: int, n: int) -> int:
    return 2 * m * n + m * n + 2 * m + 3


def decode_step(theta: Array, m: int, n: int) -> Step:
    """A step for every vector; f is scaled too, since some statements have a preferred unit."""
    parts = np.split(theta, np.cumsum([m * n, m * n, m * n, m, m]))
    curvature, places, x, star, now, scalars = parts
    f_scale = float(np.exp(np.clip(2 * scalars[0], -8, 8)))
    eigenvalues = f_scale * squash(3 * curvature).reshape(m, n)
    A = np.array([np.diag(e) for e in eigenvalues])
    N_star, N = (1 + np.exp(np.clip(2 * t, -8, 8)) for t in (star, now))
    problem = Quadratics(A, places.reshape(m, n) * np.exp(np.clip(scalars[1], -3, 3)), N_star / N_star.sum())
    L = float(eigenvalues.max()) * ABOVE
    step = Step(problem, N / N.sum(), x.reshape(m, n), float(squash(scalars[2] + 2)), {})
    step.c.update(_constants(step, L, float(np.linalg.norm(N - N_star)) * ABOVE, float(N_star.sum())))
    return step


def _constants(step: Step, L: float, distance: float, total: float) -> dict[str, Any]:
    problem, m = step.problem, len(step.q)
    x_star, x_bar = problem.minimiser(), step.mean
    y = x_bar - x_star
    values = np.array([problem.loss(i, x_star) for i in range(m)])
    gradient = problem.mean_A @ y
    # rho = 1/2 and r = 0: delta_r = (m - 1) ||N - N*||/||N*||_1 for the shift 0
    c: dict[str, Any] = {"m": m, "mu_F": 1.0, "L_F": 1.0, "gamma_tilde": 1.0, "r": 0, "nu": 0.0, "L": L}
    c |= {"dist_0": distance, "N_star_l1": total, "f_star": float(problem.p_star @ values)}
    c |= {"p_star": problem.p_star, "f_i_star": np.zeros(m), "X_sq": float(y @ y)}
    c |= {"D_f": float(y @ problem.mean_A @ y) / 2, "grad_f_sq": float(gradient @ gradient)}
    c |= {"grad_fi_sq_sum": float((problem.gradients_at(x_bar) ** 2).sum())}
    c |= {"S": float((problem.gradients_at(x_star) ** 2).sum()) * ABOVE}
    return c | {"e_bar": float(step.q @ ((step.x - x_bar) ** 2).sum(axis=1))}


def with_pair(step: Step, pair: tuple[Any, Any] | None = None) -> dict[str, Any]:
    """The constants with G and B: the corrected pair of Lemma 6.5 unless told otherwise."""
    G_sq, B_sq = pair or pair_6_5(**step.c)
    return {**step.c, "G": mp.sqrt(max(G_sq, mpf(0))), "B": mp.sqrt(B_sq)}


def dissimilar(step: Step) -> dict[str, Any]:
    """The constants with a pair of Assumption 4.5 ."""
    G, B = dissimilarity(step.problem, 0.5)
    return {**step.c, "G": G, "B": B}


def step_4_12(step: Step) -> float:
    c = dissimilar(step)
    gradient = step.problem.mean_A @ (step.mean - step.problem.minimiser())
    quarter = c["grad_f_sq"] / 4
    return ratio(quarter - float(gradient @ step.g_bar), quarter - lemma_4_12(0, **c))


def step_4_14_a(step: Step) -> float:
    return ratio(step.g_bar @ step.g_bar, lemma_4_14_a(0, **step.c))


def step_4_14_b(step: Step) -> float:
    return ratio(step.g_bar @ step.g_bar, lemma_4_14_b(0, **dissimilar(step)))


def step_6_5_printed(step: Step) -> float:
    G_sq, B_sq = pair_6_5_printed(**step.c)
    return ratio(step.c["grad_fi_sq_sum"] / step.c["m"], G_sq + 2 * mpf(step.c["L"]) * B_sq * step.c["D_f"])


def step_6_5(step: Step) -> float:
    G_sq, B_sq = pair_6_5(**step.c)
    return ratio(step.c["grad_fi_sq_sum"] / step.c["m"], G_sq + 2 * mpf(step.c["L"]) * B_sq * step.c["D_f"])


def step_6_6(step: Step) -> float:
    return ratio(step.g_bar @ step.g_bar, lemma_6_6(0, **with_pair(step)))


def inner(step: Step) -> float:
    """-2 sum_i q_i (x_bar - x*)^T grad f_i(x_i)."""
    return -2 * float((step.mean - step.problem.minimiser()) @ step.g_bar)


def step_6_7(step: Step) -> float:
    c = with_pair(step)
    return ratio(inner(step) + 2 * c["D_f"], lemma_6_7(0, **c) + 2 * c["D_f"])


def largest_weight_error(step: Step) -> float:
    return float(np.abs(step.q - step.problem.p_star).max()) * ABOVE


def step_6_7_any_delta(step: Step) -> float:
    c = {**with_pair(step), "delta": largest_weight_error(step)}
    return ratio(inner(step) + 2 * c["D_f"], lemma_6_7_any_delta(**c) + 2 * c["D_f"])


def step_6_7_printed_any_delta(step: Step) -> float:
    """The printed terms with delta = max |p_i - p*_i|: what must never be combined."""
    c = with_pair(step)
    c |= {"dist_0": largest_weight_error(step) / (c["m"] - 1) if c["m"] > 1 else 0.0, "N_star_l1": 1.0}
    return ratio(inner(step) + 2 * c["D_f"], lemma_6_7(0, **c) + 2 * c["D_f"])


def step_6_8(step: Step) -> float:
    c = with_pair(step)
    if threshold_6_8(**c) > 1:
        return 0.0
    c["gamma"] = gamma = float(min(gamma_limits_6_8(**c).values())) / ABOVE * step.part
    y = step.mean - gamma * step.g_bar - step.problem.minimiser()
    gain = gamma / 2 * c["D_f"]
    return growth(float(y @ y) + gain, lemma_6_8(0, **c) + gain, c["X_sq"])


def round_6_9(step: Step, first: int) -> float:
    """A round of H = 2..5 local steps from the mean; the printed sum leaves its first step out."""
    H = 2 + int(4 * step.part)
    c = {**with_pair(step), "H": H}
    c["gamma"] = gamma = step.part / (3**0.5 * H * c["L"]) / ABOVE
    seen = run_quadratics(step.problem, step.q[None], step.mean, gamma, H)
    return ratio(seen.e_bar.sum(), lemma_6_9(first, **{**c, "D_f": seen.gap}))


STEP_ATTACKS: dict[str, Callable[[Step], float]] = {
    "Lemma 4.12": step_4_12,
    "Lemma 4.14(a)": step_4_14_a,
    "Lemma 4.14(b)": step_4_14_b,
    "Lemma 6.5, printed": step_6_5_printed,
    "Lemma 6.5, corrected": step_6_5,
    "Lemma 6.6": step_6_6,
    "Lemma 6.7": step_6_7,
    "Lemma 6.7 (any delta)": step_6_7_any_delta,
    "Lemma 6.8": step_6_8,
    "Lemma 6.9, printed": lambda step: round_6_9(step, 1),
    "Lemma 6.9, corrected": lambda step: round_6_9(step, 0),
}


def climb_step(
    attack: Callable[[Step], float],
    rng: np.random.Generator,
    restarts: int,
    steps: int,
    clients: tuple[int, int],
) -> tuple[float, Step]:
    """The worst ratio of a single-step attack, by the same evolution strategy."""
    worst: tuple[float, Step | None] = (-1.0, None)
    for _ in range(restarts):
        m, n = int(rng.integers(clients[0], clients[1] + 1)), int(rng.integers(1, 3))
        theta, best = walk(lambda t, m=m, n=n: attack(decode_step(t, m, n)), size(m, n), rng, steps)
        if best > worst[0]:
            worst = (best, decode_step(theta, m, n))
    assert worst[1] is not None
    return worst[0], worst[1]
