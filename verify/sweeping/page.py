"""The page of a sweep: `sweep.html`, self-contained, and the worst instances as files that reproduce them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bounds import Edition
from verify.sweeping.grid import EPSILON
from verify.sweeping.plots import draw_axis, draw_heat, is_numeric
from verify.sweeping.points import Grid, Point, shown
from verify.sweeping.table import ERROR, columns
from verify.sweeping.toml import toml_text
from verify.verdict import Outcome

_MOST_WORST = 15
_MOST_NEAR = 3  # of a statement
_MOST_AXES = 8  # figures a statement
_MOST_ERRORS = 20
_READ = ("point", "statement", "edition", "outcome", "ratio", "fails", "reason", "planned_rounds")


@dataclass(frozen=True)
class Figure:
    """A picture of the page, and what it says in words."""

    source: str
    alt: str
    caption: str


def write_page(grid: Grid, table: Path, page: Path, worst: Path) -> tuple[str, bool]:
    """Writes the page and the folder of worst instances from the table; its first sentence, and whether no corrected
    or sharp statement is violated."""
    axes = list(columns(grid).axes)
    frame = pd.read_parquet(table, columns=[*_READ, *axes])
    listed = _worst(grid, frame, worst)
    summary, stands = _summary(grid, frame)
    tally = _tally(frame)
    linked = [axis.names for axis in grid.file.axis]
    environment = Environment(
        loader=PackageLoader("verify"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    css = (resources.files("verify") / "templates" / "report.css").read_text("utf-8")
    text = environment.get_template("sweep.html.j2").render(
        title=grid.file.title or f"Sweep {grid.file.name}",
        css=Markup(css),
        summary=summary,
        axes=[{"key": ", ".join(axis.names), "count": len(axis)} for axis in grid.file.axis],
        base=grid.file.base,
        tally=tally,
        outcomes=[o for o in [*map(str, Outcome), ERROR] if o in set(frame.outcome)],
        some_fail=any(row["fails"] for row in tally),
        statements=[_statement(name, part, linked) for name, part in _by_statement(frame)],
        worst=listed,
        errors=_errors(frame, axes),
    )
    page.write_text(text, "utf-8")
    return summary, stands


def _by_statement(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(str(name), part) for name, part in frame.groupby("statement", sort=False)]


def _summary(grid: Grid, frame: pd.DataFrame) -> tuple[str, bool]:
    broken = frame[frame.outcome == str(Outcome.VIOLATED)]
    proved = broken[broken.edition != str(Edition.PRINTED)]
    failed = int(frame[frame.outcome == ERROR].point.nunique())
    counts = frame.outcome.value_counts()
    tally = ", ".join(f"{counts[o]} {o}" for o in [*map(str, Outcome), ERROR] if o in counts)
    head = f"{len(grid)} points, {len(frame)} checks: {tally}."
    if broken.empty:
        head += " No statement is violated."
    else:
        names = sorted(
            {f"{r.statement} ({r.edition})" for r in broken[["statement", "edition"]].itertuples()}
        )
        head += f" Violated: {', '.join(names)}."
    if failed:
        head += f" {failed} points could not be audited."
    return head, proved.empty


def _tally(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Per statement and edition: how many points per outcome, and which hypotheses fail where."""
    entries = []
    for (statement, edition), part in frame.groupby(["statement", "edition"], sort=False):
        fails = part.fails.dropna().str.split("; ").explode().value_counts()
        ratio = part.ratio.max()
        entries.append(
            {
                "statement": statement,
                "edition": edition,
                "counts": {str(o): int(n) for o, n in part.outcome.value_counts().items()},
                "worst": "" if pd.isna(ratio) else f"{ratio:.3g}",
                "fails": [
                    f"{name} ({n} points)" for name, n in sorted(fails.items(), key=lambda f: (-f[1], f[0]))
                ],
            }
        )
    return entries


