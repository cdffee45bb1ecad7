"""Linear models f~_i(x, j) = phi(a_j^T x, b_j) + regulariser(x): least squares, logistic regression,
Welsch's loss.

With M_i = mean_j phi' a_j over client i and lambda_i >= lambda_max(A_i^T A_i / D_i) (certified):

- L = sup|phi''| max_i lambda_i + sup|regulariser''|.
- K_i >= sup ||M_i||: K_i = sup|phi'| min(mean_j ||a_j||, sqrt lambda_i); nu^2 <= sup|phi'|^2 max_i mean_j
  ||a_j||^2 (infinite for the squared loss: its sample gradients spread without bound, and no nu exists for all x).
- (G, B): grad f_i = M_i + a part common to all clients, so `base.common_part_pair` applies; where the gradient
  itself is bounded (Welsch, and the saturating regulariser with a bounded slope), also B = 0 with G^2 = mean_i
  sup ||grad f_i||^2. Least squares has quadratic f_i: the exact curve of `tradeoff`.
- f*, f*_i, x*: enclosed by strong convexity in the convex case; for the nonconvex ones f* lies between 0 and
  the best value found, so its radius is half of that.
"""

from simulate.problems.linear.convex import LeastSquares, LogisticRegression
from simulate.problems.linear.model import LinearModel
from simulate.problems.linear.nonconvex import SaturatingLogistic, WelschRegression

__all__ = ["LeastSquares", "LinearModel", "LogisticRegression", "SaturatingLogistic", "WelschRegression"]
