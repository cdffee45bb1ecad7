"""Plans with Lemma 4.4: the rounds and schedules that bring the welfare gap and the dual gap below epsilon.

For fixed exponents (a, b) and R both bounds are posynomials in (gamma_tilde_0, lambda_0), so the larger of the two,
over its target, is convex in their logarithms: one local search finds the optimum, and weighted arithmetic and
geometric means prove that nothing lies below it.

Of all nonincreasing schedules g_r = gamma_tilde_r, l_r = lambda_r over R rounds, constant ones are best (a = b = 0).
(1) Put the constant l' = sum g l^2/sum g l <= l_0 for l_r. Every term falls or stays: C_F + l_0 C_H falls;
l' sum g >= sum g l by Cauchy-Schwarz, (sum g l)^2 <= sum g sum g l^2, which is the denominator of the welfare gap;
of the dual gap, l_0 D^2/sum g l >= D^2/sum g since l_r <= l_0; sum g^2 l/sum g l >= sum g^2/sum g by Chebyshev, g and
l being ordered alike; and sum g l^2/sum g l is l' itself. (2) Then put the mean g' = sum g/R for g_r: sum g stays, and
sum g^2 >= R g'^2. Step (1) holds for any nonincreasing g, so b = 0 is best for a given a too. For a given b > 0
the best a has no such argument: it is searched, to `A_TOLERANCE`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy
from flint import arb, fmpq
from jaxtyping import Float
from scipy.optimize import minimize, minimize_scalar

import bounds
from bounds import Statement
from bounds.core.compiled import Function, build, prepare, resolve
from bounds.core.enclosure import precision
from verify.errors import InputError
from verify.planner.certificate import Record, certificate
from verify.planner.enclosures import evaluate
from verify.planner.errors import NoPlan
from verify.planner.given import Given, collect, safe_end
from verify.planner.lemmas import first_that
from verify.planner.result import Plan, planned
from verify.planner.search import crossing

_NEEDED = ("C_F", "C_H", "D_N")
_GROWS = {"sum_g_l": (1, 1), "sum_g2": (2, 0), "sum_g2_l": (2, 1), "sum_g_l2": (1, 2), "lambda_0": (0, 1)}
_BITS = 128
A_TOLERANCE = 1e-3
_LOG_MOST = math.log(10**15)


def plan_regularised(
    constants: Mapping[str, Any],
    epsilon: float,
    edition: str = "corrected",
    *,
    epsilon_gap: float | None = None,
    a: float | None = None,
    b: float | None = None,
) -> Plan:
    """The smallest R for which some schedule makes both gaps of Lemma 4.4 at most their targets.

    Args:
        epsilon, epsilon_gap: targets of the welfare gap and of the dual gap (default: the same).
        a, b: exponents of the schedules, 0 <= a, b < 1; those that are not given are the best ones.

    Raises:
        InputError: for bad input; NoPlan: if 10^15 rounds are not enough.
    """
    targets = {
        "epsilon": float(epsilon),
        "epsilon_gap": float(epsilon if epsilon_gap is None else epsilon_gap),
    }
    for name, value in targets.items():
        if not 0 < value < math.inf:
            raise InputError(f"{name} = {value!r}: give a finite number > 0")
    for name, exponent in (("a", a), ("b", b)):
        if exponent is not None and not 0 <= exponent < 1:
            raise InputError(f"{name} = {exponent!r}: give a number in [0, 1)")
    known = {n: c for n, c in collect(constants).items() if n in _NEEDED}
    for name in _NEEDED:
        if name not in known:
            raise InputError(
                f"Lemma 4.4 needs {name} ({bounds.SYMBOLS[name].meaning}): give it among the constants"
            )
    given = Given(known, {n: safe_end(n, c) for n, c in known.items()})
    pair = Pair(edition, given.used, targets["epsilon"], targets["epsilon_gap"])
    insisted = {n: v for n, v in (("a", a), ("b", b)) if v is not None}
    if a is None or b is None:
        a, b = _exponents(pair, a, b)
    R, g, lam, low = _smallest(pair, a, b)
    choice = {"gamma_tilde_0": g, "a": a, "lambda_0": lam, "b": b, "R": R}
    found = [
        Record(evaluate(statement, {**given.used, **choice}), limit)
        for statement, limit in zip(pair.statements, pair.limits, strict=True)
    ]
    bad = [r for r in found if not r.holds()]
    if bad:
        raise NoPlan(
            f"{bad[0].evaluation.statement.id} is not proved at R = {R}", "give a slightly larger epsilon"
        )
    minimal = {"proved": low == R - 1, "infeasible_R": low, "cells": 1}
    data = certificate("Lemma 4.4", edition, targets, choice, given, None, found, minimal, insisted)
    return planned("Lemma 4.4", edition, targets["epsilon"], choice, found, data, "given", minimal)


class Pair:
    """Both bounds over their targets, as functions of the schedule, in floats and in balls."""

    def __init__(self, edition: str, used: Mapping[str, Any], epsilon: float, epsilon_gap: float) -> None:
        try:
            self.statements: tuple[Statement, ...] = (
                bounds.get("Lemma 4.4(i)", edition), bounds.get("Lemma 4.4(ii)", edition)
            )  # fmt: skip
        except bounds.UnknownStatement as error:
            raise InputError(str(error)) from None
        self.used, self.limits = dict(used), (epsilon, epsilon_gap)
        self.terms = [sympy.Add.make_args(sympy.expand(s.expression)) for s in self.statements]
        self.powers = [[_powers(t) for t in terms] for terms in self.terms]

    def shares(self, R: int, a: float, b: float) -> list[Float[np.ndarray, " terms"]]:
        """Every term over its target at gamma_tilde_0 = lambda_0 = 1: its coefficient."""
        return [np.array([float(c.mid()) for c in row]) for row in self.balls(R, a, b)]

    @cached_property
    def _compiled(self) -> list[tuple[tuple[str, ...], Function]]:
        given, found = frozenset({*self.used, "gamma_tilde_0", "lambda_0", "a", "b", "R"}), []
        with precision(_BITS):  # the functions hold constants of this precision
            for statement, terms in zip(self.statements, self.terms, strict=True):
                recipes = {**statement.vocabulary.derived, **statement.recipes}
                resolution = resolve({s.name for t in terms for s in t.free_symbols}, given, recipes)
                found.append((resolution.inputs, build(list(terms), resolution, "ball", frozenset({"R"}))))
        return found

    def balls(self, R: int, a: float, b: float) -> list[list[arb]]:
        """The same coefficients, enclosed."""
        at = {**self.used, "gamma_tilde_0": 1.0, "lambda_0": 1.0, "a": a, "b": b, "R": R}
        rows = []
        with precision(_BITS):
            for (inputs, function), limit in zip(self._compiled, self.limits, strict=True):
                values = function(prepare(at, inputs, frozenset(), frozenset({"R"})))
                rows.append([arb(v) / arb(limit) for v in values])
        return rows

    def best(
        self, R: int, a: float, b: float, guess: tuple[float, float] | None = None
    ) -> tuple[float, float, float]:
        """(max of both bounds over their targets, log gamma_tilde_0, log lambda_0) at about the best schedule.

        The least t with log bound_i(y) <= t for both i: a smooth convex problem in (y, t).
        """
        tables = [
            (np.log(c[c > 0]), np.array(p, dtype=float)[c > 0])
            for c, p in zip(self.shares(R, a, b), self.powers, strict=True)
        ]

        def tops(y: Float[np.ndarray, " two"]) -> Float[np.ndarray, " two"]:
            return np.array([_log_sum(c + e @ y) for c, e in tables])

        def slopes(y: Float[np.ndarray, " two"]) -> Float[np.ndarray, "two two"]:
            rows = [(np.exp(x - x.max()), e) for x, e in ((c + e @ y, e) for c, e in tables)]
            return np.stack([w @ e / w.sum() for w, e in rows])

        begin = np.array(guess if guess is not None else (0.0, 0.0))
        found = minimize(
            lambda z: z[2],
            np.array([*begin, tops(begin).max()]),
            jac=lambda z: np.array([0.0, 0.0, 1.0]),
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda z: z[2] - tops(z[:2]),
                "jac": lambda z: np.hstack([-slopes(z[:2]), np.ones((2, 1))]),
            },
            options={"ftol": 1e-16, "maxiter": 200},
        )
        y = min((found.x[:2], begin), key=lambda at: float(tops(at).max()))
        return math.exp(min(float(tops(y).max()), 700.0)), float(y[0]), float(y[1])

    def impossible(self, R: int, a: float, b: float, y: tuple[float, float]) -> bool:
        """Is it proved that no (gamma_tilde_0, lambda_0) brings both bounds to their targets in R rounds?

        For weights w > 0 with sum 1 and sum_j w_j (exponents of term j) = 0, theta times the first bound plus
        1 - theta times the second is at least prod_j (theta_j c_j/w_j)^w_j for every schedule.
        """
        rows, point = self.balls(R, a, b), np.array(y)
        theta = _balance(rows, self.powers, point)
        shares, exponents, coefficients = [], [], []
        for row, powers, weight in zip(rows, self.powers, (theta, 1 - theta), strict=True):
            for c, e in zip(row, powers, strict=True):
                if weight > 0 and c > 0:
                    shares.append(weight * float(c.mid()) * math.exp(float(np.dot(e, point))))
                    exponents.append(e)
                    coefficients.append(c * arb(weight))
        weights = _exact_weights(shares, exponents)
        if weights is None:
            return False
        with precision(_BITS):
            total = arb(0)
            for c, w in zip(coefficients, weights, strict=True):
                share = arb(fmpq(w.numerator, w.denominator))
                total += share * (c / share).log()
            return bool(total > 0)


def _log_sum(x: Float[np.ndarray, " k"]) -> float:
    top = float(x.max())
    return top + math.log(float(np.exp(x - top).sum()))


def _powers(term: sympy.Expr) -> tuple[int, int]:
    """The exponents of (gamma_tilde_0, lambda_0) in a term: the sums are homogeneous in both."""
    total = [0, 0]
    for base, power in term.as_powers_dict().items():
        grows = _GROWS.get(str(base), (0, 0))
        total = [t + g * int(power) if g else t for t, g in zip(total, grows, strict=True)]
    return total[0], total[1]


def _balance(
    rows: list[list[arb]], powers: list[list[tuple[int, int]]], y: Float[np.ndarray, " two"]
) -> float:
    """The weight theta of the first bound for which the gradients of both (at the optimum) cancel."""
    slopes = []
    for row, exponents in zip(rows, powers, strict=True):
        sizes = np.array([float(c.mid()) for c in row]) * np.exp(np.array(exponents, dtype=float) @ y)
        slopes.append(sizes @ np.array(exponents, dtype=float))
    difference = slopes[1] - slopes[0]
    scale = float(difference @ difference)
    return 1.0 if scale == 0 else float(np.clip(slopes[1] @ difference / scale, 0.0, 1.0))


def _exact_weights(shares: list[float], exponents: list[tuple[int, int]]) -> list[Fraction] | None:
    """Positive rationals near the shares with sum 1 and balanced exponents; None if rounding leaves none."""
    total = sum(shares)
    weights = [Fraction(s / total) for s in shares]
    order = sorted(range(len(weights)), key=lambda j: -weights[j])
    for third in range(2, len(order)):
        free = [order[0], order[1], order[third]]
        matrix = sympy.Matrix([[1] * 3, [exponents[j][0] for j in free], [exponents[j][1] for j in free]])
        if matrix.det() == 0:
            continue
        rest = [j for j in range(len(weights)) if j not in free]
        right = [
            1 - sum((weights[j] for j in rest), Fraction(0)),
            -sum((weights[j] * exponents[j][0] for j in rest), Fraction(0)),
            -sum((weights[j] * exponents[j][1] for j in rest), Fraction(0)),
        ]
        solved = matrix.inv() * sympy.Matrix([sympy.Rational(r.numerator, r.denominator) for r in right])
        for j, value in zip(free, solved, strict=True):
            weights[j] = Fraction(int(value.p), int(value.q))
        return weights if all(w > 0 for w in weights) else None
    return None


def _exponents(pair: Pair, a: float | None, b: float | None) -> tuple[float, float]:
    """The best exponents: constant schedules, which no others beat (module docstring), or the best a for a given b."""
    if b is None or b == 0:
        return (0.0 if a is None else a), 0.0
    if a is not None:
        return a, b
    at = float(b)

    def log_rounds(x: float) -> float:
        found = _about(pair, x, at)
        return 2 * _LOG_MOST if found is None else found

    search = minimize_scalar(log_rounds, bounds=(0.0, 0.99), method="bounded", options={"xatol": A_TOLERANCE})
    return min((0.0, float(search.x)), key=log_rounds), at


def _about(pair: Pair, a: float, b: float) -> float | None:
    """About log R for the smallest R that is enough, in floats; None if 10^15 rounds are not."""

    def excess(log_R: float) -> float:
        return math.log(pair.best(max(round(math.exp(log_R)), 1), a, b)[0])

    at_high = excess(_LOG_MOST)
    if at_high > 0:
        return None
    return 0.0 if excess(0.0) <= 0 else crossing(excess, 0.0, _LOG_MOST, at_high)


def _smallest(pair: Pair, a: float, b: float) -> tuple[int, float, float, int]:
    """(R, gamma_tilde_0, lambda_0, largest R proved not to be enough) for fixed exponents."""
    guess: tuple[float, float] | None = None

    def enough(k: int) -> bool:
        nonlocal guess
        value, *guess_now = pair.best(max(k, 1), a, b, guess)
        guess = (guess_now[0], guess_now[1])
        return value <= 1 - 1e-13

    log_R = _about(pair, a, b)
    R = None if log_R is None else first_that(enough, 10**15, round(math.exp(log_R)))
    if R is None:
        raise NoPlan("10^15 rounds are not enough for Lemma 4.4", "give a larger epsilon")
    R = max(R, 1)
    _, log_g, log_lam = pair.best(R, a, b, guess)
    low, step = R - 1, 1
    while low > 0 and not pair.impossible(low, a, b, pair.best(low, a, b, (log_g, log_lam))[1:]):
        low, step = max(0, low - step), step * 4
    return R, math.exp(log_g), math.exp(log_lam), low
