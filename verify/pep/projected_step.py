"""Lemma 4.3(i), sharp: one step of the participation update."""

from __future__ import annotations

from typing import Any

import bounds
from verify.pep.trusted import WorstCase, solve


def wc_projected_step(mu_F: float, L_F: float, gamma_tilde: float) -> tuple[WorstCase, float]:
    r"""The worst ratio ||N_1 - N*||^2/||N_0 - N*||^2 of one projected step, and the square of the sharp rate.

    **Problem.** VI(box, F) with F mu_F-strongly monotone and L_F-Lipschitz; N* its solution.

    **Method.** N_1 = Pi[N_0 - gamma_tilde F(N_0)].

    **Guarantee** (Lemma 4.3(i), sharp): ||N_1 - N*||^2 <= (1 - 2 mu_F gamma_tilde + L_F^2 gamma_tilde^2)
    ||N_0 - N*||^2, attained by a rotation, so that the two numbers agree.

    Args:
        mu_F: strong monotonicity of F.
        L_F: Lipschitz constant of F, at least mu_F.
        gamma_tilde: the step, 0 < gamma_tilde < 2 mu_F/L_F^2.

    Returns:
        The worst case of the squared distance and the squared contraction of the statement.

    Raises:
        Untrusted: when the solvers cannot be believed.

    Example:
        >>> worst, sharp = wc_projected_step(1.0, 2.0, 0.25)
        >>> round(sharp, 9), abs(worst.value - sharp) < 1e-6
        (0.75, True)
    """
    constants = {"mu_F": mu_F, "L_F": L_F, "gamma_tilde": gamma_tilde, "r": 1, "dist_0": 1.0}
    rate = float(bounds.get("Lemma 4.3(i)", "sharp").evaluate(constants))
    return solve(lambda: _step(mu_F, L_F, gamma_tilde), allowed=1e-6, tolerance=1e-9), rate**2


def _step(mu_F: float, L_F: float, gamma_tilde: float) -> Any:
    from PEPit import PEP
    from PEPit.functions import ConvexIndicatorFunction
    from PEPit.operators import LipschitzStronglyMonotoneOperatorCheap
    from PEPit.primitive_steps import proximal_step

    problem = PEP()
    game = problem.declare_function(LipschitzStronglyMonotoneOperatorCheap, mu=mu_F, L=L_F)
    box = problem.declare_function(ConvexIndicatorFunction)
    star = (game + box).stationary_point()
    start = problem.set_initial_point()
    problem.set_initial_condition((start - star) ** 2 <= 1)
    after, _, _ = proximal_step(start - gamma_tilde * game.gradient(start), box, gamma_tilde)
    problem.set_performance_metric((after - star) ** 2)
    return problem
