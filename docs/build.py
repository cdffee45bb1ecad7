"""Writes docs/statements.html: the symbol table, then every statement with its editions side by side.

The page is one file that needs no network: formulas are drawn as SVG by matplotlib's mathtext from the very
LaTeX that `Statement.latex()` gives, with the LaTeX itself as the text for readers and search. Run `python
docs/build.py`.
"""

from __future__ import annotations

import argparse
import html
import re
from pathlib import Path

from mathsvg import MathSvg

import bounds
from bounds import SYMBOLS, Kind, Sense, Statement

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 Georgia, serif; margin: 0 auto; max-width: 78rem; padding: 1rem; color: #222; }
h1, h2, h3 { font-family: system-ui, sans-serif; line-height: 1.2; }
nav { columns: 14rem; font: 14px/1.6 system-ui, sans-serif; }
table { border-collapse: collapse; font-size: 14px; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; vertical-align: top; }
.wide { overflow-x: auto; }
.editions { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr));
}
.edition { border: 1px solid #ccc; border-radius: 6px; padding: .6rem .8rem; min-width: 0; }
.edition h4 { margin: 0 0 .4rem; font: bold 14px system-ui, sans-serif; }
.formula { overflow-x: auto; padding: .3rem 0; }
.new { background: #fff2c4; border-radius: 3px; box-decoration-break: clone; }
.note, .meta { font-size: 14px; color: #444; }
li { margin: .1rem 0; }
.kind { color: #777; font-weight: normal; font-size: 80%; }
"""


SIGNS = {Sense.AT_MOST: r"\leq", Sense.AT_LEAST: r"\geq", Sense.EQUAL: "="}
HEAD = "".join(f"<th>{t}</th>" for t in ("glyph", "name", "meaning", "domain", "unit", "source"))
MATH = MathSvg()


def svg(latex: str) -> str:
    """The formula as an inline image."""
    return MATH.draw(latex)


def rows_of(statement: Statement) -> tuple[str, list[str]]:
    """(what stands before the sum, the summands), so that each difference between editions has a line."""
    glyph = bounds.QUANTITIES[statement.quantity].latex
    expression = statement.expression
    if expression is None:
        return glyph, []
    if statement.kind is Kind.ORDER:
        names = {
            n: "R_{" + n.removeprefix("R_").replace("hat", r"\mathrm{hat}") + "}" for n in statement.terms
        }
        head = rf"{glyph} = O(\max\{{{', '.join(names.values())}\}})"
        return head, [f"{names[n]} = {statement.latex_of(e)}" for n, e in statement.terms.items()]
    head = f"{glyph} {SIGNS[statement.sense]}"
    if expression.is_Mul:
        sums = [a for a in expression.args if a.is_Add and len(a.args) > 2]
        if len(sums) == 1:
            head += rf" {statement.latex_of(expression / sums[0])} \; \times \; \mathrm{{the \; sum \; of}}"
            expression = sums[0]
    terms = expression.args if expression.is_Add and len(expression.args) > 2 else [expression]
    return head, [statement.latex_of(t) for t in terms]


def formulas(statement: Statement, printed: Statement) -> str:
    """The formula, summand by summand, those that the printed edition lacks highlighted."""
    head, terms = rows_of(statement)
    known_head, known = rows_of(printed)
    if len(terms) == 1:
        head, known_head, known = f"{head} {terms[0]}", f"{known_head} {known[0]}" if known else "", known
        terms = []
    parts = [(head, head == known_head or statement is printed)]
    join = "" if statement.kind is Kind.ORDER else r"\quad"
    for i, term in enumerate(terms):
        sign = "" if term.startswith("-") or i == 0 or not join else "+ "
        parts.append((f"{join} {sign}{term}", term in known))
    return "".join(
        f'<div class="formula">{svg(text)}</div>'
        if same
        else f'<div class="formula"><span class="new">{svg(text)}</span></div>'
        for text, same in parts
    )


def conditions(statement: Statement, printed: Statement) -> str:
    """The hypotheses, the ones that the printed edition lacks highlighted."""
    if not statement.hypotheses:
        return '<p class="meta">No conditions on constants.</p>'
    known = {h.name for h in printed.hypotheses}
    rows = [
        f"<li>{svg(statement.latex_of(h.relation))}</li>"
        if h.name in known
        else f'<li><span class="new">{svg(statement.latex_of(h.relation))}</span></li>'
        for h in statement.hypotheses
    ]
    return f'<ul class="wide">{"".join(rows)}</ul>'


def edition_box(statement: Statement, printed: Statement) -> str:
    """One edition: formula, conditions, note."""
    words = f'<p class="meta">{html.escape(statement.text)}</p>' if statement.text else ""
    note = f'<p class="note">{html.escape(statement.note)}</p>' if statement.note else ""
    return (
        f'<div class="edition"><h4>{statement.edition}</h4>{formulas(statement, printed)}{words}'
        f"{conditions(statement, printed)}{note}</div>"
    )


def anchor(name: str) -> str:
    """The id of a statement's section in the page."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def section(name: str) -> str:
    """A statement with all its editions."""
    editions = [bounds.get(name, e) for e in bounds.editions(name)]
    return statement_section(name, editions)


def statement_section(name: str, editions: list[Statement]) -> str:
    """The section of some editions of one statement."""
    first = editions[0]
    boxes = "".join(edition_box(s, first) for s in editions)
    quantity = bounds.QUANTITIES[first.quantity]
    sampling = ", ".join(first.sampling)
    return (
        f'<section id="{anchor(name)}"><h3>{name} <span class="kind">{first.kind}</span></h3>'
        f'<p class="meta">{html.escape(first.source)}. Observes {html.escape(quantity.meaning)}. '
        f"Sampling: {sampling}.</p>"
        f'<div class="editions">{boxes}</div></section>'
    )


def symbol_rows() -> str:
    """The rows of the symbol table."""
    return "".join(
        f"<tr><td>{svg(s.latex)}</td><td><code>{s.name}</code></td>"
        + "".join(f"<td>{html.escape(text)}</td>" for text in (s.meaning, str(s.domain), s.unit, s.source))
        + "</tr>"
        for s in SYMBOLS.values()
    )


def page(ids: tuple[str, ...] = bounds.ids()) -> str:
    """The whole page, of the statements named."""
    table = symbol_rows()
    links = "".join(f'<div><a href="#{anchor(i)}">{i}</a></div>' for i in ids)
    sections = "".join(section(i) for i in ids)
    start = "".join(statement_section(s.id, [s]) for s in (bounds.start_gap(), bounds.start_distance()))
    body = (
        "<h1>Every statement, in its editions</h1><p>Made from the registry by <code>docs/build.py</code>. "
        'What an edition adds to the printed one is <span class="new">highlighted</span>.</p>'
        f'<nav>{links}</nav><h2>Symbols</h2><div class="wide"><table><thead>{HEAD}</thead>'
        f"<tbody>{table}</tbody></table></div><h2>Statements</h2>{sections}<h2>Not in the paper</h2>{start}"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>boundaudit: every "
        f"statement</title><style>{STYLE}</style></head><body>{MATH.glyphs()}{body}</body></html>\n"
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "statements.html")
    target = parser.parse_args().out
    target.write_text(page(), encoding="utf-8")
    print(f"{target}: {len(bounds.ids())} statements, {target.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
