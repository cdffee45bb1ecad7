"""`python -m verify.error_rates`: how often a statistical verdict is wrong on synthetic truth, beside a t-test."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bounds.on_demand import lazy
from verify.errors import Parser, integer, run_command

if TYPE_CHECKING:
    from verify.measured_rates import Cell, fixed, growing, page

__all__ = ["Cell", "fixed", "growing", "main", "page", "parser"]
__getattr__, __dir__ = lazy(__name__, {"verify.measured_rates": ("Cell", "fixed", "growing", "page")})


def parser() -> argparse.ArgumentParser:
    """The command line of `python -m verify.error_rates`."""
    p = Parser(prog="python -m verify.error_rates", description="Measure the verdict's error rates.")
    p.add_argument(
        "--repetitions", type=integer("repetitions", 1), default=1000, metavar="N", help="samples a cell"
    )
    p.add_argument("--out", type=Path, metavar="FILE", help="write the page there instead of printing it")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page, or write it."""
    options = parser().parse_args(arguments)
    from verify.output import check_file, write_file

    if options.out is not None:
        check_file("--out", options.out)
    from verify.measured_rates import page  # scipy takes seconds to import

    text = page(options.repetitions, (30, 1000))
    if options.out is None:
        print(text, end="")
    else:
        write_file("--out", options.out, text)
    return 0


if __name__ == "__main__":
    run_command(main)
