"""One clear line for bad input, and the exit codes of every command."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich.console import Console

EXIT_STANDS, EXIT_VIOLATED, EXIT_BAD_INPUT, EXIT_INCOMPLETE, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


class InputError(ValueError):
    """Bad input: the message names the key, the value and what would be right."""


def run_command(command: Callable[[], int]) -> None:
    """Run a command line and exit: 0 or 1 as it says, 2 with one line on bad input, 130 on Ctrl-C."""
    try:
        code = command()
    except InputError as error:
        message = " ".join(str(error).split())
        Console(stderr=True, soft_wrap=True, highlight=False).print(f"error: {message}", markup=False)
        code = EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        code = EXIT_INTERRUPTED
    sys.exit(code)
