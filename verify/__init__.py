"""Bounds beside games and runs: checks, verdicts, the report."""
