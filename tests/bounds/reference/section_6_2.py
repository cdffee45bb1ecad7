"""Section 6.2: Lemmas 6.5 to 6.10 (convex losses)."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf

from .base import Draw, Reference, delta_0, delta_at, log, num, over, participation_step, rho, vec
from .draws import CORNER, clients, game, local_steps, log_uniform, or_zero, start_round, step
from .section_4 import nothing
from .section_4_1 import convex_loss, smallest_r_hat_4_9, step_size
from .section_4_3 import draw_steps, shifted, small_step

# Lemma 6.5 -----------------------------------------------------------------------------------------


def pair_6_5_printed(*, m: Any, L: Any, p_star: Any, f_star: Any, f_i_star: Any, **_: Any) -> tuple[mpf, mpf]:
    """(G^2, B^2) as printed; G^2 may come out negative where some f_i is."""
    m, L, f = num(m), num(L), num(f_star)
    spread = max(abs(1 / (m * p) - 1) for p in vec(p_star))
    mean = sum(vec(f_i_star)) / m
    return 2 * L * (f - mean) + 2 * L * spread * f, 1 + spread


def pair_6_5(*, m: Any, L: Any, p_star: Any, f_star: Any, f_i_star: Any, **_: Any) -> tuple[mpf, mpf]:
    """(G^2, B^2) of the corrected edition, whatever the signs of the f_i."""
    weights = vec(p_star)
    B_sq = 1 / (num(m) * min(weights))
    mixed = sum(p * f for p, f in zip(weights, vec(f_i_star), strict=True))
    return 2 * num(L) * B_sq * (num(f_star) - mixed), B_sq


def lemma_6_5_printed(*, D_f: Any, **c: Any) -> mpf:
    G_sq, B_sq = pair_6_5_printed(**c)
    return G_sq + 2 * num(c["L"]) * B_sq * num(D_f)


def lemma_6_5(*, D_f: Any, **c: Any) -> mpf:
    G_sq, B_sq = pair_6_5(**c)
    return G_sq + 2 * num(c["L"]) * B_sq * num(D_f)


def weights_on_simplex(*, p_star: Any, **_: Any) -> dict[str, bool | None]:
    """Positive and summing to 1 up to the rounding of the given floats."""
    p = vec(p_star)
    return {
        "p_star > 0": min(p) > 0,
        "sum p_star = 1": abs(sum(p) - 1) <= len(p) * mpf(2) ** -53,
    }


def hypotheses_6_5_printed(**c: Any) -> dict[str, bool | None]:
    return {**weights_on_simplex(**c), "G^2 >= 0": pair_6_5_printed(**c)[0] >= 0}


def hypotheses_6_5(**c: Any) -> dict[str, bool | None]:
    p, f = vec(c["p_star"]), vec(c["f_i_star"])
    mixed = sum(x * y for x, y in zip(p, f, strict=True))
    return {**weights_on_simplex(**c), "f_star >= sum p_i f_i_star": num(c["f_star"]) >= mixed}


def draw_6_5(rng: np.random.Generator, lowest: float) -> Draw:
    m = clients(rng)
    p = np.full(m, 1 / m) if rng.random() < CORNER else rng.dirichlet(np.full(m, 2.0)) * 0.99 + 0.01 / m
    # multiples of 2^-20 keep sum p = 1 and sum p_i f_i* exact, so that a common minimiser is an exact corner
    p = np.round(p * 2**20) / 2**20
    p[np.argmax(p)] += 1 - p.sum()
    f_i = np.round(rng.uniform(lowest, 2.0, m) * 2**20) / 2**20 if rng.random() > CORNER else np.zeros(m)
    f_star = float(p @ f_i + np.round(or_zero(rng, 1e-3, 1e2) * 2**10) / 2**10)
    return {
        "m": m,
        "L": log_uniform(rng, 1e-2, 1e2),
        "p_star": p,
        "f_star": f_star,
        "f_i_star": f_i,
        "D_f": or_zero(rng, 1e-3, 1e2),
    }


def draw_6_5_printed(rng: np.random.Generator) -> Draw:
    """Losses f_i >= 0, where the printed constants are right."""
    return draw_6_5(rng, 0.0)


def draw_6_5_corrected(rng: np.random.Generator) -> Draw:
    return draw_6_5(rng, -2.0)


# Lemmas 6.6 to 6.10 -----------------------------------------------------------------------------------------


def lemma_6_6(shift: int, **c: Any) -> mpf:
    m, L, nu, G, B = (num(c[k]) for k in ("m", "L", "nu", "G", "B"))
    weight = (m * delta_at(c["r"] + shift, **c)) ** 2
    head = nu**2 + 2 * m * L**2 * num(c["e_bar"]) + 4 * weight * G**2
    return head + 8 * L * (weight * B**2 + 1) * num(c["D_f"])


def lemma_6_7(shift: int, **c: Any) -> mpf:
    """As printed, which survives with the delta of Lemma 4.3, delta = (m - 1) d/||N*||_1, d >= ||N - N*||.

    Write e = p - p*, s_i = ||grad f_i(x*)||, v = x_bar - x*, X = ||v||^2, D_i for the Bregman divergences of
    the f_i, so that D = sum p*_i D_i and f_i(x_bar) - f_i(x*) = D_i + grad f_i(x*)^T v. It is the term
    2 sum e_i (f_i(x*) - f_i(x_bar)) whose bound loses a factor m in the paper (m = 1: e = 0).

    m >= 3: ||e||_2 <= sqrt(m) delta/(m - 1), |f_i(x*) - f_i(x_bar)| <= max(s_i, ||grad f_i(x_bar)||) sqrt(X).
    So the term is at most 2 ||e||_2 sqrt(X) sqrt(S + m G^2 + 2 m L B^2 D) <= m sqrt(delta) X +
    delta^1.5/(m - 1)^2 (S + m G^2 + 2 m L B^2 D), and m <= (m - 1)^2.

    m = 2: |e_i| <= delta, e_2 = -e_1, and p*_1 grad f_1(x*) = -p*_2 grad f_2(x*) makes the term at most
    2 delta |D_1 - D_2| + 2 delta (s_1 + s_2) sqrt(X).
    First part: max D_i <= min(2 B^2 D, L X/2), as B^2 >= 1/(2 p*_min), so it is at most
    2 delta sqrt(L B^2 D X) <= 2 L B^2 delta^1.5 D + sqrt(delta) X/2.
    Second part: at most (3/2) sqrt(delta) X + (2/3) delta^1.5 (s_1 + s_2)^2 <=
    (3/2) sqrt(delta) X + delta^1.5 (S + S/3), and S <= 2 G^2 (Lemma 6.5 at x*).

    See `lemma_6_7_any_delta` for a delta that only bounds each |e_i|.
    """
    m, L, G, B = (num(c[k]) for k in ("m", "L", "G", "B"))
    d = delta_at(c["r"] + shift, **c)
    mixed = d * mp.sqrt(d)
    gain = -2 * (1 - L * B**2 * mixed) * num(c["D_f"])
    return gain + m * mp.sqrt(d) * num(c["X_sq"]) + mixed * (G**2 + num(c["S"])) + L * num(c["e_bar"])


def lemma_6_7_any_delta(*, delta: Any, **c: Any) -> mpf:
    """For any delta with |p_i - p*_i| <= delta: the factor m is back (m = 16 needs it)."""
    m, L, G, B, d = (*(num(c[k]) for k in ("m", "L", "G", "B")), num(delta))
    mixed = d * mp.sqrt(d)
    gain = -2 * (1 - m * L * B**2 * mixed) * num(c["D_f"])
    return gain + m * mp.sqrt(d) * num(c["X_sq"]) + mixed * (m * G**2 + num(c["S"])) + L * num(c["e_bar"])


def lemma_6_8(shift: int, **c: Any) -> mpf:
    m, L, nu, G, gamma = (num(c[k]) for k in ("m", "L", "nu", "G", "gamma"))
    d = delta_at(c["r"] + shift, **c)
    distance = (1 + m * gamma * mp.sqrt(d)) * num(c["X_sq"]) - gamma / 2 * num(c["D_f"])
    weights = gamma * d * mp.sqrt(d) * (G**2 + num(c["S"])) + 4 * (gamma * m * d * G) ** 2
    return distance + weights + L * gamma * (2 * m * L * gamma + 1) * num(c["e_bar"]) + (gamma * nu) ** 2


def threshold_6_8(**c: Any) -> mpf:
    """delta_0 (16 L^2 B^4)^(1/3)."""
    return delta_0(**c) * mp.cbrt(16 * (num(c["L"]) * num(c["B"]) ** 2) ** 2)


def gamma_limits_6_8(**c: Any) -> dict[str, mpf]:
    m, L, B = (num(c[k]) for k in ("m", "L", "B"))
    limit = over(1, 16 * L * (m * B) ** 2 * delta_0(**c))
    return {"1/(16 L m^2 B^2 delta_0)": limit, "1/(16 L)": 1 / (16 * L)}


def hypotheses_6_8_printed(**c: Any) -> dict[str, bool | None]:
    """The printed condition on r has the threshold where its logarithm belongs (stronger, since ln x < x)."""
    late = num(c["r"]) * mp.log(1 / rho(**c)) >= threshold_6_8(**c)
    steps = step_size(gamma_limits_6_8(**c), c["gamma"])
    return {**participation_step(**c), **steps, "r >= delta_0 (16 L^2 B^4)^(1/3)/ln(1/rho)": late}


def hypotheses_6_8(**c: Any) -> dict[str, bool | None]:
    late = num(c["r"]) * mp.log(1 / rho(**c)) >= log(threshold_6_8(**c))
    steps = step_size(gamma_limits_6_8(**c), c["gamma"])
    return {**participation_step(**c), **steps, "r >= ln(delta_0 (16 L^2 B^4)^(1/3))/ln(1/rho)": late}


def lemma_6_9(first: int, **c: Any) -> mpf:
    """`D_f` over t = T_r..T_{r+1} - 1. Printed: the sum leaves the first out; corrected: it does not."""
    m, H, L, nu, G, B, gamma = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "B", "gamma"))
    total = mp.fsum(vec(c["D_f"])[first:])
    return 18 * m * L * (gamma * B * H) ** 2 * total + 9 * gamma**2 * (nu**2 + m * G**2) * H**3


def lemma_6_10(**c: Any) -> mpf:
    """c_min, a lower bound on every c_k."""
    m, H, gamma = (num(c[k]) for k in ("m", "H", "gamma"))
    return 1 - m * H * mp.sqrt(delta_0(**c)) / (1 - mp.sqrt(rho(**c))) * gamma


def draw_convex_step(rng: np.random.Generator) -> Draw:
    observed = {name: or_zero(rng, 1e-3, 1e3) for name in ("e_bar", "D_f", "X_sq")}
    r = 0 if rng.random() < CORNER else int(log_uniform(rng, 1.0, 1e4))
    return {**game(rng), **convex_loss(rng), **observed, "r": r}


def draw_any_delta(rng: np.random.Generator) -> Draw:
    return {**draw_convex_step(rng), "delta": or_zero(rng, 1e-4, 1.0)}


def draw_6_8_printed(rng: np.random.Generator) -> Draw:
    c = draw_convex_step(rng)
    c["r"] = start_round(rng, threshold_6_8(**c) / mp.log(1 / rho(**c)))
    return {**c, "gamma": step(rng, min(gamma_limits_6_8(**c).values()))}


def draw_6_8(rng: np.random.Generator) -> Draw:
    c = draw_convex_step(rng)
    c["r"] = start_round(rng, smallest_r_hat_4_9(**c))
    return {**c, "gamma": step(rng, min(gamma_limits_6_8(**c).values()))}


def draw_6_9(rng: np.random.Generator) -> Draw:
    c = {**draw_steps(rng), **convex_loss(rng)}
    c["gamma"] = step(rng, over(1, mp.sqrt(3) * c["H"] * num(c["L"])))
    return {**c, "D_f": rng.exponential(1.0, c["H"])}


def draw_6_10(rng: np.random.Generator) -> Draw:
    """Any step: the bound is negative, hence void, for a long one."""
    return {**game(rng), "H": local_steps(rng), "gamma": log_uniform(rng, 1e-6, 1.0)}


def positive_step(*, gamma: Any, **c: Any) -> dict[str, bool | None]:
    return {**participation_step(**c), "gamma > 0": num(gamma) > 0}


def references() -> dict[tuple[str, str], Reference]:
    quantity = "grad_fi_sq_mean"
    table = {
        ("Lemma 6.5", "printed"): Reference(
            lemma_6_5_printed, hypotheses_6_5_printed, draw_6_5_printed, quantity
        ),
        ("Lemma 6.5", "corrected"): Reference(lemma_6_5, hypotheses_6_5, draw_6_5_corrected, quantity),
        ("Lemma 6.7 (any delta)", "corrected"): Reference(
            lemma_6_7_any_delta, nothing, draw_any_delta, "convex_inner@p_next"
        ),
    }
    late = {"printed": (hypotheses_6_8_printed, draw_6_8_printed), "corrected": (hypotheses_6_8, draw_6_8)}
    for edition, shift, average in (("printed", 0, "p_now"), ("corrected", 1, "p_next")):
        table |= {
            ("Lemma 6.6", edition): Reference(
                shifted(lemma_6_6, shift), participation_step, draw_convex_step, f"g_bar_sq@{average}"
            ),
            ("Lemma 6.7", edition): Reference(
                shifted(lemma_6_7, shift), participation_step, draw_convex_step, f"convex_inner@{average}"
            ),
            ("Lemma 6.8", edition): Reference(
                shifted(lemma_6_8, shift), *late[edition], f"X_sq_next@{average}"
            ),
            ("Lemma 6.9", edition): Reference(
                shifted(lemma_6_9, 1 - shift), small_step, draw_6_9, f"e_bar_sum@{average}"
            ),
            ("Lemma 6.10", edition): Reference(lemma_6_10, positive_step, draw_6_10, "c_k", "lower"),
        }
    return table
