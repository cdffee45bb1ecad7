"""Digits, normalisations and partitions."""

import numpy as np
import pytest

from simulate import data


def test_digits_are_the_real_ones() -> None:
    samples = data.digits()
    assert samples.features.shape == (1797, 64)
    assert samples.features.min() == 0
    assert samples.features.max() == 16
    assert np.array_equal(np.bincount(samples.labels), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180])


@pytest.mark.parametrize(
    "split", [lambda y, s: data.dirichlet_split(y, 5, 0.3, s), lambda y, s: data.class_split(y, 5, 4, s)]
)
def test_partitions_are_disjoint_complete_and_seeded(split: object) -> None:
    labels = data.digits().labels
    first, again, other = split(labels, 1), split(labels, 1), split(labels, 2)
    assert np.array_equal(np.sort(np.concatenate(first.clients)), np.arange(1797))
    assert all(np.array_equal(a, b) for a, b in zip(first.clients, again.clients, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first.clients, other.clients, strict=True))
    q = data.label_distributions(labels, first, 10)
    for i, c in enumerate(first.clients):
        assert np.array_equal(q[i], np.bincount(labels[c], minlength=10) / len(c))
    assert np.allclose(data.discovery_matrix(q), [[a @ b for b in q] for a in q])


def test_concentration_skews() -> None:
    labels = data.digits().labels
    skew = [
        data.label_distributions(labels, data.dirichlet_split(labels, 5, c, 3), 10).std()
        for c in (0.1, 100.0)
    ]
    assert skew[0] > 3 * skew[1]


def test_class_split_gives_the_classes_it_says() -> None:
    labels = data.digits().labels
    q = data.label_distributions(labels, data.class_split(labels, 5, 2, 0), 10)
    assert np.array_equal((q > 0).sum(axis=1), np.full(5, 2))


def test_normalisations() -> None:
    a = data.digits().features
    unit = data.normalise(a, "unit", scale=2.0)
    assert np.allclose(np.linalg.norm(unit, axis=1), 2.0)
    assert unit.shape == (1797, 65)
    assert data.normalise(a, "max", bias=False).max() == 1.0
    standard = data.normalise(a, "standard", bias=False)
    assert np.allclose(standard.mean(axis=0), 0)
    assert np.array_equal(data.normalise(a, "none", bias=False), a)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda y: data.dirichlet_split(y, 5, 0.0, 0), "concentration = 0.0"),
        (lambda y: data.dirichlet_split(y, 0, 1.0, 0), "m = 0"),
        (lambda y: data.dirichlet_split(y, 5, 1e-3, 0, least=359), "raise it"),
        (lambda y: data.dirichlet_split(y[:3], 5, 1.0, 0), "too few"),
        (lambda y: data.class_split(y, 5, 11, 0), "classes_each = 11"),
        (lambda y: data.normalise(np.ones((2, 2)), "l1"), "normalise = 'l1'"),
        (lambda y: data.normalise(np.full((2, 2), np.nan)), "not finite"),
        (lambda y: data.normalise(np.ones((2, 2)), scale=0.0), "scale = 0.0"),
    ],
)
def test_bad_data_is_named(call: object, words: str) -> None:
    with pytest.raises(data.DataError, match=words):
        call(data.digits().labels)
