"""The exact trade-off between G and B of Assumption 4.5 for quadratics.

With y = x - x*: mean_i ||grad f_i||^2 = y^T M y + 2 b^T y + s and ||grad f||^2 = y^T A^2 y, where M = mean_i
A_i^2, A = sum_i p*_i A_i, b = mean_i A_i grad_i, s = mean_i ||grad_i||^2. The pair (G, B) is valid exactly
if the quadratic y^T (B^2 A^2 - M) y - 2 b^T y + G^2 - s is nonnegative, that is (S-lemma) if
[[B^2 A^2 - M, -b], [-b^T, G^2 - s]] is positive semidefinite.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from simulate import certify

UP = 1.0 + 2.0**-30


def moments(
    A: Float[np.ndarray, "m n n"], at_star: Float[np.ndarray, "m n"], p_star: Float[np.ndarray, " m"]
) -> tuple[Float[np.ndarray, "n n"], Float[np.ndarray, "n n"], Float[np.ndarray, " n"], float]:
    """A^2, M, b and s of the module's text."""
    mean = np.tensordot(p_star, A, axes=1)
    mean = (mean + mean.T) / 2
    M = np.matmul(A, A).mean(axis=0)
    b = np.matmul(A, at_star[..., None])[..., 0].mean(axis=0)
    return mean @ mean, (M + M.T) / 2, b, float((at_star**2).sum(axis=1).mean())


def smallest_B(A2: Float[np.ndarray, "n n"], M: Float[np.ndarray, "n n"]) -> float:
    """The smallest B^2 with B^2 A^2 >= M: the largest generalised eigenvalue (A^2 positive definite)."""
    factor = np.linalg.cholesky(A2)
    half = np.linalg.solve(factor, M)
    return float(np.linalg.eigvalsh(np.linalg.solve(factor, half.T))[-1])


def smallest_G(
    A2: Float[np.ndarray, "n n"],
    M: Float[np.ndarray, "n n"],
    b: Float[np.ndarray, " n"],
    s: float,
    B_sq: float,
) -> float:
    """The smallest G^2 for this B^2: s + b^T (B^2 A^2 - M)^-1 b; infinite unless B^2 A^2 > M."""
    gap = B_sq * A2 - M
    if np.linalg.eigvalsh(gap)[0] <= 0:
        return float("inf")
    return s + float(b @ np.linalg.solve(gap, b))


def quadratic_pair(
    A: Float[np.ndarray, "m n n"],
    at_star: Float[np.ndarray, "m n"],
    p_star: Float[np.ndarray, " m"],
    radius: float,
    t: float,
) -> tuple[float, float]:
    """(G, B) with B^2 = (1 + 1/t) B_min^2 and the smallest G for it, rounded outward and proved.

    The proof: gap = B^2 A^2 - M gets a certified smallest eigenvalue e > 0; with z the float solution of gap
    z = b and residual rho = b - gap z, b^T gap^-1 b = b^T z + z^T rho + rho^T gap^-1 rho <= b^T z + ||z||
    ||rho|| + ||rho||^2/e.
    Roundings of M, A^2, b, s are charged at 1e-12 relative to the sizes involved, and `radius` (the distance
    of the point behind `at_star` from x*) moves each gradient by at most ||A_i|| radius.

    Raises:
        ValueError: for t <= 0, or if sum_i p*_i A_i is singular (then no finite B exists in general).
    """
    if not t > 0:
        raise ValueError(f"t = {t}: the trade-off between G and B is a number > 0")
    A2, M, b, s = moments(A, at_star, p_star)
    if certify.lambda_min(A2, 1e-13 * float(np.abs(A2).sum())) <= 0:
        raise ValueError("sum_i p*_i A_i is singular: Assumption 4.5 has no finite B in its directions")
    B_sq = (1 + 1 / t) * smallest_B(A2, M) * UP
    gap = B_sq * A2 - M
    size = B_sq * float(np.linalg.norm(A2)) + float(np.linalg.norm(M))
    e = certify.lambda_min((gap + gap.T) / 2, 1e-12 * size)
    if e <= 0:
        raise ValueError(f"t = {t}: too large for float64, B^2 A^2 - M is not provably positive definite")
    norm_A = float(np.linalg.norm(A, axis=(1, 2)).max())
    db = 1e-12 * norm_A * float(np.linalg.norm(at_star, axis=1).max()) + norm_A**2 * radius
    z = np.linalg.solve(gap, b)
    rho = float(np.linalg.norm(b - gap @ z)) + 1e-12 * size * float(np.linalg.norm(z)) + db
    quadratic = float(b @ z) + float(np.linalg.norm(z)) * (rho + db) + rho * rho / e
    ds = 2 * np.sqrt(s) * norm_A * radius + (norm_A * radius) ** 2 + 1e-12 * s
    return float(np.sqrt(max(s + quadratic + ds, 0.0))) * UP, float(np.sqrt(B_sq)) * UP


def tradeoff_sdp(
    A: Float[np.ndarray, "m n n"],
    at_star: Float[np.ndarray, "m n"],
    p_star: Float[np.ndarray, " m"],
    weight: float,
) -> tuple[float, float]:
    """(G^2, B^2) minimising G^2 + weight B^2 over all valid pairs, from the S-lemma's semidefinite program.

    The solver's point is float and is not a proof; `quadratic_pair` is. Raises ArithmeticError if it does
    not solve.
    """
    import cvxpy as cp  # seconds to import, and only this function needs it

    A2, M, b, s = moments(A, at_star, p_star)
    G_sq, B_sq = cp.Variable(nonneg=True), cp.Variable(nonneg=True)
    column = -b[:, None]
    block = cp.bmat([[B_sq * A2 - M, column], [column.T, cp.reshape(G_sq - s, (1, 1), order="F")]])
    problem = cp.Problem(cp.Minimize(G_sq + weight * B_sq), [(block + block.T) / 2 >> 0])
    problem.solve(solver=cp.CLARABEL)
    if problem.status != cp.OPTIMAL:
        raise ArithmeticError(f"the semidefinite program ended with status {problem.status}")
    return float(G_sq.value), float(B_sq.value)
