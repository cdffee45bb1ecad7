"""How fast the engines are, against plain loops in the same run: `pytest benchmarks -o addopts=
--benchmark-only`.

Workload W1: m = 5 clients, n = 20, least squares (200 samples a client), batch 1, H = 10, S = 100 seeds, R =
1000 rounds. W2: a 784-64-10 network, batch 32, H = 10, R = 1000, float32 (200 samples a client). A seed-round
is one round of one seed, all clients. Speeds are per second of processor time (`time.process_time`), so that
other programs on the machine count little; `python benchmarks/bench_simulate.py` prints the table, ratios to
the plain loops beside them.
Nothing is measured of the model inside the timed runs but the two recorded rounds: metrics are thinned, and
    their share is a figure of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

from games import AffineGame, DiagonalPlusLowRank
from simulate import RunConfig, run
from simulate.dynamics import dynamics
from simulate.engine_chain import WeightSpace
from simulate.problems import LeastSquares, TwoLayerNetwork

M, H, D = 5, 10, 200
GAME_ROUNDS = 100  # of the game alone: the copy that it makes once is spread over them


def game(upper: float = 200.0) -> AffineGame:
    """A strongly monotone game whose participation settles inside the box."""
    return AffineGame(np.eye(M), -np.linspace(20.0, 40.0, M), np.ones(M), np.full(M, upper))


def w1() -> tuple[LeastSquares, RunConfig]:
    """Workload W1."""
    rng = np.random.default_rng(0)
    features = [rng.standard_normal((D, 20)) / 20**0.5 for _ in range(M)]
    problem = LeastSquares(features, [rng.standard_normal(D) for _ in range(M)], 0.01)
    config = RunConfig(
        gamma=0.01, gamma_tilde=0.1, H=H, R=1000, N_0=np.full(M, 30.0), x_0=np.zeros(20), seeds=100
    )
    return problem, config


def w2() -> tuple[TwoLayerNetwork, RunConfig]:
    """Workload W2."""
    rng = np.random.default_rng(0)
    features = [rng.standard_normal((D, 784)).astype(np.float32) for _ in range(M)]
    labels = [rng.integers(0, 10, D) for _ in range(M)]
    problem = TwoLayerNetwork(features, labels, 10, 64, dtype=np.float32)
    config = RunConfig(
        gamma=0.01,
        gamma_tilde=0.1,
        H=H,
        R=1000,
        N_0=np.full(M, 30.0),
        x_0=problem.random_start(0),
        seeds=1,
        batch=32,
    )
    return problem, config


def plain_w1(problem: LeastSquares, config: RunConfig, rounds: int) -> np.ndarray:
    """One seed of W1 as everybody would write it first."""
    rng = np.random.default_rng(0)
    x_hat, p, weight = config.x_0.copy(), np.full(M, 1 / M), problem.regulariser.weight
    index = rng.integers(0, D, size=(M, rounds * H), dtype=np.int32)
    for r in range(rounds):
        clients = []
        for i in range(M):
            x = x_hat.copy()
            for h in range(H):
                row = i * D + index[i, r * H + h]
                a = problem.A[row]
                x -= config.gamma * ((a @ x - problem.b[row]) * a + weight * x)
            clients.append(x)
        x_hat = sum(p[i] * clients[i] for i in range(M))
    return x_hat


def plain_w2(problem: TwoLayerNetwork, config: RunConfig, rounds: int) -> np.ndarray:
    """One seed of W2 with a new gradient array at every step."""
    rng = np.random.default_rng(0)
    x_hat = config.x_0.astype(np.float32)
    for _ in range(rounds):
        clients = []
        for i in range(M):
            x = x_hat.copy()
            for _ in range(H):
                rows = i * D + rng.integers(0, D, size=32)
                x -= np.float32(config.gamma) * problem.mean_gradient(x, rows)
            clients.append(x)
        x_hat = np.mean(clients, axis=0)
    return x_hat


def weights_w2(problem: TwoLayerNetwork, config: RunConfig, rounds: int) -> np.ndarray:
    """One seed of W2 by the chain engine's other way, which large data takes: each client steps with its weights."""
    rng = np.random.default_rng(0)
    chain, p = WeightSpace(problem, config), np.full(M, 1 / M, dtype=np.float32)
    for _ in range(rounds):
        rows = rng.integers(0, D, size=(M, H, config.batch)) + problem.first[:, None, None]
        chain.round(rows, p, ())
    return chain.x_hat()


