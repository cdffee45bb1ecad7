"""Lemma 6.3: a discrete Gronwall inequality inside a round."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from sympy import sqrt

from bounds.core.derive import Computed
from bounds.core.statement import Kind
from bounds.incentfedavg.entry import entry, ge, le, names

H, gamma, beta, tau = names("H gamma beta tau")
sum_theta, sum_theta_growing = names("sum_theta sum_theta_growing")


def _growing(theta: Any, beta: Any, H: Any, gamma: Any) -> Any:
    steps = np.asarray(theta)
    growth = (
        np.log1p(beta * H * gamma**2)[..., None]
        if np.ndim(beta * H * gamma)
        else np.log1p(beta * H * gamma**2)
    )
    return np.sum(np.exp(np.arange(steps.shape[-1] - 1, -1, -1.0) * growth) * steps, axis=-1)


def _growing_ball(theta: list[arb], beta: arb, H: Any, gamma: arb) -> arb:
    growth, total = beta * H * gamma * gamma + 1, arb(0)
    for value in theta:
        total = total * growth + value
    return total


def _total_ball(theta: list[arb]) -> arb:
    total = arb(0)
    for value in theta:
        total = total + value
    return total


RECIPES = {
    "sum_theta": (
        Computed(("theta_t",), r"\sum_{t=T_r}^{k-1} \theta_t", lambda v: np.sum(v, axis=-1), _total_ball),
    ),
    "sum_theta_growing": (
        Computed(
            ("theta_t", "beta", "H", "gamma"),
            r"\sum_{t=T_r}^{k-1} (\beta H \gamma^2 + 1)^{k-t-1} \theta_t",
            _growing,
            _growing_ball,
        ),
    ),
    "tau": (Computed(("theta_t",), r"k - T_r", lambda v: np.float64(np.shape(v)[-1]), lambda v: len(v)),),
}
GENERAL = H * gamma**2 * sum_theta_growing
FINAL = 3 * H * gamma**2 * sum_theta

STATEMENTS = (
    *entry(
        "Lemma 6.3",
        Kind.IMPLICATION,
        source="Section 6.1, Lemma 6.3",
        quantity="recursion_term",
        printed={
            "expression": FINAL,
            "terms": {"(18), without the condition on gamma": GENERAL},
            "hypotheses": (
                le("gamma <= 1/(H sqrt(beta))", gamma, 1 / (H * sqrt(beta))),
                ge("H >= k - T_r", H, tau),
            ),
            "recipes": RECIPES,
            "text": "if a_k <= (k - T_r) gamma^2 sum_t (beta a_t + theta_t) and a_{T_r} = 0, then (18) and "
            "the bound here.",
            "note": "ln(1 + x) < x is used with (H-1)/H for H > 1; H = 1 is immediate. The constant 3 may "
            "be e.",
        },
        corrected={"note": "Identical to printed."},
    ),
)
