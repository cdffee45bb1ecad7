"""`games.solve`: the method chosen by the game's class, the residual recomputed, the certificate attached."""

from dataclasses import dataclass

import numpy as np

from bounds.core.constant import Provenance
from games.affine import Affine
from games.base import Game, GameError, Vector
from games.certificates import Proof, prove, prove_smooth, residual_error, tangent_residual
from games.composite import Composite
from games.engines import Engine, choose, one_blas_thread, pivot
from games.equilibrium import Certificate, Equilibrium, Method, NotSolved
from games.gap_qp import gap_qp
from games.iterations import extragradient, golden_ratio, proximal_point, semismooth_newton
from games.lemke import lemke
from games.low_rank import DENSE_SIZE, DiagonalPlusLowRank
from games.pivoting import LOWER, UPPER, State, exchange
from games.polish import refine, state_of
from games.user import UserGame

LEMKE_SIZE = 300  # its tableau has (2m)(4m) entries: above this the proximal point method takes over


SMOOTH = {
    Method.NEWTON: semismooth_newton,
    Method.EXTRAGRADIENT: lambda game, N, goal: extragradient(game.F, game.lower, game.upper, N, goal),
    Method.GOLDEN_RATIO: lambda game, N, goal: golden_ratio(game.F, game.lower, game.upper, N, goal),
}


@dataclass(frozen=True, eq=False)
class Candidate:
    """What a method found: to be polished and judged."""

    method: Method
    N: Vector
    state: State | None
    iterations: int


def solve(
    game: Game,
    tol: float = 1e-9,
    certificate: str | Certificate = Certificate.RESIDUAL,
    *,
    method: str | Method | None = None,
    start: Vector | None = None,
    engine: str | Engine = Engine.AUTO,
) -> Equilibrium:
    """An equilibrium of the game (a solution of VI(box, F)), with a proven bound on its distance to N*.

    By class, unless `method` says otherwise: strongly monotone affine: block principal pivoting, Lemke
    where it stalls; merely monotone affine: Lemke, for large m the proximal point method; nonlinear:
    semismooth Newton with extragradient steps; a user's F: the adaptive golden ratio method. Every point is
    polished on its active set, and its residual is recomputed from F with a bound on the rounding error.

    Args:
        game: any `Game`.
        tol: the residual wanted, relative to max(1, ||A|| ||N|| + ||b||) (see `scale`), in (0, 1).
        certificate: "residual" (tangent residual over mu_F) or "proof" (active set, free block, signs).
        method: a `Method` or its name.
        start: a point near the equilibrium, float64 [m].
        engine: "auto", "numba" or "numpy" (see `games.engines`).

    Raises:
        GameError: a bad tolerance, certificate, method, engine or start; a method that does not fit the game.
        NotSolved: the recomputed residual stayed above the tolerance.
    """
    if not (np.isfinite(tol) and 0 < tol < 1):
        raise GameError(f"tol = {tol}: give a number in (0, 1)")
    try:
        wanted = Certificate(certificate)
    except ValueError:
        raise GameError(f"certificate = {certificate!r}: give 'residual' or 'proof'") from None
    try:
        asked = None if method is None else Method(method)
    except ValueError:
        names = ", ".join(repr(str(x)) for x in Method)
        raise GameError(f"method = {method!r}: give one of {names}") from None
    if start is not None and (start.shape != game.lower.shape or not np.all(np.isfinite(start))):
        raise GameError(f"start = {start.tolist()}: give {game.m} finite numbers")
    chosen = choose(engine)
    with one_blas_thread(game.m):
        return _first_success(game, tol, wanted, asked, start, chosen)


def _first_success(
    game: Game, tol: float, wanted: Certificate, asked: Method | None, start: Vector | None, engine: Engine
) -> Equilibrium:
    """The methods in turn, until one's point passes."""
    methods = _methods(game) if asked is None else (asked,)
    best: tuple[Vector, float] | None = None
    for name in methods:
        candidate = _run(game, name, tol, start, engine)
        found, N, residual = _judge(game, candidate, tol, wanted)
        if found is not None:
            return found
        if best is None or residual < best[1]:
            best = N, residual
    assert best is not None
    limit = tol * scale(game, best[0])
    raise NotSolved(f"residual {best[1]:.3g} > tol * scale = {limit:.3g}: raise tol", *best)


def scale(game: Game, N: Vector) -> float:
    """The size against which a residual is small.

    max(1, ||A|| ||N|| + ||b||) for an affine game; max(1, ||J|| ||N|| + ||F||) with the Jacobian at N
    otherwise.
    """
    size = float(np.linalg.norm(N))
    if isinstance(game, Affine):
        return max(1.0, game.lipschitz.value * size + float(np.linalg.norm(game.b)))
    return max(1.0, float(np.linalg.norm(game.jacobian(N))) * size + float(np.linalg.norm(game.F(N))))


def _methods(game: Game) -> tuple[Method, ...]:
    """The methods to try, in order."""
    small = game.m <= LEMKE_SIZE
    if isinstance(game, DiagonalPlusLowRank) and game.m > DENSE_SIZE:
        return (Method.PIVOTING, Method.GOLDEN_RATIO)  # neither forms the matrix
    if isinstance(game, Affine):
        if game.monotonicity.value > 0:
            return (Method.PIVOTING, Method.LEMKE if small else Method.PROXIMAL_POINT)
        if game.monotonicity.value == 0:
            return (Method.LEMKE,) if small else (Method.PROXIMAL_POINT, Method.GAP_QP)
        return (Method.PIVOTING, *((Method.LEMKE,) if small else ()), Method.GOLDEN_RATIO)
    if isinstance(game, UserGame) and not hasattr(game.inner, "jacobian"):
        return (Method.GOLDEN_RATIO, Method.EXTRAGRADIENT)
    return (Method.NEWTON, Method.EXTRAGRADIENT, Method.GOLDEN_RATIO)


