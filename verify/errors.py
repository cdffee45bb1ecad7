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


def integer(name: str, least: int) -> Callable[[str], int]:
    """How argparse reads `--name`: ASCII digits, at most 18 of them, and a number >= `least`."""

    def parse(text: str) -> int:
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
