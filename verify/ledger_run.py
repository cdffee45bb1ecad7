"""The work of `python -m verify.ledger`: judge the chosen steps, and show what was found."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from bounds.core.step import Step
from bounds.incentfedavg.steps import steps
from simulate.parallel import Failed, local, results
from verify import ledger_page, ledger_text
from verify.errors import InputError
from verify.judge import Report, conclude, judge_step
from verify.provers.discharge import Status, workshop
from verify.provers.store import Store


def run_ledger(
    *,
    only: str | None = None,
    edition: str | None = None,
    cold: bool = False,
    save: bool = False,
    jobs: int = 1,
) -> list[Report]:
    """Reports on the chosen steps; survival and uses are decided over the whole ledger that they need.

    Args:
        only: keep steps whose key contains it (an exact statement id keeps that statement alone).
        edition: keep one edition.
        cold: search for everything again; otherwise stored findings are re-checked.
        save: store what was found.
        jobs: processes that share the statements; the answers do not depend on it.

    Raises:
        ValueError: when nothing matches.
    """
    chosen = select(only, edition)
    keys = {s.key for s in chosen}
    statements = {s.statement for s in chosen}  # a statement falls with any of its steps
    keys |= {s.key for s in steps() if s.statement in statements}
    asked = {s.key for s in chosen}
    needed = {k for s in steps() if s.key in keys for k in (*s.survives_by, *s.fails_by)}
    wanted = [s for s in steps() if s.key in keys | needed]
    tasks: dict[str, list[str]] = {}
    for step in wanted:
        tasks.setdefault(step.statement, []).append(step.key)
    known: dict[str, Report] = {}
    workers = local(min(jobs, len(tasks)))
    for statement, found in results(judged, cold, ((s, tuple(k)) for s, k in tasks.items()), workers):
        if isinstance(found, Failed):
            raise found.exception()
        answers, stored = found
        known |= {s.key: Report(s, **answers[s.key]) for s in wanted if s.statement == statement}
        if save:
            Store(statement).save(stored)
    reports = [known[s.key] for s in wanted]
    conclude(reports)
    return [r for r in reports if r.step.key in asked]


def judged(cold: bool, keys: tuple[str, ...]) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Some steps of one statement, judged by themselves: by key the fields of a `Report` but for its step, which
    does not travel; and what the provers found, to be stored."""
    chosen = [s for s in steps() if s.key in keys]
    store, shop = Store(chosen[0].statement, read=not cold), workshop(search=cold)
    try:
        reports = [judge_step(step, shop, store) for step in chosen]
    finally:
        shop.close()
    names = [f.name for f in fields(Report) if f.name != "step"]
    return {r.step.key: {n: getattr(r, n) for n in names} for r in reports}, store.found()


def select(only: str | None, edition: str | None, option: str = "--only") -> list[Step]:
    """The steps that `--only` (or `--explain`) and `--edition` mean.

    Raises:
        ValueError: when there are none.
    """
    found = [s for s in steps() if (edition is None or s.edition == edition) and only != ""]
    if only is not None:
        exact = [s for s in found if only in (s.statement, s.id, s.key)]
        found = exact or [s for s in found if only in s.key]
    if not found:
        names = ", ".join(dict.fromkeys(s.statement for s in steps()))
        raise ValueError(f"{option} {only!r}: no step matches; statements: {names}")
    return found


def exit_code(reports: Sequence[Report]) -> int:
    """0 when every corrected and sharp step is proved, else 1."""
    trusted = [r for r in reports if r.step.edition != "printed"]
    return int(any(r.status is not Status.PROVED for r in trusted))


def run(options: argparse.Namespace) -> int:
    """Judge and print what the options ask for; the exit status as an int.

    Raises:
        InputError: for options that name nothing, or a page that cannot be written.
    """
    try:
        if options.explain is not None:
            select(options.explain, None, "--explain")
            reports = run_ledger(only=options.explain, cold=options.cold)
            print(ledger_text.explain(reports))
            return 0
        if options.mutate:
            from verify.mutation import mutate_ledger

            chosen = select(options.only, options.edition)
            print(ledger_text.kills(mutate_ledger(chosen, options.sample)))
            return 0
        reports = run_ledger(
            only=options.only,
            edition=options.edition,
            cold=options.cold,
            save=options.save,
            jobs=options.jobs,
        )
    except ValueError as error:
        raise InputError(str(error)) from None
    if options.docs:
        try:
            Path(options.docs).write_text(ledger_page.page(reports), "utf-8")
        except OSError as error:
            raise InputError(f"--docs {options.docs} cannot be written: {error.strerror}") from None
    if options.json:
        print(json.dumps({"ledger": [r.to_json() for r in reports]}, indent=1))
    else:
        print(ledger_text.table(reports))
    return exit_code(reports)
