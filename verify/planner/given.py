"""What the caller knows, as numbers that a guarantee may use: each constant at the safe end of its enclosure.

Every constant of these theorems is one-sided: a larger L is a smoothness constant too, a smaller mu_F a monotonicity
constant too, and the bounds only grow. So a value with a radius enters at its safe end, rounded outwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import bounds
from bounds import Constant, Provenance, Statement, raw
from verify.errors import InputError
from verify.planner.errors import NoPlan

LOWER = frozenset({"mu_F", "N_star_l1", "p_star_min", "sigma_h"})  # a smaller value is weaker
_VECTORS = frozenset({"p_star", "f_i_star", "d_sequence", "x_star"})
_PAIR = ("m", "L", "f_star", "p_star", "f_i_star")
CHOSEN = ("gamma", "gamma_tilde", "r_hat", "R", "T", "r", "epsilon")


@dataclass(frozen=True)
class Given:
    """The constants of a plan: as the caller knows them, and the number used for each."""

    known: Mapping[str, Constant]
    used: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Name to value, radius, provenance, note and the number used."""
        return {
            name: {**constant.to_json(), "used": number(self.used[name])}
            for name, constant in self.known.items()
            if name in self.used
        }


def number(value: Any) -> Any:
    """A number that JSON carries exactly: a list for a vector, "p/q" for a fraction."""
    if isinstance(value, Fraction):
        return str(value) if value.denominator != 1 else value.numerator
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def safe_end(name: str, constant: Constant) -> Any:
    """The end of value +- radius that is safe to use, rounded outwards."""
    value, radius = constant.value, constant.radius
    if not np.any(radius):
        return _exact(value)
    side = -1 if name in LOWER else 1
    ends = np.asarray(value, dtype=float) + side * np.asarray(radius, dtype=float)
    ends = np.nextafter(ends, side * np.inf)
    return float(ends) if ends.ndim == 0 else ends


def _exact(value: Any) -> Any:
    if isinstance(value, bool | int | Fraction):
        return value
    array = np.asarray(value, dtype=float)
    return float(array) if array.ndim == 0 else array


def collect(constants: Mapping[str, Any]) -> dict[str, Constant]:
    """The caller's constants as `Constant`s, each in its domain.

    Raises:
        InputError: naming the key, its value and what would be right.
    """
    found: dict[str, Constant] = {}
    for name, value in constants.items():
        if name not in bounds.SYMBOLS:
            if isinstance(value, Constant):
                continue  # an instance knows more than the statements ask for
            raise InputError(f"{name}: no such constant: give one of {', '.join(bounds.SYMBOLS)}")
        try:
            constant = value if isinstance(value, Constant) else Constant(name, raw(value))
            domain = bounds.SYMBOLS[name].domain
            domain.require(name, np.asarray(constant.value, dtype=float))
            numbers = np.asarray(constant.value, dtype=float)
            if name not in _VECTORS and numbers.ndim:
                raise InputError(f"{name} has {numbers.size} entries: a plan needs one number")
            if not np.all(np.isfinite(numbers)):
                raise InputError(f"{name} = {constant.value}: give a finite number")
        except (TypeError, OverflowError) as error:
            raise InputError(f"{name} = {value!r}: give a number ({error})") from None
        except bounds.DomainError as error:
            raise InputError(str(error)) from None
        except ValueError as error:
            raise InputError(str(error)) from None
        found[name] = constant
    return found


def given_for(statement: Statement, constants: Mapping[str, Constant], H: int | None) -> Given:
    """The numbers that one edition of a theorem is planned with.

    G and B are Lemma 6.5's pair of the edition where Theorem 4.9 asks for it and the constants give its bases.
    kappa, s, sigma_sq and omega that are not given are bounded by m, 1, S and 1/p_star_min.

    Raises:
        InputError: for a missing H.
        NoPlan: if the printed pair does not exist here.
    """
    known = {n: c for n, c in constants.items() if n not in CHOSEN}
    if H is not None:
        known["H"] = Constant("H", H, Provenance.GIVEN, note="the plan's choice")
    if "H" not in known and "H" in statement.symbols:
        raise InputError("H is missing (local steps a round): give H")
    if statement.id.startswith("Theorem 4.9") and {"G", "B"} & set(statement.symbols):
        known |= _pair(statement, known)
    known |= _defaults(statement, known)
    return Given(
        known, {n: safe_end(n, c) for n, c in known.items() if n not in _VECTORS or n == "d_sequence"}
    )


def _pair(statement: Statement, known: Mapping[str, Constant]) -> dict[str, Constant]:
    if not all(n in known for n in _PAIR):
        return {}
    try:
        return bounds.lemma_6_5_pair(known, statement.edition)
    except bounds.HypothesisFails as error:
        raise NoPlan(str(error), "the corrected pair of Lemma 6.5 needs no sign of the losses") from None


def _defaults(statement: Statement, known: Mapping[str, Constant]) -> dict[str, Constant]:
    """Bounds that always hold, for the weights' constants that the caller does not know."""
    found: dict[str, Constant] = {}

    def put(name: str, value: Any, note: str, strength: Provenance) -> None:
        if name not in known:
            found[name] = Constant(name, value, strength, note=note)

    if "m" in known:
        put("kappa", known["m"].value, "at most m", Provenance.EXACT)
    put("s", 1, "at most 1", Provenance.EXACT)
    if "S" in known:
        put("sigma_sq", safe_end("S", known["S"]), "at most S", known["S"].provenance)
    least = known.get("p_star_min")
    if least is None and "p_star" in known:
        weights = known["p_star"]
        low = float(np.min(np.asarray(weights.value) - np.asarray(weights.radius)))
        least = Constant("p_star_min", float(np.nextafter(low, 0)), weights.provenance)
    if least is not None:
        inverse = 1.0 / float(safe_end("p_star_min", least))
        put("omega", float(np.nextafter(inverse, np.inf)), "at most 1/min_i p*_i", least.provenance)
    return found


def participation_step(given: Given, insisted: float | None) -> tuple[float, Any]:
    """(float, ideal): the best participation step size mu_F/L_F^2, as a float that is allowed and exactly."""
    if insisted is not None:
        return insisted, insisted
    mu_F, L_F = given.used["mu_F"], given.used["L_F"]
    if not mu_F > 0:
        raise NoPlan("mu_F = 0: F is not strongly monotone", "plan with Theorem 4.10 or Lemma 4.4")
    ideal = Fraction(mu_F) / Fraction(L_F) ** 2
    step = float(ideal)
    while Fraction(step) > ideal:
        step = math.nextafter(step, 0.0)
    return step, ideal
