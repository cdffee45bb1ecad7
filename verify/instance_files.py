"""Which instances there are, and their texts: built-in names and TOML files."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from verify.errors import InputError

_FOLDER = resources.files("verify") / "instances"


def builtin_names() -> tuple[str, ...]:
    """The names of the built-in instances, in the order of a report."""
    return tuple(sorted(f.name.removesuffix(".toml") for f in _FOLDER.iterdir() if f.name.endswith(".toml")))


def read_instance(name_or_path: str) -> str:
    """The text of a built-in instance or of a file.

    Raises:
        InputError: if there is no such instance, or the file cannot be read.
    """
    if name_or_path in builtin_names():
        return (_FOLDER / f"{name_or_path}.toml").read_text("utf-8")
    path = Path(name_or_path)
    try:
        if not name_or_path.strip():
            raise InputError(f"--instance {name_or_path!r}: give a built-in name or a TOML file")
        if path.is_dir():
            raise InputError(f"--instance {path} is a directory: give a TOML file")
        if not path.exists():
            known = ", ".join(builtin_names())
            raise InputError(f"--instance {path}: no such file or built-in instance (built in: {known})")
        return path.read_text("utf-8-sig")  # some editors put a byte order mark first
    except InputError:
        raise
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path with a null byte
        raise InputError(f"--instance {name_or_path!r} cannot be read as UTF-8 text: {error}") from None


def table_of(text: str, where: str) -> dict[str, Any]:
    """A TOML text as a table (`where` names it in errors).

    Raises:
        InputError: if it is empty, or not TOML.
    """
    if not text.strip():
        raise InputError(f"{where} is empty: give an instance in TOML (see examples/)")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{where} is not TOML: {error}") from None
