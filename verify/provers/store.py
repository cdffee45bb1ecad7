"""What was found once and need only be re-checked: certificates, points that show a hypothesis needed or a
constant
sharp, one file a statement, keyed by the digest of the obligation (so nothing stale is ever used)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

from bounds.core.step import Obligation

PACKAGE = "bounds.incentfedavg.steps"


def slug(statement: str) -> str:
    """A file name for a statement id."""
    return re.sub(r"[^a-z0-9]+", "_", statement.lower()).strip("_")


class Store:
    """The stored findings of one statement; `record` collects new ones, `save` writes them."""

    def __init__(self, statement: str, *, read: bool = True, folder: Path | None = None) -> None:
        self.path = (folder or Path(str(files(PACKAGE) / "certificates"))) / f"{slug(statement)}.json"
        known = json.loads(self.path.read_text()) if read and self.path.exists() else {}
        self._known: dict[str, dict[str, Any]] = known
        self._used: dict[str, dict[str, Any]] = {}

    def get(self, obligation: Obligation) -> dict[str, Any]:
        """The findings about an obligation (empty when there are none), open for additions."""
        digest = obligation.digest
        return self._used.setdefault(digest, self._known.get(digest, {}))

    def found(self) -> dict[str, dict[str, Any]]:
        """What this session used, sorted."""
        return {k: v for k, v in sorted(self._used.items()) if v}

    def save(self, kept: Mapping[str, Mapping[str, Any]]) -> None:
        """Writes what a session `found`; findings about obligations that are gone are dropped."""
        if kept:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lines = (f" {json.dumps(k)}: {json.dumps(v, sort_keys=True)}" for k, v in kept.items())
            self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        elif self.path.exists():
            self.path.unlink()


def write_point(point: Mapping[str, Fraction]) -> dict[str, str]:
    """A rational point as JSON."""
    return {k: str(v) for k, v in sorted(point.items())}


def read_point(stored: Mapping[str, str]) -> dict[str, Fraction]:
    """The inverse of `write_point`."""
    return {k: Fraction(v) for k, v in stored.items()}
