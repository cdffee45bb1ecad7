"""What a participation game is: utility losses, their gradient map F, a box of strategies."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Bool, Float

from bounds.core.constant import Constant, Provenance
from games.rounding import round_up, sqrt_up

Vector: TypeAlias = Float[np.ndarray, " m"]
Points: TypeAlias = Float[np.ndarray, "*batch m"]
Matrix: TypeAlias = Float[np.ndarray, "m m"]
Jacobians: TypeAlias = Float[np.ndarray, "*batch m m"]
Numbers: TypeAlias = float | int | Sequence[Any] | np.ndarray  # what a constructor takes
Mask: TypeAlias = Bool[np.ndarray, " m"]


LARGEST = 1e100  # the proofs assume that no product of three entries overflows


class GameError(ValueError):
    """Bad data for a game: one line naming key, value and what would be right."""


class Game(ABC):
    """Client i chooses N_i in [lower_i, upper_i] to minimise l_i(N) = c_i(N) - a_i(N) (Section 2.1).

    The equilibria are the solutions of VI(box, F) with F_i = d l_i / d N_i when every l_i is convex in N_i.
    The float64 arrays a game stores *are* the game: proofs speak about exactly these numbers.

    Attributes:
        lower, upper: the box, float64 [m], finite, lower <= upper. Equal bounds are allowed.
    """

    lower: Vector
    upper: Vector

    @property
    def m(self) -> int:
        """The number of clients."""
        return int(self.lower.size)

    @property
    def moving(self) -> Mask:
        """The clients whose interval is not a single point."""
        return self.upper > self.lower

    def project(self, N: Points) -> Points:
        """The nearest point of the box (exact: clipping does not round)."""
        return np.minimum(np.maximum(N, self.lower), self.upper)

    def __getstate__(self) -> dict[str, Any]:
        """Caches stay behind: they follow from the stored arrays, and exact matrices cannot be pickled."""
        cached = {n for c in type(self).__mro__ for n, v in vars(c).items() if isinstance(v, cached_property)}
        return {name: value for name, value in self.__dict__.items() if name not in cached}

    @abstractmethod
    def F(self, N: Points) -> Points:
        """F_i(N) = d l_i / d N_i, in float64, batched over the leading axes."""

    @abstractmethod
    def F_error(self, N: Points) -> Points:
        """A rigorous elementwise bound on |F(N) as computed - F(N) in exact arithmetic|."""

    @abstractmethod
    def jacobian(self, N: Points) -> Jacobians:
        """dF_i/dN_j, batched over the leading axes."""

    @abstractmethod
    def utility_losses(self, N: Points) -> Points:
        """(l_1(N), ..., l_m(N)), batched over the leading axes."""

    @abstractmethod
    def constants(self) -> dict[str, Constant]:
        """mu_F, L_F, C_F and D_N over the box, each with its provenance.

        mu_F is a lower bound on the modulus of strong monotonicity over the box (absent when none is known;
        0 when F is proven monotone and no more), L_F an upper bound on the Lipschitz constant, C_F on
        sup ||F||; D_N = sup ||N' - N''|| / sqrt(2) (Lemma 4.4).
        """


def checked_vector(name: str, values: Numbers, m: int | None = None) -> Vector:
    """`values` as a finite float64 vector (a number is repeated m times).

    Raises:
        GameError: wrong length, not numeric, NaN or infinite.
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise GameError(f"{name} = {values!r}: give a list of numbers") from None
    if array.ndim == 0 and m is not None:
        array = np.full(m, float(array))
    if array.ndim != 1 or array.size == 0 or (m is not None and array.size != m):
        wanted = "a non-empty list of numbers" if m is None else f"{m} numbers, one for each client"
        raise GameError(f"{name} has shape {array.shape}: give {wanted}")
    good = np.abs(array) <= LARGEST  # False for NaN
    if not np.all(good):
        i = int(np.flatnonzero(~good)[0])
        raise GameError(f"{name}[{i}] = {array[i]}: give a finite number, at most 1e100 in size")
    array.setflags(write=False)
    return array


def checked_matrix(name: str, values: Numbers, rows: int | None = None) -> Float[np.ndarray, "rows columns"]:
    """`values` as a finite float64 matrix with `rows` rows (any number where None).

    Raises:
        GameError: wrong shape, not numeric, NaN or infinite.
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise GameError(f"{name}: give a matrix of numbers") from None
    if array.ndim != 2 or array.size == 0 or (rows is not None and array.shape[0] != rows):
        wanted = "a matrix" if rows is None else f"a matrix with {rows} rows"
        raise GameError(f"{name} has shape {array.shape}: give {wanted}")
    good = np.abs(array) <= LARGEST
    if not np.all(good):
        i, j = (int(k[0]) for k in np.nonzero(~good))
        raise GameError(f"{name}[{i}, {j}] = {array[i, j]}: give a finite number, at most 1e100 in size")
    array.setflags(write=False)
    return array


def checked_box(lower: Numbers, upper: Numbers, m: int | None = None) -> tuple[Vector, Vector]:
    """The box as two float64 vectors.

    Raises:
        GameError: a bound that is not finite, lengths that differ, or lower_i > upper_i.
    """
    low = checked_vector("lower", lower, m)
    high = checked_vector("upper", upper, low.size)
    if np.any(low > high):
        i = int(np.flatnonzero(low > high)[0])
        raise GameError(f"lower[{i}] = {low[i]} > upper[{i}] = {high[i]}: give lower <= upper")
    return low, high


def diameter_constant(lower: Vector, upper: Vector) -> Constant:
    """D_N = sqrt(sum (upper_i - lower_i)^2 / 2), rounded upwards (Lemma 4.4)."""
    width = round_up(upper - lower)
    squares = round_up(width * width) if width.size else width
    total = round_up(float(np.sum(squares)), steps=width.size + 1)
    return Constant(
        "D_N", sqrt_up(total / 2.0), Provenance.CERTIFIED, note="half the squared diagonal of the box"
    )
