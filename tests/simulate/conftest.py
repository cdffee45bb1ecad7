"""Small games and problems shared by the tests of this room."""

import numpy as np

from games import AffineGame
from simulate.problems import (
    LeastSquares,
    LogisticRegression,
    Problem,
    Quadratics,
    SaturatingLogistic,
    SoftmaxRegression,
    WelschRegression,
    antipodal_noise,
)


def small_game(m: int, upper: float = 12.0) -> AffineGame:
    """A strongly monotone, nonsymmetric affine game with an interior equilibrium."""
    rng = np.random.default_rng(m)
    skew = rng.standard_normal((m, m))
    A = 2.0 * np.eye(m) + 0.3 * (skew - skew.T)
    return AffineGame(A, -A @ np.linspace(3.0, 6.0, m), np.ones(m), np.full(m, upper))


def small_softmax(m: int = 3, d: int = 4, classes: int = 3, size: int = 15) -> SoftmaxRegression:
    """A softmax problem on random heterogeneous data."""
    rng = np.random.default_rng(5)
    features = [rng.standard_normal((size + 2 * i, d)) + 0.5 * i for i in range(m)]
    labels = [rng.integers(0, classes, size + 2 * i) for i in range(m)]
    return SoftmaxRegression(features, labels, classes, 0.1)


def small_quadratics(m: int = 3, n: int = 4, law: str = "sphere", full: bool = False) -> Quadratics:
    """Heterogeneous quadratics with noise."""
    rng = np.random.default_rng(9)
    c = rng.standard_normal((m, n))
    a = rng.uniform(0.3, 1.5, (m, n))
    if full:
        q = np.linalg.qr(rng.standard_normal((m, n, n)))[0]
        a = np.matmul(q * a[:, None, :], q.swapaxes(1, 2))
        a = (a + a.swapaxes(1, 2)) / 2
    return Quadratics(a, c, antipodal_noise(law, m, n, 0.7, atoms=8, seed=3))


def small_linear(kind: type, m: int = 3, n: int = 4, size: int = 15) -> Problem:
    """A linear model of the given class on random heterogeneous data."""
    rng = np.random.default_rng(8)
    features = [rng.standard_normal((size + i, n)) + 0.3 * i for i in range(m)]
    signs = [np.where(rng.random(size + i) < 0.4, -1.0, 1.0) for i in range(m)]
    return kind(features, signs, 0.1)


def all_problems() -> dict[str, Problem]:
    """One small instance of every problem with proven constants, m = 3."""
    return {
        "softmax": small_softmax(),
        "diagonal": small_quadratics(),
        "cube": small_quadratics(law="cube"),
        "rademacher": small_quadratics(law="rademacher"),
        "rare-full": small_quadratics(law="rare", full=True),
        "least-squares": small_linear(LeastSquares),
        "logistic": small_linear(LogisticRegression),
        "saturating": small_linear(SaturatingLogistic),
        "welsch": small_linear(WelschRegression),
    }
