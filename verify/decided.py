"""What no run decides: assumptions (by constants), limits, orders, and claims of experiments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bounds import Constant, HypothesisCheck, Kind, Provenance, Statement, weakest
from verify.verdict import Outcome, Rigor, Verdict

ORDER = "an order, not a guarantee: no number of rounds follows from it, so no run can confirm or refute it"
CLAIM = "what an experiment is said to show: the proof ledger judges it, step by step"

# Constants whose proof is the proof of an assumption that a relation between numbers alone would leave open.
_PROVED_BY: Mapping[str, tuple[str, ...]] = {
    "Assumption 2.2(i)": ("mu_F",),
    "Assumption 2.3(i)": ("mu_F",),
    "Assumption 4.5": ("G", "B"),
    "Assumption 4.8": ("x_star", "L"),
}
_PROOF = (Provenance.EXACT, Provenance.CERTIFIED)


def failed(checks: tuple[HypothesisCheck, ...]) -> str:
    """The hypotheses that fail, in one line."""
    return "; ".join(c.text for c in checks if c.holds is False)


def predicate(base: Verdict, statement: Statement, constants: Mapping[str, Constant]) -> Verdict:
    """An assumption: it holds, fails, or stays unknown, by its constants and how they are known."""
    checks = statement.check(constants)
    base = replace(base, hypotheses=checks, confidence=1.0)
    used = {name: constants[name] for name in statement.symbols if name in constants}
    if any(c.holds is False for c in checks):
        return replace(base, outcome=Outcome.HYPOTHESIS_FAILS, reason=failed(checks))
    known = ", ".join(f"{name} {c.provenance}" for name, c in used.items())
    unknown = [c.name for c in checks if c.holds is None]
    if unknown and not _proved(statement, constants):
        return replace(base, reason=f"unknown: {', '.join(unknown)}" + (f" ({known})" if known else ""))
    if weakest(used) is Provenance.ESTIMATED:
        # Every problem has finite estimates: the true L, nu, G are no smaller, the true mu_F is no larger.
        reason = f"unknown: an estimate is a value that is attained, and bounds nothing ({known})"
        return replace(base, rigor=Rigor.INDICATIVE, reason=reason)
    return replace(base, outcome=Outcome.HOLDS, reason=f"holds: {known}")


def _proved(statement: Statement, constants: Mapping[str, Constant]) -> bool:
    """Whether the constants that an assumption asserts come with a proof."""
    names = _PROVED_BY.get(statement.id, ())
    return bool(names) and all(n in constants and constants[n].provenance in _PROOF for n in names)


def undecidable(statement: Statement) -> str | None:
    """Why no run can decide the statement, or None if one can.

    An order gets the outcome `inconclusive` with the words "an order, not a guarantee": it is neither true nor
    false of a single run. A limit is not decided by finitely many rounds, even where all its conditions hold.
    """
    if statement.kind is Kind.ORDER:
        return ORDER
    if statement.kind is Kind.CLAIM:
        return CLAIM
    if statement.quantity == "averaged_participation_limit":
        return "a limit: its conditions are decided, but no finite run shows it"
    if statement.quantity.startswith("grad_f_sq_limsup"):
        return "an upper limit over R: no finite run shows it"
    return None
