"""The paper's proofs, one encoded step a displayed relation or "it follows", in the order of the paper.

One file a lemma or theorem, each with `books() -> tuple[Book, ...]` (one book an edition and part).
Nothing is built
on import: `steps()` loads what is asked for. `certificates/` holds what the provers once found, re-checked
on every use.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from bounds.core.step import Step, StepError

FILES = (
    "lemma_4_2",
    "lemma_4_3",
    "lemma_4_4",
    "lemma_4_4_limit",
    "theorem_4_6",
    "theorem_4_6_ii",
    "sharp_4_6",
    "theorem_4_9",
    "corrected_4_9",
    "theorem_4_9_ii",
    "sharp_4_9",
    "theorem_4_10",
    "lemma_4_12",
    "lemma_4_13",
    "lemma_4_14",
    "lemma_6_3",
    "lemma_6_5",
    "lemma_6_6",
    "lemma_6_7",
    "lemma_6_8",
    "lemma_6_9",
    "section_5",
)


@cache
def steps() -> tuple[Step, ...]:
    """Every step of every edition, in the order of the paper.

    Raises:
        StepError: when two steps share a key or a step names one that does not exist.
    """
    found: list[Step] = []
    for name in FILES:
        for book in import_module(f"{__name__}.{name}").books():
            found += book.steps
    keys = [s.key for s in found]
    known = {*keys, *(s.statement for s in found), *(s.id for s in found)}
    for step in found:
        if keys.count(step.key) > 1:
            raise StepError(f"{step.key}: two steps have this key")
        for name in (*step.survives_by, *step.fails_by):
            if name not in keys:
                raise StepError(f"{step.key}: there is no step {name}")
        for name in step.uses:
            if name not in known and not name.startswith(("Assumption", "Algorithm", "Definition")):
                raise StepError(f"{step.key}: uses {name}, which is neither a step nor a statement")
    return tuple(found)
