"""Lemke's method for VI(box, A N + b), A positive semidefinite: the robust one."""

import numpy as np
from jaxtyping import Float, Int

from games.base import Matrix, Vector
from games.pivoting import FREE, LOWER, UPPER, Pivoted

Tableau = Float[np.ndarray, "rows columns"]
PIVOT_TOLERANCE = 1e-11  # relative to the column: below it an entry is taken for a rounded zero


def lemke(A: Matrix, b: Vector, lower: Vector, upper: Vector, max_pivots: int | None = None) -> Pivoted:
    """A solution by complementary pivoting on the linear complementarity problem in (N - lower, multipliers).

    With z = N - lower >= 0 and y >= 0 the multipliers of the upper bounds:
    w = A z + y + (A lower + b) >= 0, v = (upper - lower) - z >= 0, w'z = 0, v'y = 0. The matrix is positive
    semidefinite when A is, and a compact box makes it solvable, so Lemke's method ends at a solution (Cottle,
    Pang, Stone, Thm 4.4.1); ties are broken lexicographically. Data are scaled first. The result is a
    candidate: its residual must be recomputed by the caller.
    """
    m = b.size
    move = np.flatnonzero(upper > lower)
    k = move.size
    state = np.full(m, LOWER, dtype=np.int8)
    if k == 0:
        return Pivoted(lower.copy(), state, True, 0)
    width = upper[move] - lower[move]
    slope = (A @ lower + b)[move]
    block = A[np.ix_(move, move)] * width
    size = np.maximum(np.maximum(np.max(np.abs(block), axis=1), np.abs(slope)), 1e-300)
    # Unit box: N = lower + width z. Rows scaled alike would break monotonicity, so one scale serves all.
    size = float(np.max(size * width))
    M = np.zeros((2 * k, 2 * k))
    M[:k, :k] = width[:, None] * block / size
    M[:k, k:] = np.eye(k)
    M[k:, :k] = -np.eye(k)
    q = np.concatenate([width * slope / size, np.ones(k)])
    basis, values, solved, pivots = complementary_pivots(M, q, max_pivots or 50 * k + 200)
    z = np.zeros(4 * k + 1)
    z[basis] = values
    N = lower.copy()
    N[move] = lower[move] + width * np.clip(z[2 * k : 3 * k], 0.0, 1.0)
    basic = np.zeros(4 * k + 1, dtype=bool)
    basic[basis] = True
    free = basic[2 * k : 3 * k] & basic[k : 2 * k]
    at_upper = basic[2 * k : 3 * k] & ~basic[k : 2 * k]
    state[move[free]] = FREE
    state[move[at_upper]] = UPPER
    N[state == UPPER] = upper[state == UPPER]
    return Pivoted(N, state, solved, pivots)


def complementary_pivots(
    M: Float[np.ndarray, "n n"], q: Float[np.ndarray, " n"], max_pivots: int
) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, " n"], bool, int]:
    """Lemke's method on w = M z + q: (basis, basic values, solved, pivots).

    Variables are numbered w = 0..n-1, z = n..2n-1, the artificial one 2n. The tableau's last n columns hold
    the inverse of the basis, whose rows decide ties lexicographically.
    """
    n = q.size
    basis = np.arange(n)
    if np.all(q >= 0):
        return basis, q.copy(), True, 0
    tableau = np.concatenate([np.eye(n), -M, -np.ones((n, 1)), q[:, None]], axis=1)
    row = int(np.argmin(q))
    entering = 2 * n
    for pivots in range(1, max_pivots + 1):
        _pivot(tableau, row, entering)
        leaving, basis[row] = int(basis[row]), entering
        if leaving == 2 * n:
            return basis, tableau[:, -1], True, pivots
        entering = leaving + n if leaving < n else leaving - n
        chosen = _ratio_test(tableau, tableau[:, entering], basis, n)
        if chosen is None:
            return basis, tableau[:, -1], False, pivots
        row = chosen
    return basis, tableau[:, -1], False, max_pivots


def _pivot(tableau: Tableau, row: int, column: int) -> None:
    tableau[row] /= tableau[row, column]
    factor = tableau[:, column].copy()
    factor[row] = 0.0
    tableau -= np.outer(factor, tableau[row])


def _ratio_test(
    tableau: Tableau, column: Float[np.ndarray, " rows"], basis: Int[np.ndarray, " rows"], n: int
) -> int | None:
    rows = np.flatnonzero(column > PIVOT_TOLERANCE * max(1.0, float(np.max(np.abs(column)))))
    if rows.size == 0:
        return None
    ratios = tableau[rows, -1] / column[rows]
    best = float(np.min(ratios))
    rows = rows[ratios <= best + 1e-13 * max(1.0, abs(best))]
    artificial = np.flatnonzero(basis[rows] == 2 * n)
    if artificial.size:
        return int(rows[artificial[0]])
    for j in range(n):
        if rows.size == 1:
            break
        ratios = tableau[rows, j] / column[rows]
        rows = rows[ratios <= np.min(ratios)]
    return int(rows[0])
