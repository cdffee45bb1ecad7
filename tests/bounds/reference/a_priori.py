"""Sharp statements that the paper lacks: consensus, the two start bounds, and better Theorems 4.6 and 4.9.

`f_gap_0` = E f(x_0) - f*, `X_0` = E||x_0 - x*||^2; `Delta_sum` and `Delta_sq_sum` are the sums of Delta_r and
Delta_r^2 over r < r_hat, given or from Delta_r <= Delta_bar q^(r+1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf

from .base import Delta_bar, Draw, Reference, num, over, power, q_rate, sharp_participation_step
from .draws import CORNER, game, last_round, local_steps, log_uniform, loss, or_zero, start_round, step
from .section_4_1 import (
    A_sum,
    convex_loss,
    draw_4_6_sharp,
    gamma_limits_4_6_sharp,
    gamma_limits_4_9_sharp,
    horizon,
    hypotheses_4_9_sharp,
    iterations,
    spread_draw,
    step_size,
    weight_error_means,
    weights_spread,
)


def consensus(*, H: Any, L: Any, nu: Any, gamma: Any, V: Any, **_: Any) -> mpf:
    """Mean of E e_bar_k over a round; `V` = mean of sum_i q_i E||grad f_i(x_bar_k)||^2."""
    H, g = num(H), num(gamma) ** 2
    return 2 * g * (H - 1) * num(nu) ** 2 + 4 * g * H * (H - 1) * num(V)


def consensus_limit(*, H: Any, L: Any, **_: Any) -> dict[str, mpf]:
    return {"1/(2 L sqrt(H(H-1)))": over(1, 2 * num(L) * mp.sqrt(num(H) * (num(H) - 1)))}


def hypotheses_consensus(**c: Any) -> dict[str, bool | None]:
    return step_size(consensus_limit(**c), c["gamma"])


def draw_consensus(rng: np.random.Generator) -> Draw:
    c = {**loss(rng), "H": local_steps(rng), "V": or_zero(rng, 1e-3, 1e3)}
    return {**c, "gamma": step(rng, min(consensus_limit(**c).values()))}


def early_sums(**c: Any) -> tuple[mpf, mpf]:
    """Sums of Delta_r and Delta_r^2 over r < r_hat."""
    if "Delta_sq_sum" in c:
        return num(c.get("Delta_sum", mpf("nan"))), num(c["Delta_sq_sum"])
    q, top, r = q_rate(**c), Delta_bar(**c), c["r_hat"]
    first = top * q * (1 - power(q, r)) / (1 - q)
    return first, (top * q) ** 2 * (1 - power(q**2, r)) / (1 - q**2)


def start_gap(**c: Any) -> mpf:
    """Upper bound on E f(x_bar_{T_r_hat}) - f*."""
    names = ("m", "H", "L", "nu", "G", "B", "gamma", "kappa", "s", "r_hat")
    m, H, L, nu, G, B, gamma, kappa, s, r_hat = (num(c[k]) for k in names)
    squares = early_sums(**c)[1]
    noise = L * gamma * s * nu**2 / 2 + 2 * (L * gamma) ** 2 * (H - 1) * nu**2
    drift = 4 * (L * gamma) ** 2 * H * (H - 1) * kappa * G**2
    inside = num(c["f_gap_0"]) + gamma * H * r_hat * (noise + drift) + gamma * m * G**2 * H * squares
    return mp.exp(2 * L * gamma * m * B**2 * H * squares) * inside


def hypotheses_start_gap(**c: Any) -> dict[str, bool | None]:
    return {
        **sharp_participation_step(**c),
        **step_size(gamma_limits_4_6_sharp(**c), c["gamma"]),
        **weights_spread(**c),
        "r_hat >= 0": c["r_hat"] >= 0,
    }


def draw_start_gap(rng: np.random.Generator) -> Draw:
    c = {**game(rng, widest=1.999), **loss(rng), "H": local_steps(rng), "f_gap_0": or_zero(rng, 1e-3, 1e3)}
    c.update(spread_draw(rng, c["m"]))
    c["r_hat"] = 0 if rng.random() < CORNER else int(log_uniform(rng, 1.0, 1e4))
    return {**c, "gamma": step(rng, min(gamma_limits_4_6_sharp(**c).values()))}


def start_distance(**c: Any) -> mpf:
    """Upper bound on E||x_bar_{T_r_hat} - x*||^2."""
    names = ("m", "H", "L", "nu", "S", "gamma", "s", "sigma_sq", "r_hat")
    m, H, L, nu, S, gamma, s, sigma_sq, r_hat = (num(c[k]) for k in names)
    first, squares = early_sums(**c)
    K = H * r_hat
    inside = num(c["X_0"]) + gamma**2 * K * s * nu**2
    inside += mpf(9) / 4 * L * gamma**3 * K * (H - 1) * (nu**2 + 4 * H * sigma_sq)
    inside += gamma * H * S * first / (L * mp.sqrt(m)) + 8 * gamma**2 * H * S * squares
    return mp.exp(L * gamma * H * (2 * mp.sqrt(m) * first + m * squares / 2)) * inside


def start_limits(**c: Any) -> dict[str, mpf]:
    """The step-size conditions of the sharp Theorem 4.9 without ln 2."""
    H, L, omega = (num(c[k]) for k in ("H", "L", "omega"))
    return {
        "1/(16 L)": 1 / (16 * L),
        "1/(L sqrt(72 omega H(H-1)))": over(1, L * mp.sqrt(72 * omega * H * (H - 1))),
    }


def hypotheses_start_distance(**c: Any) -> dict[str, bool | None]:
    return {
        **sharp_participation_step(**c),
        **step_size(start_limits(**c), c["gamma"]),
        "omega >= 1": num(c["omega"]) >= 1,
        "r_hat >= 0": c["r_hat"] >= 0,
    }


def draw_start_distance(rng: np.random.Generator) -> Draw:
    c = {**game(rng, widest=1.999), **convex_loss(rng), "H": local_steps(rng), "X_0": or_zero(rng, 1e-3, 1e3)}
    c.update(spread_draw(rng, c["m"]))
    c["omega"] = 1.0 if rng.random() < CORNER else log_uniform(rng, 1.0, 20.0)
    c["sigma_sq"] = c["S"] * float(rng.uniform(0, 1))
    c["r_hat"] = 0 if rng.random() < CORNER else int(log_uniform(rng, 1.0, 1e4))
    return {**c, "gamma": step(rng, min(start_limits(**c).values()))}


def absorbed(*, H: Any, L: Any, gamma: Any, **_: Any) -> mpf:
    """a = 1/(1 - 2 gamma^2 L^2 H(H-1)): the cost of absorbing a round's drift (2 in `consensus`)."""
    return 1 / (1 - 2 * (num(gamma) * num(L)) ** 2 * num(H) * (num(H) - 1))


