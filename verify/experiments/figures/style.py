"""One look for all figures: Okabe and Ito's colours, told apart by line style as well, and a note on the data."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from verify.errors import InputError, Parser, run_command
from verify.experiments.results import Drawing, Table
from verify.output import check_file, write_file

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B")
LINES = ("-", "--", "-.", (0, (1, 1.2)), (0, (5, 1, 1, 1, 1, 1)))
INK, FAINT = "#222222", "#8a8a8a"
SIZE, DPI = (7.2, 4.6), 140
_STYLE = {
    "font.size": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "mathtext.fontset": "cm",
    "legend.frameon": False,
    "svg.hashsalt": "boundaudit",
    "svg.fonttype": "none",
}


@contextmanager
def canvas(table: Table) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one pair of axes, its title and, at the foot, the note on the data."""
    with mpl.rc_context(_STYLE):  # type: ignore[arg-type]  # matplotlib types every key as a literal
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.subplots()
        axes.set_title(table.about.get("title", ""), loc="left", fontsize=12)
        axes.set_xlabel(table.about.get("x", ""))
        axes.set_ylabel(table.about.get("y", ""))
        yield figure, axes
        note = textwrap.fill(table.about.get("note", ""), 118)
        figure.supxlabel(note, x=0.01, ha="left", fontsize=8, color="#555555")


def label_ends(axes: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Labels at the right ends of curves, (x, y, text, colour), moved apart where they would overlap."""
    low, high = axes.get_ylim()
    gap = 0.052 * (high - low)
    placed: list[float] = []
    for x, y, text, colour in sorted(ends, key=lambda e: e[1]):
        at = max(y, placed[-1] + gap) if placed else y
        placed.append(at)
        axes.annotate(
            text, (x, at), xytext=(5, 0), textcoords="offset points", color=colour, va="center", fontsize=10
        )


def render(figure: Figure, kind: str) -> bytes:
    """The figure as PNG or SVG, the same bytes for the same table."""
    buffer = io.BytesIO()
    with mpl.rc_context(_STYLE):  # type: ignore[arg-type]
        if kind == "svg":
            figure.savefig(buffer, format="svg", metadata={"Date": None})
        else:
            figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def drawing(name: str, caption: str, table: Table, draw: Callable[[Table], Figure]) -> Drawing:
    """The finished figure with its numbers."""
    figure = draw(table)
    return Drawing(name, caption, render(figure, "png"), render(figure, "svg"), table, draw.__module__)


def redraw(draw: Callable[[Table], Figure], arguments: Sequence[str] | None = None) -> None:
    """The command of a figure's module: FILE.csv [--out FILE.png|svg]."""
    parser = Parser(description="Draws a figure again from the numbers that lie beside it.")
    parser.add_argument("table", type=Path, metavar="FILE.csv")
    parser.add_argument("--out", type=Path, metavar="FILE.png|svg")

    def command() -> int:
        options = parser.parse_args(arguments)
        out = options.out or options.table.with_suffix(".png")
        if out.suffix not in (".png", ".svg"):
            raise InputError(f"--out {out}: give a name that ends in .png or .svg")
        check_file("--out", out)
        try:
            table = Table.from_csv(options.table.read_text("utf-8"))
            figure = draw(table)
        except (OSError, UnicodeDecodeError, ValueError, KeyError) as error:
            raise InputError(f"{options.table}: {error}") from None
        write_file("--out", out, render(figure, out.suffix.removeprefix(".")))
        print(out)
        return 0

    run_command(command)
