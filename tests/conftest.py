"""Fast by default, thorough in the nightly profile (HYPOTHESIS_PROFILE=nightly): more examples, every call checked."""

import os

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


def pytest_runtest_setup() -> None:
    """The first calls of each test are checked."""
    typechecking.next_test()
