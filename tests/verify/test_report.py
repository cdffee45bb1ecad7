"""The whole path from an instance to a report."""

import contextlib
import io
import json
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from small_instance import SMALL

import bounds
import simulate
from simulate import engine_numpy
from verify.auditing import audit, dump, run_seeds, versions, watching
from verify.errors import EXIT_INTERRUPTED, EXIT_STANDS
from verify.examine import examine, examine_all
from verify.instance import builtin_instances, load_instance, parse_instance
from verify.report import main
from verify.setup import build, checks
from verify.verdict import Outcome, Rigor

LEDGER_KEYS = {
    "step", "statement", "edition", "status", "kind", "grade", "prover", "counterexample", "survives", "repair",
    "spare",
}  # fmt: skip
VERDICT_KEYS = {
    "statement", "edition", "outcome", "rigor", "bound", "bound_low", "bound_high", "observed", "margin",
    "confidence", "hypotheses",
    "instance", "round", "reason", "more_seeds",
}  # fmt: skip


@pytest.fixture(scope="module")
def drift():
    return audit([load_instance("theorem-4.9-drift")])


def verdicts(report):
    return {(f.verdict.statement, f.verdict.edition): f.verdict for f in report.findings}


def test_the_printed_theorem_4_9_is_violated_and_the_corrected_one_holds(drift) -> None:
    found = verdicts(drift)
    printed, corrected = found["Theorem 4.9(i-1)", "printed"], found["Theorem 4.9(i-1)", "corrected"]
    assert printed.outcome is Outcome.VIOLATED
    assert printed.rigor is Rigor.RIGOROUS
    assert printed.round == 100_000
    assert printed.observed == pytest.approx(1.0696e-6, rel=1e-4)
    assert printed.bound == pytest.approx(2.2727e-7, rel=1e-4)
    assert all(h.holds is True for h in printed.hypotheses)
    assert corrected.outcome is Outcome.HOLDS
    assert corrected.bound == pytest.approx(2.2727e-2, rel=1e-4)
    assert drift.stands


def test_the_step_size_of_the_drift_instance_is_the_largest_allowed(drift) -> None:
    setup = drift.audits[0].setup
    assert setup.config.gamma == pytest.approx(1 / (240 * np.sqrt(2)), rel=1e-12)
    statement = bounds.get("Theorem 4.9(i-1)", "printed")
    constants = setup.constants(statement)
    assert constants["G"].value == pytest.approx(np.sqrt(2 / 11), rel=1e-12)
    assert constants["B"].value == 1.0
    above = np.nextafter(np.nextafter(setup.config.gamma, 1.0), 1.0)
    failing = [h for h in statement.check({**constants, "gamma": float(above)}) if h.holds is not True]
    assert [h.name for h in failing] == ["gamma <= 1/(m H sqrt(delta_0)/(1 - sqrt(rho)) + 24 L H B sqrt(m))"]


def test_the_violation_shows_only_from_about_21000_rounds(drift) -> None:
    finding = next(f for f in drift.findings if f.verdict.outcome is Outcome.VIOLATED)
    above = finding.observation.rounds[finding.observation.values > finding.envelope]
    below = finding.observation.rounds[finding.observation.values <= finding.envelope]
    assert below.max() < 21_500 < above.min()


@pytest.fixture(scope="module")
def digits():
    return build(load_instance("digits-convex"), seeds=2)


def test_the_digits_instance_is_what_it_claims(digits) -> None:
    eq, mu, gamma_tilde = digits.equilibrium, digits.shared["mu_F"].value, digits.shared["gamma_tilde"].value
    assert eq.at_lower.sum() == 1
    assert eq.at_upper.sum() == 1
    assert (~eq.at_lower & ~eq.at_upper).sum() == 3
    assert eq.error_bound < 1e-12
    assert 0.8 <= 1 - mu * gamma_tilde / 2 <= 0.99
    jacobian = digits.game.jacobian(eq.N)
    assert not np.allclose(jacobian, jacobian.T, rtol=1e-3)
    assert np.array_equal(digits.game.upper, digits.problem.sizes)
    assert len(load_instance("digits-convex").model_dump()["check"]["statements"]) == 5
    assert load_instance("digits-convex").run.seeds >= 64


