"""Stored certificates and their exact re-check.

A certificate of a goal p >= 0 is a list of terms c * g_1 ... g_k * x^alpha * s^2 with c > 0 rational, g_i
constraints
of the system, x^alpha a monomial (even in the symbols of no sign) and s a rational polynomial, whose sum,
plus any
multiples of the equations, is p itself. For p > 0 one term must be made of strict constraints alone. Or, by
contradiction: the negated goal joins the constraints (as the last one), the sum is 0, and one term is
strictly
positive. The check is one polynomial identity over the rationals in python-flint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import flint

from verify.provers.system import Constraint, Poly, System


def term(
    coefficient: Any,
    constraints: Sequence[int] = (),
    monomial: Sequence[Any] | None = None,
    square: Poly | None = None,
) -> dict[str, Any]:
    """One term, as it is stored: `{"c", "g", "x", "s"}`."""
    stored: dict[str, Any] = {"c": str(coefficient)}
    if constraints:
        stored["g"] = list(constraints)
    if monomial is not None and any(monomial):
        stored["x"] = [int(k) for k in monomial]
    if square is not None:
        stored["s"] = dump(square)
    return stored


def dump(poly: Poly) -> list[list[Any]]:
    """A polynomial as `[[coefficient, exponents], ...]`."""
    return [[str(c), [int(k) for k in e]] for e, c in poly.to_dict().items()]


def load(stored: Sequence[Sequence[Any]], system: System) -> Poly:
    """The inverse of `dump`."""
    return system.context.from_dict({tuple(e): _rational(c) for c, e in stored})


def _rational(text: str) -> Any:
    p, _, q = text.partition("/")
    return flint.fmpq(int(p), int(q or 1))


def check(system: System, goal: tuple[Poly, str], certificate: Mapping[str, Any]) -> str:
    """Why the certificate does not prove the goal; the empty string when it does."""
    poly, op = goal
    if certificate.get("contradiction"):
        if op == "==":
            return "an equation is proved by equations only"
        system, poly, op = negated(system, goal), system.context.constant(0), ">"
    total = system.context.constant(0)
    strict = False
    for stored in certificate.get("terms", ()):
        coefficient = _rational(stored["c"])
        if coefficient <= 0:
            return f"coefficient {stored['c']} is not positive"
        value, positive, fault = _term(system, stored)
        if fault:
            return fault
        total += coefficient * value
        strict |= positive
    for stored in certificate.get("equations", ()):
        if not 0 <= stored["e"] < len(system.equations):
            return f"there is no equation {stored['e']}"
        total += load(stored["by"], system) * system.equations[stored["e"]].poly
    if total != poly:
        return "the terms do not add up to the goal"
    if op == "==" and certificate.get("terms"):
        return "an equation is proved by equations only"
    if op == ">" and not strict:
        return "no term is strictly positive"
    return ""


def negated(system: System, goal: tuple[Poly, str]) -> System:
    """The system with the negated goal as its last constraint."""
    extra = Constraint("the claim fails", -goal[0], strict=goal[1] == ">=")
    return replace(system, constraints=[*system.constraints, extra])


def _term(system: System, stored: Mapping[str, Any]) -> tuple[Poly, bool, str]:
    value = system.context.constant(1)
    positive = "s" not in stored
    for index in stored.get("g", ()):
        if not 0 <= index < len(system.constraints):
            return value, False, f"there is no constraint {index}"
        value *= system.constraints[index].poly
        positive &= system.constraints[index].strict
    for name, gen, k in zip(system.names, system.context.gens(), stored.get("x", ()), strict=False):
        if system.signs[name] == "real" and k % 2:
            return value, False, f"odd power of {name}, whose sign is not known"
        positive &= not k or system.signs[name] in ("positive", "natural")
        value *= gen**k
    if "s" in stored:
        value *= load(stored["s"], system) ** 2
    return value, positive, ""


def used(certificates: Sequence[Mapping[str, Any]], system: System) -> set[str]:
    """The names of the hypotheses on which the certificates rest."""
    names = set()
    for certificate in certificates:
        for stored in certificate.get("terms", ()):
            names |= {system.constraints[i].name for i in stored.get("g", ()) if i < len(system.constraints)}
        names |= {system.equations[e["e"]].name for e in certificate.get("equations", ())}
    return names


def trivial(system: System, goal: tuple[Poly, str]) -> dict[str, Any] | None:
    """The certificate of an identity, or of a polynomial whose every term is visibly nonnegative."""
    poly, op = goal
    if op == "==":
        return {"terms": []} if poly == 0 else None
    terms = []
    for exponents, coefficient in poly.to_dict().items():
        if coefficient < 0 or any(
            e % 2 and system.signs[n] == "real" for n, e in zip(system.names, exponents, strict=True)
        ):
            return None
        terms.append(term(coefficient, (), exponents))
    certificate = {"terms": terms}
    return certificate if not check(system, goal, certificate) else None
