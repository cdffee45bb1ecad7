"""`python -m verify.pep [--docs FILE]`: the table of worst cases beside the bounds (minutes; extra `pep`).

Exit 0 when every worst case is within its bound, 1 when one is not, 2 when PEPit is not installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from verify.errors import InputError, Parser, run_command
from verify.output import check_file


def parser() -> argparse.ArgumentParser:
    """The command line of `python -m verify.pep`."""
    p = Parser(prog="python -m verify.pep", description="Worst cases beside the bounds.")
    p.add_argument("--docs", type=Path, metavar="FILE", help="write the tables as a Markdown page")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status as an int.

    Raises:
        InputError: if PEPit is not installed, or the page cannot be written.
    """
    options = parser().parse_args(arguments)
    if options.docs is not None:
        check_file("--docs", options.docs)
    if find_spec("PEPit") is None:
        raise InputError("PEPit is not installed: install the extra `pep` (pip install 'boundaudit[pep]')")
    from verify.pep.tables import run  # the solvers take seconds to import

    return run(options.docs)


if __name__ == "__main__":
    run_command(main)
