"""A statement: what a lemma or theorem says, ready to be evaluated, enclosed, checked and printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from flint import arb

from bounds.core.constant import Constants
from bounds.core.errors import MethodError
from bounds.core.hypothesis import Hypothesis, HypothesisCheck
from bounds.core.vocabulary import Recipes, Vocabulary

if (
    TYPE_CHECKING
):  # loaded on first use: half of what this package adds to the time that sympy takes to import
    import bounds.core.plan


class Kind(StrEnum):
    """What sort of statement it is; the kind says which methods it has."""

    BOUND = "bound"  # a quantity is at most (or at least) the expression
    IDENTITY = "identity"  # a quantity equals the expression
    IMPLICATION = "implication"  # the hypotheses imply the conclusion
    PREDICATE = "predicate"  # an assumption: only its hypotheses
    ORDER = "order"  # an O(.) of named terms: an order, not a guarantee
    CLAIM = "claim"  # what an experiment is said to show


class Edition(StrEnum):
    """Which text of a statement: the paper's letter, the repaired one, the best we can prove."""

    PRINTED = "printed"
    CORRECTED = "corrected"
    SHARP = "sharp"


class Sense(StrEnum):
    """How the quantity stands to the expression."""

    AT_MOST = "<="
    AT_LEAST = ">="
    EQUAL = "="


class Sampling(StrEnum):
    """How a client draws its data: with replacement, all of it, or from Algorithm 1's random subset."""

    IID = "iid"
    FULL = "full"
    SUBSET = "subset"


ANY_SAMPLING = (Sampling.IID, Sampling.FULL, Sampling.SUBSET)
UNBIASED = (Sampling.IID, Sampling.FULL)


@dataclass(frozen=True)
class Orders:
    """The terms of an O(.): each R_j by name, the largest, and what it is not."""

    terms: dict[str, float | np.ndarray]
    value: float | np.ndarray
    binding: str | np.ndarray
    text: str = "orders up to unstated constants, not guarantees: no number of rounds follows from them"