def test_every_hypothesis_holds_on_digits(digits) -> None:
    for pair in checks(digits.instance):
        statement = bounds.get(*pair)
        constants = digits.constants(statement)
        constants |= {n: bounds.Constant(n, 1.0) for n in ("f_gap", "D_r_hat", "r") if n not in constants}
        assert [h.text for h in statement.check(constants) if h.holds is not True] == []


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> tuple[Path, int, str]:
    """The folder, exit status and printed text of one whole run of the command."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.toml").write_text(SMALL, "utf-8")
    out, printed = folder / "out", io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = main(["--instance", str(folder / "small.toml"), "--out", str(out), "--jobs", "1"])
    return out, code, printed.getvalue()


def test_a_small_instance_end_to_end(written) -> None:
    out, code, printed = written
    text = (out / "report.json").read_text("utf-8")
    report = json.loads(text)
    assert set(report) == {"schema", "config", "constants", "verdicts", "ledger", "versions", "figures"}
    assert report["schema"] == 1
    assert "partial" not in report["config"]
    assert {frozenset(v) for v in report["verdicts"]} == {frozenset(VERDICT_KEYS)}
    assert all(set(h) == {"name", "holds", "lhs", "rhs"} for v in report["verdicts"] for h in v["hypotheses"])
    statements = set(parse_instance(SMALL, "small").check.statements)
    assert {v["statement"] for v in report["verdicts"]} == statements
    assert {step["statement"] for step in report["ledger"]} == statements
    assert all(LEDGER_KEYS <= set(step) for step in report["ledger"])
    assert code == EXIT_STANDS
    assert sorted(report["figures"]) == sorted(f"figures/{p.name}" for p in (out / "figures").iterdir())
    assert str(out / "report.html") in printed
    assert str(out.parent) not in text
    assert "seconds" not in text


def test_the_small_instance_holds_where_it_must(small: str) -> None:
    found = verdicts(audit([parse_instance(small, "small")]))
    for statement in ("Lemma 4.3(i)", "Lemma 4.3(ii)", "Theorem 4.6(i-2)"):
        for edition in ("printed", "corrected", "sharp"):
            assert found[statement, edition].outcome is Outcome.HOLDS
            assert found[statement, edition].rigor is Rigor.RIGOROUS


def test_a_hypothesis_that_fails_is_named_with_both_sides(small: str) -> None:
    text = small.replace("H = 2", "H = 2\ngamma = 0.9")
    found = verdicts(audit([parse_instance(text, "small")]))
    verdict = found["Theorem 4.6(i-1)", "corrected"]
    assert verdict.outcome is Outcome.HYPOTHESIS_FAILS
    assert verdict.bound is None
    failing = [h for h in verdict.hypotheses if h.holds is False]
    assert failing
    assert all("gamma" in h.name and h.lhs == 0.9 and h.rhs < 0.9 for h in failing)
    assert failing[0].name in verdict.reason or "0.9" in verdict.reason


def test_a_wrong_theorem_would_be_caught(small: str) -> None:
    """A run that leaves the envelope, and an envelope that is half as high, are both found out."""
    instance = parse_instance(small.replace("H = 2", "H = 2\ngamma_tilde = 0.3"), "small")
    setup = build(instance)
    run = run_seeds(setup, 1, lambda *_: None)
    statement = bounds.get("Lemma 4.3(i)", "corrected")
    assert examine(setup, run, statement, 0.01).verdict.outcome is Outcome.HOLDS
    tampered = run.assign(N=run["N"] + 1e-3 * (run["round"] > 40) * (run["client"] == 0))
    assert examine(setup, tampered, statement, 0.01).verdict.outcome is Outcome.VIOLATED
    halved = replace(statement, expression=statement.expression / 2)
    assert examine(setup, run, halved, 0.01).verdict.outcome is not Outcome.HOLDS


def test_statements_examined_together_are_what_each_is_alone(small: str) -> None:
    setup = build(parse_instance(small.replace("H = 2", "H = 2\nr_hat = 250"), "small"))
    run = run_seeds(setup, 1, lambda *_: None)
    statements = [bounds.get(*pair) for pair in checks(setup.instance)]
    halved = [replace(s, expression=s.expression / 2) for s in statements]
    together = list(examine_all(setup, run, [*statements, *halved], 0.01))
    for statement, finding in zip([*statements, *halved], together, strict=True):
        alone = examine(setup, run, statement, 0.01)
        assert finding.statement is statement
        assert str(finding.verdict) == str(alone.verdict)
        assert finding.constants.keys() == alone.constants.keys()
        assert np.array_equal(finding.envelope, alone.envelope)
    assert together[0].envelope is together[1].envelope  # the printed Lemma 4.3(i) is the corrected one


@pytest.mark.parametrize(
    ("sampling", "samples", "draws", "alike"),
    [
        ("full", 1, 600, True),
        ("full", 3, 600, True),
        ("iid", 1, 600, True),
        ("iid", 3, 600, False),
        ("full", 1, 7, False),  # each seed measures at steps of its own
    ],
)
def test_one_run_stands_for_all_seeds_only_where_they_are_the_same(
    sampling: str, samples: int, draws: int, alike: bool, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = small.replace('"full"', f'"{sampling}"').replace("[game]", f"samples = {samples}\n[game]", 1)
    setup = build(parse_instance(text, "small"))
    setup = replace(setup, config=replace(setup.config, draws=draws))
    ran: list[list[int]] = []

    def run_block(problem, config, N, p, observer, seeds) -> None:
        ran.append(seeds.tolist())
        block(problem, config, N, p, observer, seeds)

    block = engine_numpy.run_block
    monkeypatch.setattr(engine_numpy, "run_block", run_block)
    found = run_seeds(setup, 1, lambda *_: None)
    assert ran == ([[0]] if alike else [[0, 1]])
    whole = simulate.run(setup.problem, setup.game, watching(setup), p_star=setup.p_star, x_star=setup.x_star)
    assert found.identical(whole)


def test_a_sampling_mode_that_the_statement_does_not_assume(small: str) -> None:
    setup = build(parse_instance(small, "small"))
    run = run_seeds(setup, 1, lambda *_: None)
    biased = replace(setup, config=replace(setup.config, sampling="subset"))
    verdict = examine(biased, run, bounds.get("Theorem 4.6(i-1)", "corrected"), 0.01).verdict
    assert verdict.outcome is Outcome.HYPOTHESIS_FAILS
    assert "subset" in verdict.reason
    assert "iid" in verdict.reason
    assert (
        examine(biased, run, bounds.get("Lemma 4.3(i)", "corrected"), 0.01).verdict.outcome is Outcome.HOLDS
    )


def test_only_changes_neither_steps_nor_verdicts(small: str) -> None:
    instance = parse_instance(small, "small")
    everything, one = audit([instance]), audit([instance], only=["Lemma 4.3(ii)"])
    key = ("Lemma 4.3(ii)", "corrected")
    assert set(verdicts(one)) == {("Lemma 4.3(ii)", e) for e in ("printed", "corrected", "sharp")}
    assert verdicts(one)[key] == verdicts(everything)[key]
    assert one.audits[0].setup.config.gamma == everything.audits[0].setup.config.gamma


def test_same_seed_same_bytes_for_any_number_of_jobs(small: str) -> None:
    instance = parse_instance(small, "small")
    texts = [dump(audit([instance], seeds=5, jobs=jobs, only=["Theorem 4.9(i-1)"])) for jobs in (1, 2)]
    assert texts[0] == texts[1]
    assert dump(audit([instance], seeds=5, root_seed=1, only=["Theorem 4.9(i-1)"])) != texts[0]


def test_an_interrupted_report_says_so_everywhere(
    small: str, small_file, tmp_path, monkeypatch, capsys
) -> None:
    """Ctrl-C while the second instance runs: the first is kept; page, json, schema and terminal say that it is all."""
    second = tmp_path / "second.toml"
    second.write_text(small.replace('name = "small"', 'name = "second"'), "utf-8")
    ran = []

    def until_second(setup, jobs, tell):
        ran.append(setup.instance.name)
        if len(ran) == 2:
            raise KeyboardInterrupt
        return run_seeds(setup, jobs, tell)

    monkeypatch.setattr("verify.auditing.run_seeds", until_second)
    out = tmp_path / "out"
    words = ["--only", "Lemma 4.3(i)", "--jobs", "1", "--out", str(out)]
    assert main(["--instance", str(small_file), "--instance", str(second), *words]) == EXIT_INTERRUPTED
    assert capsys.readouterr().out.startswith("Interrupted: ")
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert report["config"]["partial"] is True
    schema = json.loads((resources.files("verify") / "report.schema.json").read_text("utf-8"))
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(report)) == []
    assert "Interrupted" in (out / "report.html").read_text("utf-8")


def test_a_source_tree_that_is_not_installed_is_audited_all_the_same(monkeypatch) -> None:
    def missing(name: str) -> str:
        if name == "boundaudit":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr("verify.auditing.version", missing)
    found = versions()
    assert found["boundaudit"] == "not installed"
    assert found["numpy"] == np.__version__


def test_an_earlier_report_is_replaced(small_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["--instance", str(small_file), "--out", str(out), "--jobs", "1"]
    main([*arguments, "--only", "Lemma 4.3(i)"])
    first = json.loads((out / "report.json").read_text("utf-8"))
    main([*arguments, "--only", "Lemma 4.3(ii)"])
    second = json.loads((out / "report.json").read_text("utf-8"))
    assert {v["statement"] for v in first["verdicts"]} == {"Lemma 4.3(i)"}
    assert {v["statement"] for v in second["verdicts"]} == {"Lemma 4.3(ii)"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "small.toml"]


class Outline(HTMLParser):
    """Ids, links and outside references of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: list[str] = []

    def handle_starttag(self, tag, attributes) -> None:
        found = dict(attributes)
        if "id" in found:
            assert found["id"] not in self.ids
            self.ids.add(found["id"])
        self.targets += [found[key] for key in ("href", "src") if key in found]


def test_the_page_is_self_contained(written) -> None:
    page = (written[0] / "report.html").read_text("utf-8")
    outline = Outline()
    outline.feed(page)
    assert all(t.startswith(("#", "data:")) for t in outline.targets)
    assert all(t[1:] in outline.ids for t in outline.targets if t.startswith("#"))
    assert "<script" not in page
    for statement in parse_instance(SMALL, "small").check.statements:
        assert statement in page


def test_builtin_instances_parse() -> None:
    assert set(builtin_instances()) >= {"digits-convex", "theorem-4.9-drift"}
    for name in builtin_instances():
        assert load_instance(name).name == name
