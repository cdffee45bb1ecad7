"""Many instances at once: the arrays that the search moves, and the constants that the statements take."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

CLIENT_FIELDS = ("N_star", "push", "lower", "upper", "N_0", "target", "curvature", "centre")


@dataclass(frozen=True, eq=False)
class Population:
    """P instances of m clients, each an affine game and (where a statement needs one) quadratic losses.

    The game is F(N) = A (N - N*) + push on the box, with push_i > 0 only where N*_i = lower_i, push_i < 0 only
    where N*_i = upper_i, and 0 elsewhere: N* is the equilibrium by construction. The losses are f_i(x) =
    curvature_i (x - centre_i)^2 / 2 for scalar x, with independent noise of variance nu^2 added to every gradient.

    Attributes:
        A [P, m, m], N_star, push, lower, upper, N_0 [P, m]; gamma_tilde [P] (gamma_tilde_0 of a schedule).
        lambda_0, a, b [P]: the iteratively regularised update with h(N) = ||N - target||^2 / 2; lambda_0 = 0 is the
            strongly monotone one. Where F is merely monotone, target = N*: then N* minimises h whatever SOL is.
        curvature, centre [P, m]; x_0, nu, tradeoff, gamma [P]; H, r_hat, R [P] whole numbers.
        tradeoff: the t that picks the (G, B) pair of Assumption 4.5.
    """

    A: Float[np.ndarray, "P m m"]
    N_star: Float[np.ndarray, "P m"]
    push: Float[np.ndarray, "P m"]
    lower: Float[np.ndarray, "P m"]
    upper: Float[np.ndarray, "P m"]
    N_0: Float[np.ndarray, "P m"]
    gamma_tilde: Float[np.ndarray, " P"]
    lambda_0: Float[np.ndarray, " P"]
    a: Float[np.ndarray, " P"]
    b: Float[np.ndarray, " P"]
    target: Float[np.ndarray, "P m"]
    curvature: Float[np.ndarray, "P m"]
    centre: Float[np.ndarray, "P m"]
    x_0: Float[np.ndarray, " P"]
    nu: Float[np.ndarray, " P"]
    tradeoff: Float[np.ndarray, " P"]
    gamma: Float[np.ndarray, " P"]
    H: Int[np.ndarray, " P"]
    r_hat: Int[np.ndarray, " P"]
    R: Int[np.ndarray, " P"]

    @property
    def size(self) -> int:
        """P."""
        return len(self.R)

    @property
    def m(self) -> int:
        """The number of clients."""
        return int(self.N_star.shape[1])

    def only(self, i: int) -> Population:
        """Instance i alone."""
        return Population(**{f.name: getattr(self, f.name)[i : i + 1] for f in fields(self)})

    def without(self, client: int) -> Population:
        """The instances with one client taken out of game and problem."""
        keep = np.delete(np.arange(self.m), client)
        cut = {name: getattr(self, name)[:, keep] for name in CLIENT_FIELDS}
        return replace(self, A=self.A[:, keep][:, :, keep], **cut)

    @cached_property
    def p_star(self) -> Float[np.ndarray, "P m"]:
        """N*_i / ||N*||_1."""
        return self.N_star / self.N_star.sum(axis=1, keepdims=True)

    @cached_property
    def x_star(self) -> Float[np.ndarray, " P"]:
        """The minimiser of sum_i p*_i f_i."""
        weight = self.p_star * self.curvature
        return (weight * self.centre).sum(axis=1) / weight.sum(axis=1)

    @cached_property
    def mean_curvature(self) -> Float[np.ndarray, " P"]:
        """sum_i p*_i curvature_i: f(x) - f* is half of it times (x - x*)^2."""
        return np.asarray((self.p_star * self.curvature).sum(axis=1))

    def path(self, rounds: int) -> Float[np.ndarray, "P rounds_1 m"]:
        """N_0, ..., N_rounds (line 10 of Algorithm 1)."""
        N = np.empty((self.size, rounds + 1, self.m))
        N[:, 0] = self.N_0
        for r in range(rounds):
            F = np.matmul(self.A, (N[:, r] - self.N_star)[..., None])[..., 0] + self.push
            F += (self.lambda_0 * (r + 1.0) ** -self.b)[:, None] * (N[:, r] - self.target)
            step = (self.gamma_tilde * (r + 1.0) ** -self.a)[:, None]
            N[:, r + 1] = np.clip(N[:, r] - step * F, self.lower, self.upper)
        return N

    def game_constants(self) -> dict[str, np.ndarray]:
        """m, mu_F, L_F, gamma_tilde, dist_0, ||N*||_1, p* and the rounds."""
        symmetric = (self.A + self.A.swapaxes(1, 2)) / 2
        return {
            "m": np.full(self.size, float(self.m)),
            "mu_F": np.maximum(np.linalg.eigvalsh(symmetric)[:, 0], 0.0),
            "L_F": np.linalg.norm(self.A, ord=2, axis=(1, 2)),
            "gamma_tilde": self.gamma_tilde,
            "dist_0": np.linalg.norm(self.N_0 - self.N_star, axis=1),
            "N_star_l1": self.N_star.sum(axis=1),
            "r_hat": self.r_hat.astype(float),
            "R": self.R.astype(float),
            "a": self.a,
            "b": self.b,
        }

    def problem_constants(self) -> dict[str, np.ndarray]:
        """H, L, nu, the pair of Assumption 4.5, f*, f_i*, p*, and S: as `Quadratics.constants` proves them."""
        at_star = self.curvature * (self.x_star[:, None] - self.centre)
        square, mixed = (self.curvature**2).mean(axis=1), (self.curvature * at_star).mean(axis=1)
        gap = square / self.tradeoff  # B^2 A^2 - M for B^2 = (1 + 1/t) M / A^2
        losses = self.curvature * (self.x_star[:, None] - self.centre) ** 2 / 2
        return {
            "H": self.H.astype(float),
            "L": self.curvature.max(axis=1),
            "nu": self.nu,
            "B": np.sqrt((1 + 1 / self.tradeoff) * square) / self.mean_curvature,
            "G": np.sqrt((at_star**2).mean(axis=1) + mixed**2 / gap),
            "S": (at_star**2).sum(axis=1),
            "f_star": (self.p_star * losses).sum(axis=1),
            "f_i_star": np.zeros((self.size, self.m)),
            "p_star": self.p_star,
        }

    def weight_constants(self, N: Float[np.ndarray, "P rounds m"]) -> dict[str, np.ndarray]:
        """kappa, s, sigma_sq and omega of the sharp editions, from the path's weights q_r = p_{r+1}."""
        q = (N / N.sum(axis=2, keepdims=True))[:, 1:]
        r = np.arange(q.shape[1])[None, :]
        q = np.where((r < self.R[:, None])[..., None], q, 0.0)
        at_star = (self.curvature * (self.x_star[:, None] - self.centre)) ** 2
        late = np.where((r >= self.r_hat[:, None])[..., None], q, 0.0)
        return {
            "kappa": self.m * q.max(axis=(1, 2)),
            "s": (q**2).sum(axis=2).max(axis=1),
            "sigma_sq": np.einsum("prm,pm->pr", late, at_star).max(axis=1),
            "omega": (late / self.p_star[:, None, :]).max(axis=(1, 2)),
        }

    def weight_errors(self, N: Float[np.ndarray, "P rounds_1 m"], edition: str) -> dict[str, np.ndarray]:
        """The mean and the supremum over r_hat <= r < R of the squared weight errors of Theorem 4.10's editions.

        Printed: delta_0^2 d_r^2; corrected: ((m-1)/||N*||_1)^2 d_{r+1}^2; sharp: m d_{r+1}^2/||N*||_1^2. Rounds after
        the last one of N have its distance (see `moments.settled`).
        """
        d = np.linalg.norm(N - self.N_star[:, None], axis=2) ** 2
        d = d[:, :-1] if edition == "printed" else d[:, 1:]
        r, last = np.arange(d.shape[1])[None, :], d[:, -1]
        seen = np.where((r >= self.r_hat[:, None]) & (r < self.R[:, None]), d, 0.0)
        beyond = np.maximum(self.R - d.shape[1], 0)
        scale = {"printed": (self.m - 1) ** 2 * d[:, 0], "corrected": np.full_like(last, (self.m - 1.0) ** 2)}.get(
            edition, np.full_like(last, float(self.m))
        ) / self.N_star.sum(axis=1) ** 2  # fmt: skip
        name = "Delta" if edition == "sharp" else "delta_hat"
        return {
            f"{name}_sq_mean": scale * (seen.sum(axis=1) + beyond * last) / (self.R - self.r_hat),
            f"{name}_sq_sup": scale * seen.max(axis=1),
        }


__all__ = ["CLIENT_FIELDS", "Population"]
