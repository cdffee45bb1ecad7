"""Welfare selection: the minimisers of h over all equilibria (problem (2) of the paper)."""

from dataclasses import dataclass

import flint
import numpy as np
from scipy.optimize import linprog

from bounds.core.constant import Constant
from games.affine import Affine
from games.base import Game, GameError, Jacobians, Points, Vector
from games.convex import minimise, nearest_point
from games.gaps import Bracket
from games.iterations import semismooth_newton
from games.polyhedron import Polyhedron, distance
from games.rounding import fmpq, fraction
from games.solution_set import solution_set
from games.solving import scale, solve
from games.spread import Spread, spread
from games.welfare import QuadraticWelfare, Welfare

NEWTON_STEPS = 8
ACTIVE = 1e-5  # relative to the width: an inequality this close is tried as active
TIKHONOV = tuple(10.0**-k for k in range(1, 8))


@dataclass(frozen=True, eq=False)
class Selection:
    """argmin of h over SOL(box, F).

    Attributes:
        N: the selected equilibrium, None where h does not select one (see `minimisers`).
        error_bound: a proven bound on ||N - N*|| (0: exact; infinity: h is not strongly convex).
        value: h at a minimiser, with h* proven to lie in `bracket`.
        unique: proven: one minimiser (True) or more (False); None undecided.
        solutions: SOL; dimension: its dimension.
        minimisers: the set of all minimisers (None where h's structure is unknown), and its dimension.
        representative: one minimiser, float64 [m], for plots.
        multiplier: the least eta >= 0 for which the minimiser is stationary for h + eta (gap of the VI).
        tikhonov: the distance of the solution of F + eps grad h, eps = `epsilon`, from the minimisers: the
            cross-check, of order eps (None for an h without a gradient).
        spread: where h's structure is unknown, how far its minimisers spread over SOL (None otherwise).
        note: one line.
    """

    N: Vector | None
    error_bound: float
    value: float
    bracket: Bracket
    unique: bool | None
    solutions: Polyhedron
    dimension: int
    minimisers: Polyhedron | None
    minimisers_dimension: int | None
    representative: Vector
    multiplier: float
    tikhonov: float | None
    epsilon: float | None
    spread: Spread | None
    note: str


def select(game: Affine, h: Welfare) -> Selection:
    """Minimise h over the equilibria of a monotone affine game, and say whether that selects one.

    Raises:
        GameError: F not proven monotone; m above the size of rational arithmetic; a solver that fails.
    """
    solutions = solution_set(game)
    shape = h.convexity(game.lower, game.upper)
    member, exact = _minimiser(solutions, h)
    N = np.array([float(fraction(x)) for x in member])
    value = float(h.value(N))
    floor, error = _optimality(solutions, h, N, member, shape.sigma_h)
    if exact:
        floor, error = value - 1e-15 * abs(value), distance(N, member)
    minimisers, unique = None, None
    if solutions.dimension == 0:
        unique, minimisers, error = True, solutions, distance(N, member)
    elif shape.factor is not None:
        W = flint.fmpq_mat(*shape.factor.shape, [fmpq(x) for x in shape.factor.ravel().tolist()])
        image = W * flint.fmpq_mat(game.m, 1, member)
        values = [image[i, 0] for i in range(W.nrows())]
        minimisers = solutions.with_equations(shape.factor, values, member)
        unique = minimisers.dimension == 0
    spreads = spread(solutions, h, N) if minimisers is None else None
    apart, epsilon = None, None
    if h.smooth:
        path, epsilon = tikhonov_path(game, h, N)
        goal = solutions if minimisers is None else minimisers
        apart = float(np.linalg.norm(path - (nearest_point(goal, path) if goal.dimension else N)))
    return Selection(
        N=N if unique else None,
        error_bound=error if unique else np.inf,
        value=value,
        bracket=Bracket(min(floor, value), value),
        unique=unique,
        solutions=solutions,
        dimension=solutions.dimension,
        minimisers=minimisers,
        minimisers_dimension=None if minimisers is None else minimisers.dimension,
        representative=N,
        multiplier=least_multiplier(game, h, N),
        tikhonov=apart,
        epsilon=epsilon,
        spread=spreads,
        note=_note(unique, solutions.dimension, minimisers, spreads),
    )


