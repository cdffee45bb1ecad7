"""Reading an instance: a built-in name, or a TOML file."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

import bounds
from verify.errors import InputError
from verify.schema import Instance

_FOLDER = resources.files("verify") / "instances"


def builtin_instances() -> tuple[str, ...]:
    """The names of the built-in instances, in the order of a report."""
    names = sorted(f.name.removesuffix(".toml") for f in _FOLDER.iterdir() if f.name.endswith(".toml"))
    return tuple(names)


def load_instance(name_or_path: str) -> Instance:
    """The instance of a built-in name or of a TOML file.

    Raises:
        InputError: if there is no such instance, or the file cannot be read, parsed or understood.
    """
    if name_or_path in builtin_instances():
        return parse_instance((_FOLDER / f"{name_or_path}.toml").read_text("utf-8"), name_or_path)
    path = Path(name_or_path)
    if path.is_dir():
        raise InputError(f"--instance {path} is a directory: give a TOML file")
    if not path.exists():
        known = ", ".join(builtin_instances())
        raise InputError(f"--instance {path}: no such file or built-in instance (built in: {known})")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--instance {path} cannot be read as UTF-8 text: {error}") from None
    return parse_instance(text, str(path))


def parse_instance(text: str, where: str) -> Instance:
    """The instance that a TOML text describes (`where` names it in errors).

    Raises:
        InputError: naming the key, its value and what would be right.
    """
    if not text.strip():
        raise InputError(f"{where} is empty: give an instance in TOML (see examples/)")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where} is not TOML: {error}") from None
    try:
        instance = Instance.model_validate(table)
    except ValidationError as error:
        raise InputError(f"{where}: {_first(error)}") from None
    for statement in instance.check.statements:
        if statement not in bounds.ids():
            raise InputError(
                f"{where}: check.statements: {statement!r} is not a statement: give one of {', '.join(bounds.ids())}"
            )
    return instance


def _first(error: ValidationError) -> str:
    first, *others = error.errors()
    location = ""
    for part in first["loc"]:
        if isinstance(part, int):
            location += f"[{part}]"
        elif part not in _KINDS:
            location += f".{part}" if location else str(part)
    message = first["msg"].removeprefix("Value error, ")
    value = first.get("input")
    shown = f" = {value!r}" if isinstance(value, str | int | float | bool) else ""
    more = f" (and {len(others)} more)" if others else ""
    return f"{location}{shown}: {message}{more}" if location else f"{message}{more}"


# Discriminators and union branches that pydantic adds to a key's path.
_KINDS = frozenset(
    {"softmax", "quadratics", "affine", "discovery", "list[constrained-float]", "float", "constrained-float"}
)
