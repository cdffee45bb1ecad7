"""The learning problems: one table per kind, with its keys, their domains, and how it is built."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag, model_validator

from simulate.problems import (
    ConvolutionalNetwork,
    LeastSquares,
    LogisticRegression,
    Problem,
    Quadratics,
    SaturatingLogistic,
    SoftmaxRegression,
    TwoLayerNetwork,
    WelschRegression,
    antipodal_noise,
)
from verify.schema.base import (
    Arguments,
    Count,
    Few,
    Finite,
    Index,
    NonNegative,
    Positive,
    Rows,
    Table,
    Vector,
    per_client,
    same_width,
)
from verify.schema.code import PATTERN, load, users_code
from verify.schema.data import ClientData


class ProblemTable(Table):
    """One kind of learning problem."""

    needs_data: ClassVar[bool] = True

    @property
    def m(self) -> int | None:
        """The number of clients, where the table itself says it."""
        return None

    @property
    def curvature_floor(self) -> float | None:
        """A proven lower bound on the curvature of every f_i (None where none is known)."""
        return None

    @property
    def convex(self) -> bool | None:
        """Whether every f_i is convex (None: not known)."""
        return True if self.curvature_floor is not None else None

    @property
    def noise(self) -> float | None:
        """nu, where the file declares it."""
        return None

    @property
    def region(self) -> float | None:
        """The radius of the ball about 0 on which L, nu, G and B hold (None: everywhere, as far as they are known)."""
        return None

    @abstractmethod
    def build(self, data: ClientData | None) -> Problem:
        """The problem.

        Raises:
            ValueError: if the numbers do not fit.
        """

    def options(self) -> dict[str, Any]:
        """Keyword arguments of the problem's `constants`."""
        return {}


class NoiseTable(Table):
    """Bounded noise: `atoms` vectors (and their negatives) of mean square `scale`^2, drawn by a law."""

    law: Literal["sphere", "cube", "rademacher", "rare"]
    scale: Positive
    atoms: Few = 64
    seed: Index = 0


class QuadraticsProblem(ProblemTable):
    """f_i(x) = (x - centre_i)^T A_i (x - centre_i) / 2. `curvature`: a number per client (A_i = c I), a row per
    client (the diagonal) or a matrix per client. `nu` declares a noise level, `noise` makes one."""

    kind: Literal["quadratics"]
    curvature: list[Positive] | list[list[NonNegative]] | list[Rows] = Field(min_length=1)
    centre: Rows
    nu: NonNegative = 0.0
    noise_law: NoiseTable | None = None
    samples: Few = 1
    tradeoff: Positive = 1.0
    needs_data: ClassVar[bool] = False

    @model_validator(mode="after")
    def _shapes(self) -> QuadraticsProblem:
        m = len(self.curvature)
        if len(self.centre) != m:
            raise ValueError(f"centre has {len(self.centre)} rows: give one per curvature ({m})")
        if len({len(row) for row in self.centre}) != 1:
            raise ValueError("centre has rows of different lengths: give every client the same dimension")
        n = len(self.centre[0])
        for i, entry in enumerate(self.curvature):
            if isinstance(entry, list) and (
                len(entry) != n or any(isinstance(row, list) and len(row) != n for row in entry)
            ):
                raise ValueError(
                    f"curvature[{i}] does not fit centre[{i}]: give {n} numbers, or a {n} x {n} matrix"
                )
        if self.noise_law is not None and (self.nu > 0 or self.samples > 1):
            raise ValueError("noise_law makes the samples and nu: leave out nu and samples")
        return self

    @property
    def m(self) -> int | None:
        return len(self.curvature)

    @property
    def curvature_floor(self) -> float | None:
        """The least entry of diagonal curvatures; 0 for matrices, which the constructor proves semidefinite."""
        entries = np.array(self.curvature)
        return float(entries.min()) if entries.ndim < 3 else 0.0

    @property
    def diagonals(self) -> list[list[float]] | None:
        """The curvatures as a row per client (None if they are matrices)."""
        entries = np.array(self.curvature)
        if entries.ndim == 3:
            return None
        rows = np.repeat(entries[:, None], len(self.centre[0]), axis=1) if entries.ndim == 1 else entries
        return [[float(a) for a in row] for row in rows]

    @property
    def noise(self) -> float | None:
        return self.nu if self.nu > 0 else None

    def build(self, data: ClientData | None) -> Problem:
        centre, law = np.array(self.centre), self.noise_law
        m, n = centre.shape
        atoms = None if law is None else antipodal_noise(law.law, m, n, law.scale, law.atoms, law.seed)
        return Quadratics(np.array(self.curvature), centre, atoms, self.samples)

    def options(self) -> dict[str, Any]:
        return {"t": self.tradeoff}


