"""What a sweep writes into its folder."""

from __future__ import annotations

from pathlib import Path

from verify.errors import InputError

MARKER = "sweep.json"  # says what is swept, and that the folder is a sweep's
PAGE, CACHE, WORST = "sweep.html", "cache", "worst"


def check_folder(out: Path) -> None:
    """Refuse a folder that holds something else, before any work.

    Raises:
        InputError: if `out` is a file, or a folder with other files in it.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: give a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise InputError(f"--out {out} holds other files: give a new folder, or one of an earlier sweep")
