"""A random search for a counterexample: screened in floats, decided exactly.

Points are drawn from a short table of rationals, so that a hit is a simple rational point; a hypothesis
that bounds one
symbol (`gamma <= 1/(2 m L)`) is met by drawing the symbol as a fraction of its bound, most often the bound
itself. The most promising points are improved one coordinate at a time. A hit counts only when every
hypothesis
holds and the claim fails exactly.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import sympy

from bounds.core.step import Obligation, Relation, Symbol, sign_of
from verify.provers.evaluate import Irrational, exact, floats, holds


def _table(text: str) -> list[Fraction]:
    return [Fraction(t) for t in text.split()]


_POSITIVE = _table("1 1 2 3 4 1/2 1/4 1/3 1/8 1/16 1/32 3/4 9/10 99/100 1/10 8 5 9 16 100 1/100 1000 1/1000")
_NATURAL = _table("1 1 2 2 3 4 5 8 10 19 20 32 64 100 1000")
_SHARE = _table("1 1 1 1 1/2 9/10 99/100 1/10 1/1000 3/4")  # of an upper bound
_EXCESS = _table("0 0 0 1/1000 1/10 1/2 1 10 1000")  # over a lower bound
TABLES = {
    "positive": _POSITIVE,
    "nonnegative": [Fraction(0)] * 4 + _POSITIVE,
    "natural": _NATURAL,
    "integer": [Fraction(0)] * 3 + _NATURAL,
    "real": [Fraction(0)] * 4 + _POSITIVE + [-v for v in _POSITIVE],
}
Point = dict[str, Fraction]
SAMPLES, ROUNDS = 1200, 3  # points drawn, and how often the best are improved


@dataclass
class _Plan:
    """In which order symbols are drawn, and what bounds each."""

    order: list[Symbol]
    lower: dict[Symbol, list[sympy.Expr]] = field(default_factory=dict)
    upper: dict[Symbol, list[sympy.Expr]] = field(default_factory=dict)
    equal: dict[Symbol, sympy.Expr] = field(default_factory=dict)
    degree: dict[Symbol, int] = field(default_factory=dict)  # symbols under a root are drawn as powers

    def table(self, symbol: Symbol) -> list[Fraction]:
        if self.upper.get(symbol):
            return _SHARE
        if self.lower.get(symbol):
            return _EXCESS
        degree = self.degree.get(symbol, 1)
        return [v**degree for v in TABLES[sign_of(symbol)]]


def _plan(obligation: Obligation) -> _Plan:
    plan = _Plan([])
    needs: dict[Symbol, set[Symbol]] = {s: set() for s in obligation.symbols}
    for h in obligation.hypotheses:
        if not _assign(h.relation, plan, needs):
            _assign_factor(h.relation, plan, needs)
    left = list(obligation.symbols)
    while left:
        ready = next((s for s in left if not needs[s] & set(left)), None)
        if ready is None:  # only self-made cycles: let the rejection deal with them
            ready = left[0]
        left.remove(ready)
        plan.order.append(ready)
    for side in [
        s for r in [obligation.claim, *(h.relation for h in obligation.hypotheses)] for s in (r.lhs, r.rhs)
    ]:
        for p in side.atoms(sympy.Pow):
            if p.base.is_Symbol and p.exp.is_Rational and not p.exp.is_Integer:
                plan.degree[p.base] = int(sympy.ilcm(plan.degree.get(p.base, 1), p.exp.q))
    return plan


def _assign(relation: Relation, plan: _Plan, needs: dict[Symbol, set[Symbol]]) -> bool:
    flipped = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "==": "=="}
    for one, op, other in (
        (relation.lhs, relation.op, relation.rhs),
        (relation.rhs, flipped[relation.op], relation.lhs),
    ):
        if not one.is_Symbol or one in other.free_symbols or one in plan.equal:
            continue
        if _reaches(one, other.free_symbols, needs):
            continue
        needs[one] |= other.free_symbols
        if op == "==":
            plan.equal[one] = other
        else:
            (plan.upper if op in ("<=", "<") else plan.lower).setdefault(one, []).append(other)
        return True
    return False


def _assign_factor(relation: Relation, plan: _Plan, needs: dict[Symbol, set[Symbol]]) -> None:
    """`2 gamma^2 m <= c` bounds a factor of the product, step sizes first: gamma <= (c/(2 m))^(1/2)."""
    small, large = (
        (relation.lhs, relation.rhs) if relation.op in ("<=", "<") else (relation.rhs, relation.lhs)
    )
    if relation.op == "==" or not (small.is_Mul or small.is_Pow):
        return
    powers = small.as_powers_dict()
    factors = [s for s in powers if s.is_Symbol and powers[s].is_positive and sign_of(s) != "natural"]
    factors.sort(key=lambda s: (not s.name.startswith("gamma"), not s.name.startswith("delta"), s.name))
    for s in factors:
        bound = (large / (small / s ** powers[s])) ** (1 / powers[s])
        if s in bound.free_symbols or s in plan.equal or _reaches(s, bound.free_symbols, needs):
            continue
        needs[s] |= bound.free_symbols
        plan.upper.setdefault(s, []).append(bound)
        return


def _reaches(target: Symbol, start: Iterable[Symbol], needs: Mapping[Symbol, set[Symbol]]) -> bool:
    stack, seen = list(start), set()
    while stack:
        s = stack.pop()
        if s == target:
            return True
        if s not in seen:
            seen.add(s)
            stack += needs[s]
    return False


def _realise(plan: _Plan, draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The float points of many draws (indices into the tables)."""
    env: dict[str, np.ndarray] = {}
    size = len(next(iter(draws.values())))
    for symbol in plan.order:
        table = np.array([float(v) for v in plan.table(symbol)])
        drawn = table[draws[symbol.name] % len(table)]
        if symbol in plan.equal:
            value = floats(plan.equal[symbol], env)
        else:
            lows = [np.broadcast_to(floats(e, env), size) for e in plan.lower.get(symbol, [])]
            highs = [np.broadcast_to(floats(e, env), size) for e in plan.upper.get(symbol, [])]
            low = np.max(lows, axis=0) if lows else None
            high = np.min(highs, axis=0) if highs else None
            if high is not None:  # a bound divided by zero is void
                high = np.where(np.isfinite(high), high, 1.0)
            value = _place(drawn, low, high, sign_of(symbol))
        env[symbol.name] = np.broadcast_to(np.asarray(value, dtype=float), size)
    return env


