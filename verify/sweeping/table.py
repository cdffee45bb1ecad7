"""The table of a sweep: one row per point, statement and edition, as Parquet and as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

import bounds
from verify.setup import checks
from verify.sweeping.points import Grid, Point
from verify.sweeping.running import level, unit_of
from verify.sweeping.store import Store
from verify.sweeping.toml import inline
from verify.sweeping.work import theorem_of

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET, CSV = "results.parquet", "results.csv"
ERROR = "error"  # the outcome of a row whose instance could not be audited
CONSTANT = "constant."  # before a constant's name, in its column
_POINTS_A_CHUNK = 1_000
_OWN = {
    "point": "int64", "key": "string", "statement": "string", "edition": "string", "outcome": "string",
    "rigor": "string", "observed": "double", "bound": "double", "ratio": "double", "round": "int64",
    "fails": "string", "reason": "string", "rounds": "int64", "gradients": "int64", "planned_rounds": "int64",
    "planned_gradients": "int64", "planned_bytes": "int64", "plan_note": "string",
}  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """The table's columns: the axes' keys, the table's own, and the constants that its statements take."""

    axes: dict[str, str]
    constants: tuple[str, ...]

    @property
    def types(self) -> dict[str, str]:
        """Every column's Arrow type, in order."""
        own = dict(_OWN)
        head = {name: own.pop(name) for name in ("point", "key")}
        return head | self.axes | own | {CONSTANT + name: "double" for name in self.constants}


def columns(grid: Grid) -> Columns:
    """The columns of a grid's table: known before any result, so that all of its parts have the same."""
    axes: dict[str, str] = {}
    for axis in grid.file.axis:
        entries = [axis.entry(i) for i in range(len(axis))]
        for name in axis.names:
            values = [entry[name] for entry in entries]
            numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
            whole = numbers and all(isinstance(v, int) for v in values)
            axes[name] = "int64" if whole else "double" if numbers else "string"
    names = {name for pair in grid.pairs for name in bounds.get(*pair).symbols}
    return Columns(axes, tuple(sorted(names - {"r", "T"})))


def rows(grid: Grid, store: Store, errors: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The table's rows in the grid's order."""
    each = level(grid)
    for point in grid.points():
        yield from _point_rows(point, each, store, errors)


def _point_rows(
    point: Point, each: float, store: Store, errors: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    unit, plans = unit_of(point, each, False), unit_of(point, each, True)
    assert unit is not None
    values = {
        k: v if isinstance(v, int | float | str) and not isinstance(v, bool) else inline(v)
        for k, v in point.values.items()
    }
    head = {"point": point.index, "key": unit.key} | values
    planned = _plans(store, errors, plans.key) if plans is not None else {}
    if unit.key not in store:
        for statement, edition in checks(point.instance):
            failed = {
                "statement": statement,
                "edition": str(edition),
                "outcome": ERROR,
                "reason": errors[unit.key],
            }
            yield head | failed | planned.get((theorem_of(statement), str(edition)), planned.get(None, {}))
        return
    audited = store[unit.key]
    shared = audited["constants"]
    for row in audited["rows"]:
        found = {name: row[name] for name in _OWN if name in row}
        numbers = {name: _number(row.get(name)) for name in ("observed", "bound")}
        symbols = bounds.get(row["statement"], row["edition"]).symbols
        constants = {
            CONSTANT + name: _number(value)
            for name, value in (shared | row.get("own", {})).items()
            if name in symbols
        }
        cost = {"rounds": audited["rounds"], "gradients": audited["gradients"]}
        plan = planned.get((theorem_of(row["statement"]), row["edition"]), planned.get(None, {}))
        yield head | found | numbers | {"ratio": _ratio(**numbers)} | cost | plan | constants


def _plans(store: Store, errors: Mapping[str, str], key: str) -> dict[Any, dict[str, Any]]:
    """The planned columns by (theorem, edition); under None, an error that concerns all of them."""
    if key not in store:
        return {None: {"plan_note": errors[key]}}
    names = {
        "R": "planned_rounds",
        "gradients": "planned_gradients",
        "bytes_up": "planned_bytes",
        "note": "plan_note",
    }
    return {
        (plan["theorem"], plan["edition"]): {names[k]: v for k, v in plan.items() if k in names}
        for plan in store[key]
    }


def _number(value: float | str | None) -> float | None:
    return None if value is None else float(value)


def _ratio(observed: float | None, bound: float | None) -> float | None:
    """observed/bound: 1 is the bound itself; None where there is nothing to divide."""
    if observed is None or bound is None or bound == 0:
        return None
    return observed / bound


def write_table(grid: Grid, store: Store, errors: Mapping[str, str], folder: Path) -> None:
    """Writes `results.parquet` and `results.csv` into `folder`, a chunk of points at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = columns(grid).types
    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in types.items()])
    with (
        pq.ParquetWriter(folder / PARQUET, schema, compression="zstd") as parquet,
        (folder / CSV).open("w", encoding="utf-8", newline="") as text,
    ):
        for number, chunk in enumerate(
            _chunks(rows(grid, store, errors), _POINTS_A_CHUNK * max(len(grid.pairs), 1))
        ):
            part: pa.Table = pa.Table.from_pylist(chunk, schema=schema)
            parquet.write_table(part)
            frame = part.to_pandas(types_mapper=_nullable)
            frame.to_csv(text, index=False, header=number == 0, lineterminator="\n")


def _nullable(kind: pa.DataType) -> Any:
    """Whole numbers stay whole where some are missing."""
    return pd.Int64Dtype() if str(kind) == "int64" else None


def _chunks(items: Iterator[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    chunk: list[dict[str, Any]] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
