"""Reading an instance: a built-in name, or a TOML file."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

import bounds
from verify.errors import InputError
from verify.instance_files import builtin_names, read_instance, table_of
from verify.schema import Instance
from verify.schema.code import PREFIX

MOST_SHOWN = 60


def builtin_instances(profile: str | None = None) -> tuple[str, ...]:
    """The names of the built-in instances, in the order of a report; `profile`: those of one profile."""
    names = builtin_names()
    if profile is None:
        return names
    return tuple(n for n in names if load_instance(n).report.profile == profile)


def load_instance(name_or_path: str, *, allow_code: bool = False) -> Instance:
    """The instance of a built-in name or of a TOML file.

    Args:
        allow_code: whether the file may name a user's own Python class (kind = "python:module.attribute").

    Raises:
        InputError: if there is no such instance, or the file cannot be read, parsed or understood.
    """
    return parse_instance(read_instance(name_or_path), str(Path(name_or_path)), allow_code=allow_code)


def parse_instance(text: str, where: str, *, allow_code: bool = False) -> Instance:
    """The instance that a TOML text describes (`where` names it in errors).

    Raises:
        InputError: naming the key, its value and what would be right.
    """
    table = table_of(text, where)
    try:
        instance = Instance.model_validate(table)
    except ValidationError as error:
        raise InputError(f"{where}: {_first(error)}") from None
    for statement in instance.check.statements:
        if statement not in bounds.ids():
            raise InputError(
                f"{where}: check.statements: {_shown(statement)} is not a statement: "
                f"give one of {', '.join(bounds.ids())}"
            )
    for key, kind in (("problem", instance.problem.kind), ("game", instance.game.kind)):
        if kind.startswith(PREFIX) and not allow_code:
            raise InputError(f"{where}: {key}.kind = {kind!r} runs your own code: allow it with --allow-code")
    return instance


def _shown(value: object) -> str:
    """A value as it is written, shortened."""
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _first(error: ValidationError) -> str:
    # an unknown key first: a misspelt one also leaves the right one missing
    first, *others = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    location = ""
    for place, part in enumerate(first["loc"]):
        if isinstance(part, int):
            location += f"[{part}]"
        elif not (place == 1 and first["loc"][0] in _TABLES) and part not in _BRANCHES and "[" not in part:
            location += f".{part}" if location else str(part)
    message = first["msg"].removeprefix("Value error, ")
    context = first.get("ctx", {})
    if first["type"] == "union_tag_invalid":
        key = str(context["discriminator"]).strip("'").replace("kind_of()", "kind")
        wanted = str(context["expected_tags"]).replace("'", "").replace("python", "python:module.attribute")
        return f"{location}.{key} = {context['tag']!r}: give one of {wanted}"
    if first["type"] == "union_tag_not_found":
        key = str(context["discriminator"]).strip("'").replace("kind_of()", "kind")
        return f"{location}: {key} is missing: say which {key} it is"
    if first["type"] in _LIMITS:
        key, words = _LIMITS[first["type"]]
        message = f"give {words} {_limit(context[key])}"
    message = PLAINLY.get(first["type"], message)
    if first["type"] in _KINDS:
        message = f"give {_KINDS[first['type']]}"
    if first["type"] == "literal_error":
        message = f"give {context['expected']}"
    if first["type"] == "string_pattern_mismatch" and location in _IN_WORDS:
        message = f"give {_IN_WORDS[location]}"
    named = [e for e in others if e["type"] == "literal_error" and e["loc"][:-1] == first["loc"][:-1]]
    if named and isinstance(first["input"], str) and first["type"] in _KINDS:
        kinds = [_KINDS[e["type"]] for e in (first, *others) if e["type"] in _KINDS]
        *listed, last = (named[0]["ctx"]["expected"].replace(" or ", ", "), *kinds)
        message = f"give {', '.join(listed)} or {last}"
        others = [e for e in others if e["loc"][: len(first["loc"]) - 1] != first["loc"][:-1]]
    value = first.get("input")
    shown = f" = {_shown(value)}" if isinstance(value, str | int | float | bool) else ""
    more = f" (and {len(others)} more)" if others else ""
    return f"{location}{shown}: {message}{more}" if location else f"{message}{more}"


def _limit(value: float | int) -> str:
    """In the field's notation: pydantic writes 1e-100 with its hundred zeros."""
    return str(value) if isinstance(value, int) else f"{value:g}"


_KINDS = {"float_type": "a number", "int_type": "an integer", "list_type": "a list", "model_type": "a table"}
PLAINLY = {
    "extra_forbidden": "no such key: leave it out, or correct it",
    "missing": "it is missing: give it",
    "finite_number": "give a finite number",
}
_LIMITS = {"greater_than_equal": ("ge", "at least"), "less_than_equal": ("le", "at most")}
# What pydantic adds to a key's path: the kind of a table (always in second place), and a union's branches.
_TABLES = frozenset({"data", "problem", "game", "welfare"})
_IN_WORDS = {"name": "letters, digits and . _ -, a letter or digit first, at most 60 of them"}  # for patterns
_BRANCHES = frozenset({"float", "int", "str", "constrained-float", "constrained-int", "RandomStart"})
