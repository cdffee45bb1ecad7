"""The constants of an instance that a plan needs: free of the instance's own step sizes and number of rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from bounds import Constant
from verify.errors import InputError
from verify.planner.given import safe_end
from verify.schema import Instance
from verify.setup import Setup, build

_FIRST_PATH = 1_000
_MOST_PATH = 200_000  # rounds of the game followed for the weights' maxima
_NEGLIGIBLE = 1e-12  # what the weights may still move after them, relative to one
_CHOSEN = ("R", "r_hat", "gamma", "gamma_tilde", "H")
_OF_THE_PATH = ("kappa", "s", "sigma_sq", "omega")


@dataclass(frozen=True, eq=False)
class Known:
    """An instance's constants, and the setup that they come from.

    Attributes:
        notes: what the caller should know of how the weights' maxima were bounded.
    """

    setup: Setup
    constants: dict[str, Constant]
    notes: tuple[str, ...]


def constants_of(instance: Instance) -> Known:
    """As `_constants_of`, kept: an instance takes seconds to solve and certify."""
    return _constants_of(instance.model_dump_json())


@lru_cache(maxsize=8)
def _constants_of(text: str) -> Known:
    """Everything that a plan needs of an instance.

    kappa, s, sigma_sq and omega are the maxima over all rounds of the game's own trajectory with the best
    gamma_tilde: over the first rounds as followed, and over the others because the weights hardly move any more.

    Raises:
        InputError: if the instance is bad, or its game neither strongly monotone nor regularised.
    """
    instance = Instance.model_validate_json(text)
    setup = _built(instance, _FIRST_PATH)
    if setup.regularised:
        return Known(setup, _of_the_game(setup), ("the schedules are the plan's to choose",))
    needed = _rounds_needed(setup)
    followed = needed <= _MOST_PATH
    if _FIRST_PATH < needed <= _MOST_PATH:
        setup = _built(instance, needed)
    m = int(setup.game.m)
    constants = dict(setup.shared)
    for name in _CHOSEN:
        constants.pop(name, None)
    constants |= _starts(constants)
    if not followed:
        for name in _OF_THE_PATH:
            constants.pop(name, None)
        return Known(
            setup, constants, (f"the game takes over {_MOST_PATH} rounds: kappa = m, s = 1, and so on",)
        )
    return Known(setup, constants | _beyond(constants, m), ())


def _of_the_game(setup: Setup) -> dict[str, Constant]:
    """What does not depend on the regularised run's own schedules and path."""
    left_out = {*_CHOSEN, *_OF_THE_PATH, "gamma_tilde_0", "a", "lambda_0", "b", "d_sequence"}
    constants = {name: c for name, c in setup.shared.items() if name not in left_out}
    return constants | _starts(constants)


def _rounds_needed(setup: Setup) -> int:
    """After so many rounds Lemma 4.3 lets no weight move by more than `_NEGLIGIBLE`.

    Raises:
        InputError: if F is not proved strongly monotone, or N* not known.
    """
    shared, m = setup.shared, int(setup.game.m)
    mu = shared.get("mu_F")
    if mu is None or not float(np.asarray(mu.value)) > 0 or "dist_0" not in shared:
        raise InputError(
            f"{setup.instance.name}: game: a plan needs a strongly monotone F with a proven equilibrium"
        )
    mu_F, L_F, distance, total = (
        float(safe_end(n, shared[n])) for n in ("mu_F", "L_F", "dist_0", "N_star_l1")
    )
    rate = -math.log1p(-(mu_F**2) / L_F**2 / 2 * (1 - 1e-9))
    return math.ceil(math.log(max(distance * 4 * m / (total * _NEGLIGIBLE), 1.0)) / rate) + 1


def _built(instance: Instance, rounds: int) -> Setup:
    """The instance with r_hat = 0 and a number of rounds of the game; its step size plays no part here."""
    choices = {"gamma": 1e-12, "gamma_tilde": "largest", "r_hat": 0, "R": rounds, "closed_form": False}
    checks = {"statements": ["Theorem 4.6(i-2)"], "editions": ["corrected"]}
    return build(
        instance.model_copy(
            update={
                "algorithm": instance.algorithm.model_copy(update=choices),
                "check": instance.check.model_copy(update=checks),
            }
        )
    )


def _starts(constants: dict[str, Constant]) -> dict[str, Constant]:
    """f_gap and D_r_hat at round 0 are what the a-priori bounds start from."""
    found: dict[str, Constant] = {}
    gap, distance = constants.pop("f_gap", None), constants.pop("D_r_hat", None)
    if gap is not None:
        found["f_gap_0"] = replace(gap, name="f_gap_0")
    if distance is not None:
        reach = float(np.nextafter(float(distance.value) + float(distance.radius), np.inf))
        X_0 = float(np.nextafter(reach**2, np.inf))
        found["X_0"] = Constant("X_0", X_0, distance.provenance, note="||x_0 - x*||^2")
    return found


def _beyond(constants: dict[str, Constant], m: int) -> dict[str, Constant]:
    """The weights' maxima over all rounds: after the followed ones no weight moves by more than `_NEGLIGIBLE`."""
    least = float(np.min(np.asarray(constants["p_star"].value)))
    slack = {
        "kappa": m * _NEGLIGIBLE,
        "s": 3 * m * _NEGLIGIBLE,
        "sigma_sq": float(safe_end("S", constants["S"])) * _NEGLIGIBLE if "S" in constants else 0.0,
        "omega": 2 * _NEGLIGIBLE / least,
    }
    caps = {"kappa": float(m), "s": 1.0}
    return {
        name: replace(
            c, value=min(float(c.value) + slack[name], caps.get(name, math.inf)), note=f"{c.note}, all r"
        )
        for name, c in constants.items()
        if name in slack
    }


def require_unbiased(instance: Instance) -> None:
    """The theorems assume unbiased gradients.

    Raises:
        InputError: for Algorithm 1's random subsets.
    """
    if instance.algorithm.sampling == "subset":
        raise InputError(
            f"{instance.name}: algorithm.sampling = 'subset': the theorems are stated for 'iid' or 'full': give one"
        )
