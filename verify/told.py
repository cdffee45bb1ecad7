"""The numbers that a caller of `check` tells: each of the right kind, and none that contradicts another."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from bounds import Constant, DomainError, Provenance, Statement
from verify.errors import InputError
from verify.observed import RUN_ROUNDING

STARTS = {"f_gap": "f_gap", "D_r_hat": "x_dist_sq"}  # the constant, and what the run calls its copies
_OF_N_STAR = ("N_star", "N_star_error", "lower", "upper")
_U = float(np.finfo(float).eps)
_OWN_UNITS = 32.0  # a value that was computed in a type is off by some dozen of its units, not by one


@dataclass(frozen=True, eq=False)
class Facts:
    """What a caller told, as the setting that quantities of the participation need."""

    shared: dict[str, Constant]
    N_star: Float[np.ndarray, " m"]
    N_star_error: float
    game: Any
    r_hat: int
    problem: Any = None
    equilibrium: Any = None
    welfare: Any = None
    regularised: bool = False
    h_star: Any = None
    config: Any = field(default_factory=SimpleNamespace)

    @property
    def p_star(self) -> Float[np.ndarray, " m"]:
        """N*'s weights."""
        return self.N_star / self.N_star.sum()


def level(alpha: object) -> float:
    """A level of significance.

    Raises:
        InputError: unless 0 < alpha < 1.
    """
    if not _is_real(alpha) or not 0 < float(alpha) < 1:  # type: ignore[arg-type]
        raise InputError(f"alpha = {alpha!r}: give a number > 0 and < 1")
    return float(alpha)  # type: ignore[arg-type]


def arrays(run: object, statement: Statement) -> dict[str, np.ndarray]:
    """What the run holds of the names that `check` reads, as float64.

    Raises:
        InputError: for a run that is no mapping, and for arrays that are not finite real numbers.
    """
    if not isinstance(run, Mapping | xr.Dataset):
        raise InputError(f"run is of type {type(run).__name__}: give arrays by name, or an xarray.Dataset")
    quantity = statement.quantity.partition("@")[0]
    found = {}
    for key in ("N", "N_error", "round", quantity, f"{quantity}_error", *STARTS.values()):
        if key in (run.variables if isinstance(run, xr.Dataset) else run):
            found[key] = _array(f"run[{key!r}]", run[key])
    return found


def ceilings(told: object, run: Mapping[str, np.ndarray], statement: Statement) -> dict[str, float]:
    """Proven bounds on variables, by name; none of them may lie below what the run shows.

    Raises:
        InputError: for an unknown name, a value that is no number >= 0, and one that the run exceeds.
    """
    if told is None:
        return {}
    if not isinstance(told, Mapping):
        raise InputError(f"ceilings is of type {type(told).__name__}: give numbers by name")
    names = sorted({q.partition("@")[0] for q in statement.vocabulary.quantities} | set(STARTS.values()))
    found = {}
    for name, value in told.items():
        if name not in names:
            raise InputError(f"ceilings[{name!r}] is not a variable that a run holds{_near(name, names)}")
        if not _is_real(value) or not value >= 0:
            raise InputError(f"ceilings[{name!r}] = {value!r}: give a number >= 0")
        top = float(run[name].max(initial=0.0)) if name in run else 0.0
        if top > float(value) * (1 + RUN_ROUNDING):
            raise InputError(
                f"ceilings[{name!r}] = {float(value):.10g}: run[{name!r}] reaches {top:.10g}: give a bound that every "
                "run respects"
            )
        found[str(name)] = max(float(value), top)  # what the run exceeds it by is a rounding
    return found


