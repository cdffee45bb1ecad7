"""Runs that another implementation made: read with distrust, checked against an instance, nothing invented.

What a file may hold (NetCDF variables, npz arrays, csv columns):

- `N` [round, client] or [seed, round, client], or `N_0`, `N_1`, ... [round]: the participation of rounds 0..R. The
  participation of Algorithm 1 does not depend on the seed, so several seeds must agree on it.
- `loss` [round] or [seed, round]: f(x_hat_r).
- `grad_f_sq` [round] or [seed, round]: ||grad f(x_hat_r)||^2. Where H = 1 these are all the steps that Theorems 4.6
  and 4.10 average over; where H > 1 they are not, and are not used.
- `dist_sq` [round] or [seed, round]: ||x_hat_r - x*||^2.
- `f_avg_p_now`, `f_avg_p_next` [seed]: f at the averaged iterate after the last round, with either weights. In a csv
  file they stand on the row of the last round; the rows before it are empty there, or repeat it.

A csv file has a header; a row is a round (column `round`, from 0 without a gap), of a seed where there is a column
`seed`. A run file of this project's own simulator is read whole. What is not there is not checked, and its name
stands in the verdict's reason.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np
import xarray as xr
from jaxtyping import Float

from simulate.store import MAGIC, RunFileError, check_container
from simulate.store import load as load_own
from verify.errors import InputError

MOST_BYTES = 1 << 28  # of a file, and of what it unpacks to (256 MiB)
PER_ROUND = ("loss", "grad_f_sq", "dist_sq")
PER_SEED = ("f_avg_p_now", "f_avg_p_next")
_CLIENT = re.compile(r"N_(0|[1-9][0-9]{0,6})")
_KINDS = "give .nc, .csv or .npz"


@dataclass(frozen=True, eq=False)
class RunFile:
    """What a file holds, in one form.

    Attributes:
        N: [R + 1, m]; unit: how exactly each entry is given, [R + 1, m] (half a unit in its last place).
        series: `loss`, `grad_f_sq`, `dist_sq` where present, [S, R + 1].
        finals: `f_avg_p_now`, `f_avg_p_next` where present, [S].
        units: for each of these, how exactly its numbers are given (half a unit in the last place).
        own: the dataset, where the file comes from this project's own simulator.
    """

    N: Float[np.ndarray, "rounds m"]
    unit: Float[np.ndarray, "rounds m"]
    series: Mapping[str, Float[np.ndarray, "S rounds"]]
    finals: Mapping[str, Float[np.ndarray, " S"]]
    units: Mapping[str, float]
    own: xr.Dataset | None = None

    @property
    def R(self) -> int:
        """The number of rounds."""
        return len(self.N) - 1

    @property
    def missing(self) -> tuple[str, ...]:
        """The names that the file does not hold."""
        return tuple(n for n in (*PER_ROUND, *PER_SEED) if n not in self.series and n not in self.finals)


def load_run(path: str | Path) -> RunFile:
    """Read a run file (.nc, .csv, .npz).

    Raises:
        InputError: one line, for a file that cannot be read, is damaged or hostile, or whose arrays do not fit.
    """
    source = Path(path)
    try:
        if not source.is_file():
            raise InputError(f"--run {source}: no such file: {_KINDS}")
        if source.stat().st_size > MOST_BYTES:
            raise InputError(f"--run {source}: larger than {MOST_BYTES} bytes: give a smaller run")
        if source.stat().st_size == 0:
            raise InputError(f"--run {source}: the file is empty: {_KINDS}")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"--run {source}: cannot be read ({_one_line(error)})") from None
    suffix = source.suffix.lower()
    if suffix not in (".nc", ".csv", ".npz"):
        raise InputError(f"--run {source}: {_KINDS}")
    if suffix == ".nc":
        return _netcdf(source)
    arrays, unit = _csv(source) if suffix == ".csv" else (_npz(source), None)
    return _assemble(source, arrays, unit)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:120]


# Reading --------------------------------------------------------------------------------------


def _netcdf(source: Path) -> RunFile:
    """NetCDF-4; a run of our own simulator is recognised by its attributes."""
    try:
        with open(source, "rb") as file:
            magic = file.read(len(MAGIC))
        if magic != MAGIC:
            raise InputError(f"--run {source}: not NetCDF-4 (its first bytes are {magic!r})")
        check_container(source)
        with xr.open_dataset(source, engine="h5netcdf", decode_times=False, decode_cf=False) as opened:
            own = {"schema", "config", "fingerprint"} <= set(opened.attrs)
            if not own and opened.nbytes > MOST_BYTES:
                raise InputError(
                    f"--run {source}: declares {opened.nbytes} bytes: at most {MOST_BYTES} are read"
                )
            arrays = {} if own else {str(n): np.asarray(opened[n].values) for n in _wanted(opened.data_vars)}
        if own:
            dataset = load_own(source)
            N = dataset["N"].values
            return RunFile(N, np.zeros_like(N), {}, {}, {}, dataset)
    except RunFileError as error:
        raise InputError(f"--run {error}") from None
    except InputError:
        raise
    except Exception as error:  # a damaged HDF5 file raises what its libraries please
        raise InputError(
            f"--run {source}: damaged or not a run ({type(error).__name__}: {_one_line(error)})"
        ) from None
    return _assemble(source, arrays, None)


def _wanted(names: Mapping[str, object] | xr.core.dataset_variables.DataVariables) -> list[str]:
    known = {"N", *PER_ROUND, *PER_SEED}
    return [str(n) for n in names if str(n) in known or _CLIENT.fullmatch(str(n))]


def _npz(source: Path) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(source) as archive:
            total = sum(item.file_size for item in archive.infolist())
            if total > MOST_BYTES:
                raise InputError(f"--run {source}: unpacks to {total} bytes: at most {MOST_BYTES} are read")
        with np.load(source, allow_pickle=False) as archive:
            known = {"N", *PER_ROUND, *PER_SEED}
            names = [n for n in archive.files if n in known or _CLIENT.fullmatch(n)]
            return {n: archive[n] for n in names}
    except InputError:
        raise
    except Exception as error:  # zip, zlib and numpy each raise their own for a damaged archive
        raise InputError(
            f"--run {source}: damaged or not an npz ({type(error).__name__}: {_one_line(error)})"
        ) from None


def _csv(source: Path) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Columns by name, reshaped to [seed, round], and half a unit in the last place of every number."""
    try:
        text = source.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--run {source}: cannot be read as UTF-8 text ({_one_line(error)})") from None
    try:
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except csv.Error as error:
        raise InputError(f"--run {source}: not csv ({_one_line(error)})") from None
    if len(rows) < 2:
        raise InputError(f"--run {source}: give a header and a row for every round")
    header = [name.strip() for name in rows[0]]
    known = {"seed", "round", *PER_ROUND, *PER_SEED}
    for name in header:
        if name not in known and not _CLIENT.fullmatch(name):
            raise InputError(
                f"--run {source}: column {name[:40]!r} is not known: give seed, round, N_0, N_1, ..., "
                + ", ".join((*PER_ROUND, *PER_SEED))
            )
    if len(set(header)) < len(header):
        raise InputError(f"--run {source}: a column stands twice: {', '.join(header)[:120]}")
    if "round" not in header:
        raise InputError(f"--run {source}: column 'round' is missing: number the rounds from 0")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise InputError(f"--run {source}: line {number} has {len(row)} fields, the header {len(header)}")
    table = {name: [row[i].strip() for row in rows[1:]] for i, name in enumerate(header)}
    empty = {name: np.array([not text for text in table[name]]) for name in PER_SEED if name in table}
    table |= {name: [text or "0" for text in table[name]] for name in empty}  # 0 adds no digits to the others
    values = {name: _numbers(source, name, column) for name, column in table.items()}
    try:
        units = _last_places(table)
    except InvalidOperation:
        raise InputError(
            f"--run {source}: a number is not written in decimals: give digits, point and exponent"
        ) from None
    return _by_seed(source, values, units, empty)


