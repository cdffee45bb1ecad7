"""Each prover on small claims whose truth is known, and on false ones that it must not prove."""

import time
from dataclasses import replace
from fractions import Fraction

import flint
import pytest
import sympy
from sympy import Abs, exp, log, sqrt

from bounds.core.step import Obligation, Relation, eq, ge, gt, hypotheses, le, lt
from bounds.incentfedavg.steps.notation import cauchy_schwarz, natural, nonnegative, positive, real
from verify.provers import calculus, certificate, falsify, handelman, slack
from verify.provers.discharge import Grade, Status, discharge, workshop
from verify.provers.evaluate import Irrational, balls, exact, holds
from verify.provers.nlsat import Solver, available
from verify.provers.system import NotAlgebraic, UnknownSign, build

A, B, C = positive("a b c")
X, Y = real("x y")
N, K = nonnegative("n")[0], natural("k")[0]
needs_z3 = pytest.mark.skipif(not available(), reason="z3 is not installed")


def obligation(claim: Relation, **given: Relation) -> Obligation:
    return Obligation("", hypotheses(given), claim)


def shop_status(claim: Relation, **given: Relation) -> Status:
    shop = workshop()
    try:
        return discharge(obligation(claim, **given), shop, {}).status
    finally:
        shop.close()


TRUE = [
    (eq((A + B) ** 2, A**2 + 2 * A * B + B**2), {}),
    (eq(A / (A + B) + B / (A + B), 1), {}),
    (le(2 * A * B, A**2 + B**2), {}),
    (le(A, B + C), {"h": le(A, B)}),
    (le(A * C, sympy.Rational(1, 32)), {"h": le(A, 1 / (32 * C))}),
    (le(A, B), {"h": le(A**2, B**2)}),
    (le(Abs(X), A), {"h": le(X**2, A**2)}),
    (le(sqrt(A) * sqrt(B), (A + B) / 2), {}),
    (le(4 * A**2 * B**2, 1), {"h": le(A, 1 / (2 * B))}),
    (ge(K**2, K), {}),
    (lt(A / (A + B), 1), {}),
    (le(3 * A**2, 2), {"h": le(A, sqrt(2) / sqrt(3))}),
]
FALSE = [
    (eq((A + B) ** 2, A**2 + A * B + B**2), {}),
    (le(2 * A * B, A**2 + B**2 - sympy.Rational(1, 100)), {}),
    (le(A, B), {"h": le(A, B + C)}),
    (lt(0, 1 - A), {"h": le(A, 1)}),
    (le(A * C, sympy.Rational(1, 33)), {"h": le(A, 1 / (32 * C))}),
    (le(X, A), {"h": ge(X**2, A**2)}),
    (ge(K, 2), {}),
    (le(5 * A**2, 3), {"h": le(A, sqrt(2) / sqrt(3))}),
]


@pytest.mark.parametrize(("claim", "given"), TRUE)
def test_true_claims_are_proved(claim: Relation, given: dict[str, Relation]) -> None:
    assert shop_status(claim, **given) is Status.PROVED


@pytest.mark.parametrize(("claim", "given"), FALSE)
def test_false_claims_are_refuted_by_a_point_that_re_substitutes(
    claim: Relation, given: dict[str, Relation]
) -> None:
    false = obligation(claim, **given)
    shop = workshop()
    finding = discharge(false, shop, {})
    shop.close()
    assert finding.status is Status.REFUTED
    assert finding.counterexample is not None
    values = {s: sympy.Rational(str(finding.counterexample[s.name])) for s in false.symbols}
    for h in false.hypotheses:
        assert bool(sympy_relation(h.relation, values))
    assert not bool(sympy_relation(claim, values))


def sympy_relation(relation: Relation, values: dict[sympy.Symbol, sympy.Rational]) -> sympy.Basic:
    """The relation decided by sympy alone, a second opinion on `holds`."""
    table = {"<=": sympy.Le, "<": sympy.Lt, ">=": sympy.Ge, ">": sympy.Gt, "==": sympy.Eq}
    return table[relation.op](relation.lhs.subs(values), relation.rhs.subs(values))


