"""The paper's mathematics: symbols, statements, hypotheses, editions, evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bounds.on_demand import lazy

if TYPE_CHECKING:
    from bounds.contents import ids
    from bounds.core.constant import Constant, Constants, Provenance, raw, weakest
    from bounds.core.errors import (
        DomainError,
        HypothesisFails,
        MethodError,
        MissingConstants,
        UnknownStatement,
    )
    from bounds.core.hypothesis import Hypothesis, HypothesisCheck
    from bounds.core.statement import Edition, Kind, Orders, Sampling, Sense, Statement
    from bounds.incentfedavg.lemma_6_5 import lemma_6_5_pair
    from bounds.quantities import QUANTITIES
    from bounds.registry import editions, get, start_distance, start_gap
    from bounds.symbols import SYMBOLS

__all__ = [
    "QUANTITIES",
    "SYMBOLS",
    "Constant",
    "Constants",
    "DomainError",
    "Edition",
    "Hypothesis",
    "HypothesisCheck",
    "HypothesisFails",
    "Kind",
    "MethodError",
    "MissingConstants",
    "Orders",
    "Provenance",
    "Sampling",
    "Sense",
    "Statement",
    "UnknownStatement",
    "editions",
    "get",
    "ids",
    "lemma_6_5_pair",
    "raw",
    "start_distance",
    "start_gap",
    "weakest",
]

_NAMES = {
    "bounds.contents": ("ids",),
    "bounds.core.constant": ("Constant", "Constants", "Provenance", "raw", "weakest"),
    "bounds.core.errors": (
        "DomainError",
        "HypothesisFails",
        "MethodError",
        "MissingConstants",
        "UnknownStatement",
    ),
    "bounds.core.hypothesis": ("Hypothesis", "HypothesisCheck"),
    "bounds.core.statement": ("Edition", "Kind", "Orders", "Sampling", "Sense", "Statement"),
    "bounds.incentfedavg.lemma_6_5": ("lemma_6_5_pair",),
    "bounds.quantities": ("QUANTITIES",),
    "bounds.registry": ("editions", "get", "start_distance", "start_gap"),
    "bounds.symbols": ("SYMBOLS",),
}
__getattr__, __dir__ = lazy(__name__, _NAMES)
