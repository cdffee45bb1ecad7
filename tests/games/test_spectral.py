"""Proven spectral bounds: sharp where rationals allow, below or above the truth always."""

import numpy as np
import pytest

from games.rounding import fmpq_matrix
from games.spectral import (
    rational_quadratic_form,
    semidefinite_witness,
    smallest_eigenvalue,
    spectral_norm,
)


def symmetric(eigenvalues: np.ndarray, seed: int) -> np.ndarray:
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(eigenvalues.size, eigenvalues.size)))
    S = Q @ np.diag(eigenvalues) @ Q.T
    return (S + S.T) / 2


@pytest.mark.parametrize("k", [2, 10, 16, 17, 60])
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
def test_smallest_eigenvalue_is_below_the_truth_and_close(k: int, condition: float) -> None:
    S = symmetric(np.geomspace(1.0, condition, k), seed=k)
    bound = smallest_eigenvalue(S).value
    below = fmpq_matrix(S - 0.0)
    assert 1 - 1e-8 * condition / 1e3 - 1e-12 < bound <= 1 + 1e-14 * condition
    shifted = below
    for i in range(k):
        shifted[i, i] -= fmpq_matrix(np.array([[bound]]))[0, 0]
    if k <= 17:
        assert semidefinite_witness(shifted)[0]


@pytest.mark.parametrize("k", [3, 12, 30])
def test_a_nudged_bound_would_be_false(k: int) -> None:
    S = np.diag(np.arange(2.0, 2.0 + k))
    bound = smallest_eigenvalue(S)
    assert bound.value <= 2.0
    assert bound.exact == (k <= 16)
    assert bound.value > 2.0 - 1e-9


def test_witness_of_indefiniteness_is_exact() -> None:
    rng = np.random.default_rng(0)
    for trial in range(60):
        k = 1 + trial % 6
        M = rng.integers(-3, 4, size=(k, k)).astype(float)
        M = M + M.T
        psd, singular, v = semidefinite_witness(fmpq_matrix(M))
        eigenvalues = np.linalg.eigvalsh(M)
        assert psd == (eigenvalues[0] > -1e-9)
        if psd:
            assert v is None
            assert singular == (eigenvalues[0] < 1e-9)
        else:
            assert v is not None
            assert rational_quadratic_form(fmpq_matrix(M), v) < 0


def test_zero_diagonal_with_coupling_is_indefinite() -> None:
    psd, _, v = semidefinite_witness(fmpq_matrix(np.array([[0.0, 1.0], [1.0, 0.0]])))
    assert not psd
    assert v is not None


@pytest.mark.parametrize("shape", [(3, 3), (16, 16), (30, 30), (40, 25)])
def test_norm_is_above_the_truth_and_close(shape: tuple[int, int]) -> None:
    A = np.random.default_rng(1).normal(size=shape)
    assert np.linalg.norm(A, 2) * (1 - 1e-14) <= spectral_norm(A).value <= np.linalg.norm(A, 2) * (1 + 1e-9)


def test_norm_of_simple_matrices_is_exact() -> None:
    assert spectral_norm(np.zeros((3, 3))).value == 0.0
    bound = spectral_norm(np.diag([3.0, -7.0]))
    assert (bound.value, bound.exact) == (7.0, True)


@pytest.mark.parametrize("size", [1e-6, 1e6, 1e-140, 1e140])
def test_norm_is_scale_free(size: float) -> None:
    A = np.random.default_rng(1).normal(size=(20, 20))
    assert spectral_norm(A * size).value == pytest.approx(size * np.linalg.norm(A, 2), rel=1e-9)