def _note(unique: bool | None, dimension: int, minimisers: Polyhedron | None, spreads: Spread | None) -> str:
    if unique:
        return "h selects one equilibrium" if dimension else "there is one equilibrium, whatever h"
    if spreads is not None and spreads.point:
        return (
            f"h is not declared strictly convex: the equilibria within {spreads.tolerance:.1e} of its least value "
            f"lie within {spreads.width:.1e} of each other; one minimiser, as far as the solver sees, not proven"
        )
    if minimisers is None:
        assert spreads is not None
        return (
            f"h does not select, as far as the solver sees: equilibria {spreads.width:.3g} apart in one coordinate "
            f"are all within {spreads.tolerance:.1e} of its least value (`spread` gives the set's extent)"
        )
    return (
        f"h does not select: it is not strictly convex on the {dimension}-dimensional set of equilibria, "
        f"and a {minimisers.dimension}-dimensional set minimises it"
    )


def _minimiser(solutions: Polyhedron, h: Welfare) -> tuple[list[flint.fmpq], bool]:
    """(an exact member of SOL that minimises h as far as the solver sees, proven exact minimiser)."""
    if solutions.dimension == 0:
        return solutions.point, True
    x = minimise(solutions, h.expression)
    if isinstance(h, QuadraticWelfare):
        exact = _exact_projection(solutions, h, x)
        if exact is not None:
            return exact, True
    return solutions.member_near(_polished(solutions, h, x) if h.smooth else x), False


def _polished(solutions: Polyhedron, h: Welfare, x: Vector) -> Vector:
    """Newton steps for h on the active equations seen at x, kept only where h's reduced gradient falls."""
    rows, right, _ = _active_rows(solutions, x)
    keep = _independent(rows, solutions.m)
    if not keep:
        return x
    M = np.array([[float(fraction(v)) for v in rows[k]] for k in keep])
    r = np.array([float(fraction(right[k])) for k in keep])
    size = len(keep)
    best, point = np.inf, x
    for _ in range(NEWTON_STEPS):
        slope = h.gradient(point)
        multipliers = np.linalg.lstsq(M.T, slope, rcond=None)[0]
        reduced = float(np.linalg.norm(slope - M.T @ multipliers)) + float(np.linalg.norm(M @ point - r))
        if not reduced < best:
            break
        best, x = reduced, point
        matrix = np.block([[h.hessian(point), M.T], [M, np.zeros((size, size))]])
        step = np.linalg.lstsq(matrix, np.concatenate([-slope, r - M @ point]), rcond=None)[0]
        point = np.clip(point + step[: solutions.m], solutions.lower, solutions.upper)
    return x


def _exact_projection(solutions: Polyhedron, h: QuadraticWelfare, x: Vector) -> list[flint.fmpq] | None:
    """The exact minimiser of a separable quadratic, if the active set seen at x is the right one.

    With independent active rows M x = r: x = target + D^-1 M' y, (M D^-1 M') y = r - M target; a member with
    y >= 0 on the inequalities is the minimiser (Karush-Kuhn-Tucker).
    """
    m = solutions.m
    rows, right, signed = _active_rows(solutions, x)
    target = flint.fmpq_mat(m, 1, [fmpq(v) for v in h.target.tolist()])
    weights = [fmpq(w) for w in h.weights.tolist()]
    inverse = flint.fmpq_mat(m, m, [1 / weights[i] if i == j else 0 for i in range(m) for j in range(m)])
    point = target
    while rows:
        keep = _independent(rows, m)
        M = flint.fmpq_mat(len(keep), m, [v for k in keep for v in rows[k]])
        r = flint.fmpq_mat(len(keep), 1, [right[k] for k in keep])
        spread = inverse * M.transpose()
        y = (M * spread).solve(r - M * target)
        point = target + spread * y
        # a negative multiplier: the inequality only looked active
        wrong = {k for row, k in enumerate(keep) if signed[k] and y[row, 0] < 0}
        if not wrong:
            break
        rows, right, signed = (
            [x for k, x in enumerate(values) if k not in wrong] for values in (rows, right, signed)
        )
        point = target
    exact = [point[i, 0] for i in range(m)]
    return exact if solutions.contains(exact) else None


