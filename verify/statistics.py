"""E-values for E[X] against a bound: honest statistics for expectation bounds.

An e-value is a nonnegative statistic with mean at most 1 under the hypothesis that it tests, so by Markov's
inequality it reaches 1/alpha with probability at most alpha, for every sample size and every law. All
e-values here are symmetric in the sample: they do not depend on the order of the seeds.

- *violated* (against E[X] <= b) needs only X >= 0: prod (1 + lam (X_i/b - 1)), lam in [0, 1].
- *holds* (against E[X] >= b) needs a ceiling c on X: prod (1 + lam (b - X_i)), lam in [0, 1/(c - b)],
  or a proven variance proxy s2 (X - E[X] is sub-Gaussian): exp(lam sum (b - X_i) - n lam^2 s2 / 2).

Each product is mixed over a fixed geometric grid of lam, so nothing is tuned on the data.
Reference for the betting form: Waudby-Smith and Ramdas, Estimating means of bounded random variables by
betting, JRSS B 86 (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

_DEPTH = 24
_BETS = 0.5 ** np.arange(_DEPTH)  # fractions 1, 1/2, 1/4, ... of the largest admissible bet
_LOG_PRIOR = -np.log((np.arange(_DEPTH) + 1.0) * (np.arange(_DEPTH) + 2.0))  # sums to less than 1


def log_sum_exp(x: Float[np.ndarray, " n"]) -> float:
    """log sum exp(x), for any infinite entries too (a twentieth of the cost of a general one)."""
    top = float(x.max())
    if not math.isfinite(top):
        return top
    return top + math.log(float(np.exp(x - top).sum()))


class OutOfRange(ValueError):
    """An observation beyond a bound that was said to be proven."""


@dataclass(frozen=True)
class Evidence:
    """An e-value against one hypothesis, as a mixture of bets.

    Attributes:
        logs: the log of each bet's share; the e-value is the sum of their exponentials.
        rates: how much each log grows with one more seed that looks like the past ones.
    """

    logs: tuple[float, ...]
    rates: tuple[float, ...]

    @property
    def log_e(self) -> float:
        """The log of the e-value."""
        return log_sum_exp(np.array(self.logs))

    def rejects(self, alpha: float) -> bool:
        """Whether the hypothesis is refuted at level `alpha`."""
        return self.log_e >= math.log(1 / alpha)

    def more_seeds(self, alpha: float) -> int | None:
        """How many further seeds would decide if they look like the past ones; None if none would."""
        if self.rejects(alpha):
            return 0
        logs, rates = np.array(self.logs), np.array(self.rates)
        alive = (rates > 0) & (logs > -math.inf)
        if not np.any(alive):
            return None
        target = math.log(1 / alpha)
        low, high = (
            0,
            math.ceil(float(((target - logs[alive]) / rates[alive]).min())),
        )  # one bet alone suffices
        while high - low > 1:
            middle = (low + high) // 2
            if log_sum_exp(logs + middle * rates) >= target:
                high = middle
            else:
                low = middle
        return high


NO_EVIDENCE = Evidence((-math.inf,), (0.0,))
CERTAIN = Evidence((math.inf,), (math.inf,))


def _mixture(log_factors: Float[np.ndarray, "bets n"]) -> Evidence:
    totals = log_factors.sum(axis=1) + _LOG_PRIOR
    return Evidence(tuple(totals.tolist()), tuple(log_factors.mean(axis=1).tolist()))


def _log1p(x: Float[np.ndarray, "bets n"]) -> Float[np.ndarray, "bets n"]:
    with np.errstate(divide="ignore"):
        return np.log1p(np.maximum(x, -1.0))


def against_at_most(x: Float[np.ndarray, " n"], bound: float, floor: float = 0.0) -> Evidence:
    """Evidence against E[X] <= bound, for X >= floor and bound > floor.

    Raises:
        OutOfRange: for an observation below the floor.
        ValueError: for a bound that is not above the floor.
    """
    if not bound > floor:
        raise ValueError(f"bound = {bound}: give a bound above the floor {floor}")
    if np.any(x < floor):
        raise OutOfRange(f"an observation {x.min()} lies below the floor {floor}")
    return _mixture(_log1p(_BETS[:, None] * ((x - bound) / (bound - floor))[None, :]))


def against_at_least(x: Float[np.ndarray, " n"], bound: float, ceiling: float) -> Evidence:
    """Evidence against E[X] >= bound, for X <= ceiling.

    Raises:
        OutOfRange: for an observation above the ceiling (it is then no ceiling).
    """
    if np.any(x > ceiling):
        raise OutOfRange(f"an observation {x.max()} exceeds the ceiling {ceiling}")
    if bound >= ceiling:  # E[X] >= bound is then impossible, or an equality at the ceiling
        return CERTAIN if bound > ceiling else NO_EVIDENCE
    return _mixture(_log1p(_BETS[:, None] * ((bound - x) / (ceiling - bound))[None, :]))


def against_at_least_subgaussian(
    x: Float[np.ndarray, " n"], bound: float, variance_proxy: float, alpha: float, planned: int | None = None
) -> Evidence:
    """Evidence against E[X] >= bound, when X - E[X] is sub-Gaussian with the proven `variance_proxy`.

    The bet is the one that is best at level `alpha` and the `planned` sample size (default: this one), fixed
    before the data. At that size the e-value passes 1/alpha exactly when mean + sqrt(2 s2 ln(1/alpha)/n) <=
    bound. With the same `planned` at every look it is an e-process: it may be looked at as seeds come in.
    """
    n = x.size
    if variance_proxy == 0.0:
        return CERTAIN if float(x.max()) < bound else NO_EVIDENCE
    bet = math.sqrt(2 * math.log(1 / alpha) / ((planned or n) * variance_proxy))
    log_e = bet * float((bound - x).sum()) - n * bet**2 * variance_proxy / 2
    gap = bound - float(x.mean())
    if planned is not None:  # the bet stays, so the log grows by the same amount with every seed like these
        return Evidence((log_e,), (bet * gap - bet**2 * variance_proxy / 2,))
    rate = gap**2 / (2 * variance_proxy) if gap > 0 else 0.0
    # with n' seeds in all (and the bet chosen for them) the test passes when n' rate >= ln(1/alpha)
    missing = math.log(1 / alpha) - log_e
    needed = math.log(1 / alpha) / rate - n if rate > 0 else math.inf
    return Evidence((log_e,), (missing / needed if missing > 0 and 0 < needed < math.inf else rate,))


def average(*evidence: Evidence) -> Evidence:
    """The mean of e-values for the same hypothesis is one: valid without any correction."""
    share = math.log(len(evidence))
    logs = tuple(log - share for e in evidence for log in e.logs)
    return Evidence(logs, tuple(rate for e in evidence for rate in e.rates))
