# ruff: noqa: E501 (a table: one row a line)
"""The one table of symbols: the paper's glyph, the code's name, the meaning, the domain, the unit, the source.

Units are in N (samples), f (loss) and x (parameter): "f/x^2" for the smoothness constant L. Scaling N by c, or f by c
with gamma by 1/c, scales every symbol by its unit; a statement that is not invariant mixes units.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bounds.core.vocabulary import Domain, Symbol

_POSITIVE = Domain(0.0, open_lower=True)
_NONNEGATIVE = Domain(0.0)
_ANY = Domain()
_COUNT = Domain(1.0, integer=True)
_INDEX = Domain(0.0, integer=True)
_SHARE = Domain(0.0, 1.0, open_lower=True)
_RATE = Domain(0.0, 1.0)
_VECTOR = Domain(array=True)
_POSITIVE_VECTOR = Domain(0.0, open_lower=True, array=True)
_NONNEGATIVE_VECTOR = Domain(0.0, array=True)

_ROWS: tuple[tuple[str, str, str, Domain, str, str], ...] = (
    # The federation and the algorithm
    ("m", "m", "number of clients", _COUNT, "1", "Section 2.1"),
    ("n", "n", "number of model parameters", _COUNT, "1", "Section 1, Notation"),
    ("H", "H", "local steps a round, T_{r+1} - T_r", _COUNT, "1", "Algorithm 1; Lemma 6.3"),
    ("R", "R", "number of communication rounds", _COUNT, "1", "Algorithm 1"),
    ("r", "r", "round index", _INDEX, "1", "Algorithm 1, line 2"),
    ("r_hat", r"\hat{r}", "first round that the averages count (warm-up before it)", _INDEX, "1", "Theorem 4.6(i)"),
    ("T", "T", "steps counted, T_R - T_r_hat = H (R - r_hat)", _COUNT, "1", "Theorem 4.6(i)"),
    ("tau", r"\tau", "steps into the round, k - T_r", _COUNT, "1", "Lemma 4.13"),
    ("gamma", r"\gamma", "step size of the local updates", _POSITIVE, "x^2/f", "Algorithm 1, line 8"),
    ("gamma_tilde", r"\tilde{\gamma}", "step size of the participation update", _POSITIVE, "N^2/F", "Algorithm 1, line 10"),
    ("gamma_tilde_r", r"\tilde{\gamma}_r", "participation step sizes, round by round", _POSITIVE_VECTOR, "N^2/F", "Lemma 4.4"),
    ("gamma_tilde_0", r"\tilde{\gamma}_0", "first participation step size, gamma_tilde_0 (r+1)^-a", _POSITIVE, "N^2/F", "Lemma 4.4(iii)"),
    ("lambda_r", r"\lambda_r", "regularisation weights, round by round", _POSITIVE_VECTOR, "F/h", "Lemma 4.4"),
    ("lambda_0", r"\lambda_0", "first regularisation weight, lambda_0 (r+1)^-b", _POSITIVE, "F/h", "Lemma 4.4(iii)"),
    ("a", "a", "decay exponent of the participation step sizes", _ANY, "1", "Lemma 4.4(iii)"),
    ("b", "b", "decay exponent of the regularisation weights", _ANY, "1", "Lemma 4.4(iii)"),
    # The game
    ("mu_F", r"\mu_F", "strong monotonicity of F (0: merely monotone)", _NONNEGATIVE, "F/N^2", "Assumption 2.2(ii)"),
    ("L_F", r"L_F", "Lipschitz constant of F", _POSITIVE, "F/N^2", "Assumption 2.2(ii)"),
    ("mu_own", r"\min_i \partial_i F_i", "least slope of F_i in the client's own N_i, over the box", _ANY, "F/N^2", "Assumption 2.2(i)"),
    ("C_F", "C_F", "supremum of ||F(N)|| over the box", _NONNEGATIVE, "F/N", "Lemma 4.4"),
    ("C_H", "C_H", "supremum of ||grad h(N)|| over the box", _NONNEGATIVE, "h/N", "Lemma 4.4"),
    ("D_N", r"D_{\mathcal{N}}", "half-diameter: D_N^2 = sup ||N' - N''||^2 / 2", _NONNEGATIVE, "N", "Lemma 4.4"),
    ("sigma_h", r"\sigma_h", "strong convexity of the welfare loss h", _NONNEGATIVE, "h/N^2", "Section 2.2"),
    ("L_h", "L_h", "Lipschitz constant of grad h", _NONNEGATIVE, "h/N^2", "Section 2.2"),
    ("dist_0", r"\|\hat{N}_0 - N^*\|", "distance of the start from the equilibrium", _NONNEGATIVE, "N", "Lemma 4.3"),
    ("d_r", r"\|\hat{N}_r - N^*\|", "distance of round r from the equilibrium", _NONNEGATIVE, "N", "Lemma 4.4(iv)"),
    ("d_sequence", r"\|\hat{N}_r - N^*\|_{r \geq 0}", "distances from the equilibrium, rounds 0..R", _NONNEGATIVE_VECTOR, "N", "Theorem 4.10"),
    ("N_star_l1", r"\|N^*\|_1", "total participation at the equilibrium", _POSITIVE, "N", "Lemma 4.3(ii)"),
    ("dist_sol", r"\mathrm{dist}(\bar{N}_R, \mathrm{SOL})", "distance of the averaged iterate from the equilibria", _NONNEGATIVE, "N", "Lemma 4.4(i)"),
    ("N_i", r"N_{i,r}", "participation of a client at round r", _ANY, "N", "Algorithm 1"),
    ("F_i", r"F_i(\hat{N}_r)", "slope of a client's utility loss at round r", _ANY, "F/N", "Assumption 2.2(ii)"),
    ("lower", r"N_i^{\min}", "least participation of a client", _ANY, "N", "Section 2.1"),
    ("upper", r"N_i^{\max}", "largest participation of a client", _ANY, "N", "Section 2.1"),
    # Derived from the game
    ("rho", r"\rho", "the paper's contraction rate 1 - mu_F gamma_tilde / 2", _RATE, "1", "Theorem 4.6(i)"),
    ("q_rate", "q", "the best contraction rate, sqrt(1 - 2 mu_F gamma_tilde + L_F^2 gamma_tilde^2)", _RATE, "1", "proof of Lemma 4.3(i)"),
    ("delta_0", r"\delta_0", "(m - 1) dist_0 / N_star_l1", _NONNEGATIVE, "1", "Lemma 4.3(ii)"),
    ("delta_r", r"\delta_r", "bound on |p_{i,r} - p*_i|, delta_0 rho^r", _NONNEGATIVE, "1", "Lemma 4.3(ii)"),
    ("delta_next", r"\delta_{r+1}", "bound on |p_{i,r+1} - p*_i|, delta_0 rho^{r+1}", _NONNEGATIVE, "1", "Lemma 4.3(ii)"),
    ("delta_hat_sq_mean", r"\overline{\hat{\delta}^2}", "mean of delta_hat^2 over the counted rounds", _NONNEGATIVE, "1", "Theorem 4.10(i)"),
    ("delta_hat_sq_sup", r"\left(\sup_{r \geq \hat{r}} \hat{\delta}_r^2\right)", "supremum of delta_hat^2 from round r_hat on", _NONNEGATIVE, "1", "proof of Theorem 4.10(i)"),
    ("Delta_bar", r"\bar{\Delta}", "sqrt(m) dist_0 / N_star_l1 (0 for one client): ||q_r - p*|| <= Delta_bar q^{r+1}", _NONNEGATIVE, "1", "sharp editions"),
    ("Delta_mean", r"\overline{\Delta}", "bound on the mean of Delta_r over the counted rounds", _NONNEGATIVE, "1", "sharp editions"),
    ("Delta_sq_mean", r"\overline{\Delta^2}", "bound on the mean of Delta_r^2 over the counted rounds", _NONNEGATIVE, "1", "sharp editions"),
    ("Delta_sq_sup", r"\left(\sup_{r \geq \hat{r}} \Delta_r^2\right)", "bound on Delta_r^2 from round r_hat on", _NONNEGATIVE, "1", "sharp editions"),
    ("Delta_start", r"\left(\sum_{r<\hat{r}} \Delta_r\right)", "bound on the sum of Delta_r over the warm-up", _NONNEGATIVE, "1", "sharp editions"),
    ("Delta_sq_start", r"\left(\sum_{r<\hat{r}} \Delta_r^2\right)", "bound on the sum of Delta_r^2 over the warm-up", _NONNEGATIVE, "1", "sharp editions"),
    ("A_sum", "A", "sum over r >= r_hat of 2 sqrt(m) Delta_r + m Delta_r^2 / 2", _NONNEGATIVE, "1", "sharp Theorem 4.9"),
    ("sum_g_l", r"\left(\sum_{r<R} \tilde{\gamma}_r \lambda_r\right)", "partial sum of gamma_tilde_r lambda_r", _POSITIVE, "N^2/h", "Lemma 4.4"),
    ("sum_g2", r"\left(\sum_{r<R} \tilde{\gamma}_r^2\right)", "partial sum of gamma_tilde_r^2", _POSITIVE, "N^4/F^2", "Lemma 4.4(i)"),
    ("sum_g2_l", r"\left(\sum_{r<R} \tilde{\gamma}_r^2 \lambda_r\right)", "partial sum of gamma_tilde_r^2 lambda_r", _POSITIVE, "N^4/F/h", "Lemma 4.4(ii)"),
    ("sum_g_l2", r"\left(\sum_{r<R} \tilde{\gamma}_r \lambda_r^2\right)", "partial sum of gamma_tilde_r lambda_r^2", _POSITIVE, "N^2*F/h^2", "Lemma 4.4(ii)"),
    ("lambda_drop", r"\min_r (\lambda_r - \lambda_{r+1})", "least decrease of the regularisation weights (>= 0: nonincreasing)", _ANY, "F/h", "Lemma 4.4"),
    # The learning problem
    ("L", "L", "smoothness of every local loss f_i", _POSITIVE, "f/x^2", "Assumption 2.1(i)"),
    ("nu", r"\nu", "noise level: E||g - grad f_i||^2 <= nu^2", _NONNEGATIVE, "f/x", "Assumption 2.1(ii)"),
    ("noise_bias", r"\|\mathrm{E}[g] - \nabla f_i\|", "bias of the stochastic gradients", _NONNEGATIVE, "f/x", "Assumption 2.1(ii)"),
    ("G", "G", "gradient dissimilarity, constant part", _NONNEGATIVE, "f/x", "Assumption 4.5; Lemma 6.5"),
    ("B", "B", "gradient dissimilarity, growing part", _NONNEGATIVE, "1", "Assumption 4.5; Lemma 6.5"),
    ("S", "S", "sum over clients of ||grad f_i(x*)||^2", _NONNEGATIVE, "f^2/x^2", "Theorem 4.9(i-1)"),
    ("mu_f", r"\mu_f", "least curvature of the local losses (>= 0: convex)", _ANY, "f/x^2", "Assumption 4.8"),
    ("f_star", "f^*", "infimum of the global loss", _ANY, "f", "Assumption 2.1(iii)"),
    ("f_sup", r"\hat{f}", "supremum of the global loss", _ANY, "f", "Theorem 4.6(ii)"),
    ("f_i_star", "f_i^*", "infimum of each local loss", _VECTOR, "f", "Lemma 6.5"),
    ("f_i_star_mean", r"\left(\frac{1}{m} \sum_i f_i^*\right)", "mean of the local infima", _ANY, "f", "Lemma 6.5"),
    ("f_i_star_weighted", r"\left(\sum_i p_i^* f_i^*\right)", "mean of the local infima with weights p*", _ANY, "f", "corrected Lemma 6.5"),
    ("p_star", "p_i^*", "weights at the equilibrium", _POSITIVE_VECTOR, "1", "Section 4"),
    ("p_star_min", r"p_{\min}^*", "least weight at the equilibrium", _SHARE, "1", "Section 4"),
    ("imbalance", r"\max_i |\frac{1}{m p_i^*} - 1|", "how far the weights are from equal", _NONNEGATIVE, "1", "Lemma 6.5"),
    ("f_gap", r"\left(\mathrm{E} f(\bar{x}_{T_{\hat{r}}}) - f^*\right)", "expected optimality gap when counting starts", _NONNEGATIVE, "f", "Theorem 4.6(i-1)"),
    ("f_gap_0", r"\left(\mathrm{E} f(\hat{x}_0) - f^*\right)", "expected optimality gap at the start", _NONNEGATIVE, "f", "sharp editions"),
    ("D_r_hat", r"D_{T_{\hat{r}}}", "root mean square distance to x* when counting starts", _NONNEGATIVE, "x", "Theorem 4.9(ii)"),
    ("X_0", r"\mathrm{E}\|\hat{x}_0 - x^*\|^2", "mean square distance to x* at the start", _NONNEGATIVE, "x^2", "sharp editions"),
    ("X_sq", r"\|\bar{x}_k - x^*\|^2", "square distance to x* at step k", _NONNEGATIVE, "x^2", "Lemma 6.7"),
    ("D_f", r"D_f(\bar{x}, x^*)", "Bregman divergence f(x) - f*, or its mean where a statement sums it", _NONNEGATIVE, "f", "Definition 6.4"),
    ("grad_f_sq", r"\|\nabla f(\bar{x})\|^2", "square gradient norm, or its mean where a statement sums it", _NONNEGATIVE, "f^2/x^2", "Lemma 4.12"),
    ("grad_fi_sq_sum", r"\left(\sum_i \|\nabla f_i(\bar{x})\|^2\right)", "sum of the local square gradient norms, or its mean where a statement sums it", _NONNEGATIVE, "f^2/x^2", "Lemma 4.13(i)"),
    ("e_bar", r"\bar{e}", "consensus error, or its mean where a statement sums it", _NONNEGATIVE, "x^2", "Definition 4.1"),
    ("x_bar", r"\bar{x}_k", "average iterate at step k", _ANY, "x", "Definition 4.1"),
    ("g_bar", r"\bar{g}_k", "average stochastic gradient at step k", _ANY, "f/x", "Definition 4.1"),
    ("g_bar_sq", r"\mathrm{E}[\|\bar{g}_t\|^2 | \mathcal{F}_{T_r}]", "mean square of the average stochastic gradient", _NONNEGATIVE, "f^2/x^2", "Lemma 4.11"),
    ("x_mean", r"\sum_j p_j x_{j,k}", "weighted average of the local iterates", _ANY, "x", "Remark 6.2"),
    ("g_mean", r"\sum_j p_j g_{j,k}", "weighted average of the local gradients", _ANY, "f/x", "Remark 6.2"),
    ("theta_t", r"\theta_t", "the nonnegative terms theta_t, t = T_r..k-1", _NONNEGATIVE_VECTOR, "x^2", "Lemma 6.3"),
    ("sum_theta", r"\left(\sum_{t=T_r}^{k-1} \theta_t\right)", "sum of theta_t", _NONNEGATIVE, "x^2", "Lemma 6.3"),
    ("sum_theta_growing", r"\left(\sum_{t=T_r}^{k-1} (\beta H \gamma^2 + 1)^{k-t-1} \theta_t\right)", "sum of theta_t with growing weights", _NONNEGATIVE, "x^2", "Lemma 6.3, (18)"),
    ("beta", r"\beta", "the coefficient beta of the recursion", _POSITIVE, "f^2/x^4", "Lemma 6.3"),
    ("kappa", r"\kappa", "m times the largest weight, at most m", _POSITIVE, "1", "sharp editions"),
    ("s", "s", "max over r of the sum of squared weights when the noises are uncorrelated, else 1", _SHARE, "1", "sharp editions"),
    ("sigma_sq", r"\sigma^2", "max over r of sum_i q_{i,r} ||grad f_i(x*)||^2", _NONNEGATIVE, "f^2/x^2", "sharp Theorem 4.9"),
    ("omega", r"\omega", "max over r and i of q_{i,r} / p*_i", _POSITIVE, "1", "sharp Theorem 4.9"),
    ("slope_0", r"\alpha_0 \beta_0 \|N\|_1^{-\beta_0 - 1}", "slope of client 0's power-law payoff", _NONNEGATIVE, "1/N", "Section 5.3"),
    ("slope_4", r"\alpha_4 \beta_4 \|N\|_1^{-\beta_4 - 1}", "slope of client 4's power-law payoff", _NONNEGATIVE, "1/N", "Section 5.3"),
    ("slope_rest", r"\sum_{j \neq 0, 4} \alpha_j \beta_j \|N\|_1^{-\beta_j - 1}", "sum of the other clients' payoff slopes", _NONNEGATIVE, "1/N", "Section 5.3"),
    ("epsilon", r"\varepsilon", "target accuracy", _POSITIVE, "*", "Theorem 4.6(ii)"),
)  # fmt: skip

SYMBOLS: Mapping[str, Symbol] = MappingProxyType({row[0]: Symbol(*row) for row in _ROWS})
