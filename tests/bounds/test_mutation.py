"""Mutated statements go red: no constant, sign or exponent of an expression can change unseen."""

from __future__ import annotations

import mutation
import pytest
import twins
from test_statements import LIMITS

# The sums of Lemma 4.4 take the reference a second a point; printed and corrected are the same expression.
CASES = [c for c in twins.valued_cases() if not c[0].startswith("Lemma 4.4(i") or c[1] == "printed"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "case", [c for c in CASES if c[0] not in ("Lemma 4.4(i)", "Lemma 4.4(ii)")], ids=" | ".join
)
def test_a_share_of_the_mutants_is_killed(case: tuple[str, str]) -> None:
    tried, alive = mutation.attack(*case, every=9)
    assert tried >= 1 or twins.statement(*case).expression.is_Symbol
    assert alive == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_mutant_is_killed(capsys: pytest.CaptureFixture[str]) -> None:
    """2106 mutants when this was written; the count is printed."""
    total, survivors = 0, []
    for case in CASES:
        tried, alive = mutation.attack(*case)
        total, survivors = total + tried, survivors + alive
    for case in twins.order_cases():
        tried, alive = mutation.attack_terms(*case)
        total, survivors = total + tried, survivors + alive
    with capsys.disabled():
        print(f"\n{total} mutants, {len(survivors)} survivors")
    assert survivors == []
    assert total > 2000


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", sorted(LIMITS), ids=" | ".join)
def test_every_mutant_of_a_step_size_condition_is_killed(case: tuple[str, str]) -> None:
    tried, alive = mutation.attack_limits(*case, LIMITS[case])
    assert tried >= 4
    assert alive == []


def test_the_mutants_are_what_they_are_said_to_be() -> None:
    import sympy

    x, y = sympy.symbols("x y", positive=True)
    found = {m.expression for m in mutation.mutants(3 * x**2 + y)}
    assert {4 * x**2 + y, 2 * x**2 + y, 3 * x**3 + y, 3 * x**2 - y, 3 * x**2, y, -3 * x**2 + y} <= found
    assert 3 * x**2 + y not in found
