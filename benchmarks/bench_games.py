"""Our solvers beside the pip-installable peers, in one process with one BLAS thread.

Run: OPENBLAS_NUM_THREADS=1 python benchmarks/bench_games.py [--sizes 5 50 500 2000] [--quick]. Under
pytest-benchmark (`make bench`) the same cases run as tests. Every entry is CPU milliseconds with the
residual recomputed from F, and a star where that residual is above 1e-9 max(1, ||A|| ||N|| + ||b||): a
solver's status is not asked.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import pytest
from peers_games import Solver, available
from threadpoolctl import threadpool_limits

from games import AffineGame, Engine, solve
from games.batch import solve_batch
from games.engines import COMPILED_SIZE, pivot
from games.generate import affine_game

CONDITIONS = (10.0, 1000.0)
Case = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def case(m: int, condition: float) -> Case:
    """F affine nonsymmetric, half the bounds active."""
    game = affine_game(np.random.default_rng(m + int(condition)), m, 1.0, condition, 0.5, 0.5).game
    assert isinstance(game, AffineGame)
    return tuple(np.array(x) for x in (game.A, game.b, game.lower, game.upper))  # type: ignore[return-value]


def residual(data: Case, N: np.ndarray) -> float:
    """The natural residual, recomputed."""
    A, b, lower, upper = data
    return float(np.linalg.norm(N - np.clip(N - (A @ N + b), lower, upper)))


def accurate(data: Case, N: np.ndarray) -> bool:
    """Whether the recomputed residual meets the table's tolerance."""
    A, b, _, _ = data
    size = float(np.linalg.norm(A, 2)) if b.size <= 500 else float(np.linalg.norm(A)) / np.sqrt(b.size)
    return residual(data, N) <= 1e-9 * max(1.0, size * float(np.linalg.norm(N)) + float(np.linalg.norm(b)))


def kernel(data: Case, engine: Engine) -> Solver:
    """Our pivoting alone, cold (no warm start), on arrays prepared once as a game holds them."""
    if engine is Engine.NUMBA and data[1].size <= COMPILED_SIZE:
        from games import pivoting_fast

        frozen = pivoting_fast.frozen(*data)
        state = np.zeros(data[1].size, dtype=np.int8)
        return lambda *_: pivoting_fast.solve_one(*frozen, state, False)[0]
    return lambda A, b, lower, upper: np.clip(pivot(A, b, lower, upper, None, engine).N, lower, upper)


def certified(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """games.solve with its residual certificate, from raw arrays (mu_F and ||A|| proven anew)."""
    return solve(AffineGame(A, b, lower, upper)).N


def ours(data: Case) -> dict[str, Solver]:
    """Our columns."""
    return {
        "block pivoting, numba": kernel(data, Engine.NUMBA),
        "block pivoting, numpy": kernel(data, Engine.NUMPY),
        "games.solve, certified": certified,
    }


def milliseconds(run: Callable[[], object], budget: float) -> float:
    """The least of a few means of CPU time, within about `budget` seconds (a longer run is not repeated)."""
    start = time.process_time()
    run()
    once = time.process_time() - start
    if once > 10 * budget:
        return 1e3 * once
    start = time.process_time()
    run()
    once = max(time.process_time() - start, 1e-7)
    repeats = int(max(1, min(2000, budget / 3 / once)))
    best = once
    for _ in range(3 if once < budget else 0):
        start = time.process_time()
        for _ in range(repeats):
            run()
        best = min(best, (time.process_time() - start) / repeats)
    return 1e3 * best


def table(sizes: list[int], budget: float) -> None:
    """Print the table and, for each column, how the fastest of ours compares with the fastest accurate
    peer."""
    rows: dict[str, dict[tuple[int, float], str]] = {}
    for m in sizes:
        for condition in CONDITIONS:
            data = case(m, condition)
            mine = column(rows, (m, condition), data, ours(data), budget)
            peers = column(rows, (m, condition), data, available(m), budget)
            mine.pop("games.solve, certified")
            ratio = min(mine.values()) / min(peers.values())
            rows.setdefault("fastest of ours / fastest peer", {})[m, condition] = f"{ratio:.2f}"
    columns = [(m, c) for m in sizes for c in CONDITIONS]
    print("| CPU ms | " + " | ".join(f"m = {m}, cond {c:.0f}" for m, c in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells.get(key, "-") for key in columns) + " |")
    print("* the recomputed residual is above 1e-9 max(1, ||A|| ||N|| + ||b||)")


def column(
    rows: dict[str, dict[tuple[int, float], str]],
    key: tuple[int, float],
    data: Case,
    solvers: dict[str, Solver],
    budget: float,
) -> dict[str, float]:
    """Time every solver on one case, write its cell, and return the times (infinite where inaccurate)."""
    times = {}
    for name, solver in solvers.items():
        good = accurate(data, solver(*data))
        spent = milliseconds(lambda solver=solver: residual(data, solver(*data)), budget)  # type: ignore[misc]
        rows.setdefault(name, {})[key] = f"{spent:.4g}{'' if good else '*'}"
        times[name] = spent if good else np.inf
    return times


def extras(budget: float) -> None:
    """The batch of a thousand, and the proof certificate at m = 50."""
    many = [case(5, CONDITIONS[k % 2] + k) for k in range(1000)]
    stacked = [np.stack(x) for x in zip(*many, strict=True)]
    for engine in (Engine.NUMBA, Engine.NUMPY):
        spent = milliseconds(lambda engine=engine: solve_batch(*stacked, engine=engine), budget)
        print(f"batch of 1000 games, m = 5, {engine}: {spent:.2f} ms")
    for condition in CONDITIONS:
        game = AffineGame(*case(50, condition))
        game.exact_matrix()
        plain = milliseconds(lambda game=game: solve(game), budget)
        proof = milliseconds(lambda game=game: solve(game, certificate="proof"), budget)
        found = solve(game, certificate="proof")
        print(
            f"m = 50, cond {condition:.0f}: games.solve {plain:.2f} ms, with certificate {found.certificate} "
            f"{proof:.2f} ms, error bound {found.error_bound:.1e}"
        )


@pytest.mark.parametrize("m", [5, 50])
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("name", ["block pivoting, numba", "block pivoting, numpy", "games.solve, certified"])
def test_ours(benchmark, m: int, condition: float, name: str) -> None:  # type: ignore[no-untyped-def]
    """Our columns, for pytest-benchmark."""
    data = case(m, condition)
    with threadpool_limits(1):
        assert accurate(data, benchmark(ours(data)[name], *data))


def main() -> None:
    """The table and the extras."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5, 50, 500, 2000])
    parser.add_argument("--quick", action="store_true", help="0.1 s a case instead of 1 s")
    options = parser.parse_args()
    budget = 0.1 if options.quick else 1.0
    with threadpool_limits(1):
        table(options.sizes, budget)
        extras(budget)


if __name__ == "__main__":
    main()
