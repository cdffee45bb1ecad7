"""Where a user's constants come from: certified by the problem's class, or estimated by sampling and attack.

`estimate(clients, x_0, radius=..., seed=...)` gives L, nu, (G, B), f_gap, f_star, S and, with a game, mu_F and L_F. An
estimated value is one that the problem attains, with the point where: the true L, nu, G, L_F are no smaller and the
true mu_F is no larger, so that a bound computed from them is only indicative. `attack` tries to beat a declared one.

`python -m verify.constants --instance NAME|FILE.toml [--attack] [--out FILE.toml]` writes an instance's constants.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bounds.on_demand import lazy
from verify.errors import Parser, run_command
from verify.instance_files import read_instance

if TYPE_CHECKING:
    from verify.estimating.attacking import (
        ATTACKED,
        Attack,
        Effort,
        Estimated,
        attack,
        attack_setup,
        estimate,
    )
    from verify.estimating.clients import Client, clients_of

__all__ = [
    "ATTACKED",
    "Attack",
    "Client",
    "Effort",
    "Estimated",
    "attack",
    "attack_setup",
    "clients_of",
    "estimate",
    "main",
    "parser",
]

_NAMES = {
    "verify.estimating.attacking": (
        "ATTACKED", "Attack", "Effort", "Estimated", "attack", "attack_setup", "estimate"
    ),
    "verify.estimating.clients": ("Client", "clients_of"),
}  # fmt: skip
__getattr__, __dir__ = lazy(__name__, _NAMES)


def parser() -> argparse.ArgumentParser:
    """The command line of `python -m verify.constants`."""
    p = Parser(prog="python -m verify.constants", description="Writes an instance's constants as TOML.")
    p.add_argument("--instance", required=True, metavar="NAME|FILE.toml")
    p.add_argument("--attack", action="store_true", help="try to beat L, nu and (G, B), mu_F and L_F")
    p.add_argument("--radius", type=float, default=10.0, metavar="r", help="of the attack's ball around x_0")
    p.add_argument("--seed", type=int, default=0, metavar="K")
    p.add_argument("--out", type=Path, metavar="FILE.toml", help="default: standard output")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m verify.constants`; exit status 0, or 1 when an attack beats a constant that the class certifies.

    Raises:
        InputError: for an instance or an output that cannot be used.
    """
    options = parser().parse_args(arguments)
    read_instance(options.instance)  # one that is not there is refused before the libraries load
    from verify.estimating.command import run

    return run(options)


if __name__ == "__main__":
    run_command(main)
