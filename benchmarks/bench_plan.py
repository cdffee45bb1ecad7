"""Speed of the planner for given constants: one plan, and a Pareto front over 20 numbers of local steps.

`pytest benchmarks/bench_plan.py -o addopts= --benchmark-only`. The first plan of a process also compiles its
statements; `test_first_plan` shows that. Times are of the processor.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from verify.planner.cost import pareto
from verify.planner.making import make_plan

CONSTANTS = {
    "m": 5, "L": 1.5, "nu": 2.8, "G": 2.5, "B": 1.4, "mu_F": 2.3e-4, "L_F": 4.4e-4, "dist_0": 17.0,
    "N_star_l1": 1087.0, "f_gap_0": 0.4, "X_0": 12.2, "S": 0.44, "p_star_min": 0.09,
}  # fmt: skip
STEPS = range(1, 21)
FIRST = """
import time
from verify.planner.making import make_plan
c = {constants!r}
t = time.process_time()
make_plan(c, 0.5, {theorem!r}, {edition!r}, H=2)
print(time.process_time() - t)
"""


@pytest.mark.parametrize("edition", ["corrected", "sharp"])
@pytest.mark.parametrize("theorem", ["4.6", "4.9"])
@pytest.mark.parametrize("epsilon", [0.5, 1e-4])
def test_plan(benchmark: Any, theorem: str, edition: str, epsilon: float) -> None:
    plan = benchmark(make_plan, CONSTANTS, epsilon, theorem, edition, H=2)
    assert plan.minimal["proved"]


@pytest.mark.parametrize("edition", ["corrected", "sharp"])
def test_front_of_20(benchmark: Any, edition: str) -> None:
    """Plans for 20 numbers of local steps and their Pareto front."""

    def front() -> list[Any]:
        return pareto([make_plan(CONSTANTS, 0.5, "4.6", edition, H=H) for H in STEPS])

    assert benchmark(front)


@pytest.mark.parametrize(("theorem", "edition"), [("4.6", "corrected"), ("4.9", "sharp")])
def test_first_plan(theorem: str, edition: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The first plan of a process, after the imports."""
    text = FIRST.format(constants=CONSTANTS, theorem=theorem, edition=edition)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    with capsys.disabled():
        print(f"\nfirst plan of a process, {theorem} {edition}: {float(done.stdout):.3f} s")


if __name__ == "__main__":
    for edition in ("corrected", "sharp"):
        make_plan(CONSTANTS, 0.5, "4.6", edition, H=2)
        begin = time.process_time()
        for _ in range(5):
            make_plan(CONSTANTS, 0.5, "4.6", edition, H=2)
        middle = time.process_time()
        pareto([make_plan(CONSTANTS, 0.5, "4.6", edition, H=H) for H in STEPS])
        print(
            f"{edition}: a plan {(middle - begin) / 5:.3f} s, 20 H values {time.process_time() - middle:.3f} s"
        )
