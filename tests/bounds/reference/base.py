"""What a reference is, and the arithmetic that all of them share.

Everything here is written from the paper and the list of statements alone, in mpmath, and never from the
package under test. Every function takes keyword scalars (int, float, Fraction, mpf) or sequences of them and
ignores surplus names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from mpmath import mp, mpf

mp.dps = 50

Draw: TypeAlias = dict[str, Any]
Bound: TypeAlias = "mpf | dict[str, Any]"
INFINITY = mpf("inf")


@dataclass(frozen=True)
class Reference:
    """One statement in one edition.

    Args:
        value: keyword constants -> the bound (mpf), or a dict for orders and verdicts.
        hypotheses: keyword constants -> {name: True | False | None}, None where the constants do not decide.
        draw: a numpy Generator -> a set of constants that satisfies the hypotheses.
        direction: "upper", "lower" or "equal": how the observed quantity relates to the value.
    """

    value: Callable[..., Any]
    hypotheses: Callable[..., dict[str, bool | None]]
    draw: Callable[[np.random.Generator], Draw]
    quantity: str
    direction: str = "upper"
    note: str = ""

    def holds(self, constants: Mapping[str, Any]) -> bool:
        """Whether no hypothesis fails (an undecided one does not fail)."""
        return all(answer is not False for answer in self.hypotheses(**constants).values())


def num(x: Any) -> mpf:
    """The number itself, without rounding for ints, floats and (to working precision) Fractions."""
    if isinstance(x, Fraction):
        return mpf(x.numerator) / mpf(x.denominator)
    if isinstance(x, np.generic):
        return mpf(x.item())
    return mpf(x)


def vec(x: Any) -> list[mpf]:
    """A sequence of numbers; a scalar is a sequence of one."""
    if isinstance(x, np.ndarray):
        return [num(v) for v in x.ravel().tolist()]
    return [num(v) for v in x] if isinstance(x, Sequence) else [num(x)]


def power(base: mpf, exponent: Any) -> mpf:
    """base^exponent for base >= 0, with 0^0 = 1 (an empty product)."""
    if exponent == 0:
        return mpf(1)
    return mpf(0) if base == 0 else mp.exp(num(exponent) * mp.log(base))


def mean_power(x: mpf, first: int, stop: int) -> mpf:
    """Mean of x^r over r = first, ..., stop - 1, for 0 <= x < 1."""
    return (power(x, first) - power(x, stop)) / ((1 - x) * (num(stop) - num(first)))


def over(numerator: Any, denominator: mpf) -> mpf:
    """numerator/denominator; infinite (a void condition on a step size) when the denominator is 0."""
    return INFINITY if denominator == 0 else num(numerator) / denominator


def log(x: mpf) -> mpf:
    """ln x with ln 0 = -infinity."""
    return -INFINITY if x == 0 else mp.log(x)


def rho(*, mu_F: Any, gamma_tilde: Any, **_: Any) -> mpf:
    """rho = 1 - mu_F gamma_tilde / 2 (Theorem 4.6)."""
    return 1 - num(mu_F) * num(gamma_tilde) / 2


def delta_0(*, m: Any, dist_0: Any, N_star_l1: Any, **_: Any) -> mpf:
    """delta_0 = (m - 1) ||N_0 - N*|| / ||N*||_1 (Lemma 4.3)."""
    return (num(m) - 1) * num(dist_0) / num(N_star_l1)


def q_rate(
    *, mu_F: Any = None, L_F: Any = None, gamma_tilde: Any = None, q_rate: Any = None, **_: Any
) -> mpf:
    """q = sqrt(1 - 2 mu_F g + L_F^2 g^2), or the rate that the caller knows."""
    if q_rate is not None:
        return num(q_rate)
    g = num(gamma_tilde)
    square = 1 - 2 * num(mu_F) * g + (num(L_F) * g) ** 2
    # mu_F <= L_F makes it a sum of squares; rounding of the working precision may leave -1e-51
    return mp.sqrt(max(square, mpf(0)))


def Delta_bar(*, m: Any, dist_0: Any, N_star_l1: Any, **_: Any) -> mpf:
    """Delta_bar = sqrt(m) ||N_0 - N*|| / ||N*||_1."""
    return mp.sqrt(num(m)) * num(dist_0) / num(N_star_l1)


def monotone_game(*, mu_F: Any, L_F: Any, **_: Any) -> dict[str, bool | None]:
    """Assumption 2.2(ii) as far as constants can tell."""
    return {"mu_F > 0": num(mu_F) > 0, "L_F >= mu_F": num(L_F) >= num(mu_F)}


def participation_step(*, mu_F: Any, L_F: Any, gamma_tilde: Any, **_: Any) -> dict[str, bool | None]:
    """0 < gamma_tilde <= mu_F / L_F^2, multiplied out so that no quotient is rounded."""
    g = num(gamma_tilde)
    return {
        **monotone_game(mu_F=mu_F, L_F=L_F),
        "gamma_tilde > 0": g > 0,
        "gamma_tilde <= mu_F/L_F^2": g * num(L_F) ** 2 <= num(mu_F),
    }


def sharp_participation_step(
    *, mu_F: Any = None, L_F: Any = None, gamma_tilde: Any = None, q_rate: Any = None, **_: Any
) -> dict[str, bool | None]:
    """0 < gamma_tilde < 2 mu_F / L_F^2, or a known rate in [0, 1)."""
    if q_rate is not None:
        return {"0 <= q_rate < 1": 0 <= num(q_rate) < 1}
    g = num(gamma_tilde)
    return {
        **monotone_game(mu_F=mu_F, L_F=L_F),
        "gamma_tilde > 0": g > 0,
        "gamma_tilde < 2 mu_F/L_F^2": g * num(L_F) ** 2 < 2 * num(mu_F),
    }


def delta_at(r: Any, /, **c: Any) -> mpf:
    """delta_r = delta_0 rho^r (Lemma 4.3)."""
    return delta_0(**c) * power(rho(**c), r)


def undecided(*names: str) -> dict[str, bool | None]:
    """Hypotheses on functions, which no list of constants can decide."""
    return dict.fromkeys(names)