def test_no_prover_alone_proves_a_false_claim() -> None:
    for claim, given in FALSE:
        false = obligation(claim, **given)
        system = build(false)
        for goal in system.goals:
            assert certificate.trivial(system, goal) is None
            assert not slack.prove(system, goal)
            assert handelman.prove(system, goal) is None


def test_a_certificate_with_a_wrong_number_is_refused() -> None:
    true = obligation(le(A, 2 * B + C), h=le(A, B))
    system = build(true)
    found = handelman.prove(system, system.goals[0])
    assert found is not None
    assert certificate.check(system, system.goals[0], found) == ""
    for i, term in enumerate(found["terms"]):
        for wrong in ("-1", "0", "7/5"):
            broken = {"terms": [dict(t) for t in found["terms"]]}
            broken["terms"][i]["c"] = wrong
            assert certificate.check(system, system.goals[0], broken) != "", (term, wrong)
    assert certificate.check(system, system.goals[0], {"terms": found["terms"][:-1]}) != ""


def test_a_certificate_may_not_use_an_odd_power_of_a_real_symbol() -> None:
    system = build(obligation(ge(X, 0), h=ge(X**2, 0)))
    assert "odd power" in certificate.check(system, system.goals[0], {"terms": [{"c": "1", "x": [1]}]})


def test_a_strict_claim_needs_a_strict_term() -> None:
    weak = build(obligation(lt(0, N), h=ge(N, 0)))
    assert "strictly" in certificate.check(weak, weak.goals[0], {"terms": [{"c": "1", "x": [1]}]})
    strong = build(obligation(lt(0, A)))
    assert certificate.check(strong, strong.goals[0], {"terms": [{"c": "1", "x": [1]}]}) == ""


def test_a_certificate_by_contradiction_is_checked_as_one() -> None:
    true = obligation(le(A, B), h=le(A**2, B**2))
    system = build(true)
    found = handelman.prove(system, system.goals[0])
    assert found is not None
    assert found.get("contradiction")
    assert certificate.check(system, system.goals[0], {**found, "contradiction": False}) != ""
    false = build(obligation(le(A, C), h=le(A**2, B**2), c=ge(C, 0)))
    assert certificate.check(false, false.goals[0], found) != ""


def test_a_denominator_of_unknown_sign_is_not_cleared() -> None:
    with pytest.raises(UnknownSign):
        build(obligation(le(A, B / (B - C))))
    assert build(obligation(le(A, B / (B - C)), h=gt(B - C, 0))).goals


def test_a_logarithm_is_left_to_calculus() -> None:
    with pytest.raises(NotAlgebraic):
        build(obligation(le(log(1 + N), N)))


@pytest.mark.parametrize(
    ("claim", "truth"),
    [
        (le(log(1 + N), N), True),
        (lt(log(1 + A), A), True),
        (le(log(A), A - 1), True),
        (ge(exp(-N), 1 - N), True),
        (lt(exp(1), 3), True),
        (le(log(1 + N), N - N**2), False),
        (lt(log(1 + N), N), False),
        (ge(exp(-N), 1 - N / 2), False),
        (lt(exp(1), sympy.Rational(27, 10)), False),
    ],
)
def test_calculus(claim: Relation, truth: bool) -> None:
    shop = workshop()
    got = calculus.prove(obligation(claim), lambda o: discharge(o, shop, {}).status is Status.PROVED)
    shop.close()
    assert got is truth


def test_calculus_does_not_jump_over_a_gap_in_the_domain() -> None:
    """A domain away from the base point proves nothing: what lies between must belong to it."""
    shop = workshop()
    false = obligation(le(log(1 + N), N - 1), h=ge(N, 1))  # at 1 it says ln 2 <= 0
    assert not calculus.prove(false, lambda o: discharge(o, shop, {}).status is Status.PROVED)
    sloped = obligation(le(log(N), 2 * N - 10), h=ge(N, 5))  # false at 5, its slope right
    assert not calculus.prove(sloped, lambda o: discharge(o, shop, {}).status is Status.PROVED)
    shop.close()


@needs_z3
def test_z3_decides_and_a_timeout_is_never_a_proof() -> None:
    solver = Solver()
    true = build(obligation(le(2 * A * B, A**2 + B**2)))
    assert solver.ask(true, true.goals[0])[0] == "unsat"
    false = build(obligation(le(A, B)))
    verdict, model = solver.ask(false, false.goals[0])
    assert verdict == "sat"
    assert model["a"] > model["b"] > 0
    solver.close()


