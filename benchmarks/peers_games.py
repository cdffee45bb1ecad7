"""The peers of the games benchmark, each as a function (A, b, lower, upper) -> N; absent packages are left
out."""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from games.gap_qp import gap_qp
from games.iterations import extragradient

Solver = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def daqp_avi(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """daqp's affine VI mode."""
    import daqp

    empty = np.zeros((0, b.size))
    sense = np.zeros(b.size, dtype=np.int32)
    return np.asarray(daqp.solve(A, b, empty, upper, lower, sense, is_avi=True)[0])


def quantecon_lemke(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """quantecon's Lemke on the linear complementarity problem of size 2m."""
    from quantecon.optimize import lcp_lemke

    m = b.size
    M = np.zeros((2 * m, 2 * m))
    M[:m, :m], M[:m, m:], M[m:, :m] = A, np.eye(m), -np.eye(m)
    q = np.concatenate([A @ lower + b, upper - lower])
    return lower + np.asarray(lcp_lemke(M, q, max_iter=100 * m).z)[:m]


def extragradient_numpy(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A plain fixed-step extragradient, step 0.9/||A||, to the table's residual (as monviso, which is not
    on PyPI)."""
    step = 0.9 / float(np.linalg.norm(A, 2))
    N = np.clip(np.zeros(b.size), lower, upper)
    for _ in range(200_000):
        y = np.clip(N - step * (A @ N + b), lower, upper)
        moved = np.clip(N - step * (A @ y + b), lower, upper)
        if np.linalg.norm(moved - N) <= 1e-10 * step * max(1.0, float(np.linalg.norm(b))):
            return moved
        N = moved
    return N


def extragradient_adaptive(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Khobotov's extragradient (ours)."""
    tol = 1e-9 * max(1.0, float(np.linalg.norm(b)))
    return extragradient(lambda N: N @ A.T + b, lower, upper, (lower + upper) / 2, tol, 200_000).N


def cvxpy_clarabel(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The gap QP with Clarabel."""
    return gap_qp(A, b, lower, upper, "CLARABEL")


def cvxpy_osqp(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The gap QP with OSQP."""
    return gap_qp(A, b, lower, upper, "OSQP")


def scipy_natural_map(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """scipy has no VI solver: its hybrid root finder on the natural map N - clip(N - F(N))."""
    from scipy.optimize import root

    found = root(lambda N: N - np.clip(N - (A @ N + b), lower, upper), (lower + upper) / 2, method="hybr")
    return np.clip(found.x, lower, upper)


LIMITS = {
    "daqp AVI": (daqp_avi, 2000, "daqp"),
    "quantecon Lemke": (quantecon_lemke, 2000, "quantecon"),
    "extragradient, fixed step": (extragradient_numpy, 2000, "numpy"),
    "extragradient, adaptive": (extragradient_adaptive, 2000, "numpy"),
    "cvxpy gap QP, Clarabel": (cvxpy_clarabel, 500, "cvxpy"),
    "cvxpy gap QP, OSQP": (cvxpy_osqp, 500, "cvxpy"),
    "scipy root on the natural map": (scipy_natural_map, 50, "scipy"),
}


def available(m: int) -> dict[str, Solver]:
    """The peers that are installed and finish in reasonable time at this size."""
    return {name: f for name, (f, largest, module) in LIMITS.items() if m <= largest and find_spec(module)}