def errors(
    told: object, run: object, found: Mapping[str, np.ndarray], statement: Statement
) -> dict[str, float]:
    """An absolute bound on the error of each seed's value, by variable: as told, else what its number type explains.

    The default is `_OWN_UNITS` units in the last place of the stored type at the largest value: a mean of float32
    numbers is not known to float64. What cancelled before it was stored (f - f* of large losses), no type shows.

    Raises:
        InputError: for a name that the run does not hold, and for what is no number >= 0.
    """
    names = (statement.quantity.partition("@")[0], *STARTS.values())
    held = [name for name in names if name in found]
    if not isinstance(told, Mapping | None):
        raise InputError(f"errors is of type {type(told).__name__}: give numbers by name")
    for name, value in (told or {}).items():
        if name not in held:
            raise InputError(f"errors[{name!r}] is not a variable that the run holds{_near(name, held)}")
        if not _is_real(value) or not 0 <= value < np.inf:
            raise InputError(f"errors[{name!r}] = {value!r}: give a finite number >= 0")
    stated = {str(name): float(value) for name, value in (told or {}).items()}
    return {name: stated.get(name, _stored(run[name], found[name])) for name in held}  # type: ignore[index]


def _stored(raw: Any, values: np.ndarray) -> float:
    kind = np.asarray(raw).dtype
    unit = float(np.finfo(kind).eps) if kind.kind == "f" else _U
    return _OWN_UNITS * max(unit, _U) * float(np.abs(values).max(initial=0.0))


def constants(told: object, statement: Statement) -> dict[str, Constant]:
    """The constants by name, each within its domain; the vectors of the game are left to `facts`.

    Raises:
        InputError: for an unknown name, for what is no number, and for a value outside its domain.
    """
    if not isinstance(told, Mapping):
        raise InputError(f"constants is of type {type(told).__name__}: give numbers by name")
    symbols = statement.vocabulary.symbols
    names = sorted({*symbols, *_OF_N_STAR, *statement.symbols})
    known = {}
    for key, value in told.items():
        if key not in names:
            raise InputError(f"constants[{key!r}] is not a constant of the paper{_near(key, names)}")
        bare = value.value if isinstance(value, Constant) else value
        vector = key in symbols and symbols[key].domain.array
        size = _array(f"constants[{key!r}]", bare).ndim if isinstance(bare, list | tuple | np.ndarray) else 0
        if size and key in ("N_star", "lower", "upper"):
            continue
        if size and not vector:
            raise InputError(f"constants[{key!r}] is an array: give one number")
        if not size and not _is_real(bare):
            raise InputError(f"constants[{key!r}] = {bare!r}: give a number")
        number = _array(f"constants[{key!r}]", bare, finite=False) if size else _plain(bare)
        try:
            known[key] = value if isinstance(value, Constant) else Constant(key, number)
            if key in symbols:
                symbols[key].domain.require(key, number if isinstance(number, np.ndarray) else float(number))
        except DomainError as error:
            raise InputError(f"constants: {error}") from None
        except ValueError as error:
            raise InputError(f"constants[{key!r}]: {error}") from None
    _weights(known)
    return known


def _weights(known: Mapping[str, Constant]) -> None:
    """p* is a distribution over the clients that the other vectors speak of.

    Raises:
        InputError: where it is none, or the lengths differ.
    """
    m = int(np.asarray(known["m"].value)) if "m" in known else None
    for name in ("p_star", "f_i_star"):
        size = np.asarray(known[name].value).size if name in known else m
        if m is not None and size != m:
            raise InputError(f"constants[{name!r}] has {size} entries: give one per client ({m})")
        m = size
    if "p_star" in known:
        p = np.asarray(known["p_star"].value, dtype=float)
        if abs(float(p.sum()) - 1) > float(np.sum(np.broadcast_to(known["p_star"].radius, p.shape))) + 1e-9:
            raise InputError(
                f"constants['p_star'] sums to {float(p.sum()):.10g}: give weights, which sum to 1"
            )


