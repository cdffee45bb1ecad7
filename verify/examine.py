"""One statement's edition against one run: hypotheses first, then the envelope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

import bounds
from bounds import Constant, HypothesisCheck, Kind, Provenance, Sense, Statement, weakest
from games.affine import Affine
from simulate.problems.convex import StronglyConvex
from verify.applicable import CONSTANT_STEP, REGULARISED, NotApplicable
from verify.compare import compare, span
from verify.decided import failed, predicate, undecidable
from verify.envelope import checks_along, enclosure, envelope, linear, narrowed, settled
from verify.everywhere import everywhere
from verify.expectation import judge_all
from verify.known import takes_lemma_6_5
from verify.observed import Curve, Observation, Sample, Samples, Start, Unobserved
from verify.quantities import observe
from verify.setup import Setup
from verify.verdict import Outcome, Rigor, Verdict, margin


@dataclass(frozen=True, eq=False)
class Finding:
    """A verdict and all that it rests on, for the page and its figures.

    Attributes:
        constants: those that the statement's edition takes, by name.
        envelope: the bound's upper end at each round of the observation's curve or path (empty if it could not be
            evaluated); envelope_low: its lower end. They lie apart where constants are intervals.
    """

    verdict: Verdict
    statement: Statement
    constants: dict[str, Constant]
    observation: Curve | Sample | None
    envelope: Float[np.ndarray, " k"]
    envelope_low: Float[np.ndarray, " k"] = field(default_factory=lambda: np.zeros(0))


_NOTHING = np.zeros(0)
Shown = Callable[[str], Observation]  # what a run shows of a quantity
WORD = "word"  # the attribute of a run whose training numbers cannot be checked, and what to say of them
# Constants that claim something of the problem or the game (others that are given are choices: gamma, H, R, ...).
CLAIMS = ("L", "nu", "G", "B", "mu_F", "L_F", "C_F", "sigma_h")
STRAYS = "strays"  # the attribute of a run that says where it leaves the participation update of its instance


def examine_all(
    setup: Setup, run: xr.Dataset, statements: Iterable[Statement], alpha: float
) -> Iterator[Finding]:
    """`examine` for many statements: what the run shows of a quantity, and what editions that say the same have in
    common, is worked out once."""
    shown = cache(lambda name: observe(name, setup, run))
    found: dict[Any, Finding] = {}
    for statement in statements:
        content = _content(statement)
        if content in found:
            twin = found[content]
            verdict = replace(twin.verdict, edition=statement.edition)
            yield replace(twin, verdict=verdict, statement=statement)
            continue
        finding = _examined(setup, run, shown, statement, alpha, None)
        found[content] = finding
        yield finding


def _content(statement: Statement) -> tuple[Any, ...]:
    """All that a verdict depends on: two editions that have it in common say the same."""
    edition = statement.edition if statement.recipes or takes_lemma_6_5(statement) else None
    same = ("id", "kind", "quantity", "expression", "hypotheses", "sampling", "sense", "text")
    return (*(getattr(statement, name) for name in same), tuple(statement.terms.items()), edition)


def examine(
    setup: Setup, run: xr.Dataset, statement: Statement, alpha: float, planned: int | None = None
) -> Finding:
    """Judge one edition of a statement on a run (`alpha`: the level of a statistical verdict).

    `planned`: the most seeds that may come, where the run is looked at while they come in.

    An assumption is judged by its constants. Whatever else fails a hypothesis, or was not produced by the update
    or the sampling that the statement is about, gets `hypothesis-fails`. What no run decides (orders, limits,
    claims), and what this run does not show, is `inconclusive`, and the reason says so.
    """
    return _examined(setup, run, lambda name: observe(name, setup, run), statement, alpha, planned)


def _examined(
    setup: Setup, run: xr.Dataset, shown: Shown, statement: Statement, alpha: float, planned: int | None
) -> Finding:
    base = Verdict(statement.id, statement.edition, Outcome.INCONCLUSIVE, Rigor.RIGOROUS, setup.instance.name)
    why = undecidable(statement)
    if statement.kind is Kind.CLAIM and why is not None:
        return _plain(replace(base, reason=why), statement)
    try:
        constants = setup.constants(statement)
    except bounds.HypothesisFails as error:
        check = HypothesisCheck(
            error.hypothesis, False, error.lhs, error.rhs, error.lhs - error.rhs, str(error)
        )
        return _plain(_fails(base, (check,)), statement)
    except NotApplicable as why_not:
        return _plain(replace(base, outcome=why_not.outcome, reason=why_not.reason), statement)
    outside = _outside(setup, run, statement)
    if outside is not None:
        return _plain(_fails(base, (outside,)), statement)
    used = {name: constants[name] for name in statement.symbols if name in constants}
    if statement.kind is Kind.PREDICATE:
        constants = {**_bias(setup), **constants}
        verdict = _everywhere(predicate(base, statement, constants), setup, statement)
        return Finding(verdict, statement, used, None, _NOTHING)
    if why is not None:
        return _undecided(base, setup, shown, statement, used, constants, why)
    try:
        return _against(base, setup, run, shown, statement, constants, alpha, planned)
    except Unobserved as missing:
        checks = statement.check(_last(setup, constants))
        if any(c.holds is False for c in checks):
            return Finding(_fails(base, checks), statement, used, None, _NOTHING)
        verdict = replace(base, hypotheses=checks, reason=f"not observed: {missing}")
        return Finding(verdict, statement, used, None, _NOTHING)
    except bounds.MissingConstants as missing:
        return Finding(replace(base, reason=f"not decided: {missing}"), statement, used, None, _NOTHING)


def _plain(verdict: Verdict, statement: Statement) -> Finding:
    return Finding(verdict, statement, {}, None, _NOTHING)


def _fails(base: Verdict, checks: tuple[HypothesisCheck, ...]) -> Verdict:
    return replace(base, outcome=Outcome.HYPOTHESIS_FAILS, hypotheses=checks, reason=failed(checks))


def _bias(setup: Setup) -> dict[str, Constant]:
    """Independent draws from all samples, and full gradients, are unbiased; other modes are not, given the past."""
    if setup.config.sampling == "subset" or _repeats_none(setup):
        return {}
    return {"noise_bias": Constant("noise_bias", 0.0, Provenance.EXACT, note="by the sampling")}


def _everywhere(verdict: Verdict, setup: Setup, statement: Statement) -> Verdict:
    """What is proved on a ball of x (whose runs need no more), or on the box, does not show an assumption about all."""
    if verdict.outcome is not Outcome.HOLDS:
        return verdict
    region = setup.instance.problem.region
    local = [name for name in ("L", "nu", "G", "B") if name in statement.symbols]
    if region is not None and local:
        reason = f"{', '.join(local)} proved for ||x|| <= {region:g} only: the assumption speaks of every x"
        return replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
    beyond = statement.quantity == "own_convexity" and statement.edition is bounds.Edition.PRINTED
    if beyond and not isinstance(setup.game, Affine):
        reason = f"proved on the box only, as printed it speaks of every N_{{-i}} ({verdict.reason})"
        return replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
    return verdict


def _repeats_none(setup: Setup) -> bool:
    """Whether a round's local steps draw without replacement: what is left depends on the steps before."""
    config = setup.config
    return config.sampling == "iid" and config.replacement == "round" and config.H > 1