class LinearTable(ProblemTable):
    """A linear model: real targets, or +1 for the labels in `positive` and -1 for the others."""

    positive: list[Annotated[int, Field(ge=0, le=999)]] | None = None


class ConvexLinearTable(LinearTable):
    """A convex linear model with an L2 term."""

    l2: Positive
    tradeoff: Positive = 1.0

    @property
    def curvature_floor(self) -> float | None:
        return self.l2

    def options(self) -> dict[str, Any]:
        return {"t": self.tradeoff}


class LeastSquaresProblem(ConvexLinearTable):
    """f~_i(x, j) = (a_j^T x - b_j)^2/2 + l2 ||x||^2/2. Its sample gradients have no nu that holds for all x."""

    kind: Literal["least_squares"]

    def build(self, data: ClientData | None) -> Problem:
        assert data is not None
        return LeastSquares(data.features, data.signs(self.positive), self.l2)


class LogisticProblem(ConvexLinearTable):
    """f~_i(x, j) = log(1 + exp(-b_j a_j^T x)) + l2 ||x||^2/2, b_j = +-1."""

    kind: Literal["logistic"]

    def build(self, data: ClientData | None) -> Problem:
        assert data is not None
        return LogisticRegression(data.features, data.signs(self.positive), self.l2)


class SoftmaxProblem(ProblemTable):
    """L2-regularised softmax regression (`tradeoff` picks the (G, B) pair of Assumption 4.5)."""

    kind: Literal["softmax"]
    l2: Positive
    tradeoff: Positive = 1.0

    @property
    def curvature_floor(self) -> float | None:
        return self.l2

    def build(self, data: ClientData | None) -> Problem:
        assert data is not None
        return SoftmaxRegression(data.features, data.need_labels(), data.classes, self.l2)

    def options(self) -> dict[str, Any]:
        return {"t": self.tradeoff}


class NonconvexTable(LinearTable):
    """A linear model with the saturating regulariser; without `tradeoff` B = 0 and G bounds the gradients."""

    regulariser: NonNegative = 0.0
    tradeoff: Positive | None = None

    def options(self) -> dict[str, Any]:
        return {"t": self.tradeoff}


class WelschProblem(NonconvexTable):
    """f~_i(x, j) = 1 - exp(-(a_j^T x - b_j)^2/2) + regulariser sum_d x_d^2/(1 + x_d^2): bounded, not convex."""

    kind: Literal["welsch"]

    @property
    def convex(self) -> bool | None:
        """A bounded convex function is constant, and these losses are bounded and not all constant."""
        return False

    def build(self, data: ClientData | None) -> Problem:
        assert data is not None
        return WelschRegression(data.features, data.signs(self.positive), self.regulariser)


class SaturatingProblem(NonconvexTable):
    """f~_i(x, j) = log(1 + exp(-b_j a_j^T x)) + regulariser sum_d x_d^2/(1 + x_d^2): not convex."""

    kind: Literal["saturating"]

    @property
    def curvature_floor(self) -> float | None:
        """Without its regulariser the loss is the logistic one."""
        return 0.0 if self.regulariser == 0 else None

    @property
    def convex(self) -> bool | None:
        """Far out the logistic curvature has vanished exponentially, the regulariser's is negative like -x^-4."""
        return self.regulariser == 0

    def build(self, data: ClientData | None) -> Problem:
        assert data is not None
        return SaturatingLogistic(data.features, data.signs(self.positive), self.regulariser)


