"""The worst instance of one statement: islands of search, then shrinking, then a proof."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import bounds
from bounds import Statement
from simulate.parallel import Failed, Workers, local, results
from verify.auditing import Progress
from verify.errors import InputError
from verify.instance import parse_instance
from verify.searching.families import Family
from verify.searching.names import BUDGET, require_searchable
from verify.searching.objective import TARGETS
from verify.searching.optimise import Found, Interrupted, optimise
from verify.searching.recheck import Recheck, recheck
from verify.searching.shrink import least_kept, shrink
from verify.searching.toml import instance_toml
from verify.verdict import Outcome, Verdict

_CLIENTS = (2, 3)
# How far a proved ratio may lie below the searched one before the latter counts as a rounding artefact.
_AGREES = 1e-6


@dataclass(frozen=True)
class Worst:
    """The worst instance found for one edition of a statement.

    Attributes:
        ratio, ratio_high: an enclosure of observed/bound of `instance` at its worst round.
        instance: the worst one found, shrunk to small numbers, in TOML: `python -m verify.report --instance FILE`
            runs it.
        verdict: of the instance, every side enclosed.
        found, searched: the instance before it was shrunk, and its ratio, proved too; empty and `ratio` where the
            proof does not confirm what float64 saw (numbers at the edge of its precision).
        evaluations, seed, budget: of the search; partial: whether it was interrupted.
    """

    statement: str
    edition: str
    ratio: float
    ratio_high: float
    instance: str
    verdict: Verdict
    searched: float
    found: str
    evaluations: int
    seed: int
    budget: int
    partial: bool = False

    def to_json(self) -> dict[str, Any]:
        """As plain data; floats in full."""
        return {**asdict(self), "verdict": self.verdict.to_json()}


@dataclass(frozen=True)
class _Island:
    """One independent search."""

    statement: str
    edition: str
    m: int
    noisy: bool
    seed: int
    budget: int


def searchable() -> tuple[str, ...]:
    """The statements that have a family, in the paper's order."""
    return tuple(name for name in bounds.ids() if name in TARGETS)


def known_statement(statement_id: str, edition: str) -> Statement:
    """The statement, if there is one and it can be searched.

    Raises:
        InputError: naming what would be right.
    """
    require_searchable(statement_id)
    try:
        return bounds.get(statement_id, edition)
    except bounds.UnknownStatement as error:
        raise InputError(str(error)) from None


def worst_case(
    statement_id: str,
    edition: str = "corrected",
    *,
    seed: int = 0,
    budget: int = BUDGET,
    jobs: int = 1,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Worst:
    """Look for the instance that makes observed/bound largest, every hypothesis respected.

    Args:
        seed: the same seed finds the same instance, whatever `jobs` and `workers`.
        budget: evaluations of the ratio, over all islands.
        jobs: processes (`workers`: any other place that runs tasks).
        progress: called as islands finish.

    Returns:
        The worst instance, shrunk and proved; Ctrl-C gives the worst so far, marked partial.

    Raises:
        InputError: for a statement without a family, or if no instance was found or proved.
        KeyboardInterrupt: before anything was found.
    """
    statement = known_statement(statement_id, edition)
    islands = _islands(statement, seed, budget)
    found, partial = _search(islands, workers or local(jobs), progress or (lambda what, done, total: None))
    if partial and not found:
        raise KeyboardInterrupt
    evaluations = sum(f.evaluations for f in found.values())
    order = sorted(found, key=lambda i: (-found[i].ratio, i))
    for i in order:
        best = found[i].best
        if best is None:
            continue
        text = instance_toml(best, statement)
        before = _proved(statement, text, found[i].ratio)
        small = instance_toml(shrink(statement, best, found[i].ratio), statement)
        after = _proved(statement, small, least_kept(found[i].ratio))
        if after is None and before is not None:
            small, after = text, before
        if after is not None:
            return Worst(
                statement.id, str(statement.edition), after.low, after.high, small, after.verdict,
                after.low if before is None else before.low, "" if before is None else text,
                evaluations, seed, budget, partial,
            )  # fmt: skip
    raise InputError(
        f"{statement_id}, {edition}: no instance found in {budget} evaluations: give a larger --budget"
    )


def _islands(statement: Statement, seed: int, budget: int) -> list[_Island]:
    noise = (False, True) if TARGETS[statement.id].learns else (False,)
    kinds = [(m, noisy) for noisy in noise for m in _CLIENTS]
    each = -(-budget // len(kinds))
    return [_Island(statement.id, str(statement.edition), m, noisy, seed, each) for m, noisy in kinds]


def _search(islands: list[_Island], workers: Workers, tell: Progress) -> tuple[dict[int, Found], bool]:
    """What each island found, and whether Ctrl-C came first."""
    found: dict[int, Found] = {}
    what = f"searching {islands[0].statement}, {islands[0].edition}"
    tell(what, 0, len(islands))
    try:
        for i, result in results(search_island, None, enumerate(islands), workers):
            if isinstance(result, Failed):
                raise result.exception()
            found[i] = result
            tell(what, len(found), len(islands))
    except Interrupted as stopped:
        if stopped.found.best is not None:
            found[len(islands)] = stopped.found
        return found, True
    except KeyboardInterrupt:
        return found, True
    return found, False


def search_island(_: None, island: _Island) -> Found:
    """The task of one island."""
    family = Family(bounds.get(island.statement, island.edition), island.m, island.noisy)
    return optimise(family, island.seed, island.budget)


def _proved(statement: Statement, text: str, least: float) -> Recheck | None:
    """The proof that an instance's ratio is at least `least`; None if there is none."""
    try:
        proof = recheck(parse_instance(text, "the instance found"), statement)
    except InputError:
        return None  # too degenerate to be built: N* or a constant is not proved
    fails = proof.verdict.outcome is Outcome.HYPOTHESIS_FAILS
    return None if fails or proof.low < least * (1 - _AGREES) else proof


__all__ = ["BUDGET", "Worst", "known_statement", "search_island", "searchable", "worst_case"]
