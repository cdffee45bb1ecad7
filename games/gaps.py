"""How good a point is: primal gap, dual gap, per-client regret, each a proven bracket [low, high]."""

import heapq
from dataclasses import dataclass
from functools import partial

import flint
import numpy as np
from jaxtyping import Float

from games.affine import Affine
from games.base import Game, GameError, Vector
from games.certificates import evaluate
from games.composite import Composite
from games.iterations import extragradient, monotone_point
from games.rounding import UNIT, arb_lower, arb_upper, gamma, round_up
from games.surrogate import search

PRECISION = 128
BOXES = 1000  # that branch and bound may open
PIECES = 2000  # of a client's interval in the one-dimensional search


@dataclass(frozen=True)
class Bracket:
    """low <= the true number <= high, both proven."""

    low: float
    high: float


def primal_gap(game: Game, N: Vector) -> Bracket:
    """sup over x in the box of F(N)'(N - x): 0 exactly at the solutions of the VI.

    Linear in x, so the supremum is at the bound that F(N) points away from.
    """
    value, bound = evaluate(game, N)
    gain = np.where(value > 0, N - game.lower, N - game.upper)
    total = float(np.sum(np.maximum(value * gain, 0.0)))
    width = np.maximum(N - game.lower, game.upper - N)
    error = round_up(float(np.sum(bound * width)), game.m + 4) + gamma(game.m + 4) * total
    return Bracket(max(0.0, float(np.nextafter(total - 2 * error, -np.inf))), round_up(total + 2 * error, 2))


def dual_gap(game: Game, N: Vector, tol: float = 1e-6, boxes: int = BOXES) -> Bracket:
    """Gap(N) = sup over x in the box of F(x)'(N - x), the dual gap of Lemma 4.4, bracketed.

    Affine monotone F: the objective is concave; a maximiser x is found by pivoting, and the linearisation
    at x bounds the supremum from above. Otherwise branch and bound, until the bracket is narrower than `tol`
    relative to its upper end or `boxes` pieces were bounded: for monotone F with affine games as surrogates
    (`games.surrogate`; the primal gap is an upper bound as well), else over sub-boxes in interval arithmetic.

    Raises:
        GameError: a game without enclosures of F (a user's own).
    """
    if isinstance(game, Affine) and game.monotonicity.value >= 0:
        return _concave_dual_gap(game, N)
    if isinstance(game, Composite) and game.modulus >= 0:
        below, ceiling = partial(_lower_bound, game, N), primal_gap(game, N).high
        low, high = search(game, N, below, _climb(game, N), ceiling, tol, boxes)
        return Bracket(max(0.0, low), max(0.0, high))
    if isinstance(game, Affine | Composite):
        return _branch_and_bound(game, N, tol, boxes)
    raise GameError(f"{type(game).__name__}: F has no enclosures; give an affine or a built-in game")


def _concave_dual_gap(game: Affine, N: Vector) -> Bracket:
    A = game.matrix
    x = monotone_point(A + A.T, game.b - A.T @ N, game.lower, game.upper)
    with flint.ctx.workprec(PRECISION):
        low, gradient, at = _value_and_gradient(game, N, x)
        # g is concave: g(y) <= g(x) + sum_i max over the box of g'_i(x) (y_i - x_i)
        rise = flint.arb(0)
        for slope, point, bottom, top in zip(
            gradient, at, game.lower.tolist(), game.upper.tolist(), strict=True
        ):
            ends = (slope * (bottom - point)).max(slope * (top - point))
            rise += ends.max(flint.arb(0))
        return Bracket(max(0.0, arb_lower(low)), max(0.0, arb_upper(low + rise)))


def _value_and_gradient(
    game: Affine, N: Vector, x: Vector
) -> tuple[flint.arb, list[flint.arb], list[flint.arb]]:
    """g(x) = (A x + b)'(N - x), its gradient A'(N - x) - (A x + b), and x, in arb."""
    m = game.m
    A = flint.arb_mat(m, m, game.matrix.ravel().tolist())
    if game.matrix_error > 0.0:
        A = flint.arb_mat(game.exact_matrix())
    column, at, b = (flint.arb_mat(m, 1, v.tolist()) for v in (N, x, game.b))
    difference, image = column - at, A * at + b
    gradient = A.transpose() * difference - image
    return (image.transpose() * difference)[0, 0], list(gradient.entries()), list(at.entries())


def _branch_and_bound(game: Affine | Composite, N: Vector, tol: float, boxes: int) -> Bracket:
    """Best first over boxes; a box's bound is the better of its natural and its mean value extension."""
    best = _climb(game, N)
    queue = [(-_upper_bound(game, N, game.lower, game.upper)[0], 0, game.lower, game.upper)]
    opened = 1
    while queue and opened < boxes:
        top = -queue[0][0]
        if top - best <= tol * max(abs(top), 1e-300):
            break
        _, _, low, high = heapq.heappop(queue)
        _, spread = _upper_bound(game, N, low, high)
        axis = int(np.argmax(spread))
        middle = (low[axis] + high[axis]) / 2.0
        for part in (0, 1):
            lower, upper = low.copy(), high.copy()
            (upper if part == 0 else lower)[axis] = middle
            best = max(best, _lower_bound(game, N, (lower + upper) / 2.0))
            bound, _ = _upper_bound(game, N, lower, upper)
            if bound > best:
                heapq.heappush(queue, (-bound, opened, lower, upper))
            opened += 1
    top = max(best, -queue[0][0]) if queue else best
    return Bracket(max(0.0, best), max(0.0, top))


