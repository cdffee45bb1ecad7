"""The constants that only a convex problem with a unique, certified minimiser has."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from jaxtyping import Float

from bounds.core.constant import Constant, Provenance
from simulate.certify import Minimiser
from simulate.problems.base import Problem


class StronglyConvex(Problem):
    """A problem whose weighted sums of losses have certified minimisers."""

    @abstractmethod
    def minimiser(self, p: Float[np.ndarray, " m"]) -> Minimiser:
        """The minimiser of sum_i p_i f_i (p >= 0 sums to one) to a proven accuracy."""

    def sample_smoothness(self) -> float:
        """A smoothness constant of every single sample's loss: convex, it is at most D_i times as steep as f_i."""
        return self.smoothness() * int(self.sizes.max())


def convex_constants(problem: StronglyConvex, p_star: Float[np.ndarray, " m"]) -> dict[str, Constant]:
    """f_star, f_i_star, x_star and S, with radii.

    S = sum_i ||grad f_i(x*)||^2 is known at the float x within radius of x*, so each norm moves by at most
    L radius; the float evaluation of a gradient is trusted to 1e-10 of its norm and of the largest of the
    norms.
    """
    certified = Provenance.CERTIFIED
    whole = problem.minimiser(np.asarray(p_star, dtype=float))
    parts = [problem.minimiser(row) for row in np.eye(problem.m)]
    norms = np.linalg.norm(problem.gradients(whole.x), axis=1)
    slack = problem.smoothness() * whole.radius + 1e-10 * norms.max()
    note = "Newton's method, gradient enclosed in balls, strong convexity"
    values, radii = np.array([q.value for q in parts]), np.array([q.value_radius for q in parts])
    return {
        "f_star": Constant("f_star", whole.value, certified, whole.value_radius, note),
        "f_i_star": Constant("f_i_star", values, certified, radii, note),
        "x_star": Constant("x_star", whole.x, certified, whole.radius, note + "; the radius is a distance"),
        "S": Constant(
            "S",
            float((norms**2).sum()),
            certified,
            float((2 * norms * slack + slack * slack).sum()) * (1 + 2.0**-40),
            "sum_i ||grad f_i(x*)||^2",
        ),
    }
