"""Section 4.1: Theorems 4.6 and 4.9 (strongly monotone game)."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf

from .base import (
    Delta_bar,
    Draw,
    Reference,
    delta_0,
    log,
    mean_power,
    num,
    over,
    participation_step,
    power,
    q_rate,
    rho,
    sharp_participation_step,
)
from .draws import CORNER, game, last_round, local_steps, log_uniform, loss, or_zero, start_round, step

# Theorem 4.6 ---------------------------------------------------------------------------------------


def iterations(*, H: Any, R: Any, r_hat: Any, **_: Any) -> mpf:
    """T = H (R - r_hat)."""
    return num(H) * (num(R) - num(r_hat))


def theorem_4_6_i_1(**c: Any) -> mpf:
    m, H, L, nu, G, gamma = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "gamma"))
    moving = mean_power(rho(**c) ** 2, c["r_hat"], c["R"])
    start = 16 * num(c["f_gap"]) / (gamma * iterations(**c))
    noise = 8 * L * gamma * nu**2
    drift = mpf(153) / 2 * (nu**2 + m * G**2) * m * L**2 * H**2 * gamma**2
    weights = 16 * m**2 * delta_0(**c) ** 2 * G**2 * (1 + 2 * L * gamma) * moving
    return start + noise + drift + weights


def smallest_r_hat_4_6(**c: Any) -> mpf:
    """ln(17 m^2 delta_0^2 B^2) / (2 ln(1/rho)); -infinity where delta_0 B = 0."""
    return log(17 * (num(c["m"]) * delta_0(**c) * num(c["B"])) ** 2) / (2 * mp.log(1 / rho(**c)))


def gamma_limits_4_6(**c: Any) -> dict[str, mpf]:
    m, H, L, B = (num(c[k]) for k in ("m", "H", "L", "B"))
    return {"1/(32 L)": 1 / (32 * L), "sqrt(2/153)/(m B H L)": over(mp.sqrt(mpf(2) / 153), m * B * H * L)}


def horizon(*, R: Any, r_hat: Any, **_: Any) -> dict[str, bool | None]:
    return {"r_hat >= 0": r_hat >= 0, "r_hat <= R - 1": r_hat <= R - 1}


def step_size(limits: dict[str, mpf], gamma: Any) -> dict[str, bool | None]:
    answers: dict[str, bool | None] = {"gamma > 0": num(gamma) > 0}
    answers.update({f"gamma <= {name}": num(gamma) <= limit for name, limit in limits.items()})
    return answers


def hypotheses_4_6(**c: Any) -> dict[str, bool | None]:
    return {
        **participation_step(**c),
        **step_size(gamma_limits_4_6(**c), c["gamma"]),
        "r_hat >= ln(17 m^2 delta_0^2 B^2)/(2 ln(1/rho))": num(c["r_hat"]) >= smallest_r_hat_4_6(**c),
        **horizon(**c),
    }


def draw_4_6(rng: np.random.Generator) -> Draw:
    c = {**game(rng), **loss(rng), "H": local_steps(rng), "f_gap": or_zero(rng, 1e-3, 1e3)}
    c["gamma"] = step(rng, min(gamma_limits_4_6(**c).values()))
    c["r_hat"] = start_round(rng, smallest_r_hat_4_6(**c))
    return {**c, "R": last_round(rng, c["r_hat"])}


def weight_error_means(**c: Any) -> tuple[mpf, mpf]:
    """Means of Delta_r and Delta_r^2 over r = r_hat..R-1: given, or from Delta_r <= Delta_bar q^(r+1)."""
    if "Delta_sq_mean" in c:
        return num(c.get("Delta_mean", mp.sqrt(num(c["Delta_sq_mean"])))), num(c["Delta_sq_mean"])
    q, top, first, stop = q_rate(**c), Delta_bar(**c), c["r_hat"] + 1, c["R"] + 1
    return top * mean_power(q, first, stop), top**2 * mean_power(q**2, first, stop)


def theorem_4_6_i_1_sharp(**c: Any) -> mpf:
    m, H, L, nu, G, gamma, kappa, s = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "gamma", "kappa", "s"))
    start = 4 * num(c["f_gap"]) / (gamma * iterations(**c))
    noise = 2 * L * gamma * s * nu**2 + 8 * (L * gamma) ** 2 * (H - 1) * nu**2
    drift = 16 * (L * gamma) ** 2 * H * (H - 1) * kappa * G**2
    return start + noise + drift + 4 * m * G**2 * weight_error_means(**c)[1]


def gamma_limits_4_6_sharp(**c: Any) -> dict[str, mpf]:
    H, L, B, kappa = (num(c[k]) for k in ("H", "L", "B", "kappa"))
    pairs = H * (H - 1)
    return {
        "1/L": 1 / L,
        "1/(2 L sqrt(H(H-1)))": over(1, 2 * L * mp.sqrt(pairs)),
        "1/(L B sqrt(32 kappa H(H-1)))": over(1, L * B * mp.sqrt(32 * kappa * pairs)),
    }


def weights_spread(**c: Any) -> dict[str, bool | None]:
    """What kappa = m max q and s = max sum q^2 (or 1) can be."""
    m, kappa, s = num(c["m"]), num(c["kappa"]), num(c["s"])
    # 1/m is no binary fraction: s may be its float, half an ulp below
    tolerated = mpf(2) ** -53
    return {"1 <= kappa <= m": 1 <= kappa <= m, "1/m <= s <= 1": (1 - tolerated) <= s * m and s <= 1}


def hypotheses_4_6_sharp(**c: Any) -> dict[str, bool | None]:
    largest = Delta_bar(**c) * power(q_rate(**c), c["r_hat"] + 1)
    return {
        **sharp_participation_step(**c),
        **step_size(gamma_limits_4_6_sharp(**c), c["gamma"]),
        **weights_spread(**c),
        "m B^2 Delta^2 <= 1/8": num(c["m"]) * (num(c["B"]) * largest) ** 2 <= mpf(1) / 8,
        **horizon(**c),
    }


def smallest_r_hat_4_6_sharp(**c: Any) -> mpf:
    """The r at which m B^2 Delta_bar^2 q^(2 r + 2) = 1/8."""
    level = 8 * num(c["m"]) * (num(c["B"]) * Delta_bar(**c)) ** 2
    q = q_rate(**c)
    if level == 0 or q == 0:
        return mpf(0)
    return log(level) / (2 * mp.log(1 / q)) - 1


def spread_draw(rng: np.random.Generator, m: int) -> Draw:
    kappa = 1.0 if m == 1 or rng.random() < CORNER else float(rng.uniform(1, m))
    s = 1.0 if m == 1 or rng.random() < CORNER else float(rng.uniform(1 / m, 1))
    return {"kappa": kappa, "s": s}


def draw_4_6_sharp(rng: np.random.Generator) -> Draw:
    c = {**game(rng, widest=1.999), **loss(rng), "H": local_steps(rng), "f_gap": or_zero(rng, 1e-3, 1e3)}
    c.update(spread_draw(rng, c["m"]))
    c["gamma"] = step(rng, min(gamma_limits_4_6_sharp(**c).values()))
    c["r_hat"] = start_round(rng, smallest_r_hat_4_6_sharp(**c))
    return {**c, "R": last_round(rng, c["r_hat"])}


def theorem_4_6_i_2(**c: Any) -> mpf:
    return mean_power(rho(**c) ** 2, c["r_hat"], c["R"]) * num(c["dist_0"]) ** 2


def theorem_4_6_i_2_sharp(**c: Any) -> mpf:
    return mean_power(q_rate(**c) ** 2, c["r_hat"], c["R"]) * num(c["dist_0"]) ** 2


def hypotheses_4_6_i_2_sharp(**c: Any) -> dict[str, bool | None]:
    """The game alone: the learning constants play no part."""
    return {**sharp_participation_step(**c), **horizon(**c)}


def draw_4_6_i_2_sharp(rng: np.random.Generator) -> Draw:
    c = game(rng, widest=1.999)
    c["r_hat"] = start_round(rng, 0)
    return {**c, "R": last_round(rng, c["r_hat"])}


def orders_4_6_common(**c: Any) -> dict[str, mpf]:
    m, H, L, nu, G, B, eps = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "B", "epsilon"))
    gap = num(c["f_sup"]) - num(c["f_star"])
    spread = (m * L**2 * H**2 * (nu**2 + m * G**2)) ** 2
    return {
        "R_1": (gap**2 + L**2 * nu**4 + spread) / (H * eps**2),
        "R_3": log(17 * (m * delta_0(**c) * B) ** 2) / mp.log(1 / rho(**c)),
        "H(mBL)^2": H * (m * B * L) ** 2,
        "L^2/H": L**2 / H,
    }


def theorem_4_6_ii_printed(**c: Any) -> dict[str, mpf]:
    m, L, G, eps, d = (num(c[k]) for k in ("m", "L", "G", "epsilon", "dist_0"))
    p = rho(**c)
    largest = max(mp.sqrt(192) * m * (m - 1) * G / num(c["N_star_l1"]), mpf(1)) ** 2
    R_2 = log(d**2 * largest / ((1 - p**2) * L**2 * eps)) / mp.log(1 / p)
    return {**orders_4_6_common(**c), "R_2": R_2}


def theorem_4_6_ii(**c: Any) -> dict[str, mpf]:
    """Corrected: R_2 in which nothing depends on the unit of f, and 1 joins the maximum."""
    m, G, eps, d = (num(c[k]) for k in ("m", "G", "epsilon", "dist_0"))
    p = rho(**c)
    largest = max(68 * (m * delta_0(**c) * G) ** 2, 2 * d**2)
    R_2 = log(largest / ((1 - p**2) * eps)) / mp.log(1 / p)
    return {**orders_4_6_common(**c), "R_2": R_2, "1": mpf(1)}


def hypotheses_4_6_ii(**c: Any) -> dict[str, bool | None]:
    return {
        **participation_step(**c),
        "epsilon > 0": num(c["epsilon"]) > 0,
        "f_sup < inf": mp.isfinite(num(c["f_sup"])),
        "f_star <= f_sup": num(c["f_star"]) <= num(c["f_sup"]),
    }


def draw_4_6_ii(rng: np.random.Generator) -> Draw:
    c = {**game(rng), **loss(rng), "H": local_steps(rng), "epsilon": log_uniform(rng, 1e-6, 1.0)}
    f_star = float(rng.uniform(-2, 2))
    return {**c, "f_star": f_star, "f_sup": f_star + or_zero(rng, 1e-2, 1e2)}


# Theorem 4.9 ---------------------------------------------------------------------------------------


def terms_4_9(second: mpf, **c: Any) -> mpf:
    m, H, nu, G, S, gamma = (num(c[k]) for k in ("m", "H", "nu", "G", "S", "gamma"))
    p, d, T = rho(**c), delta_0(**c), iterations(**c)
    c_min = 1 - m * gamma * mp.sqrt(d) * H / (1 - mp.sqrt(p))
    start = 4 * num(c["D_r_hat"]) ** 2 / (gamma * T)
    noise = 4 * gamma * nu**2
    squares = 16 * gamma * (m * d * G) ** 2 * H / (T * (1 - p**2))
    mixed = 4 * d * mp.sqrt(d) * (G**2 + S) * H / (T * (1 - p * mp.sqrt(p)))
    return (start + second + noise + squares + mixed) / c_min


def theorem_4_9_i_1_printed(**c: Any) -> mpf:
    m, H, L, nu, G, gamma = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "gamma"))
    return terms_4_9(72 * gamma**2 * L * (nu**2 + m * G**2) * H**3 / iterations(**c), **c)


def theorem_4_9_i_1(**c: Any) -> mpf:
    m, H, L, nu, G, gamma = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "gamma"))
    return terms_4_9(72 * gamma**2 * L * (nu**2 + m * G**2) * H**2, **c)


def gamma_limits_4_9(**c: Any) -> dict[str, mpf]:
    m, H, L, B = (num(c[k]) for k in ("m", "H", "L", "B"))
    d, p = delta_0(**c), rho(**c)
    return {
        "1/(m H sqrt(delta_0)/(1 - sqrt(rho)) + 24 L H B sqrt(m))": over(
            1, m * H * mp.sqrt(d) / (1 - mp.sqrt(p)) + 24 * L * H * B * mp.sqrt(m)
        ),
        "1/(16 L)": 1 / (16 * L),
        "1/(2 m L)": 1 / (2 * m * L),
        "1/(16 L m^2 B^2 delta_0)": over(1, 16 * L * (m * B) ** 2 * d),
        "1/(sqrt(3) H L)": 1 / (mp.sqrt(3) * H * L),
    }


def smallest_r_hat_4_9(**c: Any) -> mpf:
    """ln(delta_0 (16 L^2 B^4)^(1/3)) / ln(1/rho)."""
    return log(delta_0(**c) * mp.cbrt(16 * (num(c["L"]) * num(c["B"]) ** 2) ** 2)) / mp.log(1 / rho(**c))


def hypotheses_4_9(**c: Any) -> dict[str, bool | None]:
    return {
        **participation_step(**c),
        **step_size(gamma_limits_4_9(**c), c["gamma"]),
        "r_hat >= ln(delta_0 (16 L^2 B^4)^(1/3))/ln(1/rho)": num(c["r_hat"]) >= smallest_r_hat_4_9(**c),
        **horizon(**c),
    }


def convex_loss(rng: np.random.Generator) -> Draw:
    """The pair of Lemma 6.5 has B >= 1, but the statements make sense from B > 0 on."""
    sizes = {"D_r_hat": or_zero(rng, 1e-2, 1e2), "S": or_zero(rng, 1e-3, 1e2)}
    return {**loss(rng), "B": log_uniform(rng, 0.3, 5.0), **sizes}


def draw_4_9(rng: np.random.Generator) -> Draw:
    c = {**game(rng), **convex_loss(rng), "H": local_steps(rng)}
    c["gamma"] = step(rng, min(gamma_limits_4_9(**c).values()))
    c["r_hat"] = start_round(rng, smallest_r_hat_4_9(**c))
    return {**c, "R": last_round(rng, c["r_hat"])}


def A_sum(**c: Any) -> mpf:
    """A = sum over r >= r_hat of 2 sqrt(m) Delta_r + m Delta_r^2/2, given or from Delta_bar q^(r+1)."""
    if "A_sum" in c:
        return num(c["A_sum"])
    m, q, top = num(c["m"]), q_rate(**c), Delta_bar(**c)
    first = power(q, c["r_hat"] + 1)
    return 2 * mp.sqrt(m) * top * first / (1 - q) + m * (top * first) ** 2 / (2 * (1 - q**2))


def gamma_limits_4_9_sharp(**c: Any) -> dict[str, mpf]:
    H, L, omega = (num(c[k]) for k in ("H", "L", "omega"))
    return {
        "1/(16 L)": 1 / (16 * L),
        "1/(L sqrt(72 omega H(H-1)))": over(1, L * mp.sqrt(72 * omega * H * (H - 1))),
        "ln 2/(L H A)": over(mp.log(2), L * H * A_sum(**c)),
    }


def theorem_4_9_i_1_sharp(**c: Any) -> mpf:
    m, H, L, nu, S, gamma, s = (num(c[k]) for k in ("m", "H", "L", "nu", "S", "gamma", "s"))
    first_power, second_power = weight_error_means(**c)
    start = 2 * num(c["D_r_hat"]) ** 2 / (gamma * iterations(**c))
    drift = mpf(9) / 2 * L * gamma**2 * (H - 1) * (nu**2 + 4 * H * num(c["sigma_sq"]))
    noise = 2 * gamma * s * nu**2
    return start + drift + noise + 2 * S / (L * mp.sqrt(m)) * first_power + 16 * gamma * S * second_power


def hypotheses_4_9_sharp(**c: Any) -> dict[str, bool | None]:
    m, s = num(c["m"]), num(c["s"])
    return {
        **sharp_participation_step(**c),
        **step_size(gamma_limits_4_9_sharp(**c), c["gamma"]),
        "1/m <= s <= 1": (1 - mpf(2) ** -53) <= s * m and s <= 1,
        "omega >= 1": num(c["omega"]) >= 1,
        "sigma_sq <= S": num(c["sigma_sq"]) <= num(c["S"]),
        **horizon(**c),
    }


def draw_4_9_sharp(rng: np.random.Generator) -> Draw:
    c = {**game(rng, widest=1.999), **convex_loss(rng), "H": local_steps(rng)}
    c.update(spread_draw(rng, c["m"]))
    c["omega"] = 1.0 if rng.random() < CORNER else log_uniform(rng, 1.0, 20.0)
    c["sigma_sq"] = c["S"] * float(rng.uniform(0, 1))
    c["r_hat"] = start_round(rng, 0)
    c["gamma"] = step(rng, min(gamma_limits_4_9_sharp(**c).values()))
    return {**c, "R": last_round(rng, c["r_hat"])}


def orders_4_9_common(**c: Any) -> dict[str, mpf]:
    m, H, nu, G, S, eps = (num(c[k]) for k in ("m", "H", "nu", "G", "S", "epsilon"))
    p, d = rho(**c), delta_0(**c)
    return {
        "R_1": (num(c["D_r_hat"]) ** 4 + nu**4) / (H * eps**2),
        "R_3": power((m * d * G) ** 2 / ((1 - p**2) * eps), mpf(2) / 3) / mp.cbrt(H),
        "R_4": d * mp.sqrt(d) * (G**2 + S) / ((1 - p * mp.sqrt(p)) * eps),
    }


def theorem_4_9_ii_printed(**c: Any) -> dict[str, mpf]:
    """R_hat, "a sufficiently large constant", has no formula in the paper."""
    m, H, L, nu, G, eps = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "epsilon"))
    return {**orders_4_9_common(**c), "R_2": mp.sqrt(L * (nu**2 + m * G**2) / (H * eps))}


def theorem_4_9_ii(**c: Any) -> dict[str, mpf]:
    m, H, L, nu, G, eps = (num(c[k]) for k in ("m", "H", "L", "nu", "G", "epsilon"))
    b_hat_is_2 = 4 * H * delta_0(**c) * (m / (1 - mp.sqrt(rho(**c)))) ** 2
    return {**orders_4_9_common(**c), "R_2": L * (nu**2 + m * G**2) * H / eps, "R for b_hat = 2": b_hat_is_2}


def hypotheses_4_9_ii(**c: Any) -> dict[str, bool | None]:
    return {**participation_step(**c), "epsilon > 0": num(c["epsilon"]) > 0}


def draw_4_9_ii(rng: np.random.Generator) -> Draw:
    return {**game(rng), **convex_loss(rng), "H": local_steps(rng), "epsilon": log_uniform(rng, 1e-6, 1.0)}


def references() -> dict[tuple[str, str], Reference]:
    now, then = "grad_f_sq@p_now", "grad_f_sq@p_next"
    infeasible, gap_now, gap_then = "ne_infeasibility", "f_gap_avg@p_now", "f_gap_avg@p_next"
    squares = Reference(theorem_4_6_i_2, hypotheses_4_6, draw_4_6, infeasible)
    return {
        ("Theorem 4.6(i-1)", "printed"): Reference(theorem_4_6_i_1, hypotheses_4_6, draw_4_6, now),
        ("Theorem 4.6(i-1)", "corrected"): Reference(theorem_4_6_i_1, hypotheses_4_6, draw_4_6, then),
        ("Theorem 4.6(i-1)", "sharp"): Reference(
            theorem_4_6_i_1_sharp, hypotheses_4_6_sharp, draw_4_6_sharp, then
        ),
        ("Theorem 4.6(i-2)", "printed"): squares,
        ("Theorem 4.6(i-2)", "corrected"): squares,
        ("Theorem 4.6(i-2)", "sharp"): Reference(
            theorem_4_6_i_2_sharp, hypotheses_4_6_i_2_sharp, draw_4_6_i_2_sharp, infeasible
        ),
        ("Theorem 4.6(ii)", "printed"): Reference(
            theorem_4_6_ii_printed, hypotheses_4_6_ii, draw_4_6_ii, "rounds", "order"
        ),
        ("Theorem 4.6(ii)", "corrected"): Reference(
            theorem_4_6_ii, hypotheses_4_6_ii, draw_4_6_ii, "rounds", "order"
        ),
        ("Theorem 4.9(i-1)", "printed"): Reference(
            theorem_4_9_i_1_printed, hypotheses_4_9, draw_4_9, gap_now
        ),
        ("Theorem 4.9(i-1)", "corrected"): Reference(theorem_4_9_i_1, hypotheses_4_9, draw_4_9, gap_then),
        ("Theorem 4.9(i-1)", "sharp"): Reference(
            theorem_4_9_i_1_sharp, hypotheses_4_9_sharp, draw_4_9_sharp, gap_then
        ),
        ("Theorem 4.9(i-2)", "printed"): Reference(theorem_4_6_i_2, hypotheses_4_9, draw_4_9, infeasible),
        ("Theorem 4.9(i-2)", "corrected"): Reference(theorem_4_6_i_2, hypotheses_4_9, draw_4_9, infeasible),
        ("Theorem 4.9(i-2)", "sharp"): Reference(
            theorem_4_6_i_2_sharp, hypotheses_4_6_i_2_sharp, draw_4_6_i_2_sharp, infeasible
        ),
        ("Theorem 4.9(ii)", "printed"): Reference(
            theorem_4_9_ii_printed, hypotheses_4_9_ii, draw_4_9_ii, "rounds", "order"
        ),
        ("Theorem 4.9(ii)", "corrected"): Reference(
            theorem_4_9_ii, hypotheses_4_9_ii, draw_4_9_ii, "rounds", "order"
        ),
    }
