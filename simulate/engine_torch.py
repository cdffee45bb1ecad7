"""The torch engine (extra `nn`): the same [S, m, ...] layout through torch.func, on the CPU or any device.

Gradients come from automatic differentiation of the sample losses written below, so this engine is also an
independent check of every hand-written gradient. Sample indices are the streams' own, made by numpy.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from simulate.config import RunConfig
from simulate.indices import pieces
from simulate.observe import Observer
from simulate.problems.base import Problem
from simulate.problems.convolution import ConvolutionalNetwork
from simulate.problems.linear import LinearModel
from simulate.problems.network import TwoLayerNetwork
from simulate.problems.quadratics import Quadratics
from simulate.problems.softmax import SoftmaxRegression

try:
    import torch
except ImportError:
    raise ValueError("engine = 'torch': torch is not installed; pip install 'boundaudit[nn]'") from None

GROUP = 16  # seeds differentiated together: a constant of the engine, see `padded_slots`
SampleLoss = Callable[[Any, Any, Any], Any]  # (x [n], rows [batch], client) -> mean loss of the rows


def device() -> Any:
    """The device to run on: the environment's BOUNDAUDIT_DEVICE ("cpu", "cuda", ...), else the CPU.

    Raises:
        ValueError: for a device that torch cannot use here.
    """
    name = os.environ.get("BOUNDAUDIT_DEVICE", "cpu")
    try:
        return torch.zeros(1, device=name).device
    except (RuntimeError, AssertionError):
        raise ValueError(f"BOUNDAUDIT_DEVICE = {name!r}: torch has no such device here") from None


def run_block(
    problem: Problem,
    config: RunConfig,
    N: Float[np.ndarray, "rounds m"],
    p: Float[np.ndarray, "rounds m"],
    observer: Observer,
    seeds: Int[np.ndarray, " S"],
) -> None:
    """Runs Algorithm 1 for the block's seeds and shows the iterates to `observer`."""
    target = device()
    gradient = torch.func.grad(sample_loss(problem, target))
    slots, where = padded_slots(seeds)
    present = np.isin(slots, seeds)
    padded = np.where(present, slots, seeds[0])
    x_hat = _tensor(np.repeat(config.x_0[None], len(slots), axis=0).astype(problem.dtype), target)
    weights = _tensor(p.astype(problem.dtype), target)
    source = None if config.sampling == "full" else pieces(problem, config, N, padded)
    first, last, index = 0, 0, torch.empty(0)
    for r in range(config.R):
        if source is not None and r == last:
            first, last, drawn = next(source)
            index = _tensor(drawn.astype(np.int64) + problem.first[:, None, None], target)
        observer.round_start(r, x_hat[where].cpu().numpy())
        x = x_hat[:, None, :].repeat(1, problem.m, 1)
        for h in range(config.H):
            k = r * config.H + h
            if observer.due(k):
                observer.step(k, x[where].cpu().numpy())
            rows = None if source is None else index[:, :, k - first * config.H]
            x -= config.gamma * _gradients(problem, gradient, x, rows)
        observer.round_end(r)
        x_hat = weights[r + 1, 0] * x[:, 0]
        for i in range(1, problem.m):
            x_hat += weights[r + 1, i] * x[:, i]
    observer.round_start(config.R, x_hat[where].cpu().numpy())