def _lower_bound(game: Affine | Composite, N: Vector, x: Vector) -> float:
    """F(x)'(N - x), from below."""
    value, bound = evaluate(game, x)
    step = N - x
    size = float(np.sum(np.abs(value * step)))
    slack = round_up(float(np.sum(bound * np.abs(step))) + gamma(game.m + 4) * size, game.m + 4)
    return float(np.sum(value * step)) - slack


def _climb(game: Affine | Composite, N: Vector) -> float:
    """A good point to start from: the ends of the box, N, and the gap's stationary points from them."""
    best = 0.0  # x = N
    for start in (game.lower, game.upper, (game.lower + game.upper) / 2.0, N):

        def descent(x: Vector) -> Vector:
            return game.F(x) - game.jacobian(x).T @ (N - x)

        found = extragradient(descent, game.lower, game.upper, start, 1e-9, 60).N
        best = max(best, _lower_bound(game, N, start), _lower_bound(game, N, found))
    return best


def _upper_bound(game: Affine | Composite, N: Vector, lower: Vector, upper: Vector) -> tuple[float, Vector]:
    """(a bound on F(x)'(N - x) over the sub-box, each axis' share of the uncertainty)."""
    F_low, F_high = range_F(game, lower, upper)
    step_low, step_high = N - upper, N - lower
    ends = np.stack([F_low * step_low, F_low * step_high, F_high * step_low, F_high * step_high])
    natural = float(np.sum(np.max(ends, axis=0)))
    size = float(np.sum(np.max(np.abs(ends), axis=0)))
    centre = (lower + upper) / 2.0
    radius = round_up(np.maximum(upper - centre, centre - lower), 2)
    value, bound = evaluate(game, centre)
    at_centre = float(np.sum(value * (N - centre))) + float(np.sum(bound * np.abs(N - centre)))
    slope = _gradient_reach(game, N, lower, upper, F_low, F_high)
    spread = slope * radius
    mean_value = at_centre + float(np.sum(spread))
    size += float(np.sum(np.abs(value * (N - centre)))) + float(np.sum(spread))
    slack = 4.0 * gamma(game.m + 8) * size
    return min(natural, mean_value) + slack, spread