def _numbers(source: Path, name: str, column: list[str]) -> np.ndarray:
    try:
        return np.array([float(text) for text in column])
    except ValueError:
        bad = next(text for text in column if not _is_number(text))
        raise InputError(f"--run {source}: column {name} holds {bad[:40]!r}: give a number") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _last_places(table: Mapping[str, list[str]]) -> dict[str, np.ndarray]:
    """Half a unit in the last place of every number, judged by all numbers of its kind (those of N together).

    A printed 8 may be 8.00000: so a number is taken as given to as many decimals as any of its kind, unless that
    would be more significant digits than any of them has.
    """
    parsed = {name: [_digits(text) for text in column] for name, column in table.items()}
    kinds = {name: "N" if _CLIENT.fullmatch(name) else name for name in table}
    units = {}
    for name, column in parsed.items():
        kin = [entry for other, entries in parsed.items() if kinds[other] == kinds[name] for entry in entries]
        decimals, significant = max(d for d, _, _ in kin), max(s for _, s, _ in kin)
        units[name] = np.array(
            [0.5 * max(10.0**-decimals, 10.0 ** (e - significant + 1)) for _, _, e in column]
        )
    return units


def _digits(text: str) -> tuple[int, int, int]:
    """(decimals, significant digits, decimal exponent of the leading digit) of a printed number, each within 300."""
    number = Decimal(text)
    _, digits, exponent = number.as_tuple()
    decimals = -exponent if isinstance(exponent, int) else 0
    leading = number.adjusted() if number else -decimals
    return tuple(int(np.clip(v, -300, 300)) for v in (decimals, len(digits), leading))  # type: ignore[return-value]