def facts(
    told: Mapping[str, Any], known: Mapping[str, Constant], run: Mapping[str, np.ndarray]
) -> tuple[dict[str, Constant], Facts | None]:
    """The constants, and (with N and N*) what follows from them: m, R, dist_0, ||N*||_1, the weights.

    Raises:
        InputError: for arrays that do not fit, N or N* outside the box, and a constant that says otherwise.
    """
    known = dict(known)
    if "N" not in run:
        return known, None
    N = run["N"]
    if N.ndim != 2 or len(N) < 2 or not N.shape[1]:
        raise InputError(f"run['N'] has shape {N.shape}: give [round, client] with at least two rounds")
    m, error = N.shape[1], rounding(run)
    low, high = _box(told, m)
    _inside("run['N']", N, error[:, None], low, high)
    follows = {"m": Constant("m", m, Provenance.EXACT), "R": Constant("R", len(N) - 1, Provenance.EXACT)}
    known = _consistent(known, follows, "run['N']")
    if "N_star" not in told:
        return known, None
    star = told["N_star"]
    N_star = _array("constants['N_star']", star.value if isinstance(star, Constant) else star)
    if N_star.shape != (m,) or not N_star.sum() > 0:
        raise InputError(f"constants['N_star'] has shape {N_star.shape}: give {m} numbers, their sum > 0")
    off = float(np.max(star.radius)) * np.sqrt(m) if isinstance(star, Constant) else 0.0
    off += _error_of_N_star(known)
    _inside("constants['N_star']", N_star, np.full(m, off), low, high)
    provenance = star.provenance if isinstance(star, Constant) else Provenance.GIVEN
    size, l1 = float(np.linalg.norm(N[0] - N_star)), float(N_star.sum())
    weights = N_star / l1
    slack = 2 * np.sqrt(m) * off / l1 + 16 * m * _U
    # the sums are over m terms, and N_0 itself is known only to what the caller says
    start = off + float(run["N_error"][0] if "N_error" in run else 0.0) + 16 * m * _U * size
    follows = {
        "dist_0": Constant("dist_0", size, provenance, start),
        "N_star_l1": Constant("N_star_l1", l1, provenance, np.sqrt(m) * off + 16 * m * _U * l1),
    }
    also = {
        "p_star": Constant("p_star", weights, provenance, slack),
        "p_star_min": Constant("p_star_min", float(weights.min()), provenance, slack),
    }
    _consistent({n: c for n, c in known.items() if n in also}, also, "constants['N_star']")
    known = _consistent(known, follows, "run['N'] and constants['N_star']")
    r_hat = int(np.asarray(known["r_hat"].value)) if "r_hat" in known else 0
    return known, Facts(known, N_star, off, SimpleNamespace(m=m, lower=low, upper=high), r_hat)


def rounding(run: Mapping[str, np.ndarray]) -> Float[np.ndarray, " rounds"]:
    """How exactly each round's N is known: as told, or what a nonexpansive update in float64 adds up (a few units in
    the last place a round).

    Raises:
        InputError: for errors that do not fit N.
    """
    N = run["N"]
    error = run.get("N_error", 64 * _U * (np.arange(len(N)) + 1.0) * np.abs(N).max())
    if np.shape(error) != (len(N),) or np.any(error < 0):
        raise InputError(f"run['N_error'] has shape {np.shape(error)}: give {len(N)} numbers >= 0")
    return error


def rounds(run: Mapping[str, np.ndarray], quantity: str, least: int) -> np.ndarray | None:
    """The rounds of a curve, if told: increasing integers >= `least`, one a value.

    Raises:
        InputError: if they are not.
    """
    if "round" not in run:
        return None
    found, size = run["round"], run[quantity].size
    if found.shape != (size,):
        raise InputError(f"run['round'] has shape {found.shape}: give {size} rounds, as many as {quantity}")
    bad = found[(found != np.floor(found)) | (found < least)]
    if bad.size:
        raise InputError(f"run['round'] holds {bad[0]:g}: give integers >= {least}")
    if np.any(np.diff(found) <= 0):
        raise InputError(f"run['round'] = {found[:6].tolist()}...: give increasing rounds")
    return found.astype(int)


def starts_at(
    known: Mapping[str, Constant], values: np.ndarray, error: np.ndarray, at: np.ndarray, name: str
) -> None:
    """A measured distance of round 0 is dist_0.

    Raises:
        InputError: where the constant says otherwise.
    """
    if "dist_0" in known and at[0] == 0:
        told = {"dist_0": known["dist_0"]}
        here = {"dist_0": Constant("dist_0", float(values[0]), radius=float(error[0]) + 16 * _U * values[0])}
        _consistent(told, here, f"run[{name!r}] at round 0")


