"""A plan as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verify.planner.cost import cost_of, pareto
from verify.planner.errors import NoPlan
from verify.planner.result import Plan

_STARTS = {
    "given": "the start is bounded by the constant given",
    "at-once": "counting starts at once (r_hat = 0), from the known start",
    "a-priori": "the warm-up is bounded a priori (its step-size conditions are among the hypotheses)",
    "warm": "the participation game runs alone for the first r_hat rounds; training starts then",
}


def plan_text(plan: Plan, model_size: int = 0) -> str:
    """The choice, the cost, and the certificate in short."""
    targets = ", ".join(f"{n} = {v:g}" for n, v in plan.certificate["targets"].items() if v is not None)
    lines = [f"{plan.theorem} ({plan.edition}), {targets}: R = {plan.R}"]
    lines.append("  " + ", ".join(f"{n} = {v!r}" for n, v in plan.certificate["choice"].items() if n != "R"))
    if plan.certificate["start"] is not None:
        lines.append(f"  {_STARTS[plan.start]}")
    cost = cost_of(plan, model_size)
    alone = f", {cost.game_rounds} of them the game alone" if cost.game_rounds and plan.H else ""
    lines.append(
        f"  cost per client: {cost.rounds} rounds{alone}, {cost.gradients} gradient evaluations, "
        f"{cost.bytes_up} bytes up and as many down"
    )
    lines.append(f"  minimal: {_minimal(plan)}")
    if "horizon" in plan.certificate:
        lines.append(f"  left after R rounds, beside noise and drift: {_left(plan.certificate['horizon'])}")
    for entry in plan.certificate["statements"]:
        limit = "" if entry["limit"] is None else f" <= {entry['limit']:g}"
        lines.append(
            f"  {entry['id']}: at most {entry['total'][1]:.10g}{limit}; the largest term is {entry['binding']!r}"
        )
        lines += [
            f"    {name:<12} {ends[1]:.6g}"
            for name, ends in entry["terms"].items()
            if len(entry["terms"]) > 1
        ]
        lines += [
            f"    [{_word(h['holds'])}] {h['name']}: {_side(h['lhs'])} against {_side(h['rhs'])}"
            for h in entry["hypotheses"]
        ]
    lines.append(f"  rests on constants that are: {plan.certificate['rests_on']}")
    return "\n".join(lines)


def _left(horizon: Mapping[str, Any]) -> str:
    start = f"{float(horizon['start'][1]):.6g} of the start"
    if horizon["weights"] is None:
        return f"{start}; of the moving weights, nobody knows (give d_sequence, the distances ||N_r - N*||)"
    return f"{start}, {float(horizon['weights'][1]):.6g} of the moving weights"


def _word(holds: bool | None) -> str:
    return {True: "holds", False: "fails", None: "undecided"}[holds]


def _side(value: float | str | None) -> str:
    return "?" if value is None else f"{float(value):.6g}"


def _minimal(plan: Plan) -> str:
    low = plan.minimal["infeasible_R"]
    if plan.minimal["proved"] is None:
        return "R was given"
    if plan.minimal["proved"]:
        return f"{low} rounds are proved not to be enough ({plan.minimal['cells']} cells)"
    return f"up to {low} rounds are proved not to be enough; between {low} and {plan.R} is undecided"


def front_text(plans: Sequence[Plan]) -> str:
    """A table over H, the Pareto front of rounds against gradient evaluations marked."""
    chosen = {id(p) for p in pareto(plans)}
    lines = [f"{'H':>6} {'R':>20} {'r_hat':>10} {'gamma':>12} {'gradients':>20}  front"]
    for p in sorted(plans, key=lambda p: p.H or 0):
        mark = "  *" if id(p) in chosen else ""
        lines.append(
            f"{p.H:>6} {p.R:>20} {p.r_hat:>10} {p.gamma or 0:>12.5g} {cost_of(p).gradients:>20}{mark}"
        )
    return "\n".join(lines)


def editions_text(found: Mapping[str, Plan | NoPlan]) -> str:
    """The editions side by side: rounds, and how many times the corrected plan's."""
    base = found.get("corrected")
    lines = [f"{'edition':<10} {'R':>20} {'r_hat':>8} {'gamma':>12} {'ratio':>10}"]
    for edition, plan in found.items():
        if isinstance(plan, NoPlan):
            lines.append(f"{edition:<10} no plan: {plan}")
            continue
        ratio = f"{plan.R / base.R:.4g}" if isinstance(base, Plan) else "-"
        lines.append(f"{edition:<10} {plan.R:>20} {plan.r_hat:>8} {plan.gamma or 0:>12.5g} {ratio:>10}")
    return "\n".join(lines)
