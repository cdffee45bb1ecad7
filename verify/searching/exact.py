"""What a run shows, enclosed in balls: the game's path and the exact expectations of a built instance.

Nothing here shares a formula with `moments`: means and covariances move separately, in absolute coordinates, sums
over the steps of a round come from tables of sum_t s_i^t s_j^t, and everything is an enclosure from the very floats
that the instance stores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import mul
from typing import TypeAlias

from flint import arb, ctx, fmpq

from games import AffineGame, QuadraticWelfare
from simulate.closed_form import power
from simulate.problems.quadratics import Quadratics
from verify.errors import InputError
from verify.setup import Setup

Balls: TypeAlias = list[arb]
_INTERSECT_EVERY = 8  # rounds: the balls hardly grow in between


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """python-flint's working precision inside a with block."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def total(values: Balls) -> arb:
    """The sum."""
    result = arb(0)
    for value in values:
        result = result + value
    return result


def root(sq: arb) -> arb:
    """The square root of a nonnegative number known to within a ball, even one that reaches below zero."""
    return sq.sqrt() if sq > 0 else arb(0).union(sq.abs_upper().sqrt())


def equilibrium(setup: Setup) -> Balls:
    """N*, from its exact rationals where the game's proof gave them, else within its proven error."""
    exact = setup.equilibrium.exact
    if exact is not None and setup.equilibrium.unique is True:
        return [arb(fmpq(v.numerator, v.denominator)) for v in exact]
    return [arb(v, setup.N_star_error) for v in setup.N_star.tolist()]


def path(setup: Setup) -> list[Balls]:
    """N_0, ..., N_R of either update.

    Raises:
        InputError: for a game that is not affine, or a welfare loss that is not quadratic.
    """
    game, config = setup.game, setup.config
    if not isinstance(game, AffineGame) or not isinstance(setup.welfare, QuadraticWelfare | None):
        raise InputError(
            f"{setup.instance.name}: only an affine game with a quadratic welfare loss is enclosed here"
        )
    A = [[arb(v) for v in row] for row in game.A.tolist()]
    b, lower, upper = ([arb(v) for v in x.tolist()] for x in (game.b, game.lower, game.upper))
    N = [arb(v) for v in config.N_0.tolist()]
    found = [N]
    step = arb(config.gamma_tilde)
    star, rate = equilibrium(setup), _rate(setup)
    reach, contracts = root(distance_sq(N, star)), bool(rate < 1)
    for r in range(config.R):
        if config.a != 0.0:
            step = arb(config.gamma_tilde) * falling(r, config.a)
        F = [sum(map(mul, row, N), o) for row, o in zip(A, b, strict=True)]
        if setup.welfare is not None:
            F = [f + g for f, g in zip(F, _welfare(setup.welfare, N, r, setup), strict=True)]
        N = [(x - step * f).max(low).min(high) for x, f, low, high in zip(N, F, lower, upper, strict=True)]
        if contracts:
            # The step contracts towards N*: what the balls lose to wrapping, this bound takes back.
            reach = arb((rate * reach).abs_upper())
            if r % _INTERSECT_EVERY == 0:
                reach = reach.min(arb(root(distance_sq(N, star)).abs_upper()))
                N = [x.intersection(y + arb(0, 1) * reach) for x, y in zip(N, star, strict=True)]
        found.append(N)
    return found


def falling(r: int, exponent: float) -> arb:
    """(r + 1)^-exponent."""
    return (-arb(exponent) * arb(r + 1).log()).exp()


def _welfare(welfare: QuadraticWelfare, N: Balls, r: int, setup: Setup) -> Balls:
    """lambda_r grad h(N)."""
    weight = arb(float(setup.config.lambda_0 or 0.0)) * falling(r, setup.config.b)
    rows = zip(N, welfare.target.tolist(), welfare.weights.tolist(), strict=True)
    return [weight * arb(w) * (x - arb(t)) for x, t, w in rows]


def _rate(setup: Setup) -> arb:
    """A proven bound on the factor by which one step of the game comes nearer to N* (1 where none is known)."""
    if setup.regularised or "mu_F" not in setup.shared:
        return arb(1)
    known, step = setup.shared, arb(setup.config.gamma_tilde)
    mu, L = (arb(float(known[n].value), float(known[n].radius)) for n in ("mu_F", "L_F"))
    return root(1 - 2 * step * mu + square(step * L))


def shares(N: Balls) -> Balls:
    """N_i / sum_j N_j."""
    whole = total(N)
    return [x / whole for x in N]


def square(x: arb) -> arb:
    """x^2, also of a ball around zero (where the library's own `**` gives nan)."""
    return x * x


def distance_sq(N: Balls, M: Balls) -> arb:
    """||N - M||^2."""
    return total([square(x - y) for x, y in zip(N, M, strict=True)])


@dataclass(frozen=True)
class Expectations:
    """The expectations of a run on quadratics: see `moments.Moments`; D_sq is E||x_bar_{T_r_hat} - x*||^2."""

    f_gap_avg: arb
    grad_f_sq: arb
    f_gap: arb
    D_sq: arb


