"""What is true of a game, decided before it is solved: each answer proven, or with a witness, or None."""

from dataclasses import dataclass

import flint
import numpy as np
from jaxtyping import Bool, Float

from bounds.core.constant import Provenance
from games.affine import Affine
from games.base import Game, Vector
from games.composite import PRECISION, Composite
from games.rounding import arb_upper, fmpq, gamma
from games.scalars import ROUNDINGS
from games.spectral import semidefinite_witness

WITNESS_TRIES = 200
RATIONAL_WITNESS = 80  # up to so many moving clients an affine game's indefiniteness is decided in rationals


@dataclass(frozen=True, eq=False)
class Properties:
    """Assumptions 2.2 and 2.3, decided. None means undecided.

    Attributes:
        monotone, strongly_monotone: over the box.
        mu_F: the proven modulus (0 for merely monotone, None when monotonicity is not proven); provenance
        says
            how it is known.
        witness: (x, y) in the box with (F(x) - F(y))'(x - y) < 0, checked in exact or interval arithmetic.
        convex: for each client, l_i convex in N_i over the box.
        convexity_witness: (i, x): dF_i/dN_i < 0 at x.
        potential: the Jacobian is symmetric (l_i can be replaced by one function).
        unique: a unique equilibrium of VI(box, F).
    """

    monotone: bool | None
    strongly_monotone: bool | None
    mu_F: float | None
    provenance: Provenance
    witness: tuple[Vector, Vector] | None
    convex: tuple[bool | None, ...]
    convexity_witness: tuple[int, Vector] | None
    potential: bool | None
    unique: bool | None


def properties(game: Game) -> Properties:
    """Decide the game's properties; for a user's game only what its given constants say."""
    if isinstance(game, Affine):
        return _affine(game)
    if isinstance(game, Composite):
        return _composite(game)
    given = game.constants().get("mu_F")
    mu = None if given is None else float(given.value)
    return Properties(
        monotone=None if mu is None else True,
        strongly_monotone=None if mu is None else mu > 0,
        mu_F=mu,
        provenance=Provenance.ESTIMATED if given is None else given.provenance,
        witness=None,
        convex=(None,) * game.m,
        convexity_witness=None,
        potential=None,
        unique=True if mu is not None and mu > 0 else None,
    )


