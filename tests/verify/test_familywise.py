"""The level of a whole report: kept by a fixed share for each verdict, not by a step-down over two answers."""

import numpy as np
import pytest
from small_instance import SMALL

from verify.auditing import ALPHA, _sampled, audit
from verify.expectation import Linear, judge
from verify.instance import parse_instance
from verify.observed import Sample
from verify.setup import build
from verify.verdict import Outcome, Rigor

NOISY = (
    SMALL.replace("[game]", 'noise_law = { law = "sphere", scale = 0.2, atoms = 8, seed = 3 }\n\n[game]')
    .replace('sampling = "full"', 'sampling = "iid"')
    .replace("R = 300", "R = 30")
)


def verdict(x: np.ndarray, ceiling: float, level: float) -> Outcome:
    none = np.zeros(0, dtype=int)
    sample = Sample(x, (), ceiling, np.inf, none, np.zeros((x.size, 0)))
    return judge(sample, Linear(1.0, 1.0), level).outcome


@pytest.mark.parametrize("shared", [True, False])
def test_a_report_of_many_statements_errs_at_most_alpha_of_the_time(shared) -> None:
    """20 statements on 200 seeds, true (0.8, 1) and false (just above 1, 1.3), the same draws for all or their own."""
    rng = np.random.default_rng(7)
    means = np.repeat([0.8, 1.0, 1.0 + 1e-9, 1.3], 5)
    alpha, reports, wrong, decided = 0.2, 40, 0, 0
    for _ in range(reports):
        u = rng.random((1 if shared else means.size, 200))
        # heavy: three quarters are near nothing
        x = np.broadcast_to(np.where(u < 0.75, 0.2 * u, 4.0 - 0.3 * u), (means.size, 200))
        scale = 0.75 * 0.075 + 0.25 * (4.0 - 0.3 * 0.875)
        said = [verdict(x[i] / scale * mean, 6.0, alpha / means.size) for i, mean in enumerate(means)]
        good = [
            o is Outcome.INCONCLUSIVE or (o is Outcome.HOLDS) == (mean <= 1.0)
            for o, mean in zip(said, means, strict=True)
        ]
        wrong += not all(good)
        decided += sum(o is not Outcome.INCONCLUSIVE for o in said)
    assert wrong <= alpha * reports
    assert decided > 0


def step_down(p_true: np.ndarray, p_false: np.ndarray, alpha: float) -> bool:
    """Holm on verdicts with two answers, level alpha / (still open): whether a wrong one is given."""
    open_ = set(range(len(p_true)))
    while open_:
        smallest, i, wrong = min(
            (p, i, wrong) for i in open_ for p, wrong in ((p_true[i], True), (p_false[i], False))
        )
        if smallest > alpha / len(open_):
            return False
        if wrong:
            return True
        open_.remove(i)
    return False


def test_a_step_down_over_two_answers_does_not_keep_its_level() -> None:
    """Each p-value of a true hypothesis is uniform; yet a share K alpha of all reports is wrong."""
    rng = np.random.default_rng(3)
    K, alpha, reports = 10, 0.05, 4000
    wrong = fixed = 0
    p = np.empty((reports, K))
    for row in range(reports):
        unlucky = int(rng.integers(K)) if rng.random() < K * alpha else -1
        p_true = rng.uniform(alpha, 1.0, K)
        p_false = np.ones(K)
        if unlucky >= 0:
            p_true[unlucky] = rng.uniform(0.0, alpha)
            p_false = np.where(np.arange(K) == unlucky, 1.0, 0.0)
        p[row] = p_true
        wrong += step_down(p_true, p_false, alpha)
        fixed += bool(np.any(p_true <= alpha / K))
    for share in (0.02, alpha, 0.5):  # uniform, every one of them
        assert np.all(np.abs((p <= share).mean(axis=0) - share) < 4 * np.sqrt(share / reports))
    assert wrong / reports == pytest.approx(K * alpha, abs=0.04)
    assert fixed / reports <= alpha * 1.2


def test_every_statistical_verdict_of_a_report_is_counted() -> None:
    instance = parse_instance(NOISY, "noisy")
    report = audit([instance], seeds=4)
    taken = [f.verdict for f in report.findings if f.verdict.rigor is Rigor.STATISTICAL]
    count = _sampled(build(instance))
    assert 0 < len(taken) <= count
    assert all(v.confidence == pytest.approx(1 - ALPHA / count) for v in taken)
