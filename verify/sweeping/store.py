"""Finished work on disk, kept by content: a log to which lines are added, each with its own hash.

A line is the SHA-256 of what follows it, and {"key", "value"} as JSON. A process that is killed loses at most the line
that it was writing; a line that does not match its hash is no entry, and is computed again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from verify.errors import InputError

_LOG = "results.jsonl"


class Store:
    """The entries in a folder's logs (`*.jsonl`: shares of a sweep are joined by putting their logs together).

    Attributes:
        corrupted: lines that do not match their hash.
    """

    def __init__(self, folder: Path, log: IO[bytes]) -> None:
        self.corrupted = 0
        self._log = log
        self._files = {path: path.open("rb") for path in sorted(folder.glob("*.jsonl"))}
        self._at: dict[str, tuple[IO[bytes], int, int]] = {}
        self._own = self._files[folder / _LOG]
        for file in self._files.values():
            self._read(file)
        self._end = self._log.seek(0, 2)
        if self._end and not self._ends_with_newline():
            self._end += self._log.write(b"\n")

    def _ends_with_newline(self) -> bool:
        self._own.seek(-1, 2)
        return self._own.read(1) == b"\n"

    def _read(self, file: IO[bytes]) -> None:
        start = 0
        for line in file:
            body = _verified(line)
            if body is not None:
                self._at[json.loads(body)["key"]] = (file, start, len(line))
            elif line.strip():
                self.corrupted += 1
            start += len(line)

    def __contains__(self, key: str) -> bool:
        return key in self._at

    def __getitem__(self, key: str) -> Any:
        """The value of a key.

        Raises:
            KeyError: if there is none.
            InputError: if the log was changed underneath.
        """
        file, start, length = self._at[key]
        file.seek(start)
        body = _verified(file.read(length))
        if body is None:
            raise InputError(f"{file.name} was changed while it was read: run the command again")
        return json.loads(body)["value"]

    def add(self, key: str, value: Any) -> int:
        """Keeps a value; the number of bytes that it takes."""
        body = json.dumps(
            {"key": key, "value": value}, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
        line = f"{hashlib.sha256(body.encode()).hexdigest()} {body}\n".encode()
        self._log.write(line)
        self._log.flush()
        self._at[key] = (self._own, self._end, len(line))
        self._end += len(line)
        return len(line)

    def close(self) -> None:
        """Closes the logs."""
        for file in self._files.values():
            file.close()


def _verified(line: bytes) -> bytes | None:
    digest, _, body = line.rstrip(b"\n").partition(b" ")
    return body if line.endswith(b"\n") and hashlib.sha256(body).hexdigest().encode() == digest else None


@contextmanager
def open_store(folder: Path, fresh: bool = False) -> Iterator[Store]:
    """The store in `folder`, for one process at a time; `fresh`: emptied first.

    Raises:
        InputError: if the folder cannot be written to, or another process has it open.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        log = (folder / _LOG).open("ab")
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from None
    with log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"{folder} is in use by another sweep: wait for it, or give another --out"
            ) from None
        if fresh:
            log.truncate(0)
            for path in folder.glob("*.jsonl"):
                if path.name != _LOG:
                    path.unlink()
        store = Store(folder, log)
        try:
            yield store
        finally:
            store.close()
