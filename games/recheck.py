"""An independent check of a claimed equilibrium: only the game's data and the claim, in interval arithmetic.

Shares no code with the solvers or with the certificates: its own active set, its own elimination, its own
products.
"""

from dataclasses import dataclass

import flint
import numpy as np

from games.affine import Affine
from games.base import Game, GameError
from games.composite import Composite
from games.equilibrium import Certificate, Equilibrium

PRECISION = 128


@dataclass(frozen=True)
class Recheck:
    """`stands` True: confirmed; False: contradicted; None: not decidable at this precision. `reason`: one
    line."""

    stands: bool | None
    reason: str


def recheck(game: Game, claim: Equilibrium, precision: int = PRECISION) -> Recheck:
    """Check the claim's box membership, its residual and its distance to N* again.

    The residual: dist(-F(N), normal cone) enclosed in arb must not exceed `claim.residual`. The distance of
    an affine game's proof: the free block is eliminated anew in arb, signs are checked, and ||N - solution||
    must not exceed `claim.error_bound`; a degenerate claim is checked through its `exact` solution. The
    distance of a residual certificate: residual / mu_F with a modulus m that passes an elimination of (A +
    A')/2 - m I.

    Raises:
        GameError: a game without enclosures of F, or a claim of the wrong size.
    """
    if claim.N.size != game.m:
        raise GameError(f"claim.N has {claim.N.size} entries: the game has {game.m} clients")
    if np.any(game.lower > claim.N) or np.any(game.upper < claim.N):
        return Recheck(False, "N leaves the box")
    with flint.ctx.workprec(precision):
        residual = _residual(game, claim)
        if residual > claim.residual + 2.0**-990:
            return Recheck(False, f"residual is {residual}, claimed {claim.residual:.3g}")
        if np.isinf(claim.error_bound):
            return Recheck(True, "the residual is as claimed; no distance is claimed")
        if claim.exact is not None:
            return _exact(game, claim)
        if isinstance(game, Composite) and claim.certificate is Certificate.PROOF:
            return _interval_newton(game, claim)
        if not isinstance(game, Affine):
            return _modulus_of_nonlinear(game, claim, residual)
        if claim.certificate is Certificate.PROOF:
            return _free_block(game, claim)
        return _by_modulus(game, claim, residual)


def _slope(game: Game, N: list[flint.arb]) -> list[flint.arb]:
    if isinstance(game, Affine):
        A, b = game.exact_matrix(), game.b.tolist()
        rows = range(game.m)
        return [sum((flint.arb(A[i, j]) * N[j] for j in rows), flint.arb(b[i])) for i in rows]
    if isinstance(game, Composite):
        return game.enclose_F(N)
    raise GameError(f"{type(game).__name__}: F has no enclosures, nothing can be rechecked")


def _residual(game: Game, claim: Equilibrium) -> flint.arb:
    total = flint.arb(0)
    slopes = _slope(game, [flint.arb(x) for x in claim.N.tolist()])
    for i, slope in enumerate(slopes):
        low, here, high = float(game.lower[i]), float(claim.N[i]), float(game.upper[i])
        part = flint.arb(0)
        if here > low:
            part = part.max(slope)
        if here < high:
            part = part.max(-slope)
        total += part**2
    return total.sqrt()


def _exact(game: Game, claim: Equilibrium) -> Recheck:
    """The rational point solves the VI (signs in rationals) and lies within the claimed distance."""
    assert claim.exact is not None
    if not isinstance(game, Affine):
        return Recheck(None, "an exact solution is claimed for a nonlinear game")
    A = game.exact_matrix()
    point = [flint.fmpq(x.numerator, x.denominator) for x in claim.exact]
    square = flint.fmpq(0)
    for i in range(game.m):
        low, high = (flint.fmpq(*float(e).as_integer_ratio()) for e in (game.lower[i], game.upper[i]))
        slope = flint.fmpq(*float(game.b[i]).as_integer_ratio())
        for j in range(game.m):
            slope += A[i, j] * point[j]
        inside = low <= point[i] <= high
        signs = (slope <= 0 or point[i] == low) and (slope >= 0 or point[i] == high)
        if not (inside and signs):
            return Recheck(False, f"client {i}: the exact point is not a solution")
        square += (flint.fmpq(*float(claim.N[i]).as_integer_ratio()) - point[i]) ** 2
    bound = flint.fmpq(*claim.error_bound.as_integer_ratio())
    if square > bound**2:
        return Recheck(False, "the exact point is farther than claimed")
    return Recheck(True, "the exact point solves the VI and lies as close as claimed")


def _free_block(game: Affine, claim: Equilibrium) -> Recheck:
    """Gauss elimination of the free block in arb, then every sign."""
    free = [i for i in range(game.m) if not (claim.at_lower[i] or claim.at_upper[i])]
    A = game.exact_matrix()
    fixed = {
        i: float((game.lower if claim.at_lower[i] else game.upper)[i]) for i in range(game.m) if i not in free
    }
    rows = [[flint.arb(A[i, j]) for j in free] for i in free]
    right = [
        -flint.arb(float(game.b[i])) - sum((flint.arb(A[i, j]) * x for j, x in fixed.items()), flint.arb(0))
        for i in free
    ]
    solution = _eliminate(rows, right)
    if solution is None:
        return Recheck(None, "the free block is singular to this precision")
    point = [flint.arb(fixed[i]) if i in fixed else solution[free.index(i)] for i in range(game.m)]
    verdict = _signs(game, claim, point, free)
    if verdict is not None:
        return verdict
    away = sum(((x - float(n)) ** 2 for x, n in zip(point, claim.N, strict=True)), flint.arb(0)).sqrt()
    if away > claim.error_bound:
        return Recheck(False, f"the solution is {away} away, claimed {claim.error_bound:.3g}")
    return Recheck(True, "the free block, the signs and the distance are as claimed")