@dataclass(frozen=True, eq=False)
class Statement:
    """One edition of one statement of the paper.

    Args:
        id: "Lemma 4.3(i)"; edition; kind.
        quantity: the observed quantity, a name in the vocabulary's table.
        expression: the bound (None for predicates and claims).
        hypotheses: named conditions, in the paper's order.
        source: where the paper states and proves it.
        note: what is wrong with it, whether it survives, what was changed.
        sampling: the ways of drawing data under which it is stated.
        sense: quantity <=, >= or = expression.
        terms: for an order, the named terms whose maximum is the expression; for an implication, the steps
            that it gives besides its conclusion.
        text: for a claim or an implication, what it says in words.
        recipes: names that this statement derives in its own way (Lemma 6.5's editions).
    """

    id: str
    edition: Edition
    kind: Kind
    quantity: str
    expression: sympy.Expr | None
    hypotheses: tuple[Hypothesis, ...]
    source: str
    note: str
    sampling: tuple[Sampling, ...]
    vocabulary: Vocabulary = field(repr=False)
    sense: Sense = Sense.AT_MOST
    terms: Mapping[str, sympy.Expr] = field(default_factory=dict)
    text: str = ""
    recipes: Recipes = field(default_factory=dict)
    _plans: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The base names it needs, hypotheses included; optional ones last."""
        from bounds.core.compiled import base_names

        relations = [h.relation for h in self.hypotheses if not h.optional]
        names = {s.name for e in [*self._expressions(), *relations] for s in e.free_symbols}
        needed = base_names(names, self._all_recipes)
        spare = {s.name for h in self.hypotheses if h.optional for s in h.relation.free_symbols}
        return (*needed, *(n for n in base_names(spare, self._all_recipes) if n not in needed))

    def evaluate(self, constants: Constants, *, unchecked: bool = False) -> float | np.ndarray:
        """The expression in float64, vectorised over broadcast arrays.

        Args:
            constants: names to numbers, arrays, lists or `Constant`s; surplus names are ignored.
            unchecked: skip domains and hypotheses.

        Returns:
            A float, or an array of the broadcast shape; infinite where the expression divides by zero.

        Raises:
            MissingConstants, DomainError: for bad input.
            HypothesisFails: where a hypothesis surely fails (an undecided one does not raise).
            MethodError: for a statement without an expression.
        """
        self._need_expression("evaluate")
        value = self.plan(constants).evaluate(constants, unchecked)[0]
        return float(value) if np.ndim(value) == 0 else value

    def enclose(self, constants: Constants, prec: int = 53, *, unchecked: bool = False) -> arb:
        """A ball that contains the exact value of the expression at the given constants.

        Floats are taken as the exact numbers they are, Fractions exactly, a `Constant` with a radius as a
        ball.

        Args:
            constants: as for `evaluate`, scalars (vectors only for names that are vectors).
            prec: bits of precision aimed at.
            unchecked: skip domains and hypotheses.

        Raises:
            As `evaluate`.
        """
        if self.expression is None:
            self._need_expression("enclose")
        return self.plan(constants).enclose(constants, prec, unchecked)[0]

    def parts(self, constants: Constants, *, unchecked: bool = False) -> dict[str, float | np.ndarray]:
        """The named terms in float64: each R_j of an order, the intermediate results of an implication.

        Raises:
            MethodError: for a statement without named terms; else as `evaluate`.
        """
        if not self.terms:
            raise MethodError(f"{self.id} has no named terms: use evaluate")
        values = self.plan(constants, parts=True).evaluate(constants, unchecked)
        return {n: float(v) if np.ndim(v) == 0 else v for n, v in zip(self.terms, values, strict=True)}

    def orders(self, constants: Constants, *, unchecked: bool = False) -> Orders:
        """Each term of an O(.) by name, the largest, and which one binds.

        Raises:
            MethodError: for a statement that is not an order; else as `evaluate`.
        """
        if self.kind is not Kind.ORDER:
            raise MethodError(f"{self.id} is of kind {self.kind}: only an order has terms")
        terms = self.parts(constants, unchecked=unchecked)
        stacked = np.stack(np.broadcast_arrays(*terms.values()))
        best, binding = stacked.max(axis=0), np.array(list(terms))[np.argmax(stacked, axis=0)]
        scalar = stacked.ndim == 1
        return Orders(terms, float(best) if scalar else best, str(binding) if scalar else binding)

    def check(
        self, constants: Constants, hypotheses: Sequence[Hypothesis] | None = None
    ) -> tuple[HypothesisCheck, ...]:
        """Every hypothesis (or those of its own that are named), decided rigorously: holds, fails, undecided (None).

        For arrays the answer is about all points, with the sides of the worst one. Names that are missing
        leave their hypotheses undecided.

        Raises:
            DomainError: for a constant outside its domain.
        """
        from bounds.core.plan import as_floats

        plan = self.plan(constants)
        values = {n: as_floats(constants[n]) for n in plan.read}
        with np.errstate(all="ignore"):
            plan.check_domains(values)
        chosen = self.hypotheses if hypotheses is None else hypotheses
        return tuple(self._check_one(h, plan, values, constants) for h in chosen)

    def reads(self, constants: Constants) -> tuple[frozenset[str], ...]:
        """For each hypothesis the names among `constants` that decide it, directly or through derived ones."""
        plan = self.plan(constants)
        return tuple(
            frozenset(n for a in plan.atoms if a.hypothesis is h for n in a.resolution.inputs)
            for h in self.hypotheses
        )

    def largest(self, name: str, constants: Constants) -> float:
        """The largest float `name` that satisfies every hypothesis of the form `name <= ...` (at one point).

        Where the limit is known only to a radius, the largest that is proved to satisfy them; at most 0 where none
        is.

        Raises:
            MethodError: if no hypothesis bounds `name` from above by other constants.
        """
        trial = {**constants, name: 1.0}
        plan = self.plan(trial)
        bounds = [
            a
            for a in plan.atoms
            if a.decidable and str(a.relation.lhs) == name and a.relation.rel_op in ("<=", "<")
        ]
        if not bounds:
            raise MethodError(f"{self.id}: no hypothesis bounds {name} from above by the constants given")
        best = min(plan.decide(a, trial)[2] for a in bounds)
        if not 0 < best < np.inf:
            return best
        return largest_float(
            best, lambda value: all(plan.decide(a, {**trial, name: value})[0] for a in bounds)
        )

    def latex(self) -> str:
        """The statement as LaTeX, in the paper's glyphs."""
        glyph = self.vocabulary.quantities[self.quantity].latex
        if self.expression is None:
            return r" \quad ".join(self.latex_of(h.relation) for h in self.hypotheses) or glyph
        sign = {Sense.AT_MOST: r"\leq", Sense.AT_LEAST: r"\geq", Sense.EQUAL: "="}[self.sense]
        if self.kind is Kind.ORDER:
            inner = r",\; ".join(self.latex_of(e) for e in self.terms.values())
            return rf"{glyph} = O\left(\max\left\{{{inner}\right\}}\right)"
        return f"{glyph} {sign} {self.latex_of(self.expression)}"

    def latex_of(self, expression: sympy.Basic) -> str:
        """Any expression or relation of the statement as LaTeX, in the paper's glyphs."""
        from bounds.core.typeset import latex

        glyphs = {
            s: self.vocabulary.symbols[s.name].latex if s.name in self.vocabulary.symbols else s.name
            for s in expression.free_symbols
        }
        return latex(expression, glyphs)

    # Inside

    def plan(self, constants: Mapping[str, Any], parts: bool = False) -> bounds.core.plan.Plan:
        """The compiled plan for the names that `constants` gives (made on first use, then kept)."""
        key = (parts, *constants)
        plan = self._plans.get(key)
        if plan is None:
            given = frozenset(constants)
            plan = self._plans.get((parts, given))
            if plan is None:
                from bounds.core.plan import Plan

                plan = Plan(
                    f"{self.id} ({self.edition})",
                    tuple(self.terms.values()) if parts else self._expressions(),
                    self.hypotheses,
                    given,
                    self.vocabulary.symbols,
                    self._all_recipes,
                )
                self._plans[parts, given] = plan
            self._plans[key] = plan
        return plan

    @cached_property
    def _all_recipes(self) -> Recipes:
        return {**self.vocabulary.derived, **self.recipes}

    def _expressions(self) -> tuple[sympy.Expr, ...]:
        return () if self.expression is None else (self.expression,)

    def _need_expression(self, method: str) -> None:
        if self.expression is None:
            raise MethodError(f"{self.id} is of kind {self.kind}: it has no value to {method}; use check")

    def _check_one(
        self,
        hypothesis: Hypothesis,
        plan: bounds.core.plan.Plan,
        values: Mapping[str, Any],
        constants: Mapping[str, Any],
    ) -> HypothesisCheck:
        from bounds.core.plan import severity

        worst: tuple[bool | None, float, float, float] | None = None
        for atom in (a for a in plan.atoms if a.hypothesis is hypothesis):
            if not atom.decidable:
                lacking = ", ".join(atom.resolution.missing)
                why = hypothesis.note or f"undecided: needs {lacking}"
                return HypothesisCheck(hypothesis.name, None, np.nan, np.nan, np.nan, why)
            answer = plan.worst(atom, values, constants)
            if worst is None or severity(answer) > severity(worst):
                worst = answer
        assert worst is not None
        relation_holds, lhs, rhs, slack = worst
        holds = hypothesis.judge(relation_holds)
        word = {True: "holds", False: "fails", None: "undecided"}[holds]
        why = f" ({hypothesis.note})" if holds is None and hypothesis.note else ""
        beyond = " beyond 17 digits" if lhs == rhs and holds is False else ""
        text = f"{hypothesis.name}: {_told_apart(lhs, rhs)}, {word}{beyond}{why}"
        return HypothesisCheck(hypothesis.name, holds, lhs, rhs, slack, text)


def largest_float(top: float, allowed: Callable[[float], bool]) -> float:
    """The largest float64 in [0, top] that is allowed, if with a number every smaller one > 0 is (0 if none is).

    Bisection over the ordered floats, its steps doubling down from `top` at first: a limit known to the last place
    takes a question or two, one known only to a radius about twice as many as it loses bits, never more than 126.
    """
    bits = int(np.float64(top).view(np.int64))  # positive floats are ordered like the integers of their bits
    low, high, step = bits, bits + 1, 1

    def at(index: int) -> float:
        return float(np.int64(index).view(np.float64))

    while low > 0 and not allowed(at(low)):
        low, high, step = max(low - step, 0), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if allowed(at(middle)) else (low, middle)
    return at(low)


def _told_apart(lhs: float, rhs: float) -> str:
    """Two sides with as many digits as tell them apart (equal floats may still differ as balls)."""
    for digits in (10, 13, 17):
        left, right = f"{lhs:.{digits}g}", f"{rhs:.{digits}g}"
        if left != right:
            return f"{left} against {right}"
    return f"{lhs:.10g} against {rhs:.10g}"
