"""`python -m verify.search`, and the stored winners."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bounds
from verify import search
from verify.errors import InputError
from verify.instance import load_instance
from verify.searching.names import SEARCHABLE
from verify.searching.objective import TARGETS
from verify.searching.store import Stored, stored, table
from verify.searching.worst import searchable

DOCS = Path(__file__).parents[3] / "docs" / "tightness.md"
ITEMS = list(stored().items())
VIOLATED = {("Lemma 4.4(iv)", "printed"), ("Theorem 4.9(i-1)", "printed"), ("Theorem 4.10(i)", "printed")}


def test_the_command_knows_the_families_by_name() -> None:
    assert SEARCHABLE == searchable() == tuple(TARGETS)


def test_every_searchable_edition_is_stored_and_only_three_are_violated() -> None:
    assert set(stored()) == {(id, str(e)) for id in searchable() for e in bounds.editions(id)}
    assert {key for key, item in ITEMS if item.outcome == "violated"} == VIOLATED
    for key, item in ITEMS:
        assert (item.ratio > 1) == (key in VIOLATED)
        assert item.largest <= 1 or key in VIOLATED


@pytest.mark.parametrize(("key", "item"), ITEMS, ids=[" ".join(key) for key, _ in ITEMS])
def test_every_stored_ratio_is_proved_again(key: tuple[str, str], item: Stored) -> None:
    proof = item.recheck()
    assert str(proof.verdict.outcome) == item.outcome
    assert all(h.holds is True for h in proof.verdict.hypotheses)
    assert proof.low == pytest.approx(item.ratio, rel=1e-9)
    assert proof.high == pytest.approx(item.ratio_high, rel=1e-9)


@pytest.mark.slow
def test_every_stored_ratio_from_before_the_shrinking_is_proved_again() -> None:
    checked = 0
    for item in stored().values():
        proof = item.recheck_found()
        if proof is not None:
            assert proof.low == pytest.approx(item.searched, rel=1e-9)
            checked += 1
    assert checked >= len(stored()) // 2


def test_the_page_is_the_table_of_what_is_stored(capsys: pytest.CaptureFixture[str]) -> None:
    assert search.main(["--table"]) == 0
    assert capsys.readouterr().out == DOCS.read_text("utf-8") == table(list(stored().values()))


def test_the_command_writes_an_instance_that_reads_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "worst.toml"
    words = ["Lemma 4.3(ii)", "--edition", "sharp", "--budget", "128", "--jobs", "1", "--out", str(out)]
    assert search.main(words) == 0
    assert "observed/bound = " in capsys.readouterr().out
    assert load_instance(str(out)).check.statements == ["Lemma 4.3(ii)"]
    assert search.main([*words, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["instance"] == out.read_text("utf-8")
    assert made["verdict"]["outcome"] == "holds"


BAD = {
    "unknown statement": (["Lemma 9.9"], "'Lemma 9.9'"),
    "no family": (["Lemma 4.2"], "no search family"),
    "unknown edition": (["Lemma 4.3(i)", "--edition", "final"], "final"),
    "nothing asked": ([], "give one of"),
    "two things asked": (["Lemma 4.3(i)", "--table"], "give one of"),
    "no budget": (["Lemma 4.3(i)", "--budget", "0"], "--budget 0"),
    "a seed that is no number": (["Lemma 4.3(i)", "--seed", "x"], "--seed x"),
    "no folder": (["Lemma 4.3(i)", "--out", "/nowhere/at/all.toml"], "--out /nowhere/at/all.toml"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case: str) -> None:
    words, says = BAD[case]
    with pytest.raises(InputError) as caught:
        search.main(words)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
