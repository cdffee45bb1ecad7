"""Writes docs/section-5.md from the ledger, and its two figures from the experiments: `python docs/section_5.py`."""

from pathlib import Path

from verify.experiments import run_section
from verify.experiments.page import page
from verify.ledger_run import run_ledger

FIGURES = {"5.2": "5.2-aggregate", "5.3": "5.3-starts"}


def main() -> None:
    """Runs Sections 5.2 and 5.3 in full (about a minute)."""
    docs = Path(__file__).parent
    (docs / "section-5.md").write_text(page(run_ledger(only="Section 5.")), "utf-8")
    for section, name in FIGURES.items():
        drawings = run_section(section)[0].drawings
        (docs / "figures" / f"{name}.png").write_bytes(next(d.png for d in drawings if d.name == name))


if __name__ == "__main__":
    main()
