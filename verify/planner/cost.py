"""What a plan costs, and which numbers of local steps are worth considering."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from verify.planner.result import Plan


@dataclass(frozen=True)
class Cost:
    """The cost of a plan, per client.

    Attributes:
        rounds: rounds in all; game_rounds: those in which only the game runs (a warm start).
        gradients: local gradient evaluations, of `batch` samples each.
        bytes_up, bytes_down: the model once each way a round of training; `number_bytes` a number, and the
            participation level once each way in every round.
    """

    rounds: int
    game_rounds: int
    gradients: int
    bytes_up: int
    bytes_down: int

    def to_json(self) -> dict[str, int]:
        """The fields."""
        return dict(vars(self))


def cost_of(plan: Plan, model_size: int = 0, number_bytes: int = 8) -> Cost:
    """The cost of a plan for a model of `model_size` numbers."""
    training = plan.training_rounds if plan.H is not None else 0
    traffic = number_bytes * (training * model_size + plan.R)
    return Cost(plan.R, plan.R - training, training * (plan.H or 0), traffic, traffic)


def pareto(plans: Sequence[Plan]) -> list[Plan]:
    """The plans that no other beats in both training rounds and gradient evaluations, by rounds."""
    best: list[Plan] = []
    for plan in sorted(plans, key=lambda p: (p.training_rounds, cost_of(p).gradients)):
        if not best or cost_of(plan).gradients < cost_of(best[-1]).gradients:
            best.append(plan)
    return best


def draw_front(plans: Sequence[Plan]) -> bytes:
    """Rounds against gradient evaluations over H, the Pareto front joined; a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.3), layout="constrained")
    axes = figure.subplots()
    best = pareto(plans)
    axes.plot(
        [p.training_rounds for p in best], [cost_of(p).gradients for p in best], color="#0072B2", lw=1.5
    )
    axes.scatter(
        [p.training_rounds for p in plans], [cost_of(p).gradients for p in plans], color="#222222", zorder=3
    )
    for p in plans:
        at = (p.training_rounds, cost_of(p).gradients)
        axes.annotate(f"H = {p.H}", at, xytext=(5, 4), textcoords="offset points", fontsize=9)
    axes.set(
        xscale="log", yscale="log", xlabel="rounds of training", ylabel="gradient evaluations per client"
    )
    axes.grid(True, alpha=0.25)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    return buffer.getvalue()
