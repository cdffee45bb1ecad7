"""A statement's hypotheses and limits over arrays: what a candidate may be, before anything is proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import sympy
from jaxtyping import Bool, Float

import bounds
from bounds import Statement
from bounds.core.emit import relation_sides
from bounds.incentfedavg import lemma_6_5

Arrays = Mapping[str, np.ndarray]
# The float sides are off by a few roundings; a candidate that passes only thanks to this is refused by the proof.
_SLACK = 1e-12
_PAIR_OF_LEMMA_6_5 = ("Theorem 4.9", "Lemma 6.")


@dataclass(frozen=True, eq=False)
class Condition:
    """left <= right (or the strict or reversed form) as functions of constants, and the names it speaks of."""

    left: Statement
    right: Statement
    operator: str
    names: frozenset[str]

    def holds(self, constants: Arrays) -> Bool[np.ndarray, "*shape"]:
        """Where it holds, up to rounding."""
        with np.errstate(all="ignore"):
            left, right = (np.asarray(s.evaluate(constants, unchecked=True)) for s in (self.left, self.right))
            slack = _SLACK * np.abs(right)
            slack = np.where(np.isfinite(slack), slack, 0.0)
        if self.operator in ("<", ">"):
            return np.asarray(left < right if self.operator == "<" else left > right)
        return np.asarray(left <= right + slack if self.operator == "<=" else left >= right - slack)


def expression(statement: Statement, formula: sympy.Basic) -> Statement:
    """`formula` in the statement's own vocabulary, to be evaluated like a bound."""
    return replace(statement, expression=formula, hypotheses=(), terms={})


@cache
def conditions(statement: Statement) -> tuple[Condition, ...]:
    """Every hypothesis of the statement, one relation each."""
    return tuple(
        Condition(
            expression(statement, atom.lhs),
            expression(statement, atom.rhs),
            atom.rel_op,
            frozenset({*expression(statement, atom.lhs).symbols, *expression(statement, atom.rhs).symbols}),
        )
        for hypothesis in statement.hypotheses
        for atom in relation_sides(hypothesis.relation)
    )


def feasible(statement: Statement, constants: Arrays, shape: tuple[int, ...]) -> Bool[np.ndarray, "*shape"]:
    """Where every hypothesis that the constants decide holds, up to rounding."""
    mask = np.ones(shape, dtype=bool)
    for condition in conditions(statement):
        if condition.names <= constants.keys():
            mask &= condition.holds(constants)
    return mask


def limit(statement: Statement, name: str, constants: Arrays) -> Float[np.ndarray, "*shape"]:
    """The least right side of the hypotheses `name <= ...` (infinite where there is none)."""
    found = np.asarray(np.inf)
    for condition in conditions(statement):
        if str(condition.left.expression) == name and condition.operator in ("<=", "<"):
            with np.errstate(all="ignore"):
                found = np.minimum(found, condition.right.evaluate(constants, unchecked=True))
    return found


def own_pair(statement: Statement, constants: Arrays) -> dict[str, np.ndarray]:
    """The (G, B) that the statement means where it is not Assumption 4.5's: Lemma 6.5's of its edition.

    G is NaN where the printed G^2 is negative: there the statement has no constants.
    """
    if not statement.id.startswith(_PAIR_OF_LEMMA_6_5) or not {"G", "B"} & set(statement.symbols):
        return {}
    printed = statement.edition == "printed"
    lemma = bounds.get("Lemma 6.5", "printed" if printed else "corrected")
    square, growth = (
        (lemma_6_5.PRINTED_G_SQ, lemma_6_5.PRINTED_B_SQ)
        if printed
        else (lemma_6_5.CORRECTED_G_SQ, lemma_6_5.CORRECTED_B_SQ)
    )
    with np.errstate(invalid="ignore"):
        return {
            "G": np.sqrt(np.asarray(expression(lemma, square).evaluate(constants, unchecked=True))),
            "B": np.sqrt(np.asarray(expression(lemma, growth).evaluate(constants, unchecked=True))),
        }


__all__ = ["Arrays", "Condition", "conditions", "expression", "feasible", "limit", "own_pair"]
