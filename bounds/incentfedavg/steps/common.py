"""The symbols that the convergence proofs share, under their names in `bounds.symbols`.

`D_f` is D_f(x_bar_k, x*) = f(x_bar_k) - f*, `X_sq` is ||x_bar_k - x*||^2, `e_bar` the consensus error,
`grad_f_sq` is
||grad f(x_bar_k)||^2, `grad_fi_sq_sum` the sum of ||grad f_i(x_bar_k)||^2, `S` that sum at x*,
expectations understood.
"""

from __future__ import annotations

from bounds.incentfedavg.steps.notation import natural, nonnegative, positive

L, GAMMA = positive("L gamma")
NU, G, B = nonnegative("nu G B")
M, H = natural("m H")
DF, X, X_NEXT, E, GRAD, GRADS, S = nonnegative("D_f X_sq X_sq_next e_bar grad_f_sq grad_fi_sq_sum S")
DELTA, DELTA_0 = nonnegative("delta_r delta_0")
(RHO,) = positive("rho")
