"""One statement's edition against one run: hypotheses first, then the envelope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from flint import arb
from jaxtyping import Float

import bounds
from bounds import Constant, Constants, HypothesisCheck, Provenance, Statement, weakest
from verify.applicable import NotApplicable
from verify.compare import compare
from verify.expectation import Linear, judge
from verify.observed import Curve, Sample
from verify.quantities import Observation, observe
from verify.setup import Setup
from verify.verdict import Outcome, Rigor, Verdict, margin


@dataclass(frozen=True, eq=False)
class Finding:
    """A verdict and all that it rests on, for the page and its figures.

    Attributes:
        constants: those that the statement's edition takes, by name.
        envelope: the bound at each round of the observation's curve or path (empty if it could not be evaluated).
    """

    verdict: Verdict
    statement: Statement
    constants: dict[str, Constant]
    observation: Observation | None
    envelope: Float[np.ndarray, " k"]


def examine(setup: Setup, run: xr.Dataset, statement: Statement, alpha: float) -> Finding:
    """Judge one edition of a statement on a run (`alpha`: the level of a statistical verdict)."""
    nothing = np.zeros(0)
    base = Verdict(statement.id, statement.edition, Outcome.INCONCLUSIVE, Rigor.RIGOROUS, setup.instance.name)
    try:
        constants = setup.constants(statement)
    except bounds.HypothesisFails as failed:
        check = HypothesisCheck(
            failed.hypothesis, False, failed.lhs, failed.rhs, failed.lhs - failed.rhs, str(failed)
        )
        verdict = replace(base, outcome=Outcome.HYPOTHESIS_FAILS, hypotheses=(check,), reason=str(failed))
        return Finding(verdict, statement, {}, None, nothing)
    except NotApplicable as why:
        verdict = replace(base, outcome=why.outcome, reason=why.reason)
        return Finding(verdict, statement, {}, None, nothing)
    if setup.config.sampling not in statement.sampling:
        check = _sampling_fails(setup.config.sampling, statement)
        verdict = replace(base, outcome=Outcome.HYPOTHESIS_FAILS, hypotheses=(check,), reason=check.text)
        return Finding(verdict, statement, {}, None, nothing)
    observation = observe(statement.quantity, setup, run)
    if isinstance(observation, Sample):
        constants |= _measured_start(observation, constants)
    checks = statement.check(_at_start(constants, observation))
    base = replace(base, hypotheses=checks)
    used = {name: constants[name] for name in statement.symbols if name in constants}
    failing = [c for c in checks if c.holds is False]
    if failing:
        verdict = replace(base, outcome=Outcome.HYPOTHESIS_FAILS, reason=_failed(failing))
        return Finding(verdict, statement, used, None, nothing)
    if isinstance(observation, Curve):
        finding = _curve(base, statement, constants, observation)
    else:
        finding = _sample(base, statement, constants, observation, alpha)
    undecided = [c.name for c in checks if c.holds is None]
    verdict = finding.verdict
    if undecided:
        reason = f"undecided hypothesis: {', '.join(undecided)}"
        verdict = replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
    if weakest(_untested(used, observation)) is Provenance.ESTIMATED:
        verdict = replace(verdict, rigor=Rigor.INDICATIVE)
    return replace(finding, verdict=verdict, constants=used)


def _sampling_fails(sampling: str, statement: Statement) -> HypothesisCheck:
    text = f"sampling = {sampling}: the statement assumes {' or '.join(statement.sampling)}"
    return HypothesisCheck("sampling", False, np.nan, np.nan, np.nan, text)


def _failed(checks: list[HypothesisCheck]) -> str:
    return "; ".join(c.text for c in checks)


def _at_start(constants: Mapping[str, Constant], observation: Observation) -> dict[str, Constant]:
    """A curve's own axis needs a value where hypotheses are checked: its last round."""
    name = observation.axis if isinstance(observation, Curve) else "R"
    last = (
        int(observation.rounds[-1])
        if isinstance(observation, Curve)
        else int(np.asarray(constants["R"].value))
    )
    return {**constants, name: Constant(name, last, Provenance.EXACT)}


