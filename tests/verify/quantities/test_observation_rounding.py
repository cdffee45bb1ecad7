"""What is left of a difference after cancellation: no theorem is broken by it, and its error is bounded."""

from dataclasses import replace
from functools import cache

import mpmath
import numpy as np
import pytest
from small_instance import SMALL

from bounds import Constant
from verify.auditing import audit, run_seeds
from verify.compare import compare
from verify.envelope import settled
from verify.examine import _joined
from verify.expectation import Linear, judge
from verify.instance import parse_instance
from verify.observed import Sample, Samples, Start
from verify.quantities import observe
from verify.quantities.rounding import Rounding, rounding
from verify.setup import Setup, build
from verify.verdict import Outcome, Rigor

# Both clients' losses meet at x* = x_hat_1, and with H = 1 no client is ever apart from the average: the sharp
# bounds are 0, and so is what they bound, but for the last bit.
LINE = """
name = "line"
title = "Two quadratics on a line"
[problem]
kind = "quadratics"
curvature = [1.0, 0.5]
centre = [[1.0], [-1.0]]
[game]
kind = "affine"
matrix = [[1.0, 0.0], [0.0, 1.0]]
offset = [-4.0, -6.0]
lower = [1.0, 1.0]
upper = [50.0, 50.0]
[algorithm]
H = 1
R = 50
N_0 = [8.0, 5.0]
x_0 = 3.0
sampling = "full"
[run]
seeds = 2
[check]
statements = ["Theorem 4.9(i-1)", "Lemma 4.13(iii)", "Lemma 6.9"]
editions = ["corrected", "sharp"]
"""
PLANE = (
    LINE.replace("[1.0, 0.5]", "[0.7, 0.3, 1.1]")
    .replace("[[1.0], [-1.0]]", "[[0.1, 3.3], [-1.7, 0.2], [0.9, 0.33]]")
    .replace("[[1.0, 0.0], [0.0, 1.0]]", "[[2.0, 0.5, 0.0], [-0.5, 2.0, 0.0], [0.0, 0.3, 1.5]]")
    .replace("[-4.0, -6.0]", "[-20.0, -30.0, -40.0]")
    .replace("[1.0, 1.0]", "[1.0, 1.0, 1.0]")
    .replace("[50.0, 50.0]", "[50.0, 50.0, 50.0]")
    .replace("[8.0, 5.0]", "[8.0, 5.0, 48.0]")
)
AT_REST = 'x_0 = "minimiser"'


@pytest.mark.parametrize(
    "text",
    [LINE.replace("x_0 = 3.0", AT_REST), LINE, PLANE, PLANE.replace("x_0 = 3.0", AT_REST)],
    ids=["line at rest", "line", "plane", "plane at rest"],
)
def test_a_bound_of_zero_is_not_violated_by_the_last_bit(text) -> None:
    report = audit([parse_instance(text, "line")])
    verdicts = [f.verdict for f in report.findings]
    assert {v.outcome for v in verdicts} <= {Outcome.HOLDS, Outcome.VACUOUS}
    exact = [v for v in verdicts if v.statement == "Lemma 4.13(iii)" and v.edition == "sharp"]
    assert exact[0].bound == 0.0
    assert exact[0].rigor is Rigor.RIGOROUS


@cache
def audited(text: str) -> tuple[Setup, object]:
    setup = build(parse_instance(text, "small"))
    return setup, run_seeds(setup, 1, lambda *_: None)


@pytest.mark.parametrize("name", ["grad_f_sq@p_next", "f_gap_avg@p_next", "consensus_error_sum@p_next"])
def test_a_violation_by_a_millionth_is_found(name) -> None:
    setup, run = audited(SMALL)
    sample = observe(name, setup, run)
    assert isinstance(sample, Sample)
    curve = settled(sample, True, {})
    value = curve.values
    for share, wanted in ((1e-6, Outcome.VIOLATED), (1e-15, Outcome.INCONCLUSIVE), (-1e-6, Outcome.HOLDS)):
        bound = value / (1 + share)
        assert compare(curve, bound, bound).outcome is wanted


def test_both_e_values_give_the_error_away() -> None:
    none = np.zeros(0, dtype=int)
    low = Sample(np.full(200, 1.0), (), np.inf, np.inf, none, np.zeros((200, 0)))
    assert judge(low, Linear(0.5, 0.5), 0.01).outcome is Outcome.VIOLATED
    assert judge(replace(low, error=0.6), Linear(0.5, 0.5), 0.01).outcome is Outcome.INCONCLUSIVE
    for given in ({"ceiling": 4.0}, {"variance_proxy": 0.1}):
        high = replace(low, **given)
        assert judge(high, Linear(1.5, 1.5), 0.01).outcome is Outcome.HOLDS
        assert judge(replace(high, error=0.6), Linear(1.5, 1.5), 0.01).outcome is Outcome.INCONCLUSIVE
    unknown = replace(low, error=np.inf, ceiling=4.0)
    assert judge(unknown, Linear(0.5, 0.5), 0.01).outcome is Outcome.INCONCLUSIVE


