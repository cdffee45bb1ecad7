"""The set of all equilibria of a merely monotone affine game, as a polyhedron, and the distance to it."""

import flint
import numpy as np

from games.affine import Affine
from games.base import GameError, Vector
from games.certificates import EXCHANGES, RATIONAL_SIZE, rational_proof
from games.convex import nearest_point
from games.gaps import Bracket
from games.lemke import lemke
from games.pivoting import State, block_pivoting, guess_state
from games.polish import state_of
from games.polyhedron import Polyhedron, distance
from games.rounding import arb_lower, fmpq


def solution_set(game: Affine) -> Polyhedron:
    """SOL(box, F) for a monotone affine F, from one exact equilibrium x0.

    With S = (A + A')/2, x is an equilibrium exactly when lower <= x <= upper, S x = S x0, x_i = lower_i where
    F_i(x0) > 0, x_i = upper_i where F_i(x0) < 0, F_i(x) = 0 where x0_i is inside, F_i(x) >= 0 where x0_i =
    lower_i and F_i(x) <= 0 where x0_i = upper_i. (For two equilibria (x - x0)'(F(x) - F(x0)) = 0 splits into
    terms of one sign, so each vanishes and S (x - x0) = 0; conversely these conditions make the gap of x the
    gap of x0, zero.) Linear, and equivalent to the description by x0'S x0 + b'x - lower's + upper't <= 0.

    Raises:
        GameError: F not proven monotone, or m above the size of rational arithmetic.
    """
    if game.monotonicity.value < 0:
        raise GameError(f"{type(game).__name__}: F is not proven monotone; its equilibria need not be convex")
    if game.m > RATIONAL_SIZE:
        raise GameError(f"m = {game.m}: the solution set is built in rationals up to m = {RATIONAL_SIZE}")
    x0 = exact_equilibrium(game)
    m = game.m
    A, b = game.exact_matrix(), game.exact_b()
    at = flint.fmpq_mat(m, 1, x0)
    slope = A * at + b
    S = (A + A.transpose()) / 2
    S0 = S * at
    equal: list[tuple[list[flint.fmpq], flint.fmpq]] = []
    above: list[tuple[list[flint.fmpq], flint.fmpq]] = []
    for i in range(m):
        unit = [flint.fmpq(int(i == j)) for j in range(m)]
        row = [A[i, j] for j in range(m)]
        if any(S[i, j] != 0 for j in range(m)):
            equal.append(([S[i, j] for j in range(m)], S0[i, 0]))
        low, high = fmpq(float(game.lower[i])), fmpq(float(game.upper[i]))
        if low == high or slope[i, 0] != 0:
            equal.append((unit, x0[i]))
        elif low < x0[i] < high:
            equal.append((row, -b[i, 0]))
        elif x0[i] == low:
            above.append((row, -b[i, 0]))
        else:
            above.append(([-v for v in row], b[i, 0]))
        # a fixed or pushed client at a bound keeps the sign of its slope
        if low < high and slope[i, 0] > 0:
            above.append((row, -b[i, 0]))
        elif low < high and slope[i, 0] < 0:
            above.append(([-v for v in row], b[i, 0]))
    E, e = _stack(equal, m)
    # a row that E determines is constant on SOL: it holds, as it does at x0, and says nothing more
    G, g = _stack([(row, right) for row, right in above if not _determined(E, row)], m)
    return Polyhedron(E, e, G, g, game.lower, game.upper, x0)


def _determined(E: flint.fmpq_mat, row: list[flint.fmpq]) -> bool:
    k, m = E.nrows(), len(row)
    if k == 0:
        return all(v == 0 for v in row)
    flat = [E[i, j] for i in range(k) for j in range(m)]
    return bool(flint.fmpq_mat(k + 1, m, flat + row).rank() == E.rank())


def _stack(rows: list[tuple[list[flint.fmpq], flint.fmpq]], m: int) -> tuple[flint.fmpq_mat, flint.fmpq_mat]:
    flat = [v for row, _ in rows for v in row]
    return flint.fmpq_mat(len(rows), m, flat), flint.fmpq_mat(len(rows), 1, [right for _, right in rows])


def exact_equilibrium(game: Affine) -> list[flint.fmpq]:
    """One equilibrium in rationals: a basic solution of Lemke's method, checked exactly.

    Raises:
        GameError: no active set found is exactly consistent (the game is too degenerate for float pivoting).
    """
    A, b, lower, upper = game.matrix, game.b, game.lower, game.upper
    states: list[State] = [lemke(A, b, lower, upper).state]
    states.append(block_pivoting(A, b, lower, upper, states[0]).state)
    states.append(block_pivoting(A, b, lower, upper, guess_state(A, b, lower, upper)).state)
    states.append(state_of(game, game.project(lemke(A, b, lower, upper).N)))
    for state in states:
        proof = rational_proof(game, state, EXCHANGES)
        if proof is not None and proof.exact is not None:
            return [fmpq(x) for x in proof.exact]
    raise GameError(f"{type(game).__name__}: no exact equilibrium found; the game is too degenerate")


def distance_to_solutions(game: Affine, N: Vector, solutions: Polyhedron | None = None) -> Bracket:
    """dist(N, SOL(box, F)) as a proven bracket (Lemma 4.4(i), lower part).

    Upper end: the distance to an exact member near the projection. Lower end: a separating plane through it,
    with a proven linear bound over SOL.
    """
    target = solution_set(game) if solutions is None else solutions
    nearest = nearest_point(target, N)
    member = target.member_near(nearest)
    high = distance(N, member)
    normal = nearest - N
    size = float(np.linalg.norm(normal))
    if size == 0.0:
        return Bracket(0.0, high)
    c = normal / size
    low, _ = target.linear_minimum(c)
    with flint.ctx.workprec(128):
        shift = sum(
            (flint.arb(a) * flint.arb(x) for a, x in zip(c.tolist(), N.tolist(), strict=True)), flint.arb(0)
        )
        norm = sum((flint.arb(a) ** 2 for a in c.tolist()), flint.arb(0)).sqrt()
        return Bracket(max(0.0, arb_lower((flint.arb(low) - shift) / norm)), high)
