"""The paper's experiments at small sizes: what they return, the files they write, the data they take."""

import gzip
import json
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from simulate.data import DataError
from verify.errors import InputError
from verify.experiments import Experiment, Outcome, Table, run_all, run_section, training
from verify.experiments.__main__ import check_out, main
from verify.experiments.data import load, proportional_sizes, skewed_split, stand_in
from verify.experiments.figures import aggregate, contributions, loss_curves, starts
from verify.experiments.figures.style import redraw
from verify.experiments.instances import UPPER

DRAW = {m.__name__: m.draw for m in (aggregate, contributions, loss_curves, starts)}


@pytest.fixture(scope="module")
def found() -> dict[str, Experiment]:
    """All three, small."""
    seen: list[str] = []
    experiments = run_all(0, lambda what, done, total: seen.append(what), quick=True)
    assert {"zero-sum game", "welfare selection", "training with H = 20"} <= set(seen)
    return {e.id: e for e in experiments}


def by_where(experiment: Experiment, sentence: int) -> list[Outcome]:
    return [f.outcome for f in experiment.findings if f.where.endswith(f"sentence {sentence}")]


def test_the_figures_are_the_papers(found: dict[str, Experiment]) -> None:
    names = {k: [d.name for d in e.drawings] for k, e in found.items()}
    assert names == {
        "Section 5.1": ["5.1-loss", "5.1-contributions"],
        "Section 5.2": ["5.2-contributions", "5.2-contributions-as-drawn", "5.2-aggregate"],
        "Section 5.3": ["5.3-loss", "5.3-contributions", "5.3-contributions-high", "5.3-starts"],
    }
    for drawing in (d for e in found.values() for d in e.drawings):
        assert drawing.png.startswith(b"\x89PNG")
        assert drawing.svg.startswith(b"<?xml")
        assert drawing.caption
        about = drawing.table.about
        assert "Data:" in about["note"] or "no images enter" in about["note"], drawing.name
        assert drawing.module in DRAW


def test_a_figure_can_be_drawn_again_from_its_numbers(found: dict[str, Experiment], tmp_path: Path) -> None:
    for drawing in (d for e in found.values() for d in e.drawings if d.name in ("5.1-loss", "5.2-aggregate")):
        read = Table.from_csv(drawing.table.to_csv())
        assert dict(read.about) == dict(drawing.table.about)
        for name, column in drawing.table.columns.items():
            assert np.array_equal(read.columns[name], column)
        path = tmp_path / f"{drawing.name}.csv"
        path.write_text(drawing.table.to_csv(), "utf-8")
        with pytest.raises(SystemExit) as ended:
            redraw(DRAW[drawing.module], [str(path)])
        assert ended.value.code == 0
        assert (tmp_path / f"{drawing.name}.png").read_bytes() == drawing.png


def test_redrawing_something_else_ends_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(SystemExit) as ended:
        redraw(loss_curves.draw, [str(path)])
    assert ended.value.code == 2
    assert "other.csv" in capsys.readouterr().err


def test_section_5_1_finds_the_order_of_H_and_the_equilibrium(found: dict[str, Experiment]) -> None:
    experiment = found["Section 5.1"]
    assert by_where(experiment, 13) == by_where(experiment, 14) == [Outcome.AGREES]
    table = next(d.table for d in experiment.drawings if d.name == "5.1-loss")
    last = {H: table.columns["f"][table.columns["H"] == H][-1] for H in (1, 5, 10, 20)}
    assert last[1] > last[5] > last[10] > last[20]
    shares = next(d.table for d in experiment.drawings if d.name == "5.1-contributions").columns
    first, end = (
        np.abs(shares["N"] - shares["N_star"])[shares["round"] == r].max() for r in (0, training.QUICK.rounds)
    )
    assert end == pytest.approx(first * 0.95**training.QUICK.rounds, rel=1e-9)  # gamma_tilde lambda = 0.05


def test_section_5_2_finds_one_equilibrium_and_a_passing_exit(found: dict[str, Experiment]) -> None:
    experiment = found["Section 5.2"]
    for sentence in (1, 3, 9, 10):
        assert by_where(experiment, sentence) == [Outcome.CONTRADICTS]
    assert by_where(experiment, 7) == [Outcome.AGREES]
    table = next(d.table for d in experiment.drawings if d.name == "5.2-aggregate").columns
    drawn = np.char.startswith(table["run"], "$")
    said, passing = table["total"][~drawn], table["total"][drawn]
    assert said[-1] == 46_000
    assert 46_000 in passing
    assert passing[-1] == 60_000


def test_section_5_3_finds_two_limits(found: dict[str, Experiment]) -> None:
    experiment = found["Section 5.3"]
    for sentence in (8, 13, 14):
        assert by_where(experiment, sentence) == [Outcome.CONTRADICTS]
    assert by_where(experiment, 15) == [Outcome.CONTRADICTS, Outcome.CONTRADICTS]
    table = next(d.table for d in experiment.drawings if d.name == "5.3-starts").columns
    assert set(table["limit"]) == {0.0, 1.0}


