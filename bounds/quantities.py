# ruff: noqa: E501 (a table: one row a line)
"""What the statements observe: the names that `verify` maps to functions of a run.

A suffix says which average is meant: `@p_now` weighs the clients inside round r with p_{i,r} (Definition 4.1 as
printed), `@p_next` with p_{i,r+1} (the weights that Algorithm 1 aggregates with).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bounds.core.vocabulary import Quantity

_ROWS: tuple[tuple[str, str, str], ...] = (
    ("ne_distance", r"\|\hat{N}_r - N^*\|", "distance from the equilibrium at round r"),
    ("weight_error", r"|p_{i,r} - p_i^*|", "largest error of a client's weight at round r"),
    ("weight_error_now", r"|p_{i,r} - p_i^*|", "largest weight error at round r, against the distance of that round"),
    ("grad_f_sq@p_now", r"\mathrm{E}\|\nabla f(\bar{x}_{k^*})\|^2", "mean square gradient norm over the counted steps, average with p_{i,r}"),
    ("grad_f_sq@p_next", r"\mathrm{E}\|\nabla f(\bar{x}_{k^*})\|^2", "mean square gradient norm over the counted steps, average with p_{i,r+1}"),
    ("grad_f_sq_limsup@p_now", r"\limsup_{R \to \infty} \mathrm{E}\|\nabla f(\bar{x}_{k^*})\|^2", "its upper limit in R, average with p_{i,r}"),
    ("grad_f_sq_limsup@p_next", r"\limsup_{R \to \infty} \mathrm{E}\|\nabla f(\bar{x}_{k^*})\|^2", "its upper limit in R, average with p_{i,r+1}"),
    ("ne_infeasibility", r"\mathrm{E}\|\hat{N}_{r^*} - N^*\|^2", "mean square distance from the equilibrium over the counted rounds"),
    ("rounds_epsilon_nonconvex", r"R_\varepsilon", "rounds until both the mean square gradient and the infeasibility are at most epsilon"),
    ("rounds_epsilon_convex", r"R_\varepsilon", "rounds until the gap of the averaged iterate is at most epsilon"),
    ("f_gap_avg@p_now", r"\mathrm{E} f(\bar{x}_T^{\mathrm{avg}}) - f^*", "optimality gap of the averaged iterate, average with p_{i,r}"),
    ("f_gap_avg@p_next", r"\mathrm{E} f(\bar{x}_T^{\mathrm{avg}}) - f^*", "optimality gap of the averaged iterate, average with p_{i,r+1}"),
    ("f_gap_start", r"\mathrm{E} f(\bar{x}_{T_{\hat{r}}}) - f^*", "optimality gap when counting starts"),
    ("x_dist_sq_start", r"\mathrm{E}\|\bar{x}_{T_{\hat{r}}} - x^*\|^2", "mean square distance to x* when counting starts"),
    ("welfare_gap", r"h(\bar{N}_R) - h(N^*)", "welfare loss of the averaged participation above that of the best equilibrium"),
    ("dual_gap", r"\mathrm{Gap}(\bar{N}_R, \mathcal{N}, F)", "dual gap of the averaged participation"),
    ("averaged_participation_limit", r"\lim_{R \to \infty} \bar{N}_R = N^*", "convergence of the averaged participation"),
    ("mean_iterate_next@p_now", r"\bar{x}_{k+1}", "the average iterate one step on, average with p_{i,r}"),
    ("mean_iterate_next@p_next", r"\bar{x}_{k+1}", "the average iterate one step on, average with p_{i,r+1}"),
    ("aggregate@p_now", r"x_{i,k+1}", "a client's iterate after the last step of a round, aggregated with p_{j,r}"),
    ("aggregate@p_next", r"x_{i,k+1}", "a client's iterate after the last step of a round, aggregated with p_{j,r+1}"),
    ("participation_next", r"N_{i,r+1}", "a client's participation after its update"),
    ("gradient_lipschitz", r"\|\nabla f(x) - \nabla f(y)\| / \|x - y\|", "Lipschitz quotient of the global gradient"),
    ("weighted_inner@p_now", r"\sum_i p_{i,r} \mathrm{E}[g_{i,t}^T \bar{g}_t | \mathcal{F}_{T_r}]", "weighted inner products of local and average gradients, p_{i,r}"),
    ("weighted_inner@p_next", r"\sum_i p_{i,r+1} \mathrm{E}[g_{i,t}^T \bar{g}_t | \mathcal{F}_{T_r}]", "weighted inner products of local and average gradients, p_{i,r+1}"),
    ("descent_inner@p_now", r"\mathrm{E}[\nabla f(\bar{x}_k)^T \bar{g}_k | \mathcal{F}_k]", "alignment of the average gradient with the true one, p_{i,r}"),
    ("descent_inner@p_next", r"\mathrm{E}[\nabla f(\bar{x}_k)^T \bar{g}_k | \mathcal{F}_k]", "alignment of the average gradient with the true one, p_{i,r+1}"),
    ("consensus_error@p_now", r"\mathrm{E}[\bar{e}_k]", "consensus error at step k, p_{i,r}"),
    ("consensus_error@p_next", r"\mathrm{E}[\bar{e}_k]", "consensus error at step k, p_{i,r+1}"),
    ("consensus_error_sum@p_now", r"\sum_{k=T_{\hat{r}}}^{T_R-1} \mathrm{E}[\bar{e}_k]", "consensus error summed over the counted steps, p_{i,r}"),
    ("consensus_error_sum@p_next", r"\sum_{k=T_{\hat{r}}}^{T_R-1} \mathrm{E}[\bar{e}_k]", "consensus error summed over the counted steps, p_{i,r+1}"),
    ("consensus_error_round@p_now", r"\sum_{k=T_r}^{T_{r+1}-1} \mathrm{E}[\bar{e}_k]", "consensus error summed over a round, p_{i,r}; D_f is the mean over k = T_r+1..T_{r+1}-1"),
    ("consensus_error_round@p_next", r"\sum_{k=T_r}^{T_{r+1}-1} \mathrm{E}[\bar{e}_k]", "consensus error summed over a round, p_{i,r+1}; D_f is the mean over k = T_r..T_{r+1}-2"),
    ("consensus_error_round_all@p_next", r"\sum_{k=T_r}^{T_{r+1}-1} \mathrm{E}[\bar{e}_k]", "consensus error summed over a round, p_{i,r+1}; D_f is the mean over k = T_r..T_{r+1}-1"),
    ("g_bar_sq@p_now", r"\mathrm{E}\|\bar{g}_k\|^2", "mean square of the average gradient, p_{i,r}"),
    ("g_bar_sq@p_next", r"\mathrm{E}\|\bar{g}_k\|^2", "mean square of the average gradient, p_{i,r+1}"),
    ("recursion_term", r"a_k", "the sequence of the recursion (17)"),
    ("local_gradient_mean_sq", r"\frac{1}{m} \sum_i \|\nabla f_i(x)\|^2", "mean of the local square gradient norms at a point"),
    ("convex_inner@p_now", r"-2 \sum_i p_{i,r} (\bar{x}_k - x^*)^T \nabla f_i(x_{i,k})", "the cross term of the convex analysis, p_{i,r}"),
    ("convex_inner@p_next", r"-2 \sum_i p_{i,r+1} (\bar{x}_k - x^*)^T \nabla f_i(x_{i,k})", "the cross term of the convex analysis, p_{i,r+1}"),
    ("x_dist_sq_next@p_now", r"\mathrm{E}[\|\bar{x}_{k+1} - x^*\|^2 | \mathcal{F}_k]", "square distance to x* one step on, p_{i,r}"),
    ("x_dist_sq_next@p_next", r"\mathrm{E}[\|\bar{x}_{k+1} - x^*\|^2 | \mathcal{F}_k]", "square distance to x* one step on, p_{i,r+1}"),
    ("discount", r"c_k", "the weights c_k of the convex analysis, for every k <= T_R"),
    ("smooth_losses", r"f_i \; L\mathrm{-smooth}", "smoothness of the local losses"),
    ("stochastic_gradient", r"\mathrm{E}[\nabla \tilde{f}_i(x, \xi_i)] = \nabla f_i(x)", "the stochastic gradient oracle"),
    ("loss_bounded_below", r"f^* > -\infty", "boundedness of the global loss"),
    ("own_convexity", r"l_i(\cdot, N_{-i}) \; \mathrm{convex}", "convexity of the utility losses in the own strategy"),
    ("strong_monotonicity", r"(F(N) - F(N'))^T (N - N') \geq \mu_F \|N - N'\|^2", "strong monotonicity of the game"),
    ("monotonicity", r"(F(N) - F(N'))^T (N - N') \geq 0", "monotonicity of the game"),
    ("welfare_convexity", r"h \; \mathrm{strictly \; convex}", "strict convexity of the welfare loss"),
    ("dissimilarity", r"\frac{1}{m} \sum_i \|\nabla f_i(x)\|^2 \leq G^2 + B^2 \|\nabla f(x)\|^2", "bounded gradient dissimilarity"),
    ("convex_losses", r"f_i \; \mathrm{convex}", "convexity of the local losses"),
    ("experiment", r"\mathrm{Section \; 5}", "what an experiment is said to show"),
)  # fmt: skip

QUANTITIES: Mapping[str, Quantity] = MappingProxyType({row[0]: Quantity(*row) for row in _ROWS})
