"""The command: the same bytes however the work is done, cut off, split, or damaged."""

import json
import os
import random
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
from tiny_grid import BASE, GRID, PAIRS, POINTS, start, sweep, write_grid, written

import bounds
from simulate.parallel import InProcess, Processes
from verify.auditing import run_seeds
from verify.errors import EXIT_INCOMPLETE, EXIT_STANDS, EXIT_VIOLATED, InputError
from verify.examine import examine
from verify.instance import load_instance
from verify.planner.instance import constants_of
from verify.planner.making import make_plan
from verify.setup import build, checks
from verify.sweeping.points import load_grid
from verify.sweeping.running import Run, level
from verify.sweeping.store import open_store

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_grid(tmp_path_factory.mktemp("grid"))


@pytest.fixture(scope="module")
def done(grid: Path) -> Path:
    """The folder of a sweep that ran in one process from start to end."""
    out = grid.parent / "done"
    assert sweep(grid, out) == EXIT_STANDS
    return out


def entries(out: Path) -> int:
    """Lines in a sweep's log."""
    log = out / "cache" / "results.jsonl"
    return log.read_bytes().count(b"\n") if log.exists() else 0


def test_every_row_is_what_an_audit_of_its_own_says(done: Path, grid: Path) -> None:
    table = pd.read_parquet(done / "results.parquet")
    assert len(table) == POINTS * PAIRS
    loaded = load_grid(grid, 100)
    for index in (0, 7, 11):
        instance = loaded.point(index).instance
        setup = build(instance)
        run = run_seeds(setup, 1, lambda what, part, total: None)
        rows = table[table.point == index].to_dict("records")
        for row, pair in zip(rows, checks(instance), strict=True):
            verdict = examine(setup, run, bounds.get(*pair), level(loaded)).verdict
            assert (row["statement"], row["edition"], row["outcome"]) == (*pair, verdict.outcome)
            assert row["algorithm.H"] == instance.algorithm.H
            assert row["game.offset[1]"] == instance.game.offset[1]
            if verdict.bound is not None:
                assert row["observed"] == verdict.observed
                assert row["bound"] == verdict.bound
                assert row["ratio"] == verdict.observed / verdict.bound
            if "mu_F" in bounds.get(*pair).symbols:
                assert row["constant.mu_F"] == float(setup.shared["mu_F"].value)


def test_csv_and_parquet_are_one_table(done: Path) -> None:
    parquet, text = pd.read_parquet(done / "results.parquet"), pd.read_csv(done / "results.csv")
    assert list(parquet.columns) == list(text.columns)
    for name in parquet.columns:
        both = parquet[name].notna()
        assert both.equals(text[name].notna())
        assert parquet[name][both].tolist() == text[name][both].tolist()


