"""The welfare losses h of Section 2.2: one table per kind."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Literal

from pydantic import Field

import games
from games.welfare import Welfare
from verify.schema.base import Finite, Positive, Table, per_client


class WelfareTable(Table):
    """One kind of welfare loss."""

    @abstractmethod
    def build(self, m: int) -> Welfare:
        """h for m clients."""


class SoftplusTable(WelfareTable):
    """h(N) = log(1 + exp(sum_i N_i)) (Section 5.2): convex, for two clients or more not strictly."""

    kind: Literal["softplus"]

    def build(self, m: int) -> Welfare:
        return games.SoftplusWelfare()


class QuadraticWelfareTable(WelfareTable):
    """h(N) = sum_i weight_i (N_i - target_i)^2 / 2: a social target."""

    kind: Literal["quadratic"]
    target: list[Finite] = Field(min_length=1)
    weights: Positive | list[Positive] = 1.0

    def lengths(self) -> dict[str, int]:
        return per_client(target=self.target, weights=self.weights)

    def build(self, m: int) -> Welfare:
        return games.QuadraticWelfare(self.target, self.weights)


class EntropyTable(WelfareTable):
    """h(N) = sum_i N_i log N_i: even participation. Needs lower > 0."""

    kind: Literal["entropy"]

    def build(self, m: int) -> Welfare:
        return games.EntropyWelfare()


AnyWelfare = Annotated[SoftplusTable | QuadraticWelfareTable | EntropyTable, Field(discriminator="kind")]
