"""Run files: NetCDF through h5netcdf, written whole or not at all, read with distrust.

A run file is data: reading one executes nothing (no pickle, no external or virtual storage, no links out of
the file), and a file of unknown origin is checked for its size, its variables, their dimensions and their
ranges before it is believed.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import h5py  # type: ignore[import-untyped, import-not-found, unused-ignore]
import numpy as np
import xarray as xr

from simulate.problems.base import Problem

SCHEMA = 1
MAGIC = b"\x89HDF\r\n\x1a\n"
MAX_BYTES = 8 << 30  # refuse to load more: a small file can declare any size
DIMENSIONS = {
    "N": ("round", "client"),
    "N_error": ("round",),
    "p": ("round", "client"),
    "p_star": ("client",),
    "k": ("seed", "draw"),
    "grad_f_sq": ("average", "seed", "draw"),
    "e_bar": ("average", "seed", "draw"),
    "f_avg": ("average", "seed", "horizon"),
    "f": ("seed", "record"),
    "grad_f_sq_round": ("seed", "record"),
    "dist_sq": ("seed", "record"),
}
OPTIONAL = {"x_hat": ("seed", "record", "parameter")}  # kept on request: `RunConfig.models`
COORDINATES = ("round", "client", "seed", "average", "horizon", "record")
ATTRIBUTES = ("schema", "config", "problem", "fingerprint", "versions")


class RunFileError(ValueError):
    """A run file that cannot be used; the message names the file and what is wrong."""


def save(dataset: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Writes a run as NetCDF; the file appears complete or not at all.

    Raises:
        RunFileError: if the folder does not exist or cannot be written.
    """
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise RunFileError(
            f"{target}: cannot write here ({error.strerror}); give an existing folder"
        ) from None
    os.close(handle)
    try:
        dataset.to_netcdf(name, engine="h5netcdf")
        commit(name, target)
    finally:
        Path(name).unlink(missing_ok=True)


def commit(name: str | os.PathLike[str], target: Path) -> None:
    """Makes a finished temporary file the target, after its bytes have reached the disk."""
    with open(name, "rb") as file:
        os.fsync(file.fileno())
    os.chmod(name, 0o644)
    os.replace(name, target)


def load(path: str | os.PathLike[str], problem: Problem | None = None) -> xr.Dataset:
    """Reads a run file and checks it.

    Args:
        problem: if given, the file must come from this very problem (by fingerprint).

    Raises:
        RunFileError: for anything that is not a whole, consistent run of this schema.
    """
    source = Path(path)
    check_container(source)
    try:
        with xr.open_dataset(source, engine="h5netcdf", decode_times=False) as opened:
            _check_layout(source, opened)
            dataset = opened.load()
    except RunFileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, AttributeError, MemoryError) as error:
        raise RunFileError(
            f"{source}: damaged or not a run file ({type(error).__name__}: {_one_line(error)})"
        ) from None
    dataset["average"] = dataset["average"].astype(str)
    _check_content(source, dataset)
    if problem is not None and dataset.attrs["fingerprint"] != problem.fingerprint():
        raise RunFileError(
            f"{source}: its run is of another problem ({dataset.attrs['problem']}) than the one given"
        )
    return dataset


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:120]


def check_container(source: Path) -> None:
    """Raises RunFileError unless `source` is a flat NetCDF-4 file that holds its own data."""
    if not source.exists():
        raise RunFileError(f"{source}: no such file")
    if not source.is_file():
        raise RunFileError(f"{source}: not a file; give a NetCDF run file")
    try:
        with open(source, "rb") as file:
            magic = file.read(len(MAGIC))
    except OSError as error:
        raise RunFileError(f"{source}: cannot be read ({error.strerror})") from None
    if magic != MAGIC:
        raise RunFileError(f"{source}: not NetCDF-4 (its first bytes are {magic!r})")
    try:
        with h5py.File(source, "r") as file:
            for name in file:
                link = file.get(name, getlink=True)
                if not isinstance(link, h5py.HardLink):
                    raise RunFileError(f"{source}: {name} is a link; run files hold their own data")
                item = file[name]
                if not isinstance(item, h5py.Dataset):
                    raise RunFileError(f"{source}: {name} is a group; run files are flat")
                if item.external or item.is_virtual:
                    raise RunFileError(f"{source}: {name} is stored outside the file")
    except (OSError, KeyError, RuntimeError) as error:
        raise RunFileError(f"{source}: damaged ({_one_line(error)})") from None


def _check_layout(source: Path, dataset: xr.Dataset) -> None:
    for name in ATTRIBUTES:
        if name not in dataset.attrs:
            raise RunFileError(f"{source}: attribute {name} is missing; is it a run file?")
    if int(dataset.attrs["schema"]) != SCHEMA:
        raise RunFileError(f"{source}: schema {dataset.attrs['schema']}; this version reads schema {SCHEMA}")
    for name in COORDINATES:
        if name not in dataset.coords or dataset[name].dims != (name,):
            raise RunFileError(f"{source}: coordinate {name} is missing")
    for name, dims in {**DIMENSIONS, **OPTIONAL}.items():
        if name not in dataset.data_vars:
            if name in OPTIONAL:
                continue
            raise RunFileError(f"{source}: variable {name} is missing")
        variable = dataset[name]
        if variable.dims != dims:
            raise RunFileError(f"{source}: {name} has dims {variable.dims}; a run has {dims}")
        wanted = "i" if name == "k" else "f"
        if variable.dtype.kind != wanted:
            raise RunFileError(f"{source}: {name} has type {variable.dtype}; a run has kind {wanted!r}")
    if dataset.nbytes > MAX_BYTES:
        raise RunFileError(f"{source}: declares {dataset.nbytes} bytes; at most {MAX_BYTES} are read")


def _check_content(source: Path, dataset: xr.Dataset) -> None:
    try:
        config: Any = json.loads(dataset.attrs["config"])
        H, R, r_hat = (int(config[key]) for key in ("H", "R", "r_hat"))
    except (ValueError, KeyError, TypeError):
        raise RunFileError(f"{source}: attribute config is not a run's configuration") from None
    if dataset.sizes["round"] != R + 1:
        raise RunFileError(f"{source}: {dataset.sizes['round']} rounds, config says R + 1 = {R + 1}")
    if dataset["average"].values.tolist() != ["p_now", "p_next"]:
        raise RunFileError(
            f"{source}: average = {dataset['average'].values.tolist()}; a run has p_now, p_next"
        )
    if np.any(dataset["k"] < H * r_hat) or np.any(dataset["k"] >= H * R):
        raise RunFileError(f"{source}: k leaves [{H * r_hat}, {H * R})")
    if np.any(np.isnan(dataset["N_error"])):
        raise RunFileError(f"{source}: N_error holds NaN")
    for name in ("N", "p", "p_star"):
        if not np.all(np.isfinite(dataset[name])):
            raise RunFileError(f"{source}: {name} holds a value that is not finite")
    for name in ("N_error", "p", "p_star", "grad_f_sq", "e_bar", "grad_f_sq_round", "dist_sq"):
        if np.any(dataset[name] < 0):
            raise RunFileError(f"{source}: {name} holds a negative value")
