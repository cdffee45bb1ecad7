"""Hypotheses of a statement, and how the answer of a check looks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import sympy


class Evidence(StrEnum):
    """What the relation between constants says about the hypothesis."""

    DECISIVE = "decisive"  # it is the hypothesis
    SUFFICIENT = "sufficient"  # if it fails, the hypothesis may still hold
    NECESSARY = "necessary"  # if it holds, the hypothesis may still fail


@dataclass(frozen=True)
class Hypothesis:
    """A named condition.

    Args:
        name: short, unique within the statement, used in reports and errors.
        relation: a sympy relation, or a conjunction of relations, between cancellation-free sides. A side
            that divides by zero is infinite (the condition is void), the logarithm of zero is -infinity.
        optional: it speaks of a constant that a caller may not know (or of a function, of which a constant is
            only evidence): without it the hypothesis is undecided instead of an error.
        note: what to say when it is undecided.
        evidence: whether the relation decides the hypothesis both ways.
    """

    name: str
    relation: sympy.Basic
    optional: bool = False
    note: str = ""
    evidence: Evidence = Evidence.DECISIVE

    def judge(self, relation_holds: bool | None) -> bool | None:
        """What the answer to the relation says about the hypothesis."""
        silent = {Evidence.SUFFICIENT: False, Evidence.NECESSARY: True}
        return None if silent.get(self.evidence) is relation_holds else relation_holds


@dataclass(frozen=True)
class HypothesisCheck:
    """The answer: `holds` is None when the constants do not decide it.

    Args:
        name: of the hypothesis.
        holds: True, False, or None (undecided).
        lhs, rhs: both sides (for arrays, at the worst point; NaN when a side cannot be computed).
        slack: how far from failing: rhs - lhs for <=, lhs - rhs for >=; negative when it fails.
        text: one line for a reader.
    """

    name: str
    holds: bool | None
    lhs: float
    rhs: float
    slack: float
    text: str
