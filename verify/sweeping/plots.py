"""The pictures of a sweep: a ratio against an axis above its outcomes, and a heat map over two axes."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from verify.plots import DPI, EDITION_STYLE
from verify.sweeping.table import ERROR
from verify.verdict import Outcome

COLOURS = {
    str(Outcome.HOLDS): "#009E73",
    str(Outcome.VACUOUS): "#B8C0C7",
    str(Outcome.INCONCLUSIVE): "#F0E442",
    str(Outcome.HYPOTHESIS_FAILS): "#5A646D",
    str(Outcome.VIOLATED): "#D55E00",
    ERROR: "#000000",
}
_LETTERS = {
    str(Outcome.HYPOTHESIS_FAILS): "h",
    str(Outcome.VACUOUS): "v",
    str(Outcome.INCONCLUSIVE): "?",
    ERROR: "!",
}
_STYLE = {"font.size": 10.0, "axes.spines.top": False, "axes.spines.right": False}
_MOST_LABELS = 12
_LEAST_RATIO = 1e-12  # a log axis has no zero


def is_numeric(frame: pd.DataFrame, axis: str) -> bool:
    """Whether an axis has numbers, not texts, for values."""
    return bool(pd.api.types.is_numeric_dtype(frame[axis]))


def draw_axis(frame: pd.DataFrame, axis: str, shown: str = "ratio") -> bytes:
    """One statement against one axis, its editions side by side; a PNG, the same bytes for the same frame.

    Args:
        shown: the column above the outcomes, "ratio" or "planned_rounds".
    """
    editions = list(dict.fromkeys(frame.edition))
    values = sorted(frame[axis].unique()) if is_numeric(frame, axis) else list(dict.fromkeys(frame[axis]))
    place = {value: i for i, value in enumerate(values)}
    with mpl.rc_context(_STYLE):  # type: ignore[arg-type]  # matplotlib types every key as a literal
        figure = Figure(figsize=(8.0, 4.6), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1 + 0.3 * len(editions)))
        for i, edition in enumerate(editions):
            part = frame[frame.edition == edition]
            _ratios(
                above, part, part[axis].map(place).to_numpy(float) + _beside(i, len(editions)), edition, shown
            )
            _shares(below, part, part[axis].map(place).to_numpy(int), len(values), len(editions) - 1 - i)
        above.set(yscale="log", ylabel="observed / bound" if shown == "ratio" else "planned rounds")
        if shown == "ratio":
            above.axhline(1.0, color="#222222", lw=1)
        above.grid(True, which="major", axis="y", alpha=0.25)
        above.legend(frameon=False, loc="best")
        below.set(xlabel=axis, yticks=np.arange(len(editions)) + 0.5, yticklabels=editions[::-1])
        below.set_ylim(0, len(editions))
        _ticks(below, values)
        figure.legend(handles=_patches(frame), loc="outside lower center", ncols=3, frameon=False)
        return _png(figure)


def _beside(i: int, count: int) -> float:
    return (i - (count - 1) / 2) * 0.2


def _ratios(axes: Axes, part: pd.DataFrame, x: np.ndarray, edition: str, shown: str) -> None:
    colour, line = EDITION_STYLE[edition]
    y = part[shown].clip(lower=_LEAST_RATIO).to_numpy(float)
    known = np.isfinite(y)
    axes.plot(x[known], y[known], ".", color=colour, alpha=0.35, ms=4)
    medians = pd.Series(y[known]).groupby(x[known]).median()
    axes.plot(medians.index, medians.to_numpy(), color=colour, ls=line, lw=1.8, label=edition)


def _shares(axes: Axes, part: pd.DataFrame, place: np.ndarray, count: int, row: int) -> None:
    total = np.bincount(place, minlength=count)
    bottom = np.full(count, row + 0.05)
    for outcome, colour in COLOURS.items():
        share = np.bincount(place[(part.outcome == outcome).to_numpy()], minlength=count) / np.maximum(
            total, 1
        )
        axes.bar(np.arange(count), 0.9 * share, 0.9, bottom, color=colour, lw=0)
        bottom = bottom + 0.9 * share


def _patches(frame: pd.DataFrame) -> list[Any]:
    from matplotlib.patches import Patch

    present = set(frame.outcome)
    return [Patch(color=colour, label=outcome) for outcome, colour in COLOURS.items() if outcome in present]


def _ticks(axes: Axes, values: list[Any], vertical: bool = False) -> None:
    every = -(-len(values) // _MOST_LABELS)
    places = range(0, len(values), every)
    labels = [f"{values[i]:.4g}" if isinstance(values[i], float) else str(values[i])[:16] for i in places]
    (axes.set_yticks if vertical else axes.set_xticks)(list(places), labels)


def draw_heat(frame: pd.DataFrame, across: str, up: str) -> bytes:
    """The largest ratio over two axes, a panel per edition; a PNG, the same bytes for the same frame."""
    editions = list(dict.fromkeys(frame.edition))
    columns, rows = sorted(frame[across].unique()), sorted(frame[up].unique())
    with mpl.rc_context(_STYLE):  # type: ignore[arg-type]  # matplotlib types every key as a literal
        figure = Figure(figsize=(3.0 * len(editions) + 1.2, 3.6), layout="constrained")
        panels = figure.subplots(1, len(editions), squeeze=False, sharey=True)[0]
        ratios = frame.ratio[frame.ratio > 0]
        top = max(float(ratios.max()), 1.0) if len(ratios) else 1.0
        norm = LogNorm(max(float(ratios.min()), _LEAST_RATIO) if len(ratios) else 0.1, top)
        for axes, edition in zip(panels, editions, strict=True):
            part = frame[frame.edition == edition]
            grid = part.pivot_table(index=up, columns=across, values="ratio", aggfunc="max", dropna=False)
            grid = grid.reindex(index=rows, columns=columns)
            image = axes.imshow(
                grid.to_numpy(float), origin="lower", aspect="auto", norm=norm, cmap="cividis"
            )
            _letters(axes, part, grid, across, up)
            axes.set(title=edition, xlabel=across)
            _ticks(axes, columns)
            axes.tick_params(axis="x", rotation=60)
        panels[0].set_ylabel(up)
        _ticks(panels[0], rows, vertical=True)
        figure.colorbar(image, ax=panels, label="largest observed / bound")
        return _png(figure)


def _letters(axes: Axes, part: pd.DataFrame, grid: pd.DataFrame, across: str, up: str) -> None:
    """In each cell without a ratio, the most frequent reason for it."""
    empty = part[part.ratio.isna()]
    for (row, column), cell in empty.groupby([up, across]):
        if pd.isna(grid.loc[row, column]):
            outcome = cell.outcome.value_counts().index[0]
            place = grid.columns.get_loc(column), grid.index.get_loc(row)
            axes.text(*place, _LETTERS.get(str(outcome), ""), ha="center", va="center", fontsize=8)


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()
