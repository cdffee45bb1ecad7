"""The error-rate study, small; its published page; and the rule `run until decided`."""

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from small_instance import SMALL

import bounds
from verify import measured_rates
from verify.auditing import audit
from verify.errors import InputError
from verify.examine import Finding
from verify.instance import parse_instance
from verify.sequential import sequential
from verify.statistics import against_at_least_subgaussian
from verify.verdict import Outcome, Rigor, Verdict

PAGE = Path(__file__).parents[2] / "docs" / "error-rates.md"


def test_wrong_answers_stay_below_alpha_where_a_t_test_does_not() -> None:
    cells = measured_rates.fixed((30,), 100)
    assert len(cells) == 9
    for cell in cells:
        assert cell.wrong <= 0.05 * 100 + 3 * np.sqrt(0.05 * 100)
        if "lognormal" in cell.law:
            assert cell.holds == 0  # no ceiling
    failures = next(c for c in cells if c.law == "1% failures" and c.ratio == 1.2)
    assert failures.t_holds > 0.5 * 100  # no failure seen: mean 0, spread 0
    assert measured_rates.fixed((30,), 3) == measured_rates.fixed((30,), 3)


def test_looking_again_and_again_keeps_the_level() -> None:
    for cell in measured_rates.growing(12):
        assert cell.wrong <= 0.05 * 12 + 3 * np.sqrt(0.05 * 12)
    beta = measured_rates.LAWS[0]
    x = beta.draw(np.random.default_rng(1), 1024) * 0.3
    assert measured_rates._first(x, 3.0, measured_rates.judge_once) is Outcome.HOLDS


def test_the_published_page_is_the_studys() -> None:
    text = PAGE.read_text("utf-8")
    assert text.startswith(measured_rates.HEAD.format(alpha=measured_rates.ALPHA))
    assert text.endswith("\n" + measured_rates.MANY)
    rows = [line.split(" | ") for line in text.splitlines() if re.match(r"\| (beta|lognormal|1%)", line)]
    assert len(rows) == 9 * 3
    for row in rows:
        wrong, limit = (float(row[i].rstrip("% ")) for i in (6, 7))
        assert wrong <= limit <= 100 * measured_rates.ALPHA
    assert max(float(row[10].rstrip("% |")) for row in rows) > 50
    for ceiling in measured_rates.CEILINGS:
        assert f"\n| {ceiling:g} | " in text


def test_binomial_limits() -> None:
    assert measured_rates.upper_limit(0, 100, 0.99) == pytest.approx(1 - 0.01 ** (1 / 100))
    assert measured_rates.upper_limit(100, 100, 0.99) == 1.0


def test_a_larger_ceiling_needs_more_seeds() -> None:
    needed = [measured_rates.seeds_needed(0.5, ceiling, 5) for ceiling in (5.0, 10.0)]
    assert None not in needed
    assert needed[0] < needed[1]


def test_the_planned_bet_is_an_e_process() -> None:
    """E[e_n] <= 1 at every n for one fixed bet, by enumeration of coin flips (proxy 1/4 for a coin)."""
    for n in (1, 3, 6):
        total = 0.0
        for code in range(2**n):
            x = np.array([(code >> i) & 1 for i in range(n)], dtype=float)
            total += np.exp(against_at_least_subgaussian(x, 0.5, 0.25, 0.05, planned=20).log_e) / 2**n
        assert total <= 1 + 1e-12


class Looks:
    """A fake instance: verdict i is decided as soon as it has seen needs[i] seeds; afterwards it would waver."""

    def __init__(self, needs: list[int]) -> None:
        self.needs, self.seen, self.ran = needs, [[] for _ in needs], []

    def more(self, seeds: range) -> xr.Dataset:
        self.ran.append((seeds.start, seeds.stop))
        return xr.Dataset({"x": ("seed", np.arange(seeds.start, seeds.stop))}, coords={"seed": list(seeds)})

    def look(self, i: int, run: xr.Dataset):
        n = run.sizes["seed"]
        self.seen[i].append(n)
        done = n >= self.needs[i]
        outcome = Outcome.HOLDS if done else Outcome.INCONCLUSIVE
        verdict = Verdict("S", "sharp", outcome, Rigor.STATISTICAL, "fake", more_seeds=None if done else 9)
        return Finding(verdict, bounds.get("Lemma 4.3(i)"), {}, None, np.zeros(0))


def test_the_rule_stops_when_all_is_decided_and_keeps_the_first_answer() -> None:
    fake = Looks([1, 10, 30])
    run, findings = sequential(3, 8, 1000, fake.more, fake.look)
    assert fake.seen == [[8], [8, 16], [8, 16, 32]]
    assert fake.ran == [(0, 8), (8, 16), (16, 32)]
    assert run["x"].values.tolist() == list(range(32))
    assert all(f.verdict.outcome is Outcome.HOLDS for f in findings)


def test_the_rule_respects_the_budget() -> None:
    fake = Looks([5, 10_000])
    run, findings = sequential(2, 8, 20, fake.more, fake.look)
    assert run.sizes["seed"] == 20
    assert findings[1].verdict.outcome is Outcome.INCONCLUSIVE
    fake = Looks([5])
    assert sequential(1, 8, 3, fake.more, fake.look)[0].sizes["seed"] == 3


def test_a_real_audit_until_decided() -> None:
    text = SMALL.replace("R = 300", "R = 40").replace("seeds = 2", "seeds = 4")
    text = text.replace('sampling = "full"', 'sampling = "iid"')
    instance = parse_instance(text, "small")
    report = audit([instance], only=["Theorem 4.6(i-1)"], until_decided=True, budget=16)
    used = report.audits[0].run.sizes["seed"]
    assert used in (4, 8, 16)
    plain = audit([replace_seeds(instance, used)], only=["Theorem 4.6(i-1)"])
    assert np.array_equal(plain.audits[0].run["grad_f_sq"], report.audits[0].run["grad_f_sq"])
    with pytest.raises(InputError, match="budget"):
        audit([instance], until_decided=True)


def replace_seeds(instance, seeds: int):
    return instance.model_copy(update={"run": instance.run.model_copy(update={"seeds": seeds})})
