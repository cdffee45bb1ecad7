"""Section 5.2, sentence by sentence: the merely monotone game, the welfare loss, the rates, the reported limits."""

from __future__ import annotations

from sympy import Integer, Rational

from bounds.core.step import eq, ge, gt, le, lt
from bounds.incentfedavg.steps import section_5_runs as runs
from bounds.incentfedavg.steps.notation import Book, case, nonnegative, obliged, positive, real, repaired
from bounds.incentfedavg.steps.section_5_text import sentence

CAPACITIES = runs.CAPACITIES


def book() -> Book:
    """The steps of Section 5.2."""
    section = Book("Section 5.2", "section 5.2")
    _equilibria(section)
    _welfare(section)
    _limits(section)
    _selection(section)
    return section


def _equilibria(book: Book) -> None:
    sentence(book, 1)
    book.check(
        "the game of Figure 3 (clients 0, 2, 4 gain, 1 and 3 lose by taking part) admits several equilibria",
        "several equilibria",
        fails_by=("Section 5.2/1",),
    )
    low, extra = nonnegative("N_1_min N_2_min excess_2"), positive("excess_1")[0]
    book.step(
        "where several exist (theta_i = ||q_i||^2 for some i) they are a face of the box, and h, increasing in the"
        " sum, identifies one: the face's lower end, m = 2",
        gt(low[0] + extra + low[1] + low[2], low[0] + low[1]),
    )
    book.check(
        "h identifies a unique target in every game of formulation (2) with several equilibria (two clients, a"
        " common pool)",
        "unique target in general",
        fails_by=("Section 5.2/3",),
    )
    sentence(book, 2)
    theta, size = nonnegative("theta_i q_i_sq")
    d, mu = real("d_1")[0], positive("mu_F")[0]
    book.step(
        "Assumption 2.3(ii): F_i = theta_i - ||q_i||^2 is constant, so (F(x) - F(y))'(x - y) = 0: monotone, L_F = 0",
        eq(((theta - size) - (theta - size)) * d, 0),
    )
    book.step(
        "and merely monotone: no mu_F > 0 has 0 >= mu_F ||x - y||^2 for x != y",
        gt(mu * d**2, 0),
        {"x != y": gt(d**2, 0)},
    )
    x, move, others = real("N_i shift others_payoff")
    loss = [(theta - size) * y - others for y in (x + move, x, x - move)]
    book.step(
        "Assumption 2.3(i): l_i is convex in N_i for every N_-i (it is affine)",
        eq(loss[0] - 2 * loss[1] + loss[2], 0),
    )


def _welfare(book: Book) -> None:
    sentence(book, 3)
    value, moved, middle = real("h_N h_N_moved h_middle")
    book.step(
        "h(N) = log(1 + exp(sum N_i)) is strictly convex: strictly below the chord's middle, also along"
        " (1, -1), m = 2",
        lt(middle, (value + moved) / 2),
        {
            "h depends on sum N_i alone, which (1, -1) leaves": eq(moved, value),
            "so does the middle": eq(middle, value),
        },
        cases=(case(h_N=0, h_N_moved=0, h_middle=0),),
        fails_by=("Section 5.2/7",),
        repair=repaired(
            (
                "strictly convex in sum N_i alone: the weights e^s/(1+e^s)^2 > 0",
                obliged(gt(positive("e_s")[0] / (1 + positive("e_s")[0]) ** 2, 0)),
            )
        ),
    )
    e_s = positive("exp_sum")[0]
    book.step(
        "minimising h rewards large aggregate participation: dh/dN_i <= 0",
        le(e_s / (1 + e_s), 0),
        cases=(case(exp_sum=1),),
        fails_by=("Section 5.2/8",),
        repair=repaired(
            (
                "h is increasing in every N_i: dh/dN_i > 0 (it is -h that rewards participation)",
                obliged(gt(e_s / (1 + e_s), 0)),
            )
        ),
    )
    book.check(
        "of several equilibria h selects the one of largest aggregate participation (every theta_i = ||q_i||^2)",
        "selected aggregate",
        fails_by=("Section 5.2/9",),
    )
    sentence(book, 4)
    a, b = Rational(1, 2), Rational(1, 4)
    book.step("a = 1/2, b = 1/4 satisfy 0 < b < a and a + b < 1", [lt(b, a), lt(a + b, 1), lt(0, b)])


def _limits(book: Book) -> None:
    sentence(book, 7)
    low = nonnegative("N_i")[0]
    book.step(
        "clients 1 and 3 are driven to zero: compatible with N_i^min >= 1 (section 4)",
        ge(low, 1),
        {"N_{i,r} -> 0": eq(low, 0)},
        cases=(case(N_i=0),),
        fails_by=("Section 5.2/11",),
        repair=repaired(
            ("zero is excluded once N_i >= N_i^min >= 1", obliged(gt(low, 0), {"N_i >= 1": ge(low, 1)}))
        ),
    )
    book.check(
        "there are theta_i, gamma_tilde_0 and lambda_0 with which 0, 2, 4 are at their upper bounds and 1, 3 at zero"
        " within 1000 rounds, for good",
        "limits can be had",
    )
    book.check(
        "with theta_i in [0, ||q_i||^2], as Section 5.1 draws it, a client that stands at zero after 1000 rounds has"
        " been driven there for good",
        "zero for good",
        fails_by=("Section 5.2/13",),
    )
    sentence(book, 8)
    slope, gap = real("F_i")[0], nonnegative("move")[0]
    gain, loss = positive("gain loss")
    book.step(
        "F_i < 0: at any N_i < N_i^max moving up by s > 0 lowers l_i, by |F_i| s; F_i > 0: moving down does",
        obligations=(
            *obliged(lt(slope * gap, 0), {"F_i < 0": eq(slope, -gain), "s > 0": gt(gap, 0)}, name="up"),
            *obliged(lt(-slope * gap, 0), {"F_i > 0": eq(slope, loss), "s > 0": gt(gap, 0)}, name="down"),
        ),
    )
    theta, size = nonnegative("theta_i q_i_sq")
    book.step(
        "theta_i dominates for some clients although theta_i is in [0, ||q_i||^2] (Section 5.1; the cost is kept)",
        gt(theta, size),
        {"theta_i <= ||q_i||^2": le(theta, size)},
        cases=(case(theta_i="1/4", q_i_sq="1/2"),),
        fails_by=("Section 5.2/15",),
        repair=repaired(
            (
                "no client exits: theta_i - ||q_i||^2 <= 0 for all of them",
                obliged(le(theta - size, 0), {"theta_i <= ||q_i||^2": le(theta, size)}),
            )
        ),
    )


def _selection(book: Book) -> None:
    sentence(book, 9)
    book.run(
        "that all runs reach the same equilibrium is new, absent in the strongly monotone setting (two runs of Section"
        " 5.1's game)",
        runs.same_limit_when_strongly_monotone,
        fails_by=("Section 5.2/16",),
    )
    book.check(
        "it is the regularised update that selects it: without h (lambda_r = 0) the limit is another",
        "selection without welfare",
        fails_by=("Section 5.2/17",),
    )
    sentence(book, 10)
    total = Integer(CAPACITIES[0] + CAPACITIES[2] + CAPACITIES[4])
    book.step("46000 = N_0^max + N_2^max + N_4^max", eq(total, 46000))
    book.check(
        "it is the welfare-selected equilibrium of the game of Figure 3: (15000, 0, 18000, 0, 13000)",
        "selected equilibrium",
    )
