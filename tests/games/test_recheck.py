"""The independent check: it confirms honest claims and contradicts every tampered one."""

import dataclasses

import numpy as np
import pytest

from games import AffineGame, Certificate, Equilibrium, GameError, UserGame, solve
from games.generate import affine_game, random_nonlinear
from games.recheck import recheck


def honest(m: int, certificate: str) -> tuple[AffineGame, Equilibrium]:
    game = affine_game(np.random.default_rng(m), m, 1.0, 30.0).game
    assert isinstance(game, AffineGame)
    return game, solve(game, certificate=certificate)


@pytest.mark.parametrize("m", [1, 6, 24])
@pytest.mark.parametrize("certificate", ["residual", "proof"])
def test_honest_claims_stand(m: int, certificate: str) -> None:
    game, claim = honest(m, certificate)
    assert recheck(game, claim).stands is True


@pytest.mark.parametrize("m", [6, 24])
@pytest.mark.parametrize("certificate", ["residual", "proof"])
def test_a_moved_point_is_contradicted(m: int, certificate: str) -> None:
    game, claim = honest(m, certificate)
    free = int(np.flatnonzero(~(claim.at_lower | claim.at_upper))[0])
    moved = claim.N.copy()
    moved[free] += 1e-6
    assert recheck(game, dataclasses.replace(claim, N=moved)).stands is False


@pytest.mark.parametrize("m", [6, 24])
def test_a_shrunk_error_bound_is_contradicted(m: int) -> None:
    game, claim = honest(m, "proof")
    assert recheck(game, dataclasses.replace(claim, error_bound=claim.error_bound / 1e6)).stands is False
    game, claim = honest(m, "residual")
    assert recheck(game, dataclasses.replace(claim, error_bound=claim.error_bound / 1e6)).stands is False


def test_a_wrong_active_set_is_contradicted() -> None:
    game, claim = honest(24, "proof")
    free = int(np.flatnonzero(~(claim.at_lower | claim.at_upper))[0])
    lower = claim.at_lower.copy()
    lower[free] = True
    assert recheck(game, dataclasses.replace(claim, at_lower=lower)).stands is False
    bound = int(np.flatnonzero(claim.at_lower | claim.at_upper)[0])
    lower, upper = claim.at_lower.copy(), claim.at_upper.copy()
    lower[bound], upper[bound] = upper[bound], lower[bound]
    assert recheck(game, dataclasses.replace(claim, at_lower=lower, at_upper=upper)).stands is False


def test_a_false_exact_solution_is_contradicted() -> None:
    game, claim = honest(6, "proof")
    assert claim.exact is not None
    false = (claim.exact[0] + 1, *claim.exact[1:])
    assert recheck(game, dataclasses.replace(claim, exact=false)).stands is False
    far = dataclasses.replace(claim, error_bound=0.0, N=np.clip(claim.N + 1e-9, game.lower, game.upper))
    assert recheck(game, far).stands is False


def test_points_outside_the_box_and_false_residuals_are_contradicted() -> None:
    game, claim = honest(6, "residual")
    assert recheck(game, dataclasses.replace(claim, N=game.upper + 1.0)).stands is False
    assert recheck(game, dataclasses.replace(claim, residual=claim.residual / 1e9)).stands is False


@pytest.mark.parametrize("seed", range(6))
def test_nonlinear_claims_stand(seed: int) -> None:
    game = random_nonlinear(np.random.default_rng(seed)).game
    for certificate in Certificate:
        assert recheck(game, solve(game, certificate=certificate)).stands is True


@pytest.mark.parametrize("seed", range(6))
def test_a_nonlinear_proof_that_is_not_one_is_exposed(seed: int) -> None:
    """The interval Newton test is run anew: a moved point, a shrunk distance and a false active set do not stand."""
    game = random_nonlinear(np.random.default_rng(seed)).game
    claim = solve(game, certificate=Certificate.PROOF)
    if claim.certificate is not Certificate.PROOF:
        assert recheck(game, claim).stands is True
        return
    found = recheck(game, claim)
    assert found.stands is True
    assert "interval Newton" in found.reason or claim.exact is not None
    free = np.flatnonzero(~(claim.at_lower | claim.at_upper))
    if free.size:
        moved = claim.N.copy()
        moved[free[0]] += 1e-3 * float(game.upper[free[0]] - game.lower[free[0]])
        far = dataclasses.replace(claim, N=game.project(moved), residual=np.inf)
        assert recheck(game, far).stands is not True
        assert recheck(game, dataclasses.replace(claim, error_bound=1e-300)).stands is not True
    held = np.flatnonzero(claim.at_lower & game.moving)
    if held.size:
        flipped_low, flipped_up = claim.at_lower.copy(), claim.at_upper.copy()
        flipped_low[held[0]], flipped_up[held[0]] = False, True
        N = claim.N.copy()
        N[held[0]] = game.upper[held[0]]
        false = dataclasses.replace(claim, N=N, at_lower=flipped_low, at_upper=flipped_up, residual=np.inf)
        assert recheck(game, false).stands is not True


def test_what_cannot_be_rechecked_is_said() -> None:
    class Mine:
        lower = np.zeros(2)
        upper = np.ones(2)
        F = staticmethod(lambda N: N - 0.5)

    game = UserGame(Mine(), {"mu_F": 1.0})
    with pytest.raises(GameError, match="nothing can be rechecked"):
        recheck(game, solve(game))
    other, claim = honest(6, "proof")
    with pytest.raises(GameError, match=r"claim\.N has 6 entries"):
        recheck(affine_game(np.random.default_rng(0), 3).game, claim)
    del other
