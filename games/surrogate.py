"""The dual gap of a monotone nonlinear game: branch and bound with affine games as surrogates.

On a piece of the box where y_j = v_j'x stays in [low_j, high_j], phi_j is its line s_j (y - c_j) + phi_j(c_j) up to
|phi_j' - s_j| |y - c_j|, so that F(x)'(N - x) is the dual-gap objective of an affine game, with Jacobian
A + U diag(s) V', up to a remainder of second order in the piece's size. The slopes s lie in the range over which F is
proven monotone, so that objective is concave: a maximiser is found by pivoting, and the linearisation there, in
arb, bounds it. The interval bounds of `games.gaps` are of first order, and useless from about four clients on.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import flint
import numpy as np

from games.base import Vector
from games.composite import PRECISION, Composite
from games.iterations import monotone_point
from games.rounding import arb_upper, gamma, round_up
from games.scalars import Arguments, slope_range

DOUBLINGS, TURNS = 60, 20  # of the search for the multiplier of low <= v'x <= high
CLOSE = 1e-2  # relative to high - low: as near to its end as v'x needs to be
LEAST_PIECE = 1e-12  # relative width below which a piece is not cut


@dataclass(frozen=True, eq=False)
class Piece:
    """{x in [lower, upper] : low <= V'x <= high}."""

    lower: Vector
    upper: Vector
    low: Arguments
    high: Arguments


@dataclass(frozen=True, eq=False)
class Bounded:
    """A proven bound over a piece, the surrogate's maximiser, and each axis' share of the remainder."""

    bound: float
    x: Vector
    shares: Vector


def search(
    game: Composite,
    N: Vector,
    below: Callable[[Vector], float],
    best: float,
    ceiling: float,
    tol: float,
    pieces: int,
) -> tuple[float, float]:
    """(low, high) around sup F(x)'(N - x) over the box, for a game proven monotone.

    Args:
        below: a proven lower bound of the objective at a point.
        best: a proven lower bound; ceiling: a proven upper bound.
        tol: relative to the upper end; pieces: at most so many are bounded.
    """
    along = _one_direction(game)
    root = Piece(game.lower, game.upper, *game.arguments_on(game.lower, game.upper))
    first = bound_over(game, N, root, along)
    best = max(best, below(first.x))
    queue = [(-first.bound, 0, root, first)]
    counted, top = 1, ceiling
    while queue:
        top = min(-queue[0][0], ceiling)
        if top - best <= tol * max(abs(top), 1e-300) or counted >= pieces:
            break
        _, _, piece, found = heapq.heappop(queue)
        parts = _cut(game, piece, found, along)
        if not parts:
            break
        for part in parts:
            inner = bound_over(game, N, part, along)
            best = max(best, below(inner.x))
            if inner.bound > best:
                heapq.heappush(queue, (-min(inner.bound, found.bound), counted, part, inner))
            counted += 1
        top = min(max(best, -queue[0][0] if queue else best), ceiling)
    return best, max(best, top)


def _one_direction(game: Composite) -> bool:
    """Whether every phi has the same argument v'x, more than a single client's: then the pieces are slices of it."""
    V = game.V
    return bool(np.all(V == V[:, :1]) and np.count_nonzero(V[:, 0]) > 1)


def _cut(game: Composite, piece: Piece, found: Bounded, along: bool) -> list[Piece]:
    """Two halves, along v'x or along the client with the largest share of the remainder; none when too small."""
    if along:
        low, high = float(np.max(piece.low)), float(np.min(piece.high))
        middle = (low + high) / 2.0
        if not low < middle < high or high - low <= LEAST_PIECE * max(abs(low), abs(high)):
            return []
        ends = np.full(piece.low.shape, middle)
        return [
            Piece(piece.lower, piece.upper, piece.low, ends),
            Piece(piece.lower, piece.upper, ends, piece.high),
        ]
    axis = int(np.argmax(found.shares))
    middle = (float(piece.lower[axis]) + float(piece.upper[axis])) / 2.0
    if not piece.lower[axis] < middle < piece.upper[axis]:
        return []
    first, second = piece.upper.copy(), piece.lower.copy()
    first[axis] = second[axis] = middle
    return [
        Piece(lower, upper, *game.arguments_on(lower, upper))
        for lower, upper in ((piece.lower, first), (second, piece.upper))
    ]


def bound_over(game: Composite, N: Vector, piece: Piece, along: bool) -> Bounded:
    """A proven bound on F(x)'(N - x) over the piece."""
    least, most = slope_range(game.phi, piece.low, piece.high)
    s, c = (least + most) / 2.0, (piece.low + piece.high) / 2.0
    off = round_up(np.maximum(most - s, s - least), 2)
    radius = round_up(np.maximum(piece.high - c, c - piece.low), 2)
    J = game.A + (game.U * s) @ game.V.T
    line = game.b + game.U @ (game.phi.value(c) - s * c)
    x, multiplier = _maximiser(game, N, piece, J, line, along)
    with flint.ctx.workprec(PRECISION):
        top = arb_upper(_linearised(game, N, piece, s, c, x, multiplier))
    reach = _reach(game, N, piece, along)
    doubt = round_up(off * radius * reach, 4)
    rest = round_up(float(np.sum(doubt)), doubt.size + 2)
    widths = (piece.upper - piece.lower)[:, None] * np.abs(game.V)
    shares = widths @ (off * reach)
    return Bounded(round_up(top + rest, 2), x, shares)


def _reach(game: Composite, N: Vector, piece: Piece, along: bool) -> Arguments:
    """A bound on |u_j'(N - x)| over the piece: by v'x itself where U = V, by the box otherwise."""
    if along and np.array_equal(game.U, game.V):
        at = game.V.T @ N
        slack = round_up(gamma(game.m + 4) * (np.abs(game.V).T @ np.abs(N)), game.m + 2)
        return round_up(np.maximum(np.abs(at - piece.low), np.abs(at - piece.high)) + slack, 2)
    away = round_up(np.maximum(np.abs(N - piece.lower), np.abs(N - piece.upper)), 1)
    return round_up(np.abs(game.U).T @ away, game.m + 2)


def _maximiser(
    game: Composite, N: Vector, piece: Piece, J: np.ndarray, line: Vector, along: bool
) -> tuple[Vector, float]:
    """(x, multiplier): about the maximiser of (J x + line)'(N - x) over the piece, in floats.

    multiplier mu: the objective has mu (high - v'x) added for mu > 0, mu (low - v'x) for mu < 0; both are at least
    0 on the piece, and v'x falls as mu grows.
    """
    v = game.V[:, 0]

    def at(mu: float) -> Vector:
        return monotone_point(J + J.T, line - J.T @ N + mu * v, piece.lower, piece.upper)

    x = at(0.0)
    low, high = float(np.max(piece.low)), float(np.min(piece.high))
    y = float(v @ x)
    if not along or low <= y <= high:
        return x, 0.0
    end, sign = (high, 1.0) if y > high else (low, -1.0)
    over = sign * (y - end)
    near, far, far_over = 0.0, sign * over * float(np.linalg.norm(J + J.T)) / float(v @ v), 0.0
    for _ in range(DOUBLINGS):
        x = at(far)
        far_over = sign * (float(v @ x) - end)
        if far_over <= 0:
            break
        near, over, far = far, far_over, 4.0 * far
    close = CLOSE * (high - low)
    for turn in range(TURNS):
        if -far_over <= close:
            break
        share = over / (over - far_over) if turn % 3 < 2 else 0.5  # false position, halved now and then
        mu = near + share * (far - near)
        trial = at(mu)
        gap = sign * (float(v @ trial) - end)
        if gap <= 0:
            far, far_over, x = mu, gap, trial
        else:
            near, over = mu, gap
    return x, far


def _linearised(
    game: Composite, N: Vector, piece: Piece, s: Arguments, c: Arguments, x: Vector, multiplier: float
) -> flint.arb:
    """q(x) + sum_i max over the piece's box of q'_i (x'_i - x_i): an upper bound of the concave q over it.

    q(x) = (J x + line)'(N - x) + mu (end - v'x), with J = A + U diag(s) V' and line = b + U (phi(c) - s c).
    """
    m, k = game.U.shape
    A, U, V = (flint.arb_mat(*M.shape, M.ravel().tolist()) for M in (game.A, game.U, game.V))
    values = game.phi.enclose([flint.arb(y) for y in c.tolist()])
    slopes = [flint.arb(y) for y in s.tolist()]
    J = A + flint.arb_mat(m, k, [U[i, j] * slopes[j] for i in range(m) for j in range(k)]) * V.transpose()
    moved = [f - a * flint.arb(y) for f, a, y in zip(values, slopes, c.tolist(), strict=True)]
    at, column = (flint.arb_mat(m, 1, w.tolist()) for w in (x, N))
    image = J * at + flint.arb_mat(m, 1, game.b.tolist()) + U * flint.arb_mat(k, 1, moved)
    difference = column - at
    slope = J.transpose() * difference - image
    total = (image.transpose() * difference)[0, 0]
    mu = flint.arb(multiplier)
    end = float(np.min(piece.high)) if multiplier > 0 else float(np.max(piece.low))
    total += mu * (flint.arb(end) - (V.transpose() * at)[0, 0])
    for i, (bottom, top) in enumerate(zip(piece.lower.tolist(), piece.upper.tolist(), strict=True)):
        rise = slope[i, 0] - mu * V[i, 0]
        total += (rise * (bottom - at[i, 0])).max(rise * (top - at[i, 0])).max(flint.arb(0))
    return total
