"""Section 5.3, sentence by sentence: the zero-sum definition, the power law, its dynamics, the comparison."""

from __future__ import annotations

from sympy import Integer

from bounds.core.step import eq, ge, gt, le, lt
from bounds.incentfedavg.steps import section_5_runs as runs
from bounds.incentfedavg.steps.notation import Book, case, nonnegative, obliged, positive, real, repaired
from bounds.incentfedavg.steps.section_5_text import sentence

CAPACITIES = runs.CAPACITIES


def book() -> Book:
    """The steps of Section 5.3."""
    section = Book("Section 5.3", "section 5.3")
    _definition(section)
    _payoff(section)
    _map(section)
    _partition(section)
    _reported(section)
    _comparison(section)
    return section


def _definition(book: Book) -> None:
    sentence(book, 2)
    a = real("a_1 a_2 a_3 a_4 a_5")
    cost = real("c_1")[0]
    book.step(
        "l_i = c_i - a_i = sum_{j != i} a_j - a_i, m = 5",
        eq(cost - a[0], a[1] + a[2] + a[3] + a[4] - a[0]),
        {"(14)": eq(cost, a[1] + a[2] + a[3] + a[4])},
    )
    sentence(book, 3)
    book.step("m = 2: l_1 + l_2 = 0", eq((a[1] - a[0]) + (a[0] - a[1]), 0))
    unit = real("payoff_more")[0]
    book.step(
        "m >= 3: u more for client 1 adds u to every other client's cost, m = 5",
        [eq((sum(a) - a[i] + unit) - (sum(a) - a[i]), unit) for i in range(1, 5)],
    )
    total = sum(a)
    book.step(
        "the standard sense is lost for m >= 3, as the text grants: l_1 + ... + l_5 = 3 (a_1 + ... + a_5)",
        eq(sum(total - 2 * x for x in a), 3 * total),
    )


def _payoff(book: Book) -> None:
    alpha, beta, power = positive("alpha_i beta_i N_l1_to_minus_beta")
    s = positive("N_l1")[0]
    sentence(book, 5)
    book.step("the payoff is an accuracy: at most 1", lt(1 - alpha * power, 1))
    sentence(book, 6)
    book.step(
        "the payoff 1 - alpha_i ||N||_1^-beta_i is nonnegative",
        ge(1 - alpha * power, 0),
        {"||N||_1 >= 1": le(power, 1)},
        cases=(case(alpha_i=2, N_l1_to_minus_beta=1),),
        fails_by=("Section 5.3/6",),
        repair=repaired(
            (
                "with alpha_i <= ||N||_1^beta_i",
                obliged(ge(1 - alpha * power, 0), {"alpha_i <= ||N||_1^beta_i": le(alpha * power, 1)}),
            )
        ),
    )
    book.step(
        "it is nondecreasing in ||N||_1: the derivative alpha_i beta_i ||N||_1^(-beta_i-1) is positive",
        gt(alpha * beta * power / s, 0),
    )
    book.step(
        "each further data point helps less: the second derivative is negative",
        lt(-alpha * beta * (beta + 1) * power / s**2, 0),
    )
    sentence(book, 7)
    N = nonnegative("N_1 N_2")
    book.step(
        "the payoffs are defined and differentiable on the box that the limits need, [0, N_i^max] (Assumption"
        " 2.3(i)): ||N||_1 > 0, m = 2",
        gt(N[0] + N[1], 0),
        cases=(case(N_1=0, N_2=0),),
        fails_by=("Section 5.3/9",),
        repair=repaired(
            ("with N_i^min >= 1", obliged(gt(N[0] + N[1], 0), {"N_1 >= 1": ge(N[0], 1), "N_2 >= 1": ge(N[1], 1)}))
        ),
    )  # fmt: skip


def _map(book: Book) -> None:
    sentence(book, 8)
    book.check(
        "the displayed partial derivative is that of l_i, m = 5, all alpha, beta and N",
        "power-law derivative",
    )
    book.check(
        "Assumption 2.3(i): every l_i is convex in its own N_i (the capacities of Section 5.2, alpha and beta as drawn"
        " in our run)",
        "power-law convexity",
        fails_by=("Section 5.3/11",),
    )
    book.check(
        "Assumption 2.3(ii): F is monotone (the same game)",
        "power-law monotone",
        fails_by=("Section 5.3/12",),
    )


def _partition(book: Book) -> None:
    sentence(book, 9)
    book.run(
        "the sign partitions the clients once and for all: it does not depend on ||N||_1",
        runs.partition_moves,
        fails_by=("Section 5.3/13",),
    )
    slope, move, gain, loss = real("F_i")[0], nonnegative("move")[0], *positive("gain loss_slope")
    book.step(
        "at one N it does partition them: F_i < 0 lowers l_i by raising N_i (to first order), F_i > 0 by lowering it",
        obligations=(
            *obliged(lt(slope * move, 0), {"F_i < 0": eq(slope, -gain), "s > 0": gt(move, 0)}, name="up"),
            *obliged(lt(-slope * move, 0), {"F_i > 0": eq(slope, loss), "s > 0": gt(move, 0)}, name="down"),
        ),
    )
    sentence(book, 10)
    book.run(
        "a client that dominates the sum of the others reaches its maximum capacity",
        runs.dominating_client_stops,
        fails_by=("Section 5.3/15",),
    )