def consensus_sharper(*, V: Any, nu: Any, **c: Any) -> mpf:
    H, g = num(c["H"]), num(c["gamma"]) ** 2
    return absorbed(**c) * (g * (H - 1) * num(nu) ** 2 + 2 * g * H * (H - 1) * num(V))


def margin_4_6(**c: Any) -> mpf:
    """1/2 - m B^2 sup Delta_r^2 - 2 a gamma^2 L^2 H(H-1) kappa B^2: what is left of E||grad f||^2."""
    m, H, L, B, gamma, kappa = (num(c[k]) for k in ("m", "H", "L", "B", "gamma", "kappa"))
    top = num(c["Delta_sup"]) if "Delta_sup" in c else Delta_bar(**c) * power(q_rate(**c), c["r_hat"] + 1)
    drift = 2 * absorbed(**c) * (gamma * L) ** 2 * H * (H - 1) * kappa
    return mpf(1) / 2 - B**2 * (m * top**2 + drift)


def theorem_4_6_i_1_sharper(**c: Any) -> mpf:
    """The sharp proof without rounding its three eighths: each condition becomes part of the bound."""
    m, H, L, nu, G, gamma, kappa, s = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "gamma", "kappa", "s"))
    drift = absorbed(**c) * (gamma * L) ** 2 * (H - 1) * (nu**2 + 2 * H * kappa * G**2)
    inside = num(c["f_gap"]) / (gamma * iterations(**c)) + L * gamma * s * nu**2 / 2 + drift
    return (inside + m * G**2 * weight_error_means(**c)[1]) / margin_4_6(**c)


