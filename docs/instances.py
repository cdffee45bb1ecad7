"""Writes docs/instances.md: every table, key and domain of an instance file from the schema, and the examples.

python docs/instances.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from verify.schema import Algorithm, Check, Instance, RandomStart, ReportTable, RunTable
from verify.schema.base import LARGEST, SMALLEST, Table
from verify.schema.data import AnyData, DataTable
from verify.schema.games import AnyGame, GameTable, GivenConstants
from verify.schema.problems import AnyProblem, NoiseTable, ProblemTable
from verify.schema.welfare import AnyWelfare, WelfareTable

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "instances.md"
GENERAL = {Table, DataTable, GameTable, ProblemTable, WelfareTable}
INTRODUCTION = """# Instances: checking the statements on your own game and data

An instance is a TOML file: a learning problem, a game, how the algorithm is run, which statements to check.

```
python -m verify.report --instance FILE.toml [--allow-code] [--out DIR]
python -m verify.plan --instance FILE.toml --epsilon E
```

Types are strict (a number in quotes is not a number), unknown keys are errors, and every mistake ends in one line that
names the key, its value and what would be right. What an instance has no constant for is said by the check that needs
it: a problem without a certified minimiser has no x*, a game whose equilibrium is not proved has no N*, a network's
constants are estimates and its verdicts only *indicative*.

This page is written by `python docs/instances.py` from the schema itself. Keys without a default are required.
"""


def members(union: Any) -> list[type[BaseModel]]:
    """The tables of a discriminated union."""
    inner = get_args(union)[0]
    return [get_args(one)[0] if get_args(one) else one for one in get_args(inner)]


def kinds(table: type[BaseModel]) -> list[str]:
    """What a table's `kind` (or `source`) may be; `python:module.attribute` for a user's own."""
    key = "source" if "source" in table.model_fields else "kind"
    values = [str(v) for v in get_args(table.model_fields[key].annotation)]
    return values or ["python:module.attribute"]


def domain(schema: Mapping[str, Any]) -> str:
    """A JSON schema of a value in words."""
    if "const" in schema:
        return f"`{_plain(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{_plain(v)}`" for v in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(domain(s) for s in schema["anyOf"] if s.get("type") != "null")
    if "$ref" in schema:
        return f"a table ({schema['$ref'].rpartition('/')[2]}, below)"
    kind = schema.get("type", "value")
    if kind == "array":
        return f"list of [{domain(schema['items'])}]"
    if kind in ("number", "integer"):
        return f"{kind}{_range(schema)}"
    return "string" if kind == "string" else {"boolean": "true or false", "object": "table"}.get(kind, kind)


def _plain(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _range(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    parts = []
    if "exclusiveMinimum" in schema:
        parts.append(f"> {schema['exclusiveMinimum']:g}")
    elif low == SMALLEST:
        parts.append("> 0")
    elif low is not None and low != -LARGEST:
        parts.append(f">= {_number(low)}")
    if high is not None and high not in (LARGEST, 2**63 - 1):
        parts.append(f"<= {_number(high)}")
    return f" {', '.join(parts)}" if parts else ""


def section(title: str, table: type[BaseModel]) -> str:
    """One table's docstring and keys."""
    schema = table.model_json_schema()
    required = schema.get("required", [])
    rows = []
    first = [key for key in ("kind", "source") if key in schema["properties"]]
    for key in dict.fromkeys([*first, *schema["properties"]]):
        value = schema["properties"][key]
        default = value.get("default")
        told = "" if key in required else (_plain(default) if default is not None else "none")
        rows.append(f"| `{key}` | {domain(value)} | {told} |")
    told_by = [t for t in table.__mro__ if issubclass(t, Table) and t not in GENERAL and t.__doc__]
    text = " ".join(" ".join((t.__doc__ or "").split()) for t in told_by)
    return "\n".join(
        [f"### {title}", "", text, "", "| key | value | default |", "| --- | --- | --- |", *rows, ""]
    )


def example(path: Path) -> str:
    """An example file as it is."""
    return f"### examples/{path.name}\n\n```toml\n{path.read_text('utf-8').strip()}\n```\n"


def text() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for name, union, what in (
        ("[data]", AnyData, "needed where the problem or the game needs samples or label distributions"),
        ("[problem]", AnyProblem, "the clients' losses"),
        ("[game]", AnyGame, "the participation game"),
        ("[welfare]", AnyWelfare, 'only with `update = "regularised"`'),
    ):
        parts.append(f"## {name}: {what}\n")
        parts += [section(" / ".join(f"`{k}`" for k in kinds(table)), table) for table in members(union)]
    parts.append("## Running and checking\n")
    tables = {"[algorithm]": Algorithm, "[run]": RunTable, "[check]": Check, "[report]": ReportTable}
    parts += [section(f"`{name}`", table) for name, table in tables.items()]
    parts.append("## Tables inside tables\n")
    parts += [section(t.__name__, t) for t in (NoiseTable, GivenConstants, RandomStart)]
    parts.append("## Examples\n")
    parts += [example(path) for path in sorted((ROOT / "examples").glob("*.toml"))]
    assert set(Instance.model_fields) >= {"data", "problem", "game", "welfare", "algorithm", "run", "check"}
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(text(), "utf-8")
