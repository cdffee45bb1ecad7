"""A found instance as a file that `python -m verify.report --instance` reads."""

from __future__ import annotations

import re

import numpy as np
from jaxtyping import Float

from bounds import Statement
from verify.searching.population import Population


def instance_name(statement: Statement) -> str:
    """worst-theorem-4.9-i-1-printed."""
    words = re.sub(r"[^a-z0-9.]+", "-", f"worst {statement.id} {statement.edition}".lower())
    return words.strip("-")


def instance_toml(pop: Population, statement: Statement) -> str:
    """Instance 0 of `pop` in TOML, with the one statement and edition that it is about."""
    at_rest = bool(np.array_equal(pop.N_0, pop.N_star))
    offset = pop.push[0] - pop.A[0] @ pop.N_star[0]
    closed = at_rest and statement.quantity.startswith("f_gap_avg")
    lines = [
        f'name = "{instance_name(statement)}"',
        f'title = "The worst ratio found for {statement.id}, {statement.edition}"',
        "",
        "[problem]",
        'kind = "quadratics"',
        f"curvature = {_list(pop.curvature[0])}",
        f"centre = [{', '.join(f'[{_number(c)}]' for c in pop.centre[0])}]",
        f"tradeoff = {_number(pop.tradeoff[0])}",
        "",
        "[game]",
        'kind = "affine"',
        f"matrix = [{', '.join(_list(row) for row in pop.A[0])}]",
        f"offset = {_list(offset)}",
        f"lower = {_list(pop.lower[0])}",
        f"upper = {_list(pop.upper[0])}",
        "",
        "[algorithm]",
        f"gamma = {_number(pop.gamma[0])}",
        f"gamma_tilde = {_number(pop.gamma_tilde[0])}",
        f"H = {pop.H[0]}",
        f"R = {pop.R[0]}",
        f"r_hat = {pop.r_hat[0]}",
        f"N_0 = {_start(pop, at_rest)}",
        f"x_0 = {_model(pop)}",
        'sampling = "full"',
        *(["closed_form = true"] if closed else []),
        "",
        "[check]",
        f'statements = ["{statement.id}"]',
        f'editions = ["{statement.edition}"]',
    ]
    return "\n".join(lines) + "\n"


def _start(pop: Population, at_rest: bool) -> str:
    return '"equilibrium"' if at_rest else _list(pop.N_0[0])


def _model(pop: Population) -> str:
    return '"minimiser"' if pop.x_0[0] == pop.x_star[0] else _number(pop.x_0[0])


def _list(values: Float[np.ndarray, " k"]) -> str:
    return f"[{', '.join(_number(v) for v in values)}]"


def _number(value: float) -> str:
    """The shortest decimal that reads back as the same float, always with a point."""
    return repr(float(value))


__all__ = ["instance_name", "instance_toml"]
