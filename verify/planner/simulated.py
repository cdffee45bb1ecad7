"""A plan for an instance, run: what the simulator finds against what the plan promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

import simulate
from verify.planner.certificate import StartValue
from verify.planner.enclosures import outward
from verify.planner.instance import Known
from verify.planner.result import Plan

_MOST_ROUNDS = 20_000
_DRAWS = 16


@dataclass(frozen=True)
class Observed:
    """What a run of a plan (or of its first rounds) showed.

    Attributes:
        rounds: rounds run, of `planned` ones; seeds: independent runs.
        learning, learning_high: the mean over seeds of what epsilon limits (||grad f||^2 at uniform k*, or the
            averaged iterate's f - f*), and that mean plus three standard errors.
        distance: the mean square NE distance over the counted rounds.
        promised, promised_distance: what the theorem guarantees for the rounds that were run.
    """

    rounds: int
    planned: int
    seeds: int
    learning: float
    learning_high: float
    distance: float
    promised: float
    promised_distance: float

    @property
    def complete(self) -> bool:
        """Was the whole plan run, and not only its beginning?"""
        return self.rounds == self.planned

    def text(self) -> str:
        """One line."""
        part = "the whole plan" if self.complete else f"the first {self.rounds} of {self.planned} rounds"
        return (
            f"simulated {part}, {self.seeds} seeds: {self.learning:.4g} (up to {self.learning_high:.4g} within three "
            f"standard errors) against {self.promised:.4g} guaranteed for these rounds; mean square NE distance "
            f"{self.distance:.4g} against {self.promised_distance:.4g}"
        )


def simulate_plan(
    plan: Plan,
    known: Known,
    *,
    seeds: int = 16,
    most_rounds: int = _MOST_ROUNDS,
    progress: Callable[[int, int], None] | None = None,
) -> Observed:
    """Run a plan of Theorem 4.6 or 4.9 for an instance, all of it or its first `most_rounds` rounds.

    With a warm start the game runs alone for r_hat rounds, and the training from there.

    Raises:
        ValueError: for a plan of another theorem.
    """
    gamma, gamma_tilde, H = plan.gamma, plan.gamma_tilde, plan.H
    if plan.theorem not in ("4.6", "4.9") or gamma is None or gamma_tilde is None or H is None:
        raise ValueError(f"a plan of {plan.theorem} is not simulated: give one of Theorem 4.6 or 4.9")
    setup = known.setup
    R = max(min(plan.R, most_rounds), plan.r_hat + 1)
    config = replace(
        setup.config, gamma=gamma, gamma_tilde=gamma_tilde, H=H, R=R, r_hat=plan.r_hat, seeds=seeds,
        draws=_DRAWS, horizons=(R,), records=2,
    )  # fmt: skip
    path = simulate.participation(setup.game, config.N_0, gamma_tilde, R)
    square = ((path.N[plan.r_hat : R] - setup.equilibrium.N) ** 2).sum(axis=1)
    if plan.start == "warm":
        config = replace(
            config, N_0=path.N[plan.r_hat], R=R - plan.r_hat, r_hat=0, horizons=(R - plan.r_hat,)
        )
    run = simulate.run(
        setup.problem, setup.game, config, p_star=setup.p_star, x_star=setup.x_star, progress=progress
    )
    average = "p_now" if plan.edition == "printed" else "p_next"
    if plan.theorem == "4.6":
        values = run["grad_f_sq"].sel(average=average).values.reshape(seeds, -1).mean(axis=1)
    else:
        f_star = float(np.asarray(setup.shared["f_star"].value))
        values = run["f_avg"].sel(average=average).values.reshape(seeds, -1)[:, -1] - f_star
    spread = float(values.std(ddof=1)) / np.sqrt(seeds) if seeds > 1 else 0.0
    promised, promised_distance = _guarantees(plan, R)
    mean = float(values.mean())
    return Observed(
        R, plan.R, seeds, mean, mean + 3 * float(spread), float(square.mean()), promised, promised_distance
    )


def _guarantees(plan: Plan, R: int) -> tuple[float, float]:
    """The bounds of the plan's choice for R rounds instead of its own."""
    search = plan.search
    assert search is not None  # plans of these two theorems come from a search
    start = plan.certificate["start"]
    entering = StartValue(start["mode"], start["symbol"], start["power"], Fraction(start["value"])).entering
    at = {**search.constants, **plan.certificate["choice"], "R": R, start["symbol"]: entering}
    totals = [s.enclose(at, unchecked=True) for s in (search.statement, search.distance)]
    return outward(totals[0])[1], outward(totals[1])[1]
