"""How an instance is run and checked: Algorithm 1's choices, seeds, statements, the report's profile."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from verify.schema.base import Count, Few, Finite, Index, NonNegative, Positive, Table

SCHEDULE = ("gamma_tilde_0", "a", "lambda_0", "b")
Power = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


class RandomStart(Table):
    """x_0 as seeded random values: a network's own (variance scale^2 over a layer's fan-in), else normal with
    standard deviation `scale`."""

    seed: Index = 0
    scale: Positive = 1.0


class Algorithm(Table):
    """Algorithm 1's choices. `largest` and `smallest`: as far as every hypothesis of the checked statements allows.

    `update = "strong"`: line 10 with a constant gamma_tilde. `update = "regularised"`: with
    gamma_tilde_r = gamma_tilde_0 (r+1)^-a and lambda_r = lambda_0 (r+1)^-b, for the loss of the [welfare] table.
    """

    update: Literal["strong", "regularised"] = "strong"
    gamma: Positive | Literal["largest"] = "largest"
    gamma_tilde: Positive | Literal["largest"] = "largest"
    gamma_tilde_0: Positive | None = None
    a: Power | None = None
    lambda_0: Positive | None = None
    b: Power | None = None
    H: Few
    R: Count
    r_hat: Index | Literal["smallest"] = "smallest"
    N_0: list[NonNegative] | Literal["lower", "upper", "equilibrium"]
    x_0: Finite | list[Finite] | RandomStart | Literal["minimiser"] = 0.0
    sampling: Literal["iid", "full", "subset"] = "iid"
    batch: Few = 1
    replacement: Literal["with", "batch", "round"] = "with"
    closed_form: bool = False

    @model_validator(mode="before")
    @classmethod
    def _one_update(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        if table.get("update", "strong") == "regularised":
            lacking = [key for key in SCHEDULE if table.get(key) is None]
            if lacking:
                raise ValueError(
                    f"{lacking[0]} is missing: update = 'regularised' needs {', '.join(SCHEDULE)}"
                )
            if table.get("gamma_tilde", "largest") != "largest":
                raise ValueError("gamma_tilde is for update = 'strong': give gamma_tilde_0 and a")
        else:
            surplus = [key for key in SCHEDULE if table.get(key) is not None]
            if surplus:
                raise ValueError(f"{surplus[0]} is for update = 'regularised': leave it out or set update")
        return table

    @model_validator(mode="after")
    def _rounds(self) -> Algorithm:
        if isinstance(self.r_hat, int) and self.r_hat >= self.R:
            raise ValueError(f"r_hat = {self.r_hat}: give r_hat <= R - 1 = {self.R - 1}")
        return self

    @property
    def regularised(self) -> bool:
        """Whether the run follows the iteratively regularised update."""
        return self.update == "regularised"


class RunTable(Table):
    """How many seeds, which engine, and what is measured along a run."""

    seeds: Few = 64
    seed: Index = 0
    draws: Few = 16
    horizons: Few = 12
    engine: Literal["auto", "numpy", "numba", "chain", "torch"] = "auto"


class Check(Table):
    """Which statements, in which editions."""

    statements: list[str] = Field(min_length=1)
    editions: list[Literal["printed", "corrected", "sharp"]] = Field(min_length=1)


class ReportTable(Table):
    """In which report a built-in instance stands: in every one, or only in the full one."""

    profile: Literal["quick", "full"] = "quick"
