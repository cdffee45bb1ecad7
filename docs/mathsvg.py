"""LaTeX as small inline SVGs that share one set of glyphs: matplotlib's mathtext, no network, no fonts."""

from __future__ import annotations

import html
from typing import Any

import matplotlib as mpl
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import text_to_path

mpl.rcParams["mathtext.fontset"] = "cm"
_FONT = FontProperties(size=12)
_SIZE = 17.0  # pixels an em
_COMMANDS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


class MathSvg:
    """Draws formulas and keeps the glyphs that they use.

    `draw` gives an `<svg>` that refers to glyphs by id; `glyphs` gives the hidden `<svg>` that defines
    them, to be put once into the page.
    """

    def __init__(self) -> None:
        self._map: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._drawn: dict[str, str] = {}

    def draw(self, latex: str) -> str:
        """The formula as an inline SVG image whose label is its LaTeX.

        Raises:
            ValueError: if mathtext cannot parse it.
        """
        if latex not in self._drawn:
            self._drawn[latex] = self._make(latex)
        return self._drawn[latex]

    def _make(self, latex: str) -> str:
        text = f"${latex}$"
        width, height, depth = text_to_path.get_text_width_height_descent(text, _FONT, ismath=True)
        placed, self._map, rules = text_to_path.get_glyphs_mathtext(_FONT, text, glyph_map=self._map)
        body = []
        for name, x, y, scale in placed:
            short = self._names.setdefault(name, f"g{len(self._names)}")
            body.append(f'<use href="#{short}" transform="translate({x:.4g} {y:.4g}) scale({scale:.4g})"/>')
        body += [f'<path d="{_outline(vertices, codes)}"/>' for vertices, codes in rules]
        # mathtext measures at the font's size, outlines are 100 units an em
        zoom = text_to_path.FONT_SCALE / _FONT.get_size_in_points()
        unit = _SIZE / text_to_path.FONT_SCALE
        w, h, d = width * zoom, height * zoom, depth * zoom
        box = f"-2 {-(h - d) - 2:.1f} {w + 4:.1f} {h + 4:.1f}"
        size = f"width:{(w + 4) * unit:.1f}px;height:{(h + 4) * unit:.1f}px"
        style = f"{size};vertical-align:{-(d + 2) * unit:.1f}px"
        label = html.escape(latex, quote=True)
        return (
            f'<svg role="img" aria-label="{label}" viewBox="{box}" style="{style}">'
            f'<g transform="scale(1 -1)">{"".join(body)}</g></svg>'
        )

    def glyphs(self) -> str:
        """The definitions of all glyphs drawn so far."""
        paths = "".join(
            f'<path id="{short}" d="{_outline(*self._map[name])}"/>' for name, short in self._names.items()
        )
        hidden = 'width="0" height="0" style="position:absolute" aria-hidden="true"'
        return f"<svg {hidden}><defs>{paths}</defs></svg>"


def _outline(vertices: Any, codes: Any) -> str:
    """A matplotlib path as SVG path data."""
    parts = []
    for points, code in Path(vertices, codes).iter_segments(simplify=False, curves=True):
        numbers = "" if code == Path.CLOSEPOLY else " ".join(f"{v:.4g}" for v in points)
        parts.append(f"{_COMMANDS[code]}{numbers}")
    return "".join(parts)
