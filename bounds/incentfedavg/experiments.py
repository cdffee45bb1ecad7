"""Section 5: what the experiments are said to show, with the arithmetic that their own numbers decide."""

from sympy import Integer, Rational

from bounds.core.functions import Smallest
from bounds.core.statement import Kind, Sampling
from bounds.incentfedavg.entry import entry, ge, gt, le, lt, names

mu_F, L_F, gamma_tilde = names("mu_F L_F gamma_tilde")
_CAPACITIES = (15000, 8000, 18000, 6000, 13000)
_REGULARISER = Rational(1, 100000)
_a, _b = Rational(1, 2), Rational(1, 4)
_FULL = Integer(_CAPACITIES[0] + _CAPACITIES[2] + _CAPACITIES[4])
# Of the slopes alpha_j beta_j ||N||_1^(-beta_j - 1): those of clients 0 and 4, and the sum of the others'.
slope_0, slope_4, slope_rest = names("slope_0 slope_4 slope_rest")

_RATES_AND_TOTAL = (
    gt("b = 1/4 > 0", _b, 0),
    gt("a = 1/2 > b", _a, _b),
    lt("a + b < 1", _a + _b, 1),
    ge("46000 is the sum of the capacities of clients 0, 2, 4", _FULL, 46000),
    le("and not less than it", _FULL, 46000),
)

STATEMENTS = (
    *entry(
        "Section 5.1",
        Kind.CLAIM,
        source="Section 5.1, Figures 1 and 2",
        quantity="experiment",
        sampling=(Sampling.SUBSET,),
        printed={
            "hypotheses": (
                gt("the regulariser 1e-5 makes the game strongly monotone", _REGULARISER, 0),
                le("gamma_tilde <= mu_F/L_F^2 (not reported)", gamma_tilde, mu_F / L_F**2, optional=True),
            ),
            "text": "Larger H reaches a low loss in fewer rounds, and the contributions converge to stable "
            "values: a heterogeneous interior equilibrium.",
            "note": "With linear payoff and cost F_i = theta_i - ||q_i||^2 + lambda N_i: every client "
            "decides alone, and mu_F = L_F = lambda = 1e-5. The interior equilibrium is (||q_i||^2 - "
            "theta_i)/lambda, an artefact of the regulariser; without it each client goes to a bound. "
            "Neither gamma_tilde nor the boxes are reported. The display of a_i writes p_i p_j^T for q_i "
            "q_j^T.",
        },
        corrected={
            "text": "The contributions converge to clip((||q_i||^2 - theta_i)/lambda), whatever the loss "
            "does.",
            "note": "F is decoupled and affine with mu_F = L_F = lambda.",
        },
    ),
    *entry(
        "Section 5.2",
        Kind.CLAIM,
        source="Section 5.2, Figure 3",
        quantity="experiment",
        sampling=(Sampling.SUBSET,),
        printed={
            "hypotheses": (
                *_RATES_AND_TOTAL,
                ge("N_min >= 1 (Section 4) against clients driven to zero", Integer(0), 1),
                gt("h strictly convex: its curvature along e_1 - e_2 is positive", Integer(0), 0),
            ),
            "text": "Three clients reach their upper bounds, two exit at zero; the regularised update "
            "reliably selects the welfare-maximising equilibrium, of total 46,000.",
            "note": "h(N) = log(1 + exp(sum N_i)) depends on sum N_i alone: not strictly convex, so "
            "Assumption 2.3(iii) fails. It increases with participation and is minimised, so it penalises "
            "participation, not rewards it. F is the constant theta_i - ||q_i||^2, so unless that is "
            "exactly zero for a client the equilibrium is unique and there is nothing to select. N_i = 0 "
            "contradicts N_min >= 1.",
        },
        corrected={
            "hypotheses": _RATES_AND_TOTAL,
            "text": "With F the constant theta_i - ||q_i||^2, each client goes to the bound that the sign "
            "of F_i gives; three upper bounds add up to 46,000.",
            "note": "No equilibrium is selected: it is unique unless some F_i is zero.",
        },
    ),
    *entry(
        "Section 5.3",
        Kind.CLAIM,
        source="Section 5.3, Definition 5.1, equations (14) and (15), Figure 4",
        quantity="experiment",
        sampling=(Sampling.SUBSET,),
        printed={
            "hypotheses": (
                gt("client 0 dominates the sum of the others", slope_0, slope_4 + slope_rest, optional=True),
                gt("client 4 dominates the sum of the others", slope_4, slope_0 + slope_rest, optional=True),
                ge("N_min >= 1 (Section 4) against clients that exit at zero", Integer(0), 1),
            ),
            "text": "Clients 0 and 4, whose scaling coefficients dominate, climb to their upper bounds; "
            "clients 1, 2, 3 decay and exit at zero.",
            "note": "The sign analysis of Section 5.3 lets a client climb only if its slope exceeds the sum "
            "of all others': at any N that is true of at most one client (x_0 > x_4 + rest and x_4 > x_0 + "
            "rest add up to 0 > 2 rest), so clients 0 and 4 cannot both climb for the reason given. l_i is "
            "not convex in N_i in general, and F(N) = g(||N||_1) has the Jacobian g'(||N||_1) 1^T, monotone "
            "only if all g_i' are equal and nonnegative: Assumptions 2.2 and 2.3 fail. The payoff is "
            "nonnegative only for ||N||_1^beta_i >= alpha_i; (15) writes m for the dataset size.",
        },
        corrected={
            "hypotheses": (
                le(
                    "at most one of clients 0 and 4 dominates the sum of the others",
                    Smallest(slope_0 - slope_4, slope_4 - slope_0),
                    slope_rest,
                    optional=True,
                ),
            ),
            "text": "At any N at most one client's slope exceeds the sum of the others', so at most one "
            "client climbs.",
            "note": "What the sign analysis of Section 5.3 proves.",
        },
    ),
)
