"""The planner: from a target epsilon to what to run, with a certificate."""
