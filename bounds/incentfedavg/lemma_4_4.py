"""Lemma 4.4: the iteratively regularised update in the merely monotone game."""

from sympy import And, Gt, Le, sqrt

from bounds.core.hypothesis import Hypothesis
from bounds.core.statement import Kind, Sense
from bounds.incentfedavg.entry import entry, ge, names
from bounds.incentfedavg.sequences import SEQUENCES

m, R, a, b, lambda_0 = names("m R a b lambda_0")
C_F, C_H, D_N, dist_sol, d_r, delta_0, N_star_l1 = names("C_F C_H D_N dist_sol d_r delta_0 N_star_l1")
sum_g_l, sum_g2, sum_g2_l, sum_g_l2, lambda_drop = names("sum_g_l sum_g2 sum_g2_l sum_g_l2 lambda_drop")

NONINCREASING = ge("lambda_r nonincreasing", lambda_drop, 0)
WELFARE = (2 * D_N**2 + (C_F + lambda_0 * C_H) ** 2 * sum_g2) / (2 * sum_g_l)
GAP = (
    lambda_0 * D_N**2 / sum_g_l
    + (C_F + lambda_0 * C_H) ** 2 * sum_g2_l / (2 * sum_g_l)
    + C_H * sqrt(2) * D_N * sum_g_l2 / sum_g_l
)

_LIMIT = "a finite sequence decides nothing about a limit; give the exponents a and b"
_DIVERGES = Le(a + b, 1, evaluate=False)
RATES = (
    ge("b >= 0 (lambda_r nonincreasing)", b, 0, optional=True, note=_LIMIT),
    Hypothesis("sum gamma_tilde_r lambda_r = infinity", _DIVERGES, True, _LIMIT),
    Hypothesis(
        "sum gamma_tilde_r lambda_r^2 / sum gamma_tilde_r lambda_r -> 0",
        And(Gt(b, 0, evaluate=False), _DIVERGES, evaluate=False),
        True,
        _LIMIT,
    ),
    Hypothesis(
        "sum gamma_tilde_r^2 / sum gamma_tilde_r lambda_r -> 0",
        And(Gt(a, b, evaluate=False), _DIVERGES, evaluate=False),
        True,
        _LIMIT,
    ),
)

STATEMENTS = (
    *entry(
        "Lemma 4.4(i)",
        Kind.BOUND,
        source="Section 4, Lemma 4.4(i), upper bound",
        quantity="welfare_gap",
        printed={
            "expression": WELFARE,
            "hypotheses": (NONINCREASING,),
            "recipes": SEQUENCES,
            "note": "C_F + lambda_r C_H <= C_F + lambda_0 C_H uses that lambda_r does not increase.",
        },
        corrected={"note": "Identical to printed."},
    ),
    *entry(
        "Lemma 4.4(i-lower)",
        Kind.BOUND,
        source="Section 4, Lemma 4.4(i), lower bound",
        quantity="welfare_gap",
        sense=Sense.AT_LEAST,
        printed={
            "expression": -C_H * dist_sol,
            "hypotheses": (),
            "note": "The proof takes grad h(N*)^T (N - N*) >= 0 from `N* in SOL and N in the box`; it needs "
            "that N* minimises h over SOL and that N, a projection onto SOL, lies in SOL. Both hold.",
        },
        corrected={"note": "Identical to printed."},
    ),
    *entry(
        "Lemma 4.4(ii)",
        Kind.BOUND,
        source="Section 4, Lemma 4.4(ii)",
        quantity="dual_gap",
        printed={"expression": GAP, "hypotheses": (NONINCREASING,), "recipes": SEQUENCES, "note": ""},
        corrected={
            "note": "Identical to printed; the lower bound 0 holds because the average lies in the box."
        },
    ),
    *entry(
        "Lemma 4.4(iii)",
        Kind.IMPLICATION,
        source="Section 4, Lemma 4.4(iii)",
        quantity="averaged_participation_limit",
        printed={
            "hypotheses": RATES,
            "text": "the averaged participation converges to the best equilibrium N*; in particular for 0 < "
            "b < a, a + b < 1.",
            "note": "The conditions are decided for gamma_tilde_0 (r+1)^-a, lambda_0 (r+1)^-b: the sum "
            "diverges iff a + b <= 1, then the second ratio vanishes iff b > 0 and the third iff a > b. So "
            "a = b fails, b = 0 fails, a + b > 1 fails; a + b = 1 with 0 < b < a satisfies all three though "
            "it lies outside the `in particular`; 2a = 1 is fine for 0 < b < 1/2.",
        },
        corrected={
            "note": "The same three conditions, decided from (a, b), the edges included: all hold iff 0 < b "
            "< a and a + b <= 1. For sequences given as arrays they are undecided.",
        },
    ),
    *entry(
        "Lemma 4.4(iv)",
        Kind.BOUND,
        source="Section 4, Lemma 4.4(iv)",
        quantity="weight_error_now",
        printed={
            "expression": delta_0 * d_r,
            "hypotheses": (),
            "note": "delta_0 = (m-1) ||N_0 - N*||/||N*||_1 already holds a distance: the bound has the unit "
            "of N and is false when ||N_0 - N*|| < 1 is small enough. The limit also needs the rate "
            "conditions of (iii).",
        },
        corrected={
            "expression": (m - 1) * d_r / N_star_l1,
            "note": "The proof of Lemma 4.3(ii) with ||N_r - N*|| in place of its bound. If N_r has a limit "
            "and the rate conditions of (iii) hold, the limit is N* and the weights converge.",
        },
        sharp={
            "expression": sqrt(m - 1) * d_r / N_star_l1,
            "hypotheses": (),
            "note": "As for the sharp Lemma 4.3(ii); zero for one client.",
        },
    ),
)
