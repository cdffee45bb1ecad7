"""A named number and how we know it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

Scalar: TypeAlias = int | float | Fraction
Value: TypeAlias = Scalar | np.ndarray


class Provenance(StrEnum):
    """How a constant is known, from the strongest to the weakest."""

    EXACT = "exact"  # algebra: the value is the constant
    CERTIFIED = "certified"  # a proven enclosure or a proven one-sided bound
    GIVEN = "given"  # the user's word
    ESTIMATED = "estimated"  # sampled: a verdict that rests on it is only indicative


@dataclass(frozen=True, eq=False)
class Constant:
    """A constant of an instance: the true value lies within `radius` of `value`.

    Args:
        name: its name in `bounds.symbols` (the paper's symbol in ASCII).
        value: a number, a `Fraction` or an array.
        provenance: how it is known.
        radius: proven half-width of the enclosure, 0 for a value that may be used as it is (an upper
            bound on a Lipschitz constant is itself a Lipschitz constant).
        note: one line on where it comes from.

    Raises:
        ValueError: for a NaN value, or a radius that is negative or NaN.
    """

    name: str
    value: Value
    provenance: Provenance = Provenance.GIVEN
    radius: float | np.ndarray = 0.0
    note: str = ""

    def __post_init__(self) -> None:
        value, radius = self.value, self.radius
        if type(value) is float:  # by far the most: a curve makes them by the thousand
            if value != value:
                raise ValueError(f"{self.name} = nan: give a number")
        elif not isinstance(value, Fraction | int) and np.any(np.isnan(value)):
            raise ValueError(f"{self.name} = nan: give a number")
        if not (radius >= 0.0 if type(radius) is float else np.all(np.asarray(radius) >= 0)):
            raise ValueError(f"{self.name}: radius = {self.radius}: give a number >= 0")

    @property
    def exact(self) -> bool:
        """Whether the value is used as it is: its radius is 0 everywhere."""
        radius = self.radius
        return radius == 0.0 if type(radius) is float else not np.any(radius)

    def to_json(self) -> dict[str, Any]:
        """`{"value", "provenance", "radius", "note"}` with plain numbers and lists."""
        return {
            "value": _plain(self.value),
            "provenance": str(self.provenance),
            "radius": _plain(self.radius),
            "note": self.note,
        }


# Names to numbers (of Python or numpy), Fractions, arrays, lists or `Constant`s.
Constants: TypeAlias = Mapping[str, Any]


def _plain(value: Value | float) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return float(value) if isinstance(value, Fraction) else value


def raw(value: Constant | Value | list[float]) -> Value:
    """The bare number or array of a constant."""
    if isinstance(value, Constant):
        return value.value
    return np.asarray(value, dtype=float) if isinstance(value, list | tuple) else value


def weakest(constants: Mapping[str, Constant]) -> Provenance:
    """The weakest provenance among `constants` (`exact` for none): what a verdict may claim."""
    order = list(Provenance)
    return max((c.provenance for c in constants.values()), key=order.index, default=Provenance.EXACT)
