"""The work of `python -m verify.experiments`: run the sections, write what was found."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from verify.experiments import MARKER, SECTIONS
from verify.experiments.results import Experiment
from verify.experiments.running import run_section
from verify.output import fresh_folder
from verify.progress import progress


def run(options: argparse.Namespace) -> int:
    """Run the sections that the options ask for, and write them; exit status 0."""
    found: list[Experiment] = []
    with progress() as tell:
        for section in SECTIONS if options.section is None else (options.section,):
            found += run_section(section, options.seed, tell, folder=options.data, quick=options.quick)
    write(found, options.out)
    print(summary(found))
    print(f"figures: {options.out}")
    return 0


def write(found: Sequence[Experiment], out: Path) -> None:
    """PNG, SVG and CSV of every figure, and experiments.json; all or nothing."""
    with fresh_folder(out) as folder:
        for drawing in (d for e in found for d in e.drawings):
            (folder / f"{drawing.name}.png").write_bytes(drawing.png)
            (folder / f"{drawing.name}.svg").write_bytes(drawing.svg)
            (folder / f"{drawing.name}.csv").write_text(drawing.table.to_csv(), "utf-8")
        (folder / MARKER).write_text(json.dumps([e.to_json() for e in found], indent=1) + "\n", "utf-8")


def summary(found: Sequence[Experiment]) -> str:
    """What each sentence says and what was found, as text."""
    lines = []
    for e in found:
        lines += [f"{e.id}: {e.title}", f"  {e.data}"]
        for f in e.findings:
            lines += [f"  [{f.outcome}] {f.where}: {f.claim}", f"      found: {f.found}"]
    return "\n".join(lines)
