"""What a constant, a hypothesis and a statement are: the machinery, free of any paper."""