def padded_slots(seeds: Int[np.ndarray, " S"]) -> tuple[Int[np.ndarray, " P"], Int[np.ndarray, " S"]]:
    """Seed indices in whole groups of GROUP, seed s in slot s % GROUP of its group, and where the given
    seeds stand.

    Torch's vectorised loops treat the last few elements of an array by other code than the rest, so a seed's
    bits would depend on its place in the batch. With groups of a fixed size and a fixed place in them they
    do not; the slots of absent seeds are filled with copies and thrown away.
    """
    groups = np.unique(seeds // GROUP)
    slots = (groups[:, None] * GROUP + np.arange(GROUP)).ravel()
    return slots, np.searchsorted(slots, seeds)


def _gradients(problem: Problem, gradient: Any, x: Any, rows: Any) -> Any:
    """Gradients at x [P, m, n] for the rows [P, m, batch] (None: all of each client's), group by group."""
    clients = torch.arange(problem.m, device=x.device)
    if rows is None:
        firsts, sizes = problem.first.tolist(), problem.sizes.tolist()
        all_rows = [torch.arange(a, a + size, device=x.device) for a, size in zip(firsts, sizes, strict=True)]
        points = [
            [gradient(x[s, i], all_rows[i], clients[i]) for i in range(problem.m)] for s in range(len(x))
        ]
        return torch.stack([torch.stack(row) for row in points])
    stacked = torch.func.vmap(gradient)
    parts = [
        stacked(x[a : a + GROUP].flatten(0, 1), rows[a : a + GROUP].flatten(0, 1), clients.repeat(GROUP))
        for a in range(0, len(x), GROUP)
    ]
    return torch.cat(parts).reshape(x.shape)


def _tensor(array: np.ndarray, target: Any) -> Any:
    return torch.as_tensor(np.ascontiguousarray(array), device=target)


def sample_loss(problem: Problem, target: Any) -> SampleLoss:
    """The mean loss over given rows of the joined samples, for torch.func.

    Raises:
        ValueError: for a problem that has no torch form.
    """
    for kind, build in BUILDERS.items():
        if isinstance(problem, kind):
            return build(problem, target)
    raise ValueError(f"engine = 'torch' does not know {problem.name}; use 'numpy'")


def _cross_entropy(z: Any, y: Any) -> Any:
    # Written out: torch's own one_hot looks at the labels' values, which vmap forbids.
    chosen = (y[:, None] == torch.arange(z.shape[-1], device=y.device)).to(z.dtype)
    return (torch.logsumexp(z, dim=-1) - (z * chosen).sum(dim=-1)).mean()


def _softmax(problem: SoftmaxRegression, target: Any) -> SampleLoss:
    A, y = _tensor(problem.A, target), _tensor(problem.y, target)

    def loss(x: Any, rows: Any, client: Any) -> Any:
        W = x.reshape(problem.classes, problem.d)
        return _cross_entropy(A[rows] @ W.T, y[rows]) + 0.5 * problem.regulariser * (x * x).sum()

    return loss


def _linear(problem: LinearModel, target: Any) -> SampleLoss:
    A, b = _tensor(problem.A, target), _tensor(problem.b, target)
    kind, weight = problem.scalar.kind, problem.regulariser.weight

    def loss(x: Any, rows: Any, client: Any) -> Any:
        z, t = A[rows] @ x, b[rows]
        each = (0.5 * (z - t) ** 2, torch.nn.functional.softplus(-t * z), -torch.expm1(-0.5 * (z - t) ** 2))[
            kind
        ]
        rho = 0.5 * x * x if problem.regulariser.kind == 0 else x * x / (1 + x * x)
        return each.mean() + weight * rho.sum()

    return loss


def _quadratics(problem: Quadratics, target: Any) -> SampleLoss:
    A, c = _tensor(problem.matrices(), target), _tensor(problem.c, target)
    atoms = _tensor(problem.atoms.reshape(-1, problem.n), target)

    def loss(x: Any, rows: Any, client: Any) -> Any:
        one = client.reshape(1)  # a scalar index would ask for its value, which vmap forbids
        y = x - c[one][0]
        return 0.5 * (y * (A[one][0] @ y)).sum() + (atoms[rows].mean(dim=0) * x).sum()

    return loss


def _two_layers(problem: TwoLayerNetwork, target: Any) -> SampleLoss:
    A, y = _tensor(problem.A, target), _tensor(problem.y, target)

    def loss(x: Any, rows: Any, client: Any) -> Any:
        X1 = x[: problem.split].reshape(problem.width, problem.hidden)
        X2 = x[problem.split :].reshape(-1, problem.classes)
        z = torch.tanh(A[rows] @ X1) @ X2[:-1] + X2[-1]
        return _cross_entropy(z, y[rows]) + 0.5 * problem.regulariser * (x * x).sum()

    return loss


def _convolutional(problem: ConvolutionalNetwork, target: Any) -> SampleLoss:
    A, y = _tensor(problem.A, target), _tensor(problem.y, target)
    functional = torch.nn.functional

    def loss(x: Any, rows: Any, client: Any) -> Any:
        W1, b1, W2, b2, W3, b3 = problem.parts(x)
        hidden = functional.avg_pool2d(torch.tanh(functional.conv2d(A[rows], W1, b1)), 2)
        hidden = functional.avg_pool2d(torch.tanh(functional.conv2d(hidden, W2, b2)), 2)
        z = hidden.reshape(len(rows), -1) @ W3.T + b3
        return _cross_entropy(z, y[rows]) + 0.5 * problem.regulariser * (x * x).sum()

    return loss


BUILDERS: dict[type, Callable[[Any, Any], SampleLoss]] = {
    SoftmaxRegression: _softmax,
    LinearModel: _linear,
    Quadratics: _quadratics,
    TwoLayerNetwork: _two_layers,
    ConvolutionalNetwork: _convolutional,
}
