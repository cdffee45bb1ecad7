"""Section 6.1: Remarks 6.1 and 6.2, Lemma 6.3."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf

from .base import Draw, Reference, num, vec
from .draws import CORNER, log_uniform
from .section_4 import nothing, step_draw, zero_residual


def remark_6_1(*, L: Any, **_: Any) -> mpf:
    """The smoothness constant of f = sum p*_i f_i is at most L."""
    return num(L)


def positive_L(*, L: Any, **_: Any) -> dict[str, bool | None]:
    return {"L > 0": num(L) > 0}


def lemma_6_3(*, H: Any, gamma: Any, theta_t: Any, **_: Any) -> mpf:
    """The last claim: a_k <= 3 H gamma^2 sum of theta_t over t = T_r..k-1."""
    return 3 * num(H) * num(gamma) ** 2 * mp.fsum(vec(theta_t))


def lemma_6_3_eq_18(*, H: Any, gamma: Any, beta: Any, theta_t: Any, **_: Any) -> mpf:
    """Inequality (18), which needs no condition on gamma."""
    theta, growth = vec(theta_t), num(beta) * num(H) * num(gamma) ** 2 + 1
    n = len(theta)
    return num(H) * num(gamma) ** 2 * mp.fsum(growth ** (n - t - 1) * theta[t] for t in range(n))


def hypotheses_6_3_eq_18(*, H: Any, gamma: Any, beta: Any, theta_t: Any, **_: Any) -> dict[str, bool | None]:
    theta = vec(theta_t)
    return {
        "beta > 0": num(beta) > 0,
        "gamma > 0": num(gamma) > 0,
        "theta_t >= 0": min(theta) >= 0,
        "1 <= k - T_r <= H": 1 <= len(theta) <= H,
    }


def hypotheses_6_3(**c: Any) -> dict[str, bool | None]:
    small = num(c["beta"]) * (num(c["H"]) * num(c["gamma"])) ** 2 <= 1
    return {**hypotheses_6_3_eq_18(**c), "gamma <= 1/(H sqrt(beta))": small}


def draw_6_3(rng: np.random.Generator) -> Draw:
    H = 1 if rng.random() < CORNER else int(rng.integers(1, 40))
    beta = log_uniform(rng, 1e-3, 1e3)
    if rng.random() < CORNER:  # the limit itself, without rounding
        H, beta = 2 ** int(rng.integers(0, 6)), 4.0 ** int(rng.integers(-3, 4))
        gamma = 1 / (H * beta**0.5)
    else:
        gamma = float(rng.uniform(0.05, 0.999)) / (H * beta**0.5)
    theta = rng.exponential(1.0, int(rng.integers(1, H + 1)))
    return {"H": H, "beta": beta, "gamma": gamma, "theta_t": theta if rng.random() > CORNER else 0 * theta}


def references() -> dict[tuple[str, str], Reference]:
    def smooth_draw(rng: np.random.Generator) -> Draw:
        return {"L": log_uniform(rng, 1e-3, 1e3)}

    both = {
        "Remark 6.1": Reference(remark_6_1, positive_L, smooth_draw, "smoothness_f"),
        "Remark 6.2": Reference(zero_residual, nothing, step_draw, "local_step_residual", "equal"),
        "Lemma 6.3": Reference(lemma_6_3, hypotheses_6_3, draw_6_3, "recursion"),
        "Lemma 6.3 (18)": Reference(lemma_6_3_eq_18, hypotheses_6_3_eq_18, draw_6_3, "recursion"),
    }
    return {(name, edition): ref for name, ref in both.items() for edition in ("printed", "corrected")}
