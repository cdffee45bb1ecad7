"""What an experiment returns: figures with the numbers they show, and findings beside the paper's sentences."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from jaxtyping import Shaped


class Outcome(StrEnum):
    """What was found, beside what the text says."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    OPEN = "cannot be judged"


@dataclass(frozen=True)
class Finding:
    """One sentence of Section 5 beside what was computed.

    Attributes:
        where: "Section 5.2, sentence 7"; claim: its gist; found: what we computed, with numbers.
        step: the ledger's step that settles it, where there is one.
    """

    where: str
    claim: str
    found: str
    outcome: Outcome
    step: str = ""

    def to_json(self) -> dict[str, str]:
        """Plain strings."""
        return {
            "where": self.where,
            "claim": self.claim,
            "found": self.found,
            "outcome": str(self.outcome),
            "step": self.step,
        }


@dataclass(frozen=True, eq=False)
class Table:
    """The numbers of a figure: columns of equal length, and what the figure says in words.

    Attributes:
        columns: by name; numbers or strings.
        about: title, axis labels and notes, by name (strings), written above the columns in the CSV file.
    """

    columns: Mapping[str, Shaped[np.ndarray, " k"]]
    about: Mapping[str, str] = field(default_factory=dict)

    def to_csv(self) -> str:
        """`# name: text` lines, a header and the rows; floats in full."""
        out = io.StringIO()
        for name, text in self.about.items():
            out.write(f"# {name}: {' '.join(text.split())}\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        for row in zip(*(c.tolist() for c in self.columns.values()), strict=True):
            writer.writerow([repr(v) if isinstance(v, float) else v for v in row])
        return out.getvalue()

    @staticmethod
    def from_csv(text: str) -> Table:
        """The inverse of `to_csv`.

        Raises:
            ValueError: for a text without a header or with rows of other lengths.
        """
        lines = text.splitlines()
        about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
        rows = list(csv.reader(line for line in lines if not line.startswith("#")))
        if not rows or any(len(row) != len(rows[0]) for row in rows):
            raise ValueError("not the table of a figure: give the CSV file that lies beside it")
        columns = {name: _column([row[k] for row in rows[1:]]) for k, name in enumerate(rows[0])}
        return Table(columns, about)


def _column(cells: list[str]) -> np.ndarray:
    try:
        return np.array([float(c) for c in cells])
    except ValueError:
        return np.array(cells)


@dataclass(frozen=True, eq=False)
class Drawing:
    """One figure.

    Attributes:
        name: its file name without ending; caption: one sentence, for a page and as alternative text.
        module: the module that draws it from its table (`python -m MODULE FILE.csv`).
    """

    name: str
    caption: str
    png: bytes
    svg: bytes
    table: Table
    module: str


@dataclass(frozen=True, eq=False)
class Experiment:
    """One experiment of Section 5, run.

    Attributes:
        id: "Section 5.1"; title: its name; data: which data stood in.
        settings: the numbers it ran with, those that the paper does not print marked as ours.
    """

    id: str
    title: str
    data: str
    settings: Mapping[str, str]
    drawings: tuple[Drawing, ...]
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """Everything but the pictures."""
        return {
            "id": self.id,
            "title": self.title,
            "data": self.data,
            "settings": dict(self.settings),
            "figures": [{"name": d.name, "caption": d.caption, "module": d.module} for d in self.drawings],
            "findings": [f.to_json() for f in self.findings],
        }
