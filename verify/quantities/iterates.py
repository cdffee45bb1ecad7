"""What the one-step lemmas and the identities say, at the states of `states`: curves over steps k."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int

from verify.observed import Curve, Measured, Unobserved
from verify.quantities import replay
from verify.quantities.participation import OUT, U, weight_slack
from verify.quantities.states import (
    States,
    View,
    norm_square,
    precision,
    product,
    rounds_as_proved,
    states_of,
    unit,
)
from verify.setting import Setting

IDENTITY_SEEDS = 2  # whose own noise is drawn again for the identities


def _curve(
    states: States,
    values: Float[np.ndarray, " Q"],
    error: Float[np.ndarray, " Q"],
    along: Mapping[str, Measured],
    scale: float | None = None,
) -> Curve:
    """A curve over the states; each brings its round r, on which delta_r depends."""
    exact = np.zeros(states.r.size)
    own = {"r": Measured(states.r.astype(float), exact), **along}
    return Curve(
        "k",
        states.k,
        values,
        error * OUT,
        np.zeros(states.r.size, dtype=bool),
        along=own,
        scale=scale,
        proven=rounds_as_proved(states.setup.problem),
        note="states",
    )


def _view(setup: Setting, run: xr.Dataset, average: str) -> View:
    return states_of(setup, run).view(average)


def _means(view: View, *names: str) -> dict[str, Measured]:
    return {name: getattr(view, name) for name in names}


def g_bar_sq(setup: Setting, run: xr.Dataset, average: str) -> Curve:
    """E||g_bar_k||^2 = ||sum_i w_i grad f_i(x_i)||^2 + sum_i w_i^2 Var_i (Lemmas 4.14 and 6.6)."""
    view = _view(setup, run, average)
    size = _g_bar_sq(view)
    names = ["e_bar", "grad_f_sq", "grad_fi_sq_sum"] + (["D_f"] if "x_star" in setup.shared else [])
    return _curve(view.states, size.values, size.radius, _means(view, *names))


def _g_bar_sq(view: View) -> Measured:
    mean, (noise, noise_error) = norm_square(*view.drift), view.noise
    values = mean.values + noise
    return Measured(values, (mean.radius + noise_error + 2 * U * values) * OUT)


def weighted_inner(setup: Setting, run: xr.Dataset, average: str) -> Curve:
    """sum_i w_i E[g_i'g_bar], summed over pairs of clients, against E||g_bar||^2 (Lemma 4.11).

    Both are exact conditional means, by different sums: here E||g_i||^2 comes from the samples' own squares.
    """
    view = _view(setup, run, average)
    states, w, g = view.states, view.w, view.states.gradient
    inner = np.einsum("qin,qjn->qij", g, g)
    squares = np.einsum("qii->qi", inner).copy()
    pairs = np.einsum("qi,qij,qj->q", w, inner, w) - (w**2 * squares).sum(axis=1)
    own = states.share * states.moments[1] + (1 - states.share) * squares
    values = pairs + (w**2 * own).sum(axis=1)
    norms, error = np.linalg.norm(g, axis=2), states.gradient_error
    size, off = (w * norms).sum(axis=1), (w * error).sum(axis=1)
    spread = 2 * size * off + off**2
    second = unit(view.problem) * (w**2 * states.share * states.moments[1]).sum(axis=1)
    loose = (view.w_error[:, 0] * norms.sum(axis=1)) * 2 * size
    loose = loose + 2 * (view.w_error * w * states.share * states.moments[1]).sum(axis=1)
    rounding = (g.shape[1] + g.shape[2] + 16) * U * (size**2 + (w**2 * own).sum(axis=1))
    return _curve(view.states, values, spread + second + loose + rounding, {"g_bar_sq": _g_bar_sq(view)})


def descent_inner(setup: Setting, run: xr.Dataset, average: str) -> Curve:
    """E[grad f(x_bar)'g_bar] = grad f(x_bar)' sum_i w_i grad f_i(x_i) (Lemma 4.12)."""
    view = _view(setup, run, average)
    (slope, slope_error), (drift, drift_error) = view.grad_f, view.drift
    values, error = _inner(slope, slope_error, drift, drift_error)
    return _curve(view.states, values, error, _means(view, "e_bar", "grad_f_sq"))


def _inner(
    a: Float[np.ndarray, "Q n"],
    a_error: Float[np.ndarray, " Q"],
    b: Float[np.ndarray, "Q n"],
    b_error: Float[np.ndarray, " Q"],
) -> tuple[Float[np.ndarray, " Q"], Float[np.ndarray, " Q"]]:
    sizes = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    rounding = (a.shape[1] + 8) * U * sizes[0] * sizes[1]
    return np.einsum("qn,qn->q", a, b), product(sizes[0], a_error, sizes[1], b_error) + rounding


def convex_inner(setup: Setting, run: xr.Dataset, average: str) -> Curve:
    """-2 (x_bar - x*)' sum_i w_i grad f_i(x_i) (Lemma 6.7)."""
    view = _view(setup, run, average)
    values, error = _inner(*view.from_x_star, *view.drift)
    return _curve(view.states, -2 * values, 2 * error, _means(view, "e_bar", "D_f", "X_sq"))


def x_dist_sq_next(setup: Setting, run: xr.Dataset, average: str) -> Curve:
    """E||x_bar_{k+1} - x*||^2 given the past (Lemma 6.8)."""
    view = _view(setup, run, average)
    reached = view.next_dist_sq
    return _curve(view.states, reached.values, reached.radius, _means(view, "e_bar", "D_f", "X_sq"))


def local_gradient_mean_sq(setup: Setting, run: xr.Dataset) -> Curve:
    """(1/m) sum_i ||grad f_i(x_bar)||^2 (Lemma 6.5)."""
    view = _view(setup, run, "p_next")
    total, m = view.grad_fi_sq_sum, setup.problem.m
    return _curve(view.states, total.values / m, total.radius / m, _means(view, "D_f"))


def gradient_lipschitz(setup: Setting, run: xr.Dataset) -> Curve:
    """||grad f(x) - grad f(y)|| / ||x - y|| between the averages of successive states (Remark 6.1)."""
    view = _view(setup, run, "p_next")
    slopes, slopes_error = view.grad_f
    moved = np.linalg.norm(np.diff(view.x_bar, axis=0), axis=1)
    off = view.x_bar_error[1:] + view.x_bar_error[:-1] + 4 * U * np.linalg.norm(view.x_bar[1:], axis=1)
    apart = np.linalg.norm(np.diff(slopes, axis=0), axis=1)
    error = slopes_error[1:] + slopes_error[:-1] + (slopes.shape[1] + 8) * U * apart
    keep = moved > 1e6 * off
    if not np.any(keep):
        raise Unobserved("no two of the run's averages are far enough apart for a Lipschitz quotient")
    values = apart[keep] / moved[keep]
    error = (error[keep] + values * off[keep]) / (moved[keep] - off[keep]) + 4 * U * values
    nothing, proven = np.zeros(values.size, dtype=bool), rounds_as_proved(setup.problem)
    return Curve("k", view.states.k[1:][keep], values, error * OUT, nothing, proven=proven, note="states")


def recursion_term(setup: Setting, run: xr.Dataset) -> Curve:
    """a_k = e_bar_k before the last step of each watched round (Lemma 6.3).

    With theta_t = sum_i w_i ||g_{i,t}||^2 and the beta = 3 L^2 of the paper's use, (17) holds along every single
    run: e_bar_k <= sum_i w_i ||x_{i,k} - x_hat_r||^2 <= (k - T_r) gamma^2 sum_t theta_t. So no expectation enters.
    """
    H, L = setup.config.H, float(np.asarray(setup.shared["L"].value))
    rounds = replay.watched(run)
    if H < 2:
        raise Unobserved("H = 1: no step lies inside a round, and a_k = 0")
    seeds = replay.affordable(setup.problem, len(rounds), H, min(run.sizes["seed"], IDENTITY_SEEDS))
    slack = weight_slack(setup, run)
    rows: list[tuple[float, ...]] = []
    for r in rounds:
        part, w = replay.fresh(setup, run, r, seeds), run["p"].values[r + 1]
        x = part.x[:, H - 1]
        centre = np.einsum("m,smn->sn", w, x)
        d = np.linalg.norm(x - centre[:, None], axis=2)
        size = np.linalg.norm(x, axis=2).max(axis=1)
        e = (setup.problem.m + 4) * U * size + slack[r + 1] * d.sum(axis=1)
        a, a_error = d**2 @ w, (2 * d * e[:, None] + e[:, None] ** 2) @ w + slack[r + 1] * (d**2).sum(axis=1)
        theta = (part.g[:, : H - 1] ** 2).sum(axis=3)
        total = np.einsum("shm,m->s", theta, w)
        # x_{t+1} - x_t = -gamma g_t up to the rounding of the subtraction
        off = (setup.problem.n + 16) * U * total + slack[r + 1] * theta.sum(axis=(1, 2))
        off = off + 8 * U * size / setup.config.gamma * np.sqrt(theta).max(axis=2).sum(axis=1)
        rows += zip([r * H + H - 1] * seeds, a, a_error + 64 * U * a, total, off, strict=True)
    k, a, a_error, total, off = np.array(rows).T
    exact = np.zeros(k.size)
    along = {
        "sum_theta": Measured(total, off * OUT),
        "tau": Measured(np.full(k.size, float(H - 1)), exact),
        "beta": Measured(np.full(k.size, 3 * L**2), exact),
    }
    nothing = np.zeros(k.size, dtype=bool)
    return Curve("k", k.astype(int), a, a_error * OUT, nothing, along=along, note="states")


def mean_iterate_next(setup: Setting, run: xr.Dataset, average: str) -> Curve:
    """x_bar_{k+1} against x_bar_k - gamma g_bar_k, in the coordinate that fits worst (Lemma 4.2)."""
    return _identity(setup, run, average, ("x_bar", "g_bar"), boundary_only=False)


def aggregate(setup: Setting, run: xr.Dataset, average: str) -> Curve:
    """x_{i,T_{r+1}}, every client's, against sum_j p_j (x_j - gamma g_j), in the worst coordinate (Remark 6.2)."""
    return _identity(setup, run, average, ("x_mean", "g_mean"), boundary_only=True)


def _identity(
    setup: Setting, run: xr.Dataset, average: str, names: tuple[str, str], boundary_only: bool
) -> Curve:
    """The two sides of an update at the steps of the watched rounds, the last ending in the run's own x_hat_{r+1}."""
    H, problem = setup.config.H, setup.problem
    seeds = replay.affordable(problem, 1, H, min(run.sizes["seed"], IDENTITY_SEEDS))
    found, why = [], ""
    for r in replay.watched(run):
        try:
            part = replay.own(setup, run, r, seeds)
        except Unobserved as missing:
            why = str(missing)
            continue
        w = run["p"].values[r + (average == "p_next")]
        slack = weight_slack(setup, run)[r + (average == "p_next")]
        before = np.einsum("m,shmn->shn", w, part.x)
        moved = np.einsum("m,shmn->shn", w, part.g)
        after = np.concatenate([before[:, 1:], replay.model(run, r + 1, seeds)[:, None]], axis=1)
        error = _identity_error(setup, part, w, slack)
        steps = np.arange(H) == H - 1 if boundary_only else np.ones(H, dtype=bool)
        found.append(_worst_coordinate(setup, r, steps, before, moved, after, error))
    if not found:
        raise Unobserved(why)
    k, values, error, x, g, size = (np.concatenate(column) for column in zip(*found, strict=True))
    exact = np.zeros(k.size)
    along = {names[0]: Measured(x, exact), names[1]: Measured(g, exact)}
    nothing, proven, scale = np.zeros(k.size, dtype=bool), rounds_as_proved(problem), float(size.max())
    return Curve(
        "k",
        k.astype(int),
        values,
        error * OUT,
        nothing,
        along=along,
        scale=scale,
        proven=proven,
        note="states",
    )


def _identity_error(
    setup: Setting, part: replay.Round, w: Float[np.ndarray, " m"], slack: float
) -> Float[np.ndarray, "S H"]:
    """The rounding between the two sides: of the averages, of the gradients, of the steps of the run and of the replay.

    A single sample's gradient errs by `unit` times its norm and D L ||x||: no sample is steeper than D times
    the mean. An error made in a round grows by at most e^(gamma D L) a step.
    """
    problem, gamma, H = setup.problem, setup.config.gamma, setup.config.H
    u = precision(problem)
    x, g = np.linalg.norm(part.x, axis=3), np.linalg.norm(part.g, axis=3)
    steep = problem.smoothness() * int(problem.sizes.max())
    step = 4 * u * (x + gamma * g) + gamma * unit(problem) * (g + steep * x)
    grown = 2 * H * step.max(axis=(1, 2)) * np.exp(min(gamma * steep * H, 200.0))
    centre = np.einsum("m,shmn->shn", w, part.x)
    spread = np.linalg.norm(part.x - centre[:, :, None], axis=3).sum(axis=2)
    loose = slack * (spread + gamma * 2 * g.sum(axis=2))
    return grown[:, None] + loose + (problem.m + 8) * u * (x + gamma * g).sum(axis=2)


def _worst_coordinate(
    setup: Setting,
    r: int,
    steps: Bool[np.ndarray, " H"],
    before: Float[np.ndarray, "S H n"],
    moved: Float[np.ndarray, "S H n"],
    after: Float[np.ndarray, "S H n"],
    error: Float[np.ndarray, "S H"],
) -> tuple[np.ndarray, ...]:
    """(k, x_bar_{k+1}, its error, x_bar_k, g_bar_k, size) at each (seed, step), in the coordinate that fits worst."""
    H = len(steps)
    k = np.broadcast_to(r * H + np.arange(H), error.shape)[:, steps].ravel()
    off = np.abs(after - (before - setup.config.gamma * moved))
    at: Int[np.ndarray, "S H"] = off.argmax(axis=2)
    pick = [
        np.take_along_axis(v, at[..., None], axis=2)[..., 0][:, steps].ravel() for v in (after, before, moved)
    ]
    size = np.abs(after).max(axis=2)[:, steps].ravel()
    return k, pick[0], error[:, steps].ravel(), pick[1], pick[2], size
