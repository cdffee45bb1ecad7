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
    noisy = bool(pop.nu[0] > 0)
    closed = at_rest and not noisy and statement.quantity.startswith("f_gap_avg")
    lines = [
        f'name = "{instance_name(statement)}"',
        f'title = "The worst ratio found for {statement.id}, {statement.edition}"',
        "",
        "[problem]",
        'kind = "quadratics"',
        f"curvature = {_list(pop.curvature[0])}",
        f"centre = [{', '.join(f'[{_number(c)}]' for c in pop.centre[0])}]",
        f"tradeoff = {_number(pop.tradeoff[0])}",
        *(
            [f'noise_law = {{ law = "rademacher", scale = {_number(pop.nu[0])}, atoms = 1 }}']
            if noisy
            else []
        ),
        "",
        "[game]",
        'kind = "affine"',
        f"matrix = [{', '.join(_list(row) for row in pop.A[0])}]",
        f"offset = {_list(offset)}",
        f"lower = {_list(pop.lower[0])}",
        f"upper = {_list(pop.upper[0])}",
        "",
        *_welfare(pop),
        "[algorithm]",
        f"gamma = {_number(pop.gamma[0])}",
        *_participation(pop),
        f"H = {pop.H[0]}",
        f"R = {pop.R[0]}",
        f"r_hat = {pop.r_hat[0]}",
        f"N_0 = {_start(pop, at_rest)}",
        f"x_0 = {_model(pop)}",
        f'sampling = "{"iid" if noisy else "full"}"',
        *(["closed_form = true"] if closed else []),
        "",
        "[check]",
        f'statements = ["{statement.id}"]',
        f'editions = ["{statement.edition}"]',
    ]
    return "\n".join(lines) + "\n"


def _welfare(pop: Population) -> list[str]:
    if not pop.lambda_0[0] > 0:
        return []
    return ["[welfare]", 'kind = "quadratic"', f"target = {_list(pop.target[0])}", ""]


def _participation(pop: Population) -> list[str]:
    """The update of the participation and its step sizes."""
    if not pop.lambda_0[0] > 0:
        return [f"gamma_tilde = {_number(pop.gamma_tilde[0])}"]
    numbers = {"gamma_tilde_0": pop.gamma_tilde, "a": pop.a, "lambda_0": pop.lambda_0, "b": pop.b}
    return ['update = "regularised"', *(f"{name} = {_number(x[0])}" for name, x in numbers.items())]


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
