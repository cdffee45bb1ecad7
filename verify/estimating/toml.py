"""Constants as TOML: one table a constant, readable by `tomllib` and by people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bounds.core.constant import Constant

MANY = 64  # longer arrays are named by their length, least and largest entry


@runtime_checkable
class Outcome(Protocol):
    """What an attack came to."""

    @property
    def found(self) -> float: ...
    @property
    def beaten(self) -> bool: ...


def written(constants: Mapping[str, Constant], attacks: Mapping[str, Outcome], command: str) -> str:
    """`[constants.NAME]` with value, provenance, radius (where not 0) and note; `attack` where one was made."""
    lines = [f"# {' '.join(command.split())}"]
    for name, c in constants.items():
        lines += ["", f"[constants.{name}]", *_entry("value", c.value)]
        if isinstance(c.value, Fraction):
            lines.append(f'exact = "{c.value}"')
        if np.any(np.asarray(c.radius, dtype=float) != 0):
            lines += _entry("radius", c.radius)
        lines.append(f'provenance = "{c.provenance}"')
        if c.note:
            lines.append(f"note = {json.dumps(c.note)}")
        point = getattr(c, "point", {})
        lines += [line for key, at in point.items() for line in _entry(f"at_{key}", at)]
        if name in attacks:
            lines.append(f"attack = {_number(attacks[name].found)}")
            lines.append(f"beaten = {str(attacks[name].beaten).lower()}")
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Any) -> list[str]:
    array = np.asarray(float(value) if isinstance(value, Fraction) else value)
    if array.ndim == 0:
        return [f"{key} = {_number(array.item())}"]
    if array.size > MANY:
        size, low, high = array.size, _number(float(array.min())), _number(float(array.max()))
        return [f"{key}_length = {size}", f"{key}_least = {low}", f"{key}_largest = {high}"]
    return [f"{key} = {_nested(array.tolist())}"]


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_nested(v) for v in value)}]"
    return _number(value)


def _number(value: float | int | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)  # inf and nan are TOML's words as well
