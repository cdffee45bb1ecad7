"""The largest step size and the smallest warm-up that every hypothesis allows, checked rigorously."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from sympy import GreaterThan

from bounds import Constant, Hypothesis, MethodError, Provenance, Statement
from verify.errors import InputError

Bound = tuple[Statement, Mapping[str, Constant]]


def largest_step(name: str, statements: Sequence[Bound]) -> float:
    """The largest float64 value of `name` for which every hypothesis `name <= ...` is proved to hold.

    Raises:
        InputError: if no hypothesis limits it, or the limit is not positive and finite.
    """
    limits = []
    for statement, constants in statements:
        try:
            limits.append(statement.largest(name, constants))
        except MethodError:
            continue  # this statement does not limit it
    value = min(limits, default=math.inf)
    if not 0 < value < math.inf:
        vague = _vague(statements)
        if vague and not value > 0:
            raise InputError(
                f"algorithm.{name} = 'largest': {vague}, which leaves the hypotheses undecided for every {name} > 0: "
                f"give {name}, or a game whose equilibrium is known exactly"
            )
        found = "leave no value > 0" if value <= 0 else "do not limit it"
        raise InputError(
            f"algorithm.{name} = 'largest': the hypotheses of the checked statements {found}: give a number"
        )
    return value


def smallest_index(name: str, statements: Sequence[Bound], below: int) -> int:
    """The smallest integer 0 <= value < `below` for which every hypothesis `name >= ...` is proved to hold.

    Raises:
        InputError: if there is none.
    """
    needed = max((_needed(name, *bound) for bound in statements), default=0.0)
    first = max(0, math.ceil(needed)) if math.isfinite(needed) else below
    for value in range(
        first, min(first + 2, below)
    ):  # a limit within rounding of an integer needs the next one
        if all(_holds(name, *bound, value) for bound in statements):
            return value
    vague = _vague(statements)
    if vague:
        raise InputError(
            f"algorithm.{name} = 'smallest': {vague}, which leaves the hypotheses undecided: give {name}, or a game "
            "whose equilibrium is known exactly"
        )
    if not math.isfinite(needed):
        raise InputError(
            f"algorithm.{name} = 'smallest': no {name} meets the hypotheses with these step sizes: give smaller ones"
        )
    raise InputError(
        f"algorithm.{name} = 'smallest': the hypotheses need {name} >= {needed:.6g}: give a larger R"
    )


def _vague(statements: Sequence[Bound]) -> str:
    """That a start at the equilibrium is known to be there only to a radius, if so: dist_0 may then be 0 or not."""
    for _, constants in statements:
        dist_0 = constants.get("dist_0")
        if dist_0 is not None and float(np.asarray(dist_0.value)) <= float(np.max(dist_0.radius)) != 0.0:
            return (
                f"dist_0 = {float(np.asarray(dist_0.value)):.3g} is known only to {float(np.max(dist_0.radius)):.2g}, "
                "as the equilibrium is"
            )
    return ""


def _needed(name: str, statement: Statement, constants: Mapping[str, Constant]) -> float:
    checks = statement.check(
        {**constants, name: Constant(name, 0, Provenance.EXACT)}, _below(statement, name)
    )
    return max((check.rhs for check in checks), default=0.0)


def _holds(name: str, statement: Statement, constants: Mapping[str, Constant], value: int) -> bool:
    checks = statement.check(
        {**constants, name: Constant(name, value, Provenance.EXACT)}, _below(statement, name)
    )
    return all(check.holds is True for check in checks)


def _below(statement: Statement, name: str) -> list[Hypothesis]:
    """The hypotheses of the form `name >= ...`."""
    return [h for h in statement.hypotheses if _limits_below(h, name)]


def _limits_below(hypothesis: Hypothesis, name: str) -> bool:
    relation = hypothesis.relation
    return isinstance(relation, GreaterThan) and getattr(relation.lhs, "name", None) == name
