"""The points of a grid: its axes' values in every combination, each made into an instance."""

from __future__ import annotations

import copy
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import bounds
from verify.errors import InputError
from verify.instance import builtin_instances, parse_instance
from verify.schema import Instance
from verify.setup import checks
from verify.sweeping.grid import EPSILON, GridFile, read_grid
from verify.sweeping.toml import toml_text

_PART = re.compile(r"\w+|\[\d+\]")


@dataclass(frozen=True, eq=False)
class Point:
    """One point: its place in the grid, the value of every axis key, and its instance."""

    index: int
    values: dict[str, Any]
    instance: Instance

    @property
    def epsilon(self) -> float | None:
        """The planner's target, where the grid has one."""
        found = self.values.get(EPSILON)
        return None if found is None else float(found)


@dataclass(frozen=True, eq=False)
class Grid:
    """A grid whose base has been read.

    Attributes:
        base: the base instance's TOML, with the grid's [set] applied.
    """

    file: GridFile
    base: dict[str, Any]

    def __len__(self) -> int:
        return math.prod(len(axis) for axis in self.file.axis)

    @property
    def keys(self) -> tuple[str, ...]:
        """The axes' keys, in order."""
        return tuple(name for axis in self.file.axis for name in axis.names)

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The (statement, edition) pairs that some point checks, in order."""
        if any(key.startswith("check.") for key in self.keys):
            return list(dict.fromkeys(pair for point in self.points() for pair in checks(point.instance)))
        return checks(self.point(0).instance)

    def points(self) -> Iterator[Point]:
        """All points, the last axis fastest."""
        return (self.point(i) for i in range(len(self)))

    def point(self, index: int) -> Point:
        """The point at a place.

        Raises:
            InputError: if its instance is not one, naming the key that is wrong.
        """
        values: dict[str, Any] = {}
        place = index
        for axis in reversed(self.file.axis):
            place, i = divmod(place, len(axis))
            values = axis.entry(i) | values
        table = with_values(self.base, {k: v for k, v in values.items() if k != EPSILON})
        table["name"] = f"{self.file.name}-{index}"
        return Point(
            index, values, instance_of(table, f"point {index} of {self.file.name} ({shown(values)})")
        )


def load_grid(path: Path, most: int) -> Grid:
    """The grid of a file, its base read, its number of points checked.

    Raises:
        InputError: for a bad file or base, or more than `most` points.
    """
    file = read_grid(path)
    count = math.prod(len(axis) for axis in file.axis)
    if count > most:
        raise InputError(
            f"{path}: the axes make {count} points: thin them out, or allow as many with --max-points {count}"
        )
    return Grid(file, with_values(_base(file.base, path), file.set))


def _base(name: str, grid: Path) -> dict[str, Any]:
    if name in builtin_instances():
        text = (resources.files("verify") / "instances" / f"{name}.toml").read_text("utf-8")
    else:
        path = grid.parent / name
        try:
            text = path.read_text("utf-8")
        except (OSError, ValueError):
            known = ", ".join(builtin_instances())
            raise InputError(
                f"{grid}: base = {name!r}: no such file beside the grid or built-in instance (built in: {known})"
            ) from None
    parse_instance(text, f"{grid}: base {name}")
    return tomllib.loads(text)


def with_values(table: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """`table` with each path of `values` set.

    Raises:
        InputError: for a path that leads through something that is not there.
    """
    found = dict(table)  # and what a path leads through is copied: the rest is shared, and nobody changes it
    for path, value in values.items():
        *way, last = (int(p[1:-1]) if p[0] == "[" else p for p in _PART.findall(path))
        place: Any = found
        for step in way:
            place[step] = copy.copy(_inside(place, step, path))
            place = place[step]
        if isinstance(last, int):
            _inside(place, last, path)
        elif not isinstance(place, dict):
            raise InputError(f"axis {path!r}: {last!r} is not inside a table of the base")
        place[last] = copy.deepcopy(value)
    return found


def _inside(place: Any, step: str | int, path: str) -> Any:
    try:
        if isinstance(place, list) and isinstance(step, int):
            return place[step]
        if isinstance(place, dict) and isinstance(step, str):
            return place[step]
    except (KeyError, IndexError):
        pass
    raise InputError(f"axis {path!r}: the base instance has no {step!r} there: give a path that it has")


def instance_of(table: dict[str, Any], where: str) -> Instance:
    """The instance of a table; `where` names it in errors.

    Raises:
        InputError: naming the key, its value and what would be right.
    """
    try:
        instance = Instance.model_validate(table)
    except ValidationError:
        return _through_text(table, where)
    plain = ":" not in instance.problem.kind + instance.game.kind  # no code of the user's own
    if plain and all(s in bounds.ids() for s in instance.check.statements):
        return instance
    return _through_text(table, where)


def _through_text(table: dict[str, Any], where: str) -> Instance:
    """The slow way, which says what is wrong in the words that every command uses."""
    try:
        text = toml_text(table)
    except TypeError as error:
        raise InputError(f"{where}: {error}") from None
    return parse_instance(text, where)


def shown(values: Mapping[str, Any]) -> str:
    """Axis values in one line."""
    return ", ".join(f"{key} = {value}" for key, value in values.items())
