"""Proven spectral bounds: smallest eigenvalue from below, norm from above, positive semidefiniteness decided.

Small matrices are decided in exact rationals, so that a rational eigenvalue comes out exact; larger ones by
a float Cholesky factorisation whose rounding error is bounded a priori (Higham, Thm 10.3; Rump, BIT 46,
2006).
"""

from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np
from jaxtyping import Float
from scipy.sparse.linalg import LinearOperator, eigsh

from games.rounding import TINY, UNIT, fmpq, fmpq_matrix, gamma, norm_up, round_up, sqrt_up

LANCZOS_SIZE = 200
EXACT_SIZE = 16  # up to here exact rationals cost less than a millisecond or so
Square = Float[np.ndarray, "k k"]


@dataclass(frozen=True)
class SpectralBound:
    """`value` bounds the wanted quantity; `exact` when it is proven equal to it."""

    value: float
    exact: bool


def semidefinite_witness(M: flint.fmpq_mat) -> tuple[bool, bool, list[flint.fmpq] | None]:
    """(psd, singular, v): decides a symmetric rational matrix; v'Mv < 0 when it is not positive semidefinite.

    Symmetric elimination in exact arithmetic. A negative pivot, or a zero pivot with a nonzero row, shows
    indefiniteness and yields the witness by back substitution.
    """
    n = M.nrows()
    rows = [[M[i, j] for j in range(n)] for i in range(n)]
    factor = [[flint.fmpq(0)] * n for _ in range(n)]
    singular = False
    for k in range(n):
        pivot = rows[k][k]
        if pivot < 0:
            return False, singular, _lift(factor, {k: flint.fmpq(1)}, k, n)
        if pivot == 0:
            singular = True
            j = next((j for j in range(k + 1, n) if rows[k][j] != 0), None)
            if j is None:
                continue
            # (t, 1) on (k, j): 2 t m_kj + m_jj = -1
            t = -(rows[j][j] + 1) / (2 * rows[k][j])
            return False, singular, _lift(factor, {k: t, j: flint.fmpq(1)}, k, n)
        for i in range(k + 1, n):
            if rows[i][k] == 0:
                continue
            factor[i][k] = rows[i][k] / pivot
            for j in range(k + 1, i + 1):
                rows[i][j] -= factor[i][k] * rows[k][j]
                rows[j][i] = rows[i][j]
    return True, singular, None


def _lift(
    factor: list[list[flint.fmpq]], tail: dict[int, flint.fmpq], pivots: int, n: int
) -> list[flint.fmpq]:
    """Extend a vector on the Schur complement after `pivots` eliminations to one with the same quadratic
    form."""
    v = [tail.get(i, flint.fmpq(0)) for i in range(n)]
    for k in range(pivots - 1, -1, -1):
        v[k] = -sum((factor[i][k] * v[i] for i in range(k + 1, n)), flint.fmpq(0))
    return v


def _shifted(M: flint.fmpq_mat, shift: flint.fmpq, sign: int) -> flint.fmpq_mat:
    n = M.nrows()
    return flint.fmpq_mat(
        n, n, [sign * M[i, j] - (shift if i == j else 0) for i in range(n) for j in range(n)]
    )


def smallest_eigenvalue(S: Square, error: float = 0.0, exact: flint.fmpq_mat | None = None) -> SpectralBound:
    """A proven lower bound on the smallest eigenvalue of a symmetric matrix.

    Args:
        S: symmetric float64 [k, k].
        error: the true matrix differs from S by at most this in the spectral norm (used for k > EXACT_SIZE).
        exact: the true matrix in rationals, used when k <= EXACT_SIZE.
    """
    estimate = float(np.linalg.eigvalsh(S)[0])
    if S.shape[0] <= EXACT_SIZE:
        M = fmpq_matrix(S) if exact is None else exact
        return _largest_shift(M, estimate, float(np.max(np.abs(S), initial=0.0)))
    return SpectralBound(_cholesky_lower_bound(S, estimate, error), exact=False)


