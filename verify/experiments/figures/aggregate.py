"""The aggregate sum_i N_{i,r} against rounds (right plot of Figure 3), for several choices of theta."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from verify.experiments.figures.style import COLOURS, FAINT, LINES, canvas, redraw
from verify.experiments.results import Table


def draw(table: Table) -> Figure:
    """Columns round, run (a string), total; `about` holds levels ("46000, 60000") and mark (a round)."""
    columns = table.columns
    with canvas(table) as (figure, axes):
        for k, run in enumerate(dict.fromkeys(columns["run"].tolist())):
            rows = columns["run"] == run
            axes.plot(
                columns["round"][rows] + 1,
                columns["total"][rows],
                color=COLOURS[k],
                ls=LINES[k],
                lw=2.2,
                label=run,
            )
        last = float(columns["round"].max()) + 1
        for level in (float(v) for v in table.about["levels"].split(",")):
            axes.axhline(level, color=FAINT, lw=0.9, ls=(0, (1, 3)))
            axes.annotate(
                f"{level:,.0f}",
                (last, level),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        mark = float(table.about["mark"])
        axes.axvline(mark, color=FAINT, lw=1)
        low, high = float(np.min(columns["total"])), float(np.max(columns["total"]))
        axes.annotate(f"round {mark:g}", (mark, low), xytext=(4, 0), textcoords="offset points", fontsize=9)
        axes.set_xscale("log")
        axes.set_xlim(1, last)
        axes.set_ylim(low - 0.12 * (high - low), high + 0.32 * (high - low))
        axes.legend(loc="upper left", fontsize=9)
    return figure


if __name__ == "__main__":
    redraw(draw)
