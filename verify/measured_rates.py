"""The work of `python -m verify.error_rates`: verdicts on synthetic truth, counted, beside a t-test.

Every cell draws samples with a known mean and asks for the verdict on E[X] <= b, b = 1, as a report would. Streams
belong to (law, ratio, size, repetition), so the table is the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from verify.expectation import Linear, judge
from verify.observed import Sample
from verify.statistics import against_at_least, against_at_most
from verify.verdict import Outcome

ALPHA = 0.05  # a report's 0.01 would need five times the repetitions to be measured as well
SEED = 20260
LOOKS = (32, 64, 128, 256, 512, 1024)  # of the sequential rule
CEILINGS = (5.0, 10.0, 100.0)
BOUND = Linear(1.0, 1.0)
Draw = Callable[[np.random.Generator, int], Float[np.ndarray, " n"]]


@dataclass(frozen=True)
class Law:
    """A law of mean 1 on [0, ceiling]; scaled by a ratio it has that mean and ceiling."""

    name: str
    draw: Draw
    ceiling: float


LAWS = (
    Law("beta(0.2, 1.8), scaled", lambda rng, n: rng.beta(0.2, 1.8, n) * 10.0, 10.0),
    Law("lognormal, sigma 1.5", lambda rng, n: rng.lognormal(-1.125, 1.5, n), np.inf),
    Law("1% failures", lambda rng, n: (rng.random(n) < 0.01) * 100.0, 100.0),
)
RATIOS = (0.8, 1.0, 1.2)


@dataclass(frozen=True)
class Cell:
    """How often something was said in one cell, and what a t-test at the same level says.

    Attributes:
        violated, holds: counts of verdicts; t_violated, t_holds: of the t-test's.
    """

    law: str
    ratio: float
    size: str
    repetitions: int
    violated: int
    holds: int
    t_violated: int
    t_holds: int

    @property
    def wrong(self) -> int:
        """The largest count of a wrong answer: "violated" where E[X] <= b, "E[X] < b" where E[X] >= b."""
        return max(self.violated if self.ratio <= 1 else 0, self.holds if self.ratio >= 1 else 0)

    @property
    def t_wrong(self) -> int:
        """The same for the t-test."""
        return max(self.t_violated if self.ratio <= 1 else 0, self.t_holds if self.ratio >= 1 else 0)

    def limit(self, confidence: float = 0.99) -> float:
        """Clopper and Pearson's upper limit of the rate of wrong answers."""
        return upper_limit(self.wrong, self.repetitions, confidence)


def upper_limit(count: int, repetitions: int, confidence: float) -> float:
    """The upper end of the one-sided exact binomial interval."""
    if count == repetitions:
        return 1.0
    return float(stats.beta.ppf(confidence, count + 1, repetitions - count))


def sample(values: Float[np.ndarray, " n"], ceiling: float) -> Sample:
    """Seeds without a start."""
    return Sample(values, (), ceiling, np.inf, np.zeros(0, dtype=int), np.zeros((values.size, 0)))


def t_test(values: Float[np.ndarray, " n"], alpha: float) -> Outcome:
    """What the textbook's one-sided t-tests say, each at level alpha."""
    n, mean = values.size, float(values.mean())
    half = float(stats.t.ppf(1 - alpha, n - 1)) * float(values.std(ddof=1)) / np.sqrt(n)
    if mean - half > 1:
        return Outcome.VIOLATED
    return Outcome.HOLDS if mean + half < 1 else Outcome.INCONCLUSIVE


def _generator(*key: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(SEED, spawn_key=key)))


def fixed(sizes: Sequence[int], repetitions: int) -> list[Cell]:
    """Verdicts on samples of a fixed size."""
    cells = []
    for a, law in enumerate(LAWS):
        for b, ratio in enumerate(RATIOS):
            for n in sizes:
                said: list[tuple[Outcome, Outcome]] = []
                for k in range(repetitions):
                    x = law.draw(_generator(a, b, n, k), n) * ratio
                    verdict = judge(sample(x, law.ceiling * ratio), BOUND, ALPHA).outcome
                    said.append((verdict, t_test(x, ALPHA)))
                cells.append(_cell(law, ratio, str(n), said))
    return cells


