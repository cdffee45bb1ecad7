"""The participation games: one table per kind, with its keys, their domains, and how it is built."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Discriminator, Field, Tag, model_validator

import games
from games.base import Game
from verify.schema.base import (
    Arguments,
    Finite,
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
from verify.schema.problems import kind_of

Numbers = NonNegative | list[NonNegative]
Box = tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]


class GameTable(Table):
    """One kind of game."""

    @property
    def m(self) -> int | None:
        """The number of clients, where the table itself says it."""
        return None

    @abstractmethod
    def build(self, data: ClientData | None, sizes: Float[np.ndarray, " m"]) -> Game:
        """The game.

        Args:
            sizes: how many samples each client holds.

        Raises:
            ValueError: if the numbers do not fit.
        """


class BoxTable(GameTable):
    """A game whose box [lower, upper] the file gives; `upper = "sizes"`: all the samples a client holds.

    With `beyond_samples = true` a bound may exceed a client's samples (participation then only sets the weights).
    """

    lower: list[NonNegative] = Field(min_length=1)
    upper: list[NonNegative] | Literal["sizes"]
    beyond_samples: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> BoxTable:
        if isinstance(self.upper, list) and len(self.upper) == len(self.lower):
            for i, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
                if low > high:
                    raise ValueError(f"lower[{i}] = {low} > upper[{i}] = {high}: give lower <= upper")
        return self

    @property
    def m(self) -> int | None:
        return len(self.lower)

    def lengths(self) -> dict[str, int]:
        return per_client(lower=self.lower, upper=self.upper)

    def build(self, data: ClientData | None, sizes: Float[np.ndarray, " m"]) -> Game:
        lower = np.array(self.lower)
        upper = sizes if self.upper == "sizes" else np.array(self.upper)
        if data is not None and not self.beyond_samples and np.any(upper > sizes):
            i = int(np.argmax(upper - sizes))
            raise ValueError(
                f"game.upper[{i}] = {upper[i]:g}: client {i} has only {sizes[i]:g} samples "
                "(beyond_samples = true allows it)"
            )
        if np.any(lower > upper):
            i = int(np.argmax(lower - upper))
            raise ValueError(f"game.lower[{i}] = {lower[i]:g} > upper = {upper[i]:g}: give lower <= upper")
        return self.on_box(data, (lower, upper))

    @abstractmethod
    def on_box(self, data: ClientData | None, box: Box) -> Game:
        """The game on its box."""


class AffineGameTable(BoxTable):
    """F(N) = matrix N + offset on the box."""

    kind: Literal["affine"]
    matrix: Rows
    offset: Vector

    def lengths(self) -> dict[str, int]:
        rows = {f"matrix[{i}]": len(row) for i, row in enumerate(self.matrix)}
        return super().lengths() | per_client(matrix=self.matrix, offset=self.offset) | rows

    def on_box(self, data: ClientData | None, box: Box) -> Game:
        return games.AffineGame(np.array(self.matrix), np.array(self.offset), *box)


class LowRankGameTable(BoxTable):
    """F(N) = diag(diagonal) N + U V' N + offset, U and V with a row per client."""

    kind: Literal["low_rank"]
    diagonal: Vector
    U: Rows
    V: Rows
    offset: Vector

    @model_validator(mode="after")
    def _rank(self) -> LowRankGameTable:
        same_width("U and V", [*self.U, *self.V])
        return self

    def lengths(self) -> dict[str, int]:
        return super().lengths() | per_client(diagonal=self.diagonal, U=self.U, V=self.V, offset=self.offset)

    def on_box(self, data: ClientData | None, box: Box) -> Game:
        return games.LowRankGame(self.diagonal, self.U, self.V, self.offset, *box)


class LabelledTable(BoxTable):
    """A game of label distributions: the data's, or `labels` with a row per client."""

    labels: list[Annotated[list[NonNegative], Field(min_length=1)]] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _classes(self) -> LabelledTable:
        if self.labels is not None:
            same_width("labels", self.labels)
        return self

    def lengths(self) -> dict[str, int]:
        return super().lengths() | per_client(labels=self.labels)

    def distributions(self, data: ClientData | None) -> Float[np.ndarray, "m t"]:
        """Q, a row per client."""
        if self.labels is not None:
            return np.array(self.labels)
        assert data is not None  # the instance asks for a [data] table where `labels` are not given
        return data.distributions


class DiscoveryGameTable(LabelledTable):
    """Random discovery payoff of the label distributions; linear, quadratic (`regulariser`) and congestion cost
    (Section 5.1)."""

    kind: Literal["discovery"]
    cost_rate: Numbers
    congestion: Numbers = 0.0
    regulariser: NonNegative = 0.0

    def lengths(self) -> dict[str, int]:
        return super().lengths() | per_client(cost_rate=self.cost_rate, congestion=self.congestion)

    def on_box(self, data: ClientData | None, box: Box) -> Game:
        return games.DiscoveryGame(
            self.distributions(data), self.cost_rate, *box,
            regulariser=self.regulariser, congestion=self.congestion,
        )  # fmt: skip


