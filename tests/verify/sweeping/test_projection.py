"""The page's projection is what its own figures say, and what the benchmark would write today."""

import json
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        return import_module("bench_sweep")


def test_the_page_is_written_from_one_set_of_figures(bench: ModuleType) -> None:
    _, marker, written = (ROOT / "docs" / "sweeps.md").read_text("utf-8").partition(bench.MARKER)
    held = written.split("-->", 1)[0].split("<!--", 1)[1]
    figures = json.loads(held)
    assert marker + written == bench.generated(figures)
    for name, value in bench.projection(figures).items():
        assert figures[name] == pytest.approx(value, rel=1e-4)


def test_the_figures_hang_together(bench: ModuleType) -> None:
    text = (ROOT / "docs" / "sweeps.md").read_text("utf-8")
    figures = json.loads(text.partition(bench.MARKER)[2].split("-->", 1)[0].split("<!--", 1)[1])
    n = figures["instances"]
    assert figures["result_bytes_a_row"] * 15 == pytest.approx(figures["result_bytes_an_instance"], rel=1e-4)
    assert figures["result_bytes_a_row"] < 1000  # the most that a row may take
    assert figures["overhead_share"] == pytest.approx(
        figures["overhead_seconds_a_task"] / (bench.BLOCK * figures["wall_1"] / n), rel=1e-4
    )
    assert figures["overhead_share"] < 0.05
    assert figures["speed_up"] == pytest.approx(figures["wall_1"] / figures["wall_2"], rel=1e-4)