class NetworkTable(ProblemTable):
    """A network with cross-entropy and an L2 term."""

    regulariser: NonNegative = 0.0
    precision: Literal["float64", "float32"] = "float64"

    @property
    def dtype(self) -> type:
        """The numpy type of `precision`."""
        return np.float64 if self.precision == "float64" else np.float32


class TwoLayerProblem(NetworkTable):
    """A tanh network with one hidden layer (Section 5.1). Its constants are estimates, or certified for iterates
    with ||x|| <= `ball`."""

    kind: Literal["network"]
    hidden: Few
    ball: Positive | None = None

    @property
    def region(self) -> float | None:
        return self.ball

    def build(self, data: ClientData | None) -> Problem:
        assert data is not None
        return TwoLayerNetwork(
            data.features, data.need_labels(), data.classes, self.hidden,
            regulariser=self.regulariser, dtype=self.dtype,
        )  # fmt: skip

    def options(self) -> dict[str, Any]:
        return {"ball": self.ball}


class ConvolutionalProblem(NetworkTable):
    """A small convolutional network on images (data.bias = false keeps them images). All constants are
    estimates; it needs PyTorch (extra `nn`)."""

    kind: Literal["cnn"]
    filters: list[Count] = Field(default=[4, 8], min_length=2, max_length=2)

    def build(self, data: ClientData | None) -> Problem:
        assert data is not None
        _require_torch()
        if data.shape is None:
            raise ValueError(
                "problem.kind = 'cnn' needs images: give a data source of images with bias = false"
            )
        first, second = self.filters
        return ConvolutionalNetwork(
            data.features, data.need_labels(), data.classes, data.shape, (first, second),
            regulariser=self.regulariser, dtype=self.dtype,
        )  # fmt: skip


def _require_torch() -> None:
    try:
        import torch  # noqa: F401 (only whether it is there)
    except ImportError:
        raise ValueError("problem.kind = 'cnn' needs PyTorch: pip install 'boundaudit[nn]'") from None


class PythonProblem(ProblemTable):
    """A user's own `simulate.problems.Problem`: the class or function is called with `arguments`."""

    kind: str = Field(pattern=PATTERN)
    arguments: Arguments = Field(default_factory=dict)
    needs_data: ClassVar[bool] = False

    def build(self, data: ClientData | None) -> Problem:
        make = load(self.kind)
        with users_code(self.kind):
            problem = make(**self.arguments)
        if not isinstance(problem, Problem):
            raise ValueError(f"{self.kind} gave a {type(problem).__name__}: give a simulate.problems.Problem")
        return problem


def kind_of(value: Any) -> str | None:
    """The tag of a table: its kind, or "python" for a user's own."""
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    if kind is None:
        return None
    return "python" if str(kind).startswith("python:") else str(kind)


AnyProblem = Annotated[
    Annotated[QuadraticsProblem, Tag("quadratics")]
    | Annotated[LeastSquaresProblem, Tag("least_squares")]
    | Annotated[LogisticProblem, Tag("logistic")]
    | Annotated[SoftmaxProblem, Tag("softmax")]
    | Annotated[WelschProblem, Tag("welsch")]
    | Annotated[SaturatingProblem, Tag("saturating")]
    | Annotated[TwoLayerProblem, Tag("network")]
    | Annotated[ConvolutionalProblem, Tag("cnn")]
    | Annotated[PythonProblem, Tag("python")],
    Discriminator(kind_of),
]

__all__ = ["AnyProblem", "Finite", "ProblemTable", "QuadraticsProblem", "Vector", "per_client", "same_width"]
