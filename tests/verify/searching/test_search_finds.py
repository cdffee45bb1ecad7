"""The search finds what is false, and nothing where a statement is proved."""

from __future__ import annotations

import numpy as np
import pytest

import bounds
from verify.auditing import audit
from verify.errors import InputError
from verify.instance import parse_instance
from verify.searching import families
from verify.searching import optimise as optimiser
from verify.searching.families import Family
from verify.searching.objective import TARGETS, ratios
from verify.searching.optimise import optimise
from verify.searching.recheck import recheck, recheck_built
from verify.searching.shrink import VIOLATED, least_kept, shrink
from verify.searching.store import stored
from verify.searching.toml import instance_toml
from verify.searching.worst import Worst, worst_case
from verify.setup import build
from verify.verdict import Outcome, Rigor

SEED = 0
FALSE = ("Lemma 4.4(iv)", "Theorem 4.9(i-1)", "Theorem 4.10(i)")
# The rest, in every edition and with a large budget, is slow.
_GAME = ("Lemma 4.3(i)", "Lemma 4.3(ii)", "Lemma 4.4(iv)", "Theorem 4.6(i-2)")
QUICK = [(id, edition) for id in _GAME for edition in ("corrected", "sharp")] + [
    ("Theorem 4.9(i-1)", "sharp")
]
TRUE = [(id, str(e)) for id in TARGETS for e in bounds.editions(id) if not (id in FALSE and e == "printed")]


def proved_violated(worst: Worst) -> None:
    assert worst.verdict.outcome is Outcome.VIOLATED
    assert worst.verdict.rigor is Rigor.RIGOROUS
    assert worst.ratio > 1
    assert all(h.holds is True for h in worst.verdict.hypotheses)
    again = recheck(parse_instance(worst.instance, "again"), bounds.get(worst.statement, worst.edition))
    assert (again.low, again.high) == (worst.ratio, worst.ratio_high)


