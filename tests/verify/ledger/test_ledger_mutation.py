"""Broken steps stop being proved: a sample by default, all of them in the slow run."""

import pytest

from bounds.core.step import Obligation, hypotheses, le
from bounds.incentfedavg.steps import steps
from bounds.incentfedavg.steps.notation import nonnegative, positive
from verify.ledger_text import kills
from verify.mutation import Mutant, mutants, mutate_ledger, verdict
from verify.provers.discharge import workshop

A, B = positive("a b")
X, Y = nonnegative("x y")
TIGHT = Obligation("", hypotheses({"x <= y": le(X, Y)}), le(2 * A * X**2, 2 * A * Y**2))


def test_every_kind_of_mutant_is_made() -> None:
    whats = [m.what for m in mutants(TIGHT)]
    for part in ("constant 2", "exponent 2 to 3", "sign of", "x to y", "dropped", "direction"):
        assert any(part in w for w in whats), part
    assert len({m.obligation.digest for m in mutants(TIGHT)}) == len(whats)


def test_a_spare_hypothesis_is_left_alone() -> None:
    assert not [m for m in mutants(TIGHT, ["x <= y"]) if "hypothesis" in m.what]


def test_every_mutant_of_a_tight_claim_is_killed() -> None:
    shop = workshop()
    alive = {m.what: why for m in mutants(TIGHT) if (why := verdict(m, shop, ()))}
    shop.close()
    assert set(alive.values()) <= {"the mutant is a tautology"}  # y^2 <= y^2, x^2 <= x^2
    assert len(alive) <= 2


def test_an_equivalent_claim_survives_with_a_reason() -> None:
    """The net is not so fine that nothing gets through: the same claim, doubled, is proved and tight."""
    doubled = Mutant("doubled", Obligation("", TIGHT.hypotheses, le(4 * A * X**2, 4 * A * Y**2)))
    shop = workshop()
    assert verdict(doubled, shop, ()) == "proved and tight as well"
    shop.close()


def test_a_sample_of_the_ledger_is_killed() -> None:
    chosen = [s for s in steps() if s.statement in ("Lemma 4.12", "Lemma 6.6") and s.edition == "printed"]
    result = mutate_ledger(chosen, sample=1)
    assert result["mutants"] >= 8
    assert result["killed"] >= 0.95 * result["mutants"] - 1, kills(result)


@pytest.mark.slow
def test_the_kill_rate_over_all_tight_steps() -> None:
    result = mutate_ledger(steps())
    assert result["killed"] >= 0.95 * result["mutants"], kills(result)
