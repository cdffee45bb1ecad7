"""A plan: what to run, and why it is enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verify.planner.certificate import Record
from verify.planner.enclosures import Side, outward
from verify.planner.search import Search


@dataclass(frozen=True, eq=False)
class Plan:
    """What to run, and why it is enough.

    Attributes:
        R, r_hat, H, gamma, gamma_tilde: the choice.
        bound: a proven upper bound on what the theorem bounds, at most `epsilon`.
        terms: each term of the bound (upper ends), by name; hypotheses: every side of every hypothesis.
        certificate: all of it as JSON, for `--check`.
        start: how the unknown start was bounded: given, at-once (r_hat = 0), a-priori, or warm (the game alone runs
            for the first r_hat rounds).
        minimal: {"proved", "infeasible_R", "cells"}: the largest number of rounds proved not to be enough.
    """

    theorem: str
    edition: str
    epsilon: float
    R: int
    r_hat: int
    H: int | None
    gamma: float | None
    gamma_tilde: float | None
    bound: float
    terms: dict[str, float]
    hypotheses: tuple[Side, ...]
    certificate: dict[str, Any]
    start: str
    minimal: dict[str, Any]
    search: Search | None = None

    @property
    def binding(self) -> str:
        """The largest term of the bound."""
        return max(self.terms, key=lambda name: self.terms[name])

    @property
    def training_rounds(self) -> int:
        """Rounds with training and model exchange (all, unless the game runs alone first)."""
        return self.R - self.r_hat if self.start == "warm" else self.R


def planned(
    theorem: str,
    edition: str,
    epsilon: float,
    choice: Mapping[str, Any],
    found: list[Record],
    certificate: dict[str, Any],
    start: str,
    minimal: dict[str, Any],
    search: Search | None = None,
) -> Plan:
    """The plan of a choice whose statements have been evaluated (the first one is the bound)."""
    main = found[0].evaluation
    return Plan(
        theorem=theorem,
        edition=str(edition),
        epsilon=epsilon,
        R=choice["R"],
        r_hat=choice.get("r_hat", 0),
        H=choice.get("H"),
        gamma=choice.get("gamma"),
        gamma_tilde=choice.get("gamma_tilde", choice.get("gamma_tilde_0")),
        bound=outward(main.total)[1],
        terms={name: outward(value)[1] for name, value in main.terms.items()},
        hypotheses=tuple(s for r in found for s in r.evaluation.sides),
        certificate=certificate,
        start=start,
        minimal=minimal,
        search=search,
    )
