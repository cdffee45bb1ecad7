"""Many points at once say what each says alone: the same balls, and no condition called sure that fails."""

import math

import numpy as np
import pytest

import bounds
from bounds import Constant, Provenance
from bounds.core.vocabulary import Domain

NUMBERS = {
    "m": 3, "H": 2, "L": 1.3, "B": 1.1, "G": 0.7, "S": 1.0, "nu": 0.5, "gamma": 1e-6, "mu_F": 1.0, "L_F": 2.0,
    "dist_0": 30.0, "N_star_l1": 10.0, "D_r_hat": 1.5, "r_hat": 3, "f_gap": 1.0, "R": 50, "kappa": 1.0, "s": 1.0,
    "Delta_sq_mean": 0.1,
}  # fmt: skip


def constants(gamma_tilde: float, radius: float) -> dict[str, Constant]:
    known = {n: Constant(n, v, Provenance.CERTIFIED) for n, v in NUMBERS.items()}
    known["dist_0"] = Constant("dist_0", 30.0, Provenance.CERTIFIED, radius)
    known["gamma_tilde"] = Constant("gamma_tilde", gamma_tilde, Provenance.GIVEN)
    return known


@pytest.mark.parametrize("radius", [0.0, 1e-9])
@pytest.mark.parametrize(
    ("statement", "edition", "axis"),
    [
        ("Lemma 4.3(i)", "printed", "r"),
        ("Lemma 4.3(i)", "sharp", "r"),
        ("Lemma 4.3(ii)", "sharp", "r"),
        ("Theorem 4.6(i-1)", "corrected", "R"),
        ("Theorem 4.6(i-2)", "sharp", "R"),
        ("Theorem 4.9(i-1)", "printed", "R"),
    ],
)
def test_balls_along_a_curve_are_those_of_its_points(
    statement: str, edition: str, axis: str, radius: float
) -> None:
    encoded, known = bounds.get(statement, edition), constants(0.2, radius)
    distances = [Constant("dist_0", d, Provenance.CERTIFIED, radius) for d in (1.0, 2.5, 30.0)]
    own = [
        {axis: Constant(axis, r, Provenance.EXACT), "dist_0": d}
        for r, d in zip((4, 5, 90), distances, strict=True)
    ]
    along = encoded.enclose_along(known, own)
    alone = [encoded.enclose({**known, **one}, unchecked=True) for one in own]
    assert [(b.mid(), b.rad()) for b in along] == [(b.mid(), b.rad()) for b in alone]
    assert len({float(b) for b in along}) == 3


def test_no_points_have_no_balls_and_a_missing_constant_is_named() -> None:
    encoded, known = bounds.get("Lemma 4.3(i)"), constants(0.2, 0.0)
    assert encoded.enclose_along({**known, "r": 0}, []) == []
    with pytest.raises(bounds.MissingConstants, match="dist_0"):
        encoded.enclose_along({n: c for n, c in known.items() if n != "dist_0"}, [{"r": 1}])


@pytest.mark.parametrize("radius", [0.0, 5.0])
@pytest.mark.parametrize("statement", ["Theorem 4.6(i-1)", "Theorem 4.9(i-1)"])
@pytest.mark.parametrize("edition", ["printed", "corrected", "sharp"])
def test_what_is_sure_never_fails(statement: str, edition: str, radius: float) -> None:
    """Around the limits of gamma_tilde (1/4 and 1/2), of r_hat, and of R."""
    encoded, settled = bounds.get(statement, edition), 0
    for gamma_tilde in (0.2, math.nextafter(0.25, 1), 0.25 * (1 + 1e-12), 0.5):
        for r_hat in (3, 120):
            known = constants(gamma_tilde, radius)
            known["r_hat"] = Constant("r_hat", r_hat, Provenance.GIVEN)
            rounds = np.array([r_hat, r_hat + 1, r_hat + 2, 200])
            sure = encoded.surely_hold({**known, "R": rounds}, encoded.hypotheses)
            checks = [encoded.check({**known, "R": int(R)}) for R in rounds]
            fails = [any(c.holds is False for c in found) for found in checks]
            assert not np.any(np.broadcast_to(sure, 4) & np.array(fails))
            settled += int(np.broadcast_to(sure, 4).sum())
    assert settled > 0


def test_only_the_hypotheses_asked_for_are_looked_at() -> None:
    encoded, known = bounds.get("Theorem 4.6(i-2)"), constants(0.9, 0.0)  # gamma_tilde is far too large
    last = [h for h in encoded.hypotheses if h.name == "r_hat <= R - 1"]
    rounds = np.array([2, 3, 4, 5])
    assert encoded.surely_hold({**known, "R": rounds}, last).tolist() == [False, False, True, True]
    assert not encoded.surely_hold({**known, "R": rounds}, encoded.hypotheses).any()


@pytest.mark.parametrize(
    "domain",
    [Domain(), Domain(lower=0.0), Domain(lower=0.0, open_lower=True), Domain(0.0, 1.0, open_upper=True),
     Domain(1.0, integer=True), Domain(0.0, 1.0, open_lower=True)],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(
    "value", [-1.0, -0.0, 0.0, 5e-324, 0.5, 1.0, 2.0, 2.5, math.inf, -math.inf, math.nan]
)
def test_one_number_is_in_a_domain_if_an_array_of_it_is(domain: Domain, value: float) -> None:
    assert domain.contains(value) == bool(domain.admits(value).all())