def test_the_command_writes_the_same_again(
    found: dict[str, Experiment], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second run with the same seed, through the command: the same figures, numbers and findings, to the byte."""
    out = tmp_path / "out"
    assert main(["5.2", "--quick", "--out", str(out)]) == 0
    first = found["Section 5.2"]
    assert json.loads((out / "experiments.json").read_text("utf-8")) == [first.to_json()]
    for drawing in first.drawings:
        assert (out / f"{drawing.name}.png").read_bytes() == drawing.png
        assert (out / f"{drawing.name}.svg").read_bytes() == drawing.svg
        assert (out / f"{drawing.name}.csv").read_text("utf-8") == drawing.table.to_csv()
    assert "[contradicts] Section 5.2, sentence 1" in capsys.readouterr().out
    check_out(out)  # an earlier one may be replaced


def test_a_folder_with_other_files_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="holds other files"):
        main(["5.2", "--quick", "--out", str(tmp_path)])
    with pytest.raises(InputError, match="is a file"):
        main(["5.2", "--quick", "--out", str(tmp_path / "file")])
    with pytest.raises(InputError, match="no folder that can be written"):
        main(["5.2", "--quick", "--out", str(tmp_path / "a" / "b")])
    with pytest.raises(InputError, match="--seed -1"):
        main(["5.2", "--seed", "-1"])


# Data --------------------------------------------------------------------------------------------------------


def write_images(folder: Path, count: int = 80) -> None:
    """Synthetic files of both formats."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
    labels = (np.arange(count) % 10).astype(np.uint8)
    for part in ("train", "t10k"):
        for name, magic, array in (("images-idx3", 0x803, images), ("labels-idx1", 0x801, labels)):
            data = struct.pack(f">{1 + array.ndim}I", magic, *array.shape) + array.tobytes()
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(gzip.compress(data))
    (folder / "cifar").mkdir()
    rows = rng.integers(0, 256, (count, 3073), dtype=np.uint8)
    rows[:, 0] %= 10
    for k in range(1, 6):
        (folder / "cifar" / f"data_batch_{k}.bin").write_bytes(rows[: count // 5].tobytes())


def test_a_folder_gives_mnist_and_cifar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_images(tmp_path)
    monkeypatch.setattr(training, "QUICK", training.Size(2, records=2, seeds=1, hidden=4, most_samples=60))
    both = run_section("5.1", 0, folder=tmp_path, quick=True)
    assert [e.title for e in both] == ["Strongly monotone game, MNIST", "Strongly monotone game, CIFAR-10"]
    assert [d.name for d in both[1].drawings] == ["5.1-cifar-loss", "5.1-cifar-contributions"]
    assert "in place of" not in both[0].data
    assert both[1].settings["gamma"] == "0.005"


def test_folders_that_hold_nothing_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds neither"):
        load(tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"")
    with pytest.raises(InputError, match="train-"):
        load(tmp_path)


def test_shares_have_their_sizes_and_are_skewed() -> None:
    labels = stand_in().samples.labels
    sizes = proportional_sizes(len(labels), UPPER)
    split = skewed_split(labels, sizes, 3)
    assert np.array_equal(split.sizes, sizes)
    joined = np.concatenate(split.clients)
    assert len(np.unique(joined)) == len(joined)
    assert np.array_equal(proportional_sizes(60_000, UPPER), UPPER.astype(int))
    shares = np.stack([np.bincount(labels[c], minlength=10) / len(c) for c in split.clients])
    assert shares.std() > 0.05
    assert all(
        np.array_equal(a, b)
        for a, b in zip(split.clients, skewed_split(labels, sizes, 3).clients, strict=True)
    )
    with pytest.raises(DataError, match="there are"):
        skewed_split(labels[:9], np.array([5, 5]), 0)


def fashion_mnist() -> Path | None:
    """The folder of Debian's dataset-fashion-mnist, if that package is installed."""
    if shutil.which("dpkg") is None:
        return None
    listing = subprocess.run(
        ["dpkg", "-L", "dataset-fashion-mnist"], capture_output=True, text=True, check=False
    )
    found = [Path(line) for line in listing.stdout.splitlines() if "train-images-idx3" in line]
    return found[0].parent if found else None


@pytest.mark.slow
@pytest.mark.skipif(fashion_mnist() is None, reason="Debian's dataset-fashion-mnist is not installed")
def test_fashion_mnist_fills_the_capacities() -> None:
    folder = fashion_mnist()
    images = load(folder)[0]
    sizes = proportional_sizes(len(images.samples.labels), UPPER)
    assert np.array_equal(sizes, UPPER.astype(int))  # the paper's capacities add up to the training set
    assert np.array_equal(skewed_split(images.samples.labels, sizes, 0).sizes, sizes)
