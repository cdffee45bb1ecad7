"""Fast by default, thorough in the nightly profile (HYPOTHESIS_PROFILE=nightly): more examples, every call checked."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests import typechecking

settings.register_profile(
    "fast", max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", max_examples=500, deadline=None)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fast")
settings.load_profile(PROFILE)
if PROFILE == "fast":
    typechecking.spare()


# The files that take longest: whoever shares the files out among processes begins with them.
LONGEST = (
    "test_sweep_same_bytes.py", "test_ledger.py", "test_section_5_runs.py", "test_section_5.py", "test_every_kind.py",
    "test_estimate.py", "test_methods.py", "test_report.py", "test_certificate.py", "test_search_expectations.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first."""
    place = {name: i for i, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


def pytest_runtest_setup() -> None:
    """The first calls of each test are checked."""
    typechecking.next_test()
