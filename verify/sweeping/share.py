"""One machine's part of a sweep."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """One of `count` equal parts of a sweep's work, for machines that share no scheduler."""

    index: int = 1
    count: int = 1

    def takes(self, place: int) -> bool:
        """Whether this part does the unit at a place."""
        return place % self.count == self.index - 1


WHOLE = Share()
