"""What an instance file may say: one strict table per kind, with its keys, their domains and its `build`.

A kind that is added in one of these modules is known to every command.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from verify.schema.algorithm import Algorithm, Check, RandomStart, ReportTable, RunTable
from verify.schema.base import Table
from verify.schema.data import AnyData, ClientData, DataTable
from verify.schema.games import AnyGame, BoxTable, GameTable, LabelledTable
from verify.schema.problems import AnyProblem, ProblemTable, QuadraticsProblem
from verify.schema.welfare import AnyWelfare, WelfareTable

MOST_ENTRIES = 200_000_000  # of the participation path [R + 1, m]


class Instance(Table):
    """A whole instance file."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)
    title: str = Field(default="", max_length=200)
    data: AnyData | None = None
    problem: AnyProblem
    game: AnyGame
    welfare: AnyWelfare | None = None
    algorithm: Algorithm
    run: RunTable = RunTable()
    check: Check
    report: ReportTable = ReportTable()

    @model_validator(mode="after")
    def _consistent(self) -> Instance:
        self._require_data()
        m = self.clients
        if m is not None:
            for key, length in self._lengths().items():
                if length != m:
                    raise ValueError(f"{key} has {length} entries: give one per client ({m})")
            if m * self.algorithm.R > MOST_ENTRIES:
                raise ValueError(
                    f"algorithm.R = {self.algorithm.R}: give R <= {MOST_ENTRIES // m} for {m} clients"
                )
        self._require_welfare()
        self._require_closed_form()
        return self

    def _require_data(self) -> None:
        labelled = isinstance(self.game, LabelledTable) and self.game.labels is None
        if self.data is not None:
            return
        if self.problem.needs_data:
            raise ValueError(f"data is missing: problem.kind = {self.problem.kind!r} needs a [data] table")
        if labelled:
            raise ValueError(
                f"data is missing: game.kind = {self.game.kind!r} needs a [data] table or game.labels"
            )

    def _require_welfare(self) -> None:
        if self.algorithm.regularised and self.welfare is None:
            raise ValueError("welfare is missing: algorithm.update = 'regularised' needs a [welfare] table")
        if self.welfare is not None and not self.algorithm.regularised:
            raise ValueError("welfare is given: it needs algorithm.update = 'regularised'")
        if self.algorithm.sampling == "subset" and getattr(self.game, "beyond_samples", False):
            raise ValueError("game.beyond_samples = true: sampling = 'subset' draws ceil(N_i) of the samples")

    def _require_closed_form(self) -> None:
        algorithm = self.algorithm
        if not algorithm.closed_form:
            return
        if algorithm.N_0 != "equilibrium" or algorithm.regularised:
            raise ValueError(
                "algorithm.closed_form = true: it needs N_0 = 'equilibrium' (weights that do not move)"
            )
        if not isinstance(self.problem, QuadraticsProblem) or algorithm.sampling != "full":
            raise ValueError(
                "algorithm.closed_form = true: it needs problem.kind = 'quadratics' and sampling = 'full'"
            )
        if self.problem.diagonals is None:
            raise ValueError(
                "algorithm.closed_form = true: it needs curvatures that are numbers or diagonals"
            )

    @property
    def clients(self) -> int | None:
        """m, from the data, the problem or the game, in this order (None where only a user's code knows it)."""
        return (self.data.m if self.data is not None else None) or self.problem.m or self.game.m

    def _lengths(self) -> dict[str, int]:
        lengths = {f"game.{key}": length for key, length in self.game.lengths().items()}
        if self.welfare is not None:
            lengths |= {f"welfare.{key}": length for key, length in self.welfare.lengths().items()}
        if isinstance(self.algorithm.N_0, list):
            lengths["algorithm.N_0"] = len(self.algorithm.N_0)
        if isinstance(self.problem, QuadraticsProblem):
            lengths["problem.curvature"] = len(self.problem.curvature)
        return lengths


__all__ = [
    "Algorithm",
    "BoxTable",
    "Check",
    "ClientData",
    "DataTable",
    "GameTable",
    "Instance",
    "ProblemTable",
    "QuadraticsProblem",
    "RandomStart",
    "ReportTable",
    "RunTable",
    "WelfareTable",
]
