"""Broken instance files of every kind: each ends in an instance that builds, or in one line; never another error."""

import copy
import json
import math
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from verify.errors import InputError
from verify.instance import builtin_instances, parse_instance
from verify.setup import build

ROOT = Path(__file__).resolve().parents[3]
LONGEST = 2_000  # characters of an error
SMALL_ENOUGH = {"R": 200, "H": 50}  # a fuzzed file may ask for more than a test has time for


def texts() -> list[str]:
    files = sorted((ROOT / "examples").glob("*.toml"))
    inside = resources.files("verify") / "instances"
    built_in = [(inside / f"{name}.toml").read_text("utf-8") for name in builtin_instances()]
    return [f.read_text("utf-8") for f in files] + built_in


SOURCES = [tomllib.loads(text) for text in texts()]

NUMBERS = st.sampled_from(
    [math.nan, math.inf, -math.inf, -1.0, 0.0, -0.0, 5e-324, 1e-100, 1e100, 1e101, 1e308, 0.5, 3.0, 1e6]
)
INTEGERS = st.sampled_from([-1, 0, 1, 2, 7, 10**6, 10**9, 2**63, 10**400])
VALUES = st.one_of(
    NUMBERS,
    INTEGERS,
    st.booleans(),
    st.sampled_from(["", "largest", "smallest", "sizes", "full", "python:os.system", "é\u0000x", "1.0"]),
    st.lists(st.one_of(NUMBERS, INTEGERS), max_size=4),
    st.lists(st.lists(NUMBERS, max_size=3), max_size=3),
    st.just({}),
    st.just({"seed": 1, "scale": -1.0}),
)


def paths(table: Any, at: tuple = ()) -> list[tuple]:
    """Every place of a table, inner ones included."""
    inner = table.items() if isinstance(table, dict) else enumerate(table) if isinstance(table, list) else ()
    return [at, *(p for key, value in inner for p in paths(value, (*at, key)))]


def holder(table: Any, path: tuple) -> Any:
    for key in path[:-1]:
        table = table[key]
    return table


@st.composite
def broken(draw: st.DrawFn) -> dict[str, Any]:
    """A valid file with one to three places changed."""
    table = copy.deepcopy(draw(st.sampled_from(SOURCES)))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(paths(table)[1:]))
        inside, key = holder(table, path), path[-1]
        how = draw(st.sampled_from(["value", "number", "drop", "rename", "repeat", "scale", "swap"]))
        value = inside[key]
        if how == "drop":
            del inside[key]
        elif how == "rename" and isinstance(inside, dict):
            inside[f"{key}_"] = inside.pop(key)
        elif how == "repeat" and isinstance(inside, list):
            inside.append(copy.deepcopy(value))
        elif how == "scale" and isinstance(value, float):
            inside[key] = value * draw(st.sampled_from([-1.0, 1e-12, 1e3, 1e30, 1e60]))
        elif how == "swap":
            other = draw(st.sampled_from(SOURCES))
            if path[0] in other:
                table[path[0]] = copy.deepcopy(other[path[0]])
        elif how == "number":
            inside[key] = draw(st.one_of(NUMBERS, INTEGERS))
        else:
            inside[key] = copy.deepcopy(draw(VALUES))  # a drawn value may be changed by the next step
        if not table:
            break
    return table


def written(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(str(k))} = {written(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value).replace("\\ud", "\\\\ud")
    return repr(value)


def one_line_or_an_instance(text: str) -> None:
    try:
        instance = parse_instance(text, "fuzzed")
        limits = {k: min(getattr(instance.algorithm, k), most) for k, most in SMALL_ENOUGH.items()}
        r_hat = instance.algorithm.r_hat
        if isinstance(r_hat, int):
            limits["r_hat"] = min(r_hat, limits["R"] - 1)
        build(
            instance.model_copy(update={"algorithm": instance.algorithm.model_copy(update=limits)}), seeds=1
        )
    except InputError as error:
        message = " ".join(str(error).split())
        assert message
        assert len(message) <= LONGEST, message


SLOW = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@settings(SLOW, max_examples=24)
@given(broken())
def test_a_changed_file_builds_or_says_what_is_wrong(table: dict[str, Any]) -> None:
    one_line_or_an_instance("\n".join(f"{json.dumps(str(k))} = {written(v)}" for k, v in table.items()))


@settings(SLOW, max_examples=6)
@given(st.binary(max_size=300), st.integers(0, len(SOURCES) - 1), st.floats(0, 1))
@example(b"[[[[[[[[[[" * 30, 0, 0.0)
def test_bytes_in_a_file_are_refused_or_read(noise: bytes, which: int, where: float) -> None:
    text = texts()[which]
    cut = int(where * len(text))
    one_line_or_an_instance(text[:cut] + noise.decode("utf-8", "replace") + text[cut:])


@pytest.mark.slow
@settings(SLOW, max_examples=200, derandomize=False)
@given(broken())
def test_two_hundred_changed_files(table: dict[str, Any]) -> None:
    one_line_or_an_instance("\n".join(f"{json.dumps(str(k))} = {written(v)}" for k, v in table.items()))
