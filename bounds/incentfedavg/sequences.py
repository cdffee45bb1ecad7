"""The sums of Lemma 4.4 over step sizes and weights: power laws in closed form, arrays by addition."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb

from bounds.core.derive import Computed, Given, Recipe
from bounds.core.series import power_sum, power_sum_ball, prefix, prefix_ball

_POWER_LAW = ("gamma_tilde_0", "a", "lambda_0", "b", "R")
_ARRAYS = ("gamma_tilde_r", "lambda_r")


def _sum(i: int, j: int, latex: str) -> tuple[Recipe, ...]:
    """sum of gamma_tilde_r^i lambda_r^j over r < R, from power laws, arrays and R, or arrays alone."""

    def law(g: Any, a: Any, lam: Any, b: Any, R: Any) -> Any:
        return g**i * lam**j * power_sum(i * a + j * b, R)

    def law_ball(g: arb, a: arb, lam: arb, b: arb, R: Any) -> arb:
        return g**i * lam**j * power_sum_ball(i * a + j * b, R)

    def added(g: Any, lam: Any, R: Any = None) -> Any:
        return prefix("gamma_tilde_r", np.asarray(g) ** i * np.asarray(lam) ** j, R)

    def added_ball(g: list[arb], lam: list[arb], R: Any = None) -> arb:
        return prefix_ball("gamma_tilde_r", [x**i * y**j for x, y in zip(g, lam, strict=True)], R)

    return (
        Computed(_POWER_LAW, latex, law, law_ball),
        Computed((*_ARRAYS, "R"), latex, added, added_ball),
        Computed(_ARRAYS, latex, added, added_ball),
    )


def _drop_law(lam: Any, b: Any, R: Any) -> Any:
    last = np.maximum(R, 2.0)
    falling = last**-b * np.expm1(-b * np.log1p(-1.0 / last))
    return lam * np.where(b < 0, -np.expm1(-b * np.log(2.0)), falling)


def _drop_law_ball(lam: arb, b: arb, R: Any) -> arb:
    if b == 0:
        return arb(0)
    last = arb(max(R, 2)) if isinstance(R, int) else R.max(arb(2))
    if b < 0:
        return -lam * (-b * arb(2).log()).expm1()
    return lam * (-b * last.log()).exp() * (-b * (-1 / last).log1p()).expm1()


def _drop(lam: Any) -> Any:
    values = np.asarray(lam)
    return np.min(values[..., :-1] - values[..., 1:], axis=-1) if values.shape[-1] > 1 else np.float64(0.0)


def _drop_ball(lam: list[arb]) -> arb:
    least = arb(0) if len(lam) < 2 else lam[0] - lam[1]
    for x, y in pairwise(lam[1:]):
        least = least.min(x - y)
    return least


SEQUENCES: Mapping[str, tuple[Recipe, ...]] = {
    "sum_g_l": _sum(1, 1, r"\sum_{r<R} \tilde{\gamma}_r \lambda_r"),
    "sum_g2": _sum(2, 0, r"\sum_{r<R} \tilde{\gamma}_r^2"),
    "sum_g2_l": _sum(2, 1, r"\sum_{r<R} \tilde{\gamma}_r^2 \lambda_r"),
    "sum_g_l2": _sum(1, 2, r"\sum_{r<R} \tilde{\gamma}_r \lambda_r^2"),
    "lambda_0": (
        Given(),
        Computed(("lambda_r",), r"\lambda_0", lambda lam: np.asarray(lam)[..., 0], lambda lam: lam[0]),
    ),
    "lambda_drop": (
        Computed(("lambda_0", "b", "R"), r"\min_r (\lambda_r - \lambda_{r+1})", _drop_law, _drop_law_ball),
        Computed(("lambda_r",), r"\min_r (\lambda_r - \lambda_{r+1})", _drop, _drop_ball),
    ),
}