def _largest_shift(M: flint.fmpq_mat, estimate: float, size: float) -> SpectralBound:
    """The largest of a few nearby floats c for which M - c I is exactly positive semidefinite."""
    gap = max(abs(estimate), size * M.nrows() * UNIT)
    rounded = float(f"{estimate:.12e}")
    candidates = {
        rounded,
        estimate,
        estimate + 4 * UNIT * gap,
        estimate - 4 * UNIT * gap,
        estimate - 64 * UNIT * gap,
    }
    if abs(estimate) < 1e-13 * size:
        candidates.add(0.0)
    for c in sorted(candidates, reverse=True):
        psd, singular, _ = semidefinite_witness(_shifted(M, fmpq(c), 1))
        if psd:
            return SpectralBound(c, exact=singular)
    slack = 1024 * UNIT * max(size, gap) * M.nrows()
    while not semidefinite_witness(_shifted(M, fmpq(estimate - slack), 1))[0]:
        slack *= 4.0
    return SpectralBound(estimate - slack, exact=False)


def _cholesky_lower_bound(S: Square, estimate: float, error: float) -> float:
    """c with lambda_min >= c, from a Cholesky factorisation that ran to completion.

    If it does, R'R = M + E with |E_ij| <= g/(1-g) sqrt(m_ii m_jj), so M >= -g/(1-g) trace(M); g =
    gamma_{3n+10} leaves room for triangular solves that multiply by reciprocals.
    """
    n = S.shape[0]
    g = gamma(3 * n + 10)
    alpha = g / (1.0 - g)
    norm = norm_up(S)
    slack = 4.0 * alpha * norm + TINY
    while True:
        c = estimate - slack
        shifted = S.copy()
        shifted[np.diag_indices(n)] -= c
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            slack *= 4.0
            continue
        diagonal = np.abs(np.diag(shifted))
        loss = alpha * float(np.sum(diagonal)) + UNIT * float(np.max(diagonal)) + error
        return float(np.nextafter(c - round_up(loss, n + 4), -np.inf))


def spectral_norm(
    A: Float[np.ndarray, "rows columns"], error: float = 0.0, exact: flint.fmpq_mat | None = None
) -> SpectralBound:
    """A proven upper bound on ||A||_2, from L^2 I - A'A >= 0 (A may differ from the truth by `error` in
    norm)."""
    if not np.any(A) and error == 0.0:
        return SpectralBound(0.0, exact=True)
    estimate = _norm_estimate(A)
    if A.shape[1] <= EXACT_SIZE:
        M = fmpq_matrix(A) if exact is None else exact
        return _smallest_norm(M, estimate)
    scale = float(
        2.0 ** np.floor(np.log2(estimate))
    )  # a power of two: no rounding, no overflow of the squares
    B = A / scale
    gram = B.T @ B
    rounding = round_up(gamma(A.shape[0] + 2) * norm_up(B) ** 2, 4)
    top = -_cholesky_lower_bound(-(gram + gram.T) / 2.0, -((estimate / scale) ** 2), rounding)
    return SpectralBound(round_up(sqrt_up(top) * scale + error, 2), exact=False)


def _norm_estimate(A: Float[np.ndarray, "rows columns"]) -> float:
    """||A||_2 in float64: a singular value decomposition, or Lanczos where that would dominate the cost."""
    if A.shape[1] <= LANCZOS_SIZE:
        return float(np.linalg.norm(A, 2))
    size = float(np.max(np.abs(A)))
    operator = LinearOperator(
        (A.shape[1], A.shape[1]), matvec=lambda v: A.T @ ((A @ v) / size) / size, dtype=float
    )
    top = eigsh(operator, k=1, v0=np.ones(A.shape[1]), tol=1e-10, return_eigenvectors=False)
    return size * float(np.sqrt(top[0]))


def _smallest_norm(M: flint.fmpq_mat, estimate: float) -> SpectralBound:
    gram = M.transpose() * M
    slack = UNIT
    candidates = [float(f"{estimate:.12e}"), estimate] if estimate > 0 else []
    while True:
        for c in sorted(candidates):
            psd, singular, _ = semidefinite_witness(_shifted(gram, -(fmpq(c) ** 2), -1))
            if psd:
                return SpectralBound(c, exact=singular)
        slack *= 2.0
        candidates = [estimate * (1.0 + slack) + TINY]


def rational_quadratic_form(M: flint.fmpq_mat, v: list[flint.fmpq]) -> Fraction:
    """v'Mv, exactly."""
    n = M.nrows()
    total = sum((v[i] * M[i, j] * v[j] for i in range(n) for j in range(n)), flint.fmpq(0))
    return Fraction(int(total.p), int(total.q))
