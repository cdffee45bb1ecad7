"""The provers of the proof ledger, one a file. Each says proved (with what can be checked again), refuted
(with a
rational counterexample) or nothing at all; none is believed on its word where an exact re-check is
possible."""
