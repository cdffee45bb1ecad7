"""Files that commands are asked to write: refused in one line before any work where they cannot be written."""

from pathlib import Path

import pytest

from verify import error_rates, measured_rates
from verify.errors import InputError
from verify.experiments.figures import loss_curves
from verify.experiments.figures.style import redraw
from verify.output import check_file, write_file
from verify.pep import __main__ as pep
from verify.pep import tables


@pytest.fixture
def no_work(monkeypatch):
    def work(*_, **__):
        raise AssertionError("the work began before its file was looked at")

    for module, name in ((measured_rates, "page"), (tables, "run")):
        monkeypatch.setattr(module, name, work)


def test_a_folder_and_a_missing_folder_are_no_file(tmp_path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "a.md", tmp_path / ("a" * 300) / "b"):
        with pytest.raises(InputError, match="--out"):
            check_file("--out", path)
    check_file("--out", tmp_path / "a.md")
    write_file("--out", tmp_path / "a.md", "é")
    assert (tmp_path / "a.md").read_bytes() == "é".encode()
    check_file("--out", tmp_path / "a.md")


def test_what_fails_at_the_end_is_one_line_too(tmp_path) -> None:
    for path in (tmp_path, tmp_path / ("a" * 300), Path("/proc/nothing/here")):
        with pytest.raises(InputError, match=r"--docs .* cannot be written: "):
            write_file("--docs", path, b"x")


def test_error_rates_looks_first(tmp_path, no_work) -> None:
    with pytest.raises(InputError, match="create it first"):
        error_rates.main(["--out", str(tmp_path / "no" / "a.md")])
    with pytest.raises(InputError, match="give an integer >= 1"):
        error_rates.main(["--repetitions", "0"])


def test_pep_looks_first(tmp_path, no_work) -> None:
    with pytest.raises(InputError, match="is a folder: give a file"):
        pep.main(["--docs", str(tmp_path)])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: FILE.csv"),
        (["a.csv", "--out", "a.pdf"], "give a name that ends in .png or .svg"),
        (["a.csv", "--out", "/proc/nothing/a.png"], "is not a folder"),
        (["a.csv", "--size", "3"], "unrecognized arguments"),
    ],
)
def test_a_figures_command_says_one_line(arguments, words, capsys) -> None:
    with pytest.raises(SystemExit) as stop:
        redraw(loss_curves.draw, arguments)
    assert stop.value.code == 2
    said = capsys.readouterr().err.strip()
    assert words in said
    assert "\n" not in said