def seconds(work: Callable[[], Any]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def seed_rounds(config: RunConfig) -> int:
    """The amount of work of a run: its seeds times its rounds."""
    return len(config.seed_indices) * config.R


def speeds(repeats: int = 5) -> dict[str, float]:
    """Best seed-rounds per core-second of each engine and of the plain loops, taken in turns."""
    problem, config = w1()
    network, chain = w2()
    zero = np.zeros(20)
    work: dict[str, tuple[float, Callable[[], Any]]] = {
        "W1 plain": (300, lambda: plain_w1(problem, config, 300)),
        "W1 numpy": (seed_rounds(config), lambda: run(problem, game(), config, x_star=zero, block=100)),
        "W1 numba": (seed_rounds(config), lambda: run(problem, game(), config, x_star=zero, engine="numba")),
        "W2 plain": (10, lambda: plain_w2(network, chain, 10)),
        "W2 chain": (seed_rounds(chain), lambda: run(network, game(), chain, engine="chain")),
        "W2 weights": (20, lambda: weights_w2(network, chain, 20)),
        "W2 products": (20, lambda: products(20 * M * H)),
    }
    run(problem, game(), replace(config, R=2), x_star=zero, engine="numba")  # compiles
    best = dict.fromkeys(work, 0.0)
    with threadpool_limits(1):
        for _ in range(repeats):
            for name, (amount, call) in work.items():
                best[name] = max(best[name], amount / seconds(call))
    return best


def products(steps: int) -> None:
    """The two large matrix products of W2's step with weights alone, the second added to the weights in place: the
    hardware's limit for any engine that steps with weights.

    Written to an array of its own the update would push the weights (200 KB) out of the second-level cache, and the
    products alone would be slower than the engine.
    """
    a, X = np.ones((32, 785), np.float32), np.ones((785, 64), np.float32)
    back, out = np.ones((32, 64), np.float32), np.empty((32, 64), np.float32)
    for _ in range(steps):
        np.matmul(a, X, out=out)
        blas.sgemm(-1e-9, back.T, a.T, beta=1.0, c=X.T, trans_b=True, overwrite_c=True)


class Coupled(DiagonalPlusLowRank):
    """A coupled game of a million clients: Jacobian diagonal plus rank 10."""

    def utility_losses(self, N: np.ndarray) -> np.ndarray:
        return N * self.F(N)


def million(m: int = 1_000_000) -> Coupled:
    """Ten label classes: U = V = Q, the clients' label distributions, scaled."""
    rng = np.random.default_rng(0)
    Q = rng.dirichlet(np.full(10, 0.3), m) / m**0.5
    return Coupled(rng.uniform(1, 2, m), Q, Q, -rng.uniform(3, 9, m), np.ones(m), np.full(m, 5.0))


PEAK = """
import resource, numpy as np
from dataclasses import replace
from benchmarks.bench_simulate import game, w1
from simulate import run
problem, config = w1()
config = replace(config, seeds={seeds}, R={R}, records=200)
run(problem, game(), config, x_star=np.zeros(20), engine="{engine}")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def peak_gib(seeds: int, R: int, engine: str) -> float:
    """Peak memory in GiB of W1 with these seeds and rounds, 200 recorded rounds, in a fresh process."""
    code = PEAK.format(seeds=seeds, R=R, engine=engine)
    return float(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    )


def metrics_share() -> float:
    """Share of W1's processor time that 64 drawn gradients and 20 recorded rounds a seed take (numpy engine)."""
    problem, config = w1()
    zero = np.zeros(20)
    bare = min(seconds(lambda: run(problem, game(), config, x_star=zero)) for _ in range(3))
    full = replace(config, draws=64, records=20)
    whole = min(seconds(lambda: run(problem, game(), full, x_star=zero)) for _ in range(3))
    return 1 - bare / whole


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_w1(benchmark: Any, engine: str) -> None:
    """Workload W1, beside the plain loops in the same run."""
    if engine == "numba":
        pytest.importorskip("numba", reason="the extra `fast` (numba) is not installed")
    problem, config = w1()
    zero = np.zeros(20)
    run(problem, game(), replace(config, R=2), x_star=zero, engine=engine)
    benchmark.pedantic(lambda: run(problem, game(), config, x_star=zero, engine=engine), rounds=3)
    plain = min(seconds(lambda: plain_w1(problem, config, 300)) for _ in range(3)) / 300
    ours = (
        min(seconds(lambda: run(problem, game(), config, x_star=zero, engine=engine)) for _ in range(3)) / 1e5
    )
    benchmark.extra_info["times the plain loops"] = plain / ours


def test_w2_chain(benchmark: Any) -> None:
    """Workload W2, one chain at a time."""
    problem, config = w2()
    benchmark.pedantic(lambda: run(problem, game(), config, engine="chain"), rounds=3)


def test_million_clients(benchmark: Any) -> None:
    """The game alone at m = 10^6, rank 10."""
    large = million()
    N = np.full(1_000_000, 2.0)
    with threadpool_limits(1):
        benchmark.pedantic(lambda: dynamics(large, N, 0.2, GAME_ROUNDS), rounds=3)


def test_peak_memory(benchmark: Any) -> None:
    used = benchmark.pedantic(lambda: peak_gib(1000, 1000, "numpy"), rounds=1)
    benchmark.extra_info["GiB"] = used
    assert used <= 1.0


def main() -> None:
    """Prints the speed table."""
    best = speeds()
    for name, value in best.items():
        beside = best[f"{name[:2]} plain"]
        print(f"{name:12s} {value:12,.0f} seed-rounds per core-second, {value / beside:6.1f} x plain loops")
    large, N = million(), np.full(1_000_000, 2.0)
    with threadpool_limits(1):
        rate = GAME_ROUNDS / min(seconds(lambda: dynamics(large, N, 0.2, GAME_ROUNDS)) for _ in range(3))
    print(f"game alone, m = 10^6, rank 10: {rate:.0f} rounds per core-second")
    print(f"metrics (64 draws, 20 records a seed): {metrics_share():.0%} of W1's time")
    print(f"peak here: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
