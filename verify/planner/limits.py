"""What the hypotheses leave: the smallest warm-up and the largest step size, decided rigorously."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from jaxtyping import Float

from bounds import HypothesisCheck, Statement
from bounds.core.plan import Atom
from bounds.core.plan import Plan as Compiled
from verify.planner.errors import NoPlan

_MOST = 10**18


@dataclass(eq=False)
class Limits:
    """The hypotheses of the statements that a plan rests on, at constants and gamma_tilde that are chosen.

    Args:
        statements: each hypothesis on gamma or r_hat counts; distance: its value must not exceed `epsilon_ne`.
        known: the constants, with gamma_tilde; ideal: the exact gamma_tilde that proofs of impossibility use.
    """

    statements: Sequence[Statement]
    distance: Statement
    known: Mapping[str, Any]
    ideal: Any
    epsilon_ne: float | None
    _first: dict[tuple[int, bool], int] = field(default_factory=dict)
    _warm_up: dict[bool, int] = field(default_factory=dict)

    @cached_property
    def _trial(self) -> dict[str, Any]:
        return {**self.known, "gamma": 1.0, "r_hat": 0, "R": _MOST}

    @cached_property
    def _compiled(self) -> list[Compiled]:
        return [s.plan(self._trial) for s in self.statements]

    @cached_property
    def warm_up(self) -> list[tuple[Compiled, Atom]]:
        """The conditions that only a longer warm-up can meet (all ease as r_hat grows)."""
        found = []
        for plan in self._compiled:
            for atom in plan.atoms:
                inputs = atom.resolution.inputs
                if atom.decidable and "r_hat" in inputs and not {"gamma", "R"} & set(inputs):
                    found.append((plan, atom))
        return found

    @cached_property
    def cap_moves(self) -> bool:
        """Does the largest gamma depend on r_hat?"""
        atoms = [a for p in self._compiled for a in p.atoms if a.decidable]
        return any({"gamma", "r_hat"} <= set(a.resolution.inputs) for a in atoms)

    @cached_property
    def _moving_caps(self) -> Compiled:
        """The right-hand sides of gamma <= ..., compiled for whole grids of r_hat."""
        first = self._compiled[0]
        atoms = [a for p in self._compiled for a in p.atoms if a.decidable and str(a.relation.lhs) == "gamma"]
        sides = tuple(a.relation.rhs for a in atoms)
        return Compiled("gamma", sides, (), first.given, first.table, first.recipes)

    def caps(self, r_hat: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
        """About the largest gamma that the hypotheses allow, in floats."""
        values = self._moving_caps.evaluate({**self._trial, "r_hat": r_hat}, True)
        largest = np.min(np.stack(np.broadcast_arrays(*values, r_hat)[:-1]), axis=0)
        return np.asarray(largest, dtype=float)

    def failing(self) -> HypothesisCheck | None:
        """A hypothesis on the constants alone that fails or cannot be decided, if any."""
        for statement in (*self.statements, self.distance):
            for hypothesis, check in zip(statement.hypotheses, statement.check(self._trial), strict=True):
                used = {s.name for s in hypothesis.relation.free_symbols}
                if used & {"gamma", "r_hat", "R", "A_sum", "Delta_sq_sup"}:
                    continue
                if check.holds is not True:
                    return check
        return None

    def smallest_warm_up(self, ideal: bool = False) -> int:
        """The smallest r_hat that the hypotheses allow; ideal: the smallest that they do not surely forbid.

        Raises:
            NoPlan: if none up to 10^18 does.
        """
        if ideal not in self._warm_up:
            self._warm_up[ideal] = self._smallest_warm_up(ideal)
        return self._warm_up[ideal]

    def _smallest_warm_up(self, ideal: bool) -> int:
        if not self.warm_up or self._warm_enough(0, ideal):
            return 0
        high = 1
        while not self._warm_enough(high, ideal):
            high *= 2
            if high > _MOST:
                name = self.warm_up[0][1].hypothesis.name
                raise NoPlan(f"{name} fails for every r_hat up to 10^18", "give a game that contracts faster")
        return _smallest(high // 2, high, lambda r_hat: self._warm_enough(r_hat, ideal))

    def _warm_enough(self, r_hat: int, ideal: bool) -> bool:
        at = {**self._trial, "r_hat": r_hat}
        if ideal:
            at["gamma_tilde"] = self.ideal
        answers = [plan.decide(atom, at)[0] for plan, atom in self.warm_up]
        return False not in answers if ideal else all(answer is True for answer in answers)

    def first(self, R: int, ideal: bool = False) -> int:
        """The smallest r_hat that the hypotheses and the target for the NE distance allow (R: none below R).

        ideal: the smallest one that they do not surely forbid, with whatever gamma_tilde.
        """
        first = self.smallest_warm_up(ideal)
        if self.epsilon_ne is None or first >= R:
            return min(first, R)
        if (R, ideal) not in self._first:
            self._first[R, ideal] = self._first_near(R, first, ideal)
        return self._first[R, ideal]

    def _first_near(self, R: int, first: int, ideal: bool) -> int:
        if self.near(R, first, ideal):
            return first
        step = 1
        while first + step < R and not self.near(R, first + step, ideal):
            step *= 2
        low, high = first + step // 2, min(first + step, R)
        return _smallest(low, high, lambda r_hat: self.near(R, r_hat, ideal))

    def near(self, R: int, r_hat: int, ideal: bool = False) -> bool:
        """Is the mean square NE distance over r_hat <= r < R at most epsilon_ne: proved, or (ideal) possible?"""
        at = {**self.known, "r_hat": r_hat, "R": R}
        target = arb(self.epsilon_ne if self.epsilon_ne is not None else math.inf)
        if ideal:
            at["gamma_tilde"] = self.ideal
            return not self.distance.enclose(at, 128, unchecked=True) > target
        return bool(self.distance.enclose(at, 128, unchecked=True) <= target)

    def largest_gamma(self, r_hat: int, ideal: bool = False) -> float:
        """The largest float gamma that every hypothesis gamma <= ... allows; ideal: at least every real one."""
        at = {n: v for n, v in self._trial.items() if n != "gamma"}
        at["r_hat"] = r_hat
        if ideal:
            at["gamma_tilde"] = self.ideal
        cap = min(statement.largest("gamma", at) for statement in self.statements)
        return math.nextafter(cap, math.inf) if ideal else cap


def _smallest(low: int, high: int, enough: Callable[[int], bool]) -> int:
    """The smallest integer that is enough, known to lie in (low, high]."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
