"""The games of Section 5 with the numbers that the paper prints, and ours where it prints none.

Printed: the capacities, the regulariser, a, b and the range of theta_i. Not printed: the label distributions, theta_i,
alpha_i, beta_i, gamma_tilde, lambda_0, N_0 and N^min. Ours are dyadic where a claim is decided by exact arithmetic.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from bounds.incentfedavg.steps.section_5_runs import CAPACITIES, REGULARISER
from games import DiscoveryGame, PowerLawGame

UPPER: Float[np.ndarray, " m"] = np.array(CAPACITIES, dtype=float)
LAMBDA = float(REGULARISER)
A, B = 0.5, 0.25  # Section 5.2
REPORTED = np.array([15_000.0, 0.0, 18_000.0, 0.0, 13_000.0])  # Figure 3's limits, by its text
EXITING = (1, 3)

# Section 5.2: F_i = theta_i - ||q_i||^2 with ||q_i||^2 = 1/2 (two equally likely labels).
_LABELS = np.full((5, 2), 0.5)
GAMMA_TILDE_0, LAMBDA_0 = 2_400.0, 0.125
# Section 5.3: client 0 dominates at small ||N||_1, client 4 at large ones; their terms meet at 9216.
ALPHA = np.array([32.0, 0.25, 0.25, 0.25, 1.0])
BETA = np.array([0.75, 0.5, 0.5, 0.5, 0.25])


def figure_3(lower: float = 0.0) -> DiscoveryGame:
    """Clients 0, 2, 4 gain by taking part (F_i = -1/4), clients 1 and 3 lose (F_i = 1/4): what Figure 3's text says."""
    theta = np.where(np.isin(np.arange(5), EXITING), 0.75, 0.25)
    return DiscoveryGame(_LABELS, theta, np.full(5, lower), UPPER)


def as_drawn(lower: float = 0.0) -> DiscoveryGame:
    """theta_i <= ||q_i||^2, as Section 5.1 draws it: F_i = -1/4 for clients 0, 2, 4 and -5/128 for 1 and 3."""
    theta = np.where(np.isin(np.arange(5), EXITING), 0.5 - 5 / 128, 0.25)
    return DiscoveryGame(_LABELS, theta, np.full(5, lower), UPPER)


def indifferent(lower: float = 1.0) -> DiscoveryGame:
    """theta_i = ||q_i||^2 for every client: F = 0, every profile is an equilibrium."""
    return DiscoveryGame(_LABELS, np.full(5, 0.5), np.full(5, lower), UPPER)


def power_law(lower: float = 1.0) -> PowerLawGame:
    """The zero-sum game (15) with the capacities of Section 5.2 and N_i^min = 1 (at N = 0 it is not defined)."""
    return PowerLawGame(ALPHA, BETA, np.full(5, lower), UPPER)
