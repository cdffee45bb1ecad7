"""The paper's mathematics: symbols, statements, hypotheses, editions, evaluation."""

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
from bounds.quantities import QUANTITIES
from bounds.registry import editions, get, ids
from bounds.symbols import SYMBOLS


def lemma_6_5_pair(constants: Constants, edition: str = "corrected") -> dict[str, Constant]:
    """The pair (G, B) of Lemma 6.5; see `bounds.incentfedavg.lemma_6_5.lemma_6_5_pair`."""
    from bounds.incentfedavg.lemma_6_5 import lemma_6_5_pair as pair

    return pair(constants, edition)


def start_gap() -> Statement:
    """The a-priori bound on the optimality gap when counting starts (sharp; not in the paper)."""
    from bounds.incentfedavg.start import START_GAP

    return START_GAP


def start_distance() -> Statement:
    """The a-priori bound on the mean square distance to x* when counting starts (sharp; not in the paper)."""
    from bounds.incentfedavg.start import START_DISTANCE

    return START_DISTANCE


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
