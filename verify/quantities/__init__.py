"""From a quantity's name to what a run shows of it: the only place that reads a run's variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import xarray as xr

from verify.observed import Observation, Unobserved
from verify.quantities import expectations, iterates, participation, rounds, selection
from verify.setting import Setting

Observe = Callable[[Any, xr.Dataset], Observation]


def _averaged(name: str, observe: Callable[[Any, xr.Dataset, str], Observation]) -> dict[str, Observe]:
    """The quantity `name` with the weights of each average."""

    def bound_to(average: str) -> Observe:
        return lambda setup, run: observe(setup, run, average)

    return {f"{name}@{average}": bound_to(average) for average in ("p_now", "p_next")}


OBSERVED: Mapping[str, Observe] = MappingProxyType(
    {
        "ne_distance": participation.ne_distance,
        "weight_error": participation.weight_error,
        "weight_error_now": participation.weight_error_now,
        "ne_infeasibility": participation.ne_infeasibility,
        "participation_next": participation.participation_next,
        "discount": participation.discount,
        "welfare_gap": selection.welfare_gap,
        "dual_gap": selection.dual_gap,
        "averaged_participation_limit": selection.averaged_distance,
        "f_gap_start": expectations.start_gap,
        "x_dist_sq_start": expectations.start_distance,
        "gradient_lipschitz": iterates.gradient_lipschitz,
        "local_gradient_mean_sq": iterates.local_gradient_mean_sq,
        "recursion_term": iterates.recursion_term,
        **_averaged("grad_f_sq", expectations.squared_gradient),
        **_averaged("f_gap_avg", expectations.average_gap),
        **_averaged("consensus_error_sum", expectations.consensus_sum),
        **_averaged("consensus_error", rounds.consensus_error),
        **_averaged("consensus_error_round", rounds.consensus_round),
        "consensus_error_round_all@p_next": rounds.consensus_round_all,
        **_averaged("mean_iterate_next", iterates.mean_iterate_next),
        **_averaged("aggregate", iterates.aggregate),
        **_averaged("weighted_inner", iterates.weighted_inner),
        **_averaged("descent_inner", iterates.descent_inner),
        **_averaged("g_bar_sq", iterates.g_bar_sq),
        **_averaged("convex_inner", iterates.convex_inner),
        **_averaged("x_dist_sq_next", iterates.x_dist_sq_next),
    }
)


# What a variable is called in a file that another implementation wrote.
_IN_FILES = {"f": "loss"}
_UNNAMED = re.compile(r"No variable named '([^']+)'")  # xarray's KeyError is a sentence


def observe(name: str, setup: Setting, run: xr.Dataset) -> Observation:
    """What `run` shows of the quantity `name`.

    Raises:
        Unobserved: if the quantity is not one that a run shows, or the run lacks what it needs.
    """
    if name not in OBSERVED:
        raise Unobserved(f"{name} is not something that a run shows")
    try:
        return OBSERVED[name](setup, run)
    except KeyError as error:
        said = str(error.args[0])
        found = _UNNAMED.search(said)
        missing = found[1] if found else said
        missing = _IN_FILES.get(missing, missing)
        raise Unobserved(f"neither the run nor the instance has '{missing}', which {name} needs") from None
