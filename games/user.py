"""A user's own game: any object with a box and a map F."""

from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from bounds.core.constant import Constant, Provenance
from games.base import Game, GameError, Jacobians, Points, Vector, checked_box, diameter_constant


@runtime_checkable
class ParticipationGame(Protocol):
    """The least a user writes: a box and F, batched over leading axes."""

    lower: Vector
    upper: Vector

    def F(self, N: Points) -> Points:
        """F_i(N) = d l_i / d N_i."""


class UserGame(Game):
    """Wraps a `ParticipationGame`; what the object does not offer is said plainly, not guessed.

    The object may also offer `jacobian(N)`, `utility_losses(N)` and `F_error(N)`. Without `F_error` the
    error of F is unknown and reported as infinity, so no distance is proven. Constants are the user's word
    (`given`).

    Args:
        game: the object, a `ParticipationGame`.
        constants: any of mu_F, L_F, C_F.

    Raises:
        GameError: no callable F, a bad box, an F of the wrong shape or with NaN at the middle of the box.
    """

    def __init__(self, game: object, constants: Mapping[str, float] | None = None) -> None:
        self.inner = cast(Any, game)
        for name in ("lower", "upper", "F"):
            if not hasattr(game, name):
                raise GameError(f"{type(game).__name__}: no {name}; give lower, upper, F(N)")
        self.lower, self.upper = checked_box(self.inner.lower, self.inner.upper)
        middle = (self.lower + self.upper) / 2.0
        value = np.asarray(self.inner.F(middle))
        if value.shape != middle.shape:
            raise GameError(f"{type(game).__name__}.F returns shape {value.shape}: give {middle.shape}")
        if not np.all(np.isfinite(value)):
            raise GameError(
                f"{type(game).__name__}.F = {value.tolist()} at the middle of the box: give numbers"
            )
        self.given = dict(constants or {})
        for name, number in self.given.items():
            if name not in ("mu_F", "L_F", "C_F"):
                raise GameError(f"constants: unknown key {name}; give mu_F, L_F or C_F")
            if not (np.isfinite(number) and number >= 0):
                raise GameError(f"{name} = {number}: give a finite number >= 0")

    def F(self, N: Points) -> Points:
        """The user's map."""
        return np.asarray(self.inner.F(N), dtype=np.float64)

    def F_error(self, N: Points) -> Points:
        """The user's bound, or infinity."""
        bound = getattr(self.inner, "F_error", None)
        return np.full(N.shape, np.inf) if bound is None else np.asarray(bound(N), dtype=np.float64)

    def jacobian(self, N: Points) -> Jacobians:
        """The user's Jacobian, or central differences (used to find a point, never to prove one)."""
        own = getattr(self.inner, "jacobian", None)
        if own is not None:
            return np.asarray(own(N), dtype=np.float64)
        step = 1e-6 * np.maximum(1.0, np.max(np.abs(N), initial=1.0))
        shifts = step * np.eye(self.m)
        columns = [(self.F(N + shift) - self.F(N - shift)) / (2.0 * step) for shift in shifts]
        return np.stack(columns, axis=-1)

    def utility_losses(self, N: Points) -> Points:
        """The user's utility losses.

        Raises:
            GameError: the object has none.
        """
        own = getattr(self.inner, "utility_losses", None)
        if own is None:
            raise GameError(f"{type(self.inner).__name__}: no utility_losses(N); add it to measure regret")
        return np.asarray(own(N), dtype=np.float64)

    def constants(self) -> dict[str, Constant]:
        """What the user gave, and D_N."""
        found = {name: Constant(name, value, Provenance.GIVEN) for name, value in self.given.items()}
        found["D_N"] = diameter_constant(self.lower, self.upper)
        return found
