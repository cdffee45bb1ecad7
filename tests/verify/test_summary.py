"""The page's first sentence says which editions stand, and how exactly N* is known."""

from dataclasses import replace

import pytest
from small_instance import SMALL

from bounds import Constant, Provenance
from bounds.incentfedavg.steps import steps
from verify import judge
from verify.auditing import Report, audit
from verify.instance import parse_instance
from verify.page import render, summary
from verify.page.statements import statement_cards
from verify.provers.discharge import Status
from verify.verdict import Outcome


@pytest.fixture(scope="module")
def report() -> Report:
    return audit([parse_instance(SMALL, "small")], only=["Lemma 4.3(i)"])


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"printed"}, "Every corrected and sharp edition stands."),
        ({"sharp"}, "Every corrected edition stands, a sharp one does not."),
        ({"printed", "sharp"}, "Every corrected edition stands, a sharp one does not."),
        ({"corrected"}, "Not even the corrected edition stands."),
    ],
)
def test_the_headline_names_what_stands(broken, words, report) -> None:
    findings = tuple(
        replace(
            f,
            verdict=replace(
                f.verdict, outcome=Outcome.VIOLATED if f.verdict.edition in broken else Outcome.HOLDS
            ),
        )
        for f in report.findings
    )
    assert len(findings) == 3
    changed = replace(report, audits=(replace(report.audits[0], findings=findings),))
    assert words in summary(changed)


def _step(report, statement, survives):
    """A refuted step of a printed statement, as the ledger would report it."""
    step = next(s for s in steps() if s.statement == statement and s.edition == "printed")
    refuted = judge.Report(step, Status.REFUTED, "by hand", survives=survives)
    return replace(report, ledger=(refuted,))


@pytest.mark.parametrize(
    ("survives", "standing"),
    [("no", judge.Standing.REFUTED), ("yes", judge.Standing.REPAIRED), ("open", judge.Standing.OPEN)],
)
def test_a_statement_with_a_refuted_step_stands_only_by_another_proof(report, survives, standing) -> None:
    ledger = _step(report, "Lemma 4.3(i)", survives).ledger
    assert judge.standings(ledger) == {("Lemma 4.3(i)", "printed"): standing}


def test_what_the_ledger_refutes_is_never_shown_as_one_that_holds(report) -> None:
    changed = _step(report, "Lemma 4.3(i)", "no")
    assert summary(changed).endswith(
        "Exact counterexamples refute more than these runs do: Lemma 4.3(i) as printed is false."
    )
    [card] = statement_cards(changed, {}, {"small": "small"})
    printed, corrected, _ = card["cells"]
    assert printed["outcome"] is Outcome.HOLDS
    assert printed["refuted"] == "by an exact counterexample"
    assert not corrected["refuted"]
    page = render(changed, {}, "", {"small": "small"})
    assert page.count("✗ refuted</span>") == 2  # the cell's badge and the legend
    assert "here: ✓ holds" in page


def test_a_proof_that_was_repaired_refutes_nothing(report) -> None:
    changed = _step(report, "Lemma 4.3(i)", "yes")
    assert "counterexamples" not in summary(changed)
    [card] = statement_cards(changed, {}, {"small": "small"})
    assert not card["cells"][0]["refuted"]
    assert card["cells"][0]["steps"] == "proof: 1 refuted of 1; stands"


def test_the_headline_says_on_whose_word_a_corrected_edition_falls(report) -> None:
    word = {"mu_F": Constant("mu_F", 4.0, Provenance.GIVEN)}
    findings = tuple(
        replace(f, constants={**f.constants, **word}, verdict=replace(f.verdict, outcome=Outcome.VIOLATED))
        for f in report.findings
    )
    changed = replace(report, audits=(replace(report.audits[0], findings=findings),))
    assert "stands, if the instance's claims are true (mu_F taken as given)." in summary(changed)
    proved = tuple(replace(f, verdict=replace(f.verdict, outcome=Outcome.VIOLATED)) for f in report.findings)
    assert "taken as given" not in summary(
        replace(report, audits=(replace(report.audits[0], findings=proved),))
    )


def test_statements_are_named_in_the_papers_order_edition_by_edition(report) -> None:
    one = report.findings[0]
    wanted = [
        ("Theorem 4.10(i)", "printed"),
        ("Lemma 6.5", "sharp"),
        ("Theorem 4.9(i-1)", "printed"),
        ("Lemma 4.2", "printed"),
    ]
    findings = tuple(
        replace(one, verdict=replace(one.verdict, statement=s, edition=e, outcome=Outcome.VIOLATED))
        for s, e in wanted
    )
    said = summary(replace(report, audits=(replace(report.audits[0], findings=findings),)))
    assert said.startswith(
        "Lemma 4.2, Theorem 4.9(i-1) and Theorem 4.10(i) as printed; Lemma 6.5 as sharp are violated by a run"
    )
