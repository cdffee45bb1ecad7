"""`python -m verify.experiments [5.1|5.2|5.3] [--data DIR] [--out DIR] [--seed K] [--quick]`: run Section 5.

Writes each figure as PNG and SVG with its numbers beside it as CSV, and what was found as experiments.json and as text.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from verify.errors import InputError, Parser, run_command
from verify.experiments import MARKER, SECTIONS


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = Parser(
        prog="python -m verify.experiments", description="Runs the paper's Section 5, or one of its experiments."
    )  # fmt: skip
    p.add_argument("section", nargs="?", choices=SECTIONS, help="default: all three")
    p.add_argument(
        "--data", type=Path, metavar="DIR", help="MNIST's IDX files and/or CIFAR-10's binary files"
    )
    p.add_argument(
        "--out", type=Path, default=Path("experiments"), metavar="DIR", help="default: experiments"
    )
    p.add_argument("--seed", type=int, default=0, metavar="K", help="root of all random streams")
    p.add_argument("--quick", action="store_true", help="small sizes, for a first look")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; exit status 0.

    Raises:
        InputError: for a negative seed, a data folder or an output folder that cannot be used.
    """
    options = parser().parse_args(arguments)
    if options.seed < 0:
        raise InputError(f"--seed {options.seed}: give an integer >= 0")
    check_out(options.out)
    from verify.experiments.command import run  # the work needs the libraries, and seconds to import them

    return run(options)


def check_out(out: Path) -> None:
    """Refuse, before any work, a folder that could not be written in the end.

    Raises:
        InputError: for a file, a folder with other files, or a parent that is missing or cannot be written to.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: give a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise InputError(
            f"--out {out} holds other files: give a new folder, or an earlier one of this command"
        )
    if not os.access(out.absolute().parent, os.W_OK | os.X_OK):
        raise InputError(f"--out {out}: {out.absolute().parent} is no folder that can be written to")


if __name__ == "__main__":
    run_command(main)
