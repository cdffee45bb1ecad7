"""How the paper's derived names follow from base names; a name that the caller gives is never derived."""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from bounds.core import accurate, enclosure
from bounds.core.derive import Formula, Rate, Recipe
from bounds.incentfedavg.names import names

m, H, R, r, r_hat = names("m H R r r_hat")
mu_F, L_F, gamma_tilde, dist_0, N_star_l1 = names("mu_F L_F gamma_tilde dist_0 N_star_l1")
rho, q, delta_0 = names("rho q_rate delta_0")
Delta_bar, Delta_mean, Delta_sq_mean = names("Delta_bar Delta_mean Delta_sq_mean")

DERIVED: Mapping[str, tuple[Recipe, ...]] = {
    "T": (Formula(H * (R - r_hat)),),
    "rho": (
        Rate(
            ("mu_F", "gamma_tilde"), 1 - mu_F * gamma_tilde / 2, accurate.half_rate, enclosure.half_rate_log
        ),
    ),
    "q_rate": (
        Rate(
            ("mu_F", "L_F", "gamma_tilde"),
            sympy.sqrt(1 - 2 * mu_F * gamma_tilde + L_F**2 * gamma_tilde**2),
            accurate.square_rate,
            enclosure.square_rate_log,
            scale=0.5,
        ),
    ),
    "delta_0": (Formula((m - 1) * dist_0 / N_star_l1),),
    "delta_r": (Formula(delta_0 * rho**r),),
    "delta_next": (Formula(delta_0 * rho ** (r + 1)),),
    # For one client p = p* = 1: the weights have no error at all.
    "Delta_bar": (Formula(sympy.Piecewise((0, sympy.Eq(m, 1)), (sympy.sqrt(m) * dist_0 / N_star_l1, True))),),
    "Delta_mean": (Formula(Delta_bar * q * (q**r_hat - q**R) / ((1 - q) * (R - r_hat))),),
    "Delta_sq_mean": (
        Formula(Delta_bar**2 * q**2 * (q ** (2 * r_hat) - q ** (2 * R)) / ((1 - q**2) * (R - r_hat))),
    ),
    "Delta_sq_sup": (Formula(Delta_bar**2 * q ** (2 * r_hat + 2)),),
    "Delta_start": (Formula(Delta_bar * q * (1 - q**r_hat) / (1 - q)),),
    "Delta_sq_start": (Formula(Delta_bar**2 * q**2 * (1 - q ** (2 * r_hat)) / (1 - q**2)),),
    "A_sum": (
        Formula(
            2 * sympy.sqrt(m) * Delta_bar * q ** (r_hat + 1) / (1 - q)
            + m * Delta_bar**2 * q ** (2 * r_hat + 2) / (2 * (1 - q**2))
        ),
    ),
}
