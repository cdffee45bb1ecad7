"""Random small instances: a vector of real parameters under a fixed `Shape`; a climb is a walk of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .exact import Array, Curve, Game, Observed, Quadratics, run_curve, run_quadratics, weights

ABOVE = 1 + 1e-12  # constants of float matrices are rounded up by this much: their errors are below 1e-14


@dataclass(frozen=True)
class Shape:
    """What a climb keeps fixed.

    Args:
        family: "quadratic" (all moments), or of bounded gradient "cosine" (nonconvex) or "huber" (convex).
        free: weights of each round at will (Delta_r as observed), or from a game.
    """

    family: str
    m: int
    n: int
    H: int
    R: int
    r_hat: int
    free: bool
    noisy: bool = False
    correlated: bool = False

    @property
    def size(self) -> int:
        learning = self.m * (2 * self.n + 1) + self.n
        return learning + 2 * self.m + 5 + self.R * self.m * self.free


@dataclass(frozen=True)
class Instance:
    """Weights of the rounds, constants, and what the attacks need to know of the losses."""

    shape: Shape
    q: Array
    p_star: Array
    constants: dict[str, Any]
    part: float  # of the largest step size allowed
    run: Callable[[float, int], Observed]  # (gamma, r_hat)
    pair: tuple[float, float]  # (G, B) of Assumption 4.5
    at_minimiser: Array  # ||grad f_i(x*)||^2, [m]
    f_star: float  # where every f_i has minimal value 0
    rounding: float  # of f(x) - f*: nothing cancels for quadratics


def squash(x: Any) -> Any:
    """R -> (0, 1)."""
    return 1 / (1 + np.exp(-np.clip(x, -30, 30)))


def positive(x: Any, reach: float = 4.0) -> Any:
    """R -> (e^-reach, e^reach)."""
    return np.exp(np.clip(x, -reach, reach))


def decode(theta: Array, shape: Shape) -> Instance:
    """The instance of a parameter vector; every vector is admissible."""
    m, n = shape.m, shape.n
    parts = np.split(theta, np.cumsum([m * n, m, m * n, n, m, m, 5]))
    first, second, places, x_0, star, start, scalars, free = parts
    N_star = 1 + positive(2 * star, 6)
    p_star = N_star / N_star.sum()
    q, game = _rounds(shape, N_star, start, scalars, free)
    make = {"quadratic": _quadratic, "cosine": _cosine, "huber": _huber}[shape.family]
    learning = make(shape, q, p_star, first, second, places.reshape(m, n), x_0, scalars)
    sizes = {"m": m, "H": shape.H, "R": shape.R, "r_hat": shape.r_hat, "nu": 0.0}
    constants = {**sizes, **game, **learning.pop("constants")}
    return Instance(shape, q, p_star, constants, float(squash(scalars[2] + 2)), **learning)


def _rounds(
    shape: Shape, N_star: Array, start: Array, scalars: Array, free: Array
) -> tuple[Array, dict[str, Any]]:
    """Weights q_0..q_{R-1}: at will, or from a rotation (mu_F I + skew), which attains the sharp rate."""
    m = shape.m
    if shape.free:
        N = positive(free.reshape(shape.R, m))
        return N / N.sum(axis=1, keepdims=True), {}
    skew = float(positive(scalars[0]))
    A = np.eye(m)
    for i in range(0, m - 1, 2):
        A[i, i + 1], A[i + 1, i] = -skew, skew
    L_F = float(np.hypot(1.0, skew)) * ABOVE if m > 1 else 1.0
    gamma_tilde = float(squash(scalars[1])) / L_F**2 / ABOVE
    N_0 = 1 + positive(2 * start, 6)
    N = Game(A, np.zeros(m), np.ones(m), np.full(m, 1e4), N_star).trajectory(N_0, gamma_tilde, shape.R)
    distance = float(np.linalg.norm(N_0 - N_star)) * ABOVE
    game = {"mu_F": 1.0, "L_F": L_F, "gamma_tilde": gamma_tilde, "dist_0": distance}
    return weights(N)[1:], {**game, "N_star_l1": float(N_star.sum())}


def _rotate(M: Array, angle: float) -> Array:
    turn = np.eye(len(M))
    if len(M) > 1:
        turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return turn @ M @ turn.T


def _quadratic(
    shape: Shape, q: Array, p: Array, first: Array, second: Array, places: Array, x_0: Array, scalars: Array
) -> dict[str, Any]:
    eigenvalues = squash(2 * first).reshape(shape.m, shape.n)
    A = np.array([_rotate(np.diag(e), t) for e, t in zip(eigenvalues, second, strict=True)])
    nu_sq = float(positive(scalars[3])) if shape.noisy else 0.0
    problem = Quadratics(A, places, p, nu_sq, shape.correlated)
    x_star = problem.minimiser()
    u = problem.gradients_at(x_star)

    def run(gamma: float, r_hat: int) -> Observed:
        return run_quadratics(problem, q, x_0, gamma, shape.H, r_hat)

    return {
        "constants": {"L": float(eigenvalues.max()) * ABOVE, "nu": nu_sq**0.5 * ABOVE},
        "run": run,
        "pair": dissimilarity(problem, float(positive(scalars[4]))),
        "at_minimiser": (u**2).sum(axis=1),
        "f_star": float(sum(w * problem.loss(i, x_star) for i, w in enumerate(p))),
        "rounding": 0.0,
    }


def dissimilarity(problem: Quadratics, slack: float) -> tuple[float, float]:
    """(G, B) of Assumption 4.5: B^2 = (1 + slack) lambda_max(M), G^2 = w + v^T (B^2 - M)^-1 v."""
    m = len(problem.A)
    inverse = np.linalg.inv(problem.mean_A)
    u = problem.gradients_at(problem.minimiser())
    scaled = [A @ inverse for A in problem.A]
    M = sum(S.T @ S for S in scaled) / m
    v = sum(S.T @ g for S, g in zip(scaled, u, strict=True)) / m
    B_sq = float(np.linalg.eigvalsh(M)[-1]) * (1 + slack)
    G_sq = float((u**2).sum()) / m + float(v @ np.linalg.solve(B_sq * np.eye(len(M)) - M, v))
    return float(np.sqrt(G_sq)) * ABOVE, float(np.sqrt(B_sq)) * ABOVE


def _cosine(
    shape: Shape, q: Array, p: Array, first: Array, second: Array, places: Array, x_0: Array, scalars: Array
) -> dict[str, Any]:
    """f_i(x) = alpha_i (1 - cos(x + phi_i)); f = const - P cos(x + phi). Any B >= 0 has its exact G."""
    alpha, phi = squash(2 * first[:: shape.n]), places[:, 0]
    sum_ = np.sum(p * alpha * np.exp(1j * phi))
    P, angle = abs(sum_), float(np.angle(sum_))
    B_sq = float(max(0.0, scalars[4]))
    doubled = np.mean(alpha**2 * np.exp(2j * phi)) - B_sq * P**2 * np.exp(2j * angle)
    G_sq = max(0.0, float(np.mean(alpha**2) - B_sq * P**2 + abs(doubled)) / 2 + 1e-14)
    curve = Curve(
        loss=lambda x: alpha * (1 - np.cos(x[..., None] + phi)),
        slope=lambda x: alpha * np.sin(x[..., None] + phi),
        p_star=p,
        x_star=-angle,
        f_star=float(p @ alpha - P),
    )
    return _on_the_line(shape, q, curve, float(x_0[0]), float(alpha.max()), (G_sq**0.5, B_sq**0.5))


def _huber(
    shape: Shape, q: Array, p: Array, first: Array, second: Array, places: Array, x_0: Array, scalars: Array
) -> dict[str, Any]:
    """f_i' = a_i clip(x - c_i, -w_i, w_i): convex, quadratic near c_i and linear beyond."""
    a, width, c = squash(2 * first[:: shape.n]), positive(second), 3 * places[:, 0]

    def slope(x: Array) -> Array:
        return a * np.clip(x[..., None] - c, -width, width)

    def loss(x: Array) -> Array:
        z = np.abs(x[..., None] - c)
        return a * np.where(z <= width, z**2 / 2, width * z - width**2 / 2)

    low, high = float(c.min()), float(c.max())
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if float(p @ slope(np.array(middle))) < 0 else (low, middle)
    x_star = (low + high) / 2
    curve = Curve(loss, slope, p, x_star, float(p @ loss(np.array(x_star))))
    bound = float(np.sqrt(np.mean((a * width) ** 2)))
    return _on_the_line(shape, q, curve, 3 * float(x_0[0]), float(a.max()), (bound * ABOVE, 0.0))


