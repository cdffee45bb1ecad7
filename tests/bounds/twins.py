"""The statements under test beside their second implementation: the same random constants for both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb
from mpmath import mp, mpf
from reference import ALL
from reference.base import Draw

import bounds
from bounds import Kind, Statement

DRAWS = 200  # in the slow run; FEW in the fast one
FEW = 24
START = {"Start gap": bounds.start_gap, "Start distance": bounds.start_distance}
# Sharp bounds in which p_r - p* enters: zero for one client, which the reference's Delta_bar leaves out.
WEIGHTS = {"Theorem 4.6(i-1)", "Theorem 4.9(i-1)", "Start gap", "Start distance"}


def statement(name: str, edition: str) -> Statement:
    """The statement under test."""
    return START[name]() if name in START else bounds.get(name, edition)


def valued_cases() -> list[tuple[str, str]]:
    """The cases whose statements have a value that the reference computes from the same constants."""
    return [
        (name, edition)
        for name, edition in sorted(ALL)
        if name in START
        or (
            name in bounds.ids()
            and edition in bounds.editions(name)
            and statement(name, edition).expression is not None
            and statement(name, edition).kind not in (Kind.ORDER, Kind.IDENTITY)
        )
    ]


def order_cases() -> list[tuple[str, str]]:
    """The O(.) parts."""
    return [
        (i, str(e)) for i in bounds.ids() for e in bounds.editions(i) if bounds.get(i, e).kind is Kind.ORDER
    ]


def level(values: Any) -> tuple[float, np.ndarray]:
    """The mean of an array as a float, and the array of that mean: sums of it are exact multiples."""
    array = np.asarray(values, dtype=float)
    mean = float(array.mean()) if array.size else 0.0
    return mean, np.full(array.shape, mean)


def pair(name: str, edition: str, draw: Draw) -> tuple[Draw, Draw]:
    """(constants for the code, constants for the reference) that mean the same."""
    ours, theirs = dict(draw), dict(draw)
    if name.startswith("Lemma 4.13"):
        if name != "Lemma 4.13(iii)":
            ours["tau"] = len(draw["e_bar"])
        for key in ("e_bar", "grad_f_sq", "grad_fi_sq_sum"):
            ours[key], theirs[key] = level(draw[key])
    if name == "Lemma 6.9" and edition != "sharp":
        mean, flat = level(draw["D_f"][1:])
        ours["D_f"] = mean
        # printed: t = T_r+1..T_{r+1}-1; corrected here: t = T_r..T_{r+1}-2, a summand less than the reference
        theirs["D_f"] = np.concatenate([[0.0], flat] if edition == "printed" else [flat, [0.0]])
    if name == "Theorem 4.10(i)":
        ours["delta_hat_sq_sup"] = draw.get("delta_hat_sup", 0.0) ** 2
        ours["Delta_sq_sup"] = draw.get("Delta_sup", 0.0) ** 2
    if name in WEIGHTS and edition == "sharp" and draw["m"] == 1:
        theirs["dist_0"] = 0.0
    return ours, theirs


def draws(name: str, edition: str, count: int = DRAWS, seed: int = 5) -> Iterator[tuple[Draw, mpf]]:
    """(constants for the code, the value that the reference finds)."""
    reference, rng = ALL[name, edition], np.random.default_rng(seed)
    for _ in range(count):
        ours, theirs = pair(name, edition, reference.draw(rng))
        yield ours, reference.value(**theirs)


def ball(value: mpf) -> arb:
    """A ball around a reference value, of its 50 digits less those that a difference may lose."""
    return arb(mp.nstr(value, 45)) * (1 + arb(0, 1e-38))


def ulps(value: float, truth: mpf) -> float:
    """|value - truth| in units in the last place of the float next to truth."""
    nearest = float(truth)
    return float(abs(mpf(value) - truth) / mpf(float(np.spacing(abs(nearest)))))


def by_hand(name: str) -> dict[str, Any]:
    """Constants for the identities, and the value they must have."""
    return {
        "Lemma 4.2": ({"x_bar": 2.0, "gamma": 0.25, "g_bar": 3.0}, 1.25),
        "Lemma 4.11": ({"g_bar_sq": 0.75}, 0.75),
        "Remark 6.2": ({"x_mean": 1.0, "gamma": 0.5, "g_mean": -3.0}, 2.5),
        "Algorithm 1": ({"lower": 1.0, "upper": 9.0, "N_i": 8.5, "gamma_tilde": 0.5, "F_i": -3.0}, 9.0),
    }[name]