def exact_run(setup: Setup) -> dict[str, mpmath.mpf]:
    """Algorithm 1 with full gradients anew, in 50 digits: the end and the averages of the run."""
    problem, c, A = setup.problem, setup.config, setup.game
    m, n, gamma = problem.m, problem.n, mpmath.mpf(c.gamma)
    centre, a = mpmath.matrix(problem.c.tolist()), mpmath.matrix(problem.a.tolist())
    M, b = mpmath.matrix(A.A.tolist()), mpmath.matrix(A.b.tolist())
    N, x = [mpmath.mpf(v) for v in c.N_0], [mpmath.mpf(v) for v in c.x_0]
    star = [mpmath.mpf(v) for v in setup.equilibrium.N]
    weight = [v / sum(star) for v in star]
    best = [
        sum(weight[i] * a[i, d] * centre[i, d] for i in range(m)) / sum(weight[i] * a[i, d] for i in range(m))
        for d in range(n)
    ]

    def f(y):
        return sum(weight[i] * a[i, d] * (y[d] - centre[i, d]) ** 2 for i in range(m) for d in range(n)) / 2

    average, squares, e_sum = [mpmath.mpf(0)] * n, mpmath.mpf(0), mpmath.mpf(0)
    for r in range(c.R):
        slope = [sum(M[i, j] * N[j] for j in range(m)) + b[i] for i in range(m)]
        N = [min(max(N[i] - mpmath.mpf(c.gamma_tilde) * slope[i], A.lower[i]), A.upper[i]) for i in range(m)]
        p = [v / sum(N) for v in N]
        local = [list(x) for _ in range(m)]
        for _ in range(c.H):
            x = [sum(p[i] * local[i][d] for i in range(m)) for d in range(n)]
            if r >= c.r_hat:
                average = [s + v for s, v in zip(average, x, strict=True)]
                e_sum += sum(p[i] * (local[i][d] - x[d]) ** 2 for i in range(m) for d in range(n))
                squares += sum(
                    sum(weight[i] * a[i, d] * (x[d] - centre[i, d]) for i in range(m)) ** 2 for d in range(n)
                )
            local = [
                [local[i][d] - gamma * a[i, d] * (local[i][d] - centre[i, d]) for d in range(n)]
                for i in range(m)
            ]
        x = [sum(p[i] * local[i][d] for i in range(m)) for d in range(n)]
    steps = c.H * (c.R - c.r_hat)
    return {
        "grad_f_sq@p_next": squares / steps,
        "f_gap_avg@p_next": f([v / steps for v in average]) - f(best),
        "consensus_error_sum@p_next": e_sum,
    }


@pytest.mark.parametrize(
    "text", [SMALL, SMALL.replace("x_0 = 3.0", AT_REST), SMALL.replace("H = 2", "H = 1")]
)
def test_the_error_covers_the_exact_run(text) -> None:
    setup, run = audited(text.replace("R = 300", "R = 60\nr_hat = 4"))
    with mpmath.workdps(50):
        for name, exact in exact_run(setup).items():
            sample = observe(name, setup, run)
            assert isinstance(sample, Sample)
            off = abs(mpmath.mpf(float(sample.values[0])) - exact)
            assert off <= sample.error, name
            assert sample.error < 1e-9


def test_rounds_bring_their_errors() -> None:
    setup, run = audited(SMALL)
    errors = rounding(setup, run)
    samples = observe("consensus_error@p_next", setup, run)
    assert isinstance(samples, Samples)
    for part in samples.parts:
        assert part.error == errors.consensus(float(part.values.max()))
        assert all(0 < start.error < 1e-9 for start in part.starts)


def test_an_expanding_step_multiplies_the_error() -> None:
    setup, run = audited(SMALL)
    tame = rounding(setup, run)
    wild = rounding(replace(setup, config=replace(setup.config, gamma=3.5)), run)
    assert isinstance(tame, Rounding)
    assert tame.moved < 1e-10
    assert wild.moved == np.inf  # (gamma L - 1)^(R H) units in the last place are no small error


@pytest.mark.parametrize("replacement", ["with", "batch"])
def test_equal_samples_leave_nothing_random(replacement) -> None:
    text = LINE.replace('"full"', f'"iid"\nbatch = 2\nreplacement = "{replacement}"')
    text = text.replace('kind = "quadratics"', 'kind = "quadratics"\nsamples = 3')
    text = text.replace('"Lemma 4.13(iii)"', '"Theorem 4.6(i-1)"')
    verdicts = [f.verdict for f in audit([parse_instance(text, "line")]).findings]
    assert {v.outcome for v in verdicts} <= {Outcome.HOLDS, Outcome.VACUOUS}
    assert {v.rigor for v in verdicts} == {Rigor.RIGOROUS}
    assert not any(v.more_seeds for v in verdicts)


def certain(values: float, start: float) -> Sample:
    """Seeds that all show the same, with a start that was measured to within `start`."""
    none = np.zeros(0, dtype=int)
    measured = (Start("f_gap", np.full(2, 1.0), 0.0, np.inf, start),)
    return Sample(np.full(2, values), measured, np.inf, np.inf, none, np.zeros((2, 0)), round=1)


def test_a_start_is_taken_from_whoever_knows_it_better() -> None:
    before = {"f_gap": Constant("f_gap", 1.0, radius=1e-6)}
    coarse, fine = certain(0.5, 1e-3), certain(0.5, 0.0)
    assert "f_gap" not in settled(coarse, True, before).along
    assert settled(fine, True, before).along["f_gap"].radius < 1e-6
    assert settled(coarse, True, {}).along["f_gap"].radius >= 1e-3
    both = [settled(sample, True, before) for sample in (fine, coarse)]
    for curves in (both, both[::-1]):
        assert "f_gap" not in _joined(curves, along_rounds=False).along
