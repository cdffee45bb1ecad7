"""Random games from a numpy generator: for simulations, benchmarks and the robustness run."""

from dataclasses import dataclass

import numpy as np

from games.affine import AffineGame
from games.base import Game, GameError, Vector
from games.discovery import DiscoveryGame
from games.monotone import CommonPoolGame, SkewGame
from games.nonlinear import ConcaveDiscoveryGame, CostlyDiscoveryGame, PowerLawGame, SmoothPoolGame

Rng = np.random.Generator
CORNERS = ("plain", "m = 1", "equal bounds", "vertex", "degenerate", "singular", "ill-conditioned", "scaled")


@dataclass(frozen=True, eq=False)
class Made:
    """A random game with the equilibrium it was built around (None where it was not), and its corner's
    name."""

    game: Game
    N_star: Vector | None
    corner: str


def affine_game(
    rng: Rng,
    m: int,
    mu: float = 1.0,
    L: float = 10.0,
    skewness: float = 0.5,
    active: float = 0.5,
    degenerate: bool = False,
) -> Made:
    """F(N) = A N + b with (A + A')/2 of eigenvalues from mu to L, around a chosen equilibrium.

    Args:
        mu, L: the spectrum of the symmetric part is geometric from mu to L (mu = 0: one zero eigenvalue).
        skewness: the norm of the skew part over L.
        active: the share of clients at a bound in the equilibrium.
        degenerate: let the multipliers of half of them vanish.

    Raises:
        GameError: m < 1, not 0 <= mu <= L, a share outside [0, 1], negative skewness.
    """
    if m < 1 or not 0 <= mu <= L or not 0 <= active <= 1 or skewness < 0:
        raise GameError(
            f"m = {m}, mu = {mu}, L = {L}, skewness = {skewness}, active = {active}: out of range"
        )
    Q, _ = np.linalg.qr(rng.normal(size=(m, m)))
    spectrum = np.geomspace(max(mu, 1e-3 * L if L > 0 else 1.0), max(L, 1e-300), m)
    if mu == 0:
        spectrum[0] = 0.0
    S = (Q * spectrum) @ Q.T
    K = rng.normal(size=(m, m))
    K = K - K.T
    size = np.linalg.norm(K, 2)
    A = (S + S.T) / 2.0 + (K * (skewness * L / size) if size > 0 else 0.0)
    lower, upper = -rng.uniform(0.5, 2.0, m), rng.uniform(0.5, 2.0, m)
    N = lower + (upper - lower) * rng.uniform(0.1, 0.9, m)
    push = np.zeros(m)
    at = rng.permutation(m)[: round(active * m)]
    signs = np.where(rng.uniform(size=at.size) < 0.5, 1.0, -1.0)
    N[at] = np.where(signs > 0, lower[at], upper[at])
    push[at] = signs * rng.uniform(0.1, 1.0, at.size) * np.sqrt(max(mu, 1e-3 * L) * max(L, 1e-300))
    if degenerate:
        push[at[::2]] = 0.0
    return Made(AffineGame(A, push - A @ N, lower, upper), N, "degenerate" if degenerate else "plain")


def random_affine(rng: Rng, largest: int = 12) -> Made:
    """A strongly monotone affine game from the whole range: all corners, scales 10^-6 to 10^6, condition to
    10^6."""
    corner = str(rng.choice(CORNERS))
    m = 1 if corner == "m = 1" else int(rng.integers(2, largest + 1))
    condition = 10.0 ** rng.uniform(4, 6) if corner == "ill-conditioned" else 10.0 ** rng.uniform(0, 3)
    active = 1.0 if corner == "vertex" else float(rng.uniform())
    made = affine_game(rng, m, 1.0, condition, float(rng.uniform(0, 3)), active, corner == "degenerate")
    game = made.game
    assert isinstance(game, AffineGame)
    A, b, lower, upper = (x.copy() for x in (game.A, game.b, game.lower, game.upper))
    N = None if made.N_star is None else made.N_star.copy()
    if corner == "equal bounds" and N is not None:
        fixed = rng.uniform(size=m) < 0.4
        lower[fixed] = upper[fixed] = N[fixed]
    if corner == "singular":
        # a zero row and column: the client's slope is constant, the game merely monotone
        k = int(rng.integers(m))
        A[k], A[:, k], b[k] = 0.0, 0.0, float(rng.choice([-1.0, 0.0, 1.0]))
        N = None
    if corner == "scaled":
        outer, inner = 10.0 ** rng.uniform(-6, 6), 10.0 ** rng.uniform(-6, 6)
        A, b, lower, upper = outer * A, outer * inner * b, inner * lower, inner * upper
        N = None if N is None else inner * N
    return Made(AffineGame(A, b, lower, upper), N, corner)


