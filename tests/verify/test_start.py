"""A command answers `--help` and bad words before it imports the libraries that its work needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {
    "cvxpy", "distributed", "flint", "games", "jinja2", "matplotlib", "numba", "numpy", "pandas", "pydantic", "rich",
    "scipy", "simulate", "sklearn", "sympy", "xarray",
}  # fmt: skip
# Words that each command refuses, and what it says.
REFUSED = {
    "verify.report": [
        (["--seeds", "0"], "--seeds 0: give an integer >= 1"),
        (["--instance", "no-such-instance"], "no such file or built-in instance"),
        (["--only", "Lemma 9.9"], "--only 'Lemma 9.9': give one of Assumption 2.1(i)"),
        (["--out", "no/such/folder"], "create it first"),
    ],
    "verify.ledger": [
        (["--edition", "final"], "--edition: invalid choice"),
        (["--save"], "goes with --cold"),
    ],
    "verify.plan": [
        (["--instance", "digits-convex"], "--epsilon is missing"),
        (["--instance", "no-such-instance", "--epsilon", "1"], "no such file or built-in instance"),
        (["--set", "L=1", "--epsilon", "1", "--theorem", "4.7"], "theorem = '4.7'"),
    ],
    "verify.search": [([], "give one of a statement"), (["Lemma 9.9"], "is not a statement")],
    "verify.sweep": [
        ([], "required: GRID.toml"),
        (["g.toml", "--share", "3/2"], "give I/N"),
        (["g.toml", "--scheduler", "foo"], "--scheduler foo: give tcp://HOST:PORT"),
    ],
    "verify.constants": [([], "required: --instance"), (["--instance", "no-such-instance"], "no such file")],
    "verify.error_rates": [(["--repetitions", "0"], "--repetitions 0: give an integer >= 1")],
    "verify.pep": [(["--colour"], "unrecognized arguments: --colour")],
    "verify.experiments": [(["5.4"], "invalid choice: '5.4'"), (["--seed", "-1"], "--seed -1")],
}
ENTRY = 'if __name__ == "__main__":\n    run_command('
RUN = """
import contextlib, io, json, runpy, sys
command, *calls = json.loads(sys.argv[1])
found = []
for words in calls:
    sys.argv = [command, *words]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            runpy.run_module(command, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            code = end.code
    found.append([code, out.getvalue(), err.getvalue()])
print(json.dumps([found, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def test_every_command_is_listed() -> None:
    marked = [p for p in (ROOT / "verify").rglob("*.py") if ENTRY in p.read_text("utf-8")]
    modules = {".".join(p.relative_to(ROOT).with_suffix("").parts) for p in marked}
    assert {name.removesuffix(".__main__") for name in modules} == set(REFUSED)


@pytest.mark.parametrize("command", REFUSED)
def test_help_and_bad_words_load_no_library(command: str) -> None:
    calls = [["--help"], *(words for words, _ in REFUSED[command])]
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps([command, *calls])],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    (helped, *refused), loaded = json.loads(done.stdout)
    assert helped[0] == 0
    assert helped[1].startswith(f"usage: python -m {command}")
    for (code, out, err), (words, says) in zip(refused, REFUSED[command], strict=True):
        assert (code, out) == (2, ""), words
        assert err.startswith("error: ")
        assert says in err
        assert err.count("\n") == 1
    assert not HEAVY & set(loaded)