def _by_seed(
    source: Path,
    values: dict[str, np.ndarray],
    units: dict[str, np.ndarray],
    empty: dict[str, np.ndarray],
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    seeds = values.pop("seed", np.zeros(len(values["round"])))
    rounds = values.pop("round")
    names, inverse = np.unique(seeds, return_inverse=True)
    order = np.lexsort((rounds, inverse))
    per = len(rounds) / len(names)
    wanted = np.tile(np.arange(int(per)), len(names)) if per == int(per) else None
    if wanted is None or not np.array_equal(rounds[order], wanted):
        raise InputError(f"--run {source}: column round: every seed needs each round 0, 1, ..., R once")
    shape = (len(names), int(per))
    arrays = {n: v[order].reshape(shape) for n, v in values.items()}
    sorted_units = {n: u[order].reshape(shape) for n, u in units.items() if n in arrays}
    for name, blank in empty.items():
        whole, given = arrays[name], ~blank[order].reshape(shape)
        last = whole[:, -1]
        if not given[:, -1].all():
            raise InputError(f"--run {source}: column {name}: give it on the row of each seed's last round")
        if np.any(given & (whole != last[:, None])):
            raise InputError(
                f"--run {source}: column {name} changes: it is one number a seed, after the last round"
            )
        arrays[name], sorted_units[name] = last, sorted_units[name][:, -1]
    return arrays, sorted_units


# Fitting --------------------------------------------------------------------------------------


def _assemble(source: Path, arrays: dict[str, np.ndarray], units: dict[str, np.ndarray] | None) -> RunFile:
    for name, array in arrays.items():
        if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
            raise InputError(f"--run {source}: {name} has type {array.dtype}: give real numbers")
        if array.size == 0:
            raise InputError(f"--run {source}: {name} is empty")
        if not np.all(np.isfinite(array)):
            at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise InputError(f"--run {source}: {name}{list(at)} = {array[at]}: give finite numbers")
    N, unit = _participation(source, arrays, units)
    series, finals = {}, {}
    for name in PER_ROUND:
        if name in arrays:
            found = np.atleast_2d(arrays[name].astype(float))
            if found.ndim != 2 or found.shape[1] != len(N):
                raise InputError(
                    f"--run {source}: {name} has shape {arrays[name].shape}: give [{len(N)}] or [seeds, {len(N)}]"
                )
            series[name] = found
    for name in PER_SEED:
        if name in arrays:
            finals[name] = np.atleast_1d(arrays[name].astype(float))
            if finals[name].ndim != 1:
                raise InputError(
                    f"--run {source}: {name} has shape {arrays[name].shape}: give one number a seed"
                )
    counts = {n: len(a) for n, a in {**series, **finals}.items()}
    if len(set(counts.values())) > 1:
        raise InputError(f"--run {source}: different numbers of seeds: {counts}")
    for name in ("grad_f_sq", "dist_sq"):
        if name in series and np.any(series[name] < 0):
            raise InputError(f"--run {source}: {name} holds {series[name].min():g}: a square is not negative")
    exact = {
        n: float(np.max(_unit(arrays[n], None if units is None else units.get(n))))
        for n in (*series, *finals)
    }
    return RunFile(N, unit, series, finals, exact)


def _unit(array: np.ndarray, printed: np.ndarray | None) -> np.ndarray:
    """Half a unit in the last place of every number: as printed, or of the type that stores it."""
    if printed is not None:
        return printed
    return np.abs(array) * (np.finfo(array.dtype).eps / 2 if array.dtype.kind == "f" else 0.0)


def _participation(
    source: Path, arrays: dict[str, np.ndarray], units: dict[str, np.ndarray] | None
) -> tuple[Float[np.ndarray, "rounds m"], Float[np.ndarray, "rounds m"]]:
    """N and how exactly it is given."""
    clients = sorted((n for n in arrays if _CLIENT.fullmatch(n)), key=lambda n: int(n[2:]))
    if "N" in arrays and clients:
        raise InputError(f"--run {source}: give N or N_0, N_1, ..., not both")
    if "N" not in arrays and not clients:
        raise InputError(f"--run {source}: N is missing: give N [round, client] or N_0, N_1, ... by round")
    if clients:
        if clients != [f"N_{i}" for i in range(len(clients))]:
            raise InputError(
                f"--run {source}: {', '.join(clients)[:80]}: number the clients from 0 without a gap"
            )
        if len({arrays[n].shape for n in clients}) > 1:
            raise InputError(f"--run {source}: the N_i have different shapes")
        whole = np.stack([arrays[n] for n in clients], axis=-1)
    else:
        whole = arrays["N"]
    if whole.ndim == 2:
        whole = whole[None]
    if whole.ndim != 3 or whole.shape[1] < 2:
        raise InputError(
            f"--run {source}: N has shape {whole.shape[1:] if whole.ndim == 3 else whole.shape}: give at least "
            "rounds 0 and 1, [round, client]"
        )
    printed = None if units is None else np.stack([units[n] for n in clients], axis=-1)
    given = _unit(whole, printed)
    apart = np.abs(whole - whole[:1]).max(axis=0)
    given = given.max(axis=0).astype(float)
    if np.any(apart > 4 * given + 1e-12 * np.abs(whole[0])):
        r, i = (int(v) for v in np.argwhere(apart > 4 * given + 1e-12 * np.abs(whole[0]))[0])
        raise InputError(
            f"--run {source}: N[{r}, {i}] differs between seeds by {apart[r, i]:g}: the participation of Algorithm 1 "
            "does not depend on the seed"
        )
    return whole[0].astype(float), given + apart
