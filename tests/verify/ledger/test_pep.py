"""Cross-check of the sharp contraction with PEPit: an independent method, two solvers, gaps reported.

Needs the extra `pep`; without it the tests say so in one line. A worst case is trusted only when two solvers
call it optimal and agree: a single status has been seen wrong.
"""

from importlib.util import find_spec

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("PEPit") is None, reason="the extra `pep` (PEPit) is not installed"),
]
PAIRS = ((1.0, 1.0), (1.0, 2.0), (0.5, 3.0), (2.0, 2.5), (0.1, 1.0))
CASES = [(mu, ell, share) for mu, ell in PAIRS for share in (0.5, 1.0)]


def worst_case(mu: float, ell: float, step: float, solver: str) -> tuple[float, str]:
    """max ||N_1 - N*||^2 over one projected step from ||N_0 - N*||^2 <= 1, and the solver's status."""
    from PEPit import PEP
    from PEPit.functions import ConvexIndicatorFunction
    from PEPit.operators import LipschitzStronglyMonotoneOperatorCheap
    from PEPit.primitive_steps import proximal_step

    problem = PEP()
    game = problem.declare_function(LipschitzStronglyMonotoneOperatorCheap, mu=mu, L=ell)
    box = problem.declare_function(ConvexIndicatorFunction)
    total = game + box
    star = total.stationary_point()
    start = problem.set_initial_point()
    problem.set_initial_condition((start - star) ** 2 <= 1)
    after, _, _ = proximal_step(start - step * game.gradient(start), box, step)
    problem.set_performance_metric((after - star) ** 2)
    value = problem.solve(wrapper="cvxpy", solver=solver, verbose=0)
    return float(value), str(problem.wrapper.prob.status)


@pytest.mark.parametrize(("mu", "ell", "share"), CASES)
def test_one_step_worst_case_is_the_sharp_contraction(mu: float, ell: float, share: float) -> None:
    step = share * mu / ell**2
    sharp = 1 - 2 * mu * step + (ell * step) ** 2  # of the squared distance, which is what PEPit maximises
    values = {}
    for solver in ("CLARABEL", "SCS"):
        value, status = worst_case(mu, ell, step, solver)
        assert status == "optimal", f"{solver}: {status}"
        values[solver] = value
    gap = abs(values["CLARABEL"] - values["SCS"])
    assert abs(values["CLARABEL"] - sharp) <= 1e-6, f"{values}, sharp {sharp}"
    assert gap <= 1e-4, f"two solvers differ by {gap}"
