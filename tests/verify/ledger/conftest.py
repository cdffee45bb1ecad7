"""The tests against PEPit are collected where the extra `pep` is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("PEPit") else ["test_pep.py"]
