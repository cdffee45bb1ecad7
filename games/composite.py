"""Nonlinear games F(N) = A N + b + U phi(V' N) with scalar functions phi: proofs come from the slopes'
ranges."""

from functools import cached_property
from itertools import product

import flint
import numpy as np
from jaxtyping import Float

from bounds.core.constant import Constant, Provenance
from games.base import Game, Jacobians, Matrix, Points, Vector, diameter_constant
from games.rounding import arb_upper, gamma, norm_up, round_up
from games.scalars import ROUNDINGS, Arguments, Scalars, slope_range, value_range
from games.spectral import smallest_eigenvalue, spectral_norm

VERTICES = 10  # up to so many independent slopes the extremes are taken over all vertices of their box
PRECISION = 128


class Composite(Game):
    """F(N) = A N + b + U phi(V' N). Subclasses set the parts and give the utility losses.

    Attributes:
        A: float64 [m, m]; b: float64 [m]; U, V: float64 [m, k]; phi: k scalar functions.
    """

    A: Matrix
    b: Vector
    U: Float[np.ndarray, "m k"]
    V: Float[np.ndarray, "m k"]
    phi: Scalars

    def F(self, N: Points) -> Points:
        """A N + b + U phi(V' N)."""
        return N @ self.A.T + self.b + self.phi.value(N @ self.V) @ self.U.T

    def jacobian(self, N: Points) -> Jacobians:
        """A + U diag(phi'(V' N)) V'."""
        return self.A + np.einsum("ik,...k,jk->...ij", self.U, self.phi.slope(N @ self.V), self.V)

    def enclose_F(self, N: list[flint.arb]) -> list[flint.arb]:
        """F over points or narrow balls."""
        column = flint.arb_mat(self.m, 1, N)
        A, U, V = (flint.arb_mat(*M.shape, M.ravel().tolist()) for M in (self.A, self.U, self.V))
        inner = (V.transpose() * column).entries()
        outer = U * flint.arb_mat(len(inner), 1, self.phi.enclose(inner))
        total = A * column + outer + flint.arb_mat(self.m, 1, self.b.tolist())
        return list(total.entries())

    def enclose_jacobian(self, N: list[flint.arb]) -> flint.arb_mat:
        """The Jacobian over points or balls."""
        A, U, V = (flint.arb_mat(*M.shape, M.ravel().tolist()) for M in (self.A, self.U, self.V))
        inner = (V.transpose() * flint.arb_mat(self.m, 1, N)).entries()
        slopes = self.phi.enclose_slope(list(inner))
        k = len(slopes)
        scaled = flint.arb_mat(self.m, k, [U[i, j] * slopes[j] for i in range(self.m) for j in range(k)])
        return A + scaled * V.transpose()

    def F_error(self, N: Points) -> Points:
        """|float F - F| measured against an arb enclosure, point by point."""
        flat = N.reshape(-1, self.m)
        values = self.F(N).reshape(-1, self.m)
        errors = np.empty_like(flat)
        with flint.ctx.workprec(PRECISION):
            for row, (point, value) in enumerate(zip(flat.tolist(), values.tolist(), strict=True)):
                balls = self.enclose_F([flint.arb(x) for x in point])
                errors[row] = [arb_upper(abs(ball - v)) for ball, v in zip(balls, value, strict=True)]
        return errors.reshape(N.shape)

    def arguments_on(self, lower: Points, upper: Points) -> tuple[Arguments, Arguments]:
        """Bounds on V' N over sub-boxes, batched."""
        positive, negative = np.maximum(self.V, 0.0), np.minimum(self.V, 0.0)
        low = lower @ positive + upper @ negative
        high = upper @ positive + lower @ negative
        size = np.maximum(np.abs(lower), np.abs(upper)) @ np.abs(self.V)
        slack = round_up(gamma(self.m + 1) * size, self.m + 2)
        exact = np.all((self.V == 0) | (np.abs(self.V) == 1)) and np.count_nonzero(self.V, axis=0).max() <= 1
        if exact:
            return low, high
        floor, ceiling = self.phi.domain()
        return np.maximum(low - slack, floor), np.minimum(high + slack, ceiling)

    def slopes_on(self, lower: Vector, upper: Vector) -> tuple[Arguments, Arguments]:
        """Proven bounds on phi'(V' N) over a sub-box."""
        return slope_range(self.phi, *self.arguments_on(lower, upper))

    def range_F(self, lower: Points, upper: Points) -> tuple[Points, Points]:
        """Proven bounds on F over sub-boxes, batched: the affine part exactly, phi by its range."""
        low, high = value_range(self.phi, *self.arguments_on(lower, upper))
        centre = (lower + upper) / 2.0
        radius = round_up((upper - lower) / 2.0, 3)
        inner, spread = (low + high) / 2.0, round_up((high - low) / 2.0, 3)
        middle = centre @ self.A.T + self.b + inner @ self.U.T
        reach = radius @ np.abs(self.A).T + spread @ np.abs(self.U).T
        size = (np.abs(centre) + radius) @ np.abs(self.A).T + np.abs(self.b)
        size = size + (np.abs(inner) + spread) @ np.abs(self.U).T
        steps = self.m + self.U.shape[1] + 8
        reach = round_up(reach + 2.0 * gamma(steps) * size, steps)
        return middle - reach, middle + reach

    def own_slope_reach(self, i: int, lower: Points, upper: Points) -> Float[np.ndarray, "*batch"]:
        """A bound on |dF_i/dN_i| over sub-boxes, batched."""
        low, high = slope_range(self.phi, *self.arguments_on(lower, upper))
        reach = np.maximum(np.abs(low), np.abs(high)) @ np.abs(self.U[i] * self.V[i])
        return round_up(reach + abs(float(self.A[i, i])), self.U.shape[1] + 4)

    def roundings(self, N: Points) -> Points:
        """An a-priori bound on the rounding error of F, phi's from `ROUNDINGS`: cheap, for many points."""
        inner = N @ self.V
        argument = np.abs(N) @ np.abs(self.V)
        steps = self.m + self.U.shape[1] + ROUNDINGS + 8
        size = np.abs(N) @ np.abs(self.A).T + np.abs(self.b)
        moved = np.abs(self.phi.value(inner)) + np.abs(self.phi.slope(inner)) * argument
        return round_up(2.0 * gamma(steps) * (size + moved @ np.abs(self.U).T), steps)

    @cached_property
    def arguments(self) -> tuple[Arguments, Arguments]:
        """Bounds on V' N over the box."""
        return self.arguments_on(self.lower, self.upper)

    @cached_property
    def slopes(self) -> tuple[Arguments, Arguments]:
        """Proven bounds on phi'(V' N) over the box."""
        return slope_range(self.phi, *self.arguments)

    def _jacobians_at_vertices(self) -> list[Matrix] | None:
        low, high = self.slopes
        loose = np.flatnonzero(high > low)
        if loose.size > VERTICES:
            return None
        matrices = []
        for choice in product((0, 1), repeat=loose.size):
            slopes = low.copy()
            slopes[loose] = np.where(choice, high[loose], low[loose])
            matrices.append(self.A + (self.U * slopes) @ self.V.T)
        return matrices

    def _forming_error(self, slopes: Arguments) -> float:
        size = np.abs(self.A) + (np.abs(self.U) * np.abs(slopes)) @ np.abs(self.V).T
        k = self.U.shape[1]
        return norm_up(round_up(gamma(k + 4) * size, k + 4))

    @cached_property
    def modulus(self) -> float:
        """A proven lower bound on the modulus of monotonicity over the box (negative: nothing proven).

        The Jacobian is affine in the slopes, so the smallest eigenvalue of its symmetric part is concave in
        them and its minimum over their box is at a vertex; separable costs (U, V >= 0 diagonal) need only the
        lowest.
        """
        free = self.moving
        if not np.any(free):
            return self.lipschitz
        low, high = self.slopes
        if self._separable():
            matrices: list[Matrix] | None = [self.A + (self.U * low) @ self.V.T]
        else:
            matrices = self._jacobians_at_vertices()
        largest = np.maximum(np.abs(low), np.abs(high))
        slack = self._forming_error(low if self._separable() else largest)
        if matrices is None:
            centre, radius = (low + high) / 2.0, round_up((high - low) / 2.0, 3)
            matrices = [self.A + (self.U * centre) @ self.V.T]
            parts = [r * norm_up(u) * norm_up(v) for r, u, v in zip(radius, self.U.T, self.V.T, strict=True)]
            slack += round_up(float(sum(parts)), len(parts) + 3)
        bounds = []
        for J in matrices:
            S = (J + J.T)[np.ix_(free, free)] / 2.0
            bounds.append(smallest_eigenvalue(S, slack).value - (slack if S.shape[0] <= 16 else 0.0))
        bound = float(np.nextafter(min(bounds), -np.inf))
        return 0.0 if bound < 0.0 and self._monotone_by_form() else bound

    def _monotone_by_form(self) -> bool:
        """A + U diag(slopes) U' with slopes >= 0 and A diagonal, A >= 0: positive semidefinite without
        rounding."""
        diagonal = np.diag(self.A)
        plain = np.array_equal(self.A, np.diag(diagonal)) and np.all(diagonal >= 0)
        return bool(plain and np.array_equal(self.U, self.V) and np.all(self.slopes[0] >= 0))

    def _separable(self) -> bool:
        diagonal = self.U.shape == self.A.shape and not np.any(self.U - np.diag(np.diag(self.U)))
        return bool(diagonal and np.all(self.U >= 0) and np.array_equal(self.V, np.eye(self.m)))

    @cached_property
    def lipschitz(self) -> float:
        """A proven upper bound on the Jacobian's norm over the box: convex in the slopes, so at a vertex."""
        matrices = self._jacobians_at_vertices()
        slack = self._forming_error(np.maximum(*map(np.abs, self.slopes)))
        if matrices is None:
            low, high = self.slopes
            reach = np.maximum(np.abs(low), np.abs(high))
            if self._separable():
                largest = float(np.max(np.diag(self.U) * reach))
                return round_up(spectral_norm(self.A).value + largest + slack, 4)
            parts = [r * norm_up(u) * norm_up(v) for r, u, v in zip(reach, self.U.T, self.V.T, strict=True)]
            return round_up(spectral_norm(self.A).value + float(sum(parts)), len(parts) + 3) + slack
        return round_up(max(spectral_norm(J).value for J in matrices) + slack, 2)

    @cached_property
    def largest_F(self) -> float:
        """An upper bound on sup ||F|| over the box, coordinate by coordinate."""
        low, high = self.range_F(self.lower, self.upper)
        return norm_up(np.maximum(np.abs(low), np.abs(high)))

    def constants(self) -> dict[str, Constant]:
        """mu_F, L_F, C_F, D_N (see `Game.constants`), all certified."""
        note = "from the ranges of the slopes"
        found = {
            "L_F": Constant("L_F", self.lipschitz, Provenance.CERTIFIED, note=note),
            "C_F": Constant("C_F", self.largest_F, Provenance.CERTIFIED, note="coordinate by coordinate"),
            "D_N": diameter_constant(self.lower, self.upper),
        }
        if self.modulus >= 0.0:
            found["mu_F"] = Constant("mu_F", self.modulus, Provenance.CERTIFIED, note=note)
        return found
