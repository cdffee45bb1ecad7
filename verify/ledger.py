"""The proof ledger: `python -m verify.ledger` judges every step of the paper's proofs.

    --only ID       steps of statements whose id contains ID
    --edition NAME  printed, corrected or sharp only
    --json          one object {"ledger": [...]} on standard output
    --explain STEP  everything about one step (`Lemma 4.3(i)/5`, `Theorem 4.9(i-1)/2@corrected`)
    --cold          search again instead of re-checking stored certificates
    --save          with --cold: store what was found
    --mutate        change every constant, exponent, sign, index and hypothesis of the tight steps: the
    kill rate
    --sample N      with --mutate: only N mutants an obligation
    --docs FILE     write the ledger as a page
    --jobs J        processes that share the statements (default: 1)

Exit 0 when no corrected or sharp step is refuted or open, 1 when one is, 2 on bad input.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bounds.on_demand import lazy
from verify.errors import MOST_JOBS, Parser, integer, run_command

if TYPE_CHECKING:
    from verify.ledger_run import exit_code, run_ledger, select

__all__ = ["exit_code", "main", "parsed", "run_ledger", "select"]
__getattr__, __dir__ = lazy(__name__, {"verify.ledger_run": ("exit_code", "run_ledger", "select")})


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The options of `python -m verify.ledger`.

    Raises:
        InputError: for words that mean nothing, or options that do not go together.
    """
    parser = Parser(prog="python -m verify.ledger", description="Judges every step of the paper's proofs.")
    parser.add_argument("--only", metavar="ID")
    parser.add_argument("--edition", choices=("printed", "corrected", "sharp"))
    parser.add_argument("--json", action="store_true", help='one object {"ledger": [...]}')
    parser.add_argument("--explain", metavar="STEP")
    parser.add_argument(
        "--cold", action="store_true", help="search again instead of re-checking what is stored"
    )
    parser.add_argument("--save", action="store_true", help="with --cold: store what was found")
    parser.add_argument(
        "--mutate", action="store_true", help="mutate the tight steps and print the kill rate"
    )
    parser.add_argument(
        "--sample", type=integer("sample", 1), metavar="N", help="with --mutate: N mutants an obligation"
    )
    parser.add_argument("--docs", metavar="FILE", help="write the ledger as a Markdown page")
    parser.add_argument(
        "--jobs", type=integer("jobs", 1, MOST_JOBS), default=1, metavar="J", help="processes"
    )
    options: argparse.Namespace = parser.parse_args(argv)
    if options.save and (not options.cold or options.only or options.edition or options.explain):
        parser.error("--save goes with --cold alone: a partial store would forget the rest")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; see the module's docstring.

    Raises:
        InputError: for options that name nothing, or a page that cannot be written.
    """
    options = parsed(argv)
    from verify.ledger_run import run  # the provers need the libraries, and seconds to import them

    return run(options)


if __name__ == "__main__":
    run_command(main)
