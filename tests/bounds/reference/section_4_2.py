"""Section 4.2: Theorem 4.10 (merely monotone game)."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf

from .base import Draw, Reference, num, over
from .draws import CORNER, clients, last_round, local_steps, log_uniform, loss, or_zero, start_round, step
from .section_4_1 import (
    gamma_limits_4_6,
    gamma_limits_4_6_sharp,
    horizon,
    iterations,
    spread_draw,
    step_size,
    weights_spread,
)


def theorem_4_10_i(**c: Any) -> mpf:
    """`delta_hat_sq_mean`: mean over r >= r_hat of delta_hat_r^2 (printed), delta_hat_{r+1}^2 (corrected)."""
    m, H, L, nu, G, gamma = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "gamma"))
    start = 16 * num(c["f_gap"]) / (gamma * iterations(**c))
    drift = mpf(153) / 2 * (nu**2 + m * G**2) * m * (L * H * gamma) ** 2
    weights = 16 * (m * G) ** 2 * (1 + 2 * L * gamma) * num(c["delta_hat_sq_mean"])
    return start + 8 * L * gamma * nu**2 + drift + weights


def exponents(*, a: Any, b: Any, **_: Any) -> dict[str, bool | None]:
    a, b = num(a), num(b)
    return {"0 < b": b > 0, "b < a": b < a, "a < 1": a < 1, "a + b < 1": a + b < 1}


def hypotheses_4_10_i(**c: Any) -> dict[str, bool | None]:
    """`delta_hat_sup`: sup over r >= r_hat of the delta_hat in use; without it undecided."""
    small: bool | None = None
    if "delta_hat_sup" in c:
        small = 17 * (num(c["m"]) * num(c["B"]) * num(c["delta_hat_sup"])) ** 2 <= 1
    return {
        **step_size(gamma_limits_4_6(**c), c["gamma"]),
        **exponents(**c),
        **horizon(**c),
        "17 m^2 B^2 delta_hat^2 <= 1": small,
        "N_r converges": None,
    }


def draw_exponents(rng: np.random.Generator) -> Draw:
    a = float(rng.uniform(0.02, 0.98))
    return {"a": a, "b": float(rng.uniform(0.01, 0.99)) * min(a, 1 - a)}


def draw_4_10_i(rng: np.random.Generator) -> Draw:
    c = {**loss(rng), **draw_exponents(rng), "m": clients(rng), "H": local_steps(rng)}
    c["f_gap"] = or_zero(rng, 1e-3, 1e3)
    c["gamma"] = step(rng, min(gamma_limits_4_6(**c).values()))
    largest = float(over(1, mp.sqrt(17) * c["m"] * num(c["B"]))) if c["B"] > 0 else 1.0
    c["delta_hat_sup"] = 0.0 if rng.random() < CORNER else largest * float(rng.uniform(0, 0.999))
    c["delta_hat_sq_mean"] = c["delta_hat_sup"] ** 2 * float(rng.uniform(0, 1))
    c["r_hat"] = start_round(rng, 0)
    return {**c, "R": last_round(rng, c["r_hat"])}


def theorem_4_10_i_sharp(**c: Any) -> mpf:
    """Theorem 4.6(i-1), sharp, with `Delta_sq_mean`, the mean of Delta_r^2 <= m d_{r+1}^2/||N*||_1^2."""
    m, H, L, nu, G, gamma, kappa, s = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "gamma", "kappa", "s"))
    x = L * gamma
    start = 4 * num(c["f_gap"]) / (gamma * iterations(**c))
    noise = (2 * x * s + 8 * x**2 * (H - 1)) * nu**2
    return start + noise + 16 * x**2 * H * (H - 1) * kappa * G**2 + 4 * m * G**2 * num(c["Delta_sq_mean"])


def hypotheses_4_10_i_sharp(**c: Any) -> dict[str, bool | None]:
    small: bool | None = None
    if "Delta_sup" in c:
        small = 8 * num(c["m"]) * (num(c["B"]) * num(c["Delta_sup"])) ** 2 <= 1
    return {
        **step_size(gamma_limits_4_6_sharp(**c), c["gamma"]),
        **weights_spread(**c),
        **exponents(**c),
        **horizon(**c),
        "sigma_h > 0": num(c["sigma_h"]) > 0,
        "m B^2 Delta^2 <= 1/8": small,
    }


def draw_4_10_i_sharp(rng: np.random.Generator) -> Draw:
    c = {**loss(rng), **draw_exponents(rng), "m": clients(rng), "H": local_steps(rng)}
    c.update(spread_draw(rng, c["m"]))
    c["f_gap"] = or_zero(rng, 1e-3, 1e3)
    c["sigma_h"] = log_uniform(rng, 1e-3, 1e1)
    c["L_h"] = c["sigma_h"] * log_uniform(rng, 1.0, 1e2)
    c["gamma"] = step(rng, min(gamma_limits_4_6_sharp(**c).values()))
    largest = float(over(1, mp.sqrt(8 * num(c["m"])) * num(c["B"]))) if c["B"] > 0 else 1.0
    c["Delta_sup"] = 0.0 if rng.random() < CORNER else largest * float(rng.uniform(0, 0.999))
    c["Delta_sq_mean"] = c["Delta_sup"] ** 2 * float(rng.uniform(0, 1))
    c["r_hat"] = start_round(rng, 0)
    return {**c, "R": last_round(rng, c["r_hat"])}


def theorem_4_10_ii(*, epsilon: Any, **_: Any) -> mpf:
    """limsup of E||grad f(x_bar_{k*})||^2 is at most epsilon."""
    return num(epsilon)


def theorem_4_10_ii_sharp(*, epsilon: Any, **_: Any) -> mpf:
    return 3 * num(epsilon) / 4


def limits_4_10_ii(divisor: Any, **c: Any) -> dict[str, mpf]:
    """epsilon/(16 L nu^2) and sqrt(2 epsilon/(divisor (nu^2 + m G^2) m L^2 H^2)); 2/306 = 1/153."""
    m, H, L, nu, G, eps = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "epsilon"))
    return {
        "epsilon/(16 L nu^2)": over(eps, 16 * L * nu**2),
        f"sqrt(2 epsilon/({divisor} (nu^2 + m G^2) m L^2 H^2))": mp.sqrt(
            over(2 * eps, divisor * (nu**2 + m * G**2) * m * (L * H) ** 2)
        ),
    }


def all_limits_printed(**c: Any) -> dict[str, mpf]:
    return {**gamma_limits_4_6(**c), **limits_4_10_ii(153, **c)}


def all_limits(**c: Any) -> dict[str, mpf]:
    return {**gamma_limits_4_6(**c), **limits_4_10_ii(306, **c)}


def all_limits_sharp(**c: Any) -> dict[str, mpf]:
    H, L, nu, G, eps, kappa = (num(c[k]) for k in ("H", "L", "nu", "G", "epsilon", "kappa"))
    return {
        **gamma_limits_4_6_sharp(**c),
        "epsilon/(8 L nu^2)": over(eps, 8 * L * nu**2),
        "sqrt(epsilon/(32 L^2 H(H-1) (nu^2 + kappa G^2)))": mp.sqrt(
            over(eps, 32 * L**2 * H * (H - 1) * (nu**2 + kappa * G**2))
        ),
    }


def hypotheses_4_10_ii_printed(**c: Any) -> dict[str, bool | None]:
    return {**step_size(all_limits_printed(**c), c["gamma"]), **exponents(**c), "N_r converges": None}


def hypotheses_4_10_ii(**c: Any) -> dict[str, bool | None]:
    return {**step_size(all_limits(**c), c["gamma"]), **exponents(**c), "N_r converges": None}


def hypotheses_4_10_ii_sharp(**c: Any) -> dict[str, bool | None]:
    positive = {"sigma_h > 0": num(c["sigma_h"]) > 0}
    return {
        **step_size(all_limits_sharp(**c), c["gamma"]),
        **weights_spread(**c),
        **exponents(**c),
        **positive,
    }


def draw_4_10_ii(rng: np.random.Generator) -> Draw:
    """The corrected limits imply the printed ones."""
    c = {**loss(rng), **draw_exponents(rng), "m": clients(rng), "H": local_steps(rng)}
    c["epsilon"] = log_uniform(rng, 1e-6, 1.0)
    return {**c, "gamma": step(rng, min(all_limits(**c).values()))}


def draw_4_10_ii_sharp(rng: np.random.Generator) -> Draw:
    c = {**loss(rng), **draw_exponents(rng), "m": clients(rng), "H": local_steps(rng)}
    c.update(spread_draw(rng, c["m"]))
    c["epsilon"] = log_uniform(rng, 1e-6, 1.0)
    c["sigma_h"] = log_uniform(rng, 1e-3, 1e1)
    c["L_h"] = c["sigma_h"] * log_uniform(rng, 1.0, 1e2)
    return {**c, "gamma": step(rng, min(all_limits_sharp(**c).values()))}


def references() -> dict[tuple[str, str], Reference]:
    now, then, late = "grad_f_sq@p_now", "grad_f_sq@p_next", "grad_f_sq_limsup"
    first, second = "Theorem 4.10(i)", "Theorem 4.10(ii)"
    return {
        (first, "printed"): Reference(theorem_4_10_i, hypotheses_4_10_i, draw_4_10_i, now),
        (first, "corrected"): Reference(theorem_4_10_i, hypotheses_4_10_i, draw_4_10_i, then),
        (first, "sharp"): Reference(theorem_4_10_i_sharp, hypotheses_4_10_i_sharp, draw_4_10_i_sharp, then),
        (second, "printed"): Reference(theorem_4_10_ii, hypotheses_4_10_ii_printed, draw_4_10_ii, late),
        (second, "corrected"): Reference(theorem_4_10_ii, hypotheses_4_10_ii, draw_4_10_ii, late),
        (second, "sharp"): Reference(
            theorem_4_10_ii_sharp, hypotheses_4_10_ii_sharp, draw_4_10_ii_sharp, late
        ),
    }