def _eliminate(rows: list[list[flint.arb]], right: list[flint.arb]) -> list[flint.arb] | None:
    """Gaussian elimination with partial pivoting by midpoints; None when a pivot's ball holds 0."""
    n = len(right)
    for k in range(n):
        at = max(range(k, n), key=lambda i: abs(float(rows[i][k].mid())))
        rows[k], rows[at], right[k], right[at] = rows[at], rows[k], right[at], right[k]
        if rows[k][k].contains(0):
            return None
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [
                *rows[i][: k + 1],
                *(a - factor * b for a, b in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True)),
            ]
            right[i] -= factor * right[k]
    solution = [flint.arb(0)] * n
    for k in range(n - 1, -1, -1):
        tail = sum((rows[k][j] * solution[j] for j in range(k + 1, n)), flint.arb(0))
        solution[k] = (right[k] - tail) / rows[k][k]
    return solution


def _by_modulus(game: Affine, claim: Equilibrium, residual: flint.arb) -> Recheck:
    """residual / error_bound is a modulus that would justify the claim: is (A + A')/2 minus it definite?"""
    if not residual > 0:
        return Recheck(True, "the residual vanishes: N solves the VI")
    needed = residual / claim.error_bound
    A = game.exact_matrix()
    index = np.flatnonzero(game.upper > game.lower).tolist()
    rows = [[flint.arb((A[i, j] + A[j, i]) / 2) - (needed if i == j else 0) for j in index] for i in index]
    for k in range(len(index)):
        pivot = rows[k][k]
        if pivot < 0:
            return Recheck(False, "F is less strongly monotone than the claimed distance needs")
        if not pivot > 0:
            return Recheck(None, "the modulus is undecided at this precision")
        for i in range(k + 1, len(index)):
            factor = rows[i][k] / pivot
            for j in range(k + 1, len(index)):
                rows[i][j] -= factor * rows[k][j]
    return Recheck(True, "the residual and the modulus justify the distance")


def _interval_newton(game: Composite, claim: Equilibrium) -> Recheck:
    """A zero of the free block by interval Newton, then every sign.

    Where J(X) d = -F(N) over a box X around N, eliminated in arb, keeps N + d inside X, F_free has one zero in X and
    it lies in N + d. (The certificate was made by Krawczyk's test, with an inverse: another theorem, other code.)
    """
    free = [i for i in range(game.m) if not (claim.at_lower[i] or claim.at_upper[i])]
    ends = np.where(claim.at_lower, game.lower, np.where(claim.at_upper, game.upper, claim.N))
    centre = [flint.arb(x) for x in ends.tolist()]
    point = list(centre)
    if free:
        found = None
        shift = _newton_step(game, centre, centre, free)
        size = max((abs(float(d.mid())) + float(d.rad()) for d in shift), default=0.0) if shift else 0.0
        for widening in (2.0, 2.0**6, 2.0**20):
            radius = widening * size + 2.0**-60 * float(np.max(np.abs(ends)))
            box = [x + flint.arb(0, radius) if i in free else x for i, x in enumerate(centre)]
            found = _newton_step(game, centre, box, free)
            if found is not None and all(abs(d) < radius for d in found):
                break
            found = None
        if found is None:
            return Recheck(None, "interval Newton proves no zero of the free block")
        for i, d in zip(free, found, strict=True):
            point[i] = centre[i] + d
    verdict = _signs(game, claim, point, free)
    if verdict is not None:
        return verdict
    away = sum(((x - float(n)) ** 2 for x, n in zip(point, claim.N, strict=True)), flint.arb(0)).sqrt()
    if away > claim.error_bound:
        return Recheck(False, f"the solution is {away} away, claimed {claim.error_bound:.3g}")
    if not away <= claim.error_bound:
        return Recheck(None, "the distance is undecided at this precision")
    return Recheck(True, "interval Newton, the signs and the distance are as claimed")


def _newton_step(
    game: Composite, centre: list[flint.arb], box: list[flint.arb], free: list[int]
) -> list[flint.arb] | None:
    """An enclosure of -J(box)^-1 F(centre) on the free clients; None when a pivot may vanish."""
    value, J = game.enclose_F(centre), game.enclose_jacobian(box)
    return _eliminate([[J[i, j] for j in free] for i in free], [-value[i] for i in free])


def _signs(game: Game, claim: Equilibrium, point: list[flint.arb], free: list[int]) -> Recheck | None:
    """Every sign and place strictly as the active set says: None; otherwise what is contradicted or undecided."""
    slopes = _slope(game, point)
    for i in range(game.m):
        if game.lower[i] == game.upper[i]:
            continue
        if i in free:
            wrong = point[i] < float(game.lower[i]) or point[i] > float(game.upper[i])
            right_sign = float(game.lower[i]) < point[i] < float(game.upper[i])
        else:
            wrong = slopes[i] < 0 if claim.at_lower[i] else slopes[i] > 0
            right_sign = slopes[i] > 0 if claim.at_lower[i] else slopes[i] < 0
        if wrong:
            return Recheck(
                False, f"client {i}: the sign of its slope or its place in the box contradicts the claim"
            )
        if not right_sign:
            return Recheck(None, f"client {i}: undecided at this precision")
    return None


def _modulus_of_nonlinear(game: Game, claim: Equilibrium, residual: flint.arb) -> Recheck:
    mu = game.constants().get("mu_F")
    if mu is None or not float(mu.value) > 0:
        return Recheck(None, "no modulus is known")
    justified = residual <= claim.error_bound * float(mu.value)
    return Recheck(True if justified else None, "residual against the modulus from the slopes' ranges")
