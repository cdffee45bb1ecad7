"""The whole ledger: nothing open where it is trusted, every stored finding re-checked, the errata
re-substituted."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy

import bounds
from bounds.core.step import Kind, Obligation, eq, hypotheses, le
from bounds.incentfedavg.steps import experiments, steps
from bounds.incentfedavg.steps.notation import Book, case, nonnegative, obliged, positive, repaired
from verify.errors import InputError, run_command
from verify.judge import judge, judge_step
from verify.ledger import main
from verify.ledger_run import exit_code, run_ledger, select
from verify.provers import certificate
from verify.provers.discharge import Grade, Status, discharge, workshop
from verify.provers.guards import guard, nudges
from verify.provers.store import Store, slug
from verify.provers.system import build

A, B, C = positive("a b c")


Entry = dict[str, Any]
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Entry], str]:
    """The whole ledger from its stored findings, as a user runs it: the entries and the page."""
    page = tmp_path_factory.mktemp("ledger") / "ledger.md"
    command = [sys.executable, "-m", "verify.ledger", "--json", "--docs", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout)["ledger"], page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def entries(run: tuple[list[Entry], str]) -> dict[str, Entry]:
    """The entries by key."""
    return {step.key: entry for step, entry in zip(steps(), run[0], strict=True)}


def test_entries_are_the_steps_in_order(entries: dict[str, Entry]) -> None:
    assert all(
        (e["step"], e["edition"]) == (s.id, s.edition) for s, e in zip(steps(), entries.values(), strict=True)
    )


def test_no_corrected_or_sharp_step_is_open_or_refuted(entries: dict[str, Entry]) -> None:
    assert [k for k, e in entries.items() if e["edition"] != "printed" and e["status"] != "proved"] == []


def test_at_least_nine_in_ten_true_steps_are_proved(entries: dict[str, Entry]) -> None:
    true = [e for e in entries.values() if e["status"] != "refuted"]
    assert sum(e["status"] == "proved" for e in true) >= 0.9 * len(true)


def test_the_known_slip_is_found(entries: dict[str, Entry]) -> None:
    """Theorem 4.9's drift: one round's consensus error used for all rounds, and the bound itself fails on
    a run."""
    slip = entries["Theorem 4.9(i-1)/9"]
    assert slip["status"] == "refuted"
    assert slip["repair"] == "the drift 2 times, R - r_hat = 2"
    assert "refuted" in slip["below"]
    assert slip["survives"] == "no"
    run = entries["Theorem 4.9(i-1)/21"]
    assert run["status"] == "refuted"
    assert Fraction(run["sides"][0]) > Fraction(run["sides"][1]) > 0


def test_every_counterexample_re_substitutes_in_sympy(entries: dict[str, Entry]) -> None:
    """By sympy's own substitution, not by the ledger's evaluator."""
    ops = {"<=": sympy.Le, "<": sympy.Lt, ">=": sympy.Ge, ">": sympy.Gt, "==": sympy.Eq}
    seen = 0
    for step in steps():
        entry = entries[step.key]
        if entry["status"] != "refuted" or step.kind is Kind.RUN:
            continue
        point = entry["counterexample"]
        broken = []
        for o in (o for o in step.obligations if {s.name for s in o.symbols} == set(point)):
            values = {s: sympy.Rational(point[s.name]) for s in o.symbols}
            assumed = all(
                bool(ops[h.relation.op](h.relation.lhs.subs(values), h.relation.rhs.subs(values)))
                for h in o.hypotheses
            )
            claimed = bool(ops[o.claim.op](o.claim.lhs.subs(values), o.claim.rhs.subs(values)))
            broken.append(assumed and not claimed)
        assert any(broken), step.key
        seen += 1
    assert seen >= 30


def test_every_refuted_step_says_whether_its_statement_survives(entries: dict[str, Entry]) -> None:
    for key, entry in entries.items():
        assert (entry["survives"] in ("yes", "no", "open")) == (entry["status"] == "refuted"), key


def test_every_stored_certificate_re_checks() -> None:
    checked = 0
    for step in steps():
        store = Store(step.statement)
        duties = [
            *step.obligations,
            *(o for _, os in (step.repair.options if step.repair else ()) for o in os),
        ]
        for obligation in duties:
            stored = store.get(obligation).get("goals")
            if stored is None:
                continue
            system = build(obligation)
            assert len(stored) == len(system.goals), step.key
            for goal, one in zip(system.goals, stored, strict=True):
                assert certificate.check(system, goal, one) == "", step.key
                checked += 1
    assert checked >= 250


def test_every_proved_step_has_hypotheses_that_can_be_met(entries: dict[str, Entry]) -> None:
    for step in steps():
        if entries[step.key]["status"] == "proved":
            store = Store(step.statement)
            assert all("point" in store.get(o) for o in step.obligations), step.key


def test_a_step_with_impossible_hypotheses_is_not_proved() -> None:
    book = Book("Lemma 0", "nowhere")
    book.step("anything follows", le(A, B), {"a < 1": le(A, 1), "a > 2": le(2, A)})
    shop = workshop()
    report = judge_step(book.steps[0], shop, Store("Lemma 0", read=False))
    shop.close()
    assert report.status is Status.OPEN


def test_a_constant_claimed_sharp_that_is_not_leaves_the_step_open() -> None:
    book = Book("Lemma 0", "nowhere")
    book.step("loose", le(2 * A * B, 3 * A**2 + 3 * B**2), sharp=True)
    book.step("sharp", le(2 * A * B, A**2 + B**2), sharp=True, hints=(A - B,))
    shop = workshop()
    loose, sharp = (judge_step(s, shop, Store("Lemma 0", read=False)) for s in book.steps)
    shop.close()
    assert loose.status is Status.OPEN
    assert "nudged" in loose.tried[0]
    assert sharp.status is Status.PROVED
    assert sharp.tight


def test_guards_tell_needed_from_spare() -> None:
    o = Obligation("", hypotheses({"needed": le(A, B), "spare": le(A, 7)}), le(A, B + C))
    shop = workshop()
    memory: dict[str, object] = {}
    assert discharge(o, shop, memory).status is Status.PROVED
    found = guard(o, shop, memory, ())
    shop.close()
    assert found.needed == ("needed",)
    assert found.spare == ("spare",)
    assert found.satisfiable is True


def test_nudges_reach_every_term_and_constant() -> None:
    pairs = list(nudges(le(3 * A * B, A**2 / 2 + B)))
    assert len(pairs) == 5  # three terms, and the constants 3 and 1/2


def test_the_repair_is_the_first_candidate_that_is_proved() -> None:
    book = Book("Lemma 0", "nowhere")
    options = tuple(
        (f"c = {c}", obliged(le(2 * A * B, c * (A**2 + B**2)))) for c in (sympy.Rational(1, 2), 1, 2)
    )
    book.step(
        "too small", le(2 * A * B, (A**2 + B**2) / 2), cases=(case(a=1, b=1),), repair=repaired(*options)
    )
    shop = workshop()
    report = judge_step(book.steps[0], shop, Store("Lemma 0", read=False))
    shop.close()
    assert report.repair == "c = 1"
    assert report.below is not None
    assert "c = 1/2: refuted" in report.below


def test_survival_follows_the_steps_it_names() -> None:
    point = (case(a=2, b=1),)
    one, two, three = Book("Lemma 0", "nowhere"), Book("Lemma 1", "nowhere"), Book("Lemma 2", "nowhere")
    one.step("false", le(A, B), cases=point, survives_by=("Lemma 0/2",))
    one.step("true", le(A, A + B))
    two.step("false, and the statement with it", le(A, B), cases=point, fails_by=("Lemma 1/1",))
    two.step("false as well", le(A, B), cases=point, survives_by=("Lemma 0/2",))
    three.step("false", le(A, B), cases=point)
    shop = workshop()
    found = judge([*one.steps, *two.steps, *three.steps], shop, read=False)
    shop.close()
    assert [r.survives for r in found] == ["yes", None, "no", "no", "open"]


def test_an_open_step_is_shown_as_open() -> None:
    p, q, r = nonnegative("p q r")
    book = Book("Lemma 0", "nowhere")
    book.step("Motzkin's form", le(3 * p**2 * q**2 * r**2, p**4 * q**2 + p**2 * q**4 + r**6))
    shop = workshop(search=False, seconds=0.001)
    found = judge(book.steps, shop, read=False)
    shop.close()
    assert found[0].status is Status.OPEN
    assert exit_code(found) == 0  # printed steps may be open; trusted ones may not
    assert found[0].to_json()["status"] == "open"


@pytest.mark.parametrize(
    "experiment",
    [
        experiments.boundary_average,
        experiments.compact_form,
        experiments.negative_losses,
        experiments.drift_that_stays,
        experiments.weights_held_away,
        experiments.regularised_rest_point,
        experiments.fixed_subset,
    ],
)
def test_the_runs_are_exact_and_disagree(experiment: object) -> None:
    outcome = experiment()  # type: ignore[operator]
    assert not outcome.holds
    assert isinstance(outcome.lhs, Fraction)
    assert isinstance(outcome.rhs, Fraction)
    assert outcome.lhs != outcome.rhs
    assert outcome.instance


def test_equal_weights_give_back_lemma_4_2() -> None:
    """The counterexample lives on weights that move: with the same weights the recursion is exact."""
    a, c = [Fraction(1)] * 2, [Fraction(0), Fraction(1)]
    w = experiments.weights_of([Fraction(1), Fraction(3)])
    end = experiments.local_steps(a, c, Fraction(1, 4), Fraction(0), 1)[-1]
    gradient = experiments.mean(w, [ai * (0 - ci) for ai, ci in zip(a, c, strict=True)])
    assert experiments.mean(w, end) == 0 - Fraction(1, 4) * gradient


def test_json_is_one_object_with_the_agreed_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "Remark 6.2", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["ledger"]
    wanted = {
        "step",
        "statement",
        "edition",
        "status",
        "kind",
        "grade",
        "prover",
        "counterexample",
        "survives",
    }
    assert all(wanted | {"repair", "spare"} <= set(e) for e in entries)
    assert {e["statement"] for e in entries} == {"Remark 6.2"}
    assert {e["status"] for e in entries} == {"proved", "refuted"}


def test_reports_without_times_are_the_same_twice() -> None:
    first, second = ([r.to_json(times=False) for r in run_ledger(only="Lemma 4.11")] for _ in range(2))
    assert first == second


def test_the_ledger_is_the_same_in_one_process_and_in_two() -> None:
    """Two statements that need each other's steps, and runs among the steps."""
    one, two = (run_ledger(only="Lemma 4.3", jobs=jobs) for jobs in (1, 2))
    assert len({r.step.statement for r in one}) == 2
    assert [r.to_json(times=False) for r in one] == [r.to_json(times=False) for r in two]


