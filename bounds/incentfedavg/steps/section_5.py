"""The assumptions against the algorithm, and the experiments' claims (sections 2.1 and 5) against the
assumptions."""

from __future__ import annotations

from sympy import Rational

from bounds.core.step import eq, ge, gt, le, lt
from bounds.incentfedavg.steps.experiments import fixed_subset
from bounds.incentfedavg.steps.notation import Book, case, nonnegative, obliged, positive, real, repaired


def books() -> tuple[Book, ...]:
    """Assumptions 2.1, 2.2, 4.5 and sections 2.1, 5.1 to 5.3."""
    return _assumptions(), _dissimilarity(), _section_2(), _section_5_1(), _section_5_2(), _section_5_3()


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


def _section_5_1() -> Book:
    book = Book("Section 5.1", "section 5.1, strongly monotone game")
    d, lam = real("d_1 d_2"), positive("regulariser")[0]
    book.step(
        "regularised with lambda/2 N_i^2 the game is lambda-strongly monotone and lambda-Lipschitz (F"
        " alone is constant), m = 2",
        [
            ge(lam * d[0] ** 2 + lam * d[1] ** 2, lam * (d[0] ** 2 + d[1] ** 2)),
            le((lam * d[0]) ** 2 + (lam * d[1]) ** 2, lam**2 * (d[0] ** 2 + d[1] ** 2)),
        ],
    )
    theta, size = nonnegative("theta_i q_i_sq")
    book.step(
        "theta_i in [0, ||q_i||^2]: without the regulariser F_i = theta_i - ||q_i||^2 <= 0, so N_i^max is"
        " a best reply",
        le(theta - size, 0),
        {"theta_i <= ||q_i||^2": le(theta, size)},
    )
    return book


def _section_5_2() -> Book:
    book = Book("Section 5.2", "section 5.2, merely monotone game")
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
        fails_by=("Section 5.2/1",),
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
        fails_by=("Section 5.2/2",),
        repair=repaired(
            (
                "h is increasing in every N_i: dh/dN_i > 0 (it is -h that rewards participation)",
                obliged(gt(e_s / (1 + e_s), 0)),
            )
        ),
    )
    low = nonnegative("N_i")[0]
    book.step(
        "clients 1 and 3 are driven to zero: compatible with N_i^min >= 1 (section 4)",
        ge(low, 1),
        {"N_{i,r} -> 0": eq(low, 0)},
        cases=(case(N_i=0),),
        fails_by=("Section 5.2/3",),
        repair=repaired(
            ("zero is excluded once N_i >= N_i^min >= 1", obliged(gt(low, 0), {"N_i >= 1": ge(low, 1)}))
        ),
    )
    a, b = Rational(1, 2), Rational(1, 4)
    book.step("a = 1/2, b = 1/4 satisfy 0 < b < a and a + b < 1", [lt(b, a), lt(a + b, 1), lt(0, b)])
    return book


def _section_5_3() -> Book:
    book = Book("Section 5.3", "section 5.3, zero-sum game with power-law payoff")
    a1, a2, a3 = real("a_1 a_2 a_3")
    book.step("m = 2: l_1 + l_2 = 0", eq((a2 - a1) + (a1 - a2), 0))
    total = (a2 + a3 - a1) + (a1 + a3 - a2) + (a1 + a2 - a3)
    book.step(
        "m = 3 is zero-sum as well: l_1 + l_2 + l_3 = 0",
        eq(total, 0),
        cases=(case(a_1=1, a_2=0, a_3=0),),
        fails_by=("Section 5.3/2",),
        repair=repaired(("l_1 + l_2 + l_3 = (m - 2)(a_1 + a_2 + a_3)", obliged(eq(total, a1 + a2 + a3)))),
    )
    alpha, power = positive("alpha_i N_l1_to_minus_beta")
    book.step(
        "the payoff 1 - alpha_i ||N||_1^-beta_i is nonnegative",
        ge(1 - alpha * power, 0),
        {"||N||_1 >= 1": le(power, 1)},
        cases=(case(alpha_i=2, N_l1_to_minus_beta=1),),
        fails_by=("Section 5.3/3",),
        repair=repaired(
            (
                "with alpha_i <= ||N||_1^beta_i",
                obliged(ge(1 - alpha * power, 0), {"alpha_i <= ||N||_1^beta_i": le(alpha * power, 1)}),
            )
        ),
    )
    t0, t4, rest = positive("slope_0 slope_4 slope_rest")
    book.step(
        "at one N clients 0 and 4 both dominate the sum of the others' scaling terms t_j = alpha_j beta_j"
        " ||N||_1^(-beta_j-1): t_0 + t_4 > 2 (rest) + t_0 + t_4",
        gt(t0 + t4, (t4 + rest) + (t0 + rest)),
        cases=(case(slope_0=2, slope_4=2, slope_rest=1),),
        fails_by=("Section 5.3/4",),
        repair=repaired(
            (
                "at most one client dominates: the two conditions exclude each other",
                obliged(lt(t0 + t4, (t4 + rest) + (t0 + rest))),
            )
        ),
    )
    return book
