"""Audit instances: build, run, check every statement in every edition."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import xarray as xr

import bounds
import simulate
from bounds import Statement
from simulate.config import RunConfig
from simulate.parallel import Failed, local, results
from verify.errors import InputError
from verify.examine import Finding, examine, examine_all
from verify.judge import Report as ProofStep
from verify.quantities import replay
from verify.schema import Instance
from verify.sequential import joined, sequential
from verify.setup import Setup, build, checks
from verify.verdict import Outcome

ALPHA = 0.01
SCHEMA = 1
NOT_INSTALLED = "not installed"
LONGEST_TRAJECTORY = 1_000
MOST_KEPT = 1 << 24  # floats of models that a run keeps at most (128 MiB)
_RANDOM = ("grad_f_sq@", "f_gap_avg", "consensus_error", "f_gap_start", "x_dist_sq_start")
PRELOAD = ("simulate.preload",)  # for the workers that run seeds
WORTH_TELLING = 10**8  # numbers that a run updates, about a second's work: below, its progress is not shown
_LIBRARIES = ("numpy", "scipy", "sympy", "python-flint", "xarray", "scikit-learn", "cvxpy")
Progress = Callable[[str, int, int], None]  # (what, done, all)


@dataclass(frozen=True, eq=False)
class Audit:
    """One instance's setup, run and findings."""

    setup: Setup
    run: xr.Dataset
    findings: tuple[Finding, ...]


@dataclass(frozen=True, eq=False)
class Report:
    """Everything a report shows.

    Attributes:
        config: what determines the numbers (no path, no job count).
        alpha: error probability of all statistical verdicts together.
        ledger: the proof steps of the statements, judged.
        partial: whether it was interrupted.
    """

    config: dict[str, Any]
    alpha: float
    audits: tuple[Audit, ...]
    ledger: tuple[ProofStep, ...] = ()
    partial: bool = False

    @property
    def findings(self) -> list[Finding]:
        """All findings, in order."""
        return [finding for audit in self.audits for finding in audit.findings]

    @property
    def stands(self) -> bool:
        """Whether no corrected or sharp edition is violated."""
        return not any(
            f.verdict.outcome is Outcome.VIOLATED and f.verdict.edition != "printed" for f in self.findings
        )

    def to_json(self, figures: Sequence[str] = ()) -> dict[str, Any]:
        """The content of `report.json`."""
        return {
            "schema": SCHEMA,
            "config": {**self.config, **({"partial": True} if self.partial else {})},
            "constants": {a.setup.instance.name: _constants(a) for a in self.audits},
            "verdicts": [f.verdict.to_json() for f in self.findings],
            "ledger": [step.to_json(times=False) for step in self.ledger],
            "versions": versions(),
            "figures": list(figures),
        }


def audit(
    instances: Sequence[Instance],
    *,
    seeds: int | None = None,
    root_seed: int | None = None,
    jobs: int = 1,
    only: Collection[str] | None = None,
    progress: Progress | None = None,
    until_decided: bool = False,
    budget: int | None = None,
    finished: Callable[[Audit], None] | None = None,
) -> Report:
    """Audit `instances`; Ctrl-C keeps what is finished and marks the report partial.

    Args:
        seeds, root_seed: override every instance's own.
        only: the statements to check (default: all that an instance names, which fix its step sizes either way).
        jobs: processes that share the seeds; the numbers do not depend on it.
        progress: called as work advances.
        until_decided, budget: go on, in blocks of seeds, until every statistical verdict is decided or `budget`
            seeds an instance are spent (see `verify.sequential`).
        finished: called with each instance's audit when it is done.

    Raises:
        InputError: if an instance cannot be built.
    """
    tell: Progress = progress or (lambda what, done, total: None)
    if until_decided and (budget is None or budget < 1):
        raise InputError(f"budget = {budget}: give the most seeds that an instance may take, an integer >= 1")
    setups = []
    for i, instance in enumerate(instances):
        tell("certifying constants and equilibria", i, len(instances))
        setups.append(build(instance, seeds=seeds, root_seed=root_seed))
    level = ALPHA / max(1, sum(_sampled(setup) for setup in setups))
    config = {
        "alpha": ALPHA,
        "only": sorted(only) if only is not None else None,
        "instances": [_instance_config(setup) for setup in setups],
    }
    audits: list[Audit] = []
    try:
        for setup in setups:
            pairs = [pair for pair in checks(setup.instance) if only is None or pair[0] in only]
            if until_decided and budget is not None:
                audits.append(_sequential(setup, pairs, level, budget, jobs, tell))
            else:
                run = run_seeds(setup, jobs, tell)
                findings = examine_all(setup, run, _told(setup, pairs, tell), level)
                audits.append(Audit(setup, run, tuple(findings)))
            if finished is not None:
                finished(audits[-1])
    except KeyboardInterrupt:
        return Report(config, ALPHA, tuple(audits), partial=True)
    return Report(config, ALPHA, tuple(audits))


def _told(setup: Setup, pairs: Sequence[tuple[str, str]], tell: Progress) -> Iterator[Statement]:
    """The statements to examine, each told as its turn comes."""
    for i, (statement, edition) in enumerate(pairs):
        tell(f"{setup.instance.name}: checking {statement}", i, len(pairs))
        yield bounds.get(statement, edition)


