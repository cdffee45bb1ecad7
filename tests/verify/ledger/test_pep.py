"""Worst cases from PEPit against the statements: an independent method, two solvers, gaps reported.

Collected only where the extra `pep` is installed (`conftest.py`). A worst case is trusted only when two
solvers call it optimal and agree: a single status has been seen wrong.
"""

from fractions import Fraction

import pytest

from bounds.incentfedavg.steps.experiments import local_steps, mean
from verify.pep.fedavg import Short, largest_step, performance_problem, wc_fedavg
from verify.pep.projected_step import wc_projected_step
from verify.pep.tables import EDITIONS, RUNS, STEPS
from verify.pep.trusted import Untrusted, options, solve

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Solution may be inaccurate")]


@pytest.mark.parametrize(("mu", "ell", "step"), STEPS)
def test_one_step_worst_case_is_the_sharp_contraction(mu: float, ell: float, step: float) -> None:
    worst, sharp = wc_projected_step(mu, ell, step)
    assert sharp == pytest.approx(1 - 2 * mu * step + (ell * step) ** 2, abs=1e-14)
    assert abs(worst.value - sharp) <= 1e-6, f"{worst}, sharp {sharp}"


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("run", RUNS[2:])
def test_short_runs_stay_below_the_bound(run: Short, edition: str) -> None:
    worst, bound = wc_fedavg(run, edition, largest_step(run, EDITIONS))
    assert 0 < worst.value <= bound, f"{worst}, bound {bound}"


def test_the_longest_run_stays_below_the_sharp_bound() -> None:
    worst, bound = wc_fedavg(RUNS[1], "sharp", largest_step(RUNS[1], EDITIONS))
    assert 0 < worst.value <= bound, f"{worst}, bound {bound}"


def test_no_step_taken_is_the_descent_lemma() -> None:
    """H = R = 1: the average iterate is x_0, whose gap is at most L D^2/2, attained by a quadratic."""
    problem = performance_problem(Short((2.0, 2.0), (2.0, 2.0), 0.5, H=1, R=1), "sharp", 1 / 16)
    value = problem.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0, **options("CLARABEL", 1e-6))
    assert problem.wrapper.prob.status == "optimal"
    assert value == pytest.approx(0.5, abs=1e-5)


def test_the_worst_case_is_at_least_that_of_a_run() -> None:
    """Quadratics in one dimension, in exact arithmetic, with moving weights: a member of the class."""
    run, gamma = RUNS[5], Fraction(1, 80)
    c = [Fraction(7, 10), Fraction(-7, 10)]  # sum of squared gradients at x* = 0: 98/100 <= S
    x, path = Fraction(1, 10), []
    for r in range(run.R):
        q = [Fraction(w).limit_denominator(10**6) for w in run.weights(r + 1)]
        local = local_steps([Fraction(1)] * 2, c, gamma, x, run.H)
        path += [mean(q, y) for y in local[:-1]]
        x = mean(q, local[-1])
    gap = float((sum(path, Fraction(0)) / len(path)) ** 2 / 2)  # f - f* = x^2/2, as p* = (1/2, 1/2)
    for edition in ("corrected", "sharp"):
        worst, _ = wc_fedavg(run, edition, float(gamma))
        assert 0 < gap <= worst.value + 1e-6, f"{gap}, {worst}"
        assert worst.value <= 2 * gap, f"{gap}, {worst}"  # the run is nearly the worst


def test_an_unbounded_problem_is_not_believed() -> None:
    from PEPit import PEP
    from PEPit.functions import SmoothConvexFunction

    def build() -> PEP:
        problem = PEP()
        f = problem.declare_function(SmoothConvexFunction, L=1.0)
        star, start = f.stationary_point(), problem.set_initial_point()
        problem.set_performance_metric(f(start) - f(star))  # nothing bounds ||x_0 - x*||
        return problem

    with pytest.raises(Untrusted):
        solve(build, allowed=1e-3, tolerance=1e-6)
