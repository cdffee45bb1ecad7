"""z3's nonlinear solver (`qfnra-nlsat`) in a process of its own, killed when its time is up.

z3 is an optional extra (`prove`): without it this prover says nothing. `unsat` of the negated goal is a
proof by one
prover; a model is only a candidate counterexample, which the ledger re-substitutes exactly.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

from verify.provers.system import Poly, System

SECONDS = 8.0


def available() -> bool:
    """Whether z3 is installed."""
    return find_spec("z3") is not None


def script(system: System, goal: tuple[Poly, str] | None) -> str:
    """The hypotheses and the negated goal (or the hypotheses alone) in SMT-LIB."""
    lines = [f"(declare-const {n} Real)" for n in system.names]
    for c in system.constraints:
        lines.append(f"(assert ({'>' if c.strict else '>='} {_poly(c.poly, system)} 0))")
    lines += [f"(assert (= {_poly(e.poly, system)} 0))" for e in system.equations]
    if goal is not None:
        poly, op = goal
        negated = {">=": "(< {} 0)", ">": "(<= {} 0)", "==": "(not (= {} 0))"}[op]
        lines.append(f"(assert {negated.format(_poly(poly, system))})")
    return "\n".join(lines)


def _poly(poly: Poly, system: System) -> str:
    terms = []
    for exponents, coefficient in poly.to_dict().items():
        parts = [_number(int(coefficient.p), int(coefficient.q))]
        for name, k in zip(system.names, exponents, strict=True):
            parts += [name] * int(k)
        terms.append(f"(* {' '.join(parts)})" if len(parts) > 1 else parts[0])
    if not terms:
        return "0"
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else terms[0]


def _number(p: int, q: int) -> str:
    text = f"{abs(p)}.0" if q == 1 else f"(/ {abs(p)}.0 {q}.0)"
    return f"(- {text})" if p < 0 else text


class Solver:
    """A worker process that answers `unsat`, `sat` with a rational model, or `unknown`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "verify.provers.z3_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )

    def ask(
        self, system: System, goal: tuple[Poly, str] | None, seconds: float = SECONDS
    ) -> tuple[str, dict[str, Fraction]]:
        """The verdict on `hypotheses and not goal`, with a model when `sat`."""
        if not available():
            return "absent", {}
        if self._process is None or self._process.poll() is not None:
            self._process = self._start()
        question = {"smt": script(system, goal), "names": list(system.names), "ms": int(seconds * 1000)}
        answer = self._exchange(json.dumps(question), seconds + 3.0)
        if answer is None:
            return "timeout", {}
        return str(answer["verdict"]), {n: Fraction(v) for n, v in answer.get("model", {}).items()}

    def _exchange(self, line: str, seconds: float) -> Mapping[str, Any] | None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()
        if not _ready(process.stdout.fileno(), seconds):
            self.close()
            return None
        text = process.stdout.readline()
        return json.loads(text) if text else None

    def close(self) -> None:
        """Ends the worker."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process = None


def _ready(descriptor: int, seconds: float) -> bool:
    return bool(select.select([descriptor], [], [], seconds)[0])
