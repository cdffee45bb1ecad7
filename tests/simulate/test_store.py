"""Run files: saved and loaded equal; hostile, damaged and foreign ones refused, executing nothing."""

import os
import pickle
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

from simulate import RunConfig, RunFileError, load, run, save
from tests.simulate.conftest import small_game, small_quadratics, small_softmax

PROBLEM = small_quadratics()


@pytest.fixture(scope="module")
def dataset() -> xr.Dataset:
    config = RunConfig(
        gamma=0.1,
        gamma_tilde=0.1,
        H=2,
        R=6,
        N_0=np.full(3, 2.0),
        x_0=np.zeros(4),
        seeds=3,
        draws=4,
        horizons=(3, 6),
        records=3,
    )
    return run(PROBLEM, small_game(3), config)


def test_saved_and_loaded_runs_are_equal(dataset: xr.Dataset, tmp_path: Path) -> None:
    save(dataset, tmp_path / "run.nc")
    again = load(tmp_path / "run.nc", PROBLEM)
    assert dataset.identical(again)
    assert all(dataset[name].dtype == again[name].dtype for name in dataset.variables)
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_anyone_can_open_it(dataset: xr.Dataset, tmp_path: Path) -> None:
    save(dataset, tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc") as file:
        assert file["grad_f_sq"].shape == (2, 3, 4)


class Bomb:
    def __reduce__(self) -> tuple:
        return os.mkdir, ("pickle-was-executed",)


def test_a_pickle_is_refused_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.nc").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(RunFileError, match="not NetCDF-4"):
        load("run.nc")
    assert not Path("pickle-was-executed").exists()


def test_every_truncation_is_refused(dataset: xr.Dataset, tmp_path: Path) -> None:
    save(dataset, tmp_path / "run.nc")
    whole = (tmp_path / "run.nc").read_bytes()
    for share in (0.0, 0.001, 0.2, 0.5, 0.9, 0.999):
        (tmp_path / "cut.nc").write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(RunFileError, match=r"cut\.nc: "):
            load(tmp_path / "cut.nc")


def test_flipped_bytes_never_escape_as_another_error(dataset: xr.Dataset, tmp_path: Path) -> None:
    save(dataset, tmp_path / "run.nc")
    whole = bytearray((tmp_path / "run.nc").read_bytes())
    rng = np.random.default_rng(0)
    messages = []
    for _ in range(25):
        broken = bytearray(whole)
        for at in rng.integers(0, len(whole), 40):
            broken[at] ^= int(rng.integers(1, 256))
        (tmp_path / "broken.nc").write_bytes(broken)
        try:
            load(tmp_path / "broken.nc")
        except RunFileError as error:
            messages.append(str(error))
    assert messages
    assert not any("\n" in message for message in messages)


def change(dataset: xr.Dataset, **variables: object) -> xr.Dataset:
    return dataset.assign({name: (dataset[name].dims, value) for name, value in variables.items()})


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda d: d.drop_vars("k"), "variable k is missing"),
        (lambda d: d.drop_vars("record"), "coordinate record is missing"),
        (lambda d: d.assign_attrs(schema=7), "schema 7"),
        (lambda d: d.assign_attrs(config="{}"), "not a run's configuration"),
        (lambda d: d.assign_attrs(config="not json"), "not a run's configuration"),
        (lambda d: d.drop_attrs(), "attribute schema is missing"),
        (lambda d: d.isel(round=slice(0, 3)), "R \\+ 1 = 7"),
        (lambda d: d.assign(f=(("record", "seed"), d.f.values.T)), "f has dims"),
        (lambda d: change(d, k=d.k.values.astype(float)), "k has type float64"),
        (lambda d: change(d, k=d.k.values + 100), "k leaves"),
        (lambda d: change(d, N=d.N.values * np.nan), "N holds a value that is not finite"),
        (lambda d: change(d, e_bar=-1 - d.e_bar.values), "e_bar holds a negative value"),
        (lambda d: d.assign_coords(average=["a", "b"]), "average = "),
    ],
)
def test_foreign_files_are_refused_by_name(
    spoil: object, words: str, dataset: xr.Dataset, tmp_path: Path
) -> None:
    spoil(dataset).to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with pytest.raises(RunFileError, match=words):
        load(tmp_path / "run.nc")


def test_another_problems_run_is_refused(dataset: xr.Dataset, tmp_path: Path) -> None:
    save(dataset, tmp_path / "run.nc")
    with pytest.raises(RunFileError, match="another problem"):
        load(tmp_path / "run.nc", small_softmax())


def test_data_outside_the_file_is_refused(dataset: xr.Dataset, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"8 bytes!" * 8)
    save(dataset, tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc", "a") as file:
        file.create_dataset("stolen", (8,), "f8", external=[(str(tmp_path / "secret"), 0, 64)])
    with pytest.raises(RunFileError, match="stolen is stored outside"):
        load(tmp_path / "run.nc")
    save(dataset, tmp_path / "link.nc")
    with h5py.File(tmp_path / "link.nc", "a") as file:
        file["far"] = h5py.ExternalLink("run.nc", "f")
    with pytest.raises(RunFileError, match="far is a link"):
        load(tmp_path / "link.nc")


def test_a_file_that_declares_too_much_is_refused(dataset: xr.Dataset, tmp_path: Path) -> None:
    save(dataset.drop_vars("f"), tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc", "a") as file:
        f = file.create_dataset("f", (3, 10**12), "f8", chunks=(1, 1024))
        f.dims[0].attach_scale(file["seed"])
        del file["record"]
        file.create_dataset("record", (10**12,), "i8", chunks=(1024,)).make_scale("record")
        f.dims[1].attach_scale(file["record"])
    with pytest.raises(RunFileError, match=r"declares|damaged|dims|missing"):
        load(tmp_path / "run.nc")


def test_paths_that_are_no_files(dataset: xr.Dataset, tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="no such file"):
        load(tmp_path / "none.nc")
    with pytest.raises(RunFileError, match="not a file"):
        load(tmp_path)
    with pytest.raises(RunFileError, match="existing folder"):
        save(dataset, tmp_path / "nowhere" / "run.nc")
    (tmp_path / "empty.nc").touch()
    with pytest.raises(RunFileError, match="not NetCDF-4"):
        load(tmp_path / "empty.nc")
