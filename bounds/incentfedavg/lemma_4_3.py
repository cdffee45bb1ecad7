"""Lemma 4.3: the participation converges linearly to the equilibrium, and with it the weights."""

from sympy import sqrt

from bounds.core.statement import Kind
from bounds.incentfedavg.entry import entry, gt, le, lt, names

m, r, mu_F, L_F, gamma_tilde = names("m r mu_F L_F gamma_tilde")
rho, q, delta_0, dist_0, N_star_l1 = names("rho q_rate delta_0 dist_0 N_star_l1")

GAME = (gt("mu_F > 0", mu_F, 0), le("mu_F <= L_F", mu_F, L_F))
STEP = (*GAME, le("gamma_tilde <= mu_F/L_F^2", gamma_tilde, mu_F / L_F**2))
SHARP_STEP = (*GAME, lt("gamma_tilde < 2 mu_F/L_F^2", gamma_tilde, 2 * mu_F / L_F**2))

_CONTRACTION = (
    "the proof bounds ||N_{r+1} - N*||^2 by q^2 ||N_r - N*||^2 with q^2 = 1 - 2 mu_F g + L_F^2 g^2 <= 1 - "
    "mu_F g for g = gamma_tilde <= mu_F/L_F^2, and 1 - mu_F g <= (1 - mu_F g / 2)^2"
)

STATEMENTS = (
    *entry(
        "Lemma 4.3(i)",
        Kind.BOUND,
        source="Section 4, Lemma 4.3(i); proof in Section 6.1",
        quantity="ne_distance",
        printed={
            "expression": rho**r * dist_0,
            "hypotheses": STEP,
            "note": "Last display of the proof: N_r stands on the left where N_{r+1} is meant, and the "
            "strict 0 < q^2 fails for mu_F = L_F, gamma_tilde = 1/L_F (then q = 0, and the bound holds all "
            "the more).",
        },
        corrected={"note": f"Identical to printed: {_CONTRACTION}."},
        sharp={
            "expression": q**r * dist_0,
            "hypotheses": SHARP_STEP,
            "note": "q = sqrt(1 - 2 mu_F g + L_F^2 g^2), for g up to 2 mu_F/L_F^2; a rotation attains it "
            "for m >= 2 while the box is inactive. Best at g = mu_F/L_F^2. With a symmetric Jacobian give "
            "q_rate = max(|1 - g mu_F|, |1 - g L_F|), valid for g < 2/L_F.",
        },
    ),
    *entry(
        "Lemma 4.3(ii)",
        Kind.BOUND,
        source="Section 4, Lemma 4.3(ii)",
        quantity="weight_error",
        printed={"expression": delta_0 * rho**r, "hypotheses": STEP, "note": ""},
        corrected={"note": "Identical to printed; zero for one client."},
        sharp={
            "expression": sqrt(m - 1) * dist_0 / N_star_l1 * q**r,
            "hypotheses": SHARP_STEP,
            "note": "p - p* = (I - p 1^T)(N - N*)/||N*||_1, so |p_i - p*_i| <= sqrt((1-p_i)^2 + (m-1) "
            "p_i^2) d/||N*||_1, a convex function of p_i in [0, 1] that is at most sqrt(m-1) for m >= 2; "
            "zero for one client.",
        },
    ),
)

__all__ = ["GAME", "SHARP_STEP", "STATEMENTS", "STEP"]
