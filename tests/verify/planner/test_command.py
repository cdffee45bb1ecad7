"""The command line: plans, certificates, bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verify.errors import InputError
from verify.instance import load_instance
from verify.plan import main
from verify.planner.front import make_plan
from verify.planner.instance import Known, constants_of
from verify.planner.simulated import simulate_plan


@pytest.fixture
def file(tmp_path: Path, constants: dict[str, Any]) -> Path:
    path = tmp_path / "constants.toml"
    path.write_text("\n".join(f"{n} = {v}" for n, v in constants.items()) + "\nH = 4\n", "utf-8")
    return path


def test_a_plan_and_its_check(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan.json"
    assert main(["--constants", str(file), "--epsilon", "0.1", "--out", str(out)]) == 0
    assert "proved not to be enough" in capsys.readouterr().out
    assert main(["--check", str(out)]) == 0
    assert "stands" in capsys.readouterr().out
    data = json.loads(out.read_text("utf-8"))
    data["constants"]["L"]["value"] = data["constants"]["L"]["used"] = 2.4
    out.write_text(json.dumps(data), "utf-8")
    assert main(["--check", str(out)]) == 1
    assert "does not stand" in capsys.readouterr().out


def test_editions_and_front(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--constants", str(file), "--epsilon", "0.1", "--edition", "all"]) == 0
    text = capsys.readouterr().out
    assert all(edition in text for edition in ("printed", "corrected", "sharp"))
    assert main(["--constants", str(file), "--epsilon", "0.1", "--H", "1", "2", "4"]) == 0
    assert "front" in capsys.readouterr().out


def test_no_plan_says_why(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--constants", str(file), "--epsilon", "0.1", "--R", "10"]) == 1
    assert "warm-up alone takes" in capsys.readouterr().out
    assert main(["--constants", str(file), "--epsilon", "0.1", "--R", "100"]) == 1
    assert "the best bound is" in capsys.readouterr().out
    assert main(["--constants", str(file), "--epsilon", "0.1", "--gamma", "5"]) == 1
    assert "the hypotheses allow at most" in capsys.readouterr().out
    assert main(["--constants", str(file), "--epsilon", "0.1", "--set", "mu_F=0"]) == 1
    assert "not strongly monotone" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epsilon", "-1"], "epsilon = -1.0: give a finite number > 0"),
        (["--epsilon", "nan"], "epsilon = nan"),
        (["--epsilon", "0.1", "--theorem", "4.7"], "theorem = '4.7'"),
        (["--epsilon", "0.1", "--edition", "nice"], "nice"),
        (["--epsilon", "0.1", "--set", "nu=-2"], "nu"),
        (["--epsilon", "0.1", "--set", "zeta=2"], "zeta: no such constant"),
        (["--epsilon", "0.1", "--set", "L=x"], "give NAME=NUMBER"),
        (["--epsilon", "0.1", "--R", "5", "--r-hat", "9"], "r_hat = 9"),
        (["--epsilon", "0.1", "--H", "0"], "H = 0"),
        ([], "--epsilon is missing"),
        (["--epsilon", "0.1", "--simulate"], "--simulate: it needs --instance"),
    ],
)
def test_bad_input_is_one_line(file: Path, words: list[str], message: str) -> None:
    with pytest.raises(InputError) as error:
        main(["--constants", str(file), *words])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "plan"}', '{"kind": "plan", "theorem": "4.6"}'])
def test_a_broken_certificate_is_bad_input(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError):
        main(["--check", str(path)])


@pytest.fixture(scope="module")
def digits() -> Known:
    return constants_of(load_instance("digits-convex"))


@pytest.mark.parametrize(
    ("theorem", "epsilon"), [("4.6", 1.0), pytest.param("4.9", 0.5, marks=pytest.mark.slow)]
)
def test_simulated_plans_on_digits_meet_epsilon(theorem: str, epsilon: float, digits: Known) -> None:
    for start in ("auto", "warm"):
        plan = make_plan("digits-convex", epsilon, theorem, "sharp", start=start)
        assert plan.certificate["rests_on"] == "certified"
        seen = simulate_plan(plan, digits, seeds=4, most_rounds=1200)
        assert seen.complete
        assert seen.learning_high < epsilon
        assert seen.promised <= epsilon
        assert seen.distance < seen.promised_distance
