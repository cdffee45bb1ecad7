"""What an instance file may say: one strict model per table, one entry per kind.

A kind that is added here (its keys, their domains, and `build`) is known to every command.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
AtLeastOne = Annotated[float, Field(ge=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, strict=True)]
Index = Annotated[int, Field(ge=0, strict=True)]


class Table(BaseModel):
    """A table of the file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DigitsData(Table):
    """scikit-learn's handwritten digits, split across clients by a seeded Dirichlet label split."""

    source: Literal["digits"]
    clients: Count
    concentration: Positive
    seed: Index
    normalise: Literal["none", "max", "unit", "standard"] = "unit"
    scale: Positive = 1.0


class SoftmaxProblem(Table):
    """L2-regularised softmax regression on the clients' data (`tradeoff` picks the (G, B) pair of Assumption 4.5)."""

    kind: Literal["softmax"]
    l2: Positive
    tradeoff: Positive = 1.0


class QuadraticsProblem(Table):
    """f_i(x) = curvature_i ||x - centre_i||^2 / 2, gradient noise of variance at most nu^2."""

    kind: Literal["quadratics"]
    curvature: list[Positive] = Field(min_length=1)
    centre: list[list[Finite]] = Field(min_length=1)
    nu: NonNegative = 0.0
    tradeoff: Positive = 1.0

    @model_validator(mode="after")
    def _shapes(self) -> QuadraticsProblem:
        if len(self.centre) != len(self.curvature):
            raise ValueError(
                f"centre has {len(self.centre)} rows: give one per curvature ({len(self.curvature)})"
            )
        if len({len(row) for row in self.centre}) != 1:
            raise ValueError("centre has rows of different lengths: give every client the same dimension")
        return self


class AffineGameTable(Table):
    """F(N) = matrix N + offset on the box."""

    kind: Literal["affine"]
    matrix: list[list[Finite]] = Field(min_length=1)
    offset: list[Finite] = Field(min_length=1)
    lower: list[AtLeastOne]
    upper: list[AtLeastOne] | Literal["sizes"]


class DiscoveryGameTable(Table):
    """Random discovery payoff from the data's label distributions, linear and congestion cost (Section 5.1)."""

    kind: Literal["discovery"]
    cost_rate: list[NonNegative] = Field(min_length=1)
    congestion: list[NonNegative] = Field(min_length=1)
    regulariser: NonNegative = 0.0
    lower: list[AtLeastOne]
    upper: list[AtLeastOne] | Literal["sizes"]


class Algorithm(Table):
    """Algorithm 1's choices. `largest` and `smallest`: as far as every hypothesis of the checked statements allows."""

    gamma: Positive | Literal["largest"] = "largest"
    gamma_tilde: Positive | Literal["largest"] = "largest"
    H: Count
    R: Count
    r_hat: Index | Literal["smallest"] = "smallest"
    N_0: list[AtLeastOne] | Literal["lower", "upper", "equilibrium"]
    x_0: Finite | Literal["minimiser"] = 0.0
    sampling: Literal["iid", "full"] = "iid"
    batch: Count = 1
    closed_form: bool = False

    @model_validator(mode="after")
    def _rounds(self) -> Algorithm:
        if isinstance(self.r_hat, int) and self.r_hat >= self.R:
            raise ValueError(f"r_hat = {self.r_hat}: give r_hat <= R - 1 = {self.R - 1}")
        return self


class RunTable(Table):
    """How many seeds, and what is measured along a run."""

    seeds: Count = 64
    seed: Index = 0
    draws: Count = 16
    horizons: Count = 12


class Check(Table):
    """Which statements, in which editions."""

    statements: list[str] = Field(min_length=1)
    editions: list[Literal["printed", "corrected", "sharp"]] = Field(min_length=1)


class Instance(Table):
    """A whole instance file."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)
    title: str = ""
    data: DigitsData | None = None
    problem: SoftmaxProblem | QuadraticsProblem = Field(discriminator="kind")
    game: AffineGameTable | DiscoveryGameTable = Field(discriminator="kind")
    algorithm: Algorithm
    run: RunTable = RunTable()
    check: Check

    @model_validator(mode="after")
    def _consistent(self) -> Instance:
        needs_data = self.problem.kind == "softmax" or self.game.kind == "discovery"
        if needs_data and self.data is None:
            raise ValueError(
                "data is missing: the softmax problem and the discovery game need a [data] table"
            )
        m = self.clients
        for key, length in self._lengths().items():
            if length != m:
                raise ValueError(f"{key} has {length} entries: give one per client ({m})")
        upper = self.game.upper
        if isinstance(upper, list):
            for i, (low, high) in enumerate(zip(self.game.lower, upper, strict=True)):
                if low > high:
                    raise ValueError(
                        f"game.lower[{i}] = {low} > game.upper[{i}] = {high}: give lower <= upper"
                    )
        if self.algorithm.closed_form and self.algorithm.N_0 != "equilibrium":
            raise ValueError(
                "algorithm.closed_form = true: it needs N_0 = 'equilibrium' (weights that do not move)"
            )
        if self.algorithm.closed_form and (
            self.problem.kind != "quadratics" or self.algorithm.sampling != "full"
        ):
            raise ValueError(
                "algorithm.closed_form = true: it needs problem.kind = 'quadratics' and sampling = 'full'"
            )
        return self

    @property
    def clients(self) -> int:
        """m."""
        if self.data is not None:
            return self.data.clients
        return len(self.problem.curvature) if isinstance(self.problem, QuadraticsProblem) else 0

    def _lengths(self) -> dict[str, int]:
        game = self.game
        lengths = {"game.lower": len(game.lower)}
        if isinstance(game.upper, list):
            lengths["game.upper"] = len(game.upper)
        if isinstance(game, AffineGameTable):
            lengths |= {"game.matrix": len(game.matrix), "game.offset": len(game.offset)}
            lengths |= {f"game.matrix[{i}]": len(row) for i, row in enumerate(game.matrix)}
        else:
            lengths |= {"game.cost_rate": len(game.cost_rate), "game.congestion": len(game.congestion)}
        if isinstance(self.algorithm.N_0, list):
            lengths["algorithm.N_0"] = len(self.algorithm.N_0)
        if isinstance(self.problem, QuadraticsProblem):
            lengths["problem.curvature"] = len(self.problem.curvature)
        return lengths