def _statement(name: str, part: pd.DataFrame, linked: list[tuple[str, ...]]) -> dict[str, Any]:
    # A plan's target changes no run, only what is planned; keys that move together make one picture.
    varied, with_it = [], {}
    for keys in linked:
        moving = [k for k in keys if k != EPSILON and part[k].nunique() > 1]
        if moving:
            shown_by = max(moving, key=lambda k: (is_numeric(part, k), part[k].nunique()))
            varied.append(shown_by)
            with_it[shown_by] = f" (with {', '.join(k for k in keys if k != shown_by)})" if keys[1:] else ""
    figures = [
        _figure(draw_axis(part, axis), name, f"observed/bound against {axis}{with_it[axis]}", _AXIS_CAPTION)
        for axis in varied[:_MOST_AXES]
    ]
    if part.planned_rounds.notna().any():
        picture = draw_axis(part, EPSILON, "planned_rounds")
        figures.append(_figure(picture, name, "planned rounds against epsilon", _PLAN_CAPTION))
    pair = [axis for axis in varied if is_numeric(part, axis)]
    pair = sorted(sorted(pair, key=varied.index), key=lambda a: -part[a].nunique())[:2]
    if len(pair) == 2:
        what = f"largest observed/bound over {pair[0]} and {pair[1]}"
        figures.append(_figure(draw_heat(part, *pair), name, what, _HEAT_CAPTION))
    return {"name": name, "figures": figures}


_AXIS_CAPTION = (
    "Above: observed/bound (1 is the bound), a point per instance and the median as a line. "
    "Below: the share of instances by outcome, one band per edition."
)
_PLAN_CAPTION = "Above: the fewest rounds that guarantee the target. Below: the outcomes of the runs at hand."
_HEAT_CAPTION = (
    "The largest observed/bound of each cell, for each edition. Where no instance has one, the letter says why: "
    "h hypotheses fail, v vacuous, ? inconclusive, ! error."
)


def _figure(png: bytes, name: str, what: str, caption: str) -> Figure:
    return Figure(base64.b64encode(png).decode(), f"{name}: {what}", f"{name}: {what}. {caption}")


def _worst(grid: Grid, frame: pd.DataFrame, folder: Path) -> list[dict[str, Any]]:
    """The violated checks, and of each statement those nearest to its bound: each one's instance as a file, with the
    command."""
    folder.mkdir()
    compared = frame[frame.ratio.notna()]
    violated = compared[compared.outcome == str(Outcome.VIOLATED)].nlargest(
        _MOST_WORST, "ratio", keep="first"
    )
    rest = compared[compared.outcome != str(Outcome.VIOLATED)].sort_values(
        "ratio", ascending=False, kind="stable"
    )
    others = rest.groupby("statement", sort=False).head(_MOST_NEAR).head(_MOST_WORST)
    entries = []
    for row in pd.concat([violated, others]).itertuples():
        point = grid.point(int(row.point))
        name = f"{point.instance.name}.toml"
        (folder / name).write_text(instance_text(grid, point), "utf-8")
        entries.append(
            {
                "statement": row.statement, "edition": row.edition, "outcome": row.outcome,
                "ratio": f"{row.ratio:.4g}", "values": shown(point.values),
                "command": f'python -m verify.report --instance {folder.name}/{name} --only "{row.statement}"',
            }
        )  # fmt: skip
    return entries


def instance_text(grid: Grid, point: Point) -> str:
    """A point's instance as the text of an instance file."""
    table = point.instance.model_dump(mode="json", exclude_none=True)
    about = f"# Point {point.index} of the sweep {grid.file.name}: {shown(point.values)}\n"
    return about + toml_text(table)


def _errors(frame: pd.DataFrame, axes: list[str]) -> list[dict[str, str]]:
    failed = frame[frame.outcome == ERROR].drop_duplicates("point").head(_MOST_ERRORS)
    return [
        {"values": shown({axis: row[axis] for axis in axes}), "reason": str(row["reason"])}
        for row in failed.to_dict("records")
    ]
