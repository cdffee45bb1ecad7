"""Section 4: Lemmas 4.2, 4.3 and 4.4."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from mpmath import mp, mpf

from .base import (
    Draw,
    Reference,
    delta_0,
    num,
    participation_step,
    power,
    q_rate,
    rho,
    sharp_participation_step,
    vec,
)
from .draws import CORNER, clients, game, log_uniform, or_zero


def zero_residual(**_: Any) -> mpf:
    """An identity: the norm of left side minus right side is 0."""
    return mpf(0)


def nothing(**_: Any) -> dict[str, bool | None]:
    return {}


def step_draw(rng: np.random.Generator) -> Draw:
    return {"gamma": log_uniform(rng, 1e-4, 1.0)}


# Lemma 4.3 -----------------------------------------------------------------------------------------


def lemma_4_3_i(*, r: Any, dist_0: Any, **c: Any) -> mpf:
    return power(rho(**c), r) * num(dist_0)


def lemma_4_3_i_sharp(*, r: Any, dist_0: Any, **c: Any) -> mpf:
    return power(q_rate(**c), r) * num(dist_0)


def lemma_4_3_ii(*, r: Any, **c: Any) -> mpf:
    return delta_0(**c) * power(rho(**c), r)


def lemma_4_3_ii_sharp(*, r: Any, m: Any, dist_0: Any, N_star_l1: Any, **c: Any) -> mpf:
    return mp.sqrt(num(m) - 1) * power(q_rate(**c), r) * num(dist_0) / num(N_star_l1)


def draw_4_3(rng: np.random.Generator) -> Draw:
    r = 0 if rng.random() < CORNER else int(log_uniform(rng, 1.0, 1e5))
    return {**game(rng), "r": r}


def draw_4_3_sharp(rng: np.random.Generator) -> Draw:
    """The sharp edition allows steps up to twice as long, and a rate that the caller knows."""
    c = {**game(rng, widest=1.999), "r": int(rng.integers(0, 2000))}
    if rng.random() < CORNER:
        c["q_rate"] = float(rng.choice([0.0, rng.uniform(0.0, 1.0)]))
    return c


# Lemma 4.4 -----------------------------------------------------------------------------------------


def power_sum(s: mpf, R: int) -> mpf:
    """Sum of j^-s over j = 1..R: term by term when short, else by zeta functions (harmonic at s = 1)."""
    if R <= 3000:
        return mp.fsum(power(mpf(j), -s) for j in range(1, R + 1))
    if s == 1:
        return mp.harmonic(R)
    with mp.extradps(30):
        return mp.zeta(s) - mp.zeta(s, R + 1)


def sums_4_4(c: dict[str, Any]) -> dict[str, mpf]:
    """lambda_0 and the sums of gamma^2, gamma lambda, gamma^2 lambda, gamma lambda^2 over r = 0..R-1."""
    if "gamma_tilde_r" in c:
        g, l = vec(c["gamma_tilde_r"]), vec(c["lambda_r"])
        pairs = list(zip(g, l, strict=True))
        return {
            "lambda_0": l[0],
            "gg": mp.fsum(x * x for x in g),
            "gl": mp.fsum(x * y for x, y in pairs),
            "ggl": mp.fsum(x * x * y for x, y in pairs),
            "gll": mp.fsum(x * y * y for x, y in pairs),
        }
    g0, l0, a, b, R = num(c["gamma_tilde_0"]), num(c["lambda_0"]), num(c["a"]), num(c["b"]), int(c["R"])
    return {
        "lambda_0": l0,
        "gg": g0**2 * power_sum(2 * a, R),
        "gl": g0 * l0 * power_sum(a + b, R),
        "ggl": g0**2 * l0 * power_sum(2 * a + b, R),
        "gll": g0 * l0**2 * power_sum(a + 2 * b, R),
    }


def lemma_4_4_i(*, C_F: Any, C_H: Any, D_N: Any, **c: Any) -> mpf:
    t = sums_4_4(c)
    largest = (num(C_F) + t["lambda_0"] * num(C_H)) ** 2
    return (2 * num(D_N) ** 2 + largest * t["gg"]) / (2 * t["gl"])


def lemma_4_4_i_lower(*, C_H: Any, dist_sol: Any, **_: Any) -> mpf:
    """`dist_sol` = dist(N_bar_R, SOL(box, F))."""
    return -num(C_H) * num(dist_sol)


def lemma_4_4_ii(*, C_F: Any, C_H: Any, D_N: Any, **c: Any) -> mpf:
    t = sums_4_4(c)
    D = num(D_N)
    largest = (num(C_F) + t["lambda_0"] * num(C_H)) ** 2
    first = t["lambda_0"] * D**2 / t["gl"]
    second = largest * t["ggl"] / (2 * t["gl"])
    third = num(C_H) * mp.sqrt(2) * D * t["gll"] / t["gl"]
    return first + second + third


def hypotheses_4_4(**c: Any) -> dict[str, bool | None]:
    """Positive sequences, lambda nonincreasing."""
    if "gamma_tilde_r" in c:
        g, l = vec(c["gamma_tilde_r"]), vec(c["lambda_r"])
        return {
            "R >= 1": len(g) >= 1,
            "gamma_tilde_r > 0": min(g) > 0,
            "lambda_r > 0": min(l) > 0,
            "lambda_r nonincreasing": all(y <= x for x, y in pairwise(l)),
        }
    return {
        "R >= 1": int(c["R"]) >= 1,
        "gamma_tilde_r > 0": num(c["gamma_tilde_0"]) > 0,
        "lambda_r > 0": num(c["lambda_0"]) > 0,
        "lambda_r nonincreasing": num(c["b"]) >= 0,
    }


def box_constants(rng: np.random.Generator) -> Draw:
    return {"C_F": or_zero(rng, 1e-2, 1e2), "C_H": or_zero(rng, 1e-2, 1e2), "D_N": log_uniform(rng, 1.0, 1e4)}


def draw_4_4(rng: np.random.Generator) -> Draw:
    if rng.random() < 0.4:
        R = 1 if rng.random() < CORNER else int(rng.integers(1, 60))
        lambdas = np.sort(np.exp(rng.uniform(-4, 2, R)))[::-1].copy()
        return {**box_constants(rng), "gamma_tilde_r": np.exp(rng.uniform(-4, 2, R)), "lambda_r": lambdas}
    # quarters make the exponents 2a, a + b, 2a + b, a + 2b hit 1 exactly
    a, b = (float(x) for x in (rng.integers(0, 5, 2) / 4 if rng.random() < 0.4 else rng.uniform(0, 1, 2)))
    sizes = [1, 2, 1000, 10**5, 10**9]
    scales = {"gamma_tilde_0": log_uniform(rng, 1e-3, 1e2), "lambda_0": log_uniform(rng, 1e-3, 1e2)}
    return {**box_constants(rng), **scales, "a": a, "b": b, "R": int(rng.choice(sizes))}


def draw_4_4_lower(rng: np.random.Generator) -> Draw:
    return {"C_H": or_zero(rng, 1e-2, 1e2), "dist_sol": or_zero(rng, 1e-3, 1e3)}


def lemma_4_4_iii(*, a: Any, b: Any, **_: Any) -> dict[str, Any]:
    """The three rate conditions for gamma ~ r^-a, lambda ~ r^-b, b >= 0, each decided on its own.

    S(e) = sum of r^-e grows like R^(1-e) (e < 1), ln R (e = 1), or stays bounded (e > 1).
    Condition 1: S(a+b) is unbounded.  Conditions 2 and 3: S(a+2b)/S(a+b) -> 0 and S(2a)/S(a+b) -> 0.
    """
    x, y = num(a), num(b)

    def growth(e: mpf) -> tuple[mpf, int]:
        """The order R^(first) (ln R)^(second)."""
        return (1 - e, 0) if e < 1 else (mpf(0), 1 if e == 1 else 0)

    def vanishes(top: mpf, bottom: mpf) -> bool:
        return growth(top) < growth(bottom)

    conditions = {
        "sum gamma lambda = inf": growth(x + y) > (0, 0),
        "sum gamma lambda^2 / sum gamma lambda -> 0": vanishes(x + 2 * y, x + y),
        "sum gamma^2 / sum gamma lambda -> 0": vanishes(2 * x, x + y),
    }
    return {
        **conditions,
        "holds": all(conditions.values()) and y >= 0,
        "in particular": 0 < y < x and x + y < 1,
    }


def draw_4_4_iii(rng: np.random.Generator) -> Draw:
    """Any (a, b) with b >= 0, the edges a = b, a + b = 1, 2a = 1, b = 0 included: it is a verdict."""
    if rng.random() < 0.6:
        return {"a": int(rng.integers(0, 10)) / 8, "b": int(rng.integers(0, 10)) / 8}
    return {"a": float(rng.uniform(0, 1.2)), "b": float(rng.uniform(0, 1.2))}


def lemma_4_4_iv_printed(*, d_r: Any, **c: Any) -> mpf:
    """`d_r` = ||N_r - N*||; the printed delta_0 holds ||N_0 - N*|| already."""
    return delta_0(**c) * num(d_r)


def lemma_4_4_iv(*, d_r: Any, m: Any, N_star_l1: Any, **_: Any) -> mpf:
    return (num(m) - 1) * num(d_r) / num(N_star_l1)


def lemma_4_4_iv_sharp(*, d_r: Any, m: Any, N_star_l1: Any, **_: Any) -> mpf:
    return mp.sqrt(num(m) - 1) * num(d_r) / num(N_star_l1)


def draw_4_4_iv(rng: np.random.Generator) -> Draw:
    m = clients(rng)
    distances = {"dist_0": or_zero(rng, 1e-3, 1e3), "d_r": or_zero(rng, 1e-3, 1e3)}
    return {"m": m, "N_star_l1": m * log_uniform(rng, 1.0, 1e4), **distances}


def both(ref: Reference, note: str = "") -> dict[str, Reference]:
    """Printed and corrected alike."""
    return {"printed": ref, "corrected": ref}


def references() -> dict[tuple[str, str], Reference]:
    moving = "false at a round's end with p_{i,r} when the weights move"
    table = {
        "Lemma 4.2": both(
            Reference(zero_residual, nothing, step_draw, "x_bar_step_residual", "equal", moving)
        ),
        "Lemma 4.3(i)": {
            **both(Reference(lemma_4_3_i, participation_step, draw_4_3, "ne_distance")),
            "sharp": Reference(lemma_4_3_i_sharp, sharp_participation_step, draw_4_3_sharp, "ne_distance"),
        },
        "Lemma 4.3(ii)": {
            **both(Reference(lemma_4_3_ii, participation_step, draw_4_3, "weight_error")),
            "sharp": Reference(lemma_4_3_ii_sharp, sharp_participation_step, draw_4_3_sharp, "weight_error"),
        },
        "Lemma 4.4(i)": both(Reference(lemma_4_4_i, hypotheses_4_4, draw_4_4, "welfare_gap")),
        "Lemma 4.4(i-lower)": both(
            Reference(lemma_4_4_i_lower, nothing, draw_4_4_lower, "welfare_gap", "lower")
        ),
        "Lemma 4.4(ii)": both(Reference(lemma_4_4_ii, hypotheses_4_4, draw_4_4, "dual_gap")),
        "Lemma 4.4(iii)": both(Reference(lemma_4_4_iii, nothing, draw_4_4_iii, "rate_conditions", "equal")),
        "Lemma 4.4(iv)": {
            "printed": Reference(lemma_4_4_iv_printed, nothing, draw_4_4_iv, "weight_error"),
            "corrected": Reference(lemma_4_4_iv, nothing, draw_4_4_iv, "weight_error"),
            "sharp": Reference(lemma_4_4_iv_sharp, nothing, draw_4_4_iv, "weight_error"),
        },
    }
    return {(name, edition): ref for name, editions in table.items() for edition, ref in editions.items()}