@pytest.mark.parametrize("jobs", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_the_bytes_do_not_depend_on_the_processes(jobs: int, done: Path, grid: Path, tmp_path: Path) -> None:
    assert sweep(grid, tmp_path / "out", "--jobs", str(jobs)) == EXIT_STANDS
    assert written(tmp_path / "out") == written(done)


@pytest.mark.parametrize("workers", [InProcess(), Processes(1)], ids=str)
@pytest.mark.parametrize("block", [1, 7])
def test_results_do_not_depend_on_the_block(
    workers: InProcess | Processes, block: int, done: Path, grid: Path, tmp_path: Path
) -> None:
    loaded = load_grid(grid, 100)
    with open_store(tmp_path) as store:
        Run(loaded, store, workers, lambda what, part, total: None, block=block)()
    assert sorted((tmp_path / "results.jsonl").read_bytes().splitlines()) == sorted(
        (done / "cache" / "results.jsonl").read_bytes().splitlines()
    )


def test_nothing_is_computed_twice(done: Path, grid: Path, capsys: Capture) -> None:
    before = written(done)
    assert sweep(grid, done) == EXIT_STANDS
    assert f"0 computed, {POINTS} found" in capsys.readouterr().out
    assert written(done) == before


def test_fresh_computes_all_anew(grid: Path, tmp_path: Path, capsys: Capture) -> None:
    few = write_grid(
        tmp_path, GRID.replace("values = [1, 2]", "values = [1]").replace("step = 1.0", "step = 2.0")
    )
    assert sweep(few, tmp_path / "out") == EXIT_STANDS
    assert sweep(few, tmp_path / "out", "--fresh") == EXIT_STANDS
    assert "3 computed, 0 found" in capsys.readouterr().out.splitlines()[-2]


def test_shares_put_together_are_the_whole(done: Path, grid: Path, tmp_path: Path, capsys: Capture) -> None:
    for i in (1, 2, 3):
        assert sweep(grid, tmp_path / f"part{i}", "--share", f"{i}/3") == EXIT_STANDS
        assert not (tmp_path / f"part{i}" / "results.csv").exists()
    for i in (2, 3):
        log = tmp_path / f"part{i}" / "cache" / "results.jsonl"
        log.rename(tmp_path / "part1" / "cache" / f"part{i}.jsonl")
    assert sweep(grid, tmp_path / "part1") == EXIT_STANDS
    assert f"0 computed, {POINTS} found" in capsys.readouterr().out
    assert written(tmp_path / "part1") == written(done)


def test_a_corrupted_entry_is_computed_again(done: Path, grid: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    assert sweep(grid, out) == EXIT_STANDS
    log = out / "cache" / "results.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    at = lines[3].index(b'"observed":') + len(b'"observed":') + 2
    digit = b"5" if lines[3][at : at + 1] != b"5" else b"6"
    lines[3] = lines[3][:at] + digit + lines[3][at + 1 :]
    lines[-1] = lines[-1][:200]
    log.write_bytes(b"".join(lines))
    capsys.readouterr()
    assert sweep(grid, out) == EXIT_STANDS
    said = capsys.readouterr()
    assert "2 corrupted entries" in said.err
    assert f"2 computed, {POINTS - 2} found" in said.out
    assert written(out) == written(done)


@pytest.mark.parametrize("kills", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_kill_9_at_random_points_changes_nothing(kills: int, done: Path, grid: Path, tmp_path: Path) -> None:
    out, random_points = tmp_path / "out", random.Random(5)
    for _ in range(kills):
        driver = start(grid, out, "--jobs", "2")
        target = entries(out) + random_points.randint(1, 3)
        while entries(out) < target and driver.poll() is None:
            time.sleep(0.01)
        driver.kill()
        driver.communicate()
        assert driver.returncode in (-signal.SIGKILL, EXIT_STANDS)  # the last task may have been faster
    kept = entries(out)
    assert 0 < kept <= POINTS
    assert sweep(grid, out) == EXIT_STANDS
    assert entries(out) <= POINTS + kills  # at most a torn line for each kill
    assert written(out) == written(done)


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished(done: Path, grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    driver = start(grid, out, "--jobs", "2")
    while entries(out) < 1:
        time.sleep(0.01)
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert (
        said.splitlines()[-1] == f"interrupted: what is finished is kept in {out}; the same command goes on"
    )
    assert entries(out) >= 1
    assert sweep(grid, out) == EXIT_STANDS
    assert written(out) == written(done)


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing(done: Path, grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    driver = start(grid, out, "--jobs", "2")
    while entries(out) < 1:
        time.sleep(0.01)
    victims = [pid for pid in descendants(driver.pid) if pid not in children(driver.pid)]
    assert len(victims) == 2
    os.kill(victims[0], signal.SIGKILL)
    said, _ = driver.communicate(timeout=120)
    assert driver.returncode == EXIT_STANDS
    assert f"{POINTS} computed, 0 found, 0 failed" in said
    assert written(out, page=False) == written(done, page=False)


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and theirs: with a fork server, the workers are its children."""
    return [d for child in children(pid) for d in (child, *descendants(child))]


def test_an_instance_outside_all_hypotheses_is_in_the_table(tmp_path: Path) -> None:
    grid = write_grid(
        tmp_path,
        'name = "outside"\nbase = "base.toml"\n[set]\n"algorithm.gamma_tilde" = 5.0\n"algorithm.gamma" = 5.0\n'
        '[[axis]]\nkey = "algorithm.r_hat"\nvalues = [0]\n',
    )
    assert sweep(grid, tmp_path / "out") == EXIT_STANDS
    table = pd.read_parquet(tmp_path / "out" / "results.parquet")
    assert set(table.outcome) == {"hypothesis-fails"}
    assert table.fails.notna().all()
    assert table.ratio.isna().all()
    assert "No instance could be compared with a bound" in (tmp_path / "out" / "sweep.html").read_text()


def test_a_failed_instance_stops_no_other_and_is_tried_again(tmp_path: Path, capsys: Capture) -> None:
    grid = write_grid(
        tmp_path,
        'name = "partly"\nbase = "base.toml"\n[set]\n"algorithm.gamma" = 0.01\n'
        '[[axis]]\nkey = "game.matrix[0][0]"\nvalues = [2.0, -3.0, 2.5]\n',
    )
    out = tmp_path / "out"
    for found in (0, 2):
        assert sweep(grid, out) == EXIT_INCOMPLETE
        assert f"{2 - found} computed, {found} found, 1 failed" in capsys.readouterr().out
    table = pd.read_parquet(out / "results.parquet")
    assert set(table[table.point == 1].outcome) == {"error"}
    assert table[table.point == 1].reason.str.contains("strongly monotone|monotone").all()
    assert "error" not in set(table[table.point != 1].outcome)
    assert "could not be audited" in (out / "sweep.html").read_text()


def test_a_violation_is_told_and_its_instance_reproduces_it(tmp_path: Path, capsys: Capture) -> None:
    grid = write_grid(
        tmp_path,
        'name = "drift"\nbase = "theorem-4.9-drift"\n[set]\n"check.statements" = ["Lemma 4.3(i)", "Theorem 4.9(i-1)"]\n'
        '[[axis]]\nkey = "algorithm.R"\nvalues = [100, 30_000]\n',
    )
    out = tmp_path / "out"
    assert sweep(grid, out) == EXIT_STANDS  # only the printed edition is violated
    assert "Violated: Theorem 4.9(i-1) (printed)." in capsys.readouterr().out
    table = pd.read_parquet(out / "results.parquet")
    broken = table[table.outcome == "violated"]
    assert broken[["point", "edition"]].to_numpy().tolist() == [[1, "printed"]]
    instance = load_instance(str(out / "worst" / "drift-1.toml"))
    setup = build(instance)
    run = run_seeds(setup, 1, lambda what, part, total: None)
    again = examine(setup, run, bounds.get("Theorem 4.9(i-1)", "printed"), 0.01).verdict
    assert (again.observed, again.bound) == (broken.observed.item(), broken.bound.item())


def test_a_proved_edition_that_is_violated_ends_with_1(done: Path, grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert sweep(grid, out, "--share", "1/1") == EXIT_STANDS
    log = out / "cache" / "results.jsonl"
    with open_store(tmp_path / "forged") as forged, open_store(out / "cache") as store:
        for line in log.read_text().splitlines():
            key = json.loads(line.split(" ", 1)[1])["key"]
            value = store[key]
            value["rows"][1]["outcome"] = "violated"  # the corrected edition
            forged.add(key, value)
    (tmp_path / "forged" / "results.jsonl").replace(log)
    assert sweep(grid, out) == EXIT_VIOLATED


def test_plans_stand_beside_the_statements_that_they_hold(tmp_path: Path) -> None:
    grid = write_grid(
        tmp_path,
        'name = "planned"\nbase = "base.toml"\n[set]\n"check.editions" = ["corrected"]\n'
        '[[axis]]\nkey = "epsilon"\nvalues = [4.0, 1e-300]\n[[axis]]\nkey = "algorithm.R"\nvalues = [40, 50]\n',
    )
    assert sweep(grid, tmp_path / "out") == EXIT_STANDS
    assert entries(tmp_path / "out") == 2 + 2  # two instances, and one plan for both of them at each target
    table = pd.read_parquet(tmp_path / "out" / "results.parquet")
    known = constants_of(load_grid(grid, 10).point(0).instance)
    plan = make_plan(known.constants, 4.0, "4.6", "corrected", H=2)
    rows = table[(table.epsilon == 4.0) & table.statement.str.startswith("Theorem 4.6(i-2)")]
    assert set(rows.planned_rounds) == {plan.R}
    assert set(rows.planned_gradients) == {2 * plan.training_rounds}
    distance = make_plan(known.constants, 4.0, "Lemma 4.3", "corrected")
    rows = table[(table.epsilon == 4.0) & (table.statement == "Lemma 4.3(i)")]
    assert set(rows.planned_rounds) == {distance.R}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('key = "algorithm.H"', 'key = "algorithm.HH"', ["algorithm.HH"]),
        ('key = "algorithm.H"', 'key = "algoritm.H"', ["algoritm.H", "algoritm"]),
        ('key = "algorithm.H"', 'ky = "algorithm.H"', ["axis[0]"]),
        ("values = [1, 2]", "values = []", ["axis[0].values", "[]"]),
        ("values = [1, 2]", "values = [1, 0]", ["point 6", "algorithm.H"]),
        ("curvature[0]", "curvature[3]", ["curvature[3]"]),
        ("[0.7, -4.0]", "[0.7]", ["axis[1]", "[0.7]", "2"]),
        ("step = 1.0", "step = -0.5", ["step = -0.5"]),
        ("step = 1.0", "step = 1e-8", ["600000006 points", "--max-points"]),
        ('base = "base.toml"', 'base = "nothing.toml"', ["nothing.toml", "digits-convex"]),
        ('"algorithm.x_0" = 2.0', '"algorithm.H" = 2', ["algorithm.H", "twice"]),
        ('name = "tiny"', 'name = "a/b"', ["name", "a/b"]),
    ],
)
def test_bad_grids_are_refused_in_one_line(old: str, new: str, words: list[str], tmp_path: Path) -> None:
    grid = write_grid(tmp_path, GRID.replace(old, new))
    with pytest.raises(InputError) as error:
        sweep(grid, tmp_path / "out")
    for word in words:
        assert word in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out" / "results.csv").exists()


def test_a_billion_points_are_refused_with_their_count(tmp_path: Path) -> None:
    axes = "".join(
        f'[[axis]]\nkey = "game.offset[{i}]"\nrange = {{start = -60.0, stop = -20.0, count = 1000}}\n'
        for i in range(3)
    )
    grid = write_grid(tmp_path, f'name = "vast"\nbase = "base.toml"\n{axes}')
    with pytest.raises(InputError, match=r"1000000000 points.*--max-points 1000000000"):
        sweep(grid, tmp_path / "out")


def test_other_folders_and_other_sweeps_are_left_alone(grid: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        sweep(grid, tmp_path)
    with pytest.raises(InputError, match="is a file"):
        sweep(grid, tmp_path / "mine.txt")
    out = tmp_path / "out"
    with open_store(out / "cache"):
        (out / "sweep.json").write_text("{}")
        with pytest.raises(InputError, match="in use by another sweep"):
            sweep(grid, out)


def test_code_of_the_users_own_cannot_come_in_through_an_axis(tmp_path: Path) -> None:
    text = GRID.replace(
        'key = "algorithm.H"\nvalues = [1, 2]', 'key = "game.kind"\nvalues = ["python:os.system"]'
    )
    with pytest.raises(InputError, match="kind"):
        sweep(write_grid(tmp_path, text), tmp_path / "out")


def test_the_level_is_shared_by_all_verdicts(grid: Path) -> None:
    loaded = load_grid(grid, 100)
    assert level(loaded) * POINTS * PAIRS <= 0.01 < 2 * level(loaded) * POINTS * PAIRS
    assert BASE.count("statements") == 1
