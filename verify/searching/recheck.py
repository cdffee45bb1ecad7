"""The proof behind a ratio: the built instance, its hypotheses, both sides in balls."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import arb

import bounds
from bounds import Constant, HypothesisCheck, Provenance, Statement
from games.rounding import arb_lower, arb_upper
from verify.applicable import NotApplicable
from verify.schema import Instance
from verify.searching.exact import (
    Balls,
    distance_sq,
    equilibrium,
    expectations,
    path,
    precision,
    root,
    shares,
)
from verify.setup import Setup, build
from verify.verdict import Outcome, Rigor, Verdict, margin

FIRST_BITS, MOST_BITS = 128, 4096
_NARROW = 1e-12  # a ratio is known when its ball is this small, relative to it
Point = tuple[int, arb, arb, bool]  # round, observed, bound, whether the statement is an identity there


@dataclass(frozen=True)
class Recheck:
    """A ratio with its proof.

    Attributes:
        low, high: an enclosure of observed/bound at the worst round (the identities of a statement do not count).
        verdict: `violated` only if every hypothesis is proved and observed > bound is.
    """

    low: float
    high: float
    verdict: Verdict


def recheck(instance: Instance, statement: Statement) -> Recheck:
    """Judge one edition of a statement on an instance, with enclosures on both sides.

    Raises:
        InputError: if the instance cannot be built, or its expectations are not known exactly.
    """
    return recheck_built(build(instance), statement)


def recheck_built(setup: Setup, statement: Statement) -> Recheck:
    """As `recheck`, of an instance that is built already."""
    base = Verdict(statement.id, statement.edition, Outcome.INCONCLUSIVE, Rigor.RIGOROUS, setup.instance.name)
    try:
        constants = setup.constants(statement)
    except NotApplicable as why:
        return Recheck(-np.inf, np.inf, replace(base, outcome=why.outcome, reason=why.reason))
    except bounds.HypothesisFails as failed:
        check = HypothesisCheck(failed.hypothesis, False, failed.lhs, failed.rhs, np.nan, str(failed))
        return _refused(base, (check,))
    if setup.config.sampling not in statement.sampling:
        text = f"sampling = {setup.config.sampling}: the statement assumes {' or '.join(statement.sampling)}"
        return _refused(base, (HypothesisCheck("sampling", False, np.nan, np.nan, np.nan, text),))
    bits = FIRST_BITS
    while True:
        with precision(bits):
            points, used = _points(setup, statement, constants, bits)
            found = _judge(base, statement, points, used)
        narrow = found.high - found.low <= _NARROW * max(abs(found.low), abs(found.high))
        if narrow or bits >= MOST_BITS:
            return found
        bits *= 2


def _refused(base: Verdict, checks: tuple[HypothesisCheck, ...]) -> Recheck:
    reason = "; ".join(c.text for c in checks if c.holds is not True)
    return Recheck(
        -np.inf,
        np.inf,
        replace(base, outcome=Outcome.HYPOTHESIS_FAILS, hypotheses=checks, reason=reason),
    )


def _judge(base: Verdict, statement: Statement, points: list[Point], used: dict[str, Constant]) -> Recheck:
    checks = statement.check(used)
    if any(c.holds is False for c in checks):
        return _refused(base, checks)
    counted = [p for p in points if not p[3] and p[2] > 0]
    if not counted:
        return Recheck(
            -np.inf,
            np.inf,
            replace(base, hypotheses=checks, reason="no round at which the bound is positive"),
        )
    ratios = [(r, observed, bound, observed / bound) for r, observed, bound, _ in counted]
    r, observed, bound, ratio = max(ratios, key=lambda item: float(item[3].mid()))
    undecided = [c.name for c in checks if c.holds is None]
    if undecided:
        outcome, reason = Outcome.INCONCLUSIVE, f"undecided hypothesis: {', '.join(undecided)}"
    elif observed > bound:
        outcome, reason = (
            Outcome.VIOLATED,
            f"observed/bound >= {arb_lower(ratio):.6g}, every hypothesis proved",
        )
    elif all(o <= b for _, o, b, _ in counted):
        outcome, reason = Outcome.HOLDS, f"observed/bound <= {arb_upper(ratio):.6g} at every round"
    else:
        outcome, reason = Outcome.INCONCLUSIVE, "attained, to within the enclosures"
    above, seen = arb_upper(bound), float(observed.mid())
    verdict = replace(
        base, outcome=outcome, hypotheses=checks, bound=above, observed=seen, confidence=1.0, round=r,
        margin=margin(seen, above), reason=reason,
    )  # fmt: skip
    return Recheck(arb_lower(ratio), arb_upper(ratio), verdict)


def _points(
    setup: Setup, statement: Statement, constants: dict[str, Constant], bits: int
) -> tuple[list[Point], dict[str, Constant]]:
    """Observed and bound at every round, and the constants that the hypotheses are checked with."""
    N, star = path(setup), equilibrium(setup)
    name, _, average = statement.quantity.partition("@")
    if name in ("grad_f_sq", "f_gap_avg"):
        found = expectations(setup, N, average)
        constants = constants | {
            "f_gap": _constant("f_gap", found.f_gap),
            "D_r_hat": _constant("D_r_hat", root(found.D_sq)),
        }
        observed = found.grad_f_sq if name == "grad_f_sq" else found.f_gap_avg
        bound = statement.enclose(constants, bits, unchecked=True)
        return [(setup.config.R, observed, bound, False)], constants
    if name == "ne_infeasibility":
        return _infeasibility(setup, statement, constants, N, star, bits)
    rounds = range(setup.config.R + 1)
    points: list[Point] = []
    p_star = shares(star)
    for r in rounds:
        d = root(distance_sq(N[r], star))
        at = constants | {
            "r": Constant("r", r, Provenance.EXACT),
            "d_r": _constant("d_r", d),
        }
        observed = d if name == "ne_distance" else _largest_error(shares(N[r]), p_star)
        identity = name == "ne_distance" and r == 0
        points.append((r, observed, statement.enclose(at, bits, unchecked=True), identity))
    return points, at


def _infeasibility(
    setup: Setup,
    statement: Statement,
    constants: dict[str, Constant],
    N: list[Balls],
    star: Balls,
    bits: int,
) -> tuple[list[Point], dict[str, Constant]]:
    r_hat, sum_sq, points = setup.r_hat, arb(0), []
    at = constants
    for r in range(r_hat, setup.config.R):
        sum_sq = sum_sq + distance_sq(N[r], star)
        at = constants | {"R": Constant("R", r + 1, Provenance.EXACT)}
        bound = statement.enclose(at, bits, unchecked=True)
        points.append((r + 1, sum_sq / (r + 1 - r_hat), bound, r == 0))
    return points, at


def _largest_error(p: Balls, p_star: Balls) -> arb:
    largest = arb(0)
    for x, y in zip(p, p_star, strict=True):
        largest = largest.max(abs(x - y))
    return largest


def _constant(name: str, value: arb) -> Constant:
    """A nonnegative ball as a constant: a float and a proven radius."""
    low, high = max(arb_lower(value), 0.0), arb_upper(value)
    middle = (low + high) / 2
    radius = float(np.nextafter(max(high - middle, middle - low), np.inf)) if high > low else 0.0
    return Constant(name, middle, Provenance.CERTIFIED, radius, "enclosed")


__all__ = ["Recheck", "recheck", "recheck_built"]
