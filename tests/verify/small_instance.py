"""The text of a small instance that runs in a second."""

SMALL = """
name = "small"
title = "Three quadratics"

[problem]
kind = "quadratics"
curvature = [1.0, 0.5, 0.2]
centre = [[1.0, 0.0], [-1.0, 0.5], [0.0, 2.0]]

[game]
kind = "affine"
matrix = [[2.0, 0.5, 0.0], [-0.5, 2.0, 0.0], [0.0, 0.3, 1.5]]
offset = [-20.0, -3.0, -90.0]
lower = [1.0, 5.0, 1.0]
upper = [50.0, 50.0, 50.0]

[algorithm]
H = 2
R = 300
N_0 = [8.0, 5.0, 48.0]
x_0 = 3.0
sampling = "full"

[run]
seeds = 2
draws = 8
horizons = 5

[check]
statements = ["Lemma 4.3(i)", "Lemma 4.3(ii)", "Theorem 4.6(i-1)", "Theorem 4.6(i-2)", "Theorem 4.9(i-1)"]
editions = ["printed", "corrected", "sharp"]
"""
