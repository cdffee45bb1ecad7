"""What a grid file may say: a base instance, what all points change in it, and the axes."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from verify.errors import InputError
from verify.instance import PLAINLY

EPSILON = "epsilon"  # the one axis that is no key of an instance: the planner's target
_PATH = re.compile(r"[A-Za-z_]\w*(\.\w+|\[\d+\])*")
_DIGITS = 12  # significant digits of a computed axis value: the same number on every machine
Number = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, strict=True)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Range(_Strict):
    """Evenly spaced numbers from `start` to `stop`, both included: by `step`, or `count` of them."""

    start: int | Number
    stop: int | Number
    step: int | Number | None = None
    count: Count | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Range:
        if (self.step is None) == (self.count is None):
            raise ValueError("give either step or count")
        if self.step is not None and (self.step == 0 or (self.stop - self.start) / self.step < 0):
            raise ValueError(
                f"step = {self.step} does not lead from start = {self.start} to stop = {self.stop}"
            )
        if self.count == 1 and self.start != self.stop:
            raise ValueError("count = 1: give at least 2 for two different ends")
        return self

    def __len__(self) -> int:
        if self.step is None:
            return self.count or 0
        return math.floor((self.stop - self.start) / self.step * (1 + 1e-12)) + 1

    def value(self, i: int) -> int | float:
        """The i-th number."""
        if self.step is not None:
            found = self.start + i * self.step
            return found if isinstance(found, int) else _rounded(found)
        last = max(len(self) - 1, 1)
        return _rounded(self.start + (self.stop - self.start) * (i / last))


class LogRange(_Strict):
    """`count` numbers from `start` to `stop`, both included, evenly spaced on a log scale; `integer`: rounded."""

    start: Annotated[Number, Field(gt=0)]
    stop: Annotated[Number, Field(gt=0)]
    count: Count
    integer: bool = False

    @model_validator(mode="after")
    def _distinct(self) -> LogRange:
        if self.count == 1 and self.start != self.stop:
            raise ValueError("count = 1: give at least 2 for two different ends")
        if self.integer and self.count <= _MOST_CHECKED:
            found = [self.value(i) for i in range(self.count)]
            if len(set(found)) < len(found):
                raise ValueError(f"count = {self.count}: some integers would stand twice: give a smaller one")
        return self

    def __len__(self) -> int:
        return self.count

    def value(self, i: int) -> int | float:
        """The i-th number."""
        share = i / max(self.count - 1, 1)
        found = _rounded(math.exp((1 - share) * math.log(self.start) + share * math.log(self.stop)))
        if i in (0, self.count - 1):
            found = self.start if i == 0 else self.stop
        return round(found) if self.integer else float(found)


_MOST_CHECKED = 100_000


class Axis(_Strict):
    """One key with its values, or several keys that move together (`keys`, with a list of values each).

    A key is a path into the instance ("algorithm.H", "problem.curvature[0]"), or "epsilon".
    """

    key: str | None = None
    keys: list[str] | None = Field(default=None, min_length=2)
    values: list[Any] | None = Field(default=None, min_length=1)
    range: Range | None = None
    logrange: LogRange | None = None

    @model_validator(mode="after")
    def _shape(self) -> Axis:
        if (self.key is None) == (self.keys is None):
            raise ValueError("give either key, or keys that move together")
        if sum(source is not None for source in (self.values, self.range, self.logrange)) != 1:
            raise ValueError("give one of values, range, logrange")
        for name in self.names:
            if not _PATH.fullmatch(name):
                raise ValueError(f"{name!r} is no path into an instance: write it like algorithm.H")
        if self.keys is not None:
            if self.values is None:
                raise ValueError(
                    "keys that move together need values, a list with one entry per key for each"
                )
            for i, row in enumerate(self.values):
                if not isinstance(row, list) or len(row) != len(self.keys):
                    raise ValueError(f"values[{i}] = {row!r}: give one entry per key ({len(self.keys)})")
        if EPSILON in self.names:
            at = self.names.index(EPSILON)
            for value in (self._entry(i)[at] for i in range(min(len(self), _MOST_CHECKED))):
                if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                    raise ValueError(f"epsilon = {value!r}: give numbers > 0")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that this axis sets."""
        return (self.key,) if self.key is not None else tuple(self.keys or ())

    def __len__(self) -> int:
        source = self.values or self.range or self.logrange
        return len(source) if source is not None else 0

    def _entry(self, i: int) -> tuple[Any, ...]:
        if self.values is not None:
            return tuple(self.values[i]) if self.keys is not None else (self.values[i],)
        source = self.range or self.logrange
        assert source is not None
        return (source.value(i),)

    def entry(self, i: int) -> dict[str, Any]:
        """The i-th value of each of its keys."""
        return dict(zip(self.names, self._entry(i), strict=True))


class GridFile(_Strict):
    """A whole grid file."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=40)
    title: str = Field(default="", max_length=200)
    base: str = Field(min_length=1)
    set: dict[str, Any] = Field(default_factory=dict)
    axis: list[Axis] = Field(min_length=1)

    @model_validator(mode="after")
    def _distinct(self) -> GridFile:
        names = [name for axis in self.axis for name in axis.names] + list(self.set)
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise ValueError(f"{twice[0]!r} is set twice: give it on one axis, or in [set]")
        for name in self.set:
            if name == EPSILON or not _PATH.fullmatch(name):
                raise ValueError(f'set.{name!r}: give a path into an instance, like "algorithm.H"')
        return self


def read_grid(path: Path) -> GridFile:
    """The grid of a TOML file.

    Raises:
        InputError: naming the key, its value and what would be right.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    try:
        return GridFile.model_validate(table)
    except ValidationError as error:
        raise InputError(f"{path}: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    # an unknown key first: a misspelt one also leaves the right one missing
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    location = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"]).lstrip(".")
    value = first.get("input")
    shown = (
        f" = {value!r}" if isinstance(value, str | int | float | bool | list) and value in ([], value) else ""
    )
    shown = "" if first["type"] == "extra_forbidden" else shown
    message = PLAINLY.get(first["type"], first["msg"].removeprefix("Value error, "))
    return f"{location}{shown}: {message}" if location else message


def _rounded(x: float) -> float:
    return float(f"{x:.{_DIGITS}g}")
