"""A torch module with each client's data, as callables on one flat parameter vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from verify.errors import InputError
from verify.estimating.clients import Client, Point


def clients_of_module(
    module: Any, loss: Callable[[Any, Any], Any], data: Sequence[tuple[Any, Any]]
) -> tuple[tuple[Client, ...], Point]:
    """(one `Client` for each (inputs, targets), the module's parameters as x_0, float64).

    A sample is one row; a draw is uniform with replacement. The module is copied to float64 and put in evaluation mode,
    so that dropout and the like add no noise of their own.

    Args:
        module: a `torch.nn.Module`; loss: (outputs, targets) to a scalar tensor, the mean over the rows; data: tensors.

    Raises:
        InputError: torch is not installed, no data, or inputs and targets of different lengths.
    """
    try:
        import torch
    except ImportError:
        raise InputError(
            "torch is not installed: install the extra nn to estimate a module's constants"
        ) from None
    if not data:
        raise InputError("data is empty: give (inputs, targets) for each client")
    for i, (inputs, targets) in enumerate(data):
        if len(inputs) == 0 or len(inputs) != len(targets):
            raise InputError(
                f"data[{i}]: {len(inputs)} inputs, {len(targets)} targets: give as many of each, at least one"
            )
    import copy

    model = copy.deepcopy(module).double().eval()
    names = [name for name, _ in model.named_parameters()]
    shapes = [p.shape for p in model.parameters()]
    x_0 = torch.cat([p.detach().reshape(-1) for p in model.parameters()]).numpy().copy()
    cuts = np.cumsum([int(np.prod(s)) for s in shapes])[:-1].tolist()

    def value(flat: Any, inputs: Any, targets: Any) -> Any:
        parts = torch.tensor_split(flat, cuts)
        named = {name: part.reshape(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}
        return loss(torch.func.functional_call(model, named, (inputs,)), targets)

    slope = torch.func.grad(value)

    def client(inputs: Any, targets: Any) -> Client:
        inputs = inputs.double() if inputs.is_floating_point() else inputs

        def draws(x: Point, rng: np.random.Generator, count: int) -> Float[np.ndarray, "count n"]:
            rows = rng.integers(len(inputs), size=count)
            flat = torch.from_numpy(np.ascontiguousarray(x))
            return np.stack([slope(flat, inputs[[j]], targets[[j]]).numpy() for j in rows.tolist()])

        return Client(
            loss=lambda x: float(value(torch.from_numpy(np.ascontiguousarray(x)), inputs, targets)),
            gradient=lambda x: slope(torch.from_numpy(np.ascontiguousarray(x)), inputs, targets).numpy(),
            sampler=draws,
        )

    return tuple(client(a, y) for a, y in data), x_0
