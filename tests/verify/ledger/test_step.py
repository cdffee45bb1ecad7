"""Steps are exact data: what is refused, and what the paper's own book holds."""

from fractions import Fraction

import pytest
import sympy

from bounds.core.step import Kind, Obligation, Relation, Step, StepError, eq, hypotheses, le, sign_of
from bounds.incentfedavg.steps import FILES, steps
from bounds.incentfedavg.steps.notation import Book, dot, natural, nonnegative, positive, real, sq, vectors

X, Y = positive("x y")


@pytest.mark.parametrize(
    "side", [sympy.Float("0.5") * X, sympy.sqrt(X) + sympy.Float(1), sympy.oo, sympy.nan]
)
def test_a_float_or_a_non_number_is_refused(side: sympy.Expr) -> None:
    with pytest.raises(StepError, match="exact numbers only"):
        Relation(X, "<=", side)


def test_a_python_float_is_refused_before_sympy_sees_it() -> None:
    with pytest.raises(StepError, match="exact numbers only"):
        le(X, 0.5)
    assert le(X, Fraction(1, 2)).rhs == sympy.Rational(1, 2)


def test_an_unknown_comparison_is_refused() -> None:
    with pytest.raises(StepError, match="one of"):
        Relation(X, "!=", Y)


def test_signs_are_read_off_the_symbols() -> None:
    symbols = (*positive("p"), *nonnegative("n"), *real("r"), *natural("k"))
    assert [sign_of(s) for s in symbols] == ["positive", "nonnegative", "real", "natural"]


def test_one_name_with_two_signs_is_refused() -> None:
    (other,) = real("x")
    with pytest.raises(StepError, match="two different signs"):
        _ = Obligation("", hypotheses({"h": le(other, 1)}), le(X, 2)).symbols


def test_the_digest_changes_with_every_part() -> None:
    base = Obligation("", hypotheses({"h": le(X, Y)}), le(X, 2))
    others = [
        Obligation("", hypotheses({"g": le(X, Y)}), le(X, 2)),
        Obligation("", hypotheses({"h": le(X, 2 * Y)}), le(X, 2)),
        Obligation("", hypotheses({"h": le(X, Y)}), le(X, 3)),
        Obligation("", hypotheses({"h": le(X, Y)}), Relation(X, "<", sympy.Integer(2))),
        Obligation("", hypotheses({"h": le(*nonnegative("x y"))}), le(nonnegative("x")[0], 2)),
    ]
    assert len({o.digest for o in (base, *others)}) == 1 + len(others)


def test_a_run_step_and_a_claim_exclude_each_other() -> None:
    with pytest.raises(StepError, match="experiment"):
        Step("Lemma 1/1", "printed", "", "", Kind.RUN)
    with pytest.raises(StepError, match="nothing to prove"):
        Step("Lemma 1/1", "printed", "", "", Kind.INEQUALITY)
    with pytest.raises(StepError, match="printed, corrected or sharp"):
        Step("Lemma 1/1", "draft", "", "", Kind.INEQUALITY, obligations=(Obligation("", (), le(X, X)),))


def test_a_book_numbers_its_steps_and_reads_their_kind() -> None:
    book = Book("Lemma 1", "nowhere", "sharp")
    assert book.step("first", eq(X + Y, Y + X)) == "Lemma 1/1@sharp"
    assert book.step("second", le(X, X + Y)) == "Lemma 1/2@sharp"
    assert [s.kind for s in book.steps] == [Kind.IDENTITY, Kind.INEQUALITY]
    assert book.steps[0].statement == "Lemma 1"


def test_vectors_have_every_gram_matrix() -> None:
    """Triangular coordinates: the number of free inner products equals the number of coordinates."""
    u, v, w = vectors("u v w")
    products = [sq(u), dot(u, v), sq(v), dot(u, w), dot(v, w), sq(w)]
    coordinates = sorted({s for p in products for s in p.free_symbols}, key=str)
    jacobian = sympy.Matrix(products).jacobian(coordinates)
    point = dict.fromkeys(coordinates, sympy.Integer(1))
    assert jacobian.subs(point).rank() == len(products)


PROOFS = """
Remark 6.1; Remark 6.2; Lemma 4.2; Lemma 4.3(i); Lemma 4.3(ii); Lemma 4.4(i); Lemma 4.4(i-lower);
Lemma 4.4(ii); Lemma 4.4(iii); Lemma 4.4(iv); Theorem 4.6(i-1); Theorem 4.6(i-2); Theorem 4.6(ii); Theorem
4.9(i-1);
Theorem 4.9(ii); Theorem 4.10(i); Theorem 4.10(ii); Lemma 4.11; Lemma 4.12; Lemma 4.13(i); Lemma 4.13(ii);
Lemma 4.13(iii); Lemma 4.14(a); Lemma 4.14(b); Lemma 6.3; Lemma 6.5; Lemma 6.6; Lemma 6.7; Lemma 6.8;
Lemma 6.9; Lemma 6.10
""".replace("\n", " ").split(";")


@pytest.mark.parametrize("statement", [name.strip() for name in PROOFS])
def test_every_proof_of_the_paper_is_there_as_printed(statement: str) -> None:
    assert [s for s in steps() if s.statement == statement and s.edition == "printed"]


def test_the_paper_numbers_its_steps_without_gaps() -> None:
    assert len(FILES) == len(set(FILES))
    numbers: dict[tuple[str, str], list[int]] = {}
    for step in steps():
        numbers.setdefault((step.statement, step.edition), []).append(int(step.id.rsplit("/", 1)[1]))
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())
    assert len(steps()) >= 380
