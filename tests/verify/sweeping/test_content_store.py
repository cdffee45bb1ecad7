"""The store: what was added is there, what was damaged is not."""

from pathlib import Path

import pytest

from verify.errors import InputError
from verify.sweeping.store import open_store


def test_values_come_back_and_later_ones_win(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        sizes = [store.add("a", {"x": 0.1}), store.add("b", [1, None, "inf"]), store.add("a", {"x": 0.2})]
        assert store["a"] == {"x": 0.2}
    assert sum(sizes) == (tmp_path / "results.jsonl").stat().st_size
    with open_store(tmp_path) as store:
        assert store["a"] == {"x": 0.2}
        assert store["b"] == [1, None, "inf"]
        assert "c" not in store
        assert store.corrupted == 0


@pytest.mark.parametrize("at", [0, 30, 64, 70, 90])
def test_any_changed_byte_is_noticed(at: int, tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.add("a", {"x": 0.123456})
        store.add("b", 2)
    log = tmp_path / "results.jsonl"
    content = bytearray(log.read_bytes())
    content[at] ^= 1
    log.write_bytes(content)
    with open_store(tmp_path) as store:
        assert "a" not in store
        assert store["b"] == 2
        assert store.corrupted == 1


@pytest.mark.parametrize("cut", [1, 5, 60])
def test_a_torn_last_line_is_dropped_and_the_next_entry_stands_on_its_own_line(
    cut: int, tmp_path: Path
) -> None:
    with open_store(tmp_path) as store:
        store.add("a", 1)
        store.add("b", 2)
    log = tmp_path / "results.jsonl"
    log.write_bytes(log.read_bytes()[:-cut])
    with open_store(tmp_path) as store:
        assert "b" not in store
        store.add("c", 3)
        assert store["c"] == 3
    with open_store(tmp_path) as store:
        assert store["a"] == 1
        assert store["c"] == 3


def test_all_logs_of_the_folder_are_read(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with open_store(tmp_path / name) as store:
            store.add(name, name)
    (tmp_path / "two" / "results.jsonl").rename(tmp_path / "one" / "second.jsonl")
    with open_store(tmp_path / "one") as store:
        assert (store["one"], store["two"]) == ("one", "two")
    with open_store(tmp_path / "one", fresh=True) as store:
        assert "one" not in store
        assert "two" not in store


def test_a_store_serves_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        open_store(tmp_path),
        pytest.raises(InputError, match="in use by another sweep"),
        open_store(tmp_path),
    ):
        pass
