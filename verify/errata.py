"""The slips as LaTeX, for a referee's report: every refuted step with its counterexample and its repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import sympy

from bounds import SYMBOLS
from verify.judge import Report
from verify.provers.discharge import Status

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "*": r"\textasteriskcentered{}",
}  # fmt: skip
_RELATION = {"<=": r"\le", "<": "<", ">=": r"\ge", ">": ">", "==": "="}
_SURVIVES = {
    "yes": "The statement stands all the same.",
    "no": "The statement as printed is false.",
    "open": "Whether the statement stands is open.",
}


def latex(reports: Sequence[Report]) -> str:
    """A LaTeX document of the refuted steps of the printed edition, in the paper's order."""
    refuted = [r for r in reports if r.status is Status.REFUTED and r.step.edition == "printed"]
    lines = [
        r"\documentclass{article}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage{amsmath,amssymb}",
        r"\usepackage[margin=2.5cm]{geometry}",
        r"\sloppy",
        r"\begin{document}",
        r"\section*{Errata}",
        "Each relation below is refuted by the exact point beside it, which satisfies every hypothesis of the "
        "statement. All were found by \\texttt{python -m verify.ledger}.",
    ]
    if not refuted:
        lines += ["", "None."]
    for statement, group in groupby(refuted, key=lambda r: r.step.statement):
        lines += ["", rf"\subsection*{{{escape(statement)}}}", r"\begin{description}"]
        for report in group:
            lines += _item(report)
        lines.append(r"\end{description}")
    return "\n".join([*lines, "", r"\end{document}", ""])


def _item(report: Report) -> list[str]:
    step = report.step
    lines = [rf"\item[{escape(step.id)}] {escape(step.text)} ({escape(step.source)})."]
    claim = next((o.claim for o in step.obligations if str(o.claim) in report.refuted_obligation), None)
    if claim is not None:
        sides = (_math(claim.lhs), _RELATION[claim.op], _math(claim.rhs))
        lines.append(rf"\[ {' '.join(sides)} \]")
    if report.counterexample:
        lines.append(f"Fails at {_point(report.counterexample)}.")
    if report.sides is not None:
        lines.append(rf"Left side ${escape(report.sides[0])}$, right side ${escape(report.sides[1])}$.")
    lines.append(_SURVIVES[report.survives or "open"])
    if report.repair:
        lines.append(rf"Repair (proved): {escape(report.repair)}.")
    if report.used_by:
        lines.append(rf"Used by: {escape(', '.join(report.used_by))}.")
    return lines


def _math(expression: sympy.Expr) -> str:
    names = {s: _glyph(s.name) for s in expression.free_symbols}
    return str(sympy.latex(expression, symbol_names=names))


def _glyph(name: str) -> str:
    """The paper's glyph where the name is a symbol of the paper, else the name upright."""
    return SYMBOLS[name].latex if name in SYMBOLS else rf"\mathrm{{{escape(name)}}}"


def _point(values: Mapping[str, str]) -> str:
    return ", ".join(f"${_glyph(k)}$ = {escape(v)}" for k, v in values.items())


def escape(text: str) -> str:
    """Plain text with LaTeX's special characters made harmless."""
    return "".join(_SPECIAL.get(c, c) for c in text)