def product_of_differences(game: Affine | Composite, x: Vector, y: Vector) -> float:
    """A proven upper bound on (F(x) - F(y))'(x - y): negative only if the true number is."""
    with flint.ctx.workprec(PRECISION):
        step = [flint.arb(a) - flint.arb(b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        if isinstance(game, Affine):
            A = game.exact_matrix()
            image = (flint.arb_mat(A) * flint.arb_mat(game.m, 1, step)).entries()
        else:
            at_x, at_y = (game.enclose_F([flint.arb(a) for a in point.tolist()]) for point in (x, y))
            image = [a - b for a, b in zip(at_x, at_y, strict=True)]
        return arb_upper(sum((a * b for a, b in zip(image, step, strict=True)), flint.arb(0)))


def _affine(game: Affine) -> Properties:
    bound = game.monotonicity
    witness = None
    monotone: bool | None = True if bound.value >= 0 else None
    strong: bool | None = True if bound.value > 0 else None
    if monotone is None:
        witness = affine_witness(game)
        monotone = False if witness is not None else None
    if strong is None and (monotone is False or (monotone and bound.exact)):
        strong = False
    convex = _affine_convexity(game)
    bad = next((i for i, c in enumerate(convex) if c is False), None)
    return Properties(
        monotone=monotone,
        strongly_monotone=strong,
        mu_F=bound.value if bound.value >= 0 else None,
        provenance=Provenance.EXACT if bound.exact else Provenance.CERTIFIED,
        witness=witness,
        convex=convex,
        convexity_witness=None if bad is None else (bad, game.lower.copy()),
        potential=_symmetric(game),
        unique=True if strong or not np.any(game.moving) else None,
    )


def _affine_convexity(game: Affine) -> tuple[bool | None, ...]:
    """The signs of the diagonal of A: exact for moderate m, else None where rounding could hide one."""
    if game.m <= RATIONAL_WITNESS:
        A = game.exact_matrix()
        return tuple(bool(A[i, i] >= 0 or not moves) for i, moves in enumerate(game.moving.tolist()))
    slack = game.matrix_error
    return tuple(
        None if slack > 0 and abs(d) <= slack else bool(d >= 0 or not moves)
        for d, moves in zip(np.diag(game.matrix).tolist(), game.moving.tolist(), strict=True)
    )


def _symmetric(game: Affine) -> bool | None:
    block = game.matrix[np.ix_(game.moving, game.moving)]
    gap = float(np.max(np.abs(block - block.T), initial=0.0))
    if gap > 2 * game.matrix_error:
        return False
    if game.matrix_error == 0.0:
        return True
    if game.m > RATIONAL_WITNESS:
        return None
    A, index = game.exact_matrix(), np.flatnonzero(game.moving).tolist()
    return all(A[i, j] == A[j, i] for i in index for j in index)


def affine_witness(game: Affine) -> tuple[Vector, Vector] | None:
    """(x, y) in the box with (x - y)'A(x - y) < 0, checked exactly; None if none was found."""
    free = np.flatnonzero(game.moving)
    S = game.matrix[np.ix_(free, free)]
    directions = [np.linalg.eigh(S + S.T)[1][:, 0]]
    if free.size <= RATIONAL_WITNESS:
        psd, _, v = semidefinite_witness(game.exact_symmetric_part())
        if psd or v is None:
            return None
        directions.append(_as_floats(v))
    for direction in directions:
        pair = _pair_along(game, free, direction)
        if pair is not None and product_of_differences(game, *pair) < 0:
            return pair
    return None


def _as_floats(v: list[flint.fmpq]) -> Float[np.ndarray, " k"]:
    largest = max(abs(x) for x in v)
    return np.array([float(int((x / largest * fmpq(2.0**60)).round()) / 2.0**60) for x in v])


def _pair_along(
    game: Game, free: np.ndarray, direction: Float[np.ndarray, " k"]
) -> tuple[Vector, Vector] | None:
    """Two points of the box that differ by a multiple of `direction` on the moving clients."""
    half = (game.upper - game.lower)[free] / 2.0
    size = np.abs(direction)
    if not np.any(size > 0):
        return None
    reach = float(np.min(np.where(size > 0, half / np.where(size > 0, size, 1.0), np.inf)))
    x = (game.lower + game.upper) / 2.0
    y = x.copy()
    x[free] += reach * direction
    y[free] -= reach * direction
    return game.project(x), game.project(y)


def _composite(game: Composite) -> Properties:
    mu = game.modulus
    monotone: bool | None = True if mu >= 0 else None
    witness = None
    if monotone is None:
        witness = _composite_witness(game)
        monotone = False if witness is not None else None
    convex, bad = _convexity(game)
    strong: bool | None = True if mu > 0 else (False if monotone is False else None)
    return Properties(
        monotone=monotone,
        strongly_monotone=strong,
        mu_F=mu if mu >= 0 else None,
        provenance=Provenance.CERTIFIED,
        witness=witness,
        convex=convex,
        convexity_witness=bad,
        potential=_symmetric_jacobian(game),
        unique=True if strong or not np.any(game.moving) else None,
    )


def _composite_witness(game: Composite) -> tuple[Vector, Vector] | None:
    """Short steps along the lowest eigenvector of the symmetric part at random points, checked in arb."""
    rng = np.random.default_rng(0)
    free = np.flatnonzero(game.moving)
    width = game.upper - game.lower
    for attempt in range(WITNESS_TRIES):
        N = game.lower + width * rng.uniform(size=game.m)
        if attempt == 0:
            N = game.lower.copy()
        J = game.jacobian(N)[np.ix_(free, free)]
        values, vectors = np.linalg.eigh((J + J.T) / 2.0)
        if values[0] >= 0:
            continue
        for size in (1.0, 1e-2, 1e-4):
            step = np.zeros(game.m)
            step[free] = vectors[:, 0] * size * float(np.min(width[free]))
            x, y = game.project(N + step), game.project(N - step)
            if product_of_differences(game, x, y) < 0:
                return x, y
    return None


def _convexity(game: Composite) -> tuple[tuple[bool | None, ...], tuple[int, Vector] | None]:
    """dF_i/dN_i = A_ii + sum_k U_ik V_ik phi_k'(.): its range over the box, or a point where it is
    negative."""
    low, high = game.slopes
    weight = game.U * game.V
    least = np.diag(game.A) + np.maximum(weight, 0.0) @ low + np.minimum(weight, 0.0) @ high
    slack = _slope_roundings(game) * (
        np.abs(np.diag(game.A)) + np.abs(weight) @ np.maximum(np.abs(low), np.abs(high))
    )
    proven = (least >= slack) | (least == 0.0) | ~game.moving
    answers: list[bool | None] = [True if p else None for p in proven.tolist()]
    bad = None
    for N in (game.lower, game.upper, (game.lower + game.upper) / 2.0):
        own = np.diag(game.jacobian(N))
        for i in np.flatnonzero(own < -slack).tolist():
            if game.moving[i]:
                answers[i] = False
                bad = bad or (i, N.copy())
    return tuple(answers), bad


def _slope_roundings(game: Composite) -> float:
    """A relative bound on the rounding of a Jacobian entry: k + 1 terms, each slope within `ROUNDINGS`."""
    return gamma(game.U.shape[1] + ROUNDINGS + 8)


def _symmetric_jacobian(game: Composite) -> bool | None:
    points: Float[np.ndarray, "3 m"] = np.stack([game.lower, game.upper, (game.lower + game.upper) / 2.0])
    mask: Bool[np.ndarray, " m"] = game.moving
    reach = np.maximum(*map(np.abs, game.slopes))
    size = np.abs(game.A) + (np.abs(game.U) * reach) @ np.abs(game.V).T
    slack = (_slope_roundings(game) * (size + size.T))[np.ix_(mask, mask)]
    for J in game.jacobian(points):
        block = J[np.ix_(mask, mask)]
        if np.any(np.abs(block - block.T) > slack):
            return False
    same = np.array_equal(game.U, game.V) and np.array_equal(game.A, game.A.T)
    return True if same else None
