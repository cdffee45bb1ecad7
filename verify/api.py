"""The Python interface: check a statement against numbers of your own, audit an instance, assert in your own tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import bounds
from bounds import Constant, Kind, Provenance, Sense, Statement, weakest
from verify import told
from verify.auditing import Report
from verify.auditing import audit as audit_instances
from verify.decided import predicate, undecidable
from verify.errors import InputError
from verify.examine import judge_curve, judge_samples
from verify.instance import load_instance
from verify.observed import Axis, Curve, Sample, Start, Unobserved
from verify.quantities import participation
from verify.schema import Instance
from verify.verdict import Outcome, Rigor, Verdict

# Quantities that N and N* give, and the function that does.
_FROM_N = {
    "ne_distance": participation.ne_distance,
    "weight_error": participation.weight_error,
    "weight_error_now": participation.weight_error_now,
    "ne_infeasibility": participation.ne_infeasibility,
}
# Nothing in these is random: their numbers are a curve's, never one a seed.
_CERTAIN = {*_FROM_N, "welfare_gap", "dual_gap", "discount", "participation_next"}
# All others are norms, squares, or gaps above a least value.
_SIGNED = {
    "welfare_gap", "descent_inner", "convex_inner", "weighted_inner", "mean_iterate_next", "aggregate",
    "participation_next",
}  # fmt: skip


def check(
    statement: str | Statement,
    constants: Mapping[str, Any],
    run: Mapping[str, Any] | xr.Dataset,
    *,
    edition: str = "corrected",
    alpha: float = 0.01,
    ceilings: Mapping[str, float] | None = None,
    errors: Mapping[str, float] | None = None,
    name: str = "run",
) -> Verdict:
    """Judge one statement on numbers of your own.

    Args:
        statement: an id ("Lemma 4.3(i)", with `edition`) or a `Statement` (a theorem of your own, too).
        constants: the statement's constants by name, numbers or `Constant`s (a bare number is taken as your word:
            provenance `given`). `N_star` [m] (with `N_star_error`, default 0) is the equilibrium; `lower`, `upper`
            the box, where you want to hear that a bound is vacuous. `m`, `R`, `dist_0` and `N_star_l1` follow from
            `N_star` and the run.
        run: what was observed, arrays by name:
            `N` [round, client] (and `N_error` [round], a bound on its own rounding) for quantities of the
            participation; or the statement's quantity by its name in `bounds.QUANTITIES` without the average,
            `grad_f_sq`, `f_gap_avg`, ...: [seed] for an expectation, [round] for a curve (with `<name>_error`).
            `f_gap`, `x_dist_sq` [seed]: f(x_bar) - f* and ||x_bar - x*||^2 when counting starts, paired with the
            seeds (they go before the constants of that name); without them the constants `f_gap`, `D_r_hat` stand in.
            A curve over horizons says in `round` which R each value belongs to. What is not random (a distance, a gap
            of the participation), and what a statement equates or bounds from below, is a curve: seeds test `<=`.
        alpha: the level of a statistical verdict, 0 < alpha < 1.
        ceilings: proven bounds on expectations' variables, by name; without one, "holds" is never said. A ceiling
            below what the run shows is refused.
        errors: for an expectation, absolute bounds on the error of every seed's value, by name ("f_gap_avg", "f_gap",
            "x_dist_sq", ...). By default 32 units in the last place of the array's own type at its largest value (and
            a relative 1e-9 in any case). State it where a value is a difference of larger numbers (f - f*), whose
            rounding its size does not show. For a curve, give `<name>_error` in the run.

    Returns:
        The verdict. What is missing is named in its reason, never invented.

    Raises:
        InputError: for arrays that do not fit, numbers that are none, unknown names, constants outside their domain,
            and constants that contradict the run (its m, R, dist_0, N_star_l1).
        bounds.UnknownStatement: for an unknown id.
    """
    chosen = statement if isinstance(statement, Statement) else bounds.get(statement, edition)
    base = Verdict(chosen.id, chosen.edition, Outcome.INCONCLUSIVE, Rigor.RIGOROUS, name)
    level, arrays = told.level(alpha), told.arrays(run, chosen)
    tops = told.ceilings(ceilings, arrays, chosen)
    off = told.errors(errors, run, arrays, chosen)
    known, facts = told.facts(constants, told.constants(constants, chosen), arrays)
    try:
        if chosen.kind is Kind.PREDICATE:
            return predicate(base, chosen, known)
        why = undecidable(chosen)
        if why is not None:
            return replace(base, hypotheses=chosen.check(known), reason=why)
        observed = _observe(chosen, known, facts, arrays, tops, off)
        if isinstance(observed, Curve):
            finding = judge_curve(base, chosen, known, observed)
        else:
            finding = judge_samples(base, chosen, known, observed, level)
    except Unobserved as missing:
        return replace(base, reason=f"not observed: {missing}")
    except bounds.MissingConstants as missing:
        return replace(base, reason=f"not decided: {missing}")
    except bounds.DomainError as error:
        raise InputError(f"constants: {error}") from None
    return _honest(finding.verdict, chosen, known, observed)


def _honest(
    verdict: Verdict, statement: Statement, known: Mapping[str, Constant], observed: Curve | Sample
) -> Verdict:
    """Undecided hypotheses decide nothing, and estimated constants only indicate."""
    undecided = [c.name for c in verdict.hypotheses if c.holds is None]
    if undecided and verdict.outcome is not Outcome.HYPOTHESIS_FAILS:
        reason = f"undecided hypothesis: {', '.join(undecided)}"
        verdict = replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
    if statement.kind is Kind.IMPLICATION and verdict.outcome is Outcome.VIOLATED:
        reason = (
            f"its conclusion fails ({verdict.reason}); whether its premise holds these numbers do not say"
        )
        verdict = replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
    paired = {s.name for s in observed.starts} if isinstance(observed, Sample) else set()
    used = {n: known[n] for n in statement.symbols if n in known and n not in paired}
    unproven = isinstance(observed, Curve) and not observed.proven
    indicative = unproven or weakest(used) is Provenance.ESTIMATED
    return replace(verdict, rigor=Rigor.INDICATIVE) if indicative else verdict


def assert_within(
    statement: str | Statement,
    constants: Mapping[str, Any],
    run: Mapping[str, Any] | xr.Dataset,
    *,
    inconclusive: bool = False,
    **options: Any,
) -> Verdict:
    """For test suites: `check`, and an AssertionError unless the run is within the statement's envelope.

    Args:
        inconclusive: let an inconclusive verdict pass; by default it does not, as nothing was shown.
        options: as for `check`.

    Raises:
        AssertionError: in one paragraph, unless the verdict is `holds` or `vacuous` (the run is within a bound that
            is known without the statement, and so within the statement's, which is no smaller).
    """
    verdict = check(statement, constants, run, **options)
    passes = {Outcome.HOLDS, Outcome.VACUOUS} | ({Outcome.INCONCLUSIVE} if inconclusive else set())
    if verdict.outcome not in passes:
        raise AssertionError(_paragraph(verdict))
    return verdict


def audit(
    instance: Instance | str | Path | Sequence[Instance | str | Path],
    *,
    allow_code: bool = False,
    **options: Any,
) -> Report:
    """Audit one instance or several: build, run, check every statement that they name.

    Args:
        instance: a built-in name, a TOML file, an `Instance`, or a sequence of these.
        allow_code: let an instance file name a Python class of its own.
        options: as for `verify.auditing.audit`: `seeds`, `root_seed`, `jobs`, `only`, `progress`, and
            `until_decided` with `budget`.

    Raises:
        InputError: if an instance cannot be read or built.
    """
    several = [instance] if isinstance(instance, Instance | str | Path) else list(instance)
    loaded = [
        each if isinstance(each, Instance) else load_instance(str(each), allow_code=allow_code)
        for each in several
    ]
    return audit_instances(loaded, **options)


def _paragraph(verdict: Verdict) -> str:
    parts = [
        f"{verdict.statement} ({verdict.edition}): {verdict.outcome} on {verdict.instance}, {verdict.rigor}."
    ]
    if verdict.observed is not None and verdict.bound is not None:
        where = f" at {verdict.round}" if verdict.round is not None else ""
        parts.append(f"Observed {verdict.observed:.6g} against the bound {verdict.bound:.6g}{where}.")
    failing = [h.text for h in verdict.hypotheses if h.holds is False]
    if failing:
        parts.append(f"Failing hypotheses: {'; '.join(failing)}.")
    parts.append(f"{verdict.reason}.")
    return " ".join(" ".join(parts).split())


# What was observed ----------------------------------------------------------------------------


def _observe(
    statement: Statement,
    known: Mapping[str, Constant],
    facts: told.Facts | None,
    run: Mapping[str, np.ndarray],
    ceilings: Mapping[str, float],
    errors: Mapping[str, float],
) -> Curve | Sample:
    """The statement's quantity, from N and N*, or as the caller measured it.

    Raises:
        Unobserved: naming what is missing.
    """
    quantity = statement.quantity.partition("@")[0]
    if quantity in run:
        return _measured(quantity, statement, known, run, ceilings, errors)
    if quantity not in _FROM_N:
        raise Unobserved(f"the run has no '{quantity}'")
    if facts is None:
        lacking = "run has no 'N'" if "N" not in run else "constants have no 'N_star'"
        raise Unobserved(f"the {lacking}, from which {quantity} follows")
    N = run["N"]
    rounds = np.arange(len(N))
    if facts.r_hat >= len(N) - 1:
        raise InputError(f"constants['r_hat'] = {facts.r_hat}: the run has {len(N) - 1} rounds")
    totals = N.sum(axis=1, keepdims=True)
    if not np.all(totals > 0):
        raise InputError("run['N']: a round has no participation at all: its weights do not exist")
    data = {
        "N": (("round", "client"), N),
        "N_error": ("round", told.rounding(run)),
        "p": (("round", "client"), N / totals),
    }
    curve = _FROM_N[quantity](facts, xr.Dataset(data, coords={"round": rounds}))
    return curve if "N_error" in run else replace(curve, proven=False)


def _measured(
    quantity: str,
    statement: Statement,
    known: Mapping[str, Constant],
    run: Mapping[str, np.ndarray],
    ceilings: Mapping[str, float],
    errors: Mapping[str, float],
) -> Curve | Sample:
    values = run[quantity]
    if values.ndim != 1 or not values.size:
        raise InputError(f"run[{quantity!r}] has shape {values.shape}: give one number a seed, or a round")
    if f"{quantity}_error" in run or "round" in run or quantity in _CERTAIN:
        return _curve(quantity, statement, known, run)
    if statement.sense is not Sense.AT_MOST:
        word = "an equality" if statement.sense is Sense.EQUAL else "a bound from below"
        raise InputError(
            f"run['{quantity}_error'] is missing: {statement.id} is {word}, which seeds do not test: give "
            f"{quantity} as a curve, with its error"
        )
    if np.any(values < 0):
        raise InputError(f"run[{quantity!r}] holds {values.min():g}: its expectation is of a variable >= 0")
    none = np.zeros(0, dtype=int)
    return Sample(
        values=values,
        starts=_starts(statement, known, run, ceilings, errors, values.size),
        ceiling=float(ceilings.get(quantity, np.inf)),
        variance_proxy=np.inf,
        horizon=none,
        path=np.zeros((values.size, 0)),
        round=int(np.asarray(known["R"].value)) if "R" in known else None,
        error=errors[quantity],
    )


def _curve(
    quantity: str, statement: Statement, known: Mapping[str, Constant], run: Mapping[str, np.ndarray]
) -> Curve:
    """A quantity that the caller measured round by round, or horizon by horizon."""
    values, proven = run[quantity], f"{quantity}_error" in run
    error = run.get(f"{quantity}_error", np.zeros(values.size))
    if error.shape != values.shape or np.any(error < 0):
        raise InputError(f"run['{quantity}_error'] has shape {error.shape}: give {values.size} numbers >= 0")
    known_name = any(quantity == name.partition("@")[0] for name in bounds.QUANTITIES)
    if known_name and quantity not in _SIGNED and np.any(values + error < 0):
        raise InputError(f"run[{quantity!r}] holds {values.min():g}: it cannot be negative")
    axis: Axis = "R" if "R" in statement.symbols else "r"
    r_hat = int(np.asarray(known["r_hat"].value)) if "r_hat" in known else 0
    rounds = told.rounds(run, quantity, r_hat + 1 if axis == "R" else 0)
    if rounds is None and axis == "R":
        if values.size > 1 or "R" not in known:
            raise InputError(
                f"run['round'] is missing: give the horizon R of each value of run[{quantity!r}]"
            )
        rounds = np.array([int(np.asarray(known["R"].value))])
    rounds = np.arange(values.size) if rounds is None else rounds
    if quantity == "ne_distance":
        told.starts_at(known, values, error, rounds, quantity)
    return Curve(axis, rounds, values, error, np.zeros(values.size, dtype=bool), proven=proven)


def _starts(
    statement: Statement,
    known: Mapping[str, Constant],
    run: Mapping[str, np.ndarray],
    ceilings: Mapping[str, float],
    errors: Mapping[str, float],
    seeds: int,
) -> tuple[Start, ...]:
    """The expectations in the bound that the run holds seed by seed; the others stay constants."""
    found = []
    for name, variable in told.STARTS.items():
        if name not in statement.symbols or variable not in run:
            continue
        values = run[variable]
        if values.shape != (seeds,) or np.any(values < 0):
            raise InputError(
                f"run[{variable!r}] has shape {values.shape}: give {seeds} numbers >= 0, one a seed"
            )
        found.append(Start(name, values, 0.0, float(ceilings.get(variable, np.inf)), errors[variable]))
    return tuple(found)
