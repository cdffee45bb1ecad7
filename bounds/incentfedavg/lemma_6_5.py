"""Lemma 6.5: for convex losses the global gap bounds the local gradients, with an explicit pair (G, B)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import sympy
from flint import arb

from bounds.core import enclosure
from bounds.core.compiled import Function, build, prepare, resolve
from bounds.core.constant import Constant, Constants, Provenance, weakest
from bounds.core.derive import Computed, Recipe
from bounds.core.errors import HypothesisFails, MissingConstants
from bounds.core.plan import as_floats
from bounds.core.statement import Edition, Kind
from bounds.incentfedavg.entry import entry, ge, names
from bounds.symbols import SYMBOLS

m, L, D_f, f_star = names("m L D_f f_star")
p_star_min, imbalance, f_i_star_mean, f_i_star_weighted = names(
    "p_star_min imbalance f_i_star_mean f_i_star_weighted"
)

PRINTED_G_SQ = 2 * L * (f_star - f_i_star_mean) + 2 * L * imbalance * f_star
PRINTED_B_SQ = 1 + imbalance
CORRECTED_B_SQ = 1 / (m * p_star_min)
CORRECTED_G_SQ = 2 * L * (f_star - f_i_star_weighted) / (m * p_star_min)


def _total(values: list[arb]) -> arb:
    total = arb(0)
    for v in values:
        total = total + v
    return total


def _imbalance_balls(p: list[arb], count: Any) -> arb:
    return enclosure.maximum(*(abs(1 / (count * v) - 1) for v in p))


def _mean(values: Any) -> Any:
    return np.mean(values, axis=-1)


RECIPES: Mapping[str, tuple[Recipe, ...]] = {
    "p_star_min": (
        Computed(("p_star",), r"\min_i p_i^*", lambda p: np.min(p, axis=-1), lambda p: enclosure.minimum(*p)),
    ),
    "imbalance": (
        Computed(
            ("p_star", "m"),
            r"\max_i |\frac{1}{m p_i^*} - 1|",
            lambda p, count: np.max(np.abs(1.0 / (np.asarray(count)[..., None] * p) - 1.0), axis=-1),
            _imbalance_balls,
        ),
    ),
    "f_i_star_mean": (
        Computed(("f_i_star",), r"\frac{1}{m} \sum_i f_i^*", _mean, lambda f: _total(f) / len(f)),
    ),
    "f_i_star_weighted": (
        Computed(
            ("f_i_star", "p_star"),
            r"\sum_i p_i^* f_i^*",
            lambda f, p: np.sum(f * p, axis=-1),
            lambda f, p: _total([x * y for x, y in zip(f, p, strict=True)]),
        ),
    ),
}

STATEMENTS = (
    *entry(
        "Lemma 6.5",
        Kind.BOUND,
        source="Section 6.2, Lemma 6.5",
        quantity="local_gradient_mean_sq",
        printed={
            "expression": PRINTED_G_SQ + 2 * L * PRINTED_B_SQ * D_f,
            "hypotheses": (ge("G^2 >= 0", PRINTED_G_SQ, 0),),
            "recipes": RECIPES,
            "note": "The step |1/m - p*_i| f_i(x) needs f_i >= 0, which is not assumed; for losses with "
            "negative values the printed G^2 can be negative and the lemma false. D_f is f(x) - f*.",
        },
        corrected={
            "expression": CORRECTED_G_SQ + 2 * L * CORRECTED_B_SQ * D_f,
            "hypotheses": (ge("G^2 >= 0", CORRECTED_G_SQ, 0),),
            "note": "Without a sign assumption: (1/m) sum ||grad f_i||^2 <= (2L/m) sum (f_i - f_i*) <= "
            "(2L/(m p*_min)) sum p*_i (f_i - f_i*). G^2 >= 0 holds for true infima (f* >= sum p*_i f_i*).",
        },
    ),
)


def lemma_6_5_pair(constants: Constants, edition: str = "corrected") -> dict[str, Constant]:
    """The pair (G, B) of Lemma 6.5, against which Theorem 4.9 and Lemmas 6.6-6.9 bound the local gradients.

    Args:
        constants: `m`, `L`, `f_star`, and the vectors `p_star` and `f_i_star` (of m entries).
        edition: "printed" or "corrected".

    Returns:
        `{"G": ..., "B": ...}`: upper bounds, rounded outward over the inputs' radii, of radius 0 (a larger
        pair is a pair too); provenance `certified` or the weakest of the inputs'.

    Raises:
        HypothesisFails: when the printed G^2 is surely negative; names both sides.
        MissingConstants, DomainError: for bad input.
    """
    bases = ("m", "L", "f_star", "p_star", "f_i_star")
    absent = [n for n in bases if n not in constants]
    if absent:
        raise MissingConstants(f"Lemma 6.5: {absent[0]} is missing ({SYMBOLS[absent[0]].meaning}): give it")
    for name in bases:
        SYMBOLS[name].domain.require(name, as_floats(constants[name]))
    printed = Edition(edition) is Edition.PRINTED
    g_sq, b_sq = (PRINTED_G_SQ, PRINTED_B_SQ) if printed else (CORRECTED_G_SQ, CORRECTED_B_SQ)
    with enclosure.precision(enclosure.working(53)):
        square, growth = (_ball(e, constants) for e in (g_sq, b_sq))
        if square < 0:
            raise HypothesisFails(f"Lemma 6.5 ({edition})", "G^2 >= 0", float(square.mid()), 0.0)
        pair = {"G": _upper(square.max(arb(0))), "B": _upper(growth)}
    known = {n: c for n in bases if isinstance(c := constants[n], Constant)}
    strength = max(Provenance.CERTIFIED, weakest(known), key=list(Provenance).index)
    if len(known) < len(bases):
        strength = max(strength, Provenance.GIVEN, key=list(Provenance).index)
    return {
        n: Constant(n, v, strength, note=f"Lemma 6.5, {edition}; an upper bound") for n, v in pair.items()
    }


def _ball(expression: sympy.Expr, constants: Constants) -> arb:
    inputs, function = _compiled(expression, enclosure.working(53))
    values = prepare(constants, inputs, {"p_star", "f_i_star"}, {"m"})
    return arb(function(values)[0])


@cache
def _compiled(expression: sympy.Expr, bits: int) -> tuple[tuple[str, ...], Function]:
    """The expression's inputs and its ball function, which holds constants of the precision `bits`, current now."""
    given = frozenset(("m", "L", "f_star", "p_star", "f_i_star"))
    resolution = resolve({s.name for s in expression.free_symbols}, given, RECIPES)
    return resolution.inputs, build([expression], resolution, "ball", frozenset({"m"}))


def _upper(square: arb) -> float:
    """A float that is surely at least the root of a nonnegative ball (the root where that is a float)."""
    root = square.sqrt() if square > 0 or square.is_zero() else square.abs_upper().sqrt()
    nearest = float(root.upper())
    while not arb(nearest) >= root:
        nearest = float(np.nextafter(nearest, np.inf))
    return nearest
