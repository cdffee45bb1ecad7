"""Constants from sampling, and attacks on declared ones; the words are in `verify.constants`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from bounds.core.constant import Constant, Provenance
from games.base import Game
from games.user import ParticipationGame
from simulate.problems.base import Problem
from verify.errors import InputError
from verify.estimating import learning, participation
from verify.estimating.clients import Ball, Client, Point, checked, clients_of

ATTACKED = ("L", "nu", "G", "f_gap", "mu_F", "L_F")
ROUNDING = 1e-9  # relative: a declared constant is beaten only by more than difference quotients can err


@dataclass(frozen=True, eq=False)
class Estimated(Constant):
    """An estimated constant and the point that attains it.

    Attributes:
        point: by name: x (and direction v) in the ball, or x and y in the game's box.
    """

    point: Mapping[str, Float[np.ndarray, " k"]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Attack:
    """What an attack on a declared constant came to.

    Attributes:
        declared: the value that was attacked; found: the best one attained, at `point`.
        beaten: the declared constant is wrong: the problem attains more (less, for mu_F).
    """

    name: str
    declared: float
    found: float
    beaten: bool
    point: Mapping[str, Float[np.ndarray, " k"]]


@dataclass(frozen=True)
class Effort:
    """How hard to look: starts in the region, steps of an ascent, draws of a stochastic gradient."""

    starts: int = 4
    steps: int = 30
    draws: int = 64


def estimate(
    clients: Sequence[Client] | Problem,
    x_0: Sequence[float] | np.ndarray,
    *,
    radius: float,
    seed: int,
    weights: Sequence[float] | None = None,
    B: float = 1.5,
    game: ParticipationGame | None = None,
    effort: Effort | None = None,
) -> dict[str, Constant]:
    """The constants of a learning problem on the ball of `radius` around x_0, and of a game on its box.

    Args:
        clients: callables, or a built-in problem: what its class certifies is taken from there.
        weights: p*_i, by which f is formed; equal ones where none are given.
        B: of the pair (G, B) of Assumption 4.5; G is the one that goes with it.
        game: an object with lower, upper and F; a built-in game gives its certified constants.
        effort: starts, steps and draws.

    Returns:
        L, nu (if there are stochastic gradients), G, B, f_star, f_gap = f(x_0) - f*, S, and mu_F, L_F with a game.

    Raises:
        InputError: for arguments that do not fit, naming what would be right.
    """
    effort = effort or Effort()
    rng = np.random.default_rng(seed)
    found: dict[str, Constant] = {}
    callables = clients_of(clients) if isinstance(clients, Problem) else tuple(clients)
    ball, p = checked(callables, x_0, radius, weights)
    known = _certified(clients, p, ball) if isinstance(clients, Problem) else {}
    if not {"L", "nu", "G", "B"} <= set(known):
        found |= _of_losses(callables, p, B, ball, rng, effort, known)
    found |= _of_minimum(callables, p, ball)
    found |= known
    if game is not None:
        found |= _of_game(game, rng, effort)
    return found


def _certified(problem: Problem, p: Float[np.ndarray, " m"], ball: Ball) -> dict[str, Constant]:
    """What the problem's class proves, and f_gap from its enclosure of f*."""
    known = {
        name: c
        for name, c in problem.constants(p).items()
        if c.provenance is not Provenance.ESTIMATED and np.all(np.isfinite(np.asarray(c.value, dtype=float)))
    }
    if "f_star" in known:
        f_star = known["f_star"]
        start = float(problem.loss(ball.centre, p))
        note = "f(x_0) less the enclosed f*"
        known["f_gap"] = Constant(
            "f_gap", start - float(f_star.value), f_star.provenance, f_star.radius, note
        )
    return known


def _of_losses(
    clients: Sequence[Client],
    p: Float[np.ndarray, " m"],
    B: float,
    ball: Ball,
    rng: np.random.Generator,
    effort: Effort,
    known: Mapping[str, Constant],
) -> dict[str, Constant]:
    region = f"on ||x - x_0|| <= {ball.radius:g}"
    n = ball.centre.size
    found: dict[str, Constant] = {}
    if "L" not in known:
        steep = learning.smoothness(clients, ball, rng, effort.starts, effort.steps)
        point = {"x": steep.point[:n], "v": steep.point[n:]}
        found["L"] = _estimated("L", steep.value, f"largest difference quotient found {region}", point)
    if "nu" not in known:
        spread = learning.noise(clients, ball, rng, effort.starts, effort.steps, effort.draws)
        if spread is not None:
            found["nu"] = _estimated(
                "nu", spread.value, f"largest deviation found {region}", {"x": spread.point}
            )
    if not {"G", "B"} <= set(known):
        pair = learning.dissimilarity(clients, p, B, ball, rng, effort.starts, effort.steps)
        found["B"] = Constant("B", B, Provenance.GIVEN, note="chosen; G goes with it")
        found["G"] = _estimated("G", pair.value, f"for B = {B:g}, largest found {region}", {"x": pair.point})
    return found


