"""What a plan may be asked for by name: the theorems it can rest on, and how the unknown start is bounded."""

from __future__ import annotations

import argparse

from verify.errors import InputError

THEOREMS = ("4.6", "4.9", "4.10", "Lemma 4.3", "Lemma 4.4")
STARTS = ("auto", "given", "at-once", "a-priori", "warm")


def named(theorem: str) -> str:
    """The short name of a theorem: "Theorem 4.6" and "4.6" are one.

    Raises:
        InputError: for a theorem that no plan rests on.
    """
    short = theorem.removeprefix("Theorem ")
    if short not in THEOREMS:
        raise InputError(f"theorem = {theorem!r}: give one of {', '.join(THEOREMS)}")
    return short


def budgeted(options: argparse.Namespace) -> bool:
    """Whether the command line gives a budget, and asks for the smallest epsilon."""
    return any(b is not None for b in (options.budget_rounds, options.budget_gradients, options.budget_bytes))
