"""How a statement of the paper is written down: `entry` for its editions, `le`, `ge`, `gt` for hypotheses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from bounds.core.functions import Largest
from bounds.core.hypothesis import Hypothesis
from bounds.core.statement import ANY_SAMPLING, Edition, Kind, Sampling, Sense, Statement
from bounds.core.vocabulary import Recipes, Vocabulary
from bounds.incentfedavg.derivations import DERIVED
from bounds.incentfedavg.names import names
from bounds.quantities import QUANTITIES
from bounds.symbols import SYMBOLS

VOCABULARY = Vocabulary(SYMBOLS, QUANTITIES, DERIVED)


def le(name: str, lhs: Any, rhs: Any, **how: Any) -> Hypothesis:
    """lhs <= rhs; `how` are further fields of `Hypothesis`."""
    return Hypothesis(name, sympy.Le(lhs, rhs, evaluate=False), **how)


def ge(name: str, lhs: Any, rhs: Any, **how: Any) -> Hypothesis:
    """lhs >= rhs; `how` are further fields of `Hypothesis`."""
    return Hypothesis(name, sympy.Ge(lhs, rhs, evaluate=False), **how)


def gt(name: str, lhs: Any, rhs: Any, **how: Any) -> Hypothesis:
    """lhs > rhs; `how` are further fields of `Hypothesis`."""
    return Hypothesis(name, sympy.Gt(lhs, rhs, evaluate=False), **how)


def lt(name: str, lhs: Any, rhs: Any, **how: Any) -> Hypothesis:
    """lhs < rhs; `how` are further fields of `Hypothesis`."""
    return Hypothesis(name, sympy.Lt(lhs, rhs, evaluate=False), **how)


def entry(
    id: str,
    kind: Kind,
    *,
    source: str,
    quantity: str | Mapping[str, str],
    printed: Mapping[str, Any],
    corrected: Mapping[str, Any] | None = None,
    sharp: Mapping[str, Any] | None = None,
    sense: Sense = Sense.AT_MOST,
    sampling: tuple[Sampling, ...] = ANY_SAMPLING,
) -> tuple[Statement, ...]:
    """The editions of one statement.

    Each edition is a mapping with any of `expression`, `hypotheses`, `note`, `terms`, `text`, `recipes`,
    `sampling`; what `corrected` does not say it takes from `printed`; `sharp` says all of its own.

    Args:
        quantity: one name for all editions, or a name for each edition.
    """
    texts = {Edition.PRINTED: printed, Edition.CORRECTED: {**printed, "note": "", **(corrected or {})}}
    if sharp is not None:
        texts[Edition.SHARP] = sharp
    return tuple(
        Statement(
            id=id,
            edition=edition,
            kind=kind,
            quantity=quantity if isinstance(quantity, str) else quantity[edition],
            expression=_expression(text),
            hypotheses=tuple(text.get("hypotheses", ())),
            source=source,
            note=text.get("note", ""),
            sampling=text.get("sampling", sampling),
            vocabulary=VOCABULARY,
            sense=sense,
            terms=text.get("terms", {}),
            text=text.get("text", ""),
            recipes=_recipes(text),
        )
        for edition, text in texts.items()
    )


def averaged(name: str) -> dict[str, str]:
    """The quantity `name` observed with the weights of each edition."""
    return {
        Edition.PRINTED: f"{name}@p_now",
        Edition.CORRECTED: f"{name}@p_next",
        Edition.SHARP: f"{name}@p_next",
    }


def _expression(text: Mapping[str, Any]) -> sympy.Expr | None:
    if "expression" in text:
        return sympy.sympify(text["expression"])
    return Largest(*text["terms"].values()) if "terms" in text else None


def _recipes(text: Mapping[str, Any]) -> Recipes:
    recipes: Recipes = text.get("recipes", {})
    return recipes


__all__ = ["ANY_SAMPLING", "VOCABULARY", "averaged", "entry", "ge", "gt", "le", "lt", "names"]