def _outside(setup: Setup, run: xr.Dataset, statement: Statement) -> HypothesisCheck | None:
    """The sampling, where the statement is about another one; the update, where a run of others strays from it."""
    strays = run.attrs.get(STRAYS)
    if strays and statement.id.startswith((*CONSTANT_STEP, *REGULARISED)):
        return HypothesisCheck("update", False, np.nan, np.nan, np.nan, f"update: {strays}")
    sampling = setup.config.sampling
    if sampling not in statement.sampling:
        text = f"sampling = {sampling}: the statement assumes {' or '.join(statement.sampling)}"
        return HypothesisCheck("sampling", False, np.nan, np.nan, np.nan, text)
    if bounds.Sampling.SUBSET not in statement.sampling and _repeats_none(setup):
        text = "replacement = round: given a round's earlier draws the next is biased; the statement assumes it is not"
        return HypothesisCheck("sampling", False, np.nan, np.nan, np.nan, text)
    return None


def _last(setup: Setup, constants: Mapping[str, Constant]) -> dict[str, Constant]:
    """The constants with the last round, for hypotheses that speak of one."""
    last = setup.config.R
    ends = {name: Constant(name, last, Provenance.EXACT) for name in ("r", "R") if name not in constants}
    return {**constants, **ends}


def _undecided(
    base: Verdict,
    setup: Setup,
    look: Shown,
    statement: Statement,
    used: dict[str, Constant],
    constants: Mapping[str, Constant],
    why: str,
) -> Finding:
    """Hypotheses of a statement that no run decides, with what the run shows of it, if anything."""
    checks = statement.check(_last(setup, constants))
    if any(c.holds is False for c in checks):
        return Finding(_fails(base, checks), statement, used, None, _NOTHING)
    unknown = [c.name for c in checks if c.holds is None]
    state = (
        f"undecided conditions: {', '.join(unknown)}"
        if unknown
        else "all its conditions hold"
        if checks
        else ""
    )
    verdict = replace(base, hypotheses=checks, reason=f"{why}{f' ({state})' if state else ''}")
    try:
        shown = look(statement.quantity)
    except Unobserved:
        return Finding(verdict, statement, used, None, _NOTHING)
    if isinstance(shown, Curve):
        verdict = replace(verdict, observed=float(shown.values[-1]), round=int(shown.rounds[-1]))
    one = shown.parts[0] if isinstance(shown, Samples) else shown
    return Finding(verdict, statement, used, one, _NOTHING)


