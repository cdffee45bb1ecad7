"""How proof steps are written down: symbols with signs, vectors, and a book that numbers the steps.

Vectors: an inequality between inner products holds in every dimension if it holds for the Gram matrices that
vectors can have. `vectors("u v")` gives k vectors triangular coordinates in R^k, which loses nothing; where
only two vectors and their norms occur, `pair` states Cauchy-Schwarz and keeps the norms as symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import sympy

from bounds.core.step import (
    Experiment,
    Expr,
    Kind,
    Obligation,
    Relation,
    Repair,
    Step,
    Symbol,
    ge,
    hypotheses,
    le,
)

Vector: TypeAlias = tuple[Expr, ...]
Claim: TypeAlias = Relation | Sequence[Relation]


def positive(names: str) -> tuple[Symbol, ...]:
    """Symbols > 0."""
    return tuple(sympy.Symbol(n, positive=True) for n in names.split())


def nonnegative(names: str) -> tuple[Symbol, ...]:
    """Symbols >= 0."""
    return tuple(sympy.Symbol(n, nonnegative=True) for n in names.split())


def real(names: str) -> tuple[Symbol, ...]:
    """Real symbols."""
    return tuple(sympy.Symbol(n, real=True) for n in names.split())


def natural(names: str) -> tuple[Symbol, ...]:
    """Integers >= 1."""
    return tuple(sympy.Symbol(n, integer=True, positive=True) for n in names.split())


def integer(names: str) -> tuple[Symbol, ...]:
    """Integers >= 0."""
    return tuple(sympy.Symbol(n, integer=True, nonnegative=True) for n in names.split())


def vectors(names: str) -> tuple[Vector, ...]:
    """k vectors in general position: triangular coordinates in R^k."""
    listed = names.split()
    return tuple(
        tuple(real(f"{name}_{j}")[0] if j <= i else sympy.Integer(0) for j in range(len(listed)))
        for i, name in enumerate(listed)
    )


def dot(a: Vector, b: Vector) -> Expr:
    """The inner product."""
    return sympy.Add(*(x * y for x, y in zip(a, b, strict=True)))


def sq(a: Vector) -> Expr:
    """The squared norm."""
    return dot(a, a)


def plus(*terms: Vector) -> Vector:
    """The sum of vectors."""
    return tuple(sympy.Add(*parts) for parts in zip(*terms, strict=True))


def times(scalar: Expr | int, a: Vector) -> Vector:
    """A multiple of a vector."""
    return tuple(scalar * x for x in a)


def minus(a: Vector, b: Vector) -> Vector:
    """The difference of two vectors."""
    return plus(a, times(-1, b))


def cauchy_schwarz(inner: Expr, norm_a: Expr, norm_b: Expr) -> tuple[Relation, Relation]:
    """What it is to be an inner product of vectors with these norms: |inner| <= norm_a norm_b."""
    return le(inner, norm_a * norm_b), le(-inner, norm_a * norm_b)


def case(**values: int | str | Fraction) -> Mapping[str, Fraction]:
    """A rational point, e.g. `case(m=2, gamma="1/32")`."""
    return {name: Fraction(value) for name, value in values.items()}


def _listed(claim: Claim) -> tuple[Relation, ...]:
    return (claim,) if isinstance(claim, Relation) else tuple(claim)


def obliged(
    claim: Claim,
    given: Mapping[str, Relation] | None = None,
    structure: Iterable[Relation] = (),
    name: str = "",
) -> tuple[Obligation, ...]:
    """Obligations with common hypotheses, one per relation of `claim`."""
    shared = hypotheses(given or {}, structure)
    claims = _listed(claim)
    return tuple(
        Obligation(name if len(claims) == 1 else f"{name}[{i}]", shared, relation)
        for i, relation in enumerate(claims, start=1)
    )


def substituted(obligation: Obligation, parameter: Symbol, value: Expr | int | Fraction) -> Obligation:
    """The obligation with a parameter set to a value."""
    exact = sympy.Rational(value.numerator, value.denominator) if isinstance(value, Fraction) else value
    swap = {parameter: sympy.sympify(exact)}
    return Obligation(
        obligation.name,
        tuple(
            type(h)(h.name, h.relation.map(lambda e: e.subs(swap)), h.structural)
            for h in obligation.hypotheses
        ),
        obligation.claim.map(lambda e: e.subs(swap)),
    )


def least_constant(
    template: Sequence[Obligation], parameter: Symbol, values: Sequence[Expr | int | Fraction], says: str
) -> Repair:
    """The search for the least constant: `says` holds `{}` where the value goes."""
    return Repair(
        tuple(
            (says.format(value), tuple(substituted(o, parameter, value) for o in template))
            for value in values
        )
    )


def repaired(*options: tuple[str, Sequence[Obligation]]) -> Repair:
    """Candidate repairs, least change first."""
    return Repair(tuple((text, tuple(duties)) for text, duties in options))


class Book:
    """The steps of one statement in one edition, numbered as they are written.

    Args:
        statement: the statement's id.
        source: where its proof stands.
        edition: "printed" (default), "corrected" or "sharp".
    """

    def __init__(self, statement: str, source: str, edition: str = "printed") -> None:
        self.statement, self.source, self.edition = statement, source, edition
        self.steps: list[Step] = []

    def _add(self, text: str, kind: Kind, **rest: Any) -> str:
        step = Step(
            id=f"{self.statement}/{len(self.steps) + 1}",
            edition=self.edition,
            text=text,
            source=self.source,
            kind=kind,
            **rest,
        )
        self.steps.append(step)
        return step.key

    def step(
        self,
        text: str,
        claim: Claim | None = None,
        given: Mapping[str, Relation] | None = None,
        *,
        structure: Iterable[Relation] = (),
        obligations: Sequence[Obligation] | None = None,
        kind: Kind | None = None,
        uses: Iterable[str] = (),
        sharp: bool = False,
        hints: Iterable[Expr] = (),
        cases: Iterable[Mapping[str, Fraction]] = (),
        survives_by: Iterable[str] = (),
        fails_by: Iterable[str] = (),
        repair: Repair | None = None,
    ) -> str:
        """Writes a step down and gives its key. Its kind is read off the claim unless given."""
        duties = tuple(obligations) if obligations is not None else obliged(claim or (), given, structure)
        if kind is None:
            kind = Kind.IDENTITY if all(o.claim.op == "==" for o in duties) else Kind.INEQUALITY
        return self._add(
            text,
            kind,
            obligations=duties,
            uses=tuple(uses),
            sharp=sharp,
            hints=tuple(hints),
            cases=tuple(cases),
            survives_by=tuple(survives_by),
            fails_by=tuple(fails_by),
            repair=repair,
        )

    def induction(
        self, text: str, base: Claim, advance: Claim, given: Mapping[str, Relation], **rest: Any
    ) -> str:
        """A claim for all n: `base` holds outright, `advance` under the induction hypothesis in `given`."""
        free = {n: r for n, r in given.items() if not n.startswith("induction")}
        duties = obliged(base, free, name="base") + obliged(advance, given, name="advance")
        return self.step(text, obligations=duties, kind=Kind.INDUCTION, **rest)

    def invokes(self, invoked: str, claim: Claim, given: Mapping[str, Relation], **rest: Any) -> str:
        """The hypotheses listed here imply those of `invoked`."""
        text = rest.pop("text", None) or f"invokes {invoked}: its hypotheses are implied"
        return self.step(str(text), claim, given, kind=Kind.INVOKES, uses=(invoked,), **rest)

    def run(self, text: str, experiment: Callable[[], Experiment], **rest: Any) -> str:
        """A claim decided by a run in exact arithmetic."""
        return self._add(text, Kind.RUN, run=experiment, **rest)

    def check(self, text: str, name: str, **rest: Any) -> str:
        """A claim decided by a computation that `verify.experiments.claims` holds under `name`."""
        return self._add(text, Kind.RUN, check=name, **rest)


def jensen(book: Book, text: str) -> str:
    """Jensen's inequality for a convex function, from its tangent at the mean, one point at a time:
    sum w_k f(y_k) >= (sum w_k) f(mean) + sum w_k g^T (y_k - mean), whose last sum is 0 in the end."""
    w, w_sum = nonnegative("w_k w_sum")
    f_k, f_sum, f_mean, g_k, g_sum = real("f_k wf_sum f_mean slope_k wslope_sum")
    tangent = {"the tangent at the mean": ge(f_k, f_mean + g_k)}
    return book.induction(
        text,
        ge(w * f_k, w * f_mean + w * g_k),
        (
            ge(f_sum + w * f_k, (w_sum + w) * f_mean + (g_sum + w * g_k)),
            le(f_mean, f_sum + w * f_k - (g_sum + w * g_k) + (1 - w_sum - w) * f_mean),
        ),
        {**tangent, "induction hypothesis": ge(f_sum, w_sum * f_mean + g_sum)},
    )
