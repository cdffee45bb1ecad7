"""Certificates: how far a point is from an equilibrium, proven."""

from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np

from games.affine import Affine
from games.base import Game, Vector
from games.composite import PRECISION, Composite
from games.pivoting import FREE, LOWER, UPPER, State
from games.rounding import arb_upper, divide_up, fmpq, fraction, norm_up, round_up

EXACT_PROOF_SIZE = 16  # up to here a proof is made in rationals at once: it costs as little and gives `exact`
RATIONAL_SIZE = 120  # up to here a degenerate game is still decided in rationals
INTERVAL_SIZE = 600  # above this eliminating in intervals takes minutes
EXCHANGES, BLOCK_EXCHANGES = 30, 6
PRECISIONS = (128, 512)


def evaluate(game: Game, N: Vector) -> tuple[Vector, Vector]:
    """(value, bound) for F(N): twice the working precision where the game offers it."""
    if isinstance(game, Affine):
        return game.accurate_F(N)
    return game.F(N), game.F_error(N)


def tangent_residual(game: Game, N: Vector) -> float:
    """A proven upper bound on dist(-F(N), normal cone of the box at N), N in the box.

    Where F's rounding error is unknown (infinite), the residual is as computed, and not proven.
    Coordinatewise: |F_i| inside, max(0, -F_i) at the lower bound, max(0, F_i) at the upper, 0 where they
    meet.
    """
    return tangent_part(game, N, *evaluate(game, N))


def tangent_part(game: Game, N: Vector, value: Vector, bound: Vector) -> float:
    """The tangent residual from F's value and its error bound at N."""
    bound = np.where(np.isinf(bound), 0.0, bound)  # unknown (a user's F): the residual is as computed
    up, down = round_up(np.maximum(value + bound, 0.0)), round_up(np.maximum(bound - value, 0.0))
    parts = np.where(game.lower < N, up, 0.0)
    parts = np.maximum(parts, np.where(game.upper > N, down, 0.0))
    return norm_up(parts)


def residual_error(residual: float, mu_F: float) -> float:
    """||N - N*|| <= residual / mu_F for mu_F-strongly monotone F.

    With -F(N) = n + e, n normal at N and ||e|| = residual, and -F(N*) normal at N*:
    mu ||N - N*||^2 <= (F(N) - F(N*))'(N - N*) <= -e'(N - N*).
    """
    return divide_up(residual, mu_F) if mu_F > 0 else np.inf


@dataclass(frozen=True, eq=False)
class Proof:
    """A solution proven to exist near `N`, with every sign decided.

    Attributes:
        N: the solution rounded to float64.
        error_bound: a proven bound on ||N - solution||.
        exact: the solution in rationals (None for an interval proof).
        strict: no multiplier vanishes and no free client sits on a bound, and the free block is nonsingular.
        state: -1, 0, 1 for lower, free, upper.
    """

    N: Vector
    error_bound: float
    exact: tuple[Fraction, ...] | None
    strict: bool
    state: State


def prove(game: Affine, state: State) -> Proof | None:
    """A proof that the active set `state` belongs to a solution of VI(box, F), or None if it cannot be given.

    Intervals first (arb, at 128 then 512 bits): they decide every strict sign. What is left is degenerate (a
    zero multiplier, a free client on its bound) and is decided in rationals.
    """
    if game.m <= EXACT_PROOF_SIZE:
        return rational_proof(game, state, EXCHANGES)
    if game.m > INTERVAL_SIZE:
        return None
    for precision in PRECISIONS:
        proof = interval_proof(game, state, precision)
        if proof is not None:
            return proof
    return rational_proof(game, state, EXCHANGES) if game.m <= RATIONAL_SIZE else None


def rational_proof(game: Affine, state: State, exchanges: int = 0) -> Proof | None:
    """Solve the free block exactly and check every sign exactly.

    Where a sign is wrong the client changes sides, at most `exchanges` times: float pivoting cannot see the sign
    of a multiplier that vanishes but for rounding, exact arithmetic can.
    """
    state = np.where(game.moving, state, LOWER).astype(np.int8)
    lower = [fmpq(x) for x in game.lower.tolist()]
    upper = [fmpq(x) for x in game.upper.tolist()]
    for exchange in range(exchanges + 1):
        found = _exact_point(game, state, lower, upper)
        if found is None:
            return None
        x, slope = found
        wanted = state.copy()
        for i in np.flatnonzero(game.moving).tolist():
            if state[i] == FREE:
                wanted[i] = LOWER if x[i] < lower[i] else UPPER if x[i] > upper[i] else FREE
            elif (slope[i] < 0) if state[i] == LOWER else (slope[i] > 0):
                wanted[i] = FREE
        changed = np.flatnonzero(wanted != state)
        if changed.size == 0:
            return _exact_proof(game, state, x, slope)
        if exchange < BLOCK_EXCHANGES:
            state = wanted
        else:
            state[changed[-1]] = wanted[changed[-1]]
    return None


def _exact_point(
    game: Affine, state: State, lower: list[flint.fmpq], upper: list[flint.fmpq]
) -> tuple[list[flint.fmpq], list[flint.fmpq]] | None:
    """The basic point of an active set and F there; None when the free block is singular."""
    A, b = game.exact_matrix(), game.exact_b()
    free = np.flatnonzero(state == FREE).tolist()
    x = [upper[i] if state[i] == UPPER else lower[i] for i in range(game.m)]
    for i in free:
        x[i] = flint.fmpq(0)
    if free:
        fixed = A * flint.fmpq_mat(game.m, 1, x)
        right = flint.fmpq_mat(len(free), 1, [-(fixed[i, 0] + b[i, 0]) for i in free])
        block = flint.fmpq_mat(len(free), len(free), [A[i, j] for i in free for j in free])
        try:
            solution = block.solve(right)
        except ZeroDivisionError:
            return None
        for k, i in enumerate(free):
            x[i] = solution[k, 0]
    slope = A * flint.fmpq_mat(game.m, 1, x) + b
    return x, [slope[i, 0] for i in range(game.m)]


