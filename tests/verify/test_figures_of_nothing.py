"""A figure is drawn where something can be seen."""

from __future__ import annotations

from verify.auditing import audit
from verify.instance import load_instance
from verify.page.figures import panels


def test_a_run_at_rest_has_no_figure_of_its_distance() -> None:
    [drift] = audit([load_instance("theorem-4.9-drift")], only=["Lemma 4.3(i)", "Theorem 4.9(i-1)"]).audits
    assert {statement for _, statement in panels(drift)} == {"Theorem 4.9(i-1)"}
