"""What the numbers depend on besides an instance: this code, and the libraries that it calls."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import import_module, resources
from importlib.metadata import version
from importlib.resources.abc import Traversable

_ROOMS = ("bounds", "games", "simulate", "verify")
_LIBRARIES = ("numpy", "scipy", "sympy", "python-flint", "scikit-learn", "pydantic")
_CONTENT = (".py", ".json", ".toml", ".npz")


@cache
def engine_version() -> str:
    """A hash of the four rooms' code and data and of the libraries' versions: any change gives another one."""
    found = hashlib.sha256()
    for room in _ROOMS:
        for name, file in sorted(_files(resources.files(import_module(room)), room)):
            found.update(name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    for library in _LIBRARIES:
        found.update(f"{library} {version(library)}\n".encode())
    return found.hexdigest()[:32]


def _files(folder: Traversable, name: str) -> list[tuple[str, Traversable]]:
    files: list[tuple[str, Traversable]] = []
    for entry in folder.iterdir():
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            files += _files(entry, path)
        elif entry.name.endswith(_CONTENT):
            files.append((path, entry))
    return files
