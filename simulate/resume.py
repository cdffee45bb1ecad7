"""Finished blocks of a long run on disk, so that an interrupted run goes on where it stopped.

Each block of seeds becomes one file, written whole or not at all, so Ctrl-C and even kill -9 lose at most
the block at work. A part belongs to its run by a key over everything its numbers depend on; parts are found
again by seed, so the block size may change between the runs.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from simulate.config import RunConfig
from simulate.participation import Participation
from simulate.problems.base import Problem
from simulate.store import RunFileError, commit

SEED_AXIS = {
    "k": 0, "grad_f_sq": 1, "e_bar": 1, "f_avg": 1, "f": 0, "grad_f_sq_round": 0, "dist_sq": 0, "x_hat": 0,
}  # fmt: skip


def run_key(
    problem: Problem,
    config: RunConfig,
    path: Participation,
    p_star: Float[np.ndarray, " m"],
    x_star: Float[np.ndarray, " n"] | None,
    engine: str,
) -> str:
    """SHA-256 over all that a seed's numbers depend on (not the list of seeds, which may grow)."""
    digest = hashlib.sha256(f"{problem.fingerprint()}|{engine}|{config.to_json(seeds=False)}".encode())
    for array in (path.N, p_star, np.zeros(0) if x_star is None else x_star):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class Parts:
    """The finished blocks of one run in a folder.

    Args:
        folder: made if absent.
        key: the run's `run_key`.

    Raises:
        RunFileError: if the folder cannot be made or read.
    """

    def __init__(self, folder: str | os.PathLike[str], key: str) -> None:
        self.folder, self.key = Path(folder), key
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunFileError(
                f"{self.folder}: cannot keep finished blocks here ({error.strerror})"
            ) from None

    def finished(self) -> dict[int, dict[str, np.ndarray]]:
        """The measurements found, by seed. Parts of other runs are left alone; damaged ones are removed."""
        found: dict[int, dict[str, np.ndarray]] = {}
        for path in sorted(self.folder.glob(f"part-{self.key[:16]}-*.npz")):
            try:
                with np.load(path, allow_pickle=False) as part:
                    if str(part["key"]) != self.key:
                        continue
                    seeds, arrays = part["seeds"], {name: part[name] for name in SEED_AXIS}
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
                path.unlink()
                continue
            for row, seed in enumerate(seeds.tolist()):
                found[seed] = {name: arrays[name].take([row], axis) for name, axis in SEED_AXIS.items()}
        return found

    def add(self, seeds: Int[np.ndarray, " S"], results: dict[str, np.ndarray]) -> None:
        """Stores one finished block."""
        target = self.folder / f"part-{self.key[:16]}-{int(seeds[0]):08d}-{len(seeds)}.npz"
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as file:
                arrays: dict[str, Any] = {name: results[name] for name in SEED_AXIS}
                np.savez(file, key=self.key, seeds=seeds, **arrays)
            commit(name, target)
        finally:
            Path(name).unlink(missing_ok=True)