def range_F(game: Affine | Composite, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """Proven bounds on F over a sub-box."""
    if isinstance(game, Composite):
        return game.range_F(lower, upper)
    centre = (lower + upper) / 2.0
    radius = round_up(np.maximum(upper - centre, centre - lower), 2)
    value, bound = game.accurate_F(centre)
    reach = round_up(np.abs(game.matrix) @ radius, game.m + 2)
    reach = round_up(reach + game.matrix_error * float(np.linalg.norm(radius)) + bound, 6)
    return value - round_up(reach), value + round_up(reach)


def _gradient_reach(
    game: Affine | Composite, N: Vector, lower: Vector, upper: Vector, F_low: Vector, F_high: Vector
) -> Vector:
    """A bound on |d/dx_i of F(x)'(N - x)| = |-F_i + (J'(N - x))_i| over the sub-box."""
    step = np.maximum(np.abs(N - lower), np.abs(N - upper))
    centre = N - (lower + upper) / 2.0
    radius = round_up((upper - lower) / 2.0, 3)
    if isinstance(game, Affine):
        J_centre, J_radius = game.matrix, np.full((game.m, game.m), game.matrix_error)
    else:
        low, high = game.slopes_on(lower, upper)
        J_centre = game.A + (game.U * ((low + high) / 2.0)) @ game.V.T
        J_radius = (np.abs(game.U) * round_up((high - low) / 2.0, 3)) @ np.abs(game.V).T
    middle = J_centre.T @ centre
    spread = np.abs(J_centre).T @ radius + J_radius.T @ step
    size = np.abs(J_centre).T @ (np.abs(centre) + radius) + J_radius.T @ step
    k = 1 if isinstance(game, Affine) else game.U.shape[1]
    slack = 2.0 * gamma(game.m + k + 12) * (size + np.maximum(np.abs(F_low), np.abs(F_high)))
    F_centre, F_radius = (F_low + F_high) / 2.0, (F_high - F_low) / 2.0
    return round_up(np.abs(middle - F_centre) + F_radius + spread + slack, 8)


def regret(game: Game, N: Vector, pieces: int = PIECES) -> tuple[Bracket, ...]:
    """For each client, l_i(N) - min over its interval of l_i(., N_-i), bracketed by a global search.

    Affine F: l_i is a quadratic in N_i, minimised in closed form. Nonlinear F: l_i(x) - l_i(N) is the
    integral of F_i, enclosed piece by piece over the whole interval, so that no distant minimum is missed.

    Raises:
        GameError: a game without enclosures of F.
    """
    if isinstance(game, Affine):
        return tuple(_quadratic_regret(game, N, i) for i in range(game.m))
    if isinstance(game, Composite):
        return tuple(_integral_regret(game, N, i, pieces) for i in range(game.m))
    raise GameError(f"{type(game).__name__}: F has no enclosures; give an affine or a built-in game")


def is_nash(game: Game, N: Vector, tol: float) -> bool | None:
    """Whether no client can gain more than `tol` by itself: True or False proven, None undecided.

    More than stationarity: where an l_i is not convex a solution of the VI need not be an equilibrium.
    """
    brackets = regret(game, N)
    if any(b.low > tol for b in brackets):
        return False
    return True if all(b.high <= tol for b in brackets) else None


def _quadratic_regret(game: Affine, N: Vector, i: int) -> Bracket:
    """l_i(x) - l_i(N) = F_i(N) (x - N_i) + A_ii (x - N_i)^2 / 2."""
    value, bound = game.accurate_F(N)
    with flint.ctx.workprec(PRECISION):
        F_i = flint.arb(float(value[i]), float(bound[i]))
        curvature = flint.arb(float(game.matrix[i, i]), game.matrix_error)
        at = flint.arb(float(N[i]))
        ends = [flint.arb(float(e)) for e in (game.lower[i], game.upper[i])]
        candidates = list(ends)
        if curvature > 0:
            inner = at - F_i / curvature
            candidates.append(inner.max(ends[0]).min(ends[1]))
        worst = flint.arb(0)
        for x in candidates:
            worst = worst.max(-(F_i * (x - at) + curvature * (x - at) ** 2 / 2))
        return Bracket(max(0.0, arb_lower(worst)), max(0.0, arb_upper(worst)))


def _integral_regret(game: Composite, N: Vector, i: int, pieces: int) -> Bracket:
    """Enclose the integral of F_i from N_i outwards, both ways."""
    low, high = 0.0, 0.0
    for end in (float(game.lower[i]), float(game.upper[i])):
        if end == N[i]:
            continue
        grid = np.linspace(float(N[i]), end, 65)
        falls = _falls(game, N, i, grid)
        while grid.size < pieces:
            # halve the pieces that are most in doubt
            doubt = falls[1] - falls[0]
            split = np.flatnonzero(doubt >= max(0.25 * float(np.max(doubt)), float(np.mean(doubt))))
            middles = (grid[split] + grid[split + 1]) / 2.0
            if split.size == 0 or np.any((middles == grid[split]) | (middles == grid[split + 1])):
                break
            grid = np.insert(grid, split + 1, middles)
            falls = _falls(game, N, i, grid)
        gain_low, gain_high = _gains(*falls)
        low, high = max(low, gain_low), max(high, gain_high)
    return Bracket(low, high)


def _falls(
    game: Composite, N: Vector, i: int, grid: Float[np.ndarray, " g"]
) -> tuple[Float[np.ndarray, " p"], Float[np.ndarray, " p"]]:
    """Bounds on how far l_i falls over each piece of the grid.

    On a piece of width w around c, F_i is everywhere within sup |dF_i/dN_i| w / 2 of F_i(c).
    """
    boxes_low = np.repeat(N[None, :], grid.size - 1, axis=0)
    boxes_high = boxes_low.copy()
    boxes_low[:, i] = np.minimum(grid[:-1], grid[1:])
    boxes_high[:, i] = np.maximum(grid[:-1], grid[1:])
    F_low, F_high = game.range_F(boxes_low, boxes_high)
    centres = (boxes_low + boxes_high) / 2.0
    middle = game.F(centres)[:, i]
    width = np.abs(np.diff(grid))
    slope = game.own_slope_reach(i, boxes_low, boxes_high)
    doubt = round_up(slope * width / 2.0, 4) + game.roundings(centres)[:, i]
    down, up = np.maximum(F_low[:, i], middle - doubt), np.minimum(F_high[:, i], middle + doubt)
    # upwards the loss changes by the integral, downwards by minus the integral; a fall is minus the change
    low, high = (-up * width, -down * width) if grid[-1] > grid[0] else (down * width, up * width)
    return low - 4.0 * UNIT * np.abs(low), high + 4.0 * UNIT * np.abs(high)


def _gains(low: Float[np.ndarray, " p"], high: Float[np.ndarray, " p"]) -> tuple[float, float]:
    """Bounds on the greatest fall from the start to any point of the grid's span."""
    steps = low.size + 4
    rounding = gamma(steps) * float(np.sum(np.maximum(np.abs(low), np.abs(high))))
    reached_low, before = np.cumsum(low), np.concatenate([[0.0], np.cumsum(high)[:-1]])
    inside = before + np.maximum(high, 0.0)  # within a piece the loss falls by no more than its steepest part
    return max(0.0, float(np.max(reached_low)) - rounding), max(0.0, float(np.max(inside)) + 2 * rounding)
