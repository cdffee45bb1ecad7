"""Every kind of problem, game, welfare loss and data source: documented, parsed, built."""

import importlib.util
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from image_files import example

import bounds
from verify.applicable import NotApplicable
from verify.errors import InputError
from verify.instance import builtin_instances, load_instance, parse_instance
from verify.schema.data import AnyData
from verify.schema.games import AnyGame
from verify.schema.problems import AnyProblem
from verify.schema.welfare import AnyWelfare
from verify.setup import build, checks

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
HAS_TORCH = importlib.util.find_spec("torch") is not None


def kinds(union) -> set[str]:
    found = set()
    for one in get_args(get_args(union)[0]):
        table = get_args(one)[0] if get_args(one) else one
        key = "source" if "source" in table.model_fields else "kind"
        found |= {str(v) for v in get_args(table.model_fields[key].annotation)} or {"python"}
    return found


def loaded(path: Path):
    return load_instance(str(path), allow_code=True)


def test_every_kind_has_an_example() -> None:
    seen: dict[str, set[str]] = {"data": set(), "problem": set(), "game": set(), "welfare": set()}
    for path in EXAMPLES:
        instance = loaded(path)
        for key, found in seen.items():
            table = getattr(instance, key)
            if table is not None:
                kind = table.source if key == "data" else table.kind
                found.add("python" if kind.startswith("python:") else kind)
    assert seen["problem"] == kinds(AnyProblem)
    assert seen["game"] == kinds(AnyGame)
    assert seen["welfare"] == kinds(AnyWelfare)
    assert seen["data"] | {"fashion"} == kinds(AnyData)  # fashion has MNIST's format


def test_the_page_is_what_the_schema_and_the_examples_say() -> None:
    specification = importlib.util.spec_from_file_location("instances_page", ROOT / "docs" / "instances.py")
    page = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(page)
    assert page.PAGE.read_text("utf-8") == page.text(), "run: python docs/instances.py"


def test_every_toml_block_of_the_page_is_an_instance() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "instances.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) == len(EXAMPLES)
    for block in blocks:
        parse_instance(block, "a block of docs/instances.md", allow_code=True)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_builds_and_every_statement_has_an_answer(path: Path, at_data) -> None:
    instance = loaded(path)
    if instance.problem.kind == "cnn" and not HAS_TORCH:
        with pytest.raises(InputError, match=r"needs PyTorch: pip install"):
            build(instance)
        return
    answers(build(instance))


def answers(setup) -> None:
    """Every statement of the paper: constants whose hypotheses can be checked, or one line why there are none."""
    for statement in bounds.ids():
        for edition in bounds.editions(statement):
            entry = bounds.get(statement, edition)
            constants, why = {}, ""
            try:
                constants = setup.constants(entry)
            except (NotApplicable, bounds.HypothesisFails) as error:
                why = str(error)
            assert bool(constants) != bool(why)
            assert "\n" not in why
            entry.check(constants)


@pytest.mark.parametrize("name", builtin_instances())
def test_a_built_in_instance_builds(name: str) -> None:
    setup = build(load_instance(name))
    answers(setup)
    for statement, edition in checks(setup.instance):
        assert bounds.get(statement, edition)
    assert np.all(np.isfinite(setup.config.x_0))


def test_the_profiles() -> None:
    quick = builtin_instances("quick")
    assert {"digits-convex", "theorem-4.9-drift", "theorem-4.10-corner", "monotone-averages"} <= set(quick)
    assert set(builtin_instances("full")) == {"section-5.1", "section-5.2", "section-5.3"}
    assert set(builtin_instances()) == set(quick) | set(builtin_instances("full"))


def test_fashion_is_read_like_mnist(at_data) -> None:
    text = example("mnist-power-law").replace('source = "mnist"', 'source = "fashion"')
    assert build(parse_instance(text, "here")).problem.m == 3


def test_a_users_code_runs_only_when_allowed(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "trap_of_mine.py").write_text("raise SystemExit('imported')", "utf-8")
    monkeypatch.chdir(tmp_path)
    text = example("own-code").replace("examples.own_code.Ridge", "trap_of_mine.Ridge")
    with pytest.raises(InputError, match=r"problem\.kind = 'python:trap_of_mine\.Ridge' runs your own code"):
        parse_instance(text, "here")
    parse_instance(text, "here", allow_code=True)  # reading imports nothing either


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("own_code.Ridge", "own_code.Nothing", "AttributeError"),
        ("own_code.Ridge", "nowhere.Ridge", "ModuleNotFoundError"),
        ("own_code.Ridge", "own_code.TwoClients", "TypeError"),
        ("coupling = 0.25", "coupling = 'x'", "TwoClients"),
        ("constants = { mu_F", "# { mu_F", "game.constants with L_F"),
        ("own_code.TwoClients", "own_code.Ridge", "TypeError"),
    ],
)
def test_what_is_wrong_with_a_users_code_is_one_line(old: str, new: str, said: str) -> None:
    text = example("own-code")
    assert old in text
    with pytest.raises(InputError) as error:
        build(parse_instance(text.replace(old, new, 1), "here", allow_code=True))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_the_constants_of_a_users_own_class_are_its_word() -> None:
    """The example's class labels its constants itself; nobody has seen a proof."""
    setup = build(parse_instance(example("own-code"), "here", allow_code=True))
    labels = {
        n: c.provenance for n, c in setup.constants(bounds.get("Theorem 4.6(i-1)", "corrected")).items()
    }
    assert {labels[name] for name in ("L", "nu", "G", "B", "mu_F", "L_F")} == {bounds.Provenance.GIVEN}
