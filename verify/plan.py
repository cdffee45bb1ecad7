"""`python -m verify.plan`: from a target epsilon to what to run, with a certificate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from verify.errors import InputError, Parser, run_command
from verify.instance_files import read_instance
from verify.planner.names import STARTS, THEOREMS, budgeted, named


def parser() -> argparse.ArgumentParser:
    """The command line of `python -m verify.plan`."""
    p = Parser(
        prog="python -m verify.plan",
        description="The fewest rounds that a theorem guarantees to be enough; exit 0 with a plan (or a certificate "
        "that stands), 1 if there is none (or it does not), 2 on bad input.",
    )
    source = p.add_mutually_exclusive_group()
    source.add_argument("--instance", metavar="NAME|FILE.toml", help="plan for an instance")
    source.add_argument(
        "--constants", type=Path, metavar="FILE.toml", help="plan for constants: name = number"
    )
    source.add_argument("--check", type=Path, metavar="FILE", help="verify a saved certificate from scratch")
    p.add_argument(
        "--set", action="append", default=[], metavar="NAME=NUMBER", help="give or replace a constant"
    )
    p.add_argument("--epsilon", type=float, metavar="E")
    p.add_argument("--epsilon-ne", type=float, metavar="E", help="target for the mean square NE distance")
    p.add_argument(
        "--theorem", default="4.6", metavar="ID", help=f"one of {', '.join(THEOREMS)}; default 4.6"
    )
    p.add_argument(
        "--edition", default="corrected", help="printed, corrected, sharp, or all; default corrected"
    )
    p.add_argument(
        "--H", type=int, nargs="+", metavar="H", help="local steps; several: a table and its Pareto front"
    )
    p.add_argument("--start", default="auto", choices=STARTS, help="how the unknown start is bounded")
    p.add_argument("--gamma", type=float)
    p.add_argument("--gamma-tilde", type=float)
    p.add_argument("--r-hat", type=int)
    p.add_argument("--R", type=int)
    p.add_argument(
        "--model-size", type=int, default=0, metavar="N", help="numbers in the model, for the traffic"
    )
    p.add_argument(
        "--budget-rounds", type=int, metavar="R", help="the smallest epsilon that R rounds guarantee"
    )
    p.add_argument(
        "--budget-gradients", type=int, metavar="K", help="the same for gradient evaluations per client"
    )
    p.add_argument(
        "--budget-bytes", type=int, metavar="BYTES", help="the same for bytes up (or down) per client"
    )
    p.add_argument("--covered", choices=("nu", "G"), help="the largest value that --R rounds still cover")
    p.add_argument("--sensitivity", action="store_true", help="d log R / d log of each constant")
    p.add_argument(
        "--simulate", action="store_true", help="run the plan (or its first rounds) on the instance"
    )
    p.add_argument("--seeds", type=int, default=16, metavar="S", help="seeds of --simulate; default 16")
    p.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the Pareto front over several H")
    p.add_argument("--json", action="store_true", help="print the certificate")
    p.add_argument("--out", type=Path, metavar="FILE", help="write the certificate")
    return p


def check(options: argparse.Namespace) -> None:
    """Refuse, before the libraries load, what the words alone show to be wrong.

    Raises:
        InputError: for an option that is missing, or a theorem or an instance's file that cannot be used.
    """
    if options.check is not None:
        return
    if options.instance is None and options.constants is None and not options.set:
        raise InputError("nothing to plan for: give --instance, --constants or --set")
    if options.instance is not None:
        read_instance(options.instance)
    named(options.theorem)
    if options.simulate and options.instance is None:
        raise InputError("--simulate: it needs --instance, a problem and a game to run")
    if budgeted(options):
        return
    if options.epsilon is None:
        raise InputError("--epsilon is missing: give the target")
    if options.covered is not None and options.edition != "all" and options.R is None:
        raise InputError("--covered: it needs --R, the number of rounds")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status as an int."""
    options = parser().parse_args(list(sys.argv[1:] if arguments is None else arguments))
    check(options)
    from verify.planner.command import run  # the work needs the libraries, and seconds to import them

    return run(options)


if __name__ == "__main__":
    run_command(main)
