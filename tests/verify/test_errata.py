"""The errata as LaTeX: every refuted printed step once, and nothing that LaTeX would misread."""

import re

import pytest

from verify.errata import escape, latex
from verify.ledger_run import run_ledger
from verify.provers.discharge import Status


@pytest.fixture(scope="module")
def reports():
    return run_ledger(only="Lemma 4.4(iv)") + run_ledger(only="Section 5.3")


def test_every_refuted_printed_step_is_an_item(reports) -> None:
    text = latex(reports)
    items = re.findall(r"\\item\[(.*?)\]", text)
    wanted = [r for r in reports if r.status is Status.REFUTED and r.step.edition == "printed"]
    assert items == [escape(r.step.id) for r in wanted]
    assert items
    for r in wanted:
        assert escape(r.sides[0]) in text


def test_the_claim_is_shown_as_it_was_refuted(reports) -> None:
    dominant = next(r for r in reports if "clients 0 and 4 both dominate" in r.step.text)
    text = latex([dominant])
    assert re.search(r"\\\[ .+ > .+ \\\]", text)
    assert f"${dominant.sides[0]}$" in text


def test_no_special_character_is_left_bare(reports) -> None:
    plain = re.sub(r"\\\[.*?\\\]|\$.*?\$", "", latex(reports))
    body = plain.split(r"\begin{document}")[1]
    assert not re.search(r"(?<!\\)[_^&#%~<>]", body.replace(r"\textasciicircum{}", ""))


def test_nothing_refuted_says_none() -> None:
    assert "\nNone.\n" in latex([])


@pytest.mark.parametrize(
    ("raw", "safe"), [("a_b", r"a\_b"), ("x^2", r"x\textasciicircum{}2"), ("\\", r"\textbackslash{}")]
)
def test_escape(raw: str, safe: str) -> None:
    assert escape(raw) == safe
