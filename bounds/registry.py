"""Where each statement lives; its file is imported, and its expressions are compiled, on first use only."""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module

from bounds.core.errors import UnknownStatement
from bounds.core.statement import Edition, Statement

# In the paper's order.
_FILE_OF: dict[str, str] = {
    "Assumption 2.1(i)": "assumptions",
    "Assumption 2.1(ii)": "assumptions",
    "Assumption 2.1(iii)": "assumptions",
    "Assumption 2.2(i)": "assumptions",
    "Assumption 2.2(ii)": "assumptions",
    "Assumption 2.3(i)": "assumptions",
    "Assumption 2.3(ii)": "assumptions",
    "Assumption 2.3(iii)": "assumptions",
    "Algorithm 1": "algorithm",
    "Lemma 4.2": "algorithm",
    "Lemma 4.3(i)": "lemma_4_3",
    "Lemma 4.3(ii)": "lemma_4_3",
    "Lemma 4.4(i)": "lemma_4_4",
    "Lemma 4.4(i-lower)": "lemma_4_4",
    "Lemma 4.4(ii)": "lemma_4_4",
    "Lemma 4.4(iii)": "lemma_4_4",
    "Lemma 4.4(iv)": "lemma_4_4",
    "Assumption 4.5": "assumptions",
    "Theorem 4.6(i-1)": "theorem_4_6",
    "Theorem 4.6(i-2)": "theorem_4_6",
    "Theorem 4.6(ii)": "complexity",
    "Assumption 4.8": "assumptions",
    "Theorem 4.9(i-1)": "theorem_4_9",
    "Theorem 4.9(i-2)": "theorem_4_9",
    "Theorem 4.9(ii)": "complexity",
    "Theorem 4.10(i)": "theorem_4_10",
    "Theorem 4.10(ii)": "theorem_4_10",
    "Lemma 4.11": "algorithm",
    "Lemma 4.12": "lemmas_4_12_to_4_14",
    "Lemma 4.13(i)": "lemmas_4_12_to_4_14",
    "Lemma 4.13(ii)": "lemmas_4_12_to_4_14",
    "Lemma 4.13(iii)": "lemmas_4_12_to_4_14",
    "Lemma 4.14(a)": "lemmas_4_12_to_4_14",
    "Lemma 4.14(b)": "lemmas_4_12_to_4_14",
    "Section 5.1": "experiments",
    "Section 5.2": "experiments",
    "Section 5.3": "experiments",
    "Remark 6.1": "algorithm",
    "Remark 6.2": "algorithm",
    "Lemma 6.3": "lemma_6_3",
    "Lemma 6.5": "lemma_6_5",
    "Lemma 6.6": "lemmas_6_6_to_6_10",
    "Lemma 6.7": "lemmas_6_6_to_6_10",
    "Lemma 6.8": "lemmas_6_6_to_6_10",
    "Lemma 6.9": "lemmas_6_6_to_6_10",
    "Lemma 6.10": "lemmas_6_6_to_6_10",
}


def ids() -> tuple[str, ...]:
    """The ids of all statements, in the paper's order."""
    return tuple(_FILE_OF)


@cache
def _editions(id: str) -> dict[Edition, Statement]:
    module = import_module(f"bounds.incentfedavg.{_FILE_OF[id]}")
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


def _known(id: str) -> str:
    if id in _FILE_OF:
        return id
    parts = [known for known in _FILE_OF if known.startswith(id)] if id else []
    near = parts[:5] or difflib.get_close_matches(id, _FILE_OF, n=3, cutoff=0.5) or list(_FILE_OF)[:3]
    raise UnknownStatement(f"no statement {id!r}: did you mean {', '.join(near)}? See bounds.ids()")
