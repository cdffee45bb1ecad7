"""Hypothesis strategies for games: every corner on purpose, shrinking towards small plain games.

The only module that imports hypothesis (the extra `test`). Entries are multiples of 1/8, so that a
counterexample shrinks to numbers a reader can check by hand; scales are powers of ten.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from games.affine import AffineGame
from games.base import Game
from games.discovery import DiscoveryGame
from games.monotone import CommonPoolGame, SkewGame
from games.nonlinear import ConcaveDiscoveryGame, CostlyDiscoveryGame, PowerLawGame, SmoothPoolGame

Range: TypeAlias = tuple[float, float]
Draw: TypeAlias = Callable[..., Any]  # hypothesis' own DrawFn cannot be checked at run time


def eighths(low: int = -16, high: int = 16) -> SearchStrategy[float]:
    """Multiples of 1/8 between low/8 and high/8."""
    return st.integers(low, high).map(lambda k: k / 8.0)


def vectors(m: int, entry: SearchStrategy[float]) -> SearchStrategy[np.ndarray]:
    """Vectors with independent entries."""
    return st.lists(entry, min_size=m, max_size=m).map(lambda x: np.array(x, dtype=float))


def matrices(rows: int, columns: int, entry: SearchStrategy[float]) -> SearchStrategy[np.ndarray]:
    """Matrices with independent entries."""
    return vectors(rows * columns, entry).map(lambda x: x.reshape(rows, columns))


@st.composite
def affine_games(
    draw: Draw,
    m: tuple[int, int] = (1, 6),
    mu: Range = (0.125, 2.0),
    L: float = 1e6,
    skewness: float = 4.0,
    active: Range = (0.0, 1.0),
    scales: Range = (1e-6, 1e6),
) -> AffineGame:
    """Strongly monotone affine games, built around an equilibrium so that every active set occurs.

    A = mu I + G G' + D + K with G low rank, D a spread diagonal (condition up to L / mu), K skew. The
    equilibrium has clients at either bound, with multipliers that may vanish (degenerate), equal bounds,
    and an overall scale.

    Args:
        m, mu, active, scales: ranges; L: the largest diagonal entry; skewness: the largest skew entry.
    """
    size = draw(st.integers(*m))
    modulus = draw(st.sampled_from(sorted({mu[0], min(max(1.0, mu[0]), mu[1]), mu[1]})))
    G = draw(matrices(size, draw(st.integers(0, 2)) or 1, eighths(-8, 8)))
    spread = draw(st.lists(st.sampled_from([0.0, 1.0, 1e3, L]), min_size=size, max_size=size))
    limit = max(0, round(8 * skewness))
    upper_triangle = np.triu(draw(matrices(size, size, eighths(-limit, limit))), 1)
    A = modulus * np.eye(size) + G @ G.T + np.diag(spread) + upper_triangle - upper_triangle.T
    lower = draw(vectors(size, eighths()))
    upper = lower + draw(vectors(size, eighths(0, 24)))
    share = draw(st.floats(*active))
    N = lower.copy()
    push = np.zeros(size)
    for i in range(size):
        if draw(st.integers(0, 99)) < 100 * share:
            at_lower = draw(st.booleans())
            N[i] = lower[i] if at_lower else upper[i]
            push[i] = (1.0 if at_lower else -1.0) * draw(eighths(0, 16))
        else:
            N[i] = lower[i] + (upper[i] - lower[i]) * draw(st.integers(0, 8)) / 8.0
    outer, inner = (draw(st.sampled_from([1.0, scales[0], scales[1]])) for _ in range(2))
    b = push - A @ N
    return AffineGame(outer * A, outer * inner * b, inner * lower, inner * upper)


@st.composite
def monotone_games(draw: Draw, m: tuple[int, int] = (1, 6)) -> CommonPoolGame | SkewGame | DiscoveryGame:
    """Merely monotone affine games with singular Jacobians: common pools, skew, skew plus semidefinite,
    discovery."""
    size = draw(st.integers(*m))
    lower = draw(vectors(size, eighths(0, 16)))
    upper = lower + draw(vectors(size, eighths(0, 64)))
    kind = draw(st.sampled_from(["pool", "skew", "semidefinite", "discovery"]))
    if kind == "pool":
        target = draw(eighths(0, 64 * size))
        return CommonPoolGame(target, lower, upper, draw(st.sampled_from([1.0, 1e-3, 1e3])))
    if kind == "discovery":
        labels = draw(matrices(size, 2, eighths(0, 8)))
        return DiscoveryGame(labels, draw(vectors(size, eighths(0, 8))), lower, upper)
    k = draw(st.integers(1, 2))
    P, R = (draw(matrices(size, k, eighths(-16, 16))) for _ in range(2))
    B = draw(matrices(size, k, eighths(-8, 8))) if kind == "semidefinite" else None
    return SkewGame(P, R, draw(vectors(size, eighths())), lower, upper, B)


@st.composite
def discovery_games(draw: Draw, m: tuple[int, int] = (1, 6)) -> DiscoveryGame:
    """Strongly monotone discovery games, decoupled (Section 5.1) or with congestion that differs by
    client."""
    size = draw(st.integers(*m))
    labels = draw(matrices(size, 3, eighths(0, 8)))
    lower = 1.0 + draw(vectors(size, eighths(0, 16)))
    upper = lower + draw(vectors(size, st.integers(0, 1000).map(float)))
    congestion = draw(st.sampled_from([0.0, 1.0])) * draw(
        vectors(size, st.integers(1, 2).map(lambda k: k * 1e-4))
    )
    regulariser = draw(st.sampled_from([1e-2, 1e-5, 1.0]))
    return DiscoveryGame(labels, draw(vectors(size, eighths(0, 8))), lower, upper, regulariser, congestion)


@st.composite
def nonlinear_games(draw: Draw, m: tuple[int, int] = (1, 4)) -> Game:
    """One of the built-in nonlinear games."""
    size = draw(st.integers(*m))
    labels = draw(matrices(size, 2, eighths(1, 8)))
    lower = 1.0 + draw(vectors(size, eighths(0, 16)))
    upper = lower + draw(vectors(size, st.integers(0, 50).map(float)))
    rates = draw(vectors(size, eighths(0, 8)))
    kind = draw(st.sampled_from(["exponential", "concave", "pool", "power law"]))
    if kind == "exponential":
        return CostlyDiscoveryGame(
            labels, rates, lower, upper, 1e-2, 0.0, 0.125, draw(vectors(size, eighths(0, 1)))
        )
    if kind == "concave":
        return ConcaveDiscoveryGame(labels, rates, lower, upper, draw(st.sampled_from([0.0, 1e-2, 1.0])))
    if kind == "pool":
        return SmoothPoolGame(draw(st.integers(0, 100)), lower, upper, draw(st.sampled_from([1.0, 1e-3])))
    alpha, beta = draw(vectors(size, eighths(1, 16))), draw(vectors(size, eighths(1, 8)))
    return PowerLawGame(alpha, beta, lower, upper)


@st.composite
def schedules(draw: Draw, rounds: tuple[int, int] = (1, 50)) -> dict[str, float | int]:
    """gamma_tilde_0, a, lambda_0, b, R with 0 < b < a and a + b < 1 (Lemma 4.4(iii)), edges included
    nearby."""
    a = draw(st.integers(2, 15)) / 16.0
    b = (
        draw(st.integers(1, 15).filter(lambda k: k / 16.0 < min(a, 1.0 - a))) / 16.0
        if a < 15 / 16
        else 1 / 32
    )
    return {
        "gamma_tilde_0": draw(st.sampled_from([1.0, 1e-3, 1e3])),
        "a": a,
        "lambda_0": draw(st.sampled_from([1.0, 1e-3])),
        "b": b,
        "R": draw(st.integers(*rounds)),
    }


@st.composite
def starts(draw: Draw, game: Game) -> np.ndarray:
    """A starting point N_0 in the game's box: corners, the middle, and points in between."""
    share = draw(vectors(game.m, st.integers(0, 8).map(lambda k: k / 8.0)))
    return game.project(game.lower + share * (game.upper - game.lower))
