"""A found instance made small: fewer clients, earlier rounds, numbers of few digits, with almost the same ratio."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from bounds import Statement
from verify.searching.families import LATEST_START
from verify.searching.objective import ratios
from verify.searching.population import Population
from verify.searching.sides import limit, own_pair

VIOLATED = 1.02  # what a shrunk counterexample keeps at least
_FIELDS = (
    "N_star", "push", "upper", "lower", "N_0", "target", "curvature", "centre", "x_0", "nu", "tradeoff", "gamma",
    "gamma_tilde", "lambda_0", "a", "b",
)  # fmt: skip
_MERELY = 1e-9  # a smaller mu_F, relative to A, is taken for none
_DIGITS = (1, 2, 3, 4)
_BITS = (1, 2, 3, 4, 6)


def least_kept(ratio: float) -> float:
    """The ratio that a shrunk instance keeps: a violation stays one, else 98% or, near 1, twice the distance to 1."""
    if ratio > VIOLATED:
        return VIOLATED
    return max(0.98 * ratio, ratio - (1 - ratio)) if ratio < 1 else ratio


def shrink(statement: Statement, pop: Population, ratio: float) -> Population:
    """A simpler instance whose ratio is at least `least_kept(ratio)`, by greedy steps until none helps."""
    return _Shrinker(statement, pop, least_kept(ratio)).run()


class _Shrinker:
    """Holds the simplest instance so far; `offer` takes a simpler one if it keeps the ratio."""

    def __init__(self, statement: Statement, pop: Population, least: float) -> None:
        self.statement, self.pop, self.least = statement, pop, least
        self.at_rest = self.at_minimum = False

    def run(self) -> Population:
        """All steps, again and again while the text gets shorter."""
        steps: tuple[Callable[[], None], ...] = (
            self._starts, self._clients, self._rounds, self._local_steps, self._game, self._box, self._numbers,
            self._rounds,
        )  # fmt: skip
        for _ in range(2):
            for step in steps:
                step()
        return self.pop

    def offer(self, pop: Population) -> bool:
        """Whether `pop` (as it stands, or with the steps that its hypotheses allow) replaces the instance."""
        pop = self._tied(pop)
        for variant in (pop, self._refitted(pop)):
            if float(ratios(self.statement, variant)[0]) >= self.least:
                self.pop = variant
                return True
        return False

    def _tied(self, pop: Population) -> Population:
        """What must stay together: bounds that an equilibrium sits at, starts at rest, a merely monotone game's N*."""
        lower = np.where(pop.push > 0, pop.N_star, np.minimum(pop.lower, pop.N_star))
        upper = np.where(pop.push < 0, pop.N_star, np.maximum(pop.upper, pop.N_star))
        lower = np.maximum(lower, 1.0)
        N_0 = pop.N_star if self.at_rest else np.clip(pop.N_0, lower, upper)
        merely = pop.game_constants()["mu_F"] <= _MERELY * np.abs(pop.A).max(axis=(1, 2))
        target = np.where(merely[:, None], pop.N_star, pop.target)
        x_0 = pop.x_star if self.at_minimum else pop.x_0
        return replace(pop, lower=lower, upper=upper, N_0=N_0, target=target, x_0=x_0)

    def _refitted(self, pop: Population) -> Population:
        """With step sizes of two digits just below what the hypotheses allow."""
        constants = pop.game_constants()
        with np.errstate(all="ignore"):
            step = limit(self.statement, "gamma_tilde", constants)
            if np.all(np.isfinite(step) & (step > 0)):
                pop = replace(pop, gamma_tilde=_below(np.broadcast_to(step, (1,))))
            constants = pop.game_constants() | pop.problem_constants()
            constants |= own_pair(self.statement, constants)
            constants |= pop.weight_constants(pop.path(LATEST_START))
            step = limit(self.statement, "gamma", constants)
            if np.all(np.isfinite(step) & (step > 0)):
                pop = replace(pop, gamma=_below(np.broadcast_to(step, (1,))))
        return pop

    def _starts(self) -> None:
        self.at_rest = self.at_rest or self.offer(replace(self.pop, N_0=self.pop.N_star))
        self.at_minimum = self.at_minimum or self.offer(replace(self.pop, x_0=self.pop.x_star))
        self.offer(replace(self.pop, nu=np.zeros(1)))

    def _clients(self) -> None:
        while self.pop.m > 2 and any(self.offer(self.pop.without(i)) for i in range(self.pop.m)):
            pass

    def _rounds(self) -> None:
        first, last = int(self.pop.r_hat[0]), int(self.pop.R[0])
        for r_hat in (r for r in _round_numbers(0, first) if r < first):
            if self.offer(replace(self.pop, r_hat=np.array([r_hat]), R=np.array([last - first + r_hat]))):
                break
        for R in _round_numbers(int(self.pop.r_hat[0]) + 1, int(self.pop.R[0])):
            if R < self.pop.R[0] and self.offer(replace(self.pop, R=np.array([R]))):
                return

    def _local_steps(self) -> None:
        for H in range(1, int(self.pop.H[0])):
            if self.offer(replace(self.pop, H=np.array([H]))):
                return

    def _game(self) -> None:
        """Entries of A to zero, the rest to few bits (exact in binary, so that N* stays exact)."""
        self.offer(replace(self.pop, push=np.zeros_like(self.pop.push)))
        for i, j in np.ndindex(self.pop.m, self.pop.m):
            if i != j and self.pop.A[0, i, j] != 0:
                A = self.pop.A.copy()
                A[0, i, j] = 0.0
                self.offer(replace(self.pop, A=A))
        for bits in _BITS:
            if self.offer(replace(self.pop, A=_binary(self.pop.A, bits))):
                return

    def _box(self) -> None:
        """Lower bounds of 1 and upper bounds that are one power of ten, where nothing sits at them."""
        pop = self.pop
        self.offer(replace(pop, lower=np.where(pop.push > 0, pop.lower, 1.0)))
        top = 10.0 ** np.ceil(np.log10(np.maximum(self.pop.upper.max(), self.pop.N_0.max())))
        self.offer(replace(self.pop, upper=np.where(self.pop.push < 0, self.pop.upper, top)))

    def _numbers(self) -> None:
        for name in _FIELDS:
            value = getattr(self.pop, name)
            for digits in _DIGITS:
                if self.offer(replace(self.pop, **{name: _decimal(value, digits)})):
                    break


