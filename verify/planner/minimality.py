"""`--check`, second part: that one round less is not enough, proved again from the recorded constants.

The first part (`recheck`) shares nothing with the search. Minimality is a claim about every step size and warm-up, and
its proof is the search's own cover in balls, run anew on what the certificate records; for Lemma 4.3, Lemma 4.4 and
Theorem 4.10 it is one evaluation at R - 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import arb

import bounds
from bounds import Constant
from verify.planner.asking import request
from verify.planner.enclosures import CHECK_BITS
from verify.planner.given import safe_end
from verify.planner.goals import GOALS
from verify.planner.limit import above, remaining
from verify.planner.making import make_search
from verify.planner.names import named
from verify.planner.recheck import constant_from
from verify.planner.regularised import Pair


def minimality(data: Mapping[str, Any]) -> bool | None:
    """Is R - 1 proved not to be enough? None where the certificate does not claim it (R given, or beyond floats).

    Args:
        data: a certificate that `recheck` has passed.
    """
    R, claim = data["choice"]["R"], data["minimal"]
    if claim["proved"] is not True:
        return None
    if claim["infeasible_R"] != R - 1:
        return False
    known = {n: constant_from(n, c) for n, c in data["constants"].items()}
    theorem = named(data["theorem"])
    if theorem in GOALS:
        return _of_goal(data, known, R - 1)
    used = {n: safe_end(n, c) for n, c in known.items()}
    return {"Lemma 4.3": _of_distance, "Lemma 4.4": _of_schedule, "4.10": _of_limit}[theorem](
        data, used, R - 1
    )


def _of_goal(data: Mapping[str, Any], known: Mapping[str, Constant], R: int) -> bool:
    targets = data["targets"]
    if R == 0:
        return True
    asked = request(
        {n: c for n, c in known.items() if n != "H"},
        targets["epsilon"],
        data["theorem"],
        data["edition"],
        H=data["choice"]["H"],
        epsilon_ne=targets["epsilon_ne"],
        **data["insisted"],
    )
    return make_search(asked, data["start"]["mode"]).decide(R).feasible is False


def _of_distance(data: Mapping[str, Any], used: Mapping[str, Any], R: int) -> bool:
    """Lemma 4.3: the exact best step size, or the one that was insisted on, at R rounds."""
    step = data["insisted"].get("gamma_tilde", Fraction(used["mu_F"]) / Fraction(used["L_F"]) ** 2)
    statement = bounds.get("Lemma 4.3(i)", data["edition"])
    at = {**used, "gamma_tilde": step, "r": R}
    return R < 0 or bool(statement.enclose(at, CHECK_BITS, unchecked=True) > arb(data["targets"]["epsilon"]))


def _of_schedule(data: Mapping[str, Any], used: Mapping[str, Any], R: int) -> bool:
    """Lemma 4.4: for the recorded exponents no (gamma_tilde_0, lambda_0) does."""
    choice, targets = data["choice"], data["targets"]
    pair = Pair(data["edition"], used, targets["epsilon"], targets["epsilon_gap"])
    guess = (math.log(choice["gamma_tilde_0"]), math.log(choice["lambda_0"]))
    point = pair.best(R, choice["a"], choice["b"], guess)[1:] if R else guess
    return R == 0 or pair.impossible(R, choice["a"], choice["b"], point)


def _of_limit(data: Mapping[str, Any], used: Mapping[str, Any], R: int) -> bool:
    """Theorem 4.10: what remains after R rounds, if there are any, is above the tolerance."""
    choice = data["choice"]
    at = {**used, "a": choice["a"], "b": choice["b"], "epsilon": data["targets"]["epsilon"]}
    if choice["r_hat"] >= R:
        return True
    left = remaining(data["edition"], at, choice["gamma"], choice["r_hat"], R)
    return above(left, data["targets"]["tolerance"])
