"""The paper's experiments, run: figures beside what Section 5 says and what we found.

`run_all(seed, progress)` runs Sections 5.1 to 5.3; `python -m verify.experiments` writes them to a folder. The ledger's
checks of Section 5 are in `verify.experiments.claims`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bounds.on_demand import lazy

if TYPE_CHECKING:
    from verify.experiments.results import Drawing, Experiment, Finding, Outcome, Table
    from verify.experiments.running import run_all, run_section

SECTIONS = ("5.1", "5.2", "5.3")
MARKER = "experiments.json"  # in a folder that `python -m verify.experiments` wrote

__all__ = [
    "MARKER",
    "SECTIONS",
    "Drawing",
    "Experiment",
    "Finding",
    "Outcome",
    "Table",
    "run_all",
    "run_section",
]

_NAMES = {
    "verify.experiments.results": ("Drawing", "Experiment", "Finding", "Outcome", "Table"),
    "verify.experiments.running": ("run_all", "run_section"),
}
__getattr__, __dir__ = lazy(__name__, _NAMES)
