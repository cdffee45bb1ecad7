"""Interrupted runs go on where they stopped; processes, blocks and order change no bit."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simulate import RunConfig, run
from simulate.resume import Parts
from tests.simulate.conftest import small_game, small_softmax

PROBLEM = small_softmax()
CONFIG = RunConfig(
    gamma=0.05,
    gamma_tilde=0.1,
    H=2,
    R=10,
    N_0=np.full(3, 2.0),
    x_0=np.zeros(12),
    seeds=6,
    draws=4,
    horizons=(10,),
)


def test_processes_change_no_bit(tmp_path: Path) -> None:
    alone = run(PROBLEM, small_game(3), CONFIG)
    shared = run(PROBLEM, small_game(3), CONFIG, jobs=2, block=2, folder=tmp_path)
    assert alone.identical(shared)


def test_a_rerun_computes_only_what_is_missing(tmp_path: Path) -> None:
    calls: list[int] = []
    first = run(PROBLEM, small_game(3), replace(CONFIG, seeds=4), block=2, folder=tmp_path)
    again = run(
        PROBLEM, small_game(3), CONFIG, folder=tmp_path, block=1, progress=lambda done, _: calls.append(done)
    )
    assert calls == [5, 6]
    assert again.isel(seed=slice(0, 4)).drop_attrs().identical(first.drop_attrs())
    assert again.identical(run(PROBLEM, small_game(3), CONFIG))


def test_parts_of_another_run_are_not_used(tmp_path: Path) -> None:
    run(PROBLEM, small_game(3), CONFIG, folder=tmp_path)
    for other in (replace(CONFIG, gamma=0.06), replace(CONFIG, root_seed=1), replace(CONFIG, draws=5)):
        assert run(PROBLEM, small_game(3), other, folder=tmp_path).identical(
            run(PROBLEM, small_game(3), other)
        )


def test_a_damaged_part_is_computed_again(tmp_path: Path) -> None:
    whole = run(PROBLEM, small_game(3), CONFIG, folder=tmp_path, block=3)
    parts = sorted(tmp_path.glob("part-*.npz"))
    assert len(parts) == 2
    parts[0].write_bytes(parts[0].read_bytes()[:100])
    parts[1].write_bytes(b"")
    assert run(PROBLEM, small_game(3), CONFIG, folder=tmp_path).identical(whole)


def test_interruption_keeps_finished_blocks(tmp_path: Path) -> None:
    def stop(done: int, _: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(PROBLEM, small_game(3), CONFIG, block=2, folder=tmp_path, progress=stop)
    key = next(tmp_path.glob("part-*.npz")).name.split("-")[1]
    assert len(list(tmp_path.glob(f"part-{key}-*.npz"))) == 2


SCRIPT = """
import sys, time
from dataclasses import replace
from simulate import run
from tests.simulate.conftest import small_game
from tests.simulate.test_resume import CONFIG, PROBLEM
if __name__ == "__main__":
    config = replace(CONFIG, seeds=4000)
    run(PROBLEM, small_game(3), config, block=5, folder=sys.argv[1], progress=lambda *_: time.sleep(0.05))
"""


def test_kill_9_loses_at_most_one_block(tmp_path: Path) -> None:
    script, folder = tmp_path / "long_run.py", tmp_path / "parts"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    child = subprocess.Popen([sys.executable, str(script), str(folder)], env=environment)
    deadline = time.monotonic() + 60
    while len(list(folder.glob("part-*.npz"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    kept = len(list(folder.glob("part-*.npz")))
    assert kept >= 3
    calls: list[int] = []
    config = replace(CONFIG, seeds=5 * kept + 3)
    resumed = run(PROBLEM, small_game(3), config, folder=folder, progress=lambda done, _: calls.append(done))
    assert calls == [5 * kept + 3]
    assert (
        resumed.isel(seed=slice(0, 6))
        .drop_attrs()
        .identical(run(PROBLEM, small_game(3), CONFIG).drop_attrs())
    )


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="cannot keep finished blocks"):
        Parts(tmp_path / "file" / "parts", "0" * 64)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"engine": "jax"}, "engine = 'jax'"), ({"jobs": 0}, "jobs = 0"), ({"block": 0}, "block = 0")],
)
def test_bad_execution_settings_are_named(change: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        run(PROBLEM, small_game(3), CONFIG, **change)