def test_explain_shows_the_claim_the_point_and_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--explain", "Lemma 4.3(i)/5"]) == 0
    text = capsys.readouterr().out
    assert "to prove" in text
    assert "fails at" in text
    assert 'verify.ledger --explain "Lemma 4.3(i)/5"' in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "Lemma 9.9"], "--only 'Lemma 9.9': no step matches"),
        (["--explain", "Lemma 9.9/1"], "--explain 'Lemma 9.9/1': no step matches"),
        (["--explain", ""], "--explain '': no step matches"),
        (["--save"], "--save goes with --cold alone"),
        (["--mutate", "--sample", "-1"], "--sample -1: give an integer >= 1"),
        (["--colour"], "unrecognized arguments: --colour"),
        (["--only", "Remark 6.2", "--docs", "/proc/page.md"], "--docs /proc/page.md cannot be written"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError) as error:
        main(arguments)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(SystemExit) as ended:
        run_command(lambda: main(arguments))
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_only_takes_a_statement_a_step_or_a_part_of_a_key() -> None:
    assert {s.statement for s in select("Lemma 4.3(i)", None)} == {"Lemma 4.3(i)"}
    assert [s.key for s in select("Lemma 4.3(i)/5", "printed")] == ["Lemma 4.3(i)/5"]
    assert len(select("Theorem 4.9", None)) > len(select("Theorem 4.9(ii)", None)) > 0


def test_the_page_in_docs_is_the_one_the_ledger_writes(run: tuple[list[Entry], str]) -> None:
    """Errata first; the page holds no time, so it can be compared."""
    assert run[1].index("## Errata") < run[1].index("## The proofs")
    assert (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8") == run[1]


def test_an_identity_is_proved_without_search() -> None:
    shop = workshop(search=False)
    finding = discharge(Obligation("", (), eq((A + B) ** 2, A**2 + 2 * A * B + B**2)), shop, {})
    assert (finding.status, finding.grade) == (Status.PROVED, Grade.CERTIFICATE)


def test_importing_bounds_does_not_build_the_steps() -> None:
    assert bounds.__name__ == "bounds"
    code = "import sys, bounds; print('bounds.incentfedavg.steps' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"


def test_certificate_files_belong_to_statements() -> None:
    names = {slug(s.statement) for s in steps()}
    folder = Store("Lemma 4.11").path.parent
    assert {p.stem for p in folder.glob("*.json")} <= names
