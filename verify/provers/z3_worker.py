"""The process behind `verify.provers.nlsat`: one JSON question a line on stdin, one JSON answer a line on
stdout."""

from __future__ import annotations

import json
import sys
from typing import Any


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """`{"verdict": "unsat" | "sat" | "unknown", "model": {name: "p/q"}}` (algebraic values approximated)."""
    import z3

    tactic = z3.TryFor(z3.Then("simplify", "purify-arith", "qfnra-nlsat"), question["ms"])
    solver = tactic.solver()
    solver.from_string(question["smt"])
    verdict = str(solver.check())
    if verdict != "sat":
        return {"verdict": verdict}
    model = solver.model()
    values = {}
    for name in question["names"]:
        value = model.eval(z3.Real(name), model_completion=True)
        rational = value.approx(20) if z3.is_algebraic_value(value) else value
        values[name] = f"{rational.numerator_as_long()}/{rational.denominator_as_long()}"
    return {"verdict": "sat", "model": values}


def main() -> None:
    """Answers until stdin ends."""
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # whatever z3 raises is an answer: it does not know
            reply = {"verdict": "unknown", "why": str(error)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
