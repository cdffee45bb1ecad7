"""Bad input at every entry: one clear line that names key and value, exit 2, nothing written."""

import subprocess
import sys
from pathlib import Path

import pytest

from verify import constants, error_rates
from verify.errors import InputError
from verify.experiments import __main__ as experiments
from verify.instance import load_instance, parse_instance
from verify.report import main

# (what is replaced in the small instance, by what, what the line must say)
EDITS = {
    "name with a blank": ('"small"', '"so small"', ["name = 'so small': give letters, digits and . _ -"]),
    "unknown key": ("H = 2", "H = 2\nh = 3", ["algorithm.h = 3: no such key"]),
    "misspelt key": ("curvature =", "curvatur =", ["problem.curvatur: no such key", "(and 1 more)"]),
    "missing key": ("R = 300\n", "", ["algorithm.R: it is missing"]),
    "misspelt start": ("x_0 = 3.0", 'x_0 = "minimizer"', ["give 'minimiser', a number, a list or a table"]),
    "misspelt step": ("H = 2", 'H = 2\ngamma = "small"', ["gamma = 'small': give 'largest' or a number"]),
    "no r_hat is enough": (
        "H = 2",
        'H = 2\ngamma = 1e-5\ngamma_tilde = 1e5\nr_hat = "smallest"',
        ["algorithm.r_hat = 'smallest': no r_hat meets the hypotheses"],
    ),
    "unknown table": ("[run]", "[runs]\nx = 1\n[run]", ["runs"]),
    "NaN": ("x_0 = 3.0", "x_0 = nan", ["algorithm.x_0", "nan"]),
    "infinite matrix": ("[[2.0, 0.5", "[[inf, 0.5", ["game.matrix[0][0]", "inf"]),
    "negative size": ("lower = [1.0,", "lower = [-1.0,", ["game.lower[0]", "-1.0"]),
    "lower above upper": ("lower = [1.0,", "lower = [60.0,", ["lower[0] = 60.0", "upper[0] = 50.0"]),
    "offset of the wrong length": ("-3.0, -90.0]", "-3.0]", ["game.offset", "2 entries", "3"]),
    "start outside the box": ("N_0 = [8.0,", "N_0 = [80.0,", ["algorithm.N_0[0] = 80", "[1, 50]"]),
    "start of the wrong length": (
        "N_0 = [8.0, 5.0, 48.0]",
        "N_0 = [8.0]",
        ["algorithm.N_0", "1 entries", "3"],
    ),
    "no local step": ("H = 2", "H = 0", ["algorithm.H = 0"]),
    "rounds as a float": ("R = 300", "R = 300.5", ["algorithm.R = 300.5"]),
    "warm-up past the end": ("R = 300", "R = 300\nr_hat = 300", ["r_hat = 300", "299"]),
    "unknown sampling": ('sampling = "full"', 'sampling = "bootstrap"', ["algorithm.sampling", "bootstrap"]),
    "unknown problem": ('kind = "quadratics"', 'kind = "cubics"', ["problem", "cubics"]),
    "negative curvature": ("curvature = [1.0,", "curvature = [-1.0,", ["problem.curvature[0]", "-1.0"]),
    "ragged centres": ("[-1.0, 0.5]", "[-1.0]", ["centre", "different lengths"]),
    "unknown statement": ('"Lemma 4.3(i)",', '"Lemma 9.9",', ["Lemma 9.9"]),
    "unknown edition": ('"sharp"]', '"final"]', ["check.editions", "final"]),
    "not monotone": ("[[2.0, 0.5", "[[-2.0, 0.5", ["game", "monotone"]),
    "zero step": ("H = 2", "H = 2\ngamma = 0.0", ["algorithm.gamma", "0.0"]),
    "closed form that is not": ("H = 2", "H = 2\nclosed_form = true", ["closed_form", "N_0"]),
    "not TOML": ("[algorithm]", "[algorithm", ["not TOML"]),
    "discovery without data": ('kind = "affine"', 'kind = "discovery"', ["game"]),
}


@pytest.mark.parametrize("case", EDITS)
def test_a_bad_instance_is_one_line_and_writes_nothing(case, small, tmp_path: Path) -> None:
    old, new, said = EDITS[case]
    assert old in small
    path = tmp_path / "bad.toml"
    path.write_text(small.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError) as error:
        main(["--instance", str(path), "--out", str(tmp_path / "out"), "--jobs", "1"])
    message = str(error.value)
    assert "\n" not in message
    for words in said:
        assert words in message
    assert [p.name for p in tmp_path.iterdir()] == ["bad.toml"]


