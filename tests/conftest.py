"""Hypothesis profiles: fast by default, thorough in the nightly profile (HYPOTHESIS_PROFILE=nightly)."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fast", max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
