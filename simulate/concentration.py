"""How far f(x_bar^avg) of one run can lie from its expectation: a proven sub-Gaussian proxy.

The run is a function of independent sample draws (sampling `iid`, with replacement). Exchange one of the
`batch` draws of client i at step k: the gradient changes by at most 2 h_max / batch, so x_{i,k+1} moves by at
most gamma 2 h_max / batch. Every later step with the same draws is a contraction by 1 - gamma lambda (each
sample's loss is lambda-strongly convex and L_s-smooth, gamma <= 2/(L_s + lambda)), and averaging with weights
scales the move by w_i >= p_{i,r}, p_{i,r+1}. Summed over the steps that an average counts, x_bar^avg moves by

    c_{i,k} = w_i (2 gamma h_max / batch) (1/T) sum_{max(k+1, K_0) <= j < K_1} (1 - gamma lambda)^(j-k-1),

and f(x_bar^avg) by at most sup ||grad f|| times that. McDiarmid's inequality in its moment form gives
E exp(t (X - E X)) <= exp(t^2 V / 2) with V = (1/4) sum over all draws of the squared moves.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from simulate.config import RunConfig
from simulate.problems.base import UP
from simulate.problems.softmax import SoftmaxRegression


def average_loss_proxy(
    problem: SoftmaxRegression,
    config: RunConfig,
    p: Float[np.ndarray, "rounds m"],
    p_star: Float[np.ndarray, " m"],
    R: int,
) -> float:
    """V for X = f(x_bar^avg over [T_r_hat, T_R)), f weighted by p_star; infinite where the proof does not apply.

    Args:
        p: the weights p_{i,r} of rounds 0..R, which do not depend on the draws.
        R: the horizon (at most config.R).
    """
    gamma, mu = config.gamma, problem.regulariser
    h_max, sample_smoothness = problem.sample_gradient_ceiling(), problem.sample_smoothness()
    applies = (
        config.sampling == "iid" and config.replacement == "with" and gamma * (sample_smoothness + mu) <= 2
    )
    if not applies:
        return float("inf")
    first, last = config.H * config.r_hat, config.H * R
    k = np.arange(last)
    keep = 1.0 - gamma * mu
    skipped = np.maximum(first - k - 1, 0)  # steps before the average starts to count
    counted = np.minimum(last - 1 - k, last - first)
    reach = keep**skipped * -np.expm1(counted * np.log1p(-gamma * mu)) / (gamma * mu)
    moves = 2 * gamma * h_max / config.batch * reach / (last - first)
    weights = np.maximum(p[:R], p[1 : R + 1]).max(axis=0)
    slope_sq = problem.grad_f_sq_ceiling(config.x_0, gamma, last, p_star)
    return float(config.batch * (weights**2).sum() * (moves**2).sum() * slope_sq / 4) * UP
