"""Learning problems whose constants are true."""

from simulate.problems.base import Problem
from simulate.problems.convex import StronglyConvex
from simulate.problems.convolution import ConvolutionalNetwork
from simulate.problems.linear import LeastSquares, LogisticRegression, SaturatingLogistic, WelschRegression
from simulate.problems.network import TwoLayerNetwork
from simulate.problems.quadratics import Quadratics, antipodal_noise
from simulate.problems.softmax import SoftmaxRegression

__all__ = [
    "ConvolutionalNetwork",
    "LeastSquares",
    "LogisticRegression",
    "Problem",
    "Quadratics",
    "SaturatingLogistic",
    "SoftmaxRegression",
    "StronglyConvex",
    "TwoLayerNetwork",
    "WelschRegression",
    "antipodal_noise",
]
