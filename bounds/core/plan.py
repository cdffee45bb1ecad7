"""One statement met with one set of given names: compiled functions, domains and decided hypotheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
import sympy
from flint import arb, ctx
from sympy.core.relational import Relational

from bounds.core.compiled import Function, Resolution, ball_reads, build, converters, resolve
from bounds.core.constant import Constant
from bounds.core.decide import decide, severity, surely
from bounds.core.derive import Computed
from bounds.core.emit import relation_sides
from bounds.core.enclosure import working
from bounds.core.errors import HypothesisFails, MissingConstants
from bounds.core.hypothesis import Hypothesis
from bounds.core.quick import build_quick
from bounds.core.vocabulary import Recipes, Symbol

_BLOCK = 8192  # points a block: the temporaries stay in cache


@dataclass(frozen=True, eq=False)
class Atom:
    """One relation of a hypothesis, with the way to compute its sides."""

    hypothesis: Hypothesis
    relation: Relational
    resolution: Resolution

    @property
    def decidable(self) -> bool:
        """Are all its names given or derivable?"""
        return not self.resolution.missing


@dataclass(eq=False)
class Plan:
    """How a statement reads the constants of a caller who gives the names `given`."""

    statement: str
    expressions: tuple[sympy.Expr, ...]
    hypotheses: tuple[Hypothesis, ...]
    given: frozenset[str]
    table: Mapping[str, Symbol]
    recipes: Recipes
    functions: dict[Any, Any] = field(default_factory=dict)
    _settled: Any = None  # the values of the last point whose hypotheses plain floats settled

    @cached_property
    def resolution(self) -> Resolution:
        """Where the names of the expression come from."""
        return resolve(_names(self.expressions), self.given, self.recipes)

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The relations of all hypotheses, in order."""
        return tuple(
            Atom(h, atom, resolve(_names([atom.lhs, atom.rhs]), self.given, self.recipes))
            for h in self.hypotheses
            for atom in relation_sides(h.relation)
        )

    @cached_property
    def absent(self) -> tuple[str, ...]:
        """Names without which the statement cannot be evaluated with its hypotheses checked.

        Hypotheses on a base name of a derived name that is given do not count: they stay undecided.
        """
        excused = {
            b
            for n in self.given
            if n in self.recipes
            for r in self.recipes[n]
            for b in self._all_bases(r.bases)
        }
        needed = list(self.resolution.missing)
        for atom in self.atoms:
            lacking = atom.resolution.missing
            if not atom.hypothesis.optional and not excused.intersection(lacking):
                needed += lacking
        return tuple(dict.fromkeys(needed))

    def _all_bases(self, names: Sequence[str]) -> list[str]:
        found = list(names)
        for n in names:
            for r in self.recipes.get(n, ()):
                found += self._all_bases(r.bases)
        return found

    @cached_property
    def arrays(self) -> frozenset[str]:
        """Names that hold vectors."""
        return frozenset(n for n, s in self.table.items() if s.domain.array)

    @cached_property
    def counts(self) -> frozenset[str]:
        """Names that hold whole numbers."""
        return frozenset(n for n, s in self.table.items() if s.domain.integer and not s.domain.array)

    def require(self, unchecked: bool) -> None:
        """Raise `MissingConstants` if a name is absent."""
        absent = self.resolution.missing if unchecked else self.absent
        if absent:
            first = absent[0]
            meaning = f" ({self.table[first].meaning})" if first in self.table else ""
            more = f"; also {', '.join(absent[1:])}" if absent[1:] else ""
            raise MissingConstants(f"{self.statement}: {first} is missing{meaning}: give it{more}")

    @cached_property
    def read(self) -> tuple[str, ...]:
        """Every given name that the expression or a hypothesis reads."""
        names = dict.fromkeys(self.resolution.inputs)
        for atom in self.atoms:
            names.update(dict.fromkeys(atom.resolution.inputs))
        return tuple(names)

    # Floats

    def floats(self) -> Function:
        """The expressions in floats."""
        if "float" not in self.functions:
            self.functions["float"] = build(self.expressions, self.resolution, "float", self.counts)
        function: Function = self.functions["float"]
        return function

    @cached_property
    def _sure(self) -> tuple[tuple[Atom, ...], Resolution, Function]:
        atoms = tuple(a for a in self.atoms if a.decidable)
        sides = [s for a in atoms for s in (a.relation.lhs, a.relation.rhs)]
        resolution = resolve(_names(sides), self.given, self.recipes)
        return atoms, resolution, build(sides, resolution, "sure", self.counts)

    @cached_property
    def _quick(self) -> tuple[Any, Any]:
        """How to take what `settled` reads from the constants, and its function (None if there is none)."""
        atoms = [a for a in self.atoms if a.decidable]
        sides = [s for a in atoms for s in (a.relation.lhs, a.relation.rhs)]
        resolution = resolve(_names([*sides, *self.expressions]), self.given, self.recipes)
        function = build_quick([a.relation for a in atoms], resolution, self.table)
        return itemgetter(*resolution.inputs) if resolution.inputs else dict, function

    def settled(self, constants: Mapping[str, Any]) -> bool:
        """Do plain floats settle, for a single point, that every domain and hypothesis holds?

        The numbers that were settled last are remembered: asking again costs a comparison.
        """
        take, function = self._quick
        if function is None:
            return False
        values = take(constants)
        try:
            if values == self._settled:
                return True
        except ValueError:  # an array among them has no truth of its own
            return False
        if not function(constants):
            return False
        self._settled = values
        return True

    def check_domains(self, values: Mapping[str, Any]) -> None:
        """Every value that is read lies in the domain of its symbol."""
        for name in self.read:
            domain = self.table[name].domain
            x = values[name]
            if not x.ndim:  # in plain floats: numpy's scalars take ten times as long
                if not domain.contains(float(x)):
                    domain.require(name, x)
                continue
            low = x.min(initial=np.inf)
            inside = low > domain.lower if domain.open_lower else low >= domain.lower
            if domain.upper < np.inf:
                high = x.max(initial=-np.inf)
                inside = inside and (high < domain.upper if domain.open_upper else high <= domain.upper)
            if not inside or (domain.integer and not (x == np.floor(x)).all()):
                domain.require(name, x)

    def require_hypotheses(self, values: Mapping[str, Any], constants: Mapping[str, Any]) -> None:
        """Raise `HypothesisFails` for the first hypothesis that surely fails somewhere."""
        atoms, resolution, function = self._sure
        sides = function([values[n] for n in resolution.inputs])
        for i, atom in enumerate(atoms):
            lhs, rhs = sides[2 * i], sides[2 * i + 1]
            sure = surely(atom.relation, lhs, rhs)
            if np.all(sure):
                continue
            shape = np.broadcast_shapes(np.shape(lhs), np.shape(rhs))
            failing = self._failing(atom, np.broadcast_to(sure, shape), values, constants)
            if failing:
                first, left, right = failing[0]
                raise HypothesisFails(self.statement, atom.hypothesis.name, left, right, len(failing), first)

    def _failing(
        self, atom: Atom, sure: np.ndarray, values: Mapping[str, Any], constants: Mapping[str, Any]
    ) -> list[tuple[tuple[int, ...], float, float]]:
        """The points, among those that floats do not settle, where the relation surely fails."""
        known: dict[tuple[float, ...], tuple[bool | None, float, float]] = {}
        failing = []
        for index in zip(*np.nonzero(~sure), strict=True) if sure.ndim else [()]:
            point = {n: self._at(n, index, sure.shape, values, constants) for n in atom.resolution.inputs}
            key = tuple(float(v) for n, v in point.items() if isinstance(v, float))
            if key not in known or len(key) < len(point):
                known[key] = self.decide(atom, point)
            holds, left, right = known[key]
            if atom.hypothesis.judge(holds) is False:
                failing.append((tuple(int(i) for i in index), left, right))
        return failing

    def _at(
        self,
        name: str,
        index: tuple[Any, ...],
        shape: tuple[int, ...],
        values: Mapping[str, Any],
        constants: Mapping[str, Any],
    ) -> Any:
        if name in self.arrays:
            vector = values[name]
            return vector if vector.ndim < 2 else np.broadcast_to(vector, (*shape, vector.shape[-1]))[index]
        if values[name].ndim == 0:
            return constants[name]
        return float(np.broadcast_to(values[name], shape)[index])

    def surely(self, atom: Atom, values: Mapping[str, Any]) -> Any:
        """Where plain floats settle that a relation holds, for arrays of points.

        Nowhere, if it reads a function of vectors, which takes one point at a time.
        """
        computed = any(isinstance(recipe, Computed) for _, recipe in atom.resolution.steps)
        if computed and any(values[n].ndim for n in atom.resolution.inputs if n not in self.arrays):
            return False
        lhs, rhs = self._sides(atom, values)
        return surely(atom.relation, lhs, rhs)

    def _sides(self, atom: Atom, values: Mapping[str, Any]) -> tuple[Any, Any]:
        relation = atom.relation
        key = ("sides", relation, atom.resolution)
        if key not in self.functions:
            self.functions[key] = build([relation.lhs, relation.rhs], atom.resolution, "sure", self.counts)
        lhs, rhs = self.functions[key]([values[n] for n in atom.resolution.inputs])
        return lhs, rhs

    def decide(self, atom: Atom, point: Mapping[str, Any]) -> tuple[bool | None, float, float]:
        """(holds, lhs, rhs) of one relation at one point, rigorously."""
        return decide(atom.relation, atom.resolution, point, self.arrays, self.counts, self.functions)

    def worst(
        self, atom: Atom, values: Mapping[str, Any], constants: Mapping[str, Any]
    ) -> tuple[bool | None, float, float, float]:
        """(holds, lhs, rhs, slack) of a relation, for arrays at the worst of all points."""
        inputs = atom.resolution.inputs
        shape = np.broadcast_shapes(*(values[n].shape for n in inputs if n not in self.arrays))
        shape = np.broadcast_shapes(shape, *(values[n].shape[:-1] for n in inputs if n in self.arrays))
        answers = []
        for index in self._doubtful(atom, shape, values):
            point = {n: self._at(n, index, shape, values, constants) for n in inputs}
            holds, lhs, rhs = self.decide(atom, point)
            with np.errstate(invalid="ignore"):
                slack = float(
                    np.subtract(rhs, lhs) if atom.relation.rel_op in ("<=", "<") else np.subtract(lhs, rhs)
                )
            answers.append((holds, lhs, rhs, slack))
        return max(answers, key=severity)

    def _doubtful(
        self, atom: Atom, shape: tuple[int, ...], values: Mapping[str, Any]
    ) -> list[tuple[int, ...]]:
        """The points that floats do not settle, and the one of least slack; just `()` for a single point."""
        if not shape:
            return [()]
        relation = atom.relation
        with np.errstate(all="ignore"):
            lhs, rhs = self._sides(atom, values)
            slack = np.broadcast_to(rhs - lhs if relation.rel_op in ("<=", "<") else lhs - rhs, shape)
            sure = np.broadcast_to(surely(relation, lhs, rhs), shape)
        least = np.unravel_index(np.argmin(np.where(np.isnan(slack), -np.inf, slack)), shape)
        points = {tuple(int(i) for i in least): None}
        points.update({tuple(int(i) for i in p): None for p in np.argwhere(~sure)})
        return list(points)

    def evaluate(self, constants: Mapping[str, Any], unchecked: bool) -> tuple[Any, ...]:
        """The expressions, vectorised; a tuple of floats or arrays."""
        self.require(unchecked)
        unchecked = unchecked or self.settled(constants)
        names = self.resolution.inputs if unchecked else self.read
        values = {n: as_floats(constants[n]) for n in names}
        with np.errstate(all="ignore"):
            if not unchecked:
                self.check_domains(values)
            sizes = {v.shape for n, v in values.items() if v.ndim and n not in self.arrays}
            blocked = len(sizes) == 1 and not any(n in self.arrays for n in names)
            shape = next(iter(sizes)) if blocked else ()
            if not blocked or np.prod(shape) <= 2 * _BLOCK:
                return self._evaluate(values, constants, unchecked)
            return self._blocks(values, constants, unchecked, shape)

    def _evaluate(
        self, values: Mapping[str, Any], constants: Mapping[str, Any], unchecked: bool
    ) -> tuple[Any, ...]:
        if not unchecked:
            self.require_hypotheses(values, constants)
        return self.floats()([values[n] for n in self.resolution.inputs])

    def _blocks(
        self, values: Mapping[str, Any], constants: Mapping[str, Any], unchecked: bool, shape: tuple[int, ...]
    ) -> tuple[Any, ...]:
        flat = {n: np.ascontiguousarray(v).ravel() if v.ndim else v for n, v in values.items()}
        if not unchecked:
            self._sure_blocks(flat, values, constants)
        function, inputs = self.floats(), self.resolution.inputs
        size = int(np.prod(shape))
        out = tuple(np.empty(size) for _ in self.expressions)
        for start in range(0, size, _BLOCK):
            stop = min(start + _BLOCK, size)
            block = [flat[n][start:stop] if flat[n].ndim else flat[n] for n in inputs]
            for target, result in zip(out, function(block), strict=True):
                target[start:stop] = result
        return tuple(o.reshape(shape) for o in out)

    def _sure_blocks(
        self, flat: Mapping[str, Any], values: Mapping[str, Any], constants: Mapping[str, Any]
    ) -> None:
        """Settle the hypotheses block by block; where a block does not settle, ask about all points."""
        atoms, resolution, function = self._sure
        size = max(v.size for v in flat.values())
        for start in range(0, size, _BLOCK):
            block = [flat[n][start : start + _BLOCK] if flat[n].ndim else flat[n] for n in resolution.inputs]
            sides = function(block)
            for i, atom in enumerate(atoms):
                if not np.all(surely(atom.relation, sides[2 * i], sides[2 * i + 1])):
                    self.require_hypotheses(values, constants)
                    return

    # Balls

    def along(self, constants: Mapping[str, Any], own: Sequence[Mapping[str, Any]], prec: int) -> list[arb]:
        """The one expression at many points, hypotheses unchecked: `own` has what differs from point to point.

        What all points share becomes balls once; the numbers are those of `enclose` at each point.
        """
        self.require(unchecked=True)
        bits, before = working(prec), ctx.prec
        ctx.prec = bits
        try:
            key = ("along", bits)
            if key not in self.functions:
                self.functions[key] = build(self.expressions, self.resolution, "ball", self.counts)
            function, inputs = self.functions[key], self.resolution.inputs
            convert = converters(inputs, self.arrays, self.counts)
            moving = own[0] if own else {}
            point = [None if n in moving else make(constants[n]) for n, make in convert]
            places = [(i, n, make) for i, (n, make) in enumerate(convert) if n in moving]
            found = []
            for given in own:
                for i, n, make in places:
                    point[i] = make(given[n])
                found.append(function(point)[0])
            return found
        finally:
            ctx.prec = before

    def enclose(self, constants: Mapping[str, Any], prec: int, unchecked: bool) -> tuple[arb, ...]:
        """The expressions at one point, enclosed."""
        if self.resolution.missing if unchecked else self.absent:
            self.require(unchecked)
        if not (unchecked or self.settled(constants)):
            values = {n: as_floats(constants[n]) for n in self.read}
            with np.errstate(all="ignore"):
                self.check_domains(values)
                self.require_hypotheses(values, constants)
        bits, before = working(prec), ctx.prec
        ctx.prec = bits
        try:
            if bits not in self.functions:
                reads = ball_reads(self.resolution.inputs, self.arrays, self.counts)
                self.functions[bits] = build(self.expressions, self.resolution, "ball", self.counts, reads)
            enclosed: tuple[arb, ...] = self.functions[bits](constants)
            return enclosed
        finally:
            ctx.prec = before


def as_floats(value: Any) -> Any:
    """A constant as an ndarray of floats, or a numpy float."""
    if isinstance(value, Constant):
        value = value.value
    if isinstance(value, list | tuple):
        value = np.asarray(value, dtype=float)
    if isinstance(value, np.ndarray):
        return value.astype(float, copy=False) if value.ndim else np.float64(value.item())
    return np.float64(value)


def _names(expressions: Sequence[sympy.Expr]) -> set[str]:
    return {s.name for e in expressions for s in e.free_symbols}
