"""The work of `python -m verify.constants`."""

from __future__ import annotations

import argparse

from verify.errors import InputError
from verify.estimating.attacking import Attack, attack_setup
from verify.estimating.toml import written
from verify.instance import load_instance
from verify.setup import build


def run(options: argparse.Namespace) -> int:
    """Write an instance's constants; 1 when an attack beats one that the class certifies.

    Raises:
        InputError: for an instance or an output that cannot be used.
    """
    setup = build(load_instance(options.instance))
    attacks: dict[str, Attack] = {}
    if options.attack:
        attacks = attack_setup(setup, options.radius, options.seed)
    text = written(setup.shared, attacks, f"python -m verify.constants --instance {options.instance}")
    if options.out is None:
        print(text, end="")
    else:
        try:
            options.out.write_text(text, "utf-8")
        except OSError as error:
            raise InputError(f"--out {options.out} cannot be written: {error.strerror}") from None
    return int(any(a.beaten for a in attacks.values()))