def _round_numbers(first: int, last: int) -> Iterator[int]:
    """first..last upwards: every number to 10, then 1, 1.5, 2, 3, 5, 7 times the powers of ten."""
    small = list(range(first, min(last, 10) + 1))
    powers = 10 ** np.arange(1, 7)
    large = sorted({int(k * p / 10) for p in powers for k in (10, 15, 20, 30, 50, 70)})
    yield from small
    yield from (n for n in large if max(first, 11) <= n <= last)


def _decimal(x: np.ndarray, digits: int) -> np.ndarray:
    """x to so many significant decimals."""
    return np.vectorize(lambda v: float(f"{v:.{digits - 1}e}"), otypes=[float])(x)


def _below(x: np.ndarray) -> np.ndarray:
    """The largest number of two significant decimals at or below x > 0."""
    unit = 10.0 ** (np.floor(np.log10(x)) - 1)
    return np.vectorize(lambda v, u: float(f"{np.floor(v / u) * u:.1e}"), otypes=[float])(x, unit)


def _binary(x: np.ndarray, bits: int) -> np.ndarray:
    """x with a mantissa of so many bits."""
    mantissa, exponent = np.frexp(x)
    return np.asarray(np.ldexp(np.rint(mantissa * 2.0**bits) / 2.0**bits, exponent))


__all__ = ["VIOLATED", "least_kept", "shrink"]
