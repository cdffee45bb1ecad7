"""Polyhedra {x in a box : E x = e, G x >= g} with rational data: emptiness of the interior, dimension,
linear bounds."""

from dataclasses import dataclass
from functools import cached_property

import flint
import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import linprog

from games.base import Vector
from games.rounding import fmpq, fraction, norm_up, round_up

SLACK = 1e-9  # relative to the widths: an inequality that no point satisfies by more is taken for an equation


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """{x : E x = e, G x >= g, lower <= x <= upper}, all data in rationals.

    Attributes:
        E, G: fmpq_mat [k, m] (k may be 0); e, g: fmpq_mat [k, 1].
        lower, upper: float64 [m].
        point: a member, in rationals.
    """

    E: flint.fmpq_mat
    e: flint.fmpq_mat
    G: flint.fmpq_mat
    g: flint.fmpq_mat
    lower: Vector
    upper: Vector
    point: list[flint.fmpq]

    @property
    def m(self) -> int:
        """The number of coordinates."""
        return int(self.lower.size)

    @cached_property
    def floats(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(E, e, G, g) in float64, rows scaled to largest entry 1 over the box's widths."""
        E, e = _scaled(self.E, self.e, self.width)
        G, g = _scaled(self.G, self.g, self.width)
        return E, e, G, g

    @cached_property
    def width(self) -> Vector:
        """upper - lower, 1 where they meet."""
        return np.where(self.upper > self.lower, self.upper - self.lower, 1.0)

    def contains(self, x: list[flint.fmpq]) -> bool:
        """Membership, exactly."""
        column = flint.fmpq_mat(self.m, 1, x)
        if self.E.nrows() and self.E * column != self.e:
            return False
        left = self.G * column if self.G.nrows() else self.g
        if any(left[i, 0] < self.g[i, 0] for i in range(self.G.nrows())):
            return False
        ends = zip(self.lower.tolist(), x, self.upper.tolist(), strict=True)
        return all(fmpq(low) <= value <= fmpq(high) for low, value, high in ends)

    def linear_minimum(self, c: Vector) -> tuple[float, Vector]:
        """(a proven lower bound on min c'x, a minimiser in float64).

        Any multipliers y, z >= 0 give c'x >= y'e + z'g + min over the box of (c - E'y - G'z)'x; the solver's
        are used, so that its accuracy matters for the sharpness and not for the proof.
        """
        E, e, G, g = self.floats
        found = linprog(
            c * self.width,
            A_ub=-G * self.width if G.size else None,
            b_ub=-(g - G @ self.lower) if G.size else None,
            A_eq=E * self.width if E.size else None,
            b_eq=e - E @ self.lower if E.size else None,
            bounds=list(zip(np.zeros(self.m), (self.upper > self.lower).astype(float), strict=True)),
            method="highs",
        )
        x = np.array([float(fraction(v)) for v in self.point])
        y, z = np.zeros(E.shape[0]), np.zeros(G.shape[0])
        if found.status == 0:
            x = self.lower + self.width * found.x
            y = found.eqlin.marginals if E.size else y
            z = -found.ineqlin.marginals if G.size else z
        return self._dual_bound(c, y, np.maximum(z, 0.0)), np.clip(x, self.lower, self.upper)

    def _dual_bound(self, c: Vector, y: Float[np.ndarray, " e"], z: Float[np.ndarray, " g"]) -> float:
        """The multipliers' bound, in rationals (rows unscaled exactly)."""
        rest = [fmpq(v) for v in c.tolist()]
        total = flint.fmpq(0)
        for M, right, multipliers in ((self.E, self.e, y), (self.G, self.g, z)):
            for i, multiplier in enumerate(multipliers.tolist()):
                weight = fmpq(multiplier) * _row_scale(M, i, self.width)
                if weight == 0:
                    continue
                total += weight * right[i, 0]
                for j in range(self.m):
                    rest[j] -= weight * M[i, j]
        for r, low, high in zip(rest, self.lower.tolist(), self.upper.tolist(), strict=True):
            total += min(r * fmpq(low), r * fmpq(high))
        return float(np.nextafter(float(fraction(total)), -np.inf))

    @cached_property
    def interior(self) -> tuple[Vector, Bool[np.ndarray, " k"]]:
        """(a point of the relative interior, which of G's rows and the bounds are equations throughout).

        The largest slack of every inequality is found by a linear program; the maximisers' mean lies in the
        relative interior. Rows: G, then lower bounds, then upper bounds.
        """
        _, _, G, g = self.floats
        rows = np.concatenate([G, np.diag(1.0 / self.width), -np.diag(1.0 / self.width)])
        right = np.concatenate([g, self.lower / self.width, -self.upper / self.width])
        start = np.array([float(fraction(v)) for v in self.point])
        points, tight = [start], np.zeros(right.size, dtype=bool)
        best = rows @ start - right
        for i in range(right.size):
            if best[i] > 1e-3:
                continue
            _, x = self.linear_minimum(-rows[i])
            points.append(x)
            best = np.maximum(best, rows @ x - right)
            tight[i] = best[i] <= SLACK
        tight = best <= SLACK
        return np.mean(points, axis=0), tight

    @cached_property
    def equations(self) -> tuple[flint.fmpq_mat, flint.fmpq_mat]:
        """The equations of the affine hull: E and the inequalities that hold with equality throughout."""
        _, tight = self.interior
        rows = [[self.E[i, j] for j in range(self.m)] for i in range(self.E.nrows())]
        right = [self.e[i, 0] for i in range(self.E.nrows())]
        k = self.G.nrows()
        for i in np.flatnonzero(tight).tolist():
            if i < k:
                rows.append([self.G[i, j] for j in range(self.m)])
                right.append(self.g[i, 0])
            else:
                j = (i - k) % self.m
                rows.append([flint.fmpq(int(j == c)) for c in range(self.m)])
                right.append(fmpq(float((self.lower if i - k < self.m else self.upper)[j])))
        flat = [v for row in rows for v in row]
        return flint.fmpq_mat(len(rows), self.m, flat), flint.fmpq_mat(len(rows), 1, right)

    @cached_property
    def dimension(self) -> int:
        """The dimension of the affine hull (rank in rationals)."""
        return self.m - (self.equations[0].rank() if self.equations[0].nrows() else 0)

    @cached_property
    def proven_dimension(self) -> bool:
        """Whether `dimension` is proven: an exact member satisfies every other inequality strictly, and no
        inequality had to be taken for an equation by its size (rank 0 left is proven as well)."""
        _, tight = self.interior
        fixed = int(np.count_nonzero(self.upper == self.lower))
        rank = self.E.rank() if self.E.nrows() else 0
        if self.m - rank == 0:
            return True
        return int(np.count_nonzero(tight)) == 2 * fixed and self.exact_interior is not None

    @cached_property
    def exact_interior(self) -> list[flint.fmpq] | None:
        """The interior point moved exactly onto the affine hull, if it then lies in the polyhedron."""
        x = self.projected(self.interior[0])
        return x if self.contains(x) else None

    def projected(self, x: Vector) -> list[flint.fmpq]:
        """The nearest point of the affine hull, in rationals."""
        M, right = independent_rows(*self.equations)
        exact = [fmpq(v) for v in x.tolist()]
        if M.nrows() == 0:
            return exact
        column = flint.fmpq_mat(self.m, 1, exact)
        multipliers = (M * M.transpose()).solve(right - M * column)
        moved = column + M.transpose() * multipliers
        return [moved[i, 0] for i in range(self.m)]

    def member_near(self, x: Vector) -> list[flint.fmpq]:
        """An exact member close to x: x on the affine hull, drawn towards an interior member as far as
        needed."""
        near = self.projected(x)
        if self.contains(near):
            return near
        inner = self.exact_interior or self.point
        share = flint.fmpq(1, 2**50)
        while share < 1:
            mixed = [a + share * (b - a) for a, b in zip(near, inner, strict=True)]
            if self.contains(mixed):
                return mixed
            share *= 4
        return inner

    def with_equations(
        self, W: Float[np.ndarray, "k m"], values: list[flint.fmpq], point: list[flint.fmpq]
    ) -> "Polyhedron":
        """The members with W x = values."""
        rows = [[self.E[i, j] for j in range(self.m)] for i in range(self.E.nrows())]
        rows += [[fmpq(v) for v in row] for row in W.tolist()]
        right = [self.e[i, 0] for i in range(self.E.nrows())] + list(values)
        E = flint.fmpq_mat(len(rows), self.m, [v for row in rows for v in row])
        e = flint.fmpq_mat(len(rows), 1, right)
        return Polyhedron(E, e, self.G, self.g, self.lower, self.upper, point)


def _row_scale(M: flint.fmpq_mat, i: int, width: Vector) -> flint.fmpq:
    """1 over the largest |M_ij| width_j, to a power of two."""
    largest = max(abs(float(fraction(M[i, j]))) * width[j] for j in range(M.ncols()))
    return fmpq(float(2.0 ** -np.floor(np.log2(largest)))) if largest > 0 else flint.fmpq(1)


def _scaled(M: flint.fmpq_mat, right: flint.fmpq_mat, width: Vector) -> tuple[np.ndarray, np.ndarray]:
    rows, ends = np.zeros((M.nrows(), width.size)), np.zeros(M.nrows())
    for i in range(M.nrows()):
        scale = _row_scale(M, i, width)
        rows[i] = [float(fraction(M[i, j] * scale)) for j in range(width.size)]
        ends[i] = float(fraction(right[i, 0] * scale))
    return rows, ends


def independent_rows(M: flint.fmpq_mat, right: flint.fmpq_mat) -> tuple[flint.fmpq_mat, flint.fmpq_mat]:
    """A basis of the rows of a consistent system, with its right hand side (the reduced echelon form)."""
    k, m = M.nrows(), M.ncols()
    if k == 0:
        return M, right
    joined = flint.fmpq_mat(
        k, m + 1, [x for i in range(k) for x in [*(M[i, j] for j in range(m)), right[i, 0]]]
    )
    reduced, rank = joined.rref()
    rows = [reduced[i, j] for i in range(rank) for j in range(m)]
    return flint.fmpq_mat(rank, m, rows), flint.fmpq_mat(rank, 1, [reduced[i, m] for i in range(rank)])


def distance(x: Vector, y: list[flint.fmpq]) -> float:
    """An upper bound on ||x - y||."""
    gaps = [abs(fmpq(a) - b) for a, b in zip(x.tolist(), y, strict=True)]
    return norm_up(round_up(np.array([float(fraction(g)) for g in gaps]), 1))
