"""Worst cases by semidefinite programming, beside the bounds that they must not exceed (extra `pep`).

Each module holds one claim, as a function that returns *(numeric, theoretical)*: the worst case over a whole
class of problems, computed by PEPit, and what this package's statement says of it. The method shares nothing
with the proofs: a bound below the worst case would be false, whatever the ledger says. `python -m verify.pep`
prints the table.
"""