def _sequential(
    setup: Setup, pairs: Sequence[tuple[str, str]], level: float, budget: int, jobs: int, tell: Progress
) -> Audit:
    """One instance, seeds added in blocks until all is decided or the budget is spent."""

    def more(seeds: range) -> xr.Dataset:
        part = replace(setup, config=replace(setup.config, seeds=tuple(seeds)))
        return run_seeds(part, jobs, tell)

    def look(index: int, run: xr.Dataset) -> Finding:
        tell(f"{setup.instance.name}: checking {pairs[index][0]}", index, len(pairs))
        return examine(setup, run, bounds.get(*pairs[index]), level, budget)

    first = 1 if setup.closed_form else len(setup.config.seed_indices)
    run, findings = sequential(len(pairs), first, budget, more, look)
    used = replace(setup, config=replace(setup.config, seeds=run.sizes["seed"]))
    return Audit(used, run, findings)


def proof_steps(statements: Sequence[str]) -> tuple[ProofStep, ...]:
    """The ledger's entries for every one of the statements that has any, stored certificates re-checked."""
    from bounds.incentfedavg.steps import steps
    from verify.ledger_run import run_ledger  # the provers are heavy, and only this needs them

    encoded = {step.statement for step in steps()}
    checked = [s for s in dict.fromkeys(statements) if s in encoded]
    return tuple(step for statement in checked for step in run_ledger(only=statement))


def run_seeds(setup: Setup, jobs: int, tell: Progress) -> xr.Dataset:
    """All seeds of a setup's run, shared by `jobs` processes; the numbers do not depend on the sharing."""
    config, what = watching(setup), f"{setup.instance.name}: running seeds"
    if setup.closed_form:
        return simulate.run(setup.problem, setup.game, _participation_only(config), p_star=setup.p_star)
    all_seeds = config.seed_indices
    seeds = all_seeds[:1] if _alike(setup, config) else all_seeds
    numbers = len(seeds) * config.T_R * setup.problem.m * setup.problem.n
    count = 4 * jobs if jobs > 1 or numbers > WORTH_TELLING else 1
    chunks = [tuple(int(s) for s in part) for part in np.array_split(seeds, count) if part.size]
    tasks = ((i, replace(config, seeds=chunk)) for i, chunk in enumerate(chunks))
    parts: dict[int, xr.Dataset] = {}
    tell(what, 0, len(seeds))
    for i, part in results(_run_chunk, setup, tasks, local(jobs)):
        if isinstance(part, Failed):
            raise part.exception()
        parts[i] = part
        tell(what, sum(p.sizes["seed"] for p in parts.values()), len(seeds))
    run = joined([parts[i] for i in range(len(chunks))])
    if len(seeds) < len(all_seeds):
        run = run.isel(seed=np.zeros(len(all_seeds), dtype=int)).assign_coords(seed=all_seeds)
    return run.assign_attrs(config=config.to_json())


def _alike(setup: Setup, config: RunConfig) -> bool:
    """Whether all seeds are the same run, to the bit (then one is run, for all): no client has a second sample to
    draw, and every step that counts is measured."""
    nothing_drawn = config.sampling == "full" or bool(np.all(setup.problem.sizes == 1))
    return nothing_drawn and (not config.draws or config.draws >= config.T_R - config.H * config.r_hat)


def watching(setup: Setup) -> RunConfig:
    """The run's configuration, with the models of a few rounds kept: what happens inside a round is played again
    from them (`verify.quantities.replay`)."""
    config = setup.config
    rounds = {*config.record_rounds.tolist(), *replay.watch(config.r_hat, config.R)}
    models = len(rounds) * setup.problem.n * len(config.seed_indices) <= MOST_KEPT
    return replace(config, records=tuple(sorted(int(r) for r in rounds)), models=models)


def _run_chunk(setup: Setup, config: RunConfig) -> xr.Dataset:
    return simulate.run(
        setup.problem, setup.game, config, p_star=setup.p_star, x_star=setup.x_star, engine=setup.engine
    )


def _participation_only(config: RunConfig) -> RunConfig:
    """The game's part of a run whose learning part is solved in closed form: its weights do not move, so that
    judging the first rounds is enough, and no local step is worth simulating."""
    R = min(config.R, LONGEST_TRAJECTORY)
    return replace(config, H=1, R=R, seeds=1, draws=0, horizons=(), records=2)


def _sampled(setup: Setup) -> int:
    """How many statistical verdicts an instance asks for."""
    if setup.closed_form or setup.certain:
        return 0
    pairs = [bounds.get(*pair) for pair in checks(setup.instance)]
    return sum(s.quantity.startswith(_RANDOM) for s in pairs)


def _instance_config(setup: Setup) -> dict[str, Any]:
    return {
        "instance": setup.instance.model_dump(mode="json"),
        "seeds": len(setup.config.seed_indices),
        "root_seed": setup.config.root_seed,
    }


def _constants(a: Audit) -> dict[str, Any]:
    shared = {
        name: c.to_json() for name, c in sorted(a.setup.shared.items()) if np.asarray(c.value).size <= 64
    }
    own: dict[str, Any] = {"shared": shared}
    for finding in a.findings:
        verdict = finding.verdict
        particular = {
            name: c.to_json()
            for name, c in sorted(finding.constants.items())
            if shared.get(name) != c.to_json()
        }
        if particular:
            own.setdefault(verdict.statement, {})[verdict.edition] = particular
    return own


def versions() -> dict[str, str]:
    """The versions that the numbers depend on."""
    ours, *libraries = (_version(name) for name in ("boundaudit", *_LIBRARIES))
    found = dict(zip(_LIBRARIES, libraries, strict=True))
    return {"boundaudit": ours, "python": platform.python_version(), **found}


def _version(name: str) -> str:
    """As installed; a source tree runs without being installed, and then there is none to tell."""
    try:
        return version(name)
    except PackageNotFoundError:
        return NOT_INSTALLED


def dump(report: Report, figures: Sequence[str] = ()) -> str:
    """`report.json` as text: the same bytes for the same seeds."""
    return json.dumps(report.to_json(figures), indent=1, sort_keys=False, allow_nan=False) + "\n"
