"""Run until decided, or until the budget is spent: seeds in blocks, each verdict kept from where it was first decided.

**The decision rule.** After each block (the instance's own number of seeds, then twice as many, and so on up to the
budget) every verdict that is still open is looked at on all seeds so far. A statement is decided the first time that
one of its two e-values reaches 1/alpha, and stays decided; seeds that others still need do not undo it. It ends when
nothing is open that more seeds would decide, or at the budget.

**Why that is honest.** For independent seeds each product of bets is a nonnegative martingale (or supermartingale)
in the number of seeds under the hypothesis that it tests, started at 1: the bets and the planned number of seeds are
fixed beforehand. By Ville's inequality the chance that it *ever* reaches 1/alpha is at most alpha, however often and
on whatever grounds one looks, stops or goes on. A mean of such processes is one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import xarray as xr

from verify.examine import Finding
from verify.verdict import Outcome, Rigor


def sequential(
    count: int,
    first: int,
    budget: int,
    more: Callable[[range], xr.Dataset],
    look: Callable[[int, xr.Dataset], Finding],
) -> tuple[xr.Dataset, tuple[Finding, ...]]:
    """The run as far as it went, and the findings of statements 0..count-1.

    Args:
        first: seeds of the first block; budget: the most seeds in all.
        more: runs seeds of a range; look: examines one statement on a run.
    """
    seeds = min(first, budget)
    run = more(range(seeds))
    found: dict[int, Finding] = {}
    open_ = list(range(count))
    while True:
        for i in open_:
            found[i] = look(i, run)
        open_ = [i for i in open_ if undecided(found[i])]
        if seeds >= budget or not any(found[i].verdict.more_seeds for i in open_):
            return run, tuple(found[i] for i in range(count))
        wanted = min(2 * seeds, budget)
        run = joined([run, more(range(seeds, wanted))])
        seeds = wanted


def undecided(finding: Finding) -> bool:
    """Whether further seeds could change the verdict."""
    verdict = finding.verdict
    return verdict.rigor is Rigor.STATISTICAL and verdict.outcome is Outcome.INCONCLUSIVE


def joined(parts: Sequence[xr.Dataset]) -> xr.Dataset:
    """Runs of the same configuration, their seeds one after the other."""
    if len(parts) == 1:
        return parts[0]
    whole: xr.Dataset = xr.concat(
        list(parts),
        dim="seed",
        data_vars="minimal",
        coords="minimal",
        compat="override",
        combine_attrs="override",
    )
    return whole
