"""The point that the statements mean by N*: the unique equilibrium, or the minimiser of h over the equilibria."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

import games
from bounds import Provenance
from games.affine import Affine
from games.base import Game
from games.certificates import tangent_residual
from games.composite import Composite
from games.equilibrium import Certificate, Equilibrium
from games.gaps import Bracket
from games.scalars import value_range
from games.welfare import Welfare

PIECES = 400
FEW = 64
_U = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Target:
    """N*, how far from it the float point may be, and what is known of h there.

    Attributes:
        equilibrium: an equilibrium of the game; its N is `N`.
        error: a proven bound on ||N - N*|| (infinite where nothing is proven; `reason` says why).
        h_star: a proven bracket on h(N*) (None without a welfare loss).
    """

    equilibrium: Equilibrium
    error: float
    h_star: Bracket | None = None
    reason: str = ""

    @property
    def N(self) -> Float[np.ndarray, " m"]:
        return self.equilibrium.N


def find_target(game: Game, welfare: Welfare | None) -> Target:
    """N* of the strongly monotone setting (no welfare loss, or one equilibrium), or the best equilibrium of the
    merely monotone one.

    Raises:
        GameError: if F is not proved monotone where a welfare loss must select.
        NotSolved: if no equilibrium was found to the tolerance.
    """
    mu_F = game.constants().get("mu_F")
    strong = mu_F is not None and float(np.asarray(mu_F.value)) > 0
    if welfare is None or strong:
        return _unique(game, welfare)
    if isinstance(game, Affine):
        return _selected(game, welfare)
    return _followed(game, welfare)


def _unique(game: Game, welfare: Welfare | None) -> Target:
    dominant = pushed(game) if isinstance(game, Composite) else None
    equilibrium = dominant or games.solve(game, certificate="proof", engine=_engine(game))
    one = equilibrium.unique is True and math.isfinite(equilibrium.error_bound)
    error = equilibrium.error_bound if one else math.inf
    reason = "" if one else (equilibrium.note or "the equilibrium is not proved to be the only one")
    h_star = None if welfare is None else _around(game, welfare, equilibrium.N, error)
    return Target(equilibrium, error, h_star, reason)


def _engine(game: Game) -> str:
    """Loading compiled kernels takes seconds: for a few clients plain numpy is there first."""
    return "numpy" if game.m <= FEW else "auto"


def pushed(game: Composite) -> Equilibrium | None:
    """The equilibrium in which every client sits at a bound because F_i has one sign on the whole box: then it is
    the only one, monotone or not (None if some sign is not proved)."""
    low, high = _signs(game)
    up, down = high < 0, low > 0
    if not np.all(up | down | ~game.moving):
        return None
    N = np.where(up, game.upper, game.lower)
    return replace(
        games.solve(game, start=N),
        N=N,
        certificate=Certificate.PROOF,
        residual=0.0,
        error_bound=0.0,
        at_lower=game.lower >= N,
        at_upper=game.upper <= N,
        provenance=Provenance.CERTIFIED,
        unique=True,
        note="every F_i has one sign on the whole box",
    )


def _signs(game: Composite) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """Proven bounds on F over the box. In the power-law game F depends on ||N||_1 alone: piece by piece of it."""
    if not isinstance(game, games.PowerLawGame):
        return game.range_F(game.lower, game.upper)
    first, last = (float(end[0]) for end in game.arguments)
    cuts = np.concatenate([[first], np.geomspace(first, last, PIECES)[1:-1], [last]])
    ones = np.ones(game.m)
    low, high = value_range(game.phi, cuts[:-1, None] * ones, cuts[1:, None] * ones)
    positive, negative = np.maximum(game.U, 0.0), np.minimum(game.U, 0.0)
    below, above = low @ positive.T + high @ negative.T, high @ positive.T + low @ negative.T
    slack = 4 * game.m * _U * np.maximum(np.abs(low), np.abs(high)) @ np.abs(game.U).T
    return (below - slack).min(axis=0), (above + slack).max(axis=0)


def _around(game: Game, welfare: Welfare, N: Float[np.ndarray, " m"], error: float) -> Bracket:
    """h(N*) from h(N) and ||N - N*|| <= error."""
    value = float(welfare.value(N))
    C_H = float(np.asarray(welfare.constants(game.lower, game.upper)["C_H"].value))
    slack = C_H * error + 1e-13 * (abs(value) + float(np.abs(welfare.gradient(N)) @ np.abs(N)))
    return Bracket(value - slack, value + slack)


def _selected(game: Affine, welfare: Welfare) -> Target:
    """Exact welfare selection over the polyhedron of equilibria."""
    found = games.select(game, welfare)
    solved = games.solve(game)
    N = found.representative if found.N is None else found.N
    equilibrium = replace(
        solved,
        N=N,
        residual=tangent_residual(game, N),
        error_bound=found.error_bound,
        at_lower=game.lower >= N,
        at_upper=game.upper <= N,
        provenance=Provenance.CERTIFIED,
        unique=found.dimension == 0,
        exact=None,
        note=found.note,
    )
    slack = 1e-13 * (abs(found.value) + float(np.abs(welfare.gradient(N)) @ np.abs(N)))
    bracket = Bracket(found.bracket.low, found.bracket.high + slack)
    reason = "" if math.isfinite(found.error_bound) else found.note
    return Target(equilibrium, found.error_bound, bracket, reason)


def _followed(game: Game, welfare: Welfare) -> Target:
    """A nonlinear monotone F: the path of regularised solutions ends near N*, but nothing proves how near. It bounds
    h(N*) from below only, since its end is an equilibrium up to a residual."""
    path = games.select_by_path(game, welfare)
    solved = games.solve(game, start=path.equilibrium)
    equilibrium = replace(solved, error_bound=math.inf, note="followed the path of F + eps grad h")
    reason = "nonlinear merely monotone F: the best equilibrium is followed, not proved"
    slack = 1e-13 * (abs(path.bracket.low) + float(np.abs(welfare.gradient(path.N)) @ np.abs(path.N)))
    return Target(equilibrium, math.inf, Bracket(path.bracket.low - slack, math.inf), reason)
