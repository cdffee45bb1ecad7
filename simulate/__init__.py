"""Learning problems with known constants, IncentFedAvg, and run records."""