def _exact_proof(game: Affine, state: State, x: list[flint.fmpq], slope: list[flint.fmpq]) -> Proof:
    """The proof of a point whose signs are right; free clients that sit on a bound are counted there."""
    strict, state = True, state.copy()
    for i in np.flatnonzero(game.moving).tolist():
        if state[i] == FREE:
            at_lower, at_upper = x[i] == fmpq(float(game.lower[i])), x[i] == fmpq(float(game.upper[i]))
            strict &= not (at_lower or at_upper)
            state[i] = LOWER if at_lower else UPPER if at_upper else FREE
        else:
            strict &= slope[i] != 0
    N = np.array([float(fraction(value)) for value in x])
    error = [abs(x[i] - fmpq(value)) for i, value in enumerate(N.tolist())]
    bound = norm_up(np.array([float(np.nextafter(float(fraction(e)), np.inf)) if e else 0.0 for e in error]))
    return Proof(N, bound, tuple(fraction(value) for value in x), strict, state)


def interval_proof(game: Affine, state: State, precision: int) -> Proof | None:
    """Enclose the free block's solution in arb and decide every sign strictly, or give up."""
    with flint.ctx.workprec(precision):
        m = game.m
        A = (
            flint.arb_mat(m, m, game.matrix.ravel().tolist())
            if game.matrix_error == 0
            else flint.arb_mat(game.exact_matrix())
        )
        b = flint.arb_mat(m, 1, game.b.tolist())
        free = np.flatnonzero(state == FREE).tolist()
        x = np.where(state == UPPER, game.upper, game.lower)
        x[free] = 0.0
        point = flint.arb_mat(m, 1, x.tolist())
        if free:
            fixed = A * point + b
            block = flint.arb_mat(len(free), len(free), [A[i, j] for i in free for j in free])
            try:
                solution = block.solve(flint.arb_mat(len(free), 1, [-fixed[i, 0] for i in free]))
            except ZeroDivisionError:
                return None
            for k, i in enumerate(free):
                point[i, 0] = solution[k, 0]
                if not game.lower[i] < solution[k, 0] < game.upper[i]:
                    return None
        slope = A * point + b
        for i in np.flatnonzero((state != FREE) & game.moving).tolist():
            if not (slope[i, 0] > 0 if state[i] == LOWER else slope[i, 0] < 0):
                return None
        N = np.array([float(point[i, 0].mid()) for i in range(m)])
        N = game.project(N)
        error = np.array([arb_upper(abs(point[i, 0] - float(N[i]))) for i in range(m)])
        return Proof(N, norm_up(error), None, True, state)


def prove_smooth(game: Composite, N: Vector, state: State) -> Proof | None:
    """An interval proof for nonlinear F: Krawczyk's test on the free block, strict signs on the rest.

    With Y an approximate inverse of the free block of the Jacobian and X = N + [-r, r] on the free clients,
    N - Y F(N) + (I - Y J(X))(X - N) inside X proves one zero of F_free in X.
    """
    free = np.flatnonzero((state == FREE) & game.moving)
    N = np.where(state == LOWER, game.lower, np.where(state == UPPER, game.upper, N))
    J = game.jacobian(N)[np.ix_(free, free)]
    try:
        inverse = np.linalg.inv(J) if free.size else J
    except np.linalg.LinAlgError:
        return None
    step = np.abs(inverse) @ (np.abs(game.F(N)[free]) + game.F_error(N)[free]) if free.size else J
    with flint.ctx.workprec(PRECISION):
        for widening in (4.0, 64.0):
            radius = widening * float(np.max(step, initial=0.0)) + 1e-15 * float(np.max(np.abs(N)))
            proof = _krawczyk(game, N, state, free, inverse, radius)
            if proof is not None:
                return proof
    return None


def _krawczyk(
    game: Composite, N: Vector, state: State, free: np.ndarray, inverse: np.ndarray, radius: float
) -> Proof | None:
    centre = [flint.arb(x) for x in N.tolist()]
    ball = [
        flint.arb(x, radius) if i in set(free.tolist()) else flint.arb(x) for i, x in enumerate(N.tolist())
    ]
    k = free.size
    if k:
        value = game.enclose_F(centre)
        J = game.enclose_jacobian(ball)
        Y = flint.arb_mat(k, k, inverse.ravel().tolist())
        block = flint.arb_mat(k, k, [J[i, j] for i in free.tolist() for j in free.tolist()])
        identity = flint.arb_mat(k, k, np.eye(k).ravel().tolist())
        moved = Y * flint.arb_mat(k, 1, [value[i] for i in free.tolist()])
        spread = (identity - Y * block) * flint.arb_mat(k, 1, [flint.arb(0, radius)] * k)
        for row, i in enumerate(free.tolist()):
            image = spread[row, 0] - moved[row, 0]
            if not abs(image) < radius:
                return None
            ball[i] = centre[i] + image
            if not game.lower[i] < ball[i] < game.upper[i]:
                return None
    slope = game.enclose_F(ball)
    for i in np.flatnonzero((state != FREE) & game.moving).tolist():
        if not (slope[i] > 0 if state[i] == LOWER else slope[i] < 0):
            return None
    point = game.project(np.array([float(x.mid()) for x in ball]))
    error = np.array([arb_upper(abs(x - y)) for x, y in zip(ball, point.tolist(), strict=True)])
    return Proof(point, norm_up(error), None, True, state)
