"""One step of a proof: hypotheses, a claim, and what may be done about it when it is wrong.

A step is data, never a verdict: `verify.ledger` hands it to the provers. It is exact: a Float anywhere is
refused, and a root is written `sqrt(c)` (the provers take it as s >= 0 with s^2 = c).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import sympy

Expr: TypeAlias = sympy.Expr
Symbol: TypeAlias = sympy.Symbol
Number: TypeAlias = Expr | int | Fraction | float  # a float is refused with a message of our own

_FLIP = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "==": "=="}


class StepError(ValueError):
    """A step that cannot be judged because it is not written as one."""


class Kind(StrEnum):
    """What sort of claim a step makes."""

    IDENTITY = "identity"
    INEQUALITY = "inequality"
    INDUCTION = "induction"  # one obligation for the base, one for the step
    INVOKES = "invokes"  # the invoking statement's hypotheses imply those of the invoked one
    CALCULUS = "calculus"  # logarithms and exponentials
    RUN = "run"  # decided by a computation on an instance: a run in exact arithmetic, a solved game


@dataclass(frozen=True)
class Relation:
    """`lhs op rhs` between exact sympy expressions, never evaluated on its own.

    Raises:
        StepError: for a Float, or an unknown `op`.
    """

    lhs: Expr
    op: str
    rhs: Expr

    def __post_init__(self) -> None:
        if self.op not in _FLIP:
            raise StepError(f"relation {self.op!r}: one of {', '.join(_FLIP)}")
        for side in (self.lhs, self.rhs):
            if side.has(sympy.Float, sympy.zoo, sympy.nan, sympy.oo):
                raise StepError(f"{self}: exact numbers only (write Rational(1, 2), not 0.5)")

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The free symbols of both sides."""
        return frozenset(self.lhs.free_symbols | self.rhs.free_symbols)

    def map(self, function: Callable[[Expr], Expr]) -> Relation:
        """The relation with `function` applied to both sides."""
        return Relation(function(self.lhs), self.op, function(self.rhs))

    def __str__(self) -> str:
        return f"{self.lhs} {self.op} {self.rhs}"


def _exact(value: Number) -> Expr:
    if isinstance(value, float):
        raise StepError(f"{value!r}: exact numbers only (write Rational(1, 2), not 0.5)")
    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    return sympy.sympify(value)


def le(lhs: Number, rhs: Number) -> Relation:
    """`lhs <= rhs`."""
    return Relation(_exact(lhs), "<=", _exact(rhs))


def lt(lhs: Number, rhs: Number) -> Relation:
    """`lhs < rhs`."""
    return Relation(_exact(lhs), "<", _exact(rhs))


def ge(lhs: Number, rhs: Number) -> Relation:
    """`lhs >= rhs`."""
    return Relation(_exact(lhs), ">=", _exact(rhs))


def gt(lhs: Number, rhs: Number) -> Relation:
    """`lhs > rhs`."""
    return Relation(_exact(lhs), ">", _exact(rhs))


def eq(lhs: Number, rhs: Number) -> Relation:
    """`lhs == rhs`."""
    return Relation(_exact(lhs), "==", _exact(rhs))


@dataclass(frozen=True)
class Hypothesis:
    """A named hypothesis; `structural` ones define what the symbols are (a Gram matrix is positive
    semidefinite) and are never asked whether they are needed."""

    name: str
    relation: Relation
    structural: bool = False