def _run(game: Game, method: Method, tol: float, start: Vector | None, engine: Engine) -> Candidate:
    lower, upper = game.lower, game.upper
    N = (lower + upper) / 2.0 if start is None else game.project(start)
    if method in SMOOTH:
        # the scale is known where the iteration ends, not where it starts: a second run sharpens the first
        iterate = SMOOTH[method](game, N, 0.1 * tol * scale(game, N))
        again = SMOOTH[method](game, iterate.N, 0.1 * tol * scale(game, iterate.N))
        return Candidate(method, again.N, None, iterate.iterations + again.iterations)
    if not isinstance(game, Affine):
        raise GameError(f"method = {str(method)!r}: only for affine games; give 'semismooth Newton'")
    if method is Method.PIVOTING and isinstance(game, DiagonalPlusLowRank) and game.m > DENSE_SIZE:
        first = state_of(game, N)
        pivoted = exchange(game.F, game.solve_block, lower, upper, first)
        return Candidate(method, pivoted.N, pivoted.state, pivoted.iterations)
    A = game.matrix
    if method is Method.PIVOTING:
        state = None if start is None else state_of(game, N)
        pivoted = pivot(A, game.b, lower, upper, state, engine)
        return Candidate(method, pivoted.N, pivoted.state, pivoted.iterations)
    if method is Method.LEMKE:
        pivoted = lemke(A, game.b, lower, upper)
        return Candidate(method, pivoted.N, pivoted.state, pivoted.iterations)
    if game.monotonicity.value < 0:
        raise GameError(f"method = {str(method)!r}: F is not proven monotone; give 'Lemke'")
    if method is Method.PROXIMAL_POINT:
        iterate = proximal_point(A, game.b, lower, upper, 0.1 * tol * scale(game, N), engine)
        return Candidate(method, iterate.N, None, iterate.iterations)
    return Candidate(method, gap_qp(A, game.b, lower, upper), None, 0)


def _judge(
    game: Game, candidate: Candidate, tol: float, wanted: Certificate
) -> tuple[Equilibrium | None, Vector, float]:
    """Polish, certify, and accept or not: (equilibrium or None, point, residual)."""
    N = game.project(candidate.N)
    state = state_of(game, N) if candidate.state is None else candidate.state
    proof: Proof | None = None
    if wanted is Certificate.PROOF and isinstance(game, Affine):
        proof = prove(game, state)
    if proof is None:
        N, residual = refine(game, N, state)
        if wanted is Certificate.PROOF and isinstance(game, Composite):
            proof = prove_smooth(game, N, state)
    if proof is not None:
        return _proven(game, proof, candidate), proof.N, 0.0
    if not residual <= tol * scale(game, N):
        return None, N, residual
    return _certified(game, N, residual, candidate, wanted), N, residual


def _modulus(game: Game) -> tuple[float | None, Provenance]:
    """(mu_F or None, its provenance)."""
    constant = game.constants().get("mu_F") if not isinstance(game, Affine) else None
    if isinstance(game, Affine):
        return (
            game.monotonicity.value if game.monotonicity.value >= 0 else None,
            Provenance.CERTIFIED,
        )
    if constant is None:
        return None, Provenance.ESTIMATED
    return float(constant.value), constant.provenance


def _certified(
    game: Game, N: Vector, residual: float, candidate: Candidate, wanted: Certificate
) -> Equilibrium:
    mu, provenance = _modulus(game)
    notes = ["no proof found: certified by its residual"] if wanted is Certificate.PROOF else []
    if mu is None:
        notes.append("F is not proven monotone: other equilibria may exist")
    elif mu == 0.0:
        notes.append("F is not proven strongly monotone: the residual bounds no distance")
    if np.any(np.isinf(game.F_error(N))):
        notes.append("the rounding error of F is unknown: the residual is as computed")
        provenance = Provenance.ESTIMATED
    return Equilibrium(
        N=N,
        method=candidate.method,
        certificate=Certificate.RESIDUAL,
        residual=residual,
        error_bound=residual_error(residual, mu or 0.0),
        at_lower=game.lower >= N,
        at_upper=game.upper <= N,
        provenance=provenance,
        unique=True if mu is not None and mu > 0 else None,
        iterations=candidate.iterations,
        note="; ".join(notes),
    )


def _proven(game: Game, proof: Proof, candidate: Candidate) -> Equilibrium:
    mu, _ = _modulus(game)
    # A strict solution with a nonsingular free block is isolated; for monotone F the solutions form a convex
    # set, so an isolated one is the only one.
    unique = True if mu is not None and (mu > 0 or proof.strict) else None
    return Equilibrium(
        N=proof.N,
        method=candidate.method,
        certificate=Certificate.PROOF,
        residual=tangent_residual(game, proof.N),
        error_bound=proof.error_bound,
        at_lower=proof.state == LOWER,
        at_upper=(proof.state == UPPER) | (game.lower == game.upper),
        provenance=Provenance.EXACT if proof.error_bound == 0 else Provenance.CERTIFIED,
        unique=unique,
        exact=proof.exact,
        iterations=candidate.iterations,
        note="" if mu is not None else "F is not proven monotone: other equilibria may exist",
    )
