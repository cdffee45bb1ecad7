"""What a quantity needs to know besides the run: a whole instance's `Setup`, or as much as a caller knows."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from bounds import Constant
from games.welfare import Welfare


@runtime_checkable
class Setting(Protocol):
    """The game, N* with its proven error, the learning problem, the constants and the run's configuration."""

    @property
    def game(self) -> Any:
        """The game (m, lower, upper, F)."""

    @property
    def problem(self) -> Any:
        """The learning problem, None where it is not known."""

    @property
    def equilibrium(self) -> Any:
        """An equilibrium with its certificate."""

    @property
    def welfare(self) -> Welfare | None:
        """h of the regularised update."""

    @property
    def regularised(self) -> bool:
        """Whether the run follows the iteratively regularised update."""

    @property
    def N_star(self) -> Float[np.ndarray, " m"]:
        """The unique equilibrium, or the minimiser of h over the equilibria."""

    @property
    def N_star_error(self) -> float:
        """A proven bound on its error."""

    @property
    def h_star(self) -> Any:
        """A proven bracket on h(N*), None without a welfare loss."""

    @property
    def p_star(self) -> Float[np.ndarray, " m"]:
        """N*'s weights."""

    @property
    def shared(self) -> dict[str, Constant]:
        """The constants that do not depend on the statement."""

    @property
    def config(self) -> Any:
        """The run's configuration."""

    @property
    def r_hat(self) -> int:
        """The first round that counts."""
