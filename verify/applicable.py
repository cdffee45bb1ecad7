"""Which statements are about a given run: their standing assumptions, and the constants that do not exist here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

import bounds
from bounds import Constant, Statement
from verify.verdict import Outcome

# What the statements assume besides their written hypotheses, by the beginning of their ids.
CONSTANT_STEP = (
    "Lemma 4.3", "Theorem 4.6", "Theorem 4.9", "Lemma 4.12", "Lemma 4.14", "Lemma 6.6", "Lemma 6.7", "Lemma 6.8",
    "Lemma 6.10",
)  # fmt: skip
REGULARISED = ("Lemma 4.4", "Theorem 4.10")
CONVEX = (
    "Theorem 4.9(i-1)",
    "Theorem 4.9(ii)",
    "Assumption 4.8",
    "Lemma 6.6",
    "Lemma 6.7",
    "Lemma 6.8",
    "Lemma 6.9",
)
NEEDS_N_STAR = (
    "Lemma 4.3", "Lemma 4.4(iv)", "Theorem 4.6", "Theorem 4.9", "Theorem 4.10", "Lemma 4.12", "Lemma 4.13(ii)",
    "Lemma 4.13(iii)", "Lemma 4.14", "Lemma 6.5", "Lemma 6.6", "Lemma 6.7", "Lemma 6.8", "Lemma 6.9",
)  # fmt: skip
ABOUT_F = tuple(
    name for name in NEEDS_N_STAR if not name.startswith(("Lemma 4.3", "Lemma 4.4", "Theorem 4.9(i-2)"))
)
PRECISE = (
    1e-9  # N* must be known to this, relative to ||N*||_1, for f = sum_i p*_i f_i to be the f that is run
)


class NotApplicable(ValueError):
    """A statement that says nothing here, or about which nothing can be said: `outcome` and one line why.

    `hypothesis-fails`: an assumption of the statement does not hold for this run. `inconclusive`: a constant that
    it needs is not known.
    """

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome, self.reason = outcome, reason


def require_applicable(
    statement: Statement,
    needed: Iterable[str],
    *,
    regularised: bool,
    monotone: bool | None,
    convex: bool | None,
    N_star_error: float,
    N_star_reason: str,
    absent: Mapping[str, str],
    N_star_l1: float,
) -> None:
    """Raises NotApplicable unless the statement is about such a run and its constants exist.

    Args:
        needed: the constants that it takes.
        regularised: whether the run follows the iteratively regularised update.
        monotone: whether F is monotone (True or False proved, None undecided).
        convex: whether every f_i is convex (True or False proved, None undecided).
        absent: constants that do not exist here, with the reason.
    """
    name = statement.id
    if regularised and name.startswith(CONSTANT_STEP):
        reason = "it is about a constant gamma_tilde; the run follows the iteratively regularised update"
        raise NotApplicable(Outcome.HYPOTHESIS_FAILS, reason)
    if not regularised and name.startswith(REGULARISED):
        reason = "it is about the iteratively regularised update; the run has a constant gamma_tilde"
        raise NotApplicable(Outcome.HYPOTHESIS_FAILS, reason)
    if not monotone and name.startswith(REGULARISED + CONSTANT_STEP):
        if monotone is False:
            raise NotApplicable(Outcome.HYPOTHESIS_FAILS, "F is not monotone (a pair of points shows it)")
        raise NotApplicable(Outcome.INCONCLUSIVE, "F is not proved monotone")
    if not convex and name.startswith(CONVEX):
        if convex is False:
            raise NotApplicable(Outcome.HYPOTHESIS_FAILS, "the f_i are not convex (Assumption 4.8)")
        raise NotApplicable(Outcome.INCONCLUSIVE, "the f_i are not proved convex (Assumption 4.8)")
    if name.startswith(NEEDS_N_STAR) and not math.isfinite(N_star_error):
        raise NotApplicable(Outcome.INCONCLUSIVE, f"N* is not known: {N_star_reason}")
    if name.startswith(ABOUT_F) and N_star_error > PRECISE * N_star_l1:
        reason = f"N* is known to within {N_star_error:.3g} only: not well enough to say which f is meant"
        raise NotApplicable(Outcome.INCONCLUSIVE, reason)
    for symbol in needed:
        if symbol in absent:
            raise NotApplicable(Outcome.INCONCLUSIVE, f"{symbol}: {absent[symbol]}")


def outside_domains(constants: Mapping[str, Constant]) -> dict[str, str]:
    """Those constants that lie outside their symbol's domain, or are infinite, with the reason."""
    found: dict[str, str] = {}
    for name, constant in constants.items():
        symbol = bounds.SYMBOLS.get(name)
        if symbol is None:
            continue
        value = np.asarray(constant.value, dtype=float)
        if not np.all(np.isfinite(value)):
            found[name] = "it is infinite here"
        elif not np.all(symbol.domain.admits(value)):
            worst = value.ravel()[int(np.argmin(symbol.domain.admits(value)))]
            found[name] = f"it is {worst:g} here, and has to be {symbol.domain}"
    return found