def _untested(used: dict[str, Constant], observation: Observation) -> dict[str, Constant]:
    """The constants that a verdict rests on: a start that is tested as a pair is not one of them."""
    paired = observation.start.name if isinstance(observation, Sample) else None
    return {name: constant for name, constant in used.items() if name != paired}


def _measured_start(sample: Sample, constants: Mapping[str, Constant]) -> dict[str, Constant]:
    """The mean start over seeds, for display where it is not known beforehand; the test pairs it seed by seed."""
    start = sample.start
    if start.name in constants:
        return {}
    mean = float(start.values.mean())
    value = float(np.sqrt(mean)) if start.name == "D_r_hat" else mean
    note = f"measured: mean over {start.values.size} seeds (the verdict pairs it seed by seed)"
    return {start.name: Constant(start.name, value, Provenance.ESTIMATED, note=note)}


def enclosure(statement: Statement, constants: Constants) -> tuple[float, float]:
    """The bound's lower and upper end, rounded outwards to float64 (its hypotheses are checked elsewhere)."""
    ball = statement.enclose(constants, unchecked=True)
    low, high = float(ball.lower()), float(ball.upper())
    if not arb(low) <= ball.lower():
        low = float(np.nextafter(low, -np.inf))
    if not arb(high) >= ball.upper():
        high = float(np.nextafter(high, np.inf))
    return low, high


def _curve(base: Verdict, statement: Statement, constants: Mapping[str, Constant], curve: Curve) -> Finding:
    needed = {name: constants[name] for name in statement.symbols if name in constants}
    ends = [enclosure(statement, {**needed, curve.axis: int(r)}) for r in curve.rounds]
    low, high = np.array(ends).T
    low = np.maximum(low, 0.0)
    found = compare(curve, low, high)
    observed, bound = float(curve.values[found.index]), float(high[found.index])
    verdict = replace(
        base,
        outcome=found.outcome,
        confidence=1.0,
        bound=bound,
        observed=observed,
        margin=margin(observed, bound),
        round=int(curve.rounds[found.index]),
        reason=found.reason,
    )
    return Finding(verdict, statement, {}, curve, high)


def _sample(
    base: Verdict, statement: Statement, constants: Mapping[str, Constant], sample: Sample, alpha: float
) -> Finding:
    linear = _linear(statement, constants, sample)
    found = judge(sample, linear, alpha)
    observed, bound = float(sample.values.mean()), linear.at(float(sample.start.values.mean()))
    envelope = np.array(
        [
            enclosure(statement, {**constants, "R": Constant("R", int(R), Provenance.EXACT)})[1]
            for R in sample.horizon
        ]
    )
    verdict = replace(
        base,
        outcome=found.outcome,
        rigor=Rigor.STATISTICAL,
        confidence=1 - alpha,
        bound=bound,
        observed=observed,
        margin=margin(observed, bound),
        round=int(np.asarray(constants["R"].value)),
        reason=found.reason,
        more_seeds=found.more_seeds,
    )
    return Finding(verdict, statement, {}, sample, envelope)


def _linear(statement: Statement, constants: Mapping[str, Constant], sample: Sample) -> Linear:
    """The bound as b + c E[start]: it is affine in f_gap, and in the square of D_r_hat."""
    name = sample.start.name
    if name not in statement.symbols:
        low, high = enclosure(statement, constants)
        return Linear(low, high, 0.0, 0.0)
    at_0 = enclosure(statement, {**constants, name: Constant(name, 0, Provenance.EXACT)})
    at_1 = enclosure(statement, {**constants, name: Constant(name, 1, Provenance.EXACT)})
    slope_low = float(np.nextafter(at_1[0] - at_0[1], -np.inf))
    slope_high = float(np.nextafter(at_1[1] - at_0[0], np.inf))
    low, high = at_0
    if sample.start.error > 0:  # the copies of the start are known to within it
        off = float(np.nextafter(slope_high * sample.start.error, np.inf))
        low, high = float(np.nextafter(low - off, -np.inf)), float(np.nextafter(high + off, np.inf))
    return Linear(low, high, max(slope_low, 0.0), slope_high)
