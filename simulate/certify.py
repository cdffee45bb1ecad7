"""Proven numerical facts that a problem's constants rest on: eigenvalue bounds and minimisers.

Eigenvalues: if a floating-point Cholesky factorisation of a symmetric B runs to completion, then
lambda_min(B) >= -c with c = (n + 1) u trace(B) / (1 - 2 (n + 1) u), whatever the order of its sums (Rump,
BIT 46 (2006) 433; Higham, Accuracy and Stability, Theorem 10.5). So t I - G factorised proves lambda_max(G)
<= t + c.

Minimisers: f mu-strongly convex gives ||x - x*|| <= ||grad f(x)|| / mu and f(x) - f* <= ||grad f(x)||^2 / (2
mu); the gradient at the float point x is enclosed with python-flint's balls, so nothing rests on float
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from flint import arb, ctx
from jaxtyping import Float

UNIT = 2.0**-53
PRECISION = 96  # bits of the balls


def up(value: float) -> float:
    """A float above the exact value, given a float within a few roundings of it."""
    return float(value) * (1.0 + 2.0**-45) if value > 0 else float(value) * (1.0 - 2.0**-45)


def upper(x: arb) -> float:
    """A float at or above every point of the ball."""
    return float(np.nextafter(float(x.upper()), np.inf))


def lower(x: arb) -> float:
    """A float at or below every point of the ball."""
    return float(np.nextafter(float(x.lower()), -np.inf))


def _is_positive(B: Float[np.ndarray, "n n"]) -> bool:
    try:
        np.linalg.cholesky(B)
    except np.linalg.LinAlgError:
        return False
    return True


def _shift(B: Float[np.ndarray, "n n"]) -> float:
    n = len(B)
    return 4.0 * (n + 2) * UNIT * float(np.abs(np.diag(B)).sum()) + 2.0**-1000


def lambda_max(G: Float[np.ndarray, "n n"], slack: float = 0.0) -> float:
    """A proven upper bound, within about 1e-9 relative, on the largest eigenvalue of the symmetric G.

    Args:
        slack: bound on the spectral norm of (the matrix meant) - G, added on top.

    Raises:
        ArithmeticError: if no bound could be proved (not seen; G would have to be far from symmetric).
    """
    guess = float(np.linalg.eigvalsh(G)[-1])
    size = float(np.abs(G).sum(axis=1).max())  # a bound by itself (Gershgorin), should the guess fail
    for t in (guess + 1e-9 * abs(guess) + 1e-300, guess + 1e-6 * size + 1e-300, 2 * size + 1e-300):
        B = t * np.eye(len(G)) - G
        if _is_positive(B):
            return up(t + _shift(B) + slack)
    raise ArithmeticError(f"no upper bound on the largest eigenvalue (about {guess}) could be proved")


def lambda_min(G: Float[np.ndarray, "n n"], slack: float = 0.0) -> float:
    """A proven lower bound on the smallest eigenvalue of the symmetric G (see `lambda_max`)."""
    return -lambda_max(-G, slack)


def gram(A: Float[np.ndarray, "rows n"]) -> tuple[Float[np.ndarray, "n n"], float]:
    """A^T A / rows and a bound on the spectral norm of its rounding error."""
    rows = len(A)
    G = A.T @ A / rows
    return (G + G.T) / 2, 2.0 * (rows + 4) * UNIT * float((A * A).sum() / rows)


def gram_lambda_max(A: Float[np.ndarray, "rows n"]) -> float:
    """A proven upper bound on the largest eigenvalue of A^T A / rows."""
    return lambda_max(*gram(A))


def balls(values: Float[np.ndarray, " n"]) -> list[arb]:
    """Exact balls of floats."""
    return [arb(float(v)) for v in values]


@dataclass(frozen=True, eq=False)
class Minimiser:
    """A minimiser known to a proven accuracy.

    Attributes:
        x: the float point.
        radius: proven bound on ||x - x*||.
        value, value_radius: the minimum lies within value_radius of value.
        gradient_norm: proven bound on the gradient's norm at x.
    """

    x: Float[np.ndarray, " n"]
    radius: float
    value: float
    value_radius: float
    gradient_norm: float


def certify_minimiser(
    objective: Callable[[Sequence[Any]], tuple[arb, Sequence[arb]]], mu: float, x: Float[np.ndarray, " n"]
) -> Minimiser:
    """Encloses the minimum of a mu-strongly convex function near the float point x.

    Args:
        objective: maps exact balls of x to enclosures of f(x) and of the gradient.
        mu: a proven strong convexity constant.

    Raises:
        ValueError: if mu <= 0 (nothing could be concluded).
    """
    if not mu > 0:
        raise ValueError(f"mu = {mu}: a proven minimiser needs strong convexity, mu > 0")
    precision = ctx.prec
    ctx.prec = PRECISION
    try:
        f, gradient = objective(balls(x))
        square = sum((g * g for g in gradient), arb(0))
        norm = upper(square.abs_upper().sqrt())
        bottom, top = lower(f - square / (2 * arb(mu))), upper(f)
    finally:
        ctx.prec = precision
    value = bottom + (top - bottom) / 2
    radius = float(np.nextafter(max(top - value, value - bottom), np.inf))
    return Minimiser(x, up(norm / mu), value, radius, norm)


def newton(
    value: Callable[[Float[np.ndarray, " n"]], float],
    gradient: Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]],
    curvature: Callable[[Float[np.ndarray, " n"], Float[np.ndarray, " n"]], Float[np.ndarray, " n"]],
    x: Float[np.ndarray, " n"],
    iterations: int = 60,
) -> Float[np.ndarray, " n"]:
    """Minimises a smooth strongly convex function by Newton steps with conjugate gradients and backtracking.

    Stops when the gradient no longer shrinks (its rounding floor). No accuracy is claimed here:
    `certify_minimiser` measures what was reached.

    Args:
        curvature: (x, v) -> Hessian of f at x times v.
    """
    g = gradient(x)
    best = (float(np.linalg.norm(g)), x)
    stalled = 0
    for _ in range(iterations):
        direction = _conjugate_gradients(partial(curvature, x), -g, 1e-2)
        step, start, slope = 1.0, value(x), float(g @ direction)
        while value(x + step * direction) > start + 1e-4 * step * slope + 1e-13 * abs(start) and step > 1e-8:
            step /= 2
        x = x + step * direction
        g = gradient(x)
        norm = float(np.linalg.norm(g))
        stalled = 0 if norm < 0.5 * best[0] else stalled + 1
        if norm < best[0]:
            best = (norm, x)
        if stalled >= 3 or norm == 0.0:
            break
    return best[1]


def _conjugate_gradients(
    apply: Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]],
    b: Float[np.ndarray, " n"],
    tolerance: float,
) -> Float[np.ndarray, " n"]:
    x, r = np.zeros_like(b), b.copy()
    d, rr = r.copy(), float(r @ r)
    target = tolerance * tolerance * rr
    for _ in range(len(b) + 20):
        if rr <= target:
            break
        q = apply(d)
        dq = float(d @ q)
        if not dq > 0:
            break
        alpha = rr / dq
        x, r = x + alpha * d, r - alpha * q
        rr, old = float(r @ r), rr
        d = r + (rr / old) * d
    return x if np.any(x) else b
