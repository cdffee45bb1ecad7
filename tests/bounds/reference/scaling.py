"""Changes of unit: what each constant becomes when N, f or x is measured in another unit.

* N -> c N. The loss l_i of the game has no unit of N, so F = dl/dN scales by 1/c, mu_F and L_F by 1/c^2 and
  gamma_tilde by c^2 (only mu_F gamma_tilde and L_F gamma_tilde enter any bound); h has none either, so C_F
  and C_H scale by 1/c; lambda_r has no unit. delta_0, Delta, q and rho have none.
* f -> c f. Gradients, hence nu and G, scale by c, L by c, gamma by 1/c (the iterates stay where they are); B
  and weights have no unit.
* x -> c x (each f_i moved along). Gradients scale by 1/c, L by 1/c^2, gamma by c^2.

A bound on a quantity has to scale as the quantity does. The statements in `INHOMOGENEOUS` do not: a finding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Draw
from .draws import game, last_round, local_steps, loss, or_zero, start_round, step
from .section_4_1 import (
    gamma_limits_4_6,
    gamma_limits_4_6_sharp,
    smallest_r_hat_4_6,
    smallest_r_hat_4_6_sharp,
    spread_draw,
)

Units = tuple[int, int, int]  # exponents of the scales of N, f, x

CONSTANTS: dict[str, Units] = {
    **dict.fromkeys(("dist_0", "N_star_l1", "d_r", "dist_sol", "D_N"), (1, 0, 0)),
    **dict.fromkeys(("mu_F", "L_F", "sigma_h", "L_h"), (-2, 0, 0)),
    **dict.fromkeys(("gamma_tilde", "gamma_tilde_0", "gamma_tilde_r"), (2, 0, 0)),
    **dict.fromkeys(("C_F", "C_H"), (-1, 0, 0)),
    **dict.fromkeys(("nu", "G"), (0, 1, -1)),
    "L": (0, 1, -2),
    "gamma": (0, -1, 2),
    **dict.fromkeys(("f_gap", "f_gap_0", "D_f", "f_star", "f_sup", "f_i_star"), (0, 1, 0)),
    **dict.fromkeys(("S", "sigma_sq", "V", "grad_f_sq", "grad_fi_sq_sum", "theta_t"), (0, 2, -2)),
    "D_r_hat": (0, 0, 1),
    **dict.fromkeys(("X_sq", "X_0", "e_bar"), (0, 0, 2)),
    "beta": (0, 2, -4),
}

GRADIENT_SQ: Units = (0, 2, -2)
LENGTH_SQ: Units = (0, 0, 2)
VALUES: dict[str, Units] = {
    "Lemma 4.3(i)": (1, 0, 0),
    "Lemma 4.3(ii)": (0, 0, 0),
    **dict.fromkeys(("Lemma 4.4(i)", "Lemma 4.4(i-lower)", "Lemma 4.4(ii)", "Lemma 4.4(iv)"), (0, 0, 0)),
    **dict.fromkeys(("Theorem 4.6(i-2)", "Theorem 4.9(i-2)"), (2, 0, 0)),
    **dict.fromkeys(("Theorem 4.6(i-1)", "Theorem 4.10(i)", "Assumption 4.5", "Lemma 6.5"), GRADIENT_SQ),
    **dict.fromkeys(("Lemma 4.12", "Lemma 4.14(a)", "Lemma 4.14(b)", "Lemma 6.6"), GRADIENT_SQ),
    **dict.fromkeys(("Lemma 4.13(i)", "Lemma 4.13(ii)", "Lemma 4.13(iii)", "Lemma 6.9"), LENGTH_SQ),
    **dict.fromkeys(("Lemma 6.3", "Lemma 6.3 (18)", "Consensus", "Start distance", "Lemma 6.8"), LENGTH_SQ),
    **dict.fromkeys(("Theorem 4.9(i-1)", "Start gap", "Lemma 6.7"), (0, 1, 0)),
    "Lemma 6.10": (0, 0, 0),
}

DELTA_TERM = "m sqrt(delta_0) in place of a curvature: the Young parameter sqrt(delta_r) has a unit"
INHOMOGENEOUS: dict[tuple[str, str], str] = {
    ("Lemma 4.4(iv)", "printed"): "delta_0 already holds ||N_0 - N*||, so the bound scales like a distance",
    ("Lemma 6.7", "printed"): DELTA_TERM,
    ("Lemma 6.7", "corrected"): DELTA_TERM,
    ("Lemma 6.8", "printed"): DELTA_TERM,
    ("Lemma 6.8", "corrected"): DELTA_TERM,
    ("Lemma 6.10", "printed"): DELTA_TERM,
    ("Lemma 6.10", "corrected"): DELTA_TERM,
    ("Theorem 4.9(i-1)", "printed"): DELTA_TERM,
    ("Theorem 4.9(i-1)", "corrected"): DELTA_TERM,
    ("Theorem 4.9(i-2)", "printed"): "the step-size and r_hat conditions of Theorem 4.9",
    ("Theorem 4.9(i-2)", "corrected"): "the step-size and r_hat conditions of Theorem 4.9",
}


def scaled(constants: Draw, scales: tuple[float, float, float]) -> Draw:
    """The same instance in other units; powers of two keep floats exact."""
    result: dict[str, Any] = {}
    for name, value in constants.items():
        units = CONSTANTS.get(name, (0, 0, 0))
        factor = float(np.prod([s**u for s, u in zip(scales, units, strict=True)]))
        result[name] = value * factor if factor != 1 else value
    return result


def draw_ordered(rng: np.random.Generator) -> Draw:
    """Constants within both the corrected and the sharp hypotheses of Lemma 4.3 and Theorem 4.6, m >= 2.

    There sharp <= corrected has to hold, for Lemma 4.3(i) and (ii), 4.4(iv), Theorem 4.6(i-1) and (i-2).
    """
    c = {**game(rng, at_least=2), **loss(rng), "H": local_steps(rng), "f_gap": or_zero(rng, 1e-3, 1e3)}
    c.update(spread_draw(rng, c["m"]))
    limits = [*gamma_limits_4_6(**c).values(), *gamma_limits_4_6_sharp(**c).values()]
    c["gamma"] = step(rng, min(limits))
    c["r_hat"] = start_round(rng, max(smallest_r_hat_4_6(**c), smallest_r_hat_4_6_sharp(**c)))
    observed = {"r": int(rng.integers(0, 1000)), "d_r": or_zero(rng, 1e-3, 1e3)}
    return {**c, **observed, "R": last_round(rng, c["r_hat"])}
