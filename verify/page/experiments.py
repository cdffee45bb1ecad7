"""The paper's experiments on the page: what its text says, what was found, and the figures."""

from __future__ import annotations

import base64
from typing import Any

from verify.experiments.results import Experiment, Outcome
from verify.page.figures import slug

_BADGE = {
    Outcome.AGREES: ("holds", "✓"),
    Outcome.CONTRADICTS: ("violated", "✗"),
    Outcome.OPEN: ("inconclusive", "?"),
}


def experiment_card(experiment: Experiment) -> dict[str, Any]:
    """What the template shows of one experiment."""
    return {
        "id": experiment.id,
        "anchor": slug(f"{experiment.id} {experiment.title}"),
        "title": experiment.title,
        "data": experiment.data,
        "settings": dict(experiment.settings),
        "findings": [
            {
                "where": f.where,
                "claim": f.claim,
                "found": f.found,
                "outcome": str(f.outcome),
                "badge": _BADGE[f.outcome][0],
                "glyph": _BADGE[f.outcome][1],
                "step": f.step,
            }
            for f in experiment.findings
        ],
        "figures": [
            {
                "data": "data:image/png;base64," + base64.b64encode(d.png).decode("ascii"),
                "caption": d.caption,
                "name": d.name,
            }
            for d in experiment.drawings
        ],
        "command": f"python -m verify.experiments {experiment.id.rsplit(maxsplit=1)[-1]}",
    }
