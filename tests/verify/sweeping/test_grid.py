"""Grids: the values of the axes, the instances that they make, and texts that read back."""

import math
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_grid import POINTS, write_grid

from verify.errors import InputError
from verify.sweeping.grid import LogRange, Range
from verify.sweeping.points import load_grid, with_values
from verify.sweeping.toml import toml_text
from verify.sweeping.work import audit_unit, level_of, plan_unit


def values(source: Range | LogRange) -> list[float]:
    return [source.value(i) for i in range(len(source))]


def test_ranges_include_both_ends() -> None:
    assert values(Range(start=1, stop=7, step=2)) == [1, 3, 5, 7]
    assert values(Range(start=0.0, stop=0.3, step=0.1)) == [0.0, 0.1, 0.2, 0.3]
    assert values(Range(start=5, stop=1, step=-2)) == [5, 3, 1]
    assert values(Range(start=-1.0, stop=1.0, count=5)) == [-1.0, -0.5, 0.0, 0.5, 1.0]
    assert values(LogRange(start=0.01, stop=100, count=5)) == [0.01, 0.1, 1.0, 10.0, 100.0]
    assert values(LogRange(start=1, stop=64, count=4, integer=True)) == [1, 4, 16, 64]


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e6), st.integers(2, 50))
def test_log_ranges_have_equal_ratios(start: float, factor: float, count: int) -> None:
    found = values(LogRange(start=start, stop=start * factor, count=count))
    assert found[0] == start
    assert found[-1] == start * factor
    for a, b in pairwise(found):
        assert b / a == pytest.approx(factor ** (1 / (count - 1)), rel=1e-10)


def test_points_run_through_all_combinations_the_last_axis_fastest(tmp_path: Path) -> None:
    grid = load_grid(write_grid(tmp_path), 100)
    instances = [p.instance for p in grid.points()]
    keys = ("algorithm.H", "problem.curvature[0]", "game.offset[1]", "problem.centre[0][1]")
    found = [tuple(p.values[key] for key in keys) for p in grid.points()]
    made = [
        (i.algorithm.H, i.problem.curvature[0], i.game.offset[1], i.problem.centre[0][1]) for i in instances
    ]
    assert made == found
    linked = [(1.0, -3.0), (0.7, -4.0), (0.4, -5.0)]
    assert found == [(H, a, b, c) for H in (1, 2) for a, b in linked for c in (0.0, 1.0)]
    assert len(grid) == POINTS
    assert {p.instance.algorithm.x_0 for p in grid.points()} == {2.0}


def test_what_an_instance_is_called_does_not_matter_and_all_else_does(tmp_path: Path) -> None:
    point = load_grid(write_grid(tmp_path), 100).point(0).instance
    same = point.model_copy(update={"name": "other", "title": "Another"})
    assert audit_unit(point, 0.01) == audit_unit(same, 0.01)
    longer = point.model_copy(update={"algorithm": point.algorithm.model_copy(update={"R": 41})})
    reseeded = point.model_copy(update={"run": point.run.model_copy(update={"seed": 1})})
    different = [(point, 0.01), (point, 0.02), (longer, 0.01), (reseeded, 0.01)]
    assert len({audit_unit(*content).key for content in different}) == 4
    assert plan_unit(point, 0.5).key == plan_unit(longer, 0.5).key == plan_unit(reseeded, 0.5).key
    assert plan_unit(point, 0.5).key != plan_unit(point, 0.25).key


def test_the_engine_version_is_part_of_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point = load_grid(write_grid(tmp_path), 100).point(0).instance
    before = audit_unit(point, 0.01).key
    monkeypatch.setattr("verify.sweeping.work.engine_version", lambda: "another")
    assert audit_unit(point, 0.01).key != before


@given(st.integers(1, 10**9))
def test_levels_add_up_to_at_most_alpha(verdicts: int) -> None:
    each = level_of(0.01, verdicts)
    assert each * verdicts <= 0.01 < 2 * each * verdicts
    assert math.log2(0.01 / each) == round(math.log2(0.01 / each))


def test_setting_a_value_leaves_the_base_alone() -> None:
    base = {"a": {"b": [1, [2, 3]]}, "c": 4}
    assert with_values(base, {"a.b[1][0]": 9, "c": [5]}) == {"a": {"b": [1, [9, 3]]}, "c": [5]}
    assert base == {"a": {"b": [1, [2, 3]]}, "c": 4}


_SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
)
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=4), max_leaves=10)


_KEYS = st.text(min_size=1, max_size=8)
_TABLES = st.recursive(
    st.dictionaries(_KEYS, _VALUES, max_size=4),
    lambda inner: st.dictionaries(_KEYS, st.one_of(_VALUES, inner), max_size=3),
    max_leaves=8,
)


@given(_TABLES)
def test_tables_written_as_toml_read_back_equal(table: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(table)) == table


def test_a_misspelt_key_of_a_grid_is_named(tmp_path: Path) -> None:
    path = tmp_path / "g.toml"
    path.write_text(
        'name = "g"\nbase = "digits-convex"\n[[axs]]\nkey = "algorithm.H"\nvalues = [1]\n', "utf-8"
    )
    with pytest.raises(InputError, match=r"axs: no such key"):
        load_grid(path, most=10)
