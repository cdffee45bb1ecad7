"""Training in the experiments: the network on a skewed split, its loss at recorded rounds for each H."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int

from games.base import Game
from simulate import RunConfig, run
from simulate.data import Samples, label_distributions
from simulate.problems import TwoLayerNetwork
from verify.experiments.data import Images, proportional_sizes, skewed_split
from verify.experiments.instances import UPPER
from verify.experiments.results import Table

LOCAL_STEPS = (1, 5, 10, 20)  # Section 5.1
BATCH = 32
Tell = Callable[[str, int, int], None]
# For each H the recorded rounds, and f there for every seed.
Losses: TypeAlias = dict[int, tuple[Int[np.ndarray, " records"], Float[np.ndarray, "S records"]]]


@dataclass(frozen=True)
class Size:
    """How much is computed: rounds, recorded rounds, seeds, hidden units, and how many images at most.

    128 hidden units are printed for CIFAR-10 (X1 is 3073 x 128); MNIST's number is not.
    """

    rounds: int
    records: int
    seeds: int
    hidden: int
    most_samples: int


FULL = Size(rounds=200, records=51, seeds=3, hidden=32, most_samples=60_000)
LARGE = Size(rounds=200, records=21, seeds=1, hidden=128, most_samples=60_000)  # MNIST's or CIFAR-10's images
QUICK = Size(rounds=10, records=6, seeds=1, hidden=16, most_samples=600)


@dataclass(frozen=True, eq=False)
class Clients:
    """A network over five clients' data, and what the game needs of the split.

    Attributes:
        labels: Q, the label distributions, [m, t].
        sampling: "subset" (Algorithm 1 to the letter) where every client holds its capacity, else "iid".
    """

    problem: TwoLayerNetwork
    labels: Float[np.ndarray, "m t"]
    sampling: str
    start: Float[np.ndarray, " n"]


def size_for(images: Images, quick: bool) -> Size:
    """The size for these images: full losses of 60,000 images are recorded less often, from one seed."""
    return QUICK if quick else FULL if len(images.samples.labels) < 10_000 else LARGE


def clients(images: Images, size: Size, seed: int) -> Clients:
    """The clients' shares in proportion to the paper's capacities, and a two-layer network on them."""
    samples = _at_most(images.samples, size.most_samples)
    sizes = proportional_sizes(len(samples.labels), UPPER)
    split = skewed_split(samples.labels, sizes, seed)
    problem = TwoLayerNetwork(
        split.split(samples.features),
        split.split(samples.labels),
        samples.classes,
        size.hidden,
        dtype=np.float32 if size is LARGE else np.float64,
    )
    sampling = "subset" if bool(np.all(sizes >= UPPER)) else "iid"
    labels = label_distributions(samples.labels, split, samples.classes)
    return Clients(problem, labels, sampling, problem.random_start(seed))


def _at_most(samples: Samples, count: int) -> Samples:
    """The first `count` samples (the files' order is random)."""
    return Samples(samples.features[:count], samples.labels[:count], samples.classes, samples.source)


def losses(
    learners: Clients,
    game: Game,
    N_0: Float[np.ndarray, " m"],
    gamma_tilde: float,
    p_star: Float[np.ndarray, " m"],
    gamma: float,
    size: Size,
    seed: int,
    tell: Tell,
) -> Losses:
    """For each H the recorded rounds and f = sum p*_i f_i there, for every seed."""
    found = {}
    for done, H in enumerate(LOCAL_STEPS):
        tell(f"training with H = {H}", done, len(LOCAL_STEPS))
        config = RunConfig(
            gamma=gamma,
            gamma_tilde=gamma_tilde,
            H=H,
            R=size.rounds,
            N_0=N_0,
            x_0=learners.start,
            sampling=learners.sampling,
            batch=BATCH,
            seeds=size.seeds,
            root_seed=seed,
            records=size.records,
        )
        data = run(learners.problem, game, config, p_star=p_star, engine="chain")
        found[H] = (config.record_rounds, np.asarray(data["f"].values))
    tell("training", len(LOCAL_STEPS), len(LOCAL_STEPS))
    return found


def loss_table(found: Losses, about: dict[str, str]) -> Table:
    """Mean and range over the seeds, one row a (H, round)."""
    columns: dict[str, list[np.ndarray]] = {name: [] for name in ("H", "round", "f", "low", "high")}
    for H, (rounds, f) in found.items():
        values = (np.full(len(rounds), H), rounds, f.mean(axis=0), f.min(axis=0), f.max(axis=0))
        for column, value in zip(columns.values(), values, strict=True):
            column.append(np.asarray(value, dtype=float))
    axes = {"x": "communication round $r$", "y": "global cross-entropy loss $f(\\hat{x}_r)$"}
    return Table({name: np.concatenate(parts) for name, parts in columns.items()}, {**axes, **about})


def contribution_table(
    rounds: Int[np.ndarray, " k"],
    N: Float[np.ndarray, "k m"],
    N_star: Float[np.ndarray, " m"],
    about: dict[str, str],
) -> Table:
    """One row a (client, round)."""
    k, m = N.shape
    columns = {
        "round": np.tile(rounds, m).astype(float),
        "client": np.repeat(np.arange(m), k).astype(float),
        "N": N.T.ravel(),
        "N_star": np.repeat(N_star, k),
    }
    axes = {"x": "communication round $r$", "y": "contribution $N_{i,r}$"}
    return Table(columns, {**axes, **about})


def rounds_to(target: float, found: Losses) -> dict[int, int | None]:
    """The first recorded round whose mean loss is at most `target`, for each H (None: never)."""
    reached: dict[int, int | None] = {}
    for H, (rounds, f) in found.items():
        hit = np.flatnonzero(f.mean(axis=0) <= target)
        reached[H] = int(rounds[hit[0]]) if hit.size else None
    return reached
