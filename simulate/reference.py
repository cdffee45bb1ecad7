"""Algorithm 1 (IncentFedAvg), one seed, line by line: the oracle of every engine.

Nothing here is fast, batched or shared with the engines except the random streams and the participation
update.
Line numbers are the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from simulate import streams
from simulate.config import RunConfig
from simulate.participation import participation
from simulate.problems.base import Problem
from simulate.streams import Purpose


@dataclass(frozen=True, eq=False)
class ReferenceRun:
    """Every iterate of one run, T = H R steps.

    Attributes:
        N: [R + 1, m] participation; p: [R + 1, m] weights p_{i,r}.
        x_hat: [R + 1, n] the server's models.
        x: [T, m, n] x_{i,k}; g: [T, m, n] g_{i,k}; index: [T, m, batch] the samples xi_{i,k} (empty for
            `full`).
        H: local steps a round.
    """

    N: Float[np.ndarray, "rounds m"]
    p: Float[np.ndarray, "rounds m"]
    x_hat: Float[np.ndarray, "rounds n"]
    x: Float[np.ndarray, "T m n"]
    g: Float[np.ndarray, "T m n"]
    index: Int[np.ndarray, "T m batch"]
    H: int

    def q(self, k: int, average: str = "p_now") -> Float[np.ndarray, " m"]:
        """The weights of Definition 4.1 at step k: p_{i,r} ("p_now", printed) or p_{i,r+1} ("p_next")."""
        return self.p[k // self.H + (average == "p_next")]

    def x_bar(self, k: int, average: str = "p_now") -> Float[np.ndarray, " n"]:
        """x_bar_k = sum_i q_i x_{i,k} (Definition 4.1)."""
        return self.q(k, average) @ self.x[k]

    def g_bar(self, k: int, average: str = "p_now") -> Float[np.ndarray, " n"]:
        """g_bar_k = sum_i q_i g_{i,k} (Definition 4.1)."""
        return self.q(k, average) @ self.g[k]

    def e_bar(self, k: int, average: str = "p_now") -> float:
        """e_bar_k = sum_i q_i ||x_{i,k} - x_bar_k||^2 (Definition 4.1)."""
        centre = self.x_bar(k, average)
        return float(
            sum(q * np.sum((x - centre) ** 2) for q, x in zip(self.q(k, average), self.x[k], strict=True))
        )

    def x_avg(self, r_hat: int, R: int, average: str = "p_now") -> Float[np.ndarray, " n"]:
        """x_bar^avg = mean of x_bar_k over k = T_r_hat..T_R - 1 (Theorem 4.9)."""
        return np.mean([self.x_bar(k, average) for k in range(self.H * r_hat, self.H * R)], axis=0)


def run_reference(problem: Problem, game: Any, config: RunConfig, seed: int = 0) -> ReferenceRun:
    """Runs Algorithm 1 for one seed index (`config.seeds` and the measurement settings are not looked at)."""
    m, H, R = problem.m, config.H, config.R
    game_run = participation(
        game,
        config.N_0,
        config.gamma_tilde,
        R,
        welfare=config.welfare,
        lambda_0=config.lambda_0,
        a=config.a,
        b=config.b,
    )
    N = game_run.N
    p = np.array([[N[r, i] / N[r].sum() for i in range(m)] for r in range(R + 1)])
    subset_stream = [streams.generator(config.root_seed, seed, i, Purpose.SUBSET) for i in range(m)]
    sample_stream = [streams.generator(config.root_seed, seed, i, Purpose.SAMPLES) for i in range(m)]
    x_hat, x, g, index = [config.x_0.copy()], [], [], []  # line 1

    for r in range(R):  # line 2
        x_k = [x_hat[r].copy() for _ in range(m)]  # line 3: x_{i,T_r} := x_hat_r
        samples = []
        for i in range(m):
            if config.sampling == "subset":  # line 5: a random subset of size ceil(N_{i,r}) ...
                D = streams.subset(subset_stream[i], int(problem.sizes[i]), int(np.ceil(N[r, i])))
            else:  # ... or all samples
                D = np.arange(problem.sizes[i])
            if config.sampling != "full":
                positions = streams.sample_indices(
                    sample_stream[i], len(D), H, config.batch, config.replacement, H
                )
                samples.append(D[positions])
        for h in range(H):  # line 6: k = T_r, ..., T_{r+1} - 1
            g_k = []
            for i in range(m):
                if config.sampling == "full":
                    chosen = range(int(problem.sizes[i]))
                else:
                    chosen = samples[i][h]  # line 7: xi_{i,k}
                g_k.append(np.mean([problem.sample_gradient(i, x_k[i], int(j)) for j in chosen], axis=0))
            x.append(np.array(x_k))
            g.append(np.array(g_k))
            index.append([samples[i][h] for i in range(m)] if samples else np.empty((m, 0)))
            x_k = [x_k[i] - config.gamma * g_k[i] for i in range(m)]  # line 8
        # lines 10-12: N_{r+1} and p_{r+1} are known (the game does not look at the model)
        x_hat.append(sum(p[r + 1, i] * x_k[i] for i in range(m)))  # line 13

    return ReferenceRun(N, p, np.array(x_hat), np.array(x), np.array(g), np.array(index, dtype=np.int64), H)


def exact_averages(
    problem: Problem, run: ReferenceRun, r_hat: int, p_star: Float[np.ndarray, " m"], average: str = "p_now"
) -> dict[str, float]:
    """Means of ||grad f(x_bar_k)||^2 and e_bar_k over k = T_r_hat..T_R - 1: k_star's expectation, undrawn."""
    steps = range(run.H * r_hat, len(run.x))
    gradients = [problem.gradient(run.x_bar(k, average), p_star) for k in steps]
    return {
        "grad_f_sq": float(np.mean([float(np.sum(g * g)) for g in gradients])),
        "e_bar": float(np.mean([run.e_bar(k, average) for k in steps])),
    }
