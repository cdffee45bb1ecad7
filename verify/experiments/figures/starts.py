"""The zero-sum game's runs from several starts, in the plane of clients 0 and 4 (Figure 4: both climb)."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from verify.experiments.figures.style import COLOURS, FAINT, INK, canvas, redraw
from verify.experiments.results import Table


def draw(table: Table) -> Figure:
    """Columns start, N_0, N_4 (along the run) and limit (0, 1, ...: which rest point it ends in)."""
    columns = table.columns
    with canvas(table) as (figure, axes):
        for start in np.unique(columns["start"]):
            rows = columns["start"] == start
            x, y, limit = columns["N_0"][rows], columns["N_4"][rows], int(columns["limit"][rows][0])
            axes.plot(x, y, color=COLOURS[limit], lw=1.6, ls="-" if limit == 0 else "--")
            axes.plot(x[0], y[0], "o", color=COLOURS[limit], ms=5, mfc="white")
            axes.plot(x[-1], y[-1], "s" if limit == 0 else "D", color=COLOURS[limit], ms=9)
        for limit, text in enumerate(table.about["limits"].split("; ")):
            axes.plot([], [], "sD"[limit], color=COLOURS[limit], label=text, ms=8)
        axes.plot([], [], "o", color=FAINT, mfc="white", label="starts")
        at = [float(v) for v in table.about["reported"].split(",")]
        axes.plot(*at, "x", color=INK, ms=11, mew=2.5, label="the limit that the text reports: not at rest")
        axes.set_xlim(-400, 16_000)
        axes.set_ylim(-400, 18_500)
        axes.legend(loc="upper left", fontsize=9, ncols=2)
    return figure


if __name__ == "__main__":
    redraw(draw)
