"""What is wrong with an instance file is one line with the key, the value and what would be right."""

import pytest
from image_files import example

from verify.errors import InputError
from verify.instance import parse_instance
from verify.setup import build

# (example, what is replaced, by what, what the line must say)
EDITS = [
    ("own-instance", 'kind = "quadratics"', 'kind = "cubics"', ["problem.kind = 'cubics'", "least_squares"]),
    ("own-instance", 'kind = "quadratics"', "", ["problem: kind is missing"]),
    ("own-instance", 'kind = "affine"', 'kind = "affin"', ["game.kind = 'affin'", "low_rank", "python:module"]),
    ("own-instance", "H = 2", 'H = "2"', ["algorithm.H = '2'", "integer"]),
    ("own-instance", "H = 2", "H = true", ["algorithm.H = True"]),
    ("own-instance", "R = 300", "R = 10_000_001", ["algorithm.R", "10000000"]),
    ("own-instance", "x_0 = 3.0", "x_0 = [1.0]", ["algorithm.x_0 has 1 entries", "(2)"]),
    ("own-instance", "x_0 = 3.0", 'x_0 = "random"', ["algorithm.x_0"]),
    ("own-instance", "H = 2", "H = 2\nlambda_0 = 1.0", ["lambda_0 is for update = 'regularised'"]),
    ("own-instance", "[game]", '[welfare]\nkind = "softplus"\n[game]', ["welfare is given", "update"]),
    ("own-instance", "curvature = [1.0, 0.5, 0.2]", "curvature = [[1.0], [0.5], [0.2]]", ["curvature[0]", "2"]),
    ("own-instance", "[2.0, 0.5, 0.0]", "[1e101, 0.5, 0.0]", ["game.matrix[0][0] = 1e+101"]),
    ("welsch-common-pool", "a = 0.52\n", "", ["a is missing", "gamma_tilde_0, a, lambda_0, b"]),
    ("welsch-common-pool", "a = 0.52", "a = 0.52\ngamma_tilde = 1.0", ["gamma_tilde is for update = 'strong'"]),
    ("welsch-common-pool", '[welfare]\nkind = "entropy"', "", ["welfare is missing"]),
    ("welsch-common-pool", "lower = [1.0, 1.0, 1.0]", "lower = [0.0, 1.0, 1.0]", ["welfare", "lower > 0"]),
    ("welsch-common-pool", "sizes = [30, 40, 50]", "sizes = [30, 40]", ["game.lower has 3 entries", "(2)"]),
    ("softmax-smooth-pool", "target = [50.0, 20.0, 20.0]", "target = [50.0]", ["welfare.target has 1", "(3)"]),
    ("softmax-smooth-pool", "sizes = [60, 60, 60]", "sizes = [60, 60, 6000]", ["data.sizes[2] = 6000"]),
    ("softmax-smooth-pool", "concentration = 1.0", "", ["data", "concentration", "classes_each"]),
    ("softmax-smooth-pool", "clients = 3", "clients = 3\nclasses_each = 2", ["one of concentration"]),
    ("softmax-smooth-pool", "r_hat = 0", 'x_0 = "minimizer"', ["algorithm.x_0"]),
    ("saturating-concave-discovery", "positive = [0, 2,", "positive = [0, 12,", ["problem.positive holds 12", "0..9"]),
    ("saturating-concave-discovery", "sampling", 'x_0 = "minimiser"\nsampling', ["x_0", "no minimiser"]),
    ("saturating-concave-discovery", "quadratic = 0.01", "quadratic = [0.01]", ["game.quadratic has 1 entries"]),
    ("least-squares-low-rank", "targets = [[1.0, 0.7, -0.9]", "targets = [[1.0, 0.7]", ["data", "targets[0]", "3"]),
    ("least-squares-low-rank", "[0.5, 1.0], [-1.0", "[0.5], [-1.0", ["data", "features[0]", "2 numbers"]),
    ("least-squares-low-rank", "V = [[0.4],", "V = [[0.4, 0.1],", ["U and V", "different lengths"]),
    ("least-squares-low-rank", '"least_squares"', '"softmax"', ["labels"]),
    ("network-skew", "P = [[0.5],", "P = [[0.5, 0.1],", ["P and R", "different lengths"]),
    ("mnist-power-law", "lower = [1000.0,", "lower = [0.0,", ["positive sum"]),
    ("mnist-power-law", "beta = [0.3,", "beta = [1.3,", ["game.beta[0] = 1.3"]),
    ("mnist-power-law", "beyond_samples = true", "", ["game.upper[", "samples", "beyond_samples"]),
    ("mnist-power-law", 'sampling = "iid"', 'sampling = "subset"', ["beyond_samples", "subset"]),
    ("mnist-power-law", "data/mnist", "data/none", ["data/none", "no such folder"]),
    ("logistic-costly-discovery", "batch = 4", "batch = 400", ["replacement", "400 distinct samples"]),
    ("logistic-costly-discovery", "rate = 0.05", "rate = 50.0", ["rate * bound"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "said"), EDITS, ids=lambda v: str(v)[:30])
def test_a_mistake_is_one_line(name: str, old: str, new: str, said: list[str], at_data) -> None:
    text = example(name)
    assert old in text
    with pytest.raises(InputError) as error:
        build(parse_instance(text.replace(old, new, 1), "here"))
    for words in said:
        assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 1000


VAGUE = example("own-instance").replace("offset = [-20.0, -3.0, -90.0]", "offset = [-20.0, -30.0, -40.0]")


@pytest.mark.parametrize(
    ("r_hat", "said"),
    [
        ("7", "algorithm.gamma = 'largest': dist_0 = 0 is known only to"),
        ('"smallest"', "algorithm.r_hat = 'smallest': dist_0 = 0 is known only to"),
    ],
)
def test_a_start_at_an_equilibrium_that_is_known_only_to_a_radius(r_hat: str, said: str) -> None:
    """No step size is proved to be allowed then: it is said at once, with what would help."""
    text = VAGUE.replace("N_0 = [8.0, 5.0, 48.0]", 'N_0 = "equilibrium"\nclosed_form = false')
    text = text.replace('r_hat = "smallest"', f"r_hat = {r_hat}")
    with pytest.raises(InputError) as error:
        build(parse_instance(text, "here"))
    assert said in str(error.value)
    assert "or a game whose equilibrium is known exactly" in str(error.value)
