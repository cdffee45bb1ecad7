"""The assumptions against the algorithm, section 2.1's payoff, and section 5's claims (one file a subsection)."""

from __future__ import annotations

from bounds.core.step import eq, ge, le
from bounds.incentfedavg.steps import section_5_1, section_5_2, section_5_3
from bounds.incentfedavg.steps.experiments import fixed_subset
from bounds.incentfedavg.steps.notation import Book, case, nonnegative, obliged, positive, repaired


def books() -> tuple[Book, ...]:
    """Assumptions 2.1, 2.2, 4.5 and sections 2.1, 5.1 to 5.3."""
    sections = (section_5_1.book(), section_5_2.book(), section_5_3.book())
    return _assumptions(), _dissimilarity(), _section_2(), *sections


def _assumptions() -> Book:
    book = Book("Assumption 2.1(ii)", "section 2.1 against Algorithm 1, lines 5 to 8")
    book.run(
        "the oracle of lines 5 to 8 (one random subset a round, samples from it) is unbiased given the past",
        fixed_subset,
        fails_by=("Assumption 2.1(ii)/1",),
    )
    return book


def _dissimilarity() -> Book:
    book = Book("Assumption 4.5", "section 4.1, what its constants can be")
    grad, grads, g, b, m = *nonnegative("grad_f_sq grad_fi_sq_sum G B"), positive("m")[0]
    book.step(
        "where the gradients are unbounded, B^2 >= 1/(m sum p*_i^2): with ||grad f||^2 <= sum p*_i^2 sum"
        " ||grad f_i||^2"
        " every point has ||grad f||^2 (1 - m s B^2) <= m s G^2",
        le(grad * (1 - m * positive("s_star")[0] * b**2), m * positive("s_star")[0] * g**2),
        {
            "Assumption 4.5": le(grads / m, g**2 + b**2 * grad),
            "Cauchy-Schwarz": le(grad, positive("s_star")[0] * grads),
        },
        sharp=True,
    )
    return book


def _section_2() -> Book:
    book = Book("Section 2.1", "section 2.1, random discovery payoff")
    q1, q2 = nonnegative("q_i1 q_i2")
    unit = {"q_i is a probability distribution": eq(q2, 1 - q1)}
    book.step(
        "W = Q Q^T has unit diagonal entries: ||q_i||^2 = 1 (two labels)",
        eq(q1**2 + q2**2, 1),
        unit,
        cases=(case(q_i1="1/2", q_i2="1/2"),),
        fails_by=("Section 2.1/1",),
        repair=repaired(("||q_i||^2 <= 1", obliged(le(q1**2 + q2**2, 1), unit))),
    )
    p1 = nonnegative("q_j1")[0]
    book.step(
        "the entries of W lie in [0, 1] (two labels)",
        [le(q1 * p1 + (1 - q1) * (1 - p1), 1), ge(q1 * p1 + (1 - q1) * (1 - p1), 0)],
        {"q_i1 <= 1": le(q1, 1), "q_j1 <= 1": le(p1, 1)},
    )
    return book
