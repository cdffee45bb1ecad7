"""Affine games F(N) = A N + b: dense, or diagonal plus low rank."""

from abc import abstractmethod
from functools import cached_property
from itertools import product

import flint
import numpy as np
from jaxtyping import Float, Int

from bounds.core.constant import Constant, Provenance
from games.base import (
    Game,
    GameError,
    Jacobians,
    Matrix,
    Numbers,
    Points,
    Vector,
    checked_box,
    checked_matrix,
    checked_vector,
    diameter_constant,
)
from games.rounding import (
    accurate_affine,
    fmpq,
    fmpq_matrix,
    gamma,
    norm_up,
    round_up,
)
from games.spectral import (
    EXACT_SIZE,
    SpectralBound,
    semidefinite_witness,
    smallest_eigenvalue,
    spectral_norm,
)

RATIONAL_SIZE = 80  # up to here a bound that rounding left just below 0 is decided in rationals
VERTEX_SIZE = 10  # up to here C_F is the maximum over all vertices of the box


class Affine(Game):
    """F(N) = A N + b over a box. `matrix` is A in float64, off by at most `matrix_error` elementwise."""

    b: Vector

    @property
    @abstractmethod
    def matrix(self) -> Matrix:
        """A as a dense float64 matrix."""

    @property
    @abstractmethod
    def matrix_error(self) -> float:
        """A bound on the spectral norm of (true A) - `matrix`; 0 when A is stored dense."""

    @abstractmethod
    def exact_matrix(self) -> flint.fmpq_mat:
        """A in exact rationals."""

    @abstractmethod
    def accurate_F(self, N: Vector) -> tuple[Vector, Vector]:
        """(value, bound): F(N) in about twice the working precision, |value - F(N)| <= bound elementwise."""

    def exact_b(self) -> flint.fmpq_mat:
        """b in exact rationals, as a column."""
        return flint.fmpq_mat(self.m, 1, [fmpq(x) for x in self.b.tolist()])

    def row_sizes(self) -> Vector:
        """sum_j |A_ij|."""
        return np.sum(np.abs(self.matrix), axis=1)

    def solve_block(
        self, free: Int[np.ndarray, " f"], right: Float[np.ndarray, " f"]
    ) -> Float[np.ndarray, " f"]:
        """x with A_ff x = right, in float64.

        Raises:
            LinAlgError: A_ff is singular.
        """
        return np.asarray(np.linalg.solve(self.matrix[np.ix_(free, free)], right))

    def jacobian(self, N: Points) -> Jacobians:
        """A, for every point."""
        return np.broadcast_to(self.matrix, (*N.shape[:-1], self.m, self.m)).copy()

    @cached_property
    def monotonicity(self) -> SpectralBound:
        """The smallest eigenvalue of (A + A')/2 on the moving clients, bounded from below."""
        free = self.moving
        if not np.any(free):
            return SpectralBound(self.lipschitz.value, exact=False)  # one point: every modulus is true
        block = self.matrix[np.ix_(free, free)]
        S = (block + block.T) / 2.0
        exact = self.exact_symmetric_part() if S.shape[0] <= EXACT_SIZE else None
        error = round_up(norm_up(S) * 2.0**-53 + self.matrix_error, 2)
        bound = smallest_eigenvalue(S, error, exact)
        if bound.value >= 0.0 or bound.value < -1e-6 * self.lipschitz.value:
            return bound
        return SpectralBound(0.0, exact=True) if self.semidefinite_by_form else self._decide_zero(S, bound)

    def _decide_zero(self, S: Float[np.ndarray, "k k"], bound: SpectralBound) -> SpectralBound:
        """A bound that is negative by a rounding error only: decide in rationals whether 0 is a bound."""
        if not EXACT_SIZE < S.shape[0] <= RATIONAL_SIZE:
            return bound
        psd, singular, _ = semidefinite_witness(self.exact_symmetric_part())
        return SpectralBound(0.0, exact=singular) if psd else bound

    def exact_symmetric_part(self) -> flint.fmpq_mat:
        """(A + A')/2 on the moving clients, in rationals."""
        index = np.flatnonzero(self.moving).tolist()
        A = self.exact_matrix()
        return flint.fmpq_mat(len(index), len(index), [(A[i, j] + A[j, i]) / 2 for i in index for j in index])

    @property
    def semidefinite_by_form(self) -> bool:
        """Whether the class itself guarantees that (A + A')/2 is positive semidefinite."""
        return False

    @cached_property
    def lipschitz(self) -> SpectralBound:
        """||A||_2, bounded from above."""
        if self.m <= EXACT_SIZE:
            return spectral_norm(self.matrix, exact=self.exact_matrix())
        return spectral_norm(self.matrix, self.matrix_error)

    @cached_property
    def largest_F(self) -> float:
        """An upper bound on sup ||F|| over the box: over its vertices for small m, else coordinate by
        coordinate."""
        if self.m <= VERTEX_SIZE:
            vertices = np.array(list(product(*zip(self.lower, self.upper, strict=True))))
            values = self.F(vertices)
            bounds = round_up(np.abs(values) + self.F_error(vertices))
            return max(norm_up(row) for row in bounds)
        centre = (self.lower + self.upper) / 2.0
        radius = round_up(np.maximum(self.upper - centre, centre - self.lower), 2)
        spread = round_up(np.abs(self.matrix) @ radius, self.m + 1) + self.matrix_error * norm_up(radius)
        at_centre = np.abs(self.F(centre)) + self.F_error(centre)
        return norm_up(round_up(at_centre + spread, 3))

    def constants(self) -> dict[str, Constant]:
        """mu_F, L_F, C_F, D_N (see `Game.constants`); mu_F is left out when the bound is not >= 0."""
        mu, L = self.monotonicity, self.lipschitz
        known = {True: Provenance.EXACT, False: Provenance.CERTIFIED}
        found = {
            "L_F": Constant("L_F", L.value, known[L.exact], note="||A||_2, bounded from above"),
            "C_F": Constant(
                "C_F", self.largest_F, Provenance.CERTIFIED, note="sup ||A N + b||, bounded from above"
            ),
            "D_N": diameter_constant(self.lower, self.upper),
        }
        if mu.value >= 0.0:
            note = "smallest eigenvalue of (A + A')/2 on the clients that can move, bounded from below"
            found["mu_F"] = Constant("mu_F", mu.value, known[mu.exact], note=note)
        return found


