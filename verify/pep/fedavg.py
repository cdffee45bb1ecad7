"""Theorem 4.9(i-1): short runs of Algorithm 1 over all convex smooth losses at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bounds
from verify.pep.trusted import WorstCase, solve


@dataclass(frozen=True)
class Short:
    """A short run: the game F(N) = N - N* (mu_F = L_F = 1), whose profile is known at every round.

    Args:
        N_star: the equilibrium [m].
        N_0: the first profile [m]; N_r = N* + (1 - gamma_tilde)^r (N_0 - N*), inside any box that holds both.
        gamma_tilde: the step of the participation update, in (0, 1].
        H: local steps a round.
        R: rounds.
        share: gamma as a share of the largest step that all the editions allow.
        S: bound on sum_i ||grad f_i(x*)||^2.
        D: bound on ||x_0 - x*||.

    L = 1, nu = 0 (full gradients) and r_hat = 0 throughout.
    """

    N_star: tuple[float, ...]
    N_0: tuple[float, ...]
    gamma_tilde: float
    H: int
    R: int
    share: float = 1.0
    S: float = 1.0
    D: float = 1.0

    @property
    def m(self) -> int:
        """The number of clients."""
        return len(self.N_star)

    def weights(self, r: int) -> list[float]:
        """p_{i,r} of the profile N_r."""
        gone = (1 - self.gamma_tilde) ** r
        profile = [s + gone * (n - s) for n, s in zip(self.N_0, self.N_star, strict=True)]
        return [n / sum(profile) for n in profile]

    @property
    def p_star(self) -> list[float]:
        """The weights at the equilibrium."""
        return [n / sum(self.N_star) for n in self.N_star]

    def constants(self) -> dict[str, float | int]:
        """Everything that the three editions of the theorem ask for, but the step gamma."""
        q = [self.weights(r + 1) for r in range(self.R)]
        p = self.p_star
        dist = sum((a - b) ** 2 for a, b in zip(self.N_0, self.N_star, strict=True)) ** 0.5
        b_sq = 1 / (self.m * min(p))
        return {
            "m": self.m, "H": self.H, "R": self.R, "r_hat": 0, "L": 1.0, "nu": 0.0, "s": 1.0,
            "mu_F": 1.0, "L_F": 1.0, "gamma_tilde": self.gamma_tilde, "dist_0": dist,
            "N_star_l1": sum(self.N_star), "D_r_hat": self.D, "S": self.S,
            # twice the least G^2 that clients with these gradients at x* can have: the class has an interior
            "B": b_sq**0.5, "G": (2 * b_sq * max(p) * self.S) ** 0.5,
            "sigma_sq": max(map(max, q)) * self.S,
            "omega": max(a / b for row in q for a, b in zip(row, p, strict=True)),
        }  # fmt: skip


def largest_step(run: Short, editions: Sequence[str]) -> float:
    """The largest gamma, to a relative 1e-9, at which every hypothesis of these editions holds.

    Raises:
        ValueError: when there is none, however small.
    """
    constants = run.constants()
    statements = [bounds.get("Theorem 4.9(i-1)", e) for e in editions]

    def allowed(gamma: float) -> bool:
        checks = [c for s in statements for c in s.check({**constants, "gamma": gamma})]
        return all(c.holds for c in checks)

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    if low == 0.0:
        raise ValueError(f"{run}: no step satisfies the hypotheses of {', '.join(editions)}")
    return low * (1 - 1e-9)


def wc_fedavg(run: Short, edition: str, gamma: float) -> tuple[WorstCase, float]:
    r"""The worst E f(x_bar_avg) - f* of a short run, and the bound of Theorem 4.9(i-1) in one edition.

    **Problem.** min f = sum_i p*_i f_i, every f_i convex and 1-smooth, sum_i ||grad f_i(x*)||^2 <= S; for the
    editions whose bound has (G, B), moreover 2 L B^2 sum_i p*_i (f_i(x*) - min f_i) <= G^2 (Lemma 6.5).

    **Method.** Algorithm 1 with full gradients from ||x_0 - x*|| <= D: H local steps, aggregation with
    p_{i,r+1}. The average iterate has the weights p_{i,r+1} in round r (p_{i,r} in the printed edition).

    **Guarantee.** Theorem 4.9(i-1) with r_hat = 0 and nu = 0.

    Args:
        run: the instance.
        edition: "printed", "corrected" or "sharp".
        gamma: the step size, within the edition's conditions.

    Returns:
        The worst case and the bound; the first must not exceed the second.

    Raises:
        HypothesisFails: when `gamma` is outside the edition's conditions.
        Untrusted: when the solvers cannot be believed.
    """
    statement = bounds.get("Theorem 4.9(i-1)", edition)
    bound = float(statement.evaluate({**run.constants(), "gamma": gamma}))
    return solve(lambda: performance_problem(run, edition, gamma), allowed=1e-3, tolerance=1e-6), bound


def performance_problem(run: Short, edition: str, gamma: float) -> Any:
    """The `PEPit.PEP` whose value is the worst case (see `wc_fedavg`)."""
    from PEPit import PEP
    from PEPit.functions import SmoothConvexFunction

    problem = PEP()
    clients = [problem.declare_function(SmoothConvexFunction, L=1.0) for _ in range(run.m)]
    f = _mean(run.p_star, clients)
    star = f.stationary_point()
    at_star = [c.oracle(star) for c in clients]
    problem.add_constraint(sum(g**2 for g, _ in at_star) <= run.S)
    if edition != "sharp":
        constants = run.constants()
        lows = [c(c.stationary_point()) for c in clients]
        spread = _mean(run.p_star, [v - low for (_, v), low in zip(at_star, lows, strict=True)])
        problem.add_constraint(2 * constants["B"] ** 2 * spread <= constants["G"] ** 2)
    start = problem.set_initial_point()
    problem.set_initial_condition((start - star) ** 2 <= run.D**2)
    average = _average(run, clients, start, gamma, shift=0 if edition == "printed" else 1)
    problem.set_performance_metric(f(average) - f(star))
    return problem


def _average(run: Short, clients: Sequence[Any], start: Any, gamma: float, shift: int) -> Any:
    """The mean over k of x_bar_k, with the weights p_{i,r+shift} inside round r."""
    x, total = start, 0 * start
    for r in range(run.R):
        local = [x] * run.m
        for _ in range(run.H):
            total = total + _mean(run.weights(r + shift), local)
            local = [y - gamma * c.gradient(y) for c, y in zip(clients, local, strict=True)]
        x = _mean(run.weights(r + 1), local)
    return total / (run.H * run.R)


def _mean(weights: Sequence[float], values: Sequence[Any]) -> Any:
    first, *rest = [w * v for w, v in zip(weights, values, strict=True)]
    for term in rest:
        first = first + term
    return first
