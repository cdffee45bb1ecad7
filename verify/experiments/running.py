"""The paper's experiments, section by section."""

from __future__ import annotations

from pathlib import Path

from verify.experiments import SECTIONS
from verify.experiments.results import Experiment
from verify.experiments.training import Tell


def run_all(
    seed: int = 0, progress: Tell | None = None, *, folder: Path | None = None, quick: bool = False
) -> tuple[Experiment, ...]:
    """Sections 5.1, 5.2 and 5.3, in order.

    Args:
        seed: root of the split, of theta, of the starts and of all runs.
        progress: told (what, done, all).
        folder: images of the user's (MNIST's IDX files, CIFAR-10's binary files); without it the digits stand in.
        quick: small sizes, for tests and a first look.

    Raises:
        InputError: for a folder that cannot be used.
    """
    found: list[Experiment] = []
    for section in SECTIONS:
        found += run_section(section, seed, progress, folder=folder, quick=quick)
    return tuple(found)


def run_section(
    section: str,
    seed: int = 0,
    progress: Tell | None = None,
    *,
    folder: Path | None = None,
    quick: bool = False,
) -> tuple[Experiment, ...]:
    """The experiments of one section (5.1 has one for each set of images).

    Raises:
        InputError: for a folder that cannot be used.
        KeyError: for another section.
    """
    # The experiments import matplotlib and the simulator; the ledger's checks need neither of the figures.
    from verify.experiments import strongly_monotone, welfare, zero_sum
    from verify.experiments.data import load

    tell = progress or (lambda what, done, total: None)
    if section == "5.2":
        return welfare.run(seed=seed, tell=tell, quick=quick)
    images = load(folder)
    if section == "5.1":
        return strongly_monotone.run(images, seed=seed, tell=tell, quick=quick)
    return {"5.3": zero_sum.run}[section](images[0], seed=seed, tell=tell, quick=quick)
