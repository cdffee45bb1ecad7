"""Algorithm 1 and the identities that follow from its text: Remarks 6.1 and 6.2, Lemmas 4.2 and 4.11."""

from bounds.core.functions import Largest, Smallest
from bounds.core.statement import Kind, Sampling, Sense
from bounds.incentfedavg.entry import averaged, entry, ge, le, names

L, gamma, gamma_tilde = names("L gamma gamma_tilde")
x_bar, g_bar, x_mean, g_mean, g_bar_sq = names("x_bar g_bar x_mean g_mean g_bar_sq")
N_i, F_i, lower, upper = names("N_i F_i lower upper")

_BOUNDARY = (
    "False at round boundaries when the weights move: Algorithm 1 (line 13) aggregates with p_{i,r+1}, "
    "Definition 4.1 and equation (16) with p_{i,r}."
)
_NEXT_WEIGHTS = (
    "Inside round r the averages have the weights p_{i,r+1}, which are known when the round starts (the "
    "participation is deterministic); then it is exact for the algorithm as printed."
)

STATEMENTS = (
    *entry(
        "Algorithm 1",
        Kind.IDENTITY,
        source="Section 3, Algorithm 1, line 10",
        quantity="participation_next",
        sense=Sense.EQUAL,
        sampling=(Sampling.SUBSET,),
        printed={
            "expression": Largest(lower, Smallest(upper, N_i - gamma_tilde * F_i)),
            "hypotheses": (le("N_min <= N_max", lower, upper), ge("N_min >= 1", lower, 1)),
            "text": "x_{i,k+1} = x_{i,k} - gamma g_{i,k} for k in round r; N_{i,r+1} = projection of "
            "N_{i,r} - gamma_tilde F_i(N_r); p_{i,r+1} = N_{i,r+1}/sum_j N_{j,r+1}; x_{r+1} = sum_i "
            "p_{i,r+1} x_{i,T_{r+1}}.",
            "note": "Line 12 sums over i what is indexed by j. Lines 5-8 draw from a subset of "
            "ceil(N_{i,r}) samples fixed for the round: the noise then depends on the round, so Assumption "
            "2.1(ii) does not hold for the full local loss (sampling `subset`); the analysis is of `iid` or "
            "`full`.",
        },
        corrected={"note": "The same update; F_i is F_i + lambda_r grad_i h in the merely monotone game."},
    ),
    *entry(
        "Remark 6.1",
        Kind.BOUND,
        source="Section 6.1, Remark 6.1",
        quantity="gradient_lipschitz",
        printed={"expression": L, "hypotheses": (), "note": "A parenthesis is missing in the first display."},
        corrected={"note": "Identical to printed."},
    ),
    *entry(
        "Remark 6.2",
        Kind.IDENTITY,
        source="Section 6.1, Remark 6.2, equation (16)",
        quantity={"printed": "aggregate@p_now", "corrected": "aggregate@p_next"},
        sense=Sense.EQUAL,
        printed={
            "expression": x_mean - gamma * g_mean,
            "hypotheses": (),
            "text": "the case k in I (the last step of a round); for the others x_{i,k+1} = x_{i,k} - gamma "
            "g_{i,k}.",
            "note": _BOUNDARY,
        },
        corrected={"note": f"With the weights p_{{j,r+1}} that Algorithm 1 aggregates with. {_NEXT_WEIGHTS}"},
    ),
    *entry(
        "Lemma 4.2",
        Kind.IDENTITY,
        source="Section 4, Lemma 4.2; proof in Section 6.1",
        quantity=averaged("mean_iterate_next"),
        sense=Sense.EQUAL,
        printed={"expression": x_bar - gamma * g_bar, "hypotheses": (), "note": _BOUNDARY},
        corrected={"note": _NEXT_WEIGHTS},
    ),
    *entry(
        "Lemma 4.11",
        Kind.IDENTITY,
        source="Section 4.3, Lemma 4.11; proof in Section 6.1",
        quantity=averaged("weighted_inner"),
        sense=Sense.EQUAL,
        printed={
            "expression": g_bar_sq,
            "hypotheses": (),
            "note": "True for any weights that are known when the round starts; the proof drops an index "
            "(p_i for p_{i,r}).",
        },
        corrected={"note": "With the weights p_{i,r+1}."},
    ),
)