def growing(repetitions: int) -> list[Cell]:
    """Verdicts that are looked at again and again while seeds come in, and kept once decided."""
    cells = []
    for a, law in enumerate(LAWS):
        for b, ratio in enumerate(RATIOS):
            said = []
            for k in range(repetitions):
                x = law.draw(_generator(a, b, 1, k), LOOKS[-1]) * ratio
                said.append((_first(x, law.ceiling * ratio, judge_once), _first(x, 0.0, t_once)))
            cells.append(_cell(law, ratio, "until decided", said))
    return cells


def judge_once(x: Float[np.ndarray, " n"], ceiling: float) -> Outcome:
    """The verdict at one look of a run that may take as many seeds as the last look has."""
    return judge(sample(x, ceiling), BOUND, ALPHA, planned=LOOKS[-1]).outcome


def t_once(x: Float[np.ndarray, " n"], ceiling: float) -> Outcome:
    """The t-test at one look (it knows no ceiling)."""
    return t_test(x, ALPHA)


def _first(
    x: Float[np.ndarray, " n"], ceiling: float, look: Callable[[Float[np.ndarray, " n"], float], Outcome]
) -> Outcome:
    for n in LOOKS:
        outcome = look(x[:n], ceiling)
        if outcome is not Outcome.INCONCLUSIVE:
            return outcome
    return Outcome.INCONCLUSIVE


def _cell(law: Law, ratio: float, size: str, said: list[tuple[Outcome, Outcome]]) -> Cell:
    def count(which: int, outcome: Outcome) -> int:
        return sum(pair[which] is outcome for pair in said)

    return Cell(
        law.name,
        ratio,
        size,
        len(said),
        count(0, Outcome.VIOLATED),
        count(0, Outcome.HOLDS),
        count(1, Outcome.VIOLATED),
        count(1, Outcome.HOLDS),
    )


def seeds_needed(ratio: float, ceiling: float, repetitions: int, most: int = 4096) -> int | None:
    """The median number of seeds after which "holds" is said at a report's level 0.01, X a scaled beta on [0, ceiling].

    None if more than half of the samples are not decided within `most` seeds.
    """
    needed = []
    for k in range(repetitions):
        mean = ratio / ceiling
        x = _generator(9, int(10 * ratio), int(ceiling), k).beta(2 * mean, 2 * (1 - mean), most) * ceiling
        low, high = 0, most
        if not against_at_least(x, 1.0, ceiling).rejects(0.01):
            needed.append(most + 1)
            continue
        while high - low > 1:  # the evidence grows but for chance: the first crossing to within that
            middle = (low + high) // 2
            low, high = (
                (low, middle) if against_at_least(x[:middle], 1.0, ceiling).rejects(0.01) else (middle, high)
            )
        needed.append(high)
    median = int(np.median(needed))
    return median if median <= most else None


def exceeded_needed(ratio: float, ceiling: float, repetitions: int, most: int = 4096) -> int | None:
    """The same for "violated" (the ceiling is the law's; the test does not use it)."""
    needed = []
    for k in range(repetitions):
        mean = ratio / ceiling
        x = _generator(8, int(10 * ratio), int(ceiling), k).beta(2 * mean, 2 * (1 - mean), most) * ceiling
        crossing = next((n for n in _grid(most) if against_at_most(x[:n], 1.0).rejects(0.01)), most + 1)
        needed.append(crossing)
    median = int(np.median(needed))
    return median if median <= most else None


def _grid(most: int) -> list[int]:
    return [int(n) for n in np.unique(np.rint(np.geomspace(4, most, 60)))]


