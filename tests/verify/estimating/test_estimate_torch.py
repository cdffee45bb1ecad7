"""A torch module as clients: the same numbers as the formulas."""

import numpy as np
import pytest

from verify.constants import Effort, attack, estimate
from verify.estimating.torch_clients import clients_of_module

torch = pytest.importorskip("torch", reason="the extra `nn` (torch) is not installed")


def regression(m: int = 2) -> tuple:
    """Least squares by a linear layer: f_i = mean (a_j'x - b_j)^2, so that L = 2 max lambda_max(A'A/D)."""
    rng = np.random.default_rng(0)
    data = [(rng.standard_normal((6, 3)), rng.standard_normal((6, 1))) for _ in range(m)]
    tensors = [(torch.tensor(a), torch.tensor(b)) for a, b in data]
    layer = torch.nn.Linear(3, 1, bias=False)
    return data, clients_of_module(layer, torch.nn.functional.mse_loss, tensors)


def test_gradients_are_those_of_the_formula() -> None:
    data, (clients, x_0) = regression()
    assert x_0.shape == (3,)
    for (a, b), client in zip(data, clients, strict=True):
        residual = a @ x_0 - b[:, 0]
        assert client.loss(x_0) == pytest.approx(np.mean(residual**2), rel=1e-12)
        assert client.gradient(x_0) == pytest.approx(2 * a.T @ residual / 6, rel=1e-12)
        draws = client.sampler(x_0, np.random.default_rng(1), 40)
        each = 2 * a * residual[:, None]
        assert all(np.min(np.abs(each - d).max(axis=1)) < 1e-12 for d in draws)


def test_L_is_that_of_least_squares() -> None:
    data, (clients, x_0) = regression()
    L = max(2 * np.linalg.eigvalsh(a.T @ a / 6)[-1] for a, _ in data)
    found = estimate(clients, x_0, radius=2.0, seed=0, effort=Effort(2, 8, 16))
    assert 0.999 * L <= float(found["L"].value) <= L * (1 + 1e-9)
    assert attack("L", 0.95 * L, clients=clients, x_0=x_0, radius=2.0, effort=Effort(2, 8, 16)).beaten


def test_a_small_network_has_finite_estimates() -> None:
    rng = np.random.default_rng(1)
    data = [
        (torch.tensor(rng.standard_normal((8, 2)), dtype=torch.float32), torch.tensor(rng.integers(0, 2, 8)))
        for _ in range(2)
    ]
    net = torch.nn.Sequential(
        torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Dropout(), torch.nn.Linear(3, 2)
    )
    clients, x_0 = clients_of_module(net, torch.nn.functional.cross_entropy, data)
    first, second = (estimate(clients, x_0, radius=1.0, seed=0, effort=Effort(1, 3, 8)) for _ in range(2))
    for name in ("L", "nu", "G", "f_gap"):
        assert np.isfinite(float(first[name].value))
        assert float(first[name].value) == float(second[name].value)  # dropout is off
