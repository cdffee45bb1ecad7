"""How far a run of noisy quadratics can be from the run without noise: pathwise ceilings, proven.

Take any points y_r, and from each the noise-free local steps y_{i,0} = y_r, y_{i,h+1} = y_{i,h} - gamma grad
f_i(y_{i,h}) (here in float64, each step off by at most `eps`, and y_{r+1} = sum_i p_{i,r+1} y_{i,H}, off by at most
`off_r`). A run of Algorithm 1 on `Quadratics` takes the same steps from x_hat_r with noise of norm at most w_i (the
mean of a batch of atoms). A step on client i multiplies distances by at most rho_i = ||I - gamma A_i||. So with
S_{i,h} = sum_{j < h} rho_i^j and d_r >= ||x_hat_r - y_r||

    ||x_{i,h} - y_{i,h}|| <= rho_i^h d_r + (gamma w_i + eps) S_{i,h},
    d_{r+1} = sum_i p_{i,r+1} (rho_i^H d_r + (gamma w_i + eps) S_{i,H}) + off_r

and d_0 = 0. An average of the x_{i,h} with any weights is as near to the same average of the y_{i,h} as the farthest
of them. Of what is left, two sizes are bounded:

- ||grad f(x_bar)|| <= ||grad f(y_bar)|| + L ||x_bar - y_bar||;
- sqrt(e_bar) is a seminorm, so at most its value at the y_i plus that at the differences. A difference common to all
  clients does not count: the part from x_hat_r - y_r differs from it by ||(I - gamma A_i)^h - I|| d_r <=
  gamma ||A_i|| S_{i,h} d_r, and e_bar of any vectors is at most their largest square.

Every law of the noise, every order of the samples and every way to draw them obey this: it holds for all runs, not with
high probability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from simulate.config import RunConfig
from simulate.problems.base import UP
from simulate.problems.quadratics import Quadratics

_U = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Reach:
    """Ceilings over all runs, before each local step h of each round r.

    Attributes:
        grad_f_sq: on ||grad f(x_bar_k)||^2; e_bar: on sum_i w_i ||x_{i,k} - x_bar_k||^2; k = H r + h. Inside round
            r the weights w are p_{i,r} or p_{i,r+1}.
        distance: d_r, on the distance of x_hat_r from the run without noise.
    """

    grad_f_sq: Float[np.ndarray, "R H"]
    e_bar: Float[np.ndarray, "R H"]
    distance: Float[np.ndarray, " rounds"]

    def drawn(self, ceilings: Float[np.ndarray, "R H"], r_hat: int, draws: int) -> float:
        """A ceiling on the mean over one seed's drawn steps, one in each stratum (`streams.stratified_draws`)."""
        counted = ceilings[r_hat:].ravel()
        length = counted.size
        if draws >= length:
            return float(counted.mean()) * UP
        # a boundary step may be drawn in either stratum, and u may round up to its end
        edges = np.arange(draws + 1) * length / draws
        first = np.maximum(np.floor(edges[:-1]).astype(int) - 1, 0)
        last = np.minimum(np.floor(edges[1:]).astype(int) + 2, length)
        return float(np.mean([counted[a:b].max() for a, b in zip(first, last, strict=True)])) * UP


MOST = 1 << 22  # numbers in the run without noise: beyond, no ceiling is computed


def noise_free(
    problem: Quadratics, config: RunConfig, p: Float[np.ndarray, "rounds m"]
) -> Float[np.ndarray, "R H_1 m n"]:
    """The points y_{i,h} of every round, h = 0..H: Algorithm 1 with full gradients and the weights p, in float64."""
    R, H, gamma = config.R, config.H, config.gamma
    points = np.empty((R, H + 1, problem.m, problem.n))
    y = np.array(config.x_0, dtype=float)
    for r in range(R):
        here = points[r]
        here[0] = y
        for h in range(H):
            here[h + 1] = here[h] - gamma * problem.local_gradients(here[h])
        y = p[r + 1] @ here[H]
    return points


def reach(
    problem: Quadratics,
    config: RunConfig,
    points: Float[np.ndarray, "R H_1 m n"],
    p: Float[np.ndarray, "rounds m"],
    p_slack: Float[np.ndarray, " rounds"],
    p_star: Float[np.ndarray, " m"],
    average: str,
) -> Reach:
    """The ceilings of one average ("p_now" or "p_next").

    Args:
        points: from `noise_free`, with the same p.
        p: the weights p_{i,r} of rounds 0..R, which depend on no draw; p_slack: a bound on the error of each, by round.
    """
    H, gamma, m, n = config.H, config.gamma, problem.m, problem.n
    out = UP * (1 + 8 * (n + m) * _U)
    rho = problem.contractions(gamma)
    power = rho ** np.arange(H + 1)[:, None]
    sums = np.concatenate([np.zeros((1, m)), np.cumsum(power[:-1], axis=0)])
    L, noise = problem.smoothness(), problem.largest_noise()
    size = np.linalg.norm(points, axis=3).max(axis=(1, 2))
    terms = L * (
        size + float(np.linalg.norm(problem.c, axis=1).max())
    )  # what a gradient's products add up to
    eps = 4 * _U * (size + gamma * (n**1.5 + 8) * terms)
    new = (gamma * noise + eps[:, None, None]) * sums  # [R, H + 1, m]: of a round's own noise
    ends = np.einsum("rm,rmn->rn", p[1:], points[:, H])
    apart_end = np.linalg.norm(points[:, H] - ends[:, None], axis=2).max(axis=1)
    mixed = 8 * _U * (m + 4) * size + m * p_slack[1:] * apart_end
    d = np.zeros(len(points) + 1)
    for r in range(len(points)):
        far = power[H] * d[r] + new[r, H]
        d[r + 1] = (float(p[r + 1] @ far) + m * p_slack[r + 1] * float(far.max()) + mixed[r]) * out
    w, slack = (p[:-1], p_slack[:-1]) if average == "p_now" else (p[1:], p_slack[1:])
    inside = points[:, :H]
    bar = np.einsum("rm,rhmn->rhn", w, inside)
    apart = np.linalg.norm(inside - bar[:, :, None], axis=3)
    off = 4 * _U * (m + 4) * size + m * slack * apart.max(axis=(1, 2))
    far = (power[:H] * d[:-1, None, None] + new[:, :H]).max(axis=2) + off[:, None]
    slope = np.linalg.norm(problem.gradient(bar, p_star), axis=2)
    slope = slope + (4 * _U * (n**1.5 + m + 8) * terms)[:, None]
    # e_bar of any points is at most the mean square distance from any centre, here from the float mean
    squares = np.einsum("rm,rhm->rh", w, apart**2) + m * slack[:, None] * (apart**2).max(axis=2)
    spread = np.sqrt(squares) + 4 * _U * size[:, None]
    moved = (gamma * L * sums[:H] * d[:-1, None, None] + new[:, :H]).max(axis=2)
    return Reach(((slope + L * far) * out) ** 2, ((spread + moved) * out) ** 2, d)