HEAD = """# How often a verdict is wrong

A statistical verdict may be wrong in two ways: *violated* although E[X] <= b, and *holds* although E[X] > b. Each has
probability at most alpha, whatever the law and the number of seeds. Here both are counted on synthetic truth, b = 1,
at alpha = {alpha}, beside a one-sided t-test at the same level. At E[X] = b both answers count as wrong.
"limit" is the exact (Clopper-Pearson) 99% upper limit of the verdict's own rate of wrong answers.

Made by `python -m verify.error_rates --out docs/error-rates.md`; the seed is fixed.

| law of X | E[X]/b | seeds | samples | violated | holds | wrong | limit | t-test: violated | holds | wrong |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""
NEEDED = """
"until decided" looks at {looks} seeds and keeps the first answer (`audit(..., until_decided=True)`); a t-test that is
looked at as often does not keep its level. The lognormal has no ceiling, and without one "holds" is never said.

## Seeds that a verdict takes

The median over {repetitions} samples of a scaled beta law on [0, ceiling], at a report's level 0.01.

| ceiling / b | holds at E[X] = 0.1 b | at 0.5 b | at 0.8 b | violated at 2 b | at 1.2 b |
| --- | --- | --- | --- | --- | --- |
"""


MANY = """
## Many statements in one report

A report with K statistical verdicts takes each at level alpha / K, alpha = 0.01 for the whole report, whatever the
others say (Bonferroni). Why not Holm's step-down, which raises the level of what is still open as others are
decided? Holm gains because every right rejection leaves one true hypothesis less to reject by mistake. A verdict
here decides between two answers, *violated* (against E[X] <= b) and *holds* (against E[X] > b), and exactly one of
these two hypotheses is true before and after it is decided: the number of true ones is K from the first step to the
last, and a valid step-down has nothing to step down on. Raised all the same to alpha / (still open), the level does
not hold: the statements of a report share their seeds, and with a dependence that no one can rule out the chance of
a wrong verdict grows to K times alpha (`tests/verify/test_familywise.py` builds such a case; at K = 10 and alpha =
0.05 half of all reports are wrong). Two families, each with Holm at alpha / 2, would be valid: one for *violated*,
one for *holds*. Every *violated* would then need twice the e-value, a *holds* among few would, too, and only the
last of many that hold would gain (at most a factor K / 2, which in seeds is a logarithm); and each verdict would
change with the outcomes of statements that have nothing to do with it. The closure of the mean of e-values, valid
under any dependence, asks e_i + sum_j min(e_j for, e_j against) >= K / alpha: next to K / alpha the sum is nothing.
So the level of a verdict is fixed before the run, by the number of verdicts alone. Rounds need no correction:
*holds* means at each of them, and *violated* takes the mean of the rounds' e-values.
"""


def page(repetitions: int, sizes: Sequence[int]) -> str:
    """The text of docs/error-rates.md."""
    cells = [*fixed(sizes, repetitions), *growing(max(repetitions // 2, 1))]
    lines = [_row(cell) for cell in cells]
    few = max(repetitions // 100, 5)
    needed = [
        "| "
        + " | ".join(
            [
                f"{ceiling:g}",
                *(_count(seeds_needed(ratio, ceiling, few)) for ratio in (0.1, 0.5, 0.8)),
                *(_count(exceeded_needed(ratio, ceiling, few)) for ratio in (2.0, 1.2)),
            ]
        )
        + " |"
        for ceiling in CEILINGS
    ]
    middle = NEEDED.format(looks=", ".join(str(n) for n in LOOKS), repetitions=few)
    return HEAD.format(alpha=ALPHA) + "\n".join(lines) + "\n" + middle + "\n".join(needed) + "\n" + MANY


def _count(n: int | None) -> str:
    return "more than 4096" if n is None else str(n)


def _row(cell: Cell) -> str:
    def share(count: int) -> str:
        return f"{100 * count / cell.repetitions:.1f}%"

    return (
        f"| {cell.law} | {cell.ratio:g} | {cell.size} | {cell.repetitions} | {share(cell.violated)} | "
        f"{share(cell.holds)} | {share(cell.wrong)} | {100 * cell.limit():.1f}% | {share(cell.t_violated)} | "
        f"{share(cell.t_holds)} | {share(cell.t_wrong)} |"
    )
