"""Output folders that are complete or absent: written beside, then renamed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from verify.errors import InputError

MARKER = "report.json"


def check_writable(out: Path) -> None:
    """Refuse, before any work, a folder that could not be written in the end.

    Raises:
        InputError: if `out` is a file, is a folder that holds something other than an earlier report, or its
            parent does not exist or cannot be written to.
    """
    try:
        _check(out)
    except OSError as error:  # a name that is too long
        raise InputError(f"--out {str(out)[:60]}: {error.strerror}: give another folder") from None


def _check(out: Path) -> None:
    if out.exists():
        if not out.is_dir():
            raise InputError(f"--out {out} is a file: give a folder")
        if any(out.iterdir()) and not (out / MARKER).is_file():
            raise InputError(
                f"--out {out} holds other files: give a new folder, or an earlier report to replace"
            )
    parent = out.absolute().parent
    if not parent.is_dir():
        raise InputError(f"--out {out}: {parent} is not a folder: create it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"--out {out}: {parent} cannot be written to: give a folder of your own")


def check_file(option: str, path: Path) -> None:
    """Refuse, before any work, a file that could not be written in the end.

    Raises:
        InputError: naming the option, if the path is a folder, or its folder is missing or cannot be written to.
    """
    folder = path.absolute().parent
    try:
        if path.is_dir():
            raise InputError(f"{option} {path} is a folder: give a file")
        if not folder.is_dir():
            raise InputError(f"{option} {path}: {folder} is not a folder: create it first")
    except OSError as error:  # a name that is too long
        raise InputError(f"{option} {str(path)[:60]}: {error.strerror}: give another file") from None
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"{option} {path} cannot be written: give a file of your own")


def write_file(option: str, path: Path, content: str | bytes) -> None:
    """Write a file that a command was asked for.

    Raises:
        InputError: naming the option, if it cannot be written.
    """
    try:
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    except OSError as error:
        raise InputError(f"{option} {str(path)[:200]} cannot be written: {error.strerror}") from None


@contextmanager
def fresh_folder(out: Path) -> Iterator[Path]:
    """A temporary folder beside `out` that takes its place when the block ends, and vanishes if it fails.

    Raises:
        InputError: if the folder cannot be created or put in place.
    """
    out = out.absolute()
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise InputError(f"--out {out} cannot be written: {error.strerror}") from None
    try:
        work.chmod(0o755)
        yield work
        if out.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.parent))
            os.replace(out, old / out.name)
            os.replace(work, out)
            shutil.rmtree(old)
        else:
            os.replace(work, out)
    except OSError as error:
        raise InputError(f"--out {out} cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