def test_theta_of_the_wrong_length(tmp_path: Path) -> None:
    from importlib import resources

    text = (resources.files("verify") / "instances" / "digits-convex.toml").read_text("utf-8")
    path = tmp_path / "bad.toml"
    path.write_text(text.replace("cost_rate = [0.0613, ", "cost_rate = ["), "utf-8")
    with pytest.raises(InputError, match=r"game.cost_rate has 4 entries: give one per client \(5\)"):
        main(["--instance", str(path), "--out", str(tmp_path / "out")])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "0"], "--seeds 0"),
        (["--seeds", "many"], "--seeds many"),
        (["--seed", "-1"], "--seed -1"),
        (["--jobs", "1.5"], "--jobs 1.5"),
        (["--jobs", "99999999999"], "--jobs 99999999999: give an integer >= 1, at most 1024"),
        (["--seed", "9" * 26], "give an integer >= 0, at most 999999999999999999"),
        (["--only", "Lemma 9.9"], "Lemma 9.9"),
        (["--colour"], "--colour"),
        (["--instance", "no-such-instance"], "no-such-instance"),
        (["--instance", ""], "--instance '': give a built-in name or a TOML file"),
        (["--seeds", "\u00b2"], "--seeds \u00b2: give an integer >= 1"),
        (["--seeds", "--5"], "--seeds"),
        (["--seeds", "9" * 5000], "give an integer >= 1"),
    ],
)
def test_bad_arguments(arguments, said, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        main([*arguments, "--out", str(tmp_path / "out")])
    assert said in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_with_too_long_a_name(small_file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--out .*: File name too long: give another folder"):
        main(["--instance", str(small_file), "--out", str(tmp_path / ("x" * 300))])


def test_a_byte_order_mark_is_read_over(small: str, tmp_path: Path) -> None:
    path = tmp_path / "marked.toml"
    path.write_text("\ufeff" + small, "utf-8")
    assert load_instance(str(path)) == parse_instance(small, "small")


@pytest.mark.parametrize("command", [constants.main, error_rates.main, experiments.main])
def test_every_command_says_what_is_wrong_in_one_line(command) -> None:
    with pytest.raises(InputError, match=r"--colour|required: --instance"):
        command(["--colour"])


def test_only_a_statement_that_is_not_checked(small_file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Lemma 4\.2"):
        main(["--instance", str(small_file), "--only", "Lemma 4.2", "--out", str(tmp_path / "out")])


def test_files_that_cannot_be_instances(tmp_path: Path) -> None:
    empty, binary = tmp_path / "empty.toml", tmp_path / "binary.toml"
    empty.write_text("", "utf-8")
    binary.write_bytes(b"\xff\xfe\x00")
    for path, said in ((empty, "empty"), (binary, "UTF-8"), (tmp_path, "directory")):
        with pytest.raises(InputError, match=said):
            main(["--instance", str(path), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


def test_output_folders_that_must_not_be_touched(small_file: Path, tmp_path: Path) -> None:
    file, full = tmp_path / "file", tmp_path / "full"
    file.write_text("mine", "utf-8")
    full.mkdir()
    (full / "thesis.tex").write_text("mine", "utf-8")
    for out, said in (
        (file, "is a file"),
        (full, "other files"),
        (tmp_path / "no" / "out", "create it first"),
    ):
        with pytest.raises(InputError, match=said):
            main(["--instance", str(small_file), "--out", str(out)])
    assert file.read_text("utf-8") == "mine"
    assert [p.name for p in full.iterdir()] == ["thesis.tex"]


def test_an_unwritable_output_folder(small_file: Path) -> None:
    with pytest.raises(InputError, match=r"--out /proc/report"):
        main(
            [
                "--instance",
                str(small_file),
                "--out",
                "/proc/report",
                "--jobs",
                "1",
                "--only",
                "Theorem 4.6(i-2)",
            ]
        )


def test_the_command_exits_2_with_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "verify.report",
            "--instance",
            str(tmp_path / "none.toml"),
            "--out",
            str(tmp_path / "o"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
