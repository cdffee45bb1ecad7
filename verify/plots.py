"""Empirical quantity against envelopes, on a log scale."""

from __future__ import annotations

import io
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from verify.verdict import apart

# Okabe and Ito's colours, told apart by line style as well.
EDITION_STYLE: dict[str, tuple[str, str]] = {
    "printed": ("#D55E00", "--"),
    "corrected": ("#0072B2", "-."),
    "sharp": ("#009E73", ":"),
}
_INK = "#222222"
_STYLE = {
    "font.size": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "mathtext.fontset": "cm",
}
SIZE = (8.0, 4.3)
_DEEPEST = 100.0  # a band reaches down to this share of its upper end at most
DPI = 130


@dataclass(frozen=True)
class Envelope:
    """Both ends of a bound along the rounds: they lie apart where constants are intervals."""

    low: Float[np.ndarray, " k"]
    high: Float[np.ndarray, " k"]


@dataclass(frozen=True)
class Panel:
    """What one figure shows: an observed curve (with a band, if any) below its envelopes.

    Attributes:
        axis_label, quantity_label: the paper's glyphs, in LaTeX.
        low, high: the band around `observed`: the error of a curve, or the range over seeds.
    """

    rounds: Int[np.ndarray, " k"]
    observed: Float[np.ndarray, " k"]
    low: Float[np.ndarray, " k"]
    high: Float[np.ndarray, " k"]
    envelopes: dict[str, Envelope]
    axis_label: str
    quantity_label: str
    band_label: str
    band_is_error: bool


def draw(panel: Panel) -> bytes:
    """The figure as a PNG, the same bytes for the same panel."""
    with mpl.rc_context(_STYLE):  # type: ignore[arg-type]  # matplotlib types every key as a literal
        figure = Figure(figsize=SIZE)
        # Fixed margins: a layout engine would draw everything twice.
        axes = figure.subplots(gridspec_kw={"left": 0.125, "right": 0.985, "bottom": 0.125, "top": 0.975})
        floor = _positive_floor(panel)
        clip = lambda y: np.maximum(y, floor)  # noqa: E731  (a log axis has no zero)
        axes.fill_between(panel.rounds, clip(panel.low), clip(panel.high), color=_INK, alpha=0.15, lw=0)
        axes.plot(
            panel.rounds, clip(panel.observed), color=_INK, lw=1.8, label=f"observed ({panel.band_label})"
        )
        for edition, ends in panel.envelopes.items():
            _draw_envelope(axes, panel.rounds, edition, Envelope(clip(ends.low), clip(ends.high)))
        axes.set_yscale("log")
        axes.set_ylim(bottom=floor)
        if panel.rounds.size > 1 and panel.rounds[-1] > 200 * max(int(panel.rounds[0]), 1):
            axes.set_xscale("log")
        else:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # there is no round 0.2
        axes.set_xlabel(f"${panel.axis_label}$")
        axes.set_ylabel(f"${panel.quantity_label}$")
        axes.grid(True, which="major", alpha=0.25)
        axes.legend(frameon=False, loc="best")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _draw_envelope(axes: Axes, rounds: Int[np.ndarray, " k"], edition: str, ends: Envelope) -> None:
    """One line; or, where the ends are visibly apart, a band between them with both ends as thin lines."""
    colour, line = EDITION_STYLE[edition]
    wide = bool(np.any(apart(ends.low, ends.high)))
    label = f"bound, {edition}" + (" (band: constants are intervals)" if wide else "")
    axes.plot(rounds, ends.high, color=colour, ls=line, lw=1.4 if wide else 2.2, label=label)
    if wide:
        axes.fill_between(rounds, ends.low, ends.high, color=colour, alpha=0.3, lw=0)
        axes.plot(rounds, ends.low, color=colour, ls=line, lw=1.4)


def _positive_floor(panel: Panel) -> float:
    """A level just below what is shown, where zeros are drawn: nothing is resolved below the band's half-width."""
    # a lower end far below its upper one would squeeze all else: it runs out of the picture
    lower = [np.maximum(ends.low, ends.high / _DEEPEST) for ends in panel.envelopes.values()]
    shown = [panel.observed, *(ends.high for ends in panel.envelopes.values()), *lower]
    positive = np.concatenate([y[(y > 0) & np.isfinite(y)] for y in shown])
    if not positive.size:
        return 1e-16
    errors = panel.high - panel.observed
    resolved = float(errors.min()) / 3 if panel.band_is_error else 0.0
    return max(float(positive.min()) / 3, resolved)
