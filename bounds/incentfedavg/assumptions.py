"""The assumptions as predicates over constants: what they say, and what a constant can and cannot decide."""

from sympy import oo

from bounds.core.derive import Formula
from bounds.core.hypothesis import Evidence
from bounds.core.statement import UNBIASED, Kind
from bounds.incentfedavg.entry import entry, ge, gt, le, lt, names

m, L, nu, noise_bias, f_star, mu_F, L_F, mu_own = names("m L nu noise_bias f_star mu_F L_F mu_own")
sigma_h, G, B, mu_f, grad_f_sq, grad_fi_sq_sum = names("sigma_h G B mu_f grad_f_sq grad_fi_sq_sum")

_SAME = {"note": "Identical to printed."}
_LIPSCHITZ = lt("L_F finite", L_F, oo)
_CONSISTENT = le("mu_F <= L_F", mu_F, L_F)
_OWN = ge("each utility loss convex in the own strategy", mu_own, 0, optional=True)
# The diagonal of the Jacobian is at least the strong monotonicity constant.
_OWN_FROM_MONOTONE = {"mu_own": (Formula(mu_F),)}


STATEMENTS = (
    *entry(
        "Assumption 2.1(i)",
        Kind.PREDICATE,
        source="Section 2.1, Assumption 2.1(i)",
        quantity="smooth_losses",
        printed={"hypotheses": (lt("every f_i is L-smooth with a finite L", L, oo),), "note": ""},
        corrected=_SAME,
    ),
    *entry(
        "Assumption 2.1(ii)",
        Kind.PREDICATE,
        source="Section 2.1, Assumption 2.1(ii)",
        quantity="stochastic_gradient",
        sampling=UNBIASED,
        printed={
            "hypotheses": (
                gt("nu > 0", nu, 0),
                lt("nu finite", nu, oo),
                le("unbiased", noise_bias, 0, optional=True, note="give noise_bias, 0 for `iid` and `full`"),
            ),
            "note": "Asks for nu > 0, which excludes full gradients; nothing uses it. The fixed subset of "
            "Algorithm 1, lines 5-8, is biased for the local loss given the subset.",
        },
        corrected={
            "hypotheses": (
                ge("nu >= 0", nu, 0),
                lt("nu finite", nu, oo),
                le("unbiased", noise_bias, 0, optional=True, note="give noise_bias, 0 for `iid` and `full`"),
            ),
            "note": "nu = 0 (full gradients) is allowed. The analysis conditions on F_k: E[g_{i,k} | F_k] = "
            "grad f_i(x_{i,k}).",
        },
    ),
    *entry(
        "Assumption 2.1(iii)",
        Kind.PREDICATE,
        source="Section 2.1, Assumption 2.1(iii)",
        quantity="loss_bounded_below",
        printed={"hypotheses": (gt("f* > -infinity", f_star, -oo),), "note": ""},
        corrected=_SAME,
    ),
    *entry(
        "Assumption 2.2(i)",
        Kind.PREDICATE,
        source="Section 2.1, Assumption 2.2(i)",
        quantity="own_convexity",
        printed={
            "hypotheses": (_OWN,),
            "recipes": _OWN_FROM_MONOTONE,
            "note": "For any N_{-i} in R^{m-1}, though payoffs need only be defined on the box.",
        },
        corrected={"note": "On the box; there it follows from the monotonicity of F (mu_own >= mu_F)."},
    ),
    *entry(
        "Assumption 2.2(ii)",
        Kind.PREDICATE,
        source="Section 2.1, Assumption 2.2(ii)",
        quantity="strong_monotonicity",
        printed={"hypotheses": (gt("mu_F > 0", mu_F, 0), _LIPSCHITZ, _CONSISTENT), "note": ""},
        corrected=_SAME,
    ),
    *entry(
        "Assumption 2.3(i)",
        Kind.PREDICATE,
        source="Section 2.2, Assumption 2.3(i)",
        quantity="own_convexity",
        printed={
            "hypotheses": (_OWN,),
            "recipes": _OWN_FROM_MONOTONE,
            "note": "For any N_{-i} in R^{m-1}, though payoffs need only be defined on the box.",
        },
        corrected={"note": "On the box; there it follows from the monotonicity of F."},
    ),
    *entry(
        "Assumption 2.3(ii)",
        Kind.PREDICATE,
        source="Section 2.2, Assumption 2.3(ii)",
        quantity="monotonicity",
        printed={"hypotheses": (ge("mu_F >= 0", mu_F, 0), _LIPSCHITZ, _CONSISTENT), "note": ""},
        corrected=_SAME,
    ),
    *entry(
        "Assumption 2.3(iii)",
        Kind.PREDICATE,
        source="Section 2.2, Assumption 2.3(iii)",
        quantity="welfare_convexity",
        printed={
            "hypotheses": (
                gt(
                    "h strictly convex",
                    sigma_h,
                    0,
                    evidence=Evidence.SUFFICIENT,
                    note="strong convexity is enough, its absence decides nothing",
                ),
            ),
            "note": "Section 5.2's own h, a function of sum_i N_i alone, is not strictly convex for m >= 2. "
            "Lemma 4.4 also needs h differentiable with bounded gradient on the box (C_H).",
        },
        corrected={"note": "Strict convexity, decided by sigma_h > 0, undecided for sigma_h = 0."},
    ),
    *entry(
        "Assumption 4.5",
        Kind.PREDICATE,
        source="Section 4.1, Assumption 4.5",
        quantity="dissimilarity",
        printed={
            "hypotheses": (
                ge("G >= 0", G, 0),
                ge("B >= 0", B, 0),
                le(
                    "(1/m) sum ||grad f_i||^2 <= G^2 + B^2 ||grad f||^2",
                    grad_fi_sq_sum / m,
                    G**2 + B**2 * grad_f_sq,
                    optional=True,
                    evidence=Evidence.NECESSARY,
                    note="points can refute the inequality for all x, not prove it",
                ),
            ),
            "note": "",
        },
        corrected={
            "note": "Identical to printed. Against ||grad f||^2; Lemma 6.5's pair is against 2L (f - f*)."
        },
    ),
    *entry(
        "Assumption 4.8",
        Kind.PREDICATE,
        source="Section 4.1, Assumption 4.8",
        quantity="convex_losses",
        sampling=UNBIASED,
        printed={
            "hypotheses": (
                ge("every f_i convex", mu_f, 0),
                lt("L finite", L, oo),
                gt("nu > 0", nu, 0),
                lt("nu finite", nu, oo),
                gt(
                    "f has a minimiser",
                    mu_f,
                    0,
                    evidence=Evidence.SUFFICIENT,
                    note="strong convexity gives one",
                ),
            ),
            "note": "Includes Assumption 2.1(i-ii), hence nu > 0.",
        },
        corrected={
            "hypotheses": (
                ge("every f_i convex", mu_f, 0),
                lt("L finite", L, oo),
                ge("nu >= 0", nu, 0),
                lt("nu finite", nu, oo),
                gt(
                    "f has a minimiser",
                    mu_f,
                    0,
                    evidence=Evidence.SUFFICIENT,
                    note="strong convexity gives one",
                ),
            ),
            "note": "nu = 0 is allowed. That each f_i attains its infimum is not needed for the corrected "
            "Lemma 6.5.",
        },
    ),
)
