"""The table of contents: every statement's id, and the file of `bounds.incentfedavg` that holds it."""

from __future__ import annotations

# In the paper's order.
FILE_OF: dict[str, str] = {
    "Assumption 2.1(i)": "assumptions",
    "Assumption 2.1(ii)": "assumptions",
    "Assumption 2.1(iii)": "assumptions",
    "Assumption 2.2(i)": "assumptions",
    "Assumption 2.2(ii)": "assumptions",
    "Assumption 2.3(i)": "assumptions",
    "Assumption 2.3(ii)": "assumptions",
    "Assumption 2.3(iii)": "assumptions",
    "Algorithm 1": "algorithm",
    "Lemma 4.2": "algorithm",
    "Lemma 4.3(i)": "lemma_4_3",
    "Lemma 4.3(ii)": "lemma_4_3",
    "Lemma 4.4(i)": "lemma_4_4",
    "Lemma 4.4(i-lower)": "lemma_4_4",
    "Lemma 4.4(ii)": "lemma_4_4",
    "Lemma 4.4(iii)": "lemma_4_4",
    "Lemma 4.4(iv)": "lemma_4_4",
    "Assumption 4.5": "assumptions",
    "Theorem 4.6(i-1)": "theorem_4_6",
    "Theorem 4.6(i-2)": "theorem_4_6",
    "Theorem 4.6(ii)": "complexity",
    "Assumption 4.8": "assumptions",
    "Theorem 4.9(i-1)": "theorem_4_9",
    "Theorem 4.9(i-2)": "theorem_4_9",
    "Theorem 4.9(ii)": "complexity",
    "Theorem 4.10(i)": "theorem_4_10",
    "Theorem 4.10(ii)": "theorem_4_10",
    "Lemma 4.11": "algorithm",
    "Lemma 4.12": "lemmas_4_12_to_4_14",
    "Lemma 4.13(i)": "lemmas_4_12_to_4_14",
    "Lemma 4.13(ii)": "lemmas_4_12_to_4_14",
    "Lemma 4.13(iii)": "lemmas_4_12_to_4_14",
    "Lemma 4.14(a)": "lemmas_4_12_to_4_14",
    "Lemma 4.14(b)": "lemmas_4_12_to_4_14",
    "Section 5.1": "experiments",
    "Section 5.2": "experiments",
    "Section 5.3": "experiments",
    "Remark 6.1": "algorithm",
    "Remark 6.2": "algorithm",
    "Lemma 6.3": "lemma_6_3",
    "Lemma 6.5": "lemma_6_5",
    "Lemma 6.6": "lemmas_6_6_to_6_10",
    "Lemma 6.7": "lemmas_6_6_to_6_10",
    "Lemma 6.8": "lemmas_6_6_to_6_10",
    "Lemma 6.9": "lemmas_6_6_to_6_10",
    "Lemma 6.10": "lemmas_6_6_to_6_10",
}


def ids() -> tuple[str, ...]:
    """The ids of all statements, in the paper's order."""
    return tuple(FILE_OF)
