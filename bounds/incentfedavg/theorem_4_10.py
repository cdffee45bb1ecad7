"""Theorem 4.10: nonconvex losses, merely monotone game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from flint import arb
from sympy import Rational, sqrt

from bounds.core import enclosure
from bounds.core.derive import Computed, Given, Recipe
from bounds.core.errors import DomainError
from bounds.core.statement import UNBIASED, Kind
from bounds.incentfedavg.entry import averaged, entry, gt, le, lt, names
from bounds.incentfedavg.theorem_4_6 import ROUNDS, SHARP, SHARP_STEP_SIZE, STEP_SIZE, SURVIVES_SMALL_B

m, H, T, gamma, L, nu, G, B, f_gap = names("m H T gamma L nu G B f_gap")
a, b, epsilon, kappa, sigma_h = names("a b epsilon kappa sigma_h")
mean, sup, Delta_sq_sup = names("delta_hat_sq_mean delta_hat_sq_sup Delta_sq_sup")


def _counted(distances: Any, r_hat: Any, R: Any, shift: int, reduce: Callable[..., Any]) -> Any:
    """The mean or maximum of d_{r+shift}^2 over r_hat <= r < R; scalars r_hat and R."""
    values = np.asarray(distances)
    first, last = int(np.asarray(r_hat).item()) + shift, int(np.asarray(R).item()) + shift
    if last > values.shape[-1]:
        raise DomainError(
            f"R = {last - shift} but d_sequence has {values.shape[-1]} entries: give rounds 0..R"
        )
    return reduce(values[..., first:last] ** 2, axis=-1)


def _counted_ball(distances: list[arb], r_hat: Any, R: Any, shift: int, largest: bool) -> arb:
    squares = [d * d for d in distances[r_hat + shift : R + shift]]
    if len(squares) < R - r_hat:
        raise DomainError(f"R = {R} but d_sequence has {len(distances)} entries: give rounds 0..R")
    if largest:
        return enclosure.maximum(*squares)
    total = arb(0)
    for s in squares:
        total = total + s
    return total / len(squares)


def _weight(scale: str) -> tuple[tuple[str, ...], Callable[..., Any], Callable[..., Any]]:
    """(bases, float factor, ball factor) that turns a squared distance into a squared weight error."""
    if scale == "printed":  # delta_0^2
        return ("delta_0",), lambda d: d**2, lambda d: d * d
    if scale == "corrected":  # ((m-1)/||N*||_1)^2
        return ("m", "N_star_l1"), lambda k, n: ((k - 1) / n) ** 2, lambda k, n: ((k - 1) / n) ** 2
    return (
        ("m", "N_star_l1"),
        lambda k, n: np.where(k == 1, 0, k) / n**2,
        lambda k, n: (0 if k == 1 else k) / n**2,
    )


def _recipes(scale: str, names_of: tuple[str, str]) -> Mapping[str, tuple[Recipe, ...]]:
    """The mean and the supremum of the squared weight errors from the distances of rounds 0..R."""
    bases, factor, factor_ball = _weight(scale)
    shift = 0 if scale == "printed" else 1
    needs = ("d_sequence", "r_hat", "R", *bases)

    def floats(reduce: Callable[..., Any]) -> Callable[..., Any]:
        return lambda d, first, last, *more: _counted(d, first, last, shift, reduce) * factor(*more)

    def balls(largest: bool) -> Callable[..., Any]:
        return lambda d, first, last, *more: (
            _counted_ball(d, first, last, shift, largest) * factor_ball(*more)
        )

    return {
        names_of[0]: (Given(), Computed(needs, r"\overline{\hat{\delta}^2}", floats(np.mean), balls(False))),
        names_of[1]: (Given(), Computed(needs, r"\sup \hat{\delta}^2", floats(np.max), balls(True))),
    }


RATES = (gt("b > 0", b, 0), gt("a > b", a, b), lt("a + b < 1", a + b, 1))
_HORIZON = (
    "the paper only asserts that such an r_hat exists; from d_sequence it is decided over the counted rounds"
)
SMALL = le(
    "17 m^2 B^2 delta_hat_r^2 <= 1 from r_hat on", 17 * m**2 * B**2 * sup, 1, optional=True, note=_HORIZON
)
SHARP_SMALL = le(
    "m B^2 Delta_r^2 <= 1/8 for r >= r_hat",
    m * B**2 * Delta_sq_sup,
    Rational(1, 8),
    optional=True,
    note=_HORIZON,
)

BOUND = (
    16 * f_gap / (gamma * T)
    + 8 * L * gamma * nu**2
    + Rational(153, 2) * (nu**2 + m * G**2) * m * L**2 * H**2 * gamma**2
    + 16 * m**2 * G**2 * (1 + 2 * L * gamma) * mean
)
NOISE_STEP = le("gamma <= epsilon/(16 L nu^2)", gamma, epsilon / (16 * L * nu**2))
PRINTED_DRIFT_STEP = le(
    "gamma <= sqrt(2 epsilon/(153 (nu^2 + m G^2) m L^2 H^2))",
    gamma,
    sqrt(2 * epsilon / (153 * (nu**2 + m * G**2) * m * L**2 * H**2)),
)
DRIFT_STEP = le(
    "gamma <= sqrt(epsilon/(153 (nu^2 + m G^2) m L^2 H^2))",
    gamma,
    sqrt(epsilon / (153 * (nu**2 + m * G**2) * m * L**2 * H**2)),
)
_CONVERGES = (
    "`N_r is convergent` is assumed, not proved, and no constant checks it; (the proof says `has a limit "
    "point`, which would not be enough)."
)

STATEMENTS = (
    *entry(
        "Theorem 4.10(i)",
        Kind.BOUND,
        source="Section 4.2, Theorem 4.10(i)",
        quantity=averaged("grad_f_sq"),
        sampling=UNBIASED,
        printed={
            "expression": BOUND,
            "hypotheses": (*RATES, *STEP_SIZE, SMALL, ROUNDS),
            "recipes": _recipes("printed", ("delta_hat_sq_mean", "delta_hat_sq_sup")),
            "note": "False as printed: delta_hat_r = delta_0 ||N_r - N*|| is Lemma 4.4(iv)'s, with its "
            "surplus factor ||N_0 - N*||, so that it is 0 at a start at N*, though the regularisation moves "
            "N_r. The condition at r_hat alone does not bound later rounds, since delta_hat_r need not "
            f"decrease. {_CONVERGES} {SURVIVES_SMALL_B}",
        },
        corrected={
            "recipes": _recipes("corrected", ("delta_hat_sq_mean", "delta_hat_sq_sup")),
            "note": "delta_hat_r = (m-1) ||N_r - N*||/||N*||_1, taken at r + 1 (the weights of the "
            f"average); r_hat such that 17 m^2 B^2 sup delta_hat_{{r+1}}^2 <= 1. {_CONVERGES} "
            f"{SURVIVES_SMALL_B}",
        },
        sharp={
            "expression": SHARP,
            "hypotheses": (
                *RATES,
                gt("h strongly convex", sigma_h, 0),
                *SHARP_STEP_SIZE,
                SHARP_SMALL,
                ROUNDS,
            ),
            "recipes": _recipes("sharp", ("Delta_sq_mean", "Delta_sq_sup")),
            "note": "With h strongly convex and of Lipschitz gradient, N_r -> N* is a theorem: N_r "
            "contracts towards the regularised equilibria y_r = SOL(F + lambda_r grad h), which drift by b "
            "C_H/(sigma_h (r+1)) and converge to N*. The bound is the sharp Theorem 4.6(i-1) with Delta_r "
            "<= sqrt(m) ||N_{r+1} - N*||/||N*||_1.",
        },
    ),
    *entry(
        "Theorem 4.10(ii)",
        Kind.IMPLICATION,
        source="Section 4.2, Theorem 4.10(ii)",
        quantity=averaged("grad_f_sq_limsup"),
        sampling=UNBIASED,
        printed={
            "expression": epsilon,
            "hypotheses": (*RATES, *STEP_SIZE, NOISE_STEP, PRINTED_DRIFT_STEP),
            "note": "The second condition gives (153/2)(nu^2 + m G^2) m L^2 H^2 gamma^2 <= epsilon, not "
            "epsilon/2: the proof yields 3 epsilon/2. Where also gamma <= 1/(2 L sqrt(H(H-1))) the claim "
            "survives: the sharp bound of (i) then tends to at most epsilon (1/8 + 32/(153 m)). "
            f"{_CONVERGES}",
        },
        corrected={
            "hypotheses": (*RATES, *STEP_SIZE, NOISE_STEP, DRIFT_STEP),
            "note": "With sqrt(epsilon/(153 ...)) both terms are at most epsilon/2. A condition that "
            f"divides by zero (nu = 0, or nu = G = 0) is void. {_CONVERGES}",
        },
        sharp={
            "expression": Rational(3, 4) * epsilon,
            "hypotheses": (
                *RATES,
                gt("h strongly convex", sigma_h, 0),
                *SHARP_STEP_SIZE,
                le("gamma <= epsilon/(8 L nu^2)", gamma, epsilon / (8 * L * nu**2)),
                le(
                    "gamma <= sqrt(epsilon/(32 L^2 H(H-1)(nu^2 + kappa G^2)))",
                    gamma,
                    sqrt(epsilon / (32 * L**2 * H * (H - 1) * (nu**2 + kappa * G**2))),
                ),
            ),
            "note": "epsilon/4 from the noise (s <= 1) and epsilon/2 from the drift.",
        },
    ),
)
