"""The table of ids x editions x methods has no hole, and every statement prints."""

from __future__ import annotations

import io

import matplotlib as mpl
import pytest
import sympy
from matplotlib import mathtext

import bounds
from bounds import QUANTITIES, SYMBOLS, Edition, Kind, MethodError

mpl.use("Agg")

# Written down from the list of ids, not read from the registry.
IDS = """
Remark 6.1, Remark 6.2, Lemma 4.2, Lemma 4.3(i), Lemma 4.3(ii), Lemma 4.4(i), Lemma 4.4(i-lower), Lemma
4.4(ii),
Lemma 4.4(iii), Lemma 4.4(iv), Theorem 4.6(i-1), Theorem 4.6(i-2), Theorem 4.6(ii), Theorem 4.9(i-1), Theorem
4.9(i-2),
Theorem 4.9(ii), Theorem 4.10(i), Theorem 4.10(ii), Lemma 4.11, Lemma 4.12, Lemma 4.13(i), Lemma 4.13(ii),
Lemma 4.13(iii), Lemma 4.14(a), Lemma 4.14(b), Lemma 6.3, Lemma 6.5, Lemma 6.6, Lemma 6.7, Lemma 6.8, Lemma
6.9,
Lemma 6.10, Assumption 2.1(i), Assumption 2.1(ii), Assumption 2.1(iii), Assumption 2.2(i), Assumption 2.2(ii),
Assumption 2.3(i), Assumption 2.3(ii), Assumption 2.3(iii), Assumption 4.5, Assumption 4.8, Algorithm 1,
Section 5.1,
Section 5.2, Section 5.3
"""
SHARP = {
    "Lemma 4.3(i)",
    "Lemma 4.3(ii)",
    "Lemma 4.4(iv)",
    "Lemma 4.13(iii)",
    "Lemma 6.9",
    "Theorem 4.6(i-1)",
    "Theorem 4.6(i-2)",
    "Theorem 4.9(i-1)",
    "Theorem 4.9(i-2)",
    "Theorem 4.10(i)",
    "Theorem 4.10(ii)",
}
CELLS = [(i, e) for i in bounds.ids() for e in bounds.editions(i)]


def test_ids_and_editions() -> None:
    assert set(bounds.ids()) == {i.strip() for i in IDS.replace("\n", " ").split(",")}
    for i in bounds.ids():
        expected = (Edition.PRINTED, Edition.CORRECTED) + ((Edition.SHARP,) if i in SHARP else ())
        assert bounds.editions(i) == expected


def test_kinds() -> None:
    kinds = {i: bounds.get(i).kind for i in bounds.ids()}
    assert {i for i, k in kinds.items() if k is Kind.ORDER} == {"Theorem 4.6(ii)", "Theorem 4.9(ii)"}
    assert {i for i, k in kinds.items() if k is Kind.CLAIM} == {f"Section 5.{j}" for j in (1, 2, 3)}
    assert all((k is Kind.PREDICATE) == i.startswith("Assumption") for i, k in kinds.items())
    implications = {"Lemma 4.4(iii)", "Theorem 4.10(ii)", "Lemma 6.3"}
    assert {i for i, k in kinds.items() if k is Kind.IMPLICATION} == implications


@pytest.mark.parametrize("cell", CELLS, ids=" | ".join)
def test_methods_of_each_cell(cell: tuple[str, str]) -> None:
    statement = bounds.get(*cell)
    assert (statement.id, statement.edition) == cell
    assert statement.source
    assert statement.sampling
    assert statement.quantity in QUANTITIES
    assert set(statement.symbols) <= set(SYMBOLS)
    names = [h.name for h in statement.hypotheses]
    assert len(set(names)) == len(names)
    assert [c.name for c in statement.check({})] == names
    has_value = statement.kind in (Kind.BOUND, Kind.IDENTITY, Kind.ORDER) or cell[0] in (
        "Theorem 4.10(ii)",
        "Lemma 6.3",
    )
    assert (statement.expression is not None) is has_value
    if not has_value:
        for method in (statement.evaluate, statement.enclose):
            with pytest.raises(MethodError, match="use check"):
                method({})
    if statement.kind is not Kind.ORDER:
        with pytest.raises(MethodError, match="only an order"):
            statement.orders({})
    if not statement.terms:
        with pytest.raises(MethodError, match="no named terms"):
            statement.parts({})
    if statement.kind in (Kind.CLAIM, Kind.ORDER) or cell[0] == "Lemma 4.4(iii)":
        assert statement.text


@pytest.mark.parametrize("cell", CELLS, ids=" | ".join)
def test_latex_renders(cell: tuple[str, str]) -> None:
    statement = bounds.get(*cell)
    texts = [statement.latex(), *(statement.latex_of(h.relation) for h in statement.hypotheses)]
    parser = mathtext.MathTextParser("path")
    for text in texts:
        parsed = parser.parse(f"${text}$")
        assert parsed.width > 0
        assert "_F" not in text or r"\mu_F" in text or "L_F" in text or "C_F" in text
    names = {s.name for s in statement.expression.free_symbols} if statement.expression is not None else set()
    for name in names - {"a", "b"}:
        assert SYMBOLS[name].latex in statement.latex()


@pytest.mark.parametrize("name", sorted(SYMBOLS))
def test_symbols_are_documented(name: str) -> None:
    symbol = SYMBOLS[name]
    assert symbol.meaning
    assert symbol.source
    assert symbol.unit
    assert isinstance(symbol.atom, sympy.Symbol)
    mathtext.math_to_image(f"${symbol.latex}$", io.BytesIO(), dpi=20)


@pytest.mark.parametrize("name", sorted(QUANTITIES))
def test_quantities_are_documented_and_used(name: str) -> None:
    assert QUANTITIES[name].meaning
    mathtext.math_to_image(f"${QUANTITIES[name].latex}$", io.BytesIO(), dpi=20)
    used = {bounds.get(*cell).quantity for cell in CELLS}
    assert name in used | {bounds.start_gap().quantity, bounds.start_distance().quantity}


def test_no_float_hides_in_a_statement() -> None:
    for cell in CELLS:
        statement = bounds.get(*cell)
        parts = [*(h.relation for h in statement.hypotheses), *statement.terms.values()]
        parts += [statement.expression] if statement.expression is not None else []
        assert not any(p.atoms(sympy.Float) for p in parts), cell


def test_printed_and_corrected_differ_where_the_notes_say_so() -> None:
    same = {i for i in bounds.ids() if _same(i)}
    assert {
        "Lemma 4.4(iv)",
        "Lemma 6.5",
        "Lemma 6.8",
        "Theorem 4.6(ii)",
        "Theorem 4.9(i-1)",
        "Theorem 4.9(ii)",
        "Theorem 4.10(ii)",
        "Assumption 2.1(ii)",
        "Lemma 4.12",
    }.isdisjoint(same)
    assert {"Lemma 4.3(i)", "Theorem 4.6(i-2)", "Lemma 4.4(i)", "Lemma 6.10"} <= same


def _same(i: str) -> bool:
    one, two = bounds.get(i, "printed"), bounds.get(i, "corrected")
    hypotheses = [h.relation for h in one.hypotheses] == [h.relation for h in two.hypotheses]
    return hypotheses and one.expression == two.expression


def test_a_sum_never_begins_with_a_minus_sign_where_another_term_can() -> None:
    written = bounds.get("Theorem 4.9(i-1)", "printed").latex()
    assert r"{1 - \frac{H \sqrt{\delta_0} \gamma m}{1 - \sqrt{\rho}}}" in written
    assert "+ 1}" not in written