def _active_rows(
    solutions: Polyhedron, x: Vector
) -> tuple[list[list[flint.fmpq]], list[flint.fmpq], list[bool]]:
    """Equations first, then the inequalities (as rows . x >= right) that are tight at x, bounds among
    them."""
    m, E, G = solutions.m, solutions.E, solutions.G
    rows = [[E[i, j] for j in range(m)] for i in range(E.nrows())]
    right = [solutions.e[i, 0] for i in range(E.nrows())]
    signed = [False] * len(rows)
    _, _, scaled, ends = solutions.floats
    for i in range(G.nrows()):
        if scaled[i] @ x - ends[i] <= ACTIVE:
            rows.append([G[i, j] for j in range(m)])
            right.append(solutions.g[i, 0])
            signed.append(True)
    for i in range(m):
        for bound, sign in ((solutions.lower[i], 1), (solutions.upper[i], -1)):
            if sign * (x[i] - bound) <= ACTIVE * solutions.width[i]:
                rows.append([flint.fmpq(sign * int(i == j)) for j in range(m)])
                right.append(sign * fmpq(float(bound)))
                signed.append(bool(solutions.upper[i] > solutions.lower[i]))
    return rows, right, signed


def _independent(rows: list[list[flint.fmpq]], m: int) -> list[int]:
    """Indices of a maximal independent subset, earlier rows preferred."""
    if not rows:
        return []
    turned = flint.fmpq_mat(m, len(rows), [rows[k][i] for i in range(m) for k in range(len(rows))])
    reduced, rank = turned.rref()
    keep, column = [], 0
    for i in range(rank):
        while reduced[i, column] == 0:
            column += 1
        keep.append(column)
    return keep


def _optimality(
    solutions: Polyhedron, h: Welfare, N: Vector, member: list[flint.fmpq], sigma_h: float
) -> tuple[float, float]:
    """(a lower bound on h*, a bound on ||N - N*||) from the linearisation at N, over all of SOL.

    h(y) >= h(N) + grad h(N)'(y - N); and sigma ||N* - x||^2 <= -grad h(x)'(N* - x) for the member x.
    """
    slope = h.gradient(N)
    low, _ = solutions.linear_minimum(slope)
    at = sum((fmpq(a) * x for a, x in zip(slope.tolist(), member, strict=True)), flint.fmpq(0))
    room = max(0.0, float(np.nextafter(float(fraction(at - fmpq(low))), np.inf)))
    value = float(h.value(N))
    rounding = 1e-13 * (abs(value) + float(np.abs(slope) @ np.abs(N)))  # of h and its gradient in float64
    error = np.inf
    if sigma_h > 0:
        error = float(np.sqrt((room + rounding) / sigma_h)) * (1.0 + 1e-12) + distance(N, member)
    return value - room - rounding, error


def least_multiplier(game: Affine, h: Welfare, N: Vector) -> float:
    """The least eta >= 0 of the constraint gap <= 0 in the Karush-Kuhn-Tucker conditions at the minimiser N.

    On the unit box z = (N - lower)/width, with s - t = A z + b: grad h + S y - A'w + eta b - alpha + beta =
    0, 0 <= w <= eta, w_i = 0 where s_i > 0, w_i = eta where t_i > 0, alpha, beta >= 0 at active bounds.
    Infinity where the linear program finds none.
    """
    m, width = game.m, np.where(game.moving, game.upper - game.lower, 1.0)
    A = width[:, None] * game.matrix * width
    S, b = (A + A.T) / 2.0, width * (game.matrix @ game.lower + game.b)
    z = (N - game.lower) / width
    slope = width * game.F(N)
    size = max(float(np.max(np.abs(A), initial=0.0)), float(np.max(np.abs(b))), 1e-300)
    pull = width * h.gradient(N)
    strength = max(float(np.max(np.abs(pull))), 1e-300)
    tiny = 1e-9 * size
    # unknowns: y [m], w [m], eta, alpha [m], beta [m]
    identity = np.eye(m)
    stationary = np.concatenate([S / size, -A.T / size, b[:, None] / size, -identity, identity], axis=1)
    below = np.concatenate([np.zeros((m, m)), identity, -np.ones((m, 1)), np.zeros((m, 2 * m))], axis=1)
    pushed_up = slope < -tiny
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * m
    bounds += [(0.0, 0.0 if up else None) for up in (slope > tiny)]
    bounds += [(0.0, None)]
    bounds += [(0.0, None if near else 0.0) for near in ((z <= ACTIVE) | ~game.moving)]
    bounds += [(0.0, None if near else 0.0) for near in ((z >= 1.0 - ACTIVE) | ~game.moving)]
    cost = np.zeros(4 * m + 1)
    cost[2 * m] = 1.0
    equal = np.concatenate([stationary, below[pushed_up]])
    right = np.concatenate([-pull / strength, np.zeros(int(np.count_nonzero(pushed_up)))])
    found = linprog(cost, A_ub=below, b_ub=np.zeros(m), A_eq=equal, b_eq=right, bounds=bounds, method="highs")
    return float(found.x[2 * m]) * strength / size if found.status == 0 else np.inf


