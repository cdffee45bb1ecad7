"""Ceilings from a run's own weights: they decide what the ceilings known before the run leave open."""

from dataclasses import replace

import pytest
from small_instance import SMALL

import bounds
from simulate.store import save
from verify.auditing import run_seeds
from verify.errors import InputError
from verify.examine import examine
from verify.foreign import audit_run
from verify.instance import parse_instance
from verify.observed import Samples
from verify.quantities import observe
from verify.quantities.reachable import reachable
from verify.setup import build
from verify.verdict import Outcome

NOISY = (
    SMALL.replace("[game]", 'noise_law = { law = "sphere", scale = 0.2, atoms = 8, seed = 3 }\n\n[game]')
    .replace('sampling = "full"', 'sampling = "iid"')
    .replace("R = 300", "R = 60")
    .replace("seeds = 2", "seeds = 24")
    .replace('"Theorem 4.9(i-1)"]', '"Theorem 4.9(i-1)", "Lemma 4.13(iii)"]')
)
QUANTITIES = (
    "grad_f_sq@p_now", "grad_f_sq@p_next", "consensus_error_sum@p_now", "consensus_error_sum@p_next",
    "consensus_error@p_next", "consensus_error_round@p_now", "consensus_error_round_all@p_next",
)  # fmt: skip


@pytest.fixture(scope="module")
def noisy():
    setup = build(parse_instance(NOISY, "noisy"))
    return setup, run_seeds(setup, 1, lambda *_: None)


def samples(setup, run, quantity):
    shown = observe(quantity, setup, run)
    return shown.parts if isinstance(shown, Samples) else (shown,)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_seed_lies_below_a_ceiling_that_is_lower_than_before(quantity, noisy) -> None:
    for sample in samples(*noisy, quantity):
        assert sample.known is not None
        assert sample.values.max() <= sample.ceiling * (1 + 1e-12)
        assert sample.ceiling <= sample.known / 2


def test_they_are_within_reach(noisy) -> None:
    """A ceiling many times what is seen would decide nothing: here the largest seed comes to a third of it."""
    found = [s.values.max() / s.ceiling for q in QUANTITIES for s in samples(*noisy, q)]
    assert max(found) > 0.3


def test_the_word_of_a_file_gets_none(noisy) -> None:
    setup, run = noisy
    other = run.copy()
    del other.attrs["fingerprint"]
    assert reachable(setup, other, "p_next") is None
    for sample in samples(setup, other, "grad_f_sq@p_next"):
        assert sample.ceiling == sample.known


def test_a_statement_that_the_ceiling_decides_holds_and_is_not_called_vacuous(noisy) -> None:
    setup, run = noisy
    few = run.isel(seed=slice(0, 3))
    part = replace(setup, config=replace(setup.config, seeds=3))
    verdict = examine(part, few, bounds.get("Lemma 4.13(iii)", "corrected"), 0.001).verdict
    assert verdict.outcome is Outcome.HOLDS
    assert "ceiling alone" in verdict.reason


@pytest.mark.parametrize("variable", ["grad_f_sq", "e_bar"])
def test_a_run_file_beyond_its_ceiling_is_refused_in_one_line(variable, noisy, tmp_path) -> None:
    setup, run = noisy
    path = tmp_path / "run.nc"
    save(run, path)
    assert audit_run(setup.instance, path, only=["Theorem 4.6(i-1)"]).findings
    changed = run.copy(deep=True)
    changed[variable][...] = 1e9
    save(changed, path)
    with pytest.raises(InputError, match=r"--run run.nc: .*exceeds the ceiling .* no run of small passes"):
        audit_run(setup.instance, path, only=["Theorem 4.6(i-1)", "Lemma 4.13(iii)"])
