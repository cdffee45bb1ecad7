"""The numbers that define a run."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from simulate.problems.base import check_sampling

AVERAGES = ("p_now", "p_next")  # weights p_{i,r} (printed) and p_{i,r+1} (corrected) inside round r


@dataclass(frozen=True, eq=False)
class RunConfig:
    """Everything a run's numbers depend on, besides the problem and the game.

    Attributes:
        gamma, gamma_tilde: learning and participation step sizes.
        H, R, r_hat: local steps a round, rounds, and the first round that averages count.
        N_0, x_0: initial participation [m] and model [n].
        sampling: "iid", "full" or "subset"; batch: samples a local step; replacement: see
            `streams.sample_indices`.
        seeds: a count S (indices 0..S-1) or the seed indices themselves.
        root_seed: root of all streams.
        draws: k_star draws a seed, one in each of `draws` equal strata of [T_r_hat, T_R); all k if >= T.
        horizons: rounds R' at which f(x_avg over [T_r_hat, T_R')) is measured, each in r_hat+1..R.
        records: rounds at which f, ||grad f||^2 and ||x_hat_r - x_star||^2 are recorded: a count, spread
            evenly, or the rounds themselves; r_hat and R are always among them.
        models: keep the models x_hat_r of the recorded rounds themselves (n floats a seed and round).
        lambda_0, a, b: the regularised update's schedules; welfare: its loss (None: strongly monotone
            update).

    Raises:
        ValueError: for any value out of range, naming it.
    """

    gamma: float
    gamma_tilde: float
    H: int
    R: int
    N_0: Float[np.ndarray, " m"]
    x_0: Float[np.ndarray, " n"]
    r_hat: int = 0
    sampling: str = "iid"
    batch: int = 1
    replacement: str = "with"
    seeds: int | tuple[int, ...] = 1
    root_seed: int = 0
    draws: int = 0
    horizons: tuple[int, ...] = ()
    records: int | tuple[int, ...] = 2
    models: bool = False
    lambda_0: float | None = None
    a: float = 0.0
    b: float = 0.0
    welfare: Any = None

    def __post_init__(self) -> None:
        for name in ("gamma", "gamma_tilde"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise ValueError(f"{name} = {value}: give a number > 0")
        for name, least in (("H", 1), ("R", 1), ("r_hat", 0), ("draws", 0), ("root_seed", 0)):
            value = getattr(self, name)
            if value < least:
                raise ValueError(f"{name} = {value}: give an integer >= {least}")
        if self.r_hat >= self.R:
            raise ValueError(f"r_hat = {self.r_hat}: at most R - 1 = {self.R - 1}")
        check_sampling(self.sampling, self.batch, self.replacement)
        for name in ("N_0", "x_0"):
            array = np.asarray(getattr(self, name), dtype=float)
            if array.ndim != 1 or not np.all(np.isfinite(array)):
                raise ValueError(f"{name} has shape {array.shape}: a vector of finite numbers")
            object.__setattr__(self, name, array)
        for horizon in self.horizons:
            if not self.r_hat < horizon <= self.R:
                raise ValueError(f"horizons holds {horizon}: rounds in {self.r_hat + 1}..{self.R}")
        if len(set(self.horizons)) < len(self.horizons):
            raise ValueError(f"horizons = {self.horizons}: a round stands twice")
        self._check_seeds_and_records()

    def _check_seeds_and_records(self) -> None:
        seeds = self.seed_indices
        if len(seeds) == 0 or seeds.min() < 0 or len(set(seeds.tolist())) < len(seeds):
            raise ValueError(f"seeds = {self.seeds}: a count >= 1, or distinct indices >= 0")
        if isinstance(self.records, int):
            if self.records < 2:
                raise ValueError(f"records = {self.records}: at least 2 (r_hat and R)")
        elif any(not 0 <= r <= self.R for r in self.records):
            raise ValueError(f"records = {self.records}: rounds in 0..{self.R}")

    @property
    def seed_indices(self) -> Int[np.ndarray, " S"]:
        """The seed indices, in the order of the dataset's seed axis."""
        return np.arange(self.seeds) if isinstance(self.seeds, int) else np.array(self.seeds, dtype=np.int64)

    @property
    def record_rounds(self) -> Int[np.ndarray, " record"]:
        """The recorded rounds, increasing, with r_hat and R."""
        rounds = np.linspace(0, self.R, self.records) if isinstance(self.records, int) else self.records
        return np.unique(np.concatenate([np.rint(rounds).astype(np.int64), [self.r_hat, self.R]]))

    @property
    def T_R(self) -> int:
        """Local steps in all."""
        return self.H * self.R

    def to_json(self, seeds: bool = True) -> str:
        """The configuration as JSON with sorted keys (floats in full); `seeds`: with its list of seeds."""
        plain: dict[str, Any] = {}
        for field in fields(self):
            if field.name == "seeds" and not seeds:
                continue
            value = getattr(self, field.name)
            if field.name == "welfare":
                value = None if value is None else repr(value)
            plain[field.name] = value.tolist() if isinstance(value, np.ndarray) else value
        return json.dumps(plain, sort_keys=True)
