"""What every table of an instance file has in common: strict types, finite numbers, unknown keys are errors."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

LARGEST = 1e100  # the proofs assume that no product of three numbers overflows
SMALLEST = 1e-100

Finite = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
Positive = Annotated[float, Field(ge=SMALLEST, le=LARGEST, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Few = Annotated[int, Field(ge=1, le=100_000)]
Index = Annotated[int, Field(ge=0, le=2**63 - 1)]
Vector = Annotated[list[Finite], Field(min_length=1)]
Rows = Annotated[list[Vector], Field(min_length=1)]
Arguments = dict[str, Any]


class Table(BaseModel):
    """A table of the file: keys and types as declared, no conversion (a number in quotes is not a number)."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    label: ClassVar[str] = ""

    def lengths(self) -> dict[str, int]:
        """The keys whose values have one entry per client, and how many they have."""
        return {}


def per_client(**values: object) -> dict[str, int]:
    """The lengths of those values that are lists."""
    return {key: len(value) for key, value in values.items() if isinstance(value, list)}


def same_width(key: str, rows: list[list[float]]) -> None:
    """Raises ValueError unless all rows have one length."""
    if len({len(row) for row in rows}) != 1:
        raise ValueError(f"{key} has rows of different lengths: give all the same")
