"""The smallest number of rounds: a search in floats, then a decision in balls over a cover of (gamma, r_hat).

Both the bound and every hypothesis ease as R grows, so feasibility is monotone in R. For one R the question is whether
some (gamma, r_hat) satisfies everything; gamma_tilde is chosen first, since every term and every hypothesis eases as
the contraction rate falls.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from jaxtyping import Float

from bounds import Statement
from bounds.core.enclosure import ball, precision
from bounds.core.plan import Plan as Compiled
from verify.planner.curve import Ball, Start, least, least_one, value
from verify.planner.limits import Limits
from verify.planner.normal import Normal, compiled, normal_form

BITS = 160  # leaves about 100 bits below the relative change of the bound between R - 1 and R at R = 10^18
MOST_ROUNDS = 10**18
_GRID = 48
_MOST_CELLS = 4000
_FLOAT_SPAN = 1 - 2.0**-40  # in floats R - r_hat must stay resolved


@dataclass(frozen=True)
class Point:
    """A choice: rounds, warm-up and step size."""

    R: int
    r_hat: int
    gamma: float


@dataclass(frozen=True)
class Decision:
    """Whether R rounds are enough: a point that is proved to do, or a cover that proves that none does.

    Args:
        feasible: None where neither was found (the float nearest to the best real step size may miss).
        cells: how many cells of r_hat the proof needed.
    """

    feasible: bool | None
    point: Point | None = None
    cells: int = 0


@dataclass(eq=False)
class Search:
    """One theorem's edition with its constants, target and way to start.

    Args:
        statement, distance: the bound, and the bound on the mean square NE distance.
        constants: the numbers used, without gamma, gamma_tilde, r_hat and R.
        gamma_tilde: the participation step size of the plan.
        ideal: gamma_tilde, or the exact real number that no step size beats.
        epsilon, epsilon_ne: the targets (None: no target for the NE distance).
        start, power: the symbol of the unknown start, and its power in the bound.
        a_priori: the statement that bounds start^power (None: `fixed` is its value).
        fixed: start^power, known for every r_hat.
        gamma, r_hat: choices that the caller insists on.
    """

    statement: Statement
    distance: Statement
    constants: Mapping[str, Any]
    gamma_tilde: float
    ideal: Any
    epsilon: float
    epsilon_ne: float | None
    start: str
    power: int
    a_priori: Statement | None
    fixed: Any = None
    gamma: float | None = None
    r_hat: int | None = None
    _caps: dict[tuple[int | None, bool], float] = field(default_factory=dict)

    # What the search reads

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset({*self.constants, "gamma_tilde", "r_hat", "R"})

    @cached_property
    def normal(self) -> Normal:
        return normal_form(self.statement, self.start, self.power)

    @cached_property
    def compiled(self) -> Compiled:
        return compiled(self.statement, self.start, self.power, self.names)

    @cached_property
    def compiled_start(self) -> Compiled | None:
        return None if self.a_priori is None else compiled(self.a_priori, None, 1, self.names)

    @cached_property
    def limits(self) -> Limits:
        statements = [self.statement] if self.a_priori is None else [self.statement, self.a_priori]
        known = {**self.constants, "gamma_tilde": self.gamma_tilde}
        return Limits(statements, self.distance, known, self.ideal, self.epsilon_ne)

    def _at(self, R: Any, r_hat: Any, gamma_tilde: Any) -> dict[str, Any]:
        return {**self.constants, "gamma_tilde": gamma_tilde, "r_hat": r_hat, "R": R}

    # In floats

    def best(self, R: float, epsilon: float | None = None) -> tuple[float, int, float]:
        """(bound, r_hat, gamma) of about the best choice with R rounds, in floats; infinite if there is none.

        Under a shared denominator the bound is replaced by numerator + epsilon * (1 - denominator), which is at
        most epsilon exactly when the bound is.
        """
        first, last = self._span(R)
        if first > last:
            return math.inf, int(first), 0.0
        grid = _spread(first, last, _GRID)
        for _ in range(8):
            gammas, values = self._minima(R, grid, self.epsilon if epsilon is None else epsilon)
            values = np.where(np.isnan(values), np.inf, values)
            k = int(np.argmin(values))
            low, high = grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]
            if high - low <= 2:
                break
            grid = np.unique(np.rint(np.linspace(low, high, 33)))
        return float(values[k]), int(grid[k]), float(gammas[k])

    def _span(self, R: float) -> tuple[float, float]:
        first = float(self.limits.first(int(R)))
        if self.r_hat is not None:
            return max(first, float(self.r_hat)), min(R - 1, float(self.r_hat))
        return first, max(min(R - 1, R * _FLOAT_SPAN), first) if first < R else -1.0

    def _minima(
        self, R: float, r_hat: Float[np.ndarray, " k"], epsilon: float
    ) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        at = self._at(R, r_hat, self.gamma_tilde)
        *a, c, shrink = self.compiled.evaluate(at, True)
        powers = list(self.normal.powers)
        a[powers.index(1)] = a[powers.index(1)] + epsilon * shrink
        moving = self.limits.cap_moves and r_hat.size > 1
        caps = self.limits.caps(r_hat) if moving else np.full(r_hat.shape, self.cap(int(r_hat[0])))
        start = self._start(r_hat)
        if self.gamma is None:
            return least(powers, a, c, start, caps)
        gamma = np.full(r_hat.shape, self.gamma)
        values = value(powers, a, c, start, gamma)
        return gamma, np.where(gamma <= caps, values, np.inf)

    def cap(self, r_hat: int, ideal: bool = False) -> float:
        """The largest float gamma that the hypotheses allow at r_hat; ideal: a bound on all real ones."""
        key = (r_hat if self.limits.cap_moves else None, ideal)
        if key not in self._caps:
            self._caps[key] = self.limits.largest_gamma(r_hat, ideal)
        return self._caps[key]

    def _start(self, r_hat: Any) -> Start:
        if self.compiled_start is None:
            return Start((float(self.fixed),), 0.0)
        *b, growth = self.compiled_start.evaluate(self._at(1.0, r_hat, self.gamma_tilde), True)
        return Start(tuple(b), growth)

    @cached_property
    def rounds(self) -> float | None:
        """About the smallest R that is enough, as a real number; None if 10^18 rounds are not."""

        def excess(log_R: float) -> float:
            bound = self.best(math.exp(log_R))[0]
            return math.log(bound / self.epsilon) if 0 < bound < math.inf else (800.0 if bound else -800.0)

        lowest = self.limits.smallest_warm_up() + 1 if self.r_hat is None else self.r_hat + 1
        low, high = math.log(max(lowest, 1)), math.log(MOST_ROUNDS)
        if lowest > MOST_ROUNDS:
            return None
        least_excess = excess(high)
        if least_excess > 0:
            return None
        at_low = excess(low)
        if at_low == 800.0:  # no r_hat is allowed so early: begin where one is
            lowest = self._first_allowed(lowest)
            low = math.log(lowest)
            at_low = excess(low)
        if at_low <= 0:
            return float(lowest)
        return math.exp(crossing(excess, low, high, least_excess))

    def _first_allowed(self, low: int) -> int:
        """The smallest R > low, at most 10^18, for which the hypotheses and the NE target leave an r_hat."""

        def allowed(R: int) -> bool:
            first, last = self._span(float(R))
            return first <= last

        high, step = low, 1
        while high < MOST_ROUNDS and not allowed(high):
            low, high, step = high, min(high + step, MOST_ROUNDS), step * 2
        while high - low > max(1, low >> 50):  # beyond that floats do not tell rounds apart
            middle = (low + high) // 2
            low, high = (low, middle) if allowed(middle) else (middle, high)
        return high

    # In balls

    def decide(self, R: int) -> Decision:
        """Are R rounds enough? With a proof either way, or None."""
        first, possible, last = self.limits.first(R), self.limits.first(R, ideal=True), R - 1
        if self.r_hat is not None:
            first, possible = max(first, self.r_hat), max(possible, self.r_hat)
            last = min(self.r_hat, last)
        with precision(BITS):
            point = self._witness(R, first, last) if first <= last else None
            if point is not None:
                return Decision(True, point)
            return self._cover(R, possible, last) if possible <= last else Decision(False)

    def _witness(self, R: int, low: int, high: int) -> Point | None:
        bound, r_best, _ = self.best(float(R))
        if bound > self.epsilon * (1 + 1e-9):
            return None
        for r_hat in dict.fromkeys(min(max(r_best + step, low), high) for step in (0, -1, 1, -2, 2)):
            point = self._try(R, r_hat)
            if point is not None:
                return point
        return None

    def _try(self, R: int, r_hat: int) -> Point | None:
        """The best float gamma at (R, r_hat), if it is proved to reach the target."""
        if r_hat < self.limits.first(R):
            return None
        gamma = self._guess(R, r_hat)
        if not 0 < gamma <= self.cap(r_hat):
            return None
        curve = self._ball(
            self._coefficients(R, r_hat, self.gamma_tilde), self._start_ball(r_hat, self.gamma_tilde)
        )
        return Point(R, r_hat, gamma) if curve.value(arb(gamma)) <= 0 else None

    def _guess(self, R: int, r_hat: int) -> float:
        if self.gamma is not None:
            return self.gamma
        return float(self._minima(float(R), np.array([float(r_hat)]), self.epsilon)[0][0])

    def _coefficients(self, R: int, r_hat: int, gamma_tilde: Any) -> tuple[arb, ...]:
        return self.compiled.enclose(self._at(R, r_hat, gamma_tilde), BITS, True)

    def _start_ball(self, r_hat: int, gamma_tilde: Any) -> Start:
        if self.compiled_start is None:
            return Start((ball(self.fixed),), arb(0))
        *b, growth = self.compiled_start.enclose(self._at(r_hat + 1, r_hat, gamma_tilde), BITS, True)
        return Start(tuple(b), growth)

    def _ball(self, coefficients: tuple[arb, ...], start: Start) -> Ball:
        *a, c, shrink = coefficients
        return Ball(self.normal.powers, tuple(a), c, shrink, arb(self.epsilon), start)

    def _cover(self, R: int, low: int, high: int) -> Decision:
        """Bound the curve from below over cells of r_hat that cover low..high, the most doubtful cell first."""
        cells = [(-math.inf, low, high)]
        count = 0
        while cells:
            _, first, last = heapq.heappop(cells)
            count += 1
            floor = self._floor(R, first, last)
            if floor > 0:
                continue
            if first == last or count > _MOST_CELLS:
                point = self._try(R, first)
                return Decision(True, point, count) if point is not None else Decision(None, None, count)
            middle = _cut(first, last)
            score = float(floor.mid()) if floor.is_finite() else -math.inf
            heapq.heappush(cells, (score, first, middle))
            heapq.heappush(cells, (score, middle + 1, last))
        return Decision(False, None, count)

    def _floor(self, R: int, first: int, last: int) -> arb:
        """A lower bound of the curve over first <= r_hat <= last and all admissible real gamma.

        The coefficients are convex in r_hat (each is a constant, a mean over the last R - r_hat terms of a geometric
        sequence, or one over R - r_hat), so they lie above the line through two neighbouring integers at all
        others, and above zero; what is linear in r_hat is least at an end. The start only grows with r_hat.
        """
        start = self._start_ball(first, self.ideal)
        cap = self.cap(last, ideal=True)
        anchor = first + (last - first) // 2 if last - first < 64 else first + math.isqrt(last - first)
        here = self._coefficients(R, anchor, self.ideal)
        if first == last:
            return self._surely(here, start, cap, R, first)
        after = self._coefficients(R, anchor + 1, self.ideal)
        floors = []
        for end in (first, last):
            line = tuple((v + (w - v) * (end - anchor)).max(arb(0)) for v, w in zip(here, after, strict=True))
            floors.append(self._surely((*line[:-1], here[-1]), start, cap, R, end))
        return floors[0].min(floors[1])

    def _surely(self, coefficients: tuple[arb, ...], start: Start, cap: float, R: int, r_hat: int) -> arb:
        curve = self._ball(coefficients, start)
        if self.gamma is not None:
            return curve.value(arb(self.gamma)) if self.gamma <= cap else arb("inf")
        floats = [float(v.mid()) for v in curve.a]
        k = curve.powers.index(1)
        floats[k] += self.epsilon * float(curve.shrink.mid())
        begin = Start(tuple(float(b.mid()) for b in start.b), float(start.growth.mid()))
        return curve.surely_at_least(least_one(curve.powers, floats, float(curve.c.mid()), begin, cap), cap)


def _spread(first: float, last: float, count: int) -> Float[np.ndarray, " k"]:
    """About `count` integers from first to last: dense near both ends."""
    width = last - first
    if width <= count:
        return np.arange(first, last + 1)
    steps = np.geomspace(1.0, width, count // 2)
    return np.unique(np.rint(np.concatenate([[first, last], first + steps, last - steps[steps < width]])))


def crossing(excess: Callable[[float], float], low: float, high: float, at_high: float) -> float:
    """Where a decreasing function of log R changes sign, to a fraction of one round.

    A secant inside a bracket: in log R the excess is nearly a line, of slope -1/2 where noise rules and -1 where it
    does not. The bracket is halved whenever two secants have not done so.
    """
    before, value_before = high, at_high
    t, width, since = (
        max(high + 2 * at_high, (low + high) / 2 if at_high < -800 else low + 1e-3),
        high - low,
        0,
    )
    for _ in range(200):
        value = excess(t)
        low, high = (t, high) if value > 0 else (low, t)
        slope = (value - value_before) / (t - before) if t != before else 0.0
        before, value_before = t, value
        t = t - value / slope if slope < 0 else math.nan
        since += 1
        if since > 2:
            if high - low > width / 2:
                t = (low + high) / 2
            width, since = high - low, 0
        if not low < t < high:
            t = (low + high) / 2
        if min(abs(t - before), high - low) <= max(4e-15, 0.3 * math.exp(-t)):
            break
    return t


def _cut(first: int, last: int) -> int:
    """Where to cut a cell: in the middle, or near its beginning where it is long."""
    width = last - first
    return first + (width // 2 if width < 64 else math.isqrt(width))
