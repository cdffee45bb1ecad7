"""The clients' contributions N_{i,r} against rounds, beside N* (right plots of Figures 1, 2, 4 and left of 3)."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from verify.experiments.figures.style import COLOURS, FAINT, INK, LINES, canvas, label_ends, redraw
from verify.experiments.results import Table


def draw(table: Table) -> Figure:
    """Columns round, client, N, N_star; `about` may hold log ("yes") and mark (a round, drawn as a line)."""
    columns = table.columns
    with canvas(table) as (figure, axes):
        ends = []
        logarithmic = table.about.get("log") == "yes"
        last = float(columns["round"].max())
        for k, client in enumerate(np.unique(columns["client"])):
            rows = columns["client"] == client
            r, N = columns["round"][rows], columns["N"][rows]
            axes.plot(r + logarithmic, N, color=COLOURS[k], ls=LINES[k], lw=2)
            star = float(columns["N_star"][rows][-1])
            axes.axhline(star, color=COLOURS[k], lw=0.9, ls=(0, (1, 3)), zorder=1)
            ends.append((last + logarithmic, float(N[-1]), f"client {int(client)}", COLOURS[k]))
        if logarithmic:
            axes.set_xscale("log")
            axes.set_xlim(left=1, right=last + 1)
        else:
            axes.set_xlim(left=0, right=last)
        top = float(max(columns["N"].max(), columns["N_star"].max()))
        axes.set_ylim(-0.03 * top, 1.06 * top)
        if "mark" in table.about:
            mark = float(table.about["mark"])
            axes.axvline(mark, color=FAINT, lw=1)
            axes.annotate(
                f"round {mark:g}",
                (mark, 0.07 * top),
                xytext=(4, 0),
                textcoords="offset points",
                color=INK,
                fontsize=9,
            )
        label_ends(axes, ends)
    return figure


if __name__ == "__main__":
    redraw(draw)
