"""Where each statement lives; its file is imported, and its expressions are compiled, on first use only."""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module

from bounds.contents import FILE_OF
from bounds.core.errors import UnknownStatement
from bounds.core.statement import Edition, Statement


@cache
def _editions(id: str) -> dict[Edition, Statement]:
    module = import_module(f"bounds.incentfedavg.{FILE_OF[id]}")
    return {s.edition: s for s in module.STATEMENTS if s.id == id}


def editions(id: str) -> tuple[Edition, ...]:
    """The editions that a statement has.

    Raises:
        UnknownStatement: for an unknown id, naming near ones.
    """
    return tuple(_editions(_known(id)))


def get(id: str, edition: str = "corrected") -> Statement:
    """One edition of one statement.

    Args:
        id: as in `ids()`, "Theorem 4.6(i-1)".
        edition: "printed", "corrected" or "sharp".

    Raises:
        UnknownStatement: for an unknown id or edition, naming near ones.
    """
    found = _editions(_known(id))
    if edition not in found:
        raise UnknownStatement(f"{id} has no edition {edition!r}: it has {', '.join(found)}")
    return found[Edition(edition)]


def start_gap() -> Statement:
    """The a-priori bound on the optimality gap when counting starts (sharp; not in the paper)."""
    from bounds.incentfedavg.start import START_GAP

    return START_GAP


def start_distance() -> Statement:
    """The a-priori bound on the mean square distance to x* when counting starts (sharp; not in the paper)."""
    from bounds.incentfedavg.start import START_DISTANCE

    return START_DISTANCE


def _known(id: str) -> str:
    if id in FILE_OF:
        return id
    parts = [known for known in FILE_OF if known.startswith(id)] if id else []
    near = parts[:5] or difflib.get_close_matches(id, FILE_OF, n=3, cutoff=0.5) or list(FILE_OF)[:3]
    raise UnknownStatement(f"no statement {id!r}: did you mean {', '.join(near)}? See bounds.ids()")