class Regularised(Game):
    """F + eps grad h on the same box (the participation update of Section 2.2): used to find points."""

    def __init__(self, game: Game, h: Welfare, epsilon: float) -> None:
        self.game, self.h, self.epsilon = game, h, epsilon
        self.lower, self.upper = game.lower, game.upper

    def F(self, N: Points) -> Points:
        """F(N) + eps grad h(N)."""
        return self.game.F(N) + self.epsilon * self.h.gradient(N)

    def F_error(self, N: Points) -> Points:
        """Unknown: infinity."""
        return np.full(N.shape, np.inf)

    def jacobian(self, N: Points) -> Jacobians:
        """Of one point."""
        return self.game.jacobian(N) + self.epsilon * self.h.hessian(N)

    def utility_losses(self, N: Points) -> Points:
        """l_i(N) + eps h(N)."""
        return self.game.utility_losses(N) + self.epsilon * self.h.value(N)[..., None]

    def constants(self) -> dict[str, Constant]:
        """None known."""
        return {}


def tikhonov_path(game: Game, h: Welfare, start: Vector) -> tuple[Vector, float]:
    """(the solution of F + eps grad h for the smallest eps of the path, that eps)."""
    middle = (game.lower + game.upper) / 2.0
    pull = max(float(np.linalg.norm(h.gradient(middle))), 1e-12)
    size = max(float(np.linalg.norm(game.jacobian(middle))), float(np.linalg.norm(game.F(middle))), 1e-12)
    N, epsilon = start, 0.0
    for share in TIKHONOV:
        epsilon = share * size / pull
        regularised = Regularised(game, h, epsilon)
        N = semismooth_newton(regularised, N, 1e-13 * scale(regularised, N)).N
    return N, epsilon


@dataclass(frozen=True, eq=False)
class PathSelection:
    """Welfare selection for a nonlinear monotone F by regularisation.

    Attributes:
        N: the solution at the last eps; equilibrium: the equilibrium that `games.solve` reaches from it.
        bracket: h* lies in [low, high]: low from the regularised solution (h(N_eps) <= h*), high = h of the
            equilibrium, up to its residual.
        epsilon: the last eps.
    """

    N: Vector
    equilibrium: Vector
    bracket: Bracket
    epsilon: float


def select_by_path(game: Game, h: Welfare) -> PathSelection:
    """For nonlinear monotone F: follow F + eps grad h as eps falls, with a bracket on the optimal welfare.

    For every equilibrium y, (F + eps grad h)(N)'(y - N) >= -residual ||y - N|| and monotonicity give
    eps grad h(N)'(y - N) >= -residual ||y - N||, hence h(y) >= h(N) - residual * diameter / eps.

    Raises:
        GameError: F not proven monotone.
    """
    mu = game.constants().get("mu_F")
    if mu is None:
        raise GameError(f"{type(game).__name__}: F is not proven monotone; welfare selection needs it")
    start = solve(game).N
    N, epsilon = tikhonov_path(game, h, start)
    value = Regularised(game, h, epsilon).F(N)
    inward = np.where(game.lower < N, np.maximum(value, 0.0), 0.0)
    outward = np.where(game.upper > N, np.maximum(-value, 0.0), 0.0)
    error = float(np.linalg.norm(inward + outward)) + float(np.linalg.norm(game.F_error(N)))
    diameter = float(np.linalg.norm(game.upper - game.lower))
    low = float(h.value(N)) - error * diameter / epsilon
    equilibrium = solve(game, start=N).N
    return PathSelection(N, equilibrium, Bracket(low, max(low, float(h.value(equilibrium)))), epsilon)