def random_monotone(rng: Rng, largest: int = 10) -> Made:
    """A merely monotone game: a common pool, skew, skew plus semidefinite, or a discovery game without
    costs of size."""
    m = int(rng.integers(2, largest + 1))
    kind = int(rng.integers(4))
    lower, upper = rng.uniform(0, 2, m), rng.uniform(3, 40, m)
    if kind == 0:
        target = float(rng.uniform(0.8 * np.sum(lower), 1.2 * np.sum(upper)))
        return Made(
            CommonPoolGame(target, lower, upper, float(10.0 ** rng.uniform(-3, 3))), None, "common pool"
        )
    if kind == 1:
        labels = rng.dirichlet(np.full(10, 0.5), size=m)
        return Made(DiscoveryGame(labels, rng.uniform(0, 0.6, m), lower, upper), None, "discovery")
    k = int(rng.integers(1, 3))
    P, R = (rng.integers(-3, 4, size=(m, k)).astype(float) for _ in range(2))
    B = None if kind == 2 else rng.integers(-2, 3, size=(m, k)).astype(float)
    b = np.zeros(m) if rng.uniform() < 0.3 else rng.normal(size=m)
    return Made(SkewGame(P, R, b, -upper, upper, B), None, "skew" if B is None else "skew plus semidefinite")


def random_discovery(rng: Rng, largest: int = 12) -> Made:
    """A strongly monotone discovery game with congestion that differs between clients."""
    m = int(rng.integers(1, largest + 1))
    labels = rng.dirichlet(np.full(10, 10.0 ** rng.uniform(-1, 1)), size=m)
    upper = rng.uniform(50, 2000, m)
    congestion = rng.uniform(1e-6, 1e-5, m) * float(10.0 ** rng.uniform(0, 2)) / m
    game = DiscoveryGame(
        labels, rng.uniform(0, 0.5, m), 1.0, upper, float(10.0 ** rng.uniform(-4, -1)), congestion
    )
    return Made(game, None, "discovery")


def random_nonlinear(rng: Rng, largest: int = 6) -> Made:
    """One of the nonlinear games of `games.nonlinear`."""
    m = int(rng.integers(2, largest + 1))
    labels = rng.dirichlet(np.full(10, 0.5), size=m)
    upper = rng.uniform(20, 100, m)
    kind = int(rng.integers(4))
    if kind == 0:
        rate = rng.uniform(0.01, 0.1, m)
        costs = rng.uniform(0, 0.3, m)
        game: Game = CostlyDiscoveryGame(labels, costs, 1.0, upper, 1e-3, rng.uniform(0, 1e-4, m), 0.1, rate)
        return Made(game, None, "exponential costs")
    if kind == 1:
        return Made(ConcaveDiscoveryGame(labels, 0.02, 1.0, upper, 1e-3), None, "concave payoff")
    if kind == 2:
        target = float(rng.uniform(0.2, 0.8) * np.sum(upper))
        return Made(SmoothPoolGame(target, np.ones(m), upper, 1e-3), None, "smooth pool")
    beta = rng.uniform(0.2, 1.0, m)
    return Made(PowerLawGame(rng.uniform(0.5, 3.0, m), beta, np.ones(m), 100 * upper), None, "power law")