def _of_minimum(clients: Sequence[Client], p: Float[np.ndarray, " m"], ball: Ball) -> dict[str, Constant]:
    least, slopes = learning.minimum(clients, p, ball.centre, 2000)
    start = float(sum(w * c.loss(ball.centre) for w, c in zip(p, clients, strict=True)))
    point = {"x": least.point}
    note = "by descent from x_0: f* is no larger"
    return {
        "f_star": _estimated("f_star", least.value, note, point),
        "f_gap": _estimated("f_gap", max(start - least.value, 0.0), "by descent from x_0: no smaller", point),
        "S": _estimated("S", float(np.sum(slopes**2)), "at the end of the descent", point),
    }


def _of_game(game: ParticipationGame, rng: np.random.Generator, effort: Effort) -> dict[str, Constant]:
    if isinstance(game, Game):
        proven = {n: c for n, c in game.constants().items() if c.provenance is not Provenance.ESTIMATED}
        if {"mu_F", "L_F"} <= set(proven):
            return proven
    flat = participation.modulus(game, rng, effort.starts, effort.steps)
    steep = participation.lipschitz(game, rng, effort.starts, effort.steps)
    m = flat.point.size // 2
    return {
        "mu_F": _estimated(
            "mu_F", flat.value, "least quotient found in the box: mu_F is no larger",
            {"x": flat.point[:m], "y": flat.point[m:]},
        ),
        "L_F": _estimated(
            "L_F", steep.value, "largest quotient found in the box",
            {"x": steep.point[:m], "y": steep.point[m:]},
        ),
    }  # fmt: skip


def _estimated(name: str, value: float, note: str, point: Mapping[str, Point]) -> Estimated:
    return Estimated(name, value, Provenance.ESTIMATED, note=note, point=point)


def attack(
    name: str,
    declared: float,
    *,
    clients: Sequence[Client] | Problem = (),
    x_0: Sequence[float] | np.ndarray = (),
    radius: float = 1.0,
    seed: int = 0,
    weights: Sequence[float] | None = None,
    B: float = 1.5,
    game: ParticipationGame | None = None,
    effort: Effort | None = None,
) -> Attack:
    """Tries to beat a declared constant: L, nu, G (for `B`), f_gap, mu_F or L_F.

    Raises:
        InputError: for another name, or arguments that do not fit.
    """
    if name not in ATTACKED:
        raise InputError(f"name = {name!r}: give one of {', '.join(ATTACKED)}")
    effort, rng = effort or Effort(), np.random.default_rng(seed)
    if name in ("mu_F", "L_F"):
        if game is None:
            raise InputError(f"name = {name!r}: give game=, an object with lower, upper and F")
        bare = _Bare(game)
        found = _of_game(bare, rng, effort)[name]
    else:
        callables = clients_of(clients) if isinstance(clients, Problem) else tuple(clients)
        ball, p = checked(callables, x_0, radius, weights)
        everything = _of_minimum(callables, p, ball) if name == "f_gap" else _of_losses(
            callables, p, B, ball, rng, effort, _all_but(name)
        )  # fmt: skip
        if name not in everything:
            raise InputError(f"name = {name!r}: no client has a sampler or samples; add one")
        found = everything[name]
    assert isinstance(found, Estimated)
    value = float(np.asarray(found.value))
    margin = ROUNDING * max(abs(value), abs(declared))
    beaten = value < declared - margin if name == "mu_F" else value > declared + margin
    return Attack(name, float(declared), value, bool(beaten), found.point)


def _all_but(name: str) -> dict[str, Constant]:
    """Marks as known what is not attacked."""
    groups = {"L": ("L",), "nu": ("nu",), "G": ("G", "B")}
    return {n: Constant(n, 0) for k, names in groups.items() if k != name for n in names}


class _Bare:
    """A game stripped of what its class proves."""

    def __init__(self, game: ParticipationGame) -> None:
        self.lower, self.upper, self.F = game.lower, game.upper, game.F


def attack_setup(setup: Any, radius: float, seed: int) -> dict[str, Attack]:
    """Attacks on every constant of a built instance that an attack knows."""
    shared, found = setup.shared, {}
    for name in ATTACKED:
        if name not in shared or (name == "nu" and setup.config.sampling != "iid"):
            continue
        declared = float(np.asarray(shared[name].value)) + float(np.asarray(shared[name].radius))
        if name == "mu_F":
            declared = float(np.asarray(shared[name].value)) - float(np.asarray(shared[name].radius))
        if name == "nu":  # the attack draws single samples
            declared *= float(np.sqrt(setup.config.batch))
        if not np.isfinite(declared):
            continue
        found[name] = attack(
            name,
            declared,
            clients=setup.problem,
            x_0=setup.config.x_0,
            radius=radius,
            seed=seed,
            weights=setup.p_star.tolist(),
            B=float(np.asarray(shared["B"].value)) if "B" in shared else 1.5,
            game=setup.game,
            effort=Effort(starts=2, steps=15),
        )
    return found