def _on_the_line(
    shape: Shape, q: Array, curve: Curve, x_0: float, L: float, pair: tuple[float, float]
) -> dict[str, Any]:
    def run(gamma: float, r_hat: int) -> Observed:
        return run_curve(curve, q, x_0, gamma, shape.H, r_hat)

    return {
        "constants": {"L": L * ABOVE},
        "run": run,
        "pair": pair,
        "at_minimiser": curve.slope(np.array(curve.x_star)) ** 2,
        "f_star": curve.f_star,
        "rounding": 1e-14 * (1 + abs(curve.f_star)),
    }


def random_shape(
    rng: np.random.Generator, families: tuple[str, ...], needs_game: bool, H_max: int = 10, first: int = 0
) -> Shape:
    """At most 4 clients, 2 dimensions, 8 rounds; `first` is the least r_hat."""
    R, family = int(rng.integers(first + 1, 9)), str(rng.choice(families))
    noisy = family == "quadratic" and bool(rng.random() < 0.4)
    return Shape(
        family=family,
        m=int(rng.integers(1, 5)),
        n=int(rng.integers(1, 3)) if family == "quadratic" else 1,
        H=int(rng.integers(1, H_max + 1)),
        R=R,
        r_hat=int(rng.integers(first, R)),
        free=not needs_game and bool(rng.random() < 0.6),
        noisy=noisy,
        correlated=noisy and bool(rng.random() < 0.5),
    )
