"""The paper's mathematics: symbols, statements, hypotheses, editions, evaluation."""
