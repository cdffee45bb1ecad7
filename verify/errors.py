"""One clear line for bad input, and the exit codes of every command."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable

EXIT_STANDS, EXIT_VIOLATED, EXIT_BAD_INPUT, EXIT_INCOMPLETE, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


class InputError(ValueError):
    """Bad input: the message names the key, the value and what would be right."""


class Parser(argparse.ArgumentParser):
    """argparse, with errors as one line like every other bad input."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise InputError(f"{message} (see --help)")


MOST_JOBS = 1024  # processes: more are a slip, and far more are beyond what a pool can count


def integer(name: str, least: int, most: int = 10**18 - 1) -> Callable[[str], int]:
    """How argparse reads `--name`: ASCII digits, at most 18 of them, and a number from `least` to `most`."""

    def parse(text: str) -> int:
        if re.fullmatch(r"\+?[0-9]+", text) and (len(text) > 19 or int(text) > most):
            shown = text if len(text) <= 40 else f"{text[:40]}..."
            raise argparse.ArgumentTypeError(f"--{name} {shown}: give an integer >= {least}, at most {most}")
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text) or int(text) < least:
            raise argparse.ArgumentTypeError(f"--{name} {text}: give an integer >= {least}")
        return int(text)

    return parse


def run_command(command: Callable[[], int]) -> None:
    """Run a command line and exit: 0 or 1 as it says, 2 with one line on bad input, 130 on Ctrl-C."""
    try:
        code = command()
    except InputError as error:
        message = " ".join(str(error).split())
        print(f"error: {message}", file=sys.stderr)
        code = EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        code = EXIT_INTERRUPTED
    sys.exit(code)