def _against(
    base: Verdict,
    setup: Setup,
    run: xr.Dataset,
    shown: Shown,
    statement: Statement,
    constants: Mapping[str, Constant],
    alpha: float,
    planned: int | None,
) -> Finding:
    """A statement that a run can decide."""
    observation = shown(statement.quantity)
    samples = _samples(observation)
    word = str(run.attrs.get(WORD, "")) if samples else ""
    if samples and all(s.certain for s in samples):
        curves = [settled(s, isinstance(setup.problem, StronglyConvex), constants) for s in samples]
        observation = _joined(curves, along_rounds=isinstance(observation, Samples))
        samples = ()
    if isinstance(observation, Curve):
        finding = judge_curve(base, statement, constants, observation)
        paired: set[str] = set()
    else:
        starts = {s.name: s for sample in samples for s in sample.starts}
        constants = {**constants, **_measured(list(starts.values()), constants)}
        finding = judge_samples(base, statement, _last(setup, constants), observation, alpha, planned)
        paired = set(starts)
    used = {name: constants[name] for name in statement.symbols if name in constants}
    verdict = finding.verdict
    undecided = [c.name for c in verdict.hypotheses if c.holds is None]
    if undecided and verdict.outcome is not Outcome.HYPOTHESIS_FAILS:
        reason = f"undecided hypothesis: {', '.join(undecided)}"
        verdict = replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
    rests = {name: constant for name, constant in used.items() if name not in paired}
    unproven = isinstance(observation, Curve) and not observation.proven
    told = [n for n in CLAIMS if n in rests and rests[n].provenance is Provenance.GIVEN]
    if told and verdict.outcome in (Outcome.HOLDS, Outcome.VIOLATED):
        verdict = replace(verdict, reason=f"{verdict.reason}; {', '.join(told)} taken as given")
    if word and verdict.outcome is not Outcome.HYPOTHESIS_FAILS:
        verdict = replace(verdict, rigor=Rigor.INDICATIVE, reason=f"{verdict.reason}; {word}")
    if weakest(rests) is Provenance.ESTIMATED or unproven:
        verdict = replace(verdict, rigor=Rigor.INDICATIVE)
    return replace(finding, verdict=verdict, constants=used)


def _samples(observation: Observation) -> tuple[Sample, ...]:
    if isinstance(observation, Samples):
        return observation.parts
    return (observation,) if isinstance(observation, Sample) else ()


def _joined(curves: list[Curve], along_rounds: bool) -> Curve:
    """One-point curves as one curve; a start that the constants know better at one of them, they know for all."""
    first = curves[0]
    along = {
        name: replace(
            first.along[name],
            values=np.concatenate([c.along[name].values for c in curves]),
            radius=np.concatenate([c.along[name].radius for c in curves]),
        )
        for name in first.along
        if all(name in c.along for c in curves)
    }
    return replace(
        first,
        axis="r" if along_rounds else "R",
        rounds=np.concatenate([c.rounds for c in curves]),
        values=np.concatenate([c.values for c in curves]),
        error=np.concatenate([c.error for c in curves]),
        identity=np.concatenate([c.identity for c in curves]),
        ceiling=max(c.ceiling for c in curves),
        along=along,
        scale=max(c.size for c in curves),
    )