def _place(drawn: np.ndarray, low: np.ndarray | None, high: np.ndarray | None, sign: str) -> np.ndarray:
    if high is not None:
        floor = low if low is not None else (np.zeros_like(high) if sign != "real" else high - 1 - abs(high))
        value = floor + (high - floor) * drawn
        return np.floor(value) if sign in ("natural", "integer") else value
    if low is not None:
        value = low + drawn
        return np.ceil(value) if sign in ("natural", "integer") else value
    return drawn


def _replay(plan: _Plan, draws: Mapping[str, np.ndarray], index: int) -> Point | None:
    """The exact point of one draw (a bound that is irrational is met by a rational just inside)."""
    point: Point = {}
    for symbol in plan.order:
        table = plan.table(symbol)
        drawn = table[int(draws[symbol.name][index]) % len(table)]
        try:
            point[symbol.name] = _exact_value(plan, symbol, drawn, point)
        except (ZeroDivisionError, OverflowError, ValueError):
            return None
    return point


def _exact_value(plan: _Plan, symbol: Symbol, drawn: Fraction, point: Point) -> Fraction:
    if symbol in plan.equal:
        return exact(plan.equal[symbol], point)
    sign = sign_of(symbol)
    lows = [_bound(e, point, inward=1) for e in plan.lower.get(symbol, [])]
    upper = plan.upper.get(symbol, [])
    highs = [h for e in upper if (h := _void(e, point)) is not None]
    if upper:
        high = min(highs, default=Fraction(1))
        low = max(lows) if lows else (Fraction(0) if sign != "real" else high - 1 - abs(high))
        value = low + (high - low) * drawn
        return Fraction(value.__floor__()) if sign in ("natural", "integer") else value
    if lows:
        value = max(lows) + drawn
        return Fraction(value.__ceil__()) if sign in ("natural", "integer") else value
    return drawn


def _void(expr: sympy.Expr, point: Point) -> Fraction | None:
    try:
        return _bound(expr, point, inward=-1)
    except ZeroDivisionError:
        return None


def _bound(expr: sympy.Expr, point: Point, inward: int) -> Fraction:
    try:
        return exact(expr, point)
    except Irrational:
        value = float(floats(expr, {k: np.asarray(float(v)) for k, v in point.items()}))
        if not np.isfinite(value):
            raise ValueError("bound") from None
        return Fraction(value).limit_denominator(10**9) * (1 + Fraction(inward, 10**6))


def _margin(obligation: Obligation, env: Mapping[str, np.ndarray], size: int) -> np.ndarray:
    """Relative slack of the claim where the hypotheses hold, else 10 plus their violation."""
    with np.errstate(all="ignore"):
        violation = np.zeros(size)
        for h in obligation.hypotheses:
            slack = _slack(h.relation, env)
            violation += np.where(np.isnan(slack), 10.0, np.maximum(0.0, -slack - 1e-12))
            if h.relation.op in ("<", ">"):
                violation += np.where(slack <= 0, 1.0, 0.0)
        for name, sign in ((s.name, sign_of(s)) for s in obligation.symbols):
            if sign != "real":
                violation += np.where(env[name] < (1 if sign == "natural" else 0), 1.0, 0.0)
            if sign == "positive":
                violation += np.where(env[name] == 0, 1.0, 0.0)
        claim = _slack(obligation.claim, env)
    claim = np.where(np.isnan(claim), 5.0, claim)
    return np.where(violation > 0, 10.0 + violation, claim)


