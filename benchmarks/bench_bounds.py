"""Speed of the statements beside hand-written numpy and mpmath intervals, in the same run.

`pytest benchmarks -o addopts= --benchmark-only`; ratios are what to read. Times are of the processor, not
of the wall, so that other work on the machine distorts them less.
"""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
import time
from typing import Any

import mpmath
import numpy as np
import pytest

import bounds

POINTS = 10**6
NAME = "Theorem 4.6(i-1)"


def of_children() -> float:
    """Processor seconds of the processes started so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def constants(points: int) -> dict[str, Any]:
    """Admissible constants of Theorem 4.6(i-1), every one an array."""
    rng = np.random.default_rng(0)
    mu_F = rng.uniform(0.1, 1, points)
    L_F = mu_F * rng.uniform(1, 2, points)
    c = {
        "mu_F": mu_F,
        "L_F": L_F,
        "gamma_tilde": mu_F / L_F**2 * rng.uniform(0.1, 0.99, points),
        "m": rng.integers(2, 10, points).astype(float),
        "H": rng.integers(1, 10, points).astype(float),
        "L": rng.uniform(0.5, 2, points),
        "nu": rng.uniform(0, 1, points),
        "G": rng.uniform(0, 1, points),
        "B": rng.uniform(0.1, 1, points),
        "f_gap": rng.uniform(0, 3, points),
        "dist_0": rng.uniform(0.01, 1, points),
        "N_star_l1": rng.uniform(50, 100, points),
    }
    limit = np.minimum(1 / (32 * c["L"]), np.sqrt(2 / 153) / (c["m"] * c["B"] * c["H"] * c["L"]))
    c["gamma"] = limit * rng.uniform(0.1, 0.99, points)
    delta_0 = (c["m"] - 1) * c["dist_0"] / c["N_star_l1"]
    rate = -np.log1p(-mu_F * c["gamma_tilde"] / 2)
    first = np.log(17 * c["m"] ** 2 * delta_0**2 * c["B"] ** 2) / (2 * rate)
    c["r_hat"] = np.maximum(0, np.ceil(first)) + 1
    c["R"] = c["r_hat"] + rng.integers(1, 1000, points)
    return c


def by_hand(
    *, m: Any, H: Any, L: Any, nu: Any, G: Any, f_gap: Any, mu_F: Any, gamma_tilde: Any, dist_0: Any,
    N_star_l1: Any, gamma: Any, r_hat: Any, R: Any, **_: Any,
) -> Any:  # fmt: skip
    """What a user would write."""
    rho = 1 - mu_F * gamma_tilde / 2
    delta_0 = (m - 1) * dist_0 / N_star_l1
    return (
        16 * f_gap / (gamma * (H * (R - r_hat)))
        + 8 * L * gamma * nu**2
        + 153 / 2 * (nu**2 + m * G**2) * m * L**2 * H**2 * gamma**2
        + 16
        * m**2
        * delta_0**2
        * G**2
        * (1 + 2 * L * gamma)
        * (rho ** (2 * r_hat) - rho ** (2 * R))
        / ((1 - rho**2) * (R - r_hat))
    )


def one_point() -> dict[str, Any]:
    """The first of the points, counts as ints."""
    return {n: int(v[0]) if n in ("m", "H", "R", "r_hat") else float(v[0]) for n, v in constants(1).items()}


@pytest.mark.benchmark(group="evaluate 10^6 points", timer=time.process_time)
@pytest.mark.parametrize("unchecked", [False, True], ids=["checked", "unchecked"])
def test_evaluate(benchmark: Any, unchecked: bool) -> None:
    c = constants(POINTS)
    result = benchmark(bounds.get(NAME).evaluate, c, unchecked=unchecked)
    assert result == pytest.approx(by_hand(**c), rel=1e-9)


@pytest.mark.benchmark(group="evaluate 10^6 points", timer=time.process_time)
def test_hand_written_numpy(benchmark: Any) -> None:
    c = constants(POINTS)
    benchmark(lambda: by_hand(**c))


@pytest.mark.benchmark(group="enclose one point", timer=time.process_time)
@pytest.mark.parametrize("unchecked", [False, True], ids=["checked", "unchecked"])
def test_enclose(benchmark: Any, unchecked: bool) -> None:
    c, statement = one_point(), bounds.get(NAME)
    assert benchmark(statement.enclose, c, unchecked=unchecked).contains(statement.enclose(c, 200).mid())


@pytest.mark.benchmark(group="enclose one point", timer=time.process_time)
def test_enclose_in_a_sweep(benchmark: Any) -> None:
    """Another R at every call: the constants that stay are known, the hypotheses are decided anew."""
    c, statement = one_point(), bounds.get(NAME)
    rounds = itertools.count(c["R"])
    benchmark(lambda: statement.enclose({**c, "R": next(rounds)}))


@pytest.mark.benchmark(group="enclose one point", timer=time.process_time)
def test_mpmath_intervals(benchmark: Any) -> None:
    c = one_point()
    benchmark(lambda: by_hand(**{n: mpmath.iv.mpf(v) for n, v in c.items()}))


@pytest.mark.benchmark(group="import", timer=of_children)
@pytest.mark.parametrize("module", ["sympy", "bounds"])
def test_import(benchmark: Any, module: str) -> None:
    """A fresh interpreter that imports the module, in processor time of the child."""
    benchmark.pedantic(
        subprocess.run,
        ([sys.executable, "-c", f"import {module}"],),
        {"check": True},
        rounds=7,
        warmup_rounds=1,
    )
