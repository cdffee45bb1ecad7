"""The step sizes and the warm-up of an instance: each given, or as far as the checked statements' hypotheses allow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Float

import bounds
import simulate
from bounds import Constant, Hypothesis, Provenance, Statement
from games.base import Game
from games.welfare import Welfare
from simulate.problems.base import Problem
from verify.errors import InputError
from verify.extremes import Bound, largest_step, smallest_index
from verify.known import Known, dissimilarity, needed, path_constants, takes_lemma_6_5
from verify.schema import Instance
from verify.target import Target

_SUPREMA = frozenset({"delta_hat_sq_sup", "Delta_sq_sup"})
_OF_THE_PATH = ("kappa", "s", "sigma_sq", "omega")


def choose_steps(
    instance: Instance,
    problem: Problem,
    game: Game,
    welfare: Welfare | None,
    target: Target,
    N_0: Float[np.ndarray, " m"],
    known: Known,
    statements: list[Statement],
) -> tuple[Known, simulate.Participation]:
    """gamma_tilde, then the participation path, then r_hat, then gamma; and what follows from the path.

    Raises:
        InputError: if a `largest` or `smallest` does not exist, or the path reaches ||N||_1 = 0.
    """
    algorithm, constants = instance.algorithm, dict(known.constants)

    def choose(name: str, value: float | int | str, extreme: Callable[[list[Bound]], float | int]) -> None:
        note = "given in the instance"
        if isinstance(value, str):
            note = f"{value} that the hypotheses of the checked statements allow"
            limiting = [s for s in statements if _limits(s, name)]
            found = _bindings(limiting, constants, known.absent)
            lacking = {n: known.absent[n] for s in limiting for n in needed(s) if n in known.absent}
            if value == "largest" and lacking and not found:
                why = "; ".join(f"{n}: {reason}" for n, reason in lacking.items())
                raise InputError(
                    f"algorithm.{name} = 'largest': no checked statement limits it here ({why}): give a number, or "
                    "another game or problem"
                )
            value = extreme(found)
        constants[name] = Constant(name, value, Provenance.GIVEN, note=note)

    if not algorithm.regularised:
        choose("gamma_tilde", algorithm.gamma_tilde, lambda b: largest_step("gamma_tilde", b))
    path = _path(instance, game, welfare, N_0, constants)
    if algorithm.regularised:
        choose("r_hat", algorithm.r_hat, lambda b: _first_small(instance, problem, path, target, known, b))
    else:
        choose("r_hat", algorithm.r_hat, lambda b: smallest_index("r_hat", b, algorithm.R))
    found = path_constants(
        problem, path, int(np.asarray(constants["r_hat"].value)), target, Known(constants, known.absent)
    )
    constants = dict(found.constants)
    choose("gamma", algorithm.gamma, lambda b: largest_step("gamma", b))
    return Known(constants, found.absent), path


def _path(
    instance: Instance,
    game: Game,
    welfare: Welfare | None,
    N_0: Float[np.ndarray, " m"],
    constants: dict[str, Constant],
) -> simulate.Participation:
    algorithm = instance.algorithm
    if algorithm.regularised:
        assert algorithm.gamma_tilde_0 is not None
        path = simulate.participation(
            game, N_0, algorithm.gamma_tilde_0, algorithm.R,
            welfare=welfare, lambda_0=algorithm.lambda_0, a=algorithm.a or 0.0, b=algorithm.b or 0.0,
        )  # fmt: skip
    else:
        step = float(np.asarray(constants["gamma_tilde"].value))
        path = simulate.participation(game, N_0, step, algorithm.R)
    totals = path.N.sum(axis=1)
    if not np.all(totals > 0):
        raise InputError(
            f"{instance.name}: game.lower: ||N_r||_1 = 0 at round {int(np.argmin(totals))}, and there are no "
            "weights: give a lower bound > 0"
        )
    return path


def _first_small(
    instance: Instance,
    problem: Problem,
    path: simulate.Participation,
    target: Target,
    known: Known,
    bound: list[Bound],
) -> int:
    """The first r_hat from which on the conditions on the rounds r >= r_hat (r < R) hold, for every edition for which
    there is one (the printed Theorem 4.10 asks for so small a distance that a run may never meet it: its check says
    so).

    A supremum over later rounds only falls as r_hat grows, so bisection finds it.

    Raises:
        InputError: if there is none below R for any edition.
    """
    R = instance.algorithm.R
    if not math.isfinite(target.error):
        return 0  # nothing is known of these conditions; the checks say so
    found = path_constants(problem, path, 0, target, known)

    def small(statement: Statement, constants: Mapping[str, Constant], r_hat: int) -> bool:
        values = {**constants, **found.constants, "r_hat": Constant("r_hat", r_hat, Provenance.EXACT)}
        checks = zip(statement.hypotheses, statement.check(values), strict=True)
        return all(check.holds is True for hypothesis, check in checks if _of_later_rounds(hypothesis))

    def first(statement: Statement, constants: Mapping[str, Constant]) -> int | None:
        if not small(statement, constants, R - 1):
            return None
        low, high = -1, R - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if small(statement, constants, middle) else (middle, high)
        return high

    conditions = [one for one in bound if any(map(_of_later_rounds, one[0].hypotheses))]
    firsts = [r for r in (first(*one) for one in conditions) if r is not None]
    if conditions and not firsts:
        raise InputError(
            f"{instance.name}: algorithm.r_hat = 'smallest': no r_hat < R = {R} meets the conditions on the weights: "
            "give a larger R, or a number"
        )
    return max(firsts, default=0)


def _limits(statement: Statement, name: str) -> bool:
    """Whether a hypothesis is about the size of `name`, or of what happens from the round r_hat on."""
    sides = [getattr(h.relation, "lhs", None) for h in statement.hypotheses]
    return any(getattr(side, "name", None) == name for side in sides) or (
        name == "r_hat" and any(map(_of_later_rounds, statement.hypotheses))
    )


def _of_later_rounds(hypothesis: Hypothesis) -> bool:
    return bool({s.name for s in hypothesis.relation.free_symbols} & _SUPREMA)


def _bindings(
    statements: list[Statement], constants: dict[str, Constant], absent: dict[str, str]
) -> list[Bound]:
    """Each statement with its constants; placeholders stand in for those that are not chosen yet. A statement that
    lacks a constant here limits nothing: its check says so."""
    unit = dict.fromkeys(_OF_THE_PATH, 1.0)
    pending = {"gamma_tilde": 1e-300, "r_hat": 0, "gamma": 1e-300, "f_gap": 0.0, "D_r_hat": 0.0, **unit}
    placeholders = {name: Constant(name, value) for name, value in pending.items() if name not in absent}
    base, bound = {**placeholders, **constants}, list[Bound]()
    pairs: dict[str, dict[str, Constant] | None] = {}  # of Lemma 6.5, by edition
    for statement in statements:
        if any(name in absent for name in needed(statement)):
            continue
        key = statement.edition if takes_lemma_6_5(statement) else ""
        if key not in pairs:
            try:
                pairs[key] = dissimilarity(statement, constants)
            except bounds.HypothesisFails:
                pairs[key] = None
        pair = pairs[key]
        if pair is not None:
            bound.append((statement, {**base, **pair}))
    return bound
