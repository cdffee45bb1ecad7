"""A grid whose instances take a tenth of a second, and ways to run it."""

import os
import subprocess
import sys
from pathlib import Path

from small_instance import SMALL

from verify.sweep import main

BASE = (
    SMALL.split("[check]")[0].replace("R = 300", "R = 40")
    + """
[check]
statements = ["Lemma 4.3(i)", "Theorem 4.6(i-2)", "Theorem 4.9(i-1)"]
editions = ["printed", "corrected"]
"""
)
GRID = """
name = "tiny"
base = "base.toml"

[set]
"algorithm.x_0" = 2.0
"algorithm.gamma" = 0.01

[[axis]]
key = "algorithm.H"
values = [1, 2]

[[axis]]
keys = ["problem.curvature[0]", "game.offset[1]"]
values = [[1.0, -3.0], [0.7, -4.0], [0.4, -5.0]]

[[axis]]
key = "problem.centre[0][1]"
range = {start = 0.0, stop = 1.0, step = 1.0}
"""
POINTS, PAIRS = 12, 6


def write_grid(folder: Path, grid: str = GRID, base: str = BASE) -> Path:
    """The grid and its base as files; the grid's path."""
    (folder / "base.toml").write_text(base, "utf-8")
    path = folder / "grid.toml"
    path.write_text(grid, "utf-8")
    return path


def sweep(grid: Path, out: Path, *words: str) -> int:
    """Runs the command in this process; its exit status."""
    return main([str(grid), "--out", str(out), "--jobs", "1", *words])


def start(grid: Path, out: Path, *words: str) -> subprocess.Popen[str]:
    """Runs the command in a process of its own."""
    command = [sys.executable, "-m", "verify.sweep", str(grid), "--out", str(out), *words]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def written(out: Path, page: bool = True) -> dict[str, bytes]:
    """What a sweep wrote for people, by name."""
    files = [f for f in [*out.glob("*.*"), *out.glob("worst/*")] if page or f.name != "sweep.html"]
    return {str(f.relative_to(out)): f.read_bytes() for f in sorted(files)}


def entries(out: Path) -> int:
    """Lines in a sweep's log."""
    log = out / "cache" / "results.jsonl"
    return log.read_bytes().count(b"\n") if log.exists() else 0