@needs_z3
def test_a_prover_that_times_out_leaves_the_step_open() -> None:
    """A true claim too hard for a millisecond: open, never proved, and the worker is gone."""
    a, b, c, d = real("p q r s")
    motzkin = a**4 * b**2 + a**2 * b**4 + c**6 - 3 * a**2 * b**2 * c**2 + d**2
    shop = workshop(search=False, seconds=0.001)
    started = time.perf_counter()
    finding = discharge(obligation(ge(motzkin, 0)), shop, {})
    shop.close()
    assert finding.status is Status.OPEN
    assert finding.grade is None
    assert any("z3" in t for t in finding.tried)
    assert time.perf_counter() - started < 10


def test_without_z3_nothing_is_proved_that_nobody_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.provers.nlsat.available", lambda: False)
    hard = real("p q r")
    motzkin = hard[0] ** 4 * hard[1] ** 2 + hard[0] ** 2 * hard[1] ** 4 + hard[2] ** 6
    claim = ge(motzkin - 3 * hard[0] ** 2 * hard[1] ** 2 * hard[2] ** 2, 0)
    finding = discharge(obligation(claim), workshop(search=False), {})
    assert finding.status is Status.OPEN
    assert "z3: absent" in finding.tried


def test_the_falsifier_meets_a_bound_and_finds_simple_points() -> None:
    point = falsify.search(obligation(le(A * B, sympy.Rational(1, 100)), h=le(A, 1 / (64 * B))))
    assert point is not None
    assert point["a"] * point["b"] == Fraction(1, 64)


def test_admissible_checks_domain_and_hypotheses_exactly() -> None:
    o = obligation(le(A, 1), h=le(A, B))
    assert falsify.admissible(o, {"a": Fraction(1), "b": Fraction(1)})
    assert not falsify.admissible(o, {"a": Fraction(1), "b": Fraction(10**18 - 1, 10**18)})
    assert not falsify.admissible(o, {"a": Fraction(0), "b": Fraction(1)})
    assert not falsify.admissible(o, {"a": Fraction(1)})
    assert not falsify.admissible(obligation(ge(K, 1)), {"k": Fraction(3, 2)})


def test_evaluation_is_exact_or_says_so() -> None:
    assert exact(sqrt(A) + 1, {"a": Fraction(9, 4)}) == Fraction(5, 2)
    with pytest.raises(Irrational):
        exact(sqrt(A), {"a": Fraction(2)})
    assert holds(le(sqrt(A), sympy.Rational(142, 100)), {"a": Fraction(2)}) is True
    assert holds(le(sqrt(A), sympy.Rational(141, 100)), {"a": Fraction(2)}) is False
    assert holds(le(sqrt(A), sqrt(A)), {"a": Fraction(2)}) is None  # undecided, not true
    assert holds(le(1 / A, 1), {"a": Fraction(0)}) is None
    assert balls(exp(A), {"a": flint.arb(0)}) == 1


def test_cauchy_schwarz_is_what_makes_a_gram_claim_true() -> None:
    (inner,) = real("inner")
    norm_a, norm_b = nonnegative("norm_a norm_b")
    claim = le(2 * inner, norm_a**2 + norm_b**2)
    bare = Obligation("", (), claim)
    with_gram = Obligation("", hypotheses({}, cauchy_schwarz(inner, norm_a, norm_b)), claim)
    shop = workshop()
    assert discharge(with_gram, shop, {}, (norm_a - norm_b,)).status is Status.PROVED
    assert discharge(bare, shop, {}).status is Status.REFUTED
    shop.close()


def test_grades_say_how_a_proof_is_held() -> None:
    shop = workshop()
    memory: dict[str, object] = {}
    o = obligation(le(A, B + C), h=le(A, B))
    first = discharge(o, shop, memory)
    assert (first.grade, first.prover) == (Grade.CERTIFICATE, "Handelman program")
    again = discharge(o, replace(shop, search=False), memory)
    assert (again.grade, again.prover) == (Grade.CERTIFICATE, "stored certificate")
    shop.close()
