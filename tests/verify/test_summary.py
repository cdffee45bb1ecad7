"""The page's first sentence says which editions stand, and how exactly N* is known."""

from dataclasses import replace

import pytest
from small_instance import SMALL

from verify.auditing import Report, audit
from verify.instance import parse_instance
from verify.page import summary
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
