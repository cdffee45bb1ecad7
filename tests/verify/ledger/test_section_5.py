"""Section 5 in the ledger: every sentence accounted for, every claim judged, the exact runs checked a second way."""

import inspect
import re
from fractions import Fraction
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

import games
from bounds.core.step import Experiment, Kind, Step
from bounds.incentfedavg.steps import section_5_runs as runs
from bounds.incentfedavg.steps import steps
from bounds.incentfedavg.steps.notation import Book
from bounds.incentfedavg.steps.section_5_text import SENTENCES, sentence
from simulate import RunConfig, run
from simulate.participation import participation
from simulate.problems import Quadratics
from tests.simulate.conftest import small_game
from verify.experiments import claims, instances
from verify.experiments.page import page
from verify.judge import Report
from verify.ledger_run import run_ledger
from verify.provers.discharge import Status

ROOT = Path(__file__).parents[3]
OPEN = {
    "Section 5.1/13",
    "Section 5.1/14",
    "Section 5.1/16",
}  # claims about plots and data that are not at hand


def section_5() -> list[Step]:
    return [s for s in steps() if s.statement in SENTENCES]


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return {r.step.id: r for r in run_ledger(only="Section 5.")}


def number(step: Step) -> int:
    found = re.fullmatch(r"section 5\.\d, sentence (\d+)", step.source)
    assert found is not None, step.source
    return int(found[1])


def test_no_sentence_is_skipped() -> None:
    """46 sentences: each has steps, or a reason why it makes no claim, and never both."""
    assert sum(map(len, SENTENCES.values())) == 46
    assert len(section_5()) == 65
    for statement, text in SENTENCES.items():
        with_steps = {number(s) for s in section_5() if s.statement == statement}
        without = {k for k, s in enumerate(text, start=1) if s.reason}
        assert with_steps | without == set(range(1, len(text) + 1))
        assert not with_steps & without


def test_steps_follow_the_text() -> None:
    for _, group in groupby(section_5(), key=lambda s: s.statement):
        order = [number(s) for s in group]
        assert order == sorted(order)


def test_a_sentence_without_steps_takes_none() -> None:
    book = Book("Section 5.2", "")
    with pytest.raises(ValueError, match="not a sentence with steps"):
        sentence(book, 6)
    with pytest.raises(ValueError, match="not a sentence with steps"):
        sentence(book, 99)


def test_every_check_has_a_step_and_every_step_its_check() -> None:
    named = [s.check for s in section_5() if s.check]
    assert sorted(named) == sorted(claims.CHECKS)


def test_only_what_needs_the_papers_data_is_open(reports: dict[str, Report]) -> None:
    assert {k for k, r in reports.items() if r.status is Status.OPEN} == OPEN
    assert all(reports[k].tried for k in OPEN)
    counts = {s: sum(r.status is s for r in reports.values()) for s in Status}
    assert counts == {Status.PROVED: 30, Status.REFUTED: 32, Status.OPEN: 3}


def test_a_refuted_claim_shows_what_refutes_it_and_a_proved_one_what_was_computed(
    reports: dict[str, Report],
) -> None:
    for key, r in reports.items():
        if r.status is Status.REFUTED:
            assert r.counterexample, key
            assert r.survives == "no", key  # each refutes a sentence of the text itself
        elif r.status is Status.PROVED and r.step.kind is Kind.RUN:
            assert r.notes, key


def exact_runs() -> list[str]:
    return [
        n for n, f in inspect.getmembers(runs, inspect.isfunction)
        if not n.startswith("_") and f.__module__ == runs.__name__ and n != "slopes"
    ]  # fmt: skip


@pytest.mark.parametrize("name", exact_runs())
def test_the_exact_runs_are_rational_and_disagree(name: str) -> None:
    outcome = getattr(runs, name)()
    assert isinstance(outcome, Experiment)
    assert outcome.holds is False
    assert isinstance(outcome.lhs, Fraction)
    assert isinstance(outcome.rhs, Fraction)
    assert outcome.instance


def test_every_exact_run_is_a_steps() -> None:
    used = {s.run.__name__ for s in section_5() if s.run is not None}
    assert used == set(exact_runs())


# A second way to the counterexamples -------------------------------------------------------------------------


def test_the_two_quadratics_run_as_the_simulator_runs_them() -> None:
    problem = Quadratics(np.array([1.0, 0.5]), np.array([1.0, -1.0]))
    game = small_game(2)
    gaps = {}
    for H in (1, 20):
        config = RunConfig(
            gamma=0.25, gamma_tilde=1e-12, H=H, R=20, N_0=np.full(2, 4.0), x_0=np.ones(1), sampling="full"
        )
        data = run(problem, game, config, p_star=np.full(2, 0.5))
        gaps[H] = float(data["f"][0, -1]) - float(problem.constants(np.full(2, 0.5))["f_star"].value)
    outcome = runs.more_local_steps()
    assert float(outcome.lhs) == pytest.approx(gaps[20], rel=1e-6)
    assert float(outcome.rhs) == pytest.approx(gaps[1], rel=1e-4)


def pair() -> games.PowerLawGame:
    return games.PowerLawGame([1.0, 1.0], [1.0, 0.5], [0.5, 0.0], [15_000.0, 8_000.0])


def test_the_power_law_runs_as_the_games_room_has_it() -> None:
    game = pair()
    for s in (1, 4, 9):
        t_0, t_1 = runs.slopes(Fraction(s))
        assert game.F(np.array([s - 0.25, 0.25])) == pytest.approx(
            [float(t_1 - t_0), float(t_0 - t_1)], abs=1e-15
        )
    assert game.F(np.array([3.0, 1.0])) == pytest.approx([0.0, 0.0], abs=1e-15)
    path = participation(game, np.array([433 / 576, 143 / 576]), 16.0, 2).N
    assert path[1, 1] == 0.0
    assert path[2, 1] == pytest.approx(float(runs.boundary_is_left().lhs), rel=1e-12)


def test_a_rest_point_is_not_an_equilibrium_by_the_regret_of_the_games_room() -> None:
    game, outcome = pair(), runs.stationary_is_not_nash()
    gain = games.regret(game, np.array([3.0, 1.0]))[1]
    assert gain.high >= float(outcome.lhs - outcome.rhs)
    assert games.is_nash(game, np.array([3.0, 1.0]), 1e-3) is False


def test_the_transient_of_section_5_2_ends() -> None:
    """The claim's run, carried on: zero after 1000 rounds, the capacity in the end."""
    path = participation(
        instances.as_drawn(), instances.UPPER / 2, 10_000.0, 9_000,
        welfare=games.SoftplusWelfare(), lambda_0=0.25, a=instances.A, b=instances.B,
    ).N  # fmt: skip
    assert np.array_equal(path[1000], instances.REPORTED)
    assert np.array_equal(path[-1], instances.UPPER)


def test_the_limits_that_can_be_had_are_reached_from_every_corner() -> None:
    for corner in (np.zeros(5), instances.UPPER, instances.UPPER * [0, 1, 0, 1, 0]):
        assert np.array_equal(claims._path(instances.figure_3(), corner, 1000), instances.REPORTED)


def test_a_claim_that_needs_data_is_not_said_to_hold() -> None:
    assert claims.cifar_effect().holds is None
    for check in (claims.digits_order, claims.digits_rounds):
        assert not check().settles


def test_the_page_is_the_one_the_ledger_writes(reports: dict[str, Report]) -> None:
    assert (ROOT / "docs" / "section-5.md").read_text("utf-8") == page(list(reports.values()))
