"""The theorems that a plan can rest on, and what each needs to know of the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import bounds
from bounds import Statement


@dataclass(frozen=True)
class Goal:
    """One theorem to plan with.

    Args:
        bound: the statement whose value must not exceed epsilon.
        distance: the statement that bounds the mean square NE distance.
        start, power: the symbol of the unknown start and its power in the bound.
        start_0: the constant that is start^power at round 0.
        a_priori: the statement that bounds start^power at round r_hat by start_0.
        both: whether epsilon limits the NE distance too.
    """

    bound: str
    distance: str
    start: str
    power: int
    start_0: str
    a_priori: Callable[[], Statement]
    both: bool


GOALS: dict[str, Goal] = {
    "4.6": Goal("Theorem 4.6(i-1)", "Theorem 4.6(i-2)", "f_gap", 1, "f_gap_0", bounds.start_gap, both=True),
    "4.9": Goal(
        "Theorem 4.9(i-1)", "Theorem 4.9(i-2)", "D_r_hat", 2, "X_0", bounds.start_distance, both=False
    ),
}


def limits_of(theorem: str, targets: Mapping[str, float | None]) -> dict[str, float | None]:
    """The statements that a plan with a lemma rests on, each with its limit."""
    if theorem == "Lemma 4.3":
        return {"Lemma 4.3(i)": targets["epsilon"]}
    if theorem == "4.10":
        return {"Theorem 4.10(ii)": targets["epsilon"]}
    return {"Lemma 4.4(i)": targets["epsilon"], "Lemma 4.4(ii)": targets["epsilon_gap"]}


def bound_by(theorem: str, choice: Mapping[str, Any]) -> dict[str, Any]:
    """The choices under the names that the statements use: Lemma 4.3 speaks of round r."""
    if theorem == "Lemma 4.3":
        return {"r": choice["R"], "gamma_tilde": choice["gamma_tilde"]}
    return dict(choice)
