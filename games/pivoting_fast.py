"""The pivoting of `games.pivoting` compiled by numba (the extra `fast`): one game, or thousands in one
call."""

from typing import no_type_check

import numba
import numpy as np

from games.pivoting import PATIENCE, PROMISE, SETTLED, SWEEPS, default_budget

# jaxtyping's import hook must not wrap what numba compiles, hence no_type_check; the docstrings give shapes.
ANY_ORDER = {
    "reassoc",
    "contract",
    "nsz",
}  # sums in any order: the a-priori error bounds allow it, and it is faster


@numba.njit(cache=True)
@no_type_check
def _solve_block(A, free, k, right, work):
    """Solve the k x k free block by elimination with partial pivoting; False when a pivot vanishes."""
    for p in range(k):
        row = A[free[p]]
        for q in range(k):
            work[p, q] = row[free[q]]
    for p in range(k):
        best, at = abs(work[p, p]), p
        for i in range(p + 1, k):
            if abs(work[i, p]) > best:
                best, at = abs(work[i, p]), i
        if best == 0.0:
            return False
        if at != p:
            for j in range(p, k):
                work[p, j], work[at, j] = work[at, j], work[p, j]
            right[p], right[at] = right[at], right[p]
        inverse = 1.0 / work[p, p]
        for i in range(p + 1, k):
            factor = work[i, p] * inverse
            if factor != 0.0:
                for j in range(p + 1, k):
                    work[i, j] -= factor * work[p, j]
                right[i] -= factor * right[p]
    for p in range(k - 1, -1, -1):
        total = right[p]
        for j in range(p + 1, k):
            total -= work[p, j] * right[j]
        right[p] = total / work[p, p]
    return True


@numba.njit(cache=True, fastmath=ANY_ORDER)
@no_type_check
def guess(A, b, lower, upper, state):
    """A first active set by projected Gauss-Seidel while it contracts; all free when it does not."""
    m = b.size
    N = 0.5 * (lower + upper)
    first = 0.0
    promising = True
    for sweep in range(SWEEPS):
        square = 0.0
        for i in range(m):
            if A[i, i] <= 0.0 or lower[i] == upper[i]:
                continue
            total = b[i]
            for j in range(m):
                total += A[i, j] * N[j]
            moved = min(max(N[i] - total / A[i, i], lower[i]), upper[i])
            square += ((moved - N[i]) / (upper[i] - lower[i])) ** 2
            N[i] = moved
        if sweep == 0:
            first = square
        if sweep == 1 and square > PROMISE**2 * first:
            promising = False
            break
        if square <= SETTLED**2 * first:
            break
    for i in range(m):
        state[i] = 0
        if lower[i] == upper[i]:
            state[i] = -1
        elif promising:
            state[i] = -1 if N[i] <= lower[i] else (1 if N[i] >= upper[i] else 0)


@numba.njit(cache=True, fastmath=ANY_ORDER)
@no_type_check
def _slopes(A, b, N, slope):
    """slope = A N + b."""
    for i in range(b.size):
        total = b[i]
        for j in range(b.size):
            total += A[i, j] * N[j]
        slope[i] = total


@numba.njit(cache=True, fastmath=ANY_ORDER)
@no_type_check
def _residual(A, b, lower, upper, N):
    """The tangent residual, bounded from above: an a-priori error bound is added to every component."""
    m = b.size
    g = (m + 2) * 2.0**-53 * 1.0001
    square = 0.0
    for i in range(m):
        total, size = b[i], abs(b[i])
        for j in range(m):
            product = A[i, j] * N[j]
            total += product
            size += abs(product)
        bound = g * size
        part = 0.0
        if N[i] > lower[i]:
            part = max(part, total + bound)
        if N[i] < upper[i]:
            part = max(part, bound - total)
        square += part * part
    return np.sqrt(square) * (1.0 + (m + 6) * 2.0**-52) + 1e-290


@numba.njit(cache=True)
@no_type_check
def pivot(A, b, lower, upper, state, guessed, budget, patience):
    """One game: A [m, m], b, lower, upper [m], state int8 [m] (in: the guess if `guessed`; out: the last
    one).

    Returns (N [m], consistent, iterations, residual): as `games.pivoting.block_pivoting`, with the proven
    tangent residual.
    """
    m = b.size
    N = np.empty(m)
    slope = np.empty(m)
    free = np.empty(m, np.int64)
    right = np.empty(m)
    work = np.empty((m, m))
    if not guessed:
        guess(A, b, lower, upper, state)
    wanted = np.empty(m, np.int8)
    fewest, left = m + 1, patience
    consistent = False
    iterations = 0
    for i in range(m):
        if lower[i] == upper[i]:
            state[i] = -1
    while iterations < budget and not consistent:
        iterations += 1
        k = 0
        for i in range(m):
            if state[i] == 0:
                free[k] = i
                k += 1
                N[i] = 0.0
            else:
                N[i] = lower[i] if state[i] < 0 else upper[i]
        if k > 0:
            _slopes(A, b, N, slope)
            for p in range(k):
                right[p] = -slope[free[p]]
            if not _solve_block(A, free, k, right, work):
                break
            for p in range(k):
                N[free[p]] = right[p]
        _slopes(A, b, N, slope)
        changed, last = 0, -1
        for i in range(m):
            wanted[i] = state[i]
            if state[i] == 0:
                if N[i] < lower[i]:
                    wanted[i] = -1
                elif N[i] > upper[i]:
                    wanted[i] = 1
            elif lower[i] < upper[i] and ((state[i] < 0 and slope[i] < 0) or (state[i] > 0 and slope[i] > 0)):
                wanted[i] = 0
            if wanted[i] != state[i]:
                changed += 1
                last = i
        if changed == 0:
            consistent = True
        elif changed < fewest or left > 0:
            left = patience if changed < fewest else left - 1
            fewest = min(fewest, changed)
            state[:] = wanted
        else:
            state[last] = wanted[last]
    for i in range(m):
        N[i] = min(max(N[i], lower[i]), upper[i])
    return N, consistent, iterations, _residual(A, b, lower, upper, N)


@numba.njit(cache=True)
@no_type_check
def pivot_batch(A, b, lower, upper, budget, patience, N, state, consistent, iterations, residual):
    """Many games: A [B, m, m], the rest [B, m] and [B]; the outputs are filled in place."""
    for g in range(b.shape[0]):
        found, solved, steps, rest = pivot(A[g], b[g], lower[g], upper[g], state[g], False, budget, patience)
        N[g] = found
        consistent[g] = solved
        iterations[g] = steps
        residual[g] = rest


@no_type_check
def solve_one(A, b, lower, upper, state, guessed):
    """`pivot` with the default budget and patience."""
    return pivot(A, b, lower, upper, state, guessed, default_budget(b.size), PATIENCE)


@no_type_check
def frozen(*arrays):
    """Read-only contiguous views: one compiled version serves games' own (read-only) arrays and any other."""
    views = []
    for x in arrays:
        view = np.ascontiguousarray(x, dtype=np.float64).view()
        view.flags.writeable = False
        views.append(view)
    return views
