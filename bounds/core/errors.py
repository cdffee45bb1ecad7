"""What can be wrong with a question put to a statement; each is a `ValueError` of one line."""

from __future__ import annotations


class UnknownStatement(ValueError):
    """No statement has this id, or it has no such edition; the message names near ones."""


class MissingConstants(ValueError):
    """A constant that the statement needs is absent; the message names it and what could replace it."""


class DomainError(ValueError):
    """A constant lies outside its domain (NaN, a negative size, a fractional count)."""


class MethodError(ValueError):
    """The statement's kind has no such method (an assumption has no value to evaluate)."""


class HypothesisFails(ValueError):
    """A hypothesis of a statement fails for the constants given.

    Attributes:
        statement: the id; hypothesis: its name; lhs, rhs: both sides at the first failing point;
        count: how many points fail; first: index of the first one, `()` for scalars.
    """

    def __init__(
        self,
        statement: str,
        hypothesis: str,
        lhs: float,
        rhs: float,
        count: int = 1,
        first: tuple[int, ...] = (),
    ) -> None:
        self.statement, self.hypothesis = statement, hypothesis
        self.lhs, self.rhs, self.count, self.first = lhs, rhs, count, first
        where = f" at {count} points, first at index {first}" if first else ""
        super().__init__(
            f"{statement}: hypothesis {hypothesis!r} fails{where}: its sides are {lhs:.17g} and {rhs:.17g}"
        )