def _measured(starts: list[Start], constants: Mapping[str, Constant]) -> dict[str, Constant]:
    """The mean of each start over seeds, for display where it is not known before; the test pairs it seed by seed."""
    shown = {}
    for start in starts:
        if start.name in constants:
            continue
        mean = float(start.values.mean())
        value = float(np.sqrt(mean)) if start.name == "D_r_hat" else mean
        note = f"measured: mean over {start.values.size} seeds (the verdict pairs it seed by seed)"
        shown[start.name] = Constant(start.name, value, Provenance.ESTIMATED, note=note)
    return shown


def judge_curve(
    base: Verdict, statement: Statement, constants: Mapping[str, Constant], whole: Curve
) -> Finding:
    """Judge a curve; a long one at some of its rounds, and then, in blocks, at all of them."""
    curve = narrowed(whole)
    checks, applies = checks_along(statement, constants, curve)
    if not applies.any():
        return Finding(_fails(base, checks), statement, {}, None, _NOTHING)
    left = int((~applies).sum())
    kept = curve.at(applies) if left else curve
    low, high = envelope(statement, constants, kept)
    found = compare(kept, low, high, statement.sense)
    if curve is not whole and found.outcome is Outcome.HOLDS and not left:
        every = everywhere(statement, constants, whole)
        if every.index is not None:
            return judge_curve(base, statement, constants, whole.at(np.array([every.index])))
        if every.settled:
            resolution = max(found.resolution, every.resolution)
            resolved = f", resolved down to {resolution:.2g}" if resolution else ""
            found = replace(found, resolution=resolution, reason=f"holds at {span(whole)}{resolved}")
            kept = replace(kept, note="")
    bound = low if statement.sense is Sense.AT_LEAST else high
    observed, limit = float(kept.values[found.index]), float(bound[found.index])
    reason = found.reason
    reason += f"; {kept.note}" if " " in kept.note else ""
    reason += f"; a hypothesis fails at {left} others, which are left out" if left else ""
    verdict = replace(
        base,
        outcome=found.outcome,
        hypotheses=checks,
        confidence=1.0,
        bound=limit,
        bound_low=float(low[found.index]),
        bound_high=float(high[found.index]),
        observed=observed,
        margin=margin(observed, limit) if statement.sense is Sense.AT_MOST else None,
        round=int(kept.rounds[found.index]),
        reason=reason,
    )
    if kept.axis == "k":
        return Finding(verdict, statement, {}, kept, _NOTHING)
    return Finding(verdict, statement, {}, kept, high, low)


def judge_samples(
    base: Verdict,
    statement: Statement,
    constants: Mapping[str, Constant],
    observation: Sample | Samples,
    alpha: float,
    planned: int | None = None,
) -> Finding:
    """Judge an expectation at one horizon, or at several rounds, at level `alpha`."""
    samples = _samples(observation)
    own = [
        {name: Constant(name, value, Provenance.EXACT) for name, value in sample.given.items()}
        for sample in samples
    ]
    checks = statement.check({**constants, **own[-1]})
    if any(c.holds is False for c in checks):
        return Finding(_fails(base, checks), statement, {}, None, _NOTHING)
    linears = [linear(statement, constants, sample) for sample in samples]
    found = judge_all(samples, linears, alpha, planned)
    sample, bound = samples[found.part], linears[found.part]
    observed = float(sample.values.mean())
    limit_low, limit = bound.ends([float(s.values.mean()) for s in sample.starts])
    ends = [
        enclosure(statement, {**constants, "R": Constant("R", int(R), Provenance.EXACT)})
        for R in sample.horizon
    ]
    shown_low, shown = np.array(ends, dtype=float).reshape(-1, 2).T
    verdict = replace(
        base,
        outcome=found.outcome,
        rigor=Rigor.STATISTICAL,
        hypotheses=checks,
        confidence=1 - alpha,
        bound=limit,
        bound_low=limit_low,
        bound_high=limit,
        observed=observed,
        margin=margin(observed, limit),
        round=sample.round,
        reason=found.reason,
        more_seeds=found.more_seeds,
    )
    return Finding(verdict, statement, {}, sample, shown, shown_low)
