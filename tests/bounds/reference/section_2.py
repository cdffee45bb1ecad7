"""Section 2 and the assumptions of Section 4: predicates, as far as constants can decide them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mpf

from .base import Draw, Reference, monotone_game, num, undecided
from .draws import game, log_uniform, loss, or_zero

Answers = dict[str, bool | None]


def smooth(*, L: Any, **_: Any) -> Answers:
    return {"L > 0": num(L) > 0, **undecided("f_i is L-smooth")}


def noise_printed(*, nu: Any, **_: Any) -> Answers:
    return {"nu > 0": num(nu) > 0, **undecided("unbiased", "variance <= nu^2")}


def noise(*, nu: Any, **_: Any) -> Answers:
    """Full gradients (nu = 0) are allowed: no proof divides by nu."""
    return {"nu >= 0": num(nu) >= 0, **undecided("unbiased", "variance <= nu^2")}


def bounded_below(*, f_star: Any, **_: Any) -> Answers:
    return {"f_star > -inf": num(f_star) > mpf("-inf")}


def own_convexity(**_: Any) -> Answers:
    return undecided("l_i(., N_-i) is differentiable and convex")


def strongly_monotone(**c: Any) -> Answers:
    return monotone_game(**c)


def merely_monotone(*, L_F: Any, **_: Any) -> Answers:
    return {"L_F >= 0": num(L_F) >= 0, **undecided("F is monotone")}


def strictly_convex(**_: Any) -> Answers:
    return undecided("h is strictly convex")


def dissimilarity(*, G: Any, B: Any, grad_f_sq: Any, **_: Any) -> mpf:
    """Assumption 4.5: the mean of ||grad f_i||^2 is at most this."""
    return num(G) ** 2 + num(B) ** 2 * num(grad_f_sq)


def pair_sign(*, G: Any, B: Any, **_: Any) -> Answers:
    return {"G >= 0": num(G) >= 0, "B >= 0": num(B) >= 0}


def convex(**c: Any) -> Answers:
    return {
        **noise(**c),
        **smooth(**c),
        **undecided("f_i convex", "argmin f_i nonempty", "argmin f nonempty"),
    }


def draw_loss(rng: np.random.Generator) -> Draw:
    c = loss(rng)
    return {
        **c,
        "nu": max(c["nu"], 1e-3),
        "f_star": float(rng.normal()),
        "grad_f_sq": or_zero(rng, 1e-3, 1e3),
    }


def predicate(check: Callable[..., Answers], draw: Callable[[np.random.Generator], Draw]) -> Reference:
    return Reference(check, check, draw, "predicate", "predicate")


def references() -> dict[tuple[str, str], Reference]:
    both = {
        "Assumption 2.1(i)": predicate(smooth, draw_loss),
        "Assumption 2.1(iii)": predicate(bounded_below, draw_loss),
        "Assumption 2.2(i)": predicate(own_convexity, game),
        "Assumption 2.2(ii)": predicate(strongly_monotone, game),
        "Assumption 2.3(i)": predicate(own_convexity, game),
        "Assumption 2.3(ii)": predicate(merely_monotone, lambda rng: {"L_F": log_uniform(rng, 1e-2, 1e2)}),
        "Assumption 2.3(iii)": predicate(strictly_convex, game),
        "Assumption 4.5": Reference(dissimilarity, pair_sign, draw_loss, "grad_fi_sq_mean"),
        "Assumption 4.8": predicate(convex, draw_loss),
    }
    table = {(name, edition): ref for name, ref in both.items() for edition in ("printed", "corrected")}
    table["Assumption 2.1(ii)", "printed"] = predicate(noise_printed, draw_loss)
    table["Assumption 2.1(ii)", "corrected"] = predicate(noise, draw_loss)
    return table
