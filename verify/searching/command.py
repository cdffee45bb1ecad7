"""The work of `python -m verify.search`: search, prove again, renew, and show."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import bounds
from verify.errors import EXIT_INTERRUPTED, EXIT_STANDS, EXIT_VIOLATED
from verify.progress import progress
from verify.searching.names import SEARCHABLE
from verify.searching.store import FILE, Stored, stored, table, write
from verify.searching.worst import Worst, known_statement, worst_case

_WIDER = 1e-9  # a ratio made again agrees with the stored one to this


def run(options: argparse.Namespace) -> int:
    """Search, or do what else the options ask for; the exit status as an int."""
    if options.table:
        return _show(table(list(stored().values())), options.out)
    if options.recheck:
        return _recheck(list(stored().values()))
    if options.renew:
        return _renew(options)
    known_statement(options.id, options.edition)
    with progress() as tell:
        worst = worst_case(
            options.id, options.edition, seed=options.seed, budget=options.budget, jobs=options.jobs, progress=tell
        )  # fmt: skip
    if options.out is not None:
        options.out.write_text(worst.instance, "utf-8")
    print(json.dumps(worst.to_json(), indent=1) if options.json else describe(worst, options.out))
    return EXIT_INTERRUPTED if worst.partial else EXIT_STANDS


def describe(worst: Worst, out: Path | None) -> str:
    """The result for a person: the ratio, what it means, the instance."""
    lines = [
        f"{worst.statement}, {worst.edition}: observed/bound = {worst.ratio:.10g} ({worst.verdict.outcome}: "
        f"{worst.verdict.reason})",
        f"before shrinking {worst.searched:.10g}; {worst.evaluations} evaluations from seed {worst.seed}"
        + ("; interrupted, the worst so far" if worst.partial else ""),
    ]
    lines += ["", worst.instance] if out is None else [f"instance: {out}"]
    return "\n".join(lines).rstrip()


def _show(text: str, out: Path | None) -> int:
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, "utf-8")
    return EXIT_STANDS


def _recheck(items: list[Stored]) -> int:
    """Prove every stored ratio again; 1 if one is not what it was."""
    failed = 0
    for item in items:
        made = item.recheck()
        found = item.recheck_found()
        good = _same(made.low, item.ratio) and str(made.verdict.outcome) == item.outcome
        good &= found is None or _same(found.low, item.searched)
        failed += not good
        print(
            f"{'proved' if good else 'DIFFERS'}  {item.statement}, {item.edition}: {made.low:.10g}, {item.outcome}"
        )
    return EXIT_VIOLATED if failed else EXIT_STANDS


def _same(x: float, y: float) -> bool:
    return abs(x - y) <= _WIDER * abs(y)


def _renew(options: argparse.Namespace) -> int:
    winners: list[Worst] = []
    with progress() as tell:
        for statement in SEARCHABLE:
            for edition in bounds.editions(statement):
                worst = worst_case(
                    statement, str(edition), seed=options.seed, budget=options.budget, jobs=options.jobs, progress=tell
                )  # fmt: skip
                if worst.partial:
                    raise KeyboardInterrupt  # half a table would replace a whole one
                winners.append(worst)
    write(winners, options.out or Path(__file__).parent / FILE)
    return EXIT_STANDS
