"""Differential evolution over a family: the best instance that a budget of evaluations finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import differential_evolution

from verify.searching.families import Family
from verify.searching.objective import ratios
from verify.searching.population import Population

MEMBERS = 64  # a generation
_REFUSED = 1e3  # the cost of an instance that respects no hypotheses: above every -log(ratio)
Tell = Callable[[int], None]  # evaluations made since the last call


@dataclass(frozen=True, eq=False)
class Found:
    """The best instance of one search (None if none respected the hypotheses), and the evaluations it took."""

    best: Population | None
    ratio: float
    evaluations: int


class _Search:
    """Remembers the best point, so that an interrupted search loses nothing."""

    def __init__(self, family: Family, tell: Tell) -> None:
        self.family, self.tell = family, tell
        self.best: Population | None = None
        self.ratio, self.evaluations = -np.inf, 0

    def cost(self, z: Float[np.ndarray, "D P"]) -> Float[np.ndarray, " P"]:
        """-log(observed/bound) of the columns of z."""
        pop = self.family.decode(z)
        found = ratios(self.family.statement, pop)
        i = int(np.argmax(found))
        if found[i] > self.ratio:
            self.best, self.ratio = pop.only(i), float(found[i])
        self.evaluations += found.size
        self.tell(found.size)
        return np.where(found > 0, -np.log(np.maximum(found, 1e-300)), _REFUSED)


def optimise(family: Family, seed: int, budget: int, tell: Tell = lambda made: None) -> Found:
    """Search one family from random starts; Ctrl-C keeps the best so far and goes on up.

    Args:
        seed: of every random choice: the same seed finds the same instance.
        budget: evaluations, rounded up to whole generations of `MEMBERS`.
    """
    search = _Search(family, tell)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(family.m, int(family.noisy))))
    start = rng.random((MEMBERS, family.dimension))
    generations = max(0, -(-budget // MEMBERS) - 1)
    try:
        differential_evolution(
            search.cost,
            [(0.0, 1.0)] * family.dimension,
            strategy="best1bin",
            maxiter=generations,
            init=start,
            mutation=(0.3, 0.9),
            recombination=0.8,
            tol=0.0,
            atol=0.0,
            polish=False,
            updating="deferred",
            vectorized=True,
            rng=rng,
        )
    except KeyboardInterrupt:
        raise Interrupted(Found(search.best, search.ratio, search.evaluations)) from None
    return Found(search.best, search.ratio, search.evaluations)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with what was found until then."""

    def __init__(self, found: Found) -> None:
        super().__init__()
        self.found = found


__all__ = ["MEMBERS", "Found", "Interrupted", "Tell", "optimise"]
