"""report.json against its schema, and the schema against reports that it must refuse."""

import copy
import json
from dataclasses import replace
from importlib import resources

import jsonschema
import pytest
from small_instance import SMALL

from verify.auditing import audit, dump
from verify.instance import parse_instance
from verify.ledger_run import run_ledger
from verify.verdict import Outcome, Rigor


@pytest.fixture(scope="module")
def validator():
    schema = json.loads((resources.files("verify") / "report.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture(scope="module")
def report():
    text = SMALL.replace("R = 300", "R = 40").replace('"Lemma 4.3(ii)", "Theorem 4.6(i-1)", ', "")
    done = audit([parse_instance(text, "small")], seeds=2)
    done = replace(done, ledger=tuple(run_ledger(only="Lemma 4.3(ii)")))
    return json.loads(dump(done, ["figures/a.png"]))


def test_a_real_report_is_valid(validator, report) -> None:
    assert list(validator.iter_errors(report)) == []
    assert report["verdicts"]
    assert report["ledger"]


def test_the_schema_knows_every_outcome_and_rigor(validator) -> None:
    verdict = validator.schema["$defs"]["verdict"]["properties"]
    assert set(verdict["outcome"]["enum"]) == {str(o) for o in Outcome}
    assert set(verdict["rigor"]["enum"]) == {str(r) for r in Rigor}


def _drop(key):
    return lambda r: r["verdicts"][0].pop(key)


BREAKS = {
    "no verdicts": lambda r: r.pop("verdicts"),
    "an unknown key": lambda r: r.update(time="12:00"),
    "a verdict without a bound": _drop("bound"),
    "a verdict with one end of its bound": _drop("bound_low"),
    "an end in words": lambda r: r["verdicts"][0].update(bound_high="large"),
    "an outcome of another kind": lambda r: r["verdicts"][0].update(outcome="true"),
    "a bound in words": lambda r: r["verdicts"][0].update(bound="large"),
    "a confidence above one": lambda r: r["verdicts"][0].update(confidence=1.5),
    "holds without an observation": lambda r: r["verdicts"][0].update(outcome="holds", observed=None),
    "fails for no reason": lambda r: r["verdicts"][0].update(
        outcome="hypothesis-fails", hypotheses=[], reason=""
    ),
    "a constant of unknown origin": lambda r: next(iter(r["constants"].values()))["shared"]["m"].update(
        provenance="guessed"
    ),
    "constants of no edition": lambda r: next(iter(r["constants"].values())).update({"Lemma 4.3(i)": {"final": {}}}),
    "a figure elsewhere": lambda r: r["figures"].append("../a.png"),
    "a refutation without a counterexample": lambda r: r["ledger"][0].update(status="refuted", counterexample=None),
    "a step of no kind of status": lambda r: r["ledger"][0].update(status="plausible"),
}  # fmt: skip


@pytest.mark.parametrize("case", BREAKS)
def test_a_broken_report_is_refused(case: str, validator, report) -> None:
    broken = copy.deepcopy(report)
    BREAKS[case](broken)
    assert list(validator.iter_errors(broken)) != []