def _consistent(
    known: Mapping[str, Constant], follows: Mapping[str, Constant], source: str
) -> dict[str, Constant]:
    """`known`, completed by what follows; a constant that was told must agree with it to both radii."""
    for name, own in follows.items():
        told = known.get(name)
        if told is None:
            continue
        ours, theirs = np.asarray(own.value, dtype=float), np.asarray(told.value, dtype=float)
        room = np.asarray(own.radius) + np.asarray(told.radius)
        if theirs.shape != ours.shape or np.any(np.abs(ours - theirs) > room):
            raise InputError(
                f"constants[{name!r}] = {_words(theirs)}, but from {source} it is {_words(ours)}: leave it out or give "
                "the run's own"
            )
    return {**follows, **known}


def _words(value: np.ndarray) -> str:
    return f"{float(value):.10g}" if value.ndim == 0 else f"{np.round(value, 6).tolist()}"[:80]


def _error_of_N_star(known: Mapping[str, Constant]) -> float:
    told = known.get("N_star_error")
    value = 0.0 if told is None else float(np.asarray(told.value))
    if not 0 <= value < np.inf:
        raise InputError(f"constants['N_star_error'] = {value:g}: give a finite number >= 0")
    return value


def _box(told: Mapping[str, Any], m: int) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """lower and upper, [m] each; without a word on them, 0 (participation is a number of samples) and no limit."""
    ends = []
    for key, default in (("lower", 0.0), ("upper", np.inf)):
        value = told.get(key, default)
        value = value.value if isinstance(value, Constant) else value
        end = _array(f"constants[{key!r}]", value, finite=False)
        if end.shape not in ((), (m,)):
            raise InputError(f"constants[{key!r}] has shape {end.shape}: give one number, or {m}")
        ends.append(np.broadcast_to(end, (m,)))
    low, high = ends
    if np.any(low < 0):
        raise InputError(f"constants['lower'] = {low.min():g}: participation is a number >= 0")
    if np.any(low > high):
        i = int(np.argmax(low > high))
        raise InputError(f"constants['lower'] = {low[i]:g} exceeds constants['upper'] = {high[i]:g}")
    return low, high


def _inside(
    name: str, N: np.ndarray, error: np.ndarray, low: Float[np.ndarray, " m"], high: Float[np.ndarray, " m"]
) -> None:
    outside = (low - error > N) | (high + error < N)
    if np.any(outside):
        at = tuple(int(i) for i in np.argwhere(outside)[0])
        raise InputError(f"{name}{list(at)} = {N[at]:.10g} lies outside [{low[at[-1]]:g}, {high[at[-1]]:g}]")


def _near(name: object, names: list[str]) -> str:
    near = difflib.get_close_matches(str(name), names, 3, 0.6)
    return f": did you mean {' or '.join(near)}?" if near else f": give one of {', '.join(names)}"


def _is_real(value: object) -> bool:
    """Whether it is one real number (no truth value, no text)."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iuf"
    return isinstance(value, int | float | Fraction | np.integer | np.floating) and not isinstance(
        value, bool
    )


def _plain(value: Any) -> int | float | Fraction:
    """A number of Python's, as it is."""
    if isinstance(value, int | Fraction):
        return value
    return int(value) if isinstance(value, np.integer) else float(value)


def _array(name: str, value: object, finite: bool = True) -> np.ndarray:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} is not an array of numbers") from None
    if array.dtype.kind not in "iuf" and array.size:
        raise InputError(f"{name} is not an array of real numbers (its type is {array.dtype})")
    array = array.astype(float)
    if finite and not np.all(np.isfinite(array)):
        raise InputError(f"{name} holds a value that is not finite")
    if np.any(np.isnan(array)):
        raise InputError(f"{name} holds a value that is not a number")
    return array
