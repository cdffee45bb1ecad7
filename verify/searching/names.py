"""The statements that have a search family, in the paper's order: each has its entry in `objective.TARGETS`."""

from __future__ import annotations

import bounds
from verify.errors import InputError

SEARCHABLE = (
    "Lemma 4.3(i)",
    "Lemma 4.3(ii)",
    "Lemma 4.4(iv)",
    "Theorem 4.6(i-1)",
    "Theorem 4.6(i-2)",
    "Theorem 4.9(i-1)",
    "Theorem 4.9(i-2)",
    "Theorem 4.10(i)",
)
BUDGET = 40_000  # evaluations of the ratio, if no other number is given


def require_searchable(statement_id: str) -> None:
    """Refuse a statement without a family.

    Raises:
        InputError: naming what would be right.
    """
    if statement_id not in SEARCHABLE:
        problem = "has no search family" if statement_id in bounds.ids() else "is not a statement"
        raise InputError(f"{statement_id!r} {problem}: give one of {', '.join(SEARCHABLE)}")
