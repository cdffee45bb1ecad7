"""Random constants with their corners: m = 1, H = 1, a start at N*, and constants that vanish."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import ceil, mpf

from .base import Draw

CORNER = 0.12  # how often each constant is put into its corner
BELOW = 1 - 2.0**-30  # keeps a rounded product of a limit below the limit


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def or_zero(rng: np.random.Generator, low: float, high: float) -> float:
    """Log-uniform, or 0 in the corner."""
    return 0.0 if rng.random() < CORNER else log_uniform(rng, low, high)


def clients(rng: np.random.Generator, at_least: int = 1) -> int:
    return at_least if rng.random() < CORNER else int(rng.integers(at_least, 13))


def local_steps(rng: np.random.Generator) -> int:
    return 1 if rng.random() < CORNER else int(rng.integers(1, 41))


def game(rng: np.random.Generator, at_least: int = 1, widest: float = 1.0) -> Draw:
    """Constants of a strongly monotone game with gamma_tilde <= widest * mu_F/L_F^2."""
    m = clients(rng, at_least)
    mu_F = log_uniform(rng, 1e-6, 1e2)
    L_F = mu_F * (1.0 if rng.random() < CORNER else log_uniform(rng, 1.0, 1e2))
    gamma_tilde = mu_F / L_F / L_F * rng.uniform(0.01, 1.0) * widest * BELOW
    if rng.random() < CORNER:  # powers of two: the limit itself, without rounding
        exponent, condition = int(rng.integers(-8, 4)), int(rng.integers(0, 5))
        mu_F, L_F = 2.0**exponent, 2.0 ** (exponent + condition)
        gamma_tilde = 2.0 ** (-exponent - 2 * condition)
    return {
        "m": m,
        "mu_F": mu_F,
        "L_F": L_F,
        "gamma_tilde": gamma_tilde,
        "dist_0": or_zero(rng, 1e-3, 1e4),
        "N_star_l1": m * log_uniform(rng, 1.0, 1e4),
    }


def loss(rng: np.random.Generator) -> Draw:
    """L, nu, and the pair G, B of Assumption 4.5; each of the last three may vanish."""
    return {
        "L": log_uniform(rng, 1e-2, 1e2),
        "nu": or_zero(rng, 1e-2, 1e1),
        "G": or_zero(rng, 1e-2, 1e1),
        "B": or_zero(rng, 0.3, 5.0),
    }


def start_round(rng: np.random.Generator, smallest: Any) -> int:
    """An integer r_hat >= max(0, smallest): the smallest one, or somewhat later."""
    first = int(max(mpf(0), ceil(mpf(smallest)))) if mpf(smallest) > 0 else 0
    # the smallest admissible real may be an integer that rounding has moved: one more round is safe
    return (
        first + (int(rng.integers(0, 3)) if rng.random() < 0.5 else int(rng.integers(0, 500))) + (first > 0)
    )


def last_round(rng: np.random.Generator, r_hat: int) -> int:
    """R > r_hat: one round only, an ordinary number, or 10^12 more."""
    kind = rng.random()
    if kind < CORNER:
        return r_hat + 1
    if kind < 2 * CORNER:
        return r_hat + 10**12
    return r_hat + int(log_uniform(rng, 2.0, 1e5))


def step(rng: np.random.Generator, limit: Any, none: float = 1.0) -> float:
    """A step size in (0, limit], `none` taking the place of an infinite limit."""
    bound = float(limit) if mpf(limit) < mpf(10) ** 300 else none
    return bound * (1.0 if rng.random() < CORNER else rng.uniform(0.02, 1.0)) * BELOW