def hypotheses_4_6_sharper(**c: Any) -> dict[str, bool | None]:
    within = 2 * (num(c["gamma"]) * num(c["L"])) ** 2 * num(c["H"]) * (num(c["H"]) - 1) < 1
    return {
        **sharp_participation_step(**c),
        **step_size({"1/L": 1 / num(c["L"])}, c["gamma"]),
        **weights_spread(**c),
        **horizon(**c),
        "2 gamma^2 L^2 H(H-1) < 1": within,
        "margin > 0": within and margin_4_6(**c) > 0,
    }


def theorem_4_9_i_1_sharper(**c: Any) -> mpf:
    """35/48 e^(gamma L H A) [X/(gamma T) + gamma s nu^2 + (81/70) L gamma^2 (H-1)(nu^2 + 4 H sigma^2) + ..].

    The consensus bound holds for sums with weights that decrease within a round, so its D_k enter with the
    weights c_{k+1} as well, and a <= 36/35 under the second step-size condition:
    sum c_{k+1} (3/2 - a/8) gamma D_k <= X + ..., 3/2 - 36/280 = 48/35, and c_{k+1} >= e^(-gamma L H A).
    The condition with ln 2 is not needed.
    """
    m, H, L, nu, S, gamma, s = (num(c[k]) for k in ("m", "H", "L", "nu", "S", "gamma", "s"))
    first, squares = weight_error_means(**c)
    inside = num(c["D_r_hat"]) ** 2 / (gamma * iterations(**c)) + gamma * s * nu**2
    inside += mpf(81) / 70 * L * gamma**2 * (H - 1) * (nu**2 + 4 * H * num(c["sigma_sq"]))
    inside += S / (L * mp.sqrt(m)) * first + 8 * gamma * S * squares
    return mpf(35) / 48 * mp.exp(gamma * L * H * A_sum(**c)) * inside


def hypotheses_4_9_sharper(**c: Any) -> dict[str, bool | None]:
    return {name: answer for name, answer in hypotheses_4_9_sharp(**c).items() if "ln 2" not in name}


def draw_4_9_sharper(rng: np.random.Generator) -> Draw:
    c = draw_start_distance(rng)
    c["D_r_hat"] = or_zero(rng, 1e-2, 1e2)
    c["r_hat"] = start_round(rng, 0)
    limits = gamma_limits_4_9_sharp(**c)
    # e^(gamma L H A) is finite for any step, but useless far beyond the ln 2 condition
    c["gamma"] = step(rng, min(*start_limits(**c).values(), 3 * limits["ln 2/(L H A)"]))
    return {**c, "R": last_round(rng, c["r_hat"])}


def references() -> dict[tuple[str, str], Reference]:
    gradient, gap = "grad_f_sq@p_next", "f_gap_avg@p_next"
    return {
        ("Consensus", "sharp"): Reference(consensus, hypotheses_consensus, draw_consensus, "e_bar_mean"),
        ("Consensus", "sharper"): Reference(
            consensus_sharper, hypotheses_consensus, draw_consensus, "e_bar_mean"
        ),
        ("Start gap", "sharp"): Reference(start_gap, hypotheses_start_gap, draw_start_gap, "f_gap"),
        ("Start distance", "sharp"): Reference(
            start_distance, hypotheses_start_distance, draw_start_distance, "D_r_hat_sq"
        ),
        ("Theorem 4.6(i-1)", "sharper"): Reference(
            theorem_4_6_i_1_sharper, hypotheses_4_6_sharper, draw_4_6_sharp, gradient
        ),
        ("Theorem 4.9(i-1)", "sharper"): Reference(
            theorem_4_9_i_1_sharper, hypotheses_4_9_sharper, draw_4_9_sharper, gap
        ),
    }