class AffineGame(Affine):
    """F(N) = A N + b with a dense matrix.

    The utility losses are l_i(N) = N_i (sum_{j != i} A_ij N_j + b_i) + A_ii N_i^2 / 2, the simplest with
    this F.

    Args:
        A: float64 [m, m].
        b: float64 [m].
        lower, upper: the box, float64 [m].

    Raises:
        GameError: wrong shapes, NaN or infinite entries, lower > upper.
    """

    def __init__(self, A: Numbers, b: Numbers, lower: Numbers, upper: Numbers) -> None:
        self.A = checked_matrix("A", A)
        if self.A.shape[0] != self.A.shape[1]:
            raise GameError(f"A has shape {self.A.shape}: give a square matrix")
        self.b = checked_vector("b", b, self.A.shape[0])
        self.lower, self.upper = checked_box(lower, upper, self.A.shape[0])

    @property
    def matrix(self) -> Matrix:
        """A as given."""
        return self.A

    @property
    def matrix_error(self) -> float:
        """0: A is stored exactly."""
        return 0.0

    def exact_matrix(self) -> flint.fmpq_mat:
        """A in exact rationals."""
        return self._rational

    @cached_property
    def _rational(self) -> flint.fmpq_mat:
        return fmpq_matrix(self.A)

    @cached_property
    def _magnitude(self) -> Matrix:
        return np.abs(self.A)

    def F(self, N: Points) -> Points:
        """A N + b."""
        return N @ self.A.T + self.b

    def F_error(self, N: Points) -> Points:
        """gamma_{m+1} (|A| |N| + |b|), with room for the roundings of this bound itself."""
        size = np.abs(N) @ self._magnitude.T + np.abs(self.b)
        return round_up(gamma(self.m + 1) * size, self.m + 2)

    def accurate_F(self, N: Vector) -> tuple[Vector, Vector]:
        """A N + b by error-free products and sums."""
        return accurate_affine(self.A, N, self.b)

    def utility_losses(self, N: Points) -> Points:
        """N_i (sum_{j != i} A_ij N_j + b_i) + A_ii N_i^2 / 2."""
        return N * (self.F(N) - np.diag(self.A) * N / 2.0)
