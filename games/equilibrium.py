"""A solved game: never a bare array."""

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

import numpy as np

from bounds.core.constant import Provenance
from games.base import Mask, Vector


class Certificate(StrEnum):
    """What proves `error_bound`."""

    RESIDUAL = "residual"  # the tangent residual over mu_F
    PROOF = "proof"  # the active set, the free block and the signs, in interval or rational arithmetic


class Method(StrEnum):
    """Which algorithm found N."""

    PIVOTING = "block principal pivoting"
    LEMKE = "Lemke"
    GAP_QP = "gap QP"
    PROXIMAL_POINT = "proximal point"
    NEWTON = "semismooth Newton"
    EXTRAGRADIENT = "extragradient"
    GOLDEN_RATIO = "adaptive golden ratio"


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A point of the box, and a proof of how far from an equilibrium it is.

    Attributes:
        N: float64 [m], in the box.
        residual: a proven upper bound on dist(-F(N), normal cone of the box at N) for exact F.
        error_bound: a proven bound on ||N - N*||, N* the equilibrium (the nearest one where `unique` is not
        True);
            infinity where nothing is proven.
        provenance: of `error_bound`: what its constants rest on.
        at_lower, at_upper: bool [m]; under `proof` the clients proven to sit at a bound in N*, under
        `residual`
            those at a bound in N.
        unique: proven unique (True), proven not (False), undecided (None).
        exact: N* in rationals, where rational arithmetic gave it.
        iterations: of the method.
        note: one line, for instance why a stronger certificate could not be had.
    """

    N: Vector
    method: Method
    certificate: Certificate
    residual: float
    error_bound: float
    at_lower: Mask
    at_upper: Mask
    provenance: Provenance
    unique: bool | None = None
    exact: tuple[Fraction, ...] | None = None
    iterations: int = 0
    note: str = field(default="")


class NotSolved(RuntimeError):
    """No point reached the tolerance; the message gives the best residual and what was wanted."""

    def __init__(self, message: str, N: Vector, residual: float) -> None:
        super().__init__(message)
        self.N = np.array(N)
        self.residual = residual
