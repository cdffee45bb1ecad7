"""A learning problem and a participation game of one's own, for `own-code.toml`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulate.problems import Quadratics


class Ridge(Quadratics):
    """f_i(x) = (1 + l2) ||x - centre_i||^2 / 2: a problem derived from one whose constants are known."""

    def __init__(self, centres: Sequence[Sequence[float]], l2: float) -> None:
        c = np.array(centres, dtype=float)
        super().__init__(np.full(len(c), 1.0 + l2), c)


class TwoClients:
    """F(N) = (N_1 + coupling N_2 - 20, N_2 - coupling N_1 - 10) on [1, 40]^2.

    `F_error` bounds the rounding of F; without it no distance from the equilibrium would be proved.
    """

    lower = np.array([1.0, 1.0])
    upper = np.array([40.0, 40.0])

    def __init__(self, coupling: float) -> None:
        self.matrix = np.array([[1.0, coupling], [-coupling, 1.0]])
        self.offset = np.array([-20.0, -10.0])

    def F(self, N: np.ndarray) -> np.ndarray:
        return N @ self.matrix.T + self.offset

    def F_error(self, N: np.ndarray) -> np.ndarray:
        return 8 * np.finfo(float).eps * (np.abs(N) @ np.abs(self.matrix).T + np.abs(self.offset))
