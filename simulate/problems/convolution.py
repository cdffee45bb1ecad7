"""A small convolutional network of our own: Section 5.1 says "a convolutional neural network architecture
... with two convolutional layers followed by fully connected layers" and prints none, so this one is
labelled as ours.

conv 3 x 3 (valid) -> tanh -> 2 x 2 mean -> conv 3 x 3 (valid) -> tanh -> 2 x 2 mean -> fully connected ->
softmax. Smooth throughout (tanh and means, no ReLU and no maximum), so that Assumption 2.1(i) can hold on
bounded sets. Odd rows and columns are cropped before a mean. Constants are estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.lib.stride_tricks import sliding_window_view

from bounds.core.constant import Constant
from simulate.problems.chain import Network
from simulate.streams import Purpose, generator


class ConvolutionalNetwork(Network):
    """The CNN of the module's text on images given as flat features.

    Args:
        features: per client, [D_i, channels * height * width], channel by channel as in CIFAR-10's binary
            files.
        labels: per client, integers in [0, classes).
        shape: (channels, height, width), height and width >= 10.
        filters: numbers of filters of the two convolutions.

    Raises:
        ValueError: for features that do not have the shape, or images too small.
    """

    name = "convolutional-network"

    def __init__(
        self,
        features: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        classes: int,
        shape: tuple[int, int, int],
        filters: tuple[int, int] = (4, 8),
        *,
        regulariser: float = 0.0,
        dtype: type = np.float64,
    ) -> None:
        joined = self.set_data(features, labels, classes, regulariser, dtype)
        channels, height, width = shape
        if joined.shape[1] != channels * height * width or min(height, width) < 10 or min(filters) < 1:
            width_given = joined.shape[1]
            raise ValueError(
                f"shape = {shape}, filters = {filters}: {width_given} features, 10 x 10 at least"
            )
        self.A = np.ascontiguousarray(joined.reshape(-1, *shape), dtype=dtype)
        self.shape, self.filters = shape, filters
        inner = tuple(((side - 2) // 2 - 2) // 2 for side in (height, width))
        flat = filters[1] * inner[0] * inner[1]
        self.shapes = (
            (filters[0], channels, 3, 3),
            (filters[0],),
            (filters[1], filters[0], 3, 3),
            (filters[1],),
            (classes, flat),
            (classes,),
        )
        self.cuts = np.cumsum([0, *(int(np.prod(s)) for s in self.shapes)]).tolist()
        self.n = self.cuts[-1]

    def content(self) -> dict[str, Any]:
        return {
            "A": self.A,
            "y": self.y,
            "sizes": self.sizes,
            "filters": self.filters,
            "regulariser": self.regulariser,
        }

    def parts(self, x: Any) -> list[Any]:
        """Weights and biases, views of x: conv 1, conv 2, fully connected."""
        return [x[a:b].reshape(s) for a, b, s in zip(self.cuts[:-1], self.cuts[1:], self.shapes, strict=True)]

    def random_start(self, seed: int, scale: float = 1.0) -> Float[np.ndarray, " n"]:
        rng = generator(seed, 0, 0, Purpose.START)
        fan_in = [9 * self.shapes[0][1]] * 2 + [9 * self.filters[0]] * 2 + [self.shapes[4][1]] * 2
        pieces = [
            rng.standard_normal(s).ravel() / np.sqrt(f) for s, f in zip(self.shapes, fan_in, strict=True)
        ]
        return scale * np.concatenate(pieces)

    def _forward(
        self, x: Float[np.ndarray, " n"], image: Float[np.ndarray, "b c h w"]
    ) -> tuple[list[np.ndarray], Float[np.ndarray, "b k"]]:
        """[windows, tanh] of both convolutions and the flat features; logits less each row's largest."""
        W1, b1, W2, b2, W3, b3 = self.parts(x)
        kept = []
        for W, b in ((W1, b1), (W2, b2)):
            windows = sliding_window_view(image, (3, 3), axis=(2, 3))
            active = np.tanh(np.tensordot(windows, W, axes=([1, 4, 5], [1, 2, 3])) + b)  # [b, h, w, filter]
            kept += [windows, active]
            image = _means(active).transpose(0, 3, 1, 2)
        flat = np.ascontiguousarray(image).reshape(len(image), -1)
        z = flat @ W3.T + b3
        z -= z.max(axis=1, keepdims=True)
        return [*kept, flat], z

    def logits(
        self, x: Float[np.ndarray, " n"], rows: slice | Int[np.ndarray, " b"]
    ) -> Float[np.ndarray, "b c"]:
        return self._forward(x, self.A[rows])[1]

    def mean_gradient(
        self, x: Float[np.ndarray, " n"], rows: slice | Int[np.ndarray, " b"]
    ) -> Float[np.ndarray, " n"]:
        x = np.ascontiguousarray(x, dtype=self.dtype)
        image, y = self.A[rows], self.y[rows]
        (windows1, active1, windows2, active2, flat), z = self._forward(x, image)
        _, _, W2, _, W3, _ = self.parts(x)
        np.exp(z, out=z)
        z /= z.sum(axis=1, keepdims=True)
        z[np.arange(len(y)), y] -= 1.0
        pooled = (z @ W3).reshape(len(y), self.filters[1], *(side // 2 for side in active2.shape[1:3]))
        back2 = _spread(pooled.transpose(0, 2, 3, 1), active2.shape) * (1.0 - active2 * active2)
        g2 = np.tensordot(back2, windows2, axes=([0, 1, 2], [0, 2, 3]))
        padded = np.pad(back2, ((0, 0), (2, 2), (2, 2), (0, 0)))
        turned = sliding_window_view(padded, (3, 3), axis=(1, 2))  # [b, h, w, filter, 3, 3]
        below = np.tensordot(turned, W2[:, :, ::-1, ::-1], axes=([3, 4, 5], [0, 2, 3]))
        back1 = _spread(below, active1.shape) * (1.0 - active1 * active1)
        g1 = np.tensordot(back1, windows1, axes=([0, 1, 2], [0, 2, 3]))
        parts = [g1, back1.sum(axis=(0, 1, 2)), g2, back2.sum(axis=(0, 1, 2)), z.T @ flat, z.sum(axis=0)]
        g = np.concatenate([part.ravel() for part in parts])
        g /= len(y)
        g += self.dtype(self.regulariser) * x
        return g

    def sample_gradient(self, i: int, x: Float[np.ndarray, " n"], j: int) -> Float[np.ndarray, " n"]:
        """One sample's gradient, its convolutions as plain loops over the image."""
        image, y = self.A[self.first[i] + j].astype(float), int(self.y[self.first[i] + j])
        W1, b1, W2, b2, W3, b3 = self.parts(np.asarray(x, dtype=float))
        first = np.tanh(_convolve(image, W1, b1))
        small1 = _pool(first)
        second = np.tanh(_convolve(small1, W2, b2))
        small2 = _pool(second)
        z = W3 @ small2.ravel() + b3
        residual = np.exp(z - z.max()) / np.exp(z - z.max()).sum() - np.eye(self.classes)[y]
        back2 = _unpool((W3.T @ residual).reshape(small2.shape), second.shape) * (1 - second**2)
        g2, below = _pull_back(small1, W2, back2)
        back1 = _unpool(below, first.shape) * (1 - first**2)
        g1, _ = _pull_back(image, W1, back1)
        sums = [back.sum(axis=(1, 2)) for back in (back1, back2)]
        parts = [g1, sums[0], g2, sums[1], np.outer(residual, small2.ravel()), residual]
        return np.concatenate([part.ravel() for part in parts]) + self.regulariser * x

    def constants(
        self,
        p_star: Float[np.ndarray, " m"],
        *,
        sampling: str = "iid",
        batch: int = 1,
        replacement: str = "with",
    ) -> dict[str, Constant]:
        """See `Problem.constants`; all estimates."""
        return self.estimated_constants(sampling, batch, replacement)

    def displacement_ceiling(self, x_0: Float[np.ndarray, " n"], gamma: float, K: int) -> float:
        """Infinite: none is known."""
        return float("inf")


def _means(active: Float[np.ndarray, "b h w k"]) -> Float[np.ndarray, "b p q k"]:
    """2 x 2 means, an odd last row or column left out."""
    b, h, w, k = active.shape
    return active[:, : h // 2 * 2, : w // 2 * 2].reshape(b, h // 2, 2, w // 2, 2, k).mean(axis=(2, 4))


def _spread(small: Float[np.ndarray, "b p q k"], shape: tuple[int, ...]) -> np.ndarray:
    """The transpose of `_means`: each entry's quarter to the four it came from."""
    out = np.zeros(shape, dtype=small.dtype)
    large = np.repeat(np.repeat(small, 2, axis=1), 2, axis=2) / small.dtype.type(4)
    out[:, : large.shape[1], : large.shape[2]] = large
    return out


def _convolve(image: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    height, width = image.shape[1] - 2, image.shape[2] - 2
    out = np.empty((len(W), height, width))
    for u in range(height):
        for v in range(width):
            patch = image[:, u : u + 3, v : v + 3]
            out[:, u, v] = [np.sum(w * patch) for w in W] + b
    return out


def _pull_back(image: np.ndarray, W: np.ndarray, back: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    g, below = np.zeros_like(W), np.zeros_like(image)
    for f in range(len(W)):
        for u in range(back.shape[1]):
            for v in range(back.shape[2]):
                g[f] += back[f, u, v] * image[:, u : u + 3, v : v + 3]
                below[:, u : u + 3, v : v + 3] += back[f, u, v] * W[f]
    return g, below


def _pool(image: np.ndarray) -> np.ndarray:
    k, h, w = image.shape
    out = np.empty((k, h // 2, w // 2))
    for u in range(h // 2):
        for v in range(w // 2):
            out[:, u, v] = image[:, 2 * u : 2 * u + 2, 2 * v : 2 * v + 2].mean(axis=(1, 2))
    return out


def _unpool(small: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    out = np.zeros(shape)
    for u in range(small.shape[1]):
        for v in range(small.shape[2]):
            out[:, 2 * u : 2 * u + 2, 2 * v : 2 * v + 2] = small[:, u, v, None, None] / 4
    return out
