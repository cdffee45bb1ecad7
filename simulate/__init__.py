"""Learning problems with known constants, IncentFedAvg, and run records."""

from simulate.config import RunConfig
from simulate.participation import Participation, participation, weights
from simulate.reference import ReferenceRun, run_reference
from simulate.run import run
from simulate.store import RunFileError, load, save

__all__ = [
    "Participation",
    "ReferenceRun",
    "RunConfig",
    "RunFileError",
    "load",
    "participation",
    "run",
    "run_reference",
    "save",
    "weights",
]
