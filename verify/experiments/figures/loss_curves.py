"""Global loss against communication rounds, one curve for each H (left plots of Figures 1, 2 and 4)."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from verify.experiments.figures.style import COLOURS, LINES, canvas, redraw
from verify.experiments.results import Table


def draw(table: Table) -> Figure:
    """Columns round, H, f (mean over seeds), low, high (range over seeds)."""
    columns = table.columns
    with canvas(table) as (figure, axes):
        for k, H in enumerate(np.unique(columns["H"])):
            rows = columns["H"] == H
            x, f, low, high = (columns[name][rows] for name in ("round", "f", "low", "high"))
            axes.fill_between(x, low, high, color=COLOURS[k], alpha=0.18, lw=0)
            axes.plot(x, f, color=COLOURS[k], ls=LINES[k], lw=2, label=f"$H = {int(H)}$")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.legend(loc="upper right", ncols=2)
    return figure


if __name__ == "__main__":
    redraw(draw)