def _reported(book: Book) -> None:
    sentence(book, 13)
    t0, t4, rest = positive("slope_0 slope_4 slope_rest")
    book.step(
        "at one N clients 0 and 4 both dominate the sum of the others' scaling terms t_j = alpha_j beta_j"
        " ||N||_1^(-beta_j-1): t_0 + t_4 > 2 (rest) + t_0 + t_4",
        gt(t0 + t4, (t4 + rest) + (t0 + rest)),
        cases=(case(slope_0=2, slope_4=2, slope_rest=1),),
        fails_by=("Section 5.3/16",),
        repair=repaired(
            (
                "at most one client dominates: the two conditions exclude each other",
                obliged(lt(t0 + t4, (t4 + rest) + (t0 + rest))),
            )
        ),
    )
    book.step(
        "the reported limit, 0 and 4 at their upper bounds, is at rest for some alpha and beta: F_0 <= 0 and F_4 <= 0"
        " there, so F_0 + F_4 <= 0",
        le((t4 + rest - t0) + (t0 + rest - t4), 0),
        cases=(case(slope_0=2, slope_4=2, slope_rest=1),),
        fails_by=("Section 5.3/17",),
        repair=repaired(
            (
                "for no alpha and beta: F_0 + F_4 = 2 (t_1 + t_2 + t_3) > 0, one of the two moves down",
                obliged(gt((t4 + rest - t0) + (t0 + rest - t4), 0)),
            )
        ),
    )
    low = nonnegative("N_i")[0]
    book.step(
        "clients 1, 2, 3 exit at zero: compatible with N_i^min >= 1 (section 4)",
        ge(low, 1),
        {"N_{i,r} = 0": eq(low, 0)},
        cases=(case(N_i=0),),
        fails_by=("Section 5.3/18",),
        repair=repaired(
            ("zero is excluded once N_i >= N_i^min >= 1", obliged(gt(low, 0), {"N_i >= 1": ge(low, 1)}))
        ),
    )
    sentence(book, 14)
    book.run(
        "once the projected gradient turns inward the boundary is absorbing, so that the decay is monotone",
        runs.boundary_is_left,
        fails_by=("Section 5.3/19",),
    )


def _comparison(book: Book) -> None:
    sentence(book, 15)
    book.run(
        "the limit is determined by the incentives and not by the initialisation: two runs of one zero-sum game",
        runs.two_rest_points,
        fails_by=("Section 5.3/20",),
    )
    book.check(
        "so it is with five clients and the capacities of Section 5.2: all starts lead to one equilibrium",
        "power-law starts",
        fails_by=("Section 5.3/21",),
    )
    book.run(
        "a stable profile, stationary for the update, is a participation equilibrium (no client gains alone)",
        runs.stationary_is_not_nash,
        fails_by=("Section 5.3/22",),
    )
    sentence(book, 16)
    book.run(
        "the strongly monotone game returns an interior equilibrium for every theta_i in [0, ||q_i||^2] (a box of"
        " Section 5.2; that of Section 5.1 is not printed)",
        runs.interior_equilibrium,
        fails_by=("Section 5.3/23",),
    )
    top = [Integer(CAPACITIES[i]) for i in (0, 2, 4)]
    book.step(
        "clients 0, 2 and 4 are the high-capacity ones: each capacity exceeds those of 1 and 3",
        [gt(x, Integer(CAPACITIES[i])) for x in top for i in (1, 3)],
    )
    x, F = real("N_i F_i")
    g, lam, pull = positive("gamma_tilde_r lambda_r h_slope")
    book.step(
        "welfare selection pushes participation up: with lambda_r h the step leads at least as high as without",
        ge(x - g * (F + lam * pull), x - g * F),
        cases=(case(N_i=1, F_i=0, gamma_tilde_r=1, lambda_r=1, h_slope=1),),
        fails_by=("Section 5.3/25",),
        repair=repaired(
            ("it pushes down, by gamma_tilde_r lambda_r h'", obliged(lt(x - g * (F + lam * pull), x - g * F)))
        ),
    )
    t, others = positive("slope_i slope_others")
    book.step(
        "the zero-sum game concentrates participation in several dominant clients: a client that does not dominate"
        " (t_i <= sum of the others) rises all the same, F_i < 0",
        lt(others - t, 0),
        {"does not dominate": le(t, others)},
        cases=(case(slope_i=1, slope_others=1),),
        fails_by=("Section 5.3/26",),
        repair=repaired(
            ("only one that dominates, hence at most one", obliged(ge(others - t, 0), {"not dominant": le(t, others)}))
        ),
    )  # fmt: skip
    sentence(book, 17)
    book.run(
        "the design makes the time scales compatible: within a factor ten of the model's number of rounds, for every"
        " gamma_tilde that Lemma 4.3 allows",
        runs.time_scales,
        fails_by=("Section 5.3/27",),
    )