@dataclass(frozen=True)
class Obligation:
    """What a prover is given: from the hypotheses follows the claim, for all values of the symbols."""

    name: str
    hypotheses: tuple[Hypothesis, ...]
    claim: Relation

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The free symbols, by name.

        Raises:
            StepError: when one name stands for two symbols of different sign.
        """
        found = set(self.claim.symbols).union(*(h.relation.symbols for h in self.hypotheses))
        names = [s.name for s in found]
        for name in names:
            if names.count(name) > 1:
                raise StepError(f"{self.name}: the symbol {name} has two different signs")
        return tuple(sorted(found, key=lambda s: s.name))

    @cached_property
    def digest(self) -> str:
        """A key for what is stored about the obligation: it changes when anything in it does."""
        text = [f"{s.name}:{sign_of(s)}" for s in self.symbols]
        text += [f"{h.name}|{h.relation}" for h in self.hypotheses]
        return hashlib.sha256("\n".join([*text, str(self.claim)]).encode()).hexdigest()[:16]


def sign_of(symbol: Symbol) -> str:
    """The domain of a symbol: `natural` (1, 2, ...), `integer` (0, 1, ...), `positive`, `nonnegative` or
    `real`."""
    if symbol.is_integer:
        return "natural" if symbol.is_positive else "integer"
    if symbol.is_positive:
        return "positive"
    return "nonnegative" if symbol.is_nonnegative else "real"


@dataclass(frozen=True)
class Repair:
    """Candidate repairs of a refuted step, least change first; the first that is proved is the repair.

    `options` pairs a description with the obligations that the repaired step consists of.
    """

    options: tuple[tuple[str, tuple[Obligation, ...]], ...]


@dataclass(frozen=True)
class Experiment:
    """The outcome of a computation on an instance: does `lhs == rhs` (or `lhs <= rhs`) hold there?

    Args:
        holds: whether the claim holds on the instance (None: it could not be judged).
        lhs, rhs: both sides, exact.
        instance: what was computed on, and with what outcome.
        settles: holding on this instance proves the claim (it speaks of one instance, or of every one by
            symbols); a claim that does not hold on one instance is refuted either way.
        note: one line on how far the computation goes, for a claim that it leaves open.
    """

    holds: bool | None
    lhs: Fraction
    rhs: Fraction
    instance: Mapping[str, str]
    settles: bool = False
    note: str = "one exact run, which agrees"


@dataclass(frozen=True)
class Step:
    """One displayed relation, or one "it follows", of a proof.

    Args:
        id: `<statement id>/<k>`, in the order of the paper's proof.
        edition: "printed", "corrected" or "sharp".
        text: what the paper says there, in the paper's symbols.
        source: section, equation.
        kind: what sort of claim it is.
        obligations: what has to be proved (several for an induction, or for m = 2, 3, 4).
        uses: ids of the statements or steps that it rests on.
        sharp: every constant of the claim is claimed best possible (then each, nudged, must be refuted).
        hints: expressions whose squares a certificate may use.
        cases: values of symbols worth trying first (points of equality, known counterexamples).
        run: for kind `run`, the exact experiment, or
        check: the name of one that needs games, runs or data: `verify.experiments.claims` holds it.
        survives_by: ids of steps that, all proved, show that the statement stands although this step does
        not.
        fails_by: ids of steps of which one refuted shows that the statement as printed is false.
        repair: candidate repairs.
    """

    id: str
    edition: str
    text: str
    source: str
    kind: Kind
    obligations: tuple[Obligation, ...] = ()
    uses: tuple[str, ...] = ()
    sharp: bool = False
    hints: tuple[Expr, ...] = ()
    cases: tuple[Mapping[str, Fraction], ...] = ()
    run: Callable[[], Experiment] | None = None
    check: str = ""
    survives_by: tuple[str, ...] = ()
    fails_by: tuple[str, ...] = ()
    repair: Repair | None = field(default=None)

    def __post_init__(self) -> None:
        if self.edition not in ("printed", "corrected", "sharp"):
            raise StepError(f"{self.id}: edition {self.edition!r}: printed, corrected or sharp")
        if (self.run is not None) + bool(self.check) != (self.kind is Kind.RUN):
            raise StepError(f"{self.id}: exactly the steps of kind run carry an experiment, and one")
        if self.kind is not Kind.RUN and not self.obligations:
            raise StepError(f"{self.id}: nothing to prove")

    @property
    def statement(self) -> str:
        """The statement whose proof it belongs to."""
        return self.id.rsplit("/", 1)[0]

    @property
    def key(self) -> str:
        """`id` for a printed step, `id@edition` otherwise."""
        return self.id if self.edition == "printed" else f"{self.id}@{self.edition}"


def hypotheses(given: Mapping[str, Relation], structural: Iterable[Relation] = ()) -> tuple[Hypothesis, ...]:
    """Named hypotheses from a mapping, preceded by structural ones."""
    shape = tuple(Hypothesis("structure", relation, structural=True) for relation in structural)
    return shape + tuple(Hypothesis(name, relation) for name, relation in given.items())