class CostlyDiscoveryTable(LabelledTable):
    """The discovery payoff with linear, quadratic, congestion and exponential cost scale (exp(rate N) - 1)."""

    kind: Literal["costly_discovery"]
    cost_rate: Numbers
    quadratic: Numbers = 0.0
    congestion: Numbers = 0.0
    scale: Numbers = 0.0
    rate: Numbers = 0.0

    def lengths(self) -> dict[str, int]:
        costs = per_client(
            cost_rate=self.cost_rate, quadratic=self.quadratic, congestion=self.congestion,
            scale=self.scale, rate=self.rate,
        )  # fmt: skip
        return super().lengths() | costs

    def on_box(self, data: ClientData | None, box: Box) -> Game:
        return games.CostlyDiscoveryGame(
            self.distributions(data), self.cost_rate, *box,
            self.quadratic, self.congestion, self.scale, self.rate,
        )  # fmt: skip


class ConcaveDiscoveryTable(LabelledTable):
    """Payoff worth log(1 + q_i Q' N): diminishing returns; linear and quadratic cost."""

    kind: Literal["concave_discovery"]
    cost_rate: Numbers
    quadratic: Numbers = 0.0
    worth: Positive = 1.0

    def lengths(self) -> dict[str, int]:
        return super().lengths() | per_client(cost_rate=self.cost_rate, quadratic=self.quadratic)

    def on_box(self, data: ClientData | None, box: Box) -> Game:
        return games.ConcaveDiscoveryGame(
            self.distributions(data), self.cost_rate, *box, self.quadratic, self.worth
        )


class CommonPoolTable(BoxTable):
    """F(N) = weight (sum_j N_j - target) 1: merely monotone, a continuum of equilibria."""

    kind: Literal["common_pool"]
    target: Finite
    weight: Positive = 1.0

    def on_box(self, data: ClientData | None, box: Box) -> Game:
        return games.CommonPoolGame(self.target, *box, self.weight)


class SmoothPoolTable(BoxTable):
    """F(N) = weight (sum_j N_j - target)^3 1: merely monotone and nonlinear."""

    kind: Literal["smooth_pool"]
    target: Finite
    weight: Positive = 1.0

    def on_box(self, data: ClientData | None, box: Box) -> Game:
        return games.SmoothPoolGame(self.target, *box, self.weight)


class SkewTable(BoxTable):
    """F(N) = (P R' - R P' + B B') N + offset: skew plus semidefinite, P, R, B with a row per client."""

    kind: Literal["skew"]
    P: Rows
    R: Rows
    B: Rows | None = None
    offset: Vector

    @model_validator(mode="after")
    def _rank(self) -> SkewTable:
        same_width("P and R", [*self.P, *self.R])
        if self.B is not None:
            same_width("B", self.B)
        return self

    def lengths(self) -> dict[str, int]:
        return super().lengths() | per_client(P=self.P, R=self.R, B=self.B, offset=self.offset)

    def on_box(self, data: ClientData | None, box: Box) -> Game:
        return games.SkewGame(self.P, self.R, self.offset, *box, self.B)


class PowerLawTable(BoxTable):
    """The zero-sum game of Section 5.3: a_i(N) = 1 - alpha_i ||N||_1^(-beta_i). Not monotone in general."""

    kind: Literal["power_law"]
    alpha: list[Positive]
    beta: list[Annotated[float, Field(gt=0, le=1)]]

    def lengths(self) -> dict[str, int]:
        return super().lengths() | per_client(alpha=self.alpha, beta=self.beta)

    def on_box(self, data: ClientData | None, box: Box) -> Game:
        return games.PowerLawGame(self.alpha, self.beta, *box)


class GivenConstants(Table):
    """A user's word on the constants of a user's own game."""

    L_F: Positive
    mu_F: NonNegative | None = None
    C_F: NonNegative | None = None


class PythonGame(GameTable):
    """A user's own game: the class or function is called with `arguments` and gives lower, upper and F(N), or a
    `games.Game`. `constants` are its L_F and, where known, mu_F and C_F (a `games.Game` brings its own)."""

    kind: str = Field(pattern=PATTERN)
    arguments: Arguments = Field(default_factory=dict)
    constants: GivenConstants | None = None

    def build(self, data: ClientData | None, sizes: Float[np.ndarray, " m"]) -> Game:
        make = load(self.kind)
        with users_code(self.kind):
            game: Any = make(**self.arguments)
            if not isinstance(game, Game):
                if self.constants is None:
                    raise ValueError("give game.constants with L_F (and mu_F, C_F where known)")
                given = self.constants.model_dump(exclude_none=True)
                game = games.UserGame(game, given)
        found: Game = game
        return found


AnyGame = Annotated[
    Annotated[AffineGameTable, Tag("affine")]
    | Annotated[LowRankGameTable, Tag("low_rank")]
    | Annotated[DiscoveryGameTable, Tag("discovery")]
    | Annotated[CostlyDiscoveryTable, Tag("costly_discovery")]
    | Annotated[ConcaveDiscoveryTable, Tag("concave_discovery")]
    | Annotated[CommonPoolTable, Tag("common_pool")]
    | Annotated[SmoothPoolTable, Tag("smooth_pool")]
    | Annotated[SkewTable, Tag("skew")]
    | Annotated[PowerLawTable, Tag("power_law")]
    | Annotated[PythonGame, Tag("python")],
    Discriminator(kind_of),
]
