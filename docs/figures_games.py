"""The picture of docs/games.md: a two-client common pool, its equilibria, and how Algorithm 1 selects one.

Run: python docs/figures_games.py [OUT.png]. Prints the numbers that the page quotes.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from games import CommonPoolGame, properties, solve
from games.gaps import dual_gap
from games.selection import select
from games.solution_set import distance_to_solutions
from games.welfare import QuadraticWelfare

GAME = CommonPoolGame(target=100.0, lower=[10.0, 5.0], upper=[90.0, 75.0], weight=1 / 64)
WELFARE = QuadraticWelfare(target=[40.0, 30.0], weights=[1.0, 2.0])
START = np.array([15.0, 20.0])
ROUNDS, GAMMA_0, A, LAMBDA_0, B = 3000, 20.0, 0.5, 0.01, 0.25


def trajectory() -> np.ndarray:
    """The participation update of Algorithm 1 with regularisation: [R + 1, 2]."""
    N = [START]
    for r in range(ROUNDS):
        gamma_r, lambda_r = GAMMA_0 * (r + 1) ** -A, LAMBDA_0 * (r + 1) ** -B
        N.append(GAME.project(N[-1] - gamma_r * (GAME.F(N[-1]) + lambda_r * WELFARE.gradient(N[-1]))))
    return np.array(N)


def draw(path: Path) -> None:
    """The figure."""
    found, N = select(GAME, WELFARE), trajectory()
    assert found.N is not None
    figure, axes = plt.subplots(figsize=(7.2, 6.2), dpi=150)
    x, y = np.meshgrid(np.linspace(4, 96, 240), np.linspace(0, 80, 240))
    h = WELFARE.value(np.stack([x, y], axis=-1))
    levels = np.array([50, 200, 450, 800, 1250, 1800, 2450, 3200])
    contours = axes.contour(x, y, h, levels=levels, colors="0.78", linewidths=0.8, zorder=1)
    axes.clabel(contours, fontsize=6, fmt=lambda v: f"h = {v:.0f}")
    u, v = np.meshgrid(np.linspace(14, 86, 10), np.linspace(9, 71, 9))
    field = -GAME.F(np.stack([u, v], axis=-1))
    axes.quiver(u, v, field[..., 0], field[..., 1], color="#4477aa", width=0.0028, alpha=0.75, zorder=2)
    low, high = GAME.lower, GAME.upper
    box = plt.Rectangle(low, *(high - low), fill=False, edgecolor="black", linewidth=1.4, zorder=3)
    axes.add_patch(box)
    ends = np.array([[high[0], 100.0 - high[0]], [100.0 - high[1], high[1]]])
    axes.plot(ends[:, 0], ends[:, 1], color="#228833", linewidth=3.2, zorder=4, label="equilibria: SOL")
    axes.plot(N[:, 0], N[:, 1], color="#cc3311", linewidth=1.4, zorder=5, label="Algorithm 1")
    marks = [0, 1, 10, 100, ROUNDS]
    axes.plot(N[marks, 0], N[marks, 1], "o", color="#cc3311", markersize=3.5, zorder=6)
    for r, shift in zip(marks, [(6, -8), (6, -10), (-10, 8), (-14, -14), (10, 4)], strict=True):
        axes.annotate(f"r = {r}", N[r], textcoords="offset points", xytext=shift, fontsize=7, color="#cc3311")
    axes.plot(*found.N, marker="*", color="#ee9900", markersize=15, markeredgecolor="black", linestyle="none",
              zorder=7, label="selected: least h on SOL")  # fmt: skip
    axes.plot(
        *WELFARE.target, marker="+", color="0.3", markersize=10, linestyle="none", zorder=7, label="least h"
    )
    axes.set(xlim=(4, 96), ylim=(0, 80))
    axes.set(xlabel="$N_1$ (samples of client 1)", ylabel="$N_2$ (samples of client 2)")
    axes.set_title("A common pool of 100 samples: arrows show $-F(N)$, the frame is the box", fontsize=10)
    axes.set_aspect("equal")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=4, fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def numbers() -> None:
    """What the page quotes."""
    facts = properties(GAME)
    print(f"monotone {facts.monotone}, strongly {facts.strongly_monotone}, potential {facts.potential}")
    one = solve(GAME, certificate="proof")
    print(f"solve: N = {one.N.tolist()}, unique = {one.unique}, certificate = {one.certificate}")
    found = select(GAME, WELFARE)
    assert found.N is not None
    print(f"select: N = {found.N.tolist()}, error_bound = {found.error_bound:.1e}")
    print(f"dimension of SOL = {found.dimension}")
    print(f"value = {found.value:.6f}, tikhonov = {found.tikhonov:.1e} at eps = {found.epsilon:.1e}")
    last = trajectory()[-1]
    away, gap = distance_to_solutions(GAME, last), dual_gap(GAME, last)
    print(f"after {ROUNDS} rounds: N = {last.round(4).tolist()}")
    print(f"dist(N, SOL) in [{away.low:.6f}, {away.high:.6f}], dual gap in [{gap.low:.3e}, {gap.high:.3e}]")
    print(f"distance to the selected equilibrium: {np.linalg.norm(last - found.N):.4f}")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "figures" / "two_clients.png")
    numbers()