def expectations(setup: Setup, N: list[Balls], average: str) -> Expectations:
    """Both observed expectations and both starts, for the weights of `average` ("p_now" or "p_next").

    Raises:
        InputError: for losses other than quadratics with diagonal curvature, or sampling other than full or iid.
    """
    problem, config = setup.problem, setup.config
    independent = config.sampling == "full" or (config.sampling == "iid" and config.replacement == "with")
    if not isinstance(problem, Quadratics) or problem.full or not independent:
        raise InputError(
            f"{setup.instance.name}: exact expectations need diagonal quadratics, and full gradients or draws with "
            "replacement"
        )
    p = [shares(x) for x in N]
    p_star = shares(equilibrium(setup))
    parts = [_Coordinate(setup, problem, d, p_star).follow(p, average == "p_now") for d in range(problem.n)]
    return Expectations(*(total([getattr(part, name) for part in parts]) for name in _NAMES))


_NAMES = ("f_gap_avg", "grad_f_sq", "f_gap", "D_sq")


class _Coordinate:
    """One coordinate: the losses are separable, so the coordinates do not meet."""

    def __init__(self, setup: Setup, problem: Quadratics, d: int, p_star: Balls) -> None:
        config = setup.config
        self.H, self.R, self.r_hat = config.H, config.R, config.r_hat
        self.noisy = config.sampling == "iid"
        self.a = [arb(v) for v in problem.a[:, d].tolist()]
        self.c = [arb(v) for v in problem.c[:, d].tolist()]
        self.x_0 = arb(float(config.x_0[d]))
        gamma = arb(config.gamma)
        self.s = [1 - gamma * a for a in self.a]
        powers = [[power(s, t) for t in range(self.H + 1)] for s in self.s]
        self.last = [row[self.H] for row in powers]
        self.G = [total(row[: self.H]) for row in powers]
        self.GG = [
            [total([x * y for x, y in zip(v[: self.H], w[: self.H], strict=True)]) for w in powers]
            for v in powers
        ]
        self._noise_tables(problem, d, gamma, config.batch, powers)
        self.curvature = total([p * a for p, a in zip(p_star, self.a, strict=True)])
        self.x_star = (
            total([p * a * c for p, a, c in zip(p_star, self.a, self.c, strict=True)]) / self.curvature
        )

    def _noise_tables(self, problem: Quadratics, d: int, gamma: arb, batch: int, powers: list[Balls]) -> None:
        """Per client, for one step's noise: its variance at the round's end, with the sum, of the sum, at each step."""
        self.end, self.cross, self.sum, self.each = [], [], [], []
        for i, row in enumerate(powers):
            atoms = [square(arb(v)) for v in problem.atoms[i, :, d].tolist()] if self.noisy else [arb(0)]
            variance = square(gamma) * total(atoms) / len(atoms) / batch
            partial = [total(row[:j]) for j in range(self.H)]
            squares = [square(v) for v in row[: self.H]]
            self.end.append(variance * total(squares))
            self.cross.append(variance * total([v * w for v, w in zip(row[: self.H], partial, strict=True)]))
            self.sum.append(variance * total([square(v) for v in partial]))
            self.each.append(variance * total([total(squares[:t]) for t in range(self.H)]))

    def follow(self, p: list[Balls], now: bool) -> Expectations:
        """Run all rounds: mean and variance of x_hat, mean and variance of the sum of x_bar_k, their covariance."""
        zero, stay = arb(0), [(1 - s) * c for s, c in zip(self.last, self.c, strict=True)]
        late = [(self.H - g) * c for g, c in zip(self.G, self.c, strict=True)]
        x, v = self.x_0, zero
        S = V = C = Q = gap = away = zero
        for r in range(self.R):
            if r == self.r_hat:
                S = V = C = Q = zero
                away = (x - self.x_star) * (x - self.x_star) + v
                gap = self.curvature / 2 * away
            w, u = (p[r] if now else p[r + 1]), p[r + 1]
            A, B = sum(map(mul, u, self.last), zero), sum(map(mul, w, self.G), zero)
            Q = Q + self._squares(w, x, v)
            S = S + B * x + sum(map(mul, w, late), zero)
            if self.noisy:
                uu, uw, ww = (list(map(mul, a, b)) for a, b in ((u, u), (u, w), (w, w)))
                V = V + B * B * v + 2 * B * C + sum(map(mul, ww, self.sum), zero)
                C = A * C + A * B * v + sum(map(mul, uw, self.cross), zero)
                v = A * A * v + sum(map(mul, uu, self.end), zero)
            x = A * x + sum(map(mul, u, stay), zero)
        steps = self.H * (self.R - self.r_hat)
        mean = S / steps - self.x_star
        return Expectations(
            self.curvature / 2 * (square(mean) + V / steps**2), square(self.curvature) * Q / steps, gap, away
        )

    def _squares(self, w: Balls, x: arb, v: arb) -> arb:
        """sum over a round's steps of E (x_bar_k - x*)^2."""
        zero, pairs = arb(0), range(len(w))
        rest = sum((q * (c - self.x_star) for q, c in zip(w, self.c, strict=True)), zero)
        pull = [q * (x - c) for q, c in zip(w, self.c, strict=True)]
        both = sum(
            ((pull[i] * pull[j] + w[i] * w[j] * v) * self.GG[i][j] for i in pairs for j in pairs), zero
        )
        noise = sum((q * q * e for q, e in zip(w, self.each, strict=True)), zero)
        return self.H * rest * rest + 2 * rest * sum(map(mul, pull, self.G), zero) + both + noise


__all__ = [
    "Balls", "Expectations", "distance_sq", "equilibrium", "expectations", "path", "precision", "root", "shares",
    "total",
]  # fmt: skip