def _slack(relation: Relation, env: Mapping[str, np.ndarray]) -> np.ndarray:
    lhs, rhs = floats(relation.lhs, env), floats(relation.rhs, env)
    scale = np.abs(lhs) + np.abs(rhs) + 1e-300
    if relation.op == "==":
        return np.asarray(-np.abs(rhs - lhs) / scale)
    return np.asarray((rhs - lhs if relation.op in ("<=", "<") else lhs - rhs) / scale)


def admissible(obligation: Obligation, point: Mapping[str, Fraction]) -> bool:
    """Whether a rational point lies in the domain of the symbols and satisfies every hypothesis, exactly."""
    for symbol in obligation.symbols:
        value, sign = point.get(symbol.name), sign_of(symbol)
        if value is None:
            return False
        if sign in ("natural", "integer") and value.denominator != 1:
            return False
        if (sign == "natural" and value < 1) or (sign == "positive" and value <= 0):
            return False
        if sign in ("nonnegative", "integer") and value < 0:
            return False
    return all(holds(h.relation, point) is True for h in obligation.hypotheses)


def refutes(obligation: Obligation, point: Mapping[str, Fraction]) -> bool:
    """Whether a rational point satisfies every hypothesis and not the claim: the exact re-check."""
    return admissible(obligation, point) and holds(obligation.claim, point) is False


def search(
    obligation: Obligation,
    cases: Sequence[Mapping[str, Fraction]] = (),
    *,
    samples: int = SAMPLES,
    rounds: int = ROUNDS,
    seed: str = "",
) -> Point | None:
    """A rational counterexample, or None when none was found."""
    names = {s.name for s in obligation.symbols}
    for point in cases:
        if names <= set(point) and refutes(obligation, point):
            return {n: point[n] for n in sorted(names)}
    return _search(obligation, samples, rounds, seed or obligation.digest, wanted=True)


def find_admissible(
    obligation: Obligation, cases: Sequence[Mapping[str, Fraction]] = (), *, samples: int = SAMPLES
) -> Point | None:
    """A rational point that satisfies every hypothesis, or None when none was found."""
    for point in cases:
        if admissible(obligation, point):
            return dict(point)
    return _search(obligation, samples, 4, obligation.digest, wanted=False)


def _search(obligation: Obligation, samples: int, rounds: int, seed: str, wanted: bool) -> Point | None:
    plan = _plan(obligation)
    if not plan.order:
        return {} if (refutes(obligation, {}) if wanted else admissible(obligation, {})) else None
    rng = np.random.Generator(np.random.Philox(zlib.crc32(seed.encode())))
    draws = {s.name: rng.integers(0, 10**6, samples) for s in plan.order}
    for turn in range(rounds + 1):
        with np.errstate(all="ignore"):
            env = _realise(plan, draws)
        margin = _margin(obligation, env, len(draws[plan.order[0].name]))
        best = np.argsort(margin, kind="stable")
        found = _confirm(obligation, plan, draws, margin, best, wanted)
        if found is not None:
            return found
        if turn < rounds:
            draws = _neighbours(plan, draws, best[:16], rng)
    return None


def _confirm(
    obligation: Obligation,
    plan: _Plan,
    draws: Mapping[str, np.ndarray],
    margin: np.ndarray,
    best: np.ndarray,
    wanted: bool,
) -> Point | None:
    """The simplest of the promising points that stand the exact re-check."""
    strict = obligation.claim.op in ("<", ">")
    limit = 5.0 if not wanted else (1e-13 if strict else -1e-13)
    hits: list[Point] = []
    for index in best[:40]:
        if margin[index] > limit or len(hits) == 12:
            break
        point = _replay(plan, draws, int(index))
        if point is None:
            continue
        if refutes(obligation, point) if wanted else admissible(obligation, point):
            hits.append(point)
    return min(hits, key=_size) if hits else None


def _size(point: Point) -> int:
    return sum(v.numerator.bit_length() + v.denominator.bit_length() + (v < 0) for v in point.values())


def _neighbours(
    plan: _Plan, draws: Mapping[str, np.ndarray], best: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """The best draws, each with one coordinate (sometimes two) drawn anew."""
    copies = 8 * len(plan.order)
    names = [s.name for s in plan.order]
    fresh = {n: np.concatenate([draws[n][best], np.repeat(draws[n][best], copies)]) for n in names}
    size, first = len(best) * copies, len(best)
    for _ in range(2):
        which = rng.integers(0, len(names), size)
        values = rng.integers(0, 10**6, size)
        for i, n in enumerate(names):
            fresh[n][first:] = np.where(which == i, values, fresh[n][first:])
    return fresh
