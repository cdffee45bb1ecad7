"""Section 4.3: Lemmas 4.11 to 4.14. The corrected editions use delta_{r+1}, which belongs to p_{i,r+1}."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp, mpf

from .base import Draw, Reference, delta_at, num, over, participation_step, vec
from .draws import CORNER, game, log_uniform, loss, or_zero, step
from .section_4 import nothing, step_draw, zero_residual


def lemma_4_12(shift: int, **c: Any) -> mpf:
    """Lower bound on E[grad f(x_bar_k)^T g_bar_k | F_k]."""
    m, L, G, B = (num(c[k]) for k in ("m", "L", "G", "B"))
    weight = (m * delta_at(c["r"] + shift, **c)) ** 2
    return (
        -weight * G**2 - m * L**2 / 2 * num(c["e_bar"]) + (mpf(1) / 4 - weight * B**2) * num(c["grad_f_sq"])
    )


def lemma_4_13_i(*, e_bar: Any, grad_fi_sq_sum: Any, L: Any, nu: Any, gamma: Any, **_: Any) -> mpf:
    """Arrays over t = T_r..k-1."""
    errors, gradients = vec(e_bar), vec(grad_fi_sq_sum)
    terms = [3 * num(nu) ** 2 + 3 * num(L) ** 2 * e + 3 * g for e, g in zip(errors, gradients, strict=True)]
    return num(gamma) ** 2 * len(terms) * mp.fsum(terms)


def lemma_4_13_ii(**c: Any) -> mpf:
    """`grad_f_sq` over t = T_r..k-1."""
    m, H, nu, G, B, gamma = (num(c[k]) for k in ("m", "H", "nu", "G", "B", "gamma"))
    return 9 * H * gamma**2 * mp.fsum(nu**2 + m * (G**2 + B**2 * g) for g in vec(c["grad_f_sq"]))


def lemma_4_13_iii(**c: Any) -> mpf:
    """`grad_f_sq` over k = T_r_hat..T_R - 1."""
    m, H, nu, G, B, gamma = (num(c[k]) for k in ("m", "H", "nu", "G", "B", "gamma"))
    T = H * (num(c["R"]) - num(c["r_hat"]))
    first = 9 * m * (gamma * B * H) ** 2 * mp.fsum(vec(c["grad_f_sq"]))
    return first + 9 * gamma**2 * (nu**2 + m * G**2) * H**2 * T


def lemma_4_14_a(shift: int, **c: Any) -> mpf:
    m, L, nu = (num(c[k]) for k in ("m", "L", "nu"))
    weight = 4 * m * delta_at(c["r"] + shift, **c) ** 2 * num(c["grad_fi_sq_sum"])
    return nu**2 + 2 * m * L**2 * num(c["e_bar"]) + weight + 4 * num(c["grad_f_sq"])


def lemma_4_14_b(shift: int, **c: Any) -> mpf:
    m, L, nu, G, B = (num(c[k]) for k in ("m", "L", "nu", "G", "B"))
    weight = (m * delta_at(c["r"] + shift, **c)) ** 2
    head = nu**2 + 2 * m * L**2 * num(c["e_bar"]) + 4 * weight * G**2
    return head + 4 * (weight * B**2 + 1) * num(c["grad_f_sq"])


def small_step(*, H: Any, L: Any, gamma: Any, **_: Any) -> dict[str, bool | None]:
    """gamma <= 1/(sqrt(3) H L), squared."""
    product = num(gamma) * num(H) * num(L)
    return {"gamma > 0": product > 0, "gamma <= 1/(sqrt(3) H L)": 3 * product**2 <= 1}


def draw_step(rng: np.random.Generator) -> Draw:
    """One step of one round."""
    observed = {name: or_zero(rng, 1e-3, 1e3) for name in ("e_bar", "grad_f_sq", "grad_fi_sq_sum")}
    r = 0 if rng.random() < CORNER else int(log_uniform(rng, 1.0, 1e4))
    return {**game(rng), **loss(rng), **observed, "r": r}


def draw_steps(rng: np.random.Generator) -> Draw:
    """The steps T_r..k-1 of a round, T_r < k <= T_{r+1}; e_bar vanishes at the first."""
    H = 1 if rng.random() < CORNER else int(rng.integers(1, 30))
    n = int(rng.integers(1, H + 1))
    c = {**game(rng), **loss(rng), "H": H}
    c["gamma"] = step(rng, over(1, mp.sqrt(3) * H * num(c["L"])))
    arrays = {name: rng.exponential(1.0, n) for name in ("grad_f_sq", "grad_fi_sq_sum")}
    return {**c, **arrays, "e_bar": np.append(0.0, rng.exponential(1.0, n - 1))}


def draw_rounds(rng: np.random.Generator) -> Draw:
    c = draw_steps(rng)
    r_hat, rounds = int(rng.integers(0, 5)), int(rng.integers(1, 8))
    return {**c, "r_hat": r_hat, "R": r_hat + rounds, "grad_f_sq": rng.exponential(1.0, c["H"] * rounds)}


def shifted(formula: Callable[..., mpf], shift: int) -> Callable[..., mpf]:
    def value(**c: Any) -> mpf:
        return formula(shift, **c)

    return value


def references() -> dict[tuple[str, str], Reference]:
    table: dict[tuple[str, str], Reference] = {}
    for edition, shift, average in (("printed", 0, "p_now"), ("corrected", 1, "p_next")):

        def add(name: str, formula: Any, check: Any, draw: Any, quantity: str, kind: str = "upper") -> None:
            table[name, edition] = Reference(formula, check, draw, f"{quantity}@{average}", kind)  # noqa: B023

        add("Lemma 4.11", zero_residual, nothing, step_draw, "g_bar_inner_residual", "equal")
        add("Lemma 4.12", shifted(lemma_4_12, shift), participation_step, draw_step, "descent_inner", "lower")
        add("Lemma 4.13(i)", lemma_4_13_i, nothing, draw_steps, "e_bar")
        add("Lemma 4.13(ii)", lemma_4_13_ii, small_step, draw_steps, "e_bar")
        add("Lemma 4.13(iii)", lemma_4_13_iii, small_step, draw_rounds, "e_bar_sum")
        add("Lemma 4.14(a)", shifted(lemma_4_14_a, shift), participation_step, draw_step, "g_bar_sq")
        add("Lemma 4.14(b)", shifted(lemma_4_14_b, shift), participation_step, draw_step, "g_bar_sq")
    return table