def test_the_printed_theorem_4_9_falls_from_a_random_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hint: random games, losses, starts and schedules; what it finds is the drift that does not decay."""
    monkeypatch.setattr(families, "LARGEST_SPAN", 3e4)  # shorter runs, to save time: nothing else is narrowed
    printed = bounds.get("Theorem 4.9(i-1)", "printed")
    found = optimise(Family(printed, 2), SEED, 1280)
    assert found.ratio > 1
    assert found.best is not None
    instance = parse_instance(instance_toml(found.best, printed), "found")
    setup = build(instance)
    proof = recheck_built(setup, printed)
    assert proof.verdict.outcome is Outcome.VIOLATED
    assert all(h.holds is True for h in proof.verdict.hypotheses)
    assert proof.low == pytest.approx(found.ratio, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("id", ["Theorem 4.9(i-1)", "Theorem 4.10(i)"])
def test_the_audit_of_a_counterexample_says_so_too(id: str) -> None:
    instance = parse_instance(stored()[id, "printed"].instance, "found")
    report = audit([instance], seeds=16)
    assert [f.verdict.outcome for f in report.findings] == [Outcome.VIOLATED]


def test_the_printed_lemma_4_4_iv_falls_near_the_equilibrium() -> None:
    worst = worst_case("Lemma 4.4(iv)", "printed", budget=800)
    proved_violated(worst)
    instance = parse_instance(worst.instance, "found")
    assert isinstance(instance.algorithm.N_0, list)
    # 1/dist_0 is what the surplus factor loses: the start is nearer to N* than 1.
    assert worst.ratio * 1.0 < 1e3
    corrected = recheck(instance, bounds.get("Lemma 4.4(iv)", "corrected"))
    assert corrected.verdict.outcome is Outcome.HOLDS
    assert corrected.high / worst.ratio < 1  # the corrected bound is larger by 1/dist_0


def test_the_printed_theorem_4_10_falls_with_its_delta_hat() -> None:
    instance = parse_instance(stored()["Theorem 4.10(i)", "printed"].instance, "found")
    assert recheck(instance, bounds.get("Theorem 4.10(i)", "printed")).verdict.outcome is Outcome.VIOLATED
    corrected = recheck(instance, bounds.get("Theorem 4.10(i)", "corrected"))
    assert corrected.verdict.outcome is not Outcome.VIOLATED


def test_the_sharp_contraction_is_attained_by_a_rotation_and_the_printed_one_is_not() -> None:
    worst = worst_case("Lemma 4.3(i)", "sharp", budget=3000)
    assert worst.ratio > 1 - 1e-6
    assert worst.ratio_high < 1 + 1e-9
    instance = parse_instance(worst.instance, "found")
    printed = recheck(instance, bounds.get("Lemma 4.3(i)", "printed"))
    if printed.verdict.outcome is not Outcome.HYPOTHESIS_FAILS:  # the sharp edition allows larger steps
        assert printed.verdict.outcome is Outcome.HOLDS
        assert printed.high < 1


EXACT_ROTATION = """
name = "rotation"
[problem]
kind = "quadratics"
curvature = [1.0, 1.0]
centre = [[0.0], [0.0]]
[game]
kind = "affine"
matrix = [[1.0, 1.0], [-1.0, 1.0]]
offset = [-40.0, 0.0]
lower = [1.0, 1.0]
upper = [64.0, 64.0]
[algorithm]
gamma = 0.03125
gamma_tilde = 0.5
H = 1
R = 12
r_hat = 0
N_0 = [24.0, 20.0]
sampling = "full"
[check]
statements = ["Lemma 4.3(i)"]
editions = ["sharp"]
"""


def test_a_rotation_attains_the_sharp_edition_exactly_and_stays_below_the_printed_one() -> None:
    instance = parse_instance(EXACT_ROTATION, "rotation")
    sharp = recheck(instance, bounds.get("Lemma 4.3(i)", "sharp"))
    assert sharp.low <= 1 <= sharp.high
    assert sharp.high - sharp.low < 1e-12
    slower = recheck(
        parse_instance(EXACT_ROTATION.replace("gamma_tilde = 0.5", "gamma_tilde = 0.4375"), "slower"),
        bounds.get("Lemma 4.3(i)", "printed"),
    )
    q, rho = np.sqrt(1 - 2 * 0.4375 + 2 * 0.4375**2), 1 - 0.4375 / 2
    assert slower.verdict.outcome is Outcome.HOLDS
    assert slower.high == pytest.approx(q / rho, rel=1e-9)


@pytest.mark.parametrize(("id", "edition"), QUICK)
def test_nothing_is_found_against_a_proved_edition(id: str, edition: str) -> None:
    worst = worst_case(id, edition, seed=3, budget=512)
    assert worst.verdict.outcome in (Outcome.HOLDS, Outcome.INCONCLUSIVE)
    assert worst.ratio <= 1
    assert worst.ratio_high < 1 + 1e-9
    if worst.verdict.outcome is Outcome.INCONCLUSIVE:
        assert "attained" in worst.verdict.reason
        assert edition == "sharp"


@pytest.mark.slow
@pytest.mark.parametrize(("id", "edition"), TRUE)
def test_nothing_is_found_with_a_large_budget_either(id: str, edition: str) -> None:
    worst = worst_case(id, edition, seed=11, budget=30_000)
    assert worst.verdict.outcome is not Outcome.VIOLATED
    assert worst.ratio_high < 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("id", "seed"),
    [
        *((id, seed) for id in ("Lemma 4.4(iv)", "Theorem 4.9(i-1)") for seed in (2, 3, 4)),
        ("Theorem 4.10(i)", 2),  # rarer: seed 3 does not find it with this budget
    ],
)
def test_other_starts_find_what_is_false_too(id: str, seed: int) -> None:
    proved_violated(worst_case(id, "printed", seed=seed, budget=20_000))


def test_the_same_seed_finds_the_same_for_any_number_of_processes() -> None:
    one = worst_case("Lemma 4.3(ii)", "sharp", seed=7, budget=256, jobs=1)
    two = worst_case("Lemma 4.3(ii)", "sharp", seed=7, budget=256, jobs=2)
    other = worst_case("Lemma 4.3(ii)", "sharp", seed=8, budget=256)
    assert one == two
    assert one.instance != other.instance


def test_ctrl_c_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def interrupted(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls > 5:
            raise KeyboardInterrupt
        return ratios(*arguments)

    monkeypatch.setattr(optimiser, "ratios", interrupted)
    worst = worst_case("Lemma 4.3(ii)", "sharp", budget=4000)
    assert worst.partial
    assert worst.evaluations == 5 * optimiser.MEMBERS
    assert 0 < worst.ratio <= 1
    calls = 10
    with pytest.raises(KeyboardInterrupt):
        worst_case("Lemma 4.3(ii)", "sharp", budget=4000)


@pytest.mark.parametrize(("id", "edition"), [("Lemma 4.3(ii)", "sharp"), ("Theorem 4.6(i-1)", "sharp")])
def test_shrinking_keeps_the_ratio_and_shortens_the_numbers(id: str, edition: str) -> None:
    statement = bounds.get(id, edition)
    found = optimise(Family(statement, 3), 0, 640)
    assert found.best is not None
    small = shrink(statement, found.best, found.ratio)
    assert float(ratios(statement, small)[0]) >= least_kept(found.ratio)
    assert small.m <= found.best.m
    assert small.R[0] <= found.best.R[0]
    digits = [len(repr(float(v)).replace("-", "").replace(".", "").strip("0")) for v in small.curvature[0]]
    assert max(digits) <= 6


def test_what_a_shrunk_instance_keeps() -> None:
    assert least_kept(70.0) == VIOLATED > 1
    assert least_kept(0.5) == pytest.approx(0.49)
    assert least_kept(0.999) == pytest.approx(0.998)
    assert least_kept(1.0) == 1.0


def test_a_statement_without_a_family_says_which_have_one() -> None:
    with pytest.raises(InputError, match=r"Lemma 4.4\(iii\)' has no search family.*Lemma 4.3\(i\)"):
        worst_case("Lemma 4.4(iii)")
    with pytest.raises(InputError, match="is not a statement"):
        worst_case("Lemma 9.9")
    with pytest.raises(InputError, match="has no edition 'final'"):
        worst_case("Lemma 4.3(i)", "final")
