"""Section 5's claims that need a solved game, a run or a derivative: one function a check, by the name its step gives.

A refutation is a counterexample on one instance, settled exactly or by enclosures; what one run on other data than the
paper's says is never more than `open`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

import flint
import numpy as np
import sympy
from jaxtyping import Float

import games
from bounds.core.step import Experiment
from games.properties import product_of_differences
from games.rounding import arb_lower, arb_upper
from simulate.participation import participation
from verify.experiments import instances
from verify.experiments.strongly_monotone import quick_losses

_PRECISION = 128


def _shown(**values: object) -> Mapping[str, str]:
    return {k: f"({', '.join(map(str, v))})" if isinstance(v, list) else str(v) for k, v in values.items()}


def network_smoothness() -> Experiment:
    """log(1 + exp(-w_2 tanh(w_1))): its second derivative in w_1 at (0, w_2) is w_2^2/4, by sympy."""
    w_1, w_2, L = sympy.symbols("w_1 w_2 L", positive=True)
    loss = sympy.log(1 + sympy.exp(-w_2 * sympy.tanh(w_1)))
    curvature = sympy.simplify(sympy.diff(loss, w_1, 2).subs(w_1, 0))
    excess = sympy.expand(curvature.subs(w_2, 2 * (L + 1)) - L)  # L^2 + L + 1 > 0: no L is large enough
    smooth = not all(c > 0 for c in sympy.Poly(excess, L).coeffs())
    bound = 10**6
    at = Fraction(int(curvature.subs(w_2, 2 * (bound + 1))))
    return Experiment(
        smooth,
        at,
        Fraction(bound),
        _shown(
            f="log(1 + exp(-w_2 tanh(w_1)))", second_derivative_at_0_w_2=curvature, for_any_L="w_2 = 2 (L + 1)",
            L=bound,
        ),
    )  # fmt: skip


# Section 5.2 -----------------------------------------------------------------------------------------------


def several_equilibria() -> Experiment:
    """The solution set of Figure 3's game, exactly: one point."""
    game = instances.figure_3()
    solutions = games.solution_set(game)
    number = 1 if solutions.dimension == 0 else 2
    return Experiment(
        number >= 2,
        Fraction(2),
        Fraction(number),
        _shown(F=game.b.tolist(), N_max=game.upper.tolist(), equilibria="one", N_star=solutions.point),
    )


def unique_target_in_general() -> Experiment:
    """A common pool, F = sum N - 100 for both: h has the same value on the whole segment of equilibria."""
    game = games.CommonPoolGame(target=100.0, lower=[0.0, 0.0], upper=[100.0, 100.0])
    chosen = games.select(game, games.SoftplusWelfare())
    ends = [[flint.fmpq(v) for v in end] for end in ((100, 0), (0, 100))]
    several = chosen.unique is False and all(chosen.solutions.contains(end) for end in ends)
    return Experiment(
        not several,
        Fraction(2),
        Fraction(1),
        _shown(
            F="(N_1 + N_2 - 100) (1, 1)",
            box="[0, 100]^2",
            minimisers_of_h="(100, 0), (0, 100) and all between",
        ),
    )


def selected_aggregate() -> Experiment:
    """Every profile of the box is an equilibrium; h's minimiser over them, exactly."""
    game = instances.indifferent()
    chosen = games.select(game, games.SoftplusWelfare())
    low = [flint.fmpq(int(v)) for v in game.lower]
    # h is increasing in the sum, so its only minimiser over the box is the lower end; the solver found the same.
    assert chosen.solutions.contains(low)
    assert np.allclose(chosen.representative, game.lower, rtol=0, atol=1e-9)
    selected, most = Fraction(float(game.lower.sum())), Fraction(float(game.upper.sum()))
    return Experiment(
        selected >= most,
        selected,
        most,
        _shown(
            F="0", box="[1, N_i^max]", selected=game.lower.tolist(), largest_equilibrium=game.upper.tolist()
        ),
    )


def limits_can_be_had() -> Experiment:
    """|F_i| = 1/4, lambda_0 = 1/8: every step is at least gamma_tilde_r/8 the right way, and 1000 of them suffice.

    dh/dN_i <= 1, so F_i + lambda_r dh/dN_i keeps the sign of F_i and a size of 1/8 for every r; and
    sum_{r < 1000} (r + 1)^(-1/2) >= 2 (sqrt(1001) - 1) >= 61. It holds from every start.
    """
    game, rounds = instances.figure_3(), 1000
    assert 63**2 <= 4 * (rounds + 1)
    drift = Fraction(1, 4) - Fraction(instances.LAMBDA_0)
    reach = 61 * Fraction(instances.GAMMA_TILDE_0) * drift
    path = _path(game, game.upper / 2, rounds)
    arrived = bool(np.array_equal(path, instances.REPORTED)) and drift > 0
    farthest = Fraction(int(game.upper.max()))
    return Experiment(
        arrived and reach >= farthest,
        farthest,
        reach,
        _shown(
            F=game.b.tolist(), gamma_tilde_0=instances.GAMMA_TILDE_0, lambda_0=instances.LAMBDA_0,
            N_1000=path.tolist(),
        ),
        settles=True,
    )  # fmt: skip


def zero_for_good() -> Experiment:
    """F_i = -5/128 for clients 1 and 3: pushed down while lambda_r > 5/128, up for ever after.

    lambda_r = (r + 1)^(-1/4)/4 is below 5/128 from r = 1677 on, and then every step is upwards, their sum without
    bound: the limit is N^max, the only equilibrium.
    """
    game = instances.as_drawn()
    path = _path(game, game.upper / 2, 1000, gamma_tilde_0=10_000.0, lambda_0=0.25)
    limit = games.solution_set(game).point
    there = bool(np.array_equal(path, instances.REPORTED))
    gone = there and all(limit[i] == 0 for i in instances.EXITING)
    client = instances.EXITING[0]
    return Experiment(
        gone or not there,
        Fraction(float(path[client])),
        Fraction(int(limit[client])),
        _shown(
            theta_i="1/4 (0, 2, 4), 59/128 (1, 3)", q_i_sq="1/2", F=game.b.tolist(),
            gamma_tilde_0=10000, lambda_0="1/4", N_0="N^max/2", N_1000=path.tolist(), limit=limit,
            aggregate="46000 after 1000 rounds, 60000 in the limit",
        ),
    )  # fmt: skip


def selection_without_welfare() -> Experiment:
    """Figure 3's game with and without h: F is constant and never 0, so both end in its one equilibrium."""
    game, start = instances.figure_3(), instances.UPPER / 2
    without = participation(game, start, instances.GAMMA_TILDE_0, 1000, a=instances.A).N[-1]
    apart = float(np.linalg.norm(without - _path(game, start, 1000)))
    return Experiment(
        apart > 0,
        Fraction(apart),
        Fraction(0),
        _shown(F=game.b.tolist(), limit_with_h=instances.REPORTED.tolist(), limit_without_h=without.tolist()),
    )


def selected_equilibrium() -> Experiment:
    """argmin of h over the solution set of Figure 3's game, exactly."""
    chosen = games.select(instances.figure_3(), games.SoftplusWelfare())
    only = chosen.solutions.point if chosen.solutions.dimension == 0 else []
    return Experiment(
        only == [flint.fmpq(int(v)) for v in instances.REPORTED],
        Fraction(sum(int(v) for v in only)),
        Fraction(46_000),
        _shown(selected=only, note=chosen.note),
        settles=True,
    )


def _path(
    game: games.DiscoveryGame,
    start: Float[np.ndarray, " m"],
    rounds: int,
    *,
    gamma_tilde_0: float = instances.GAMMA_TILDE_0,
    lambda_0: float = instances.LAMBDA_0,
) -> Float[np.ndarray, " m"]:
    """N after so many rounds of the regularised update with Section 5.2's rates."""
    h = games.SoftplusWelfare()
    run = participation(
        game, start, gamma_tilde_0, rounds, welfare=h, lambda_0=lambda_0, a=instances.A, b=instances.B
    )
    return np.asarray(run.N[-1])


# Section 5.3 -----------------------------------------------------------------------------------------------


def power_law_derivative() -> Experiment:
    """d l_1/d N_1 for five clients by sympy, against the display."""
    N = sympy.symbols("N_1:6", positive=True)
    alpha, beta = sympy.symbols("alpha_1:6", positive=True), sympy.symbols("beta_1:6", positive=True)
    s = sum(N)
    payoff = [1 - x * s**-y for x, y in zip(alpha, beta, strict=True)]
    slope = [x * y * s ** (-y - 1) for x, y in zip(alpha, beta, strict=True)]
    difference = sympy.diff(sum(payoff[1:]) - payoff[0], N[0]) - (sum(slope[1:]) - slope[0])
    return Experiment(
        sympy.simplify(difference) == 0,
        Fraction(0),
        Fraction(0),
        _shown(difference=sympy.simplify(difference), clients="any, by symmetry"),
        settles=True,
    )


def power_law_convexity() -> Experiment:
    """d^2 l_i/d N_i^2 at a point of the box, enclosed: negative."""
    game = instances.power_law()
    found = games.properties(game).convexity_witness
    assert found is not None
    client, at = found
    with flint.ctx.workprec(_PRECISION):
        value = arb_upper(game.enclose_jacobian([flint.arb(x) for x in at.tolist()])[client, client])
    return Experiment(
        value >= 0,
        Fraction(0),
        Fraction(value),
        _shown(**_law(), client=client, N=at.tolist(), second_derivative=f"at most {value:.4g}"),
    )


def power_law_monotone() -> Experiment:
    """(F(x) - F(y))'(x - y) < 0 for two points of the box, enclosed."""
    game = instances.power_law()
    witness = games.properties(game).witness
    assert witness is not None
    value = product_of_differences(game, *witness)
    return Experiment(
        value >= 0,
        Fraction(0),
        Fraction(value),
        _shown(**_law(), x=witness[0].tolist(), y=witness[1].tolist(), product=f"at most {value:.4g}"),
    )


def power_law_starts() -> Experiment:
    """Two rest points: client 4 at its capacity, and client 0 where F_0 changes sign, all others at N_i^min.

    At the first every F_i is enclosed and pushes into the bound; at the second F_1..F_4 > 0 are enclosed over the
    interval in which F_0 changes sign, so that a rest point lies in it (F_0 is continuous).
    """
    game = instances.power_law()
    first = game.lower.copy()
    first[4] = game.upper[4]
    F = _enclosed(game, first)
    stays = F[4][1] < 0 and all(F[i][0] > 0 for i in range(4))
    low, high = game.lower.copy(), game.lower.copy()
    low[0], high[0] = 6_700.0, 6_900.0
    inside = game.range_F(low, high)[0]
    crosses = _enclosed(game, low)[0][1] < 0 < _enclosed(game, high)[0][0] and all(inside[1:] > 0)
    assert stays
    assert crosses
    return Experiment(
        bool(first[0] >= low[0]),
        Fraction(float(low[0])),
        Fraction(float(first[0])),
        _shown(
            **_law(), one_start_and_limit=first.tolist(), another="(x, 1, 1, 1, 1) with x in [6700, 6900]"
        ),
    )


def _enclosed(game: games.PowerLawGame, N: Float[np.ndarray, " m"]) -> list[tuple[float, float]]:
    """Proven bounds on every F_i(N)."""
    with flint.ctx.workprec(_PRECISION):
        return [(arb_lower(v), arb_upper(v)) for v in game.enclose_F([flint.arb(x) for x in N.tolist()])]


def _law() -> dict[str, object]:
    return {
        "alpha": instances.ALPHA.tolist(),
        "beta": instances.BETA.tolist(),
        "box": "[1, N_i^max]",
        "N_max": instances.UPPER.tolist(),
    }


# Section 5.1: runs on the data at hand ---------------------------------------------------------------------


def digits_order() -> Experiment:
    """The loss after the same rounds for H = 1, 5, 10, 20, on scikit-learn's digits."""
    losses = {H: float(f[-1]) for H, f in quick_losses().items()}
    ordered = list(losses.values()) == sorted(losses.values(), reverse=True)
    agrees = "agrees" if ordered else "disagrees"
    return Experiment(
        True if ordered else None,
        Fraction(losses[20]),
        Fraction(losses[1]),
        _shown(**{f"f_H_{H}": f"{f:.4f}" for H, f in losses.items()}),
        note=f"a run on scikit-learn's digits {agrees}; the paper's own curves are not at hand",
    )


def digits_rounds() -> Experiment:
    """Rounds until the loss that H = 1 ends with, for each H."""
    losses = quick_losses()
    target = float(losses[1][-1])
    rounds = {H: int(np.argmax(f <= target)) for H, f in losses.items()}
    ordered = list(rounds.values()) == sorted(rounds.values(), reverse=True)
    agrees = "agrees" if ordered else "disagrees"
    return Experiment(
        True if ordered else None,
        Fraction(rounds[20]),
        Fraction(rounds[1]),
        _shown(target=f"{target:.4f}", **{f"rounds_H_{H}": r for H, r in rounds.items()}),
        note=f"a run on scikit-learn's digits {agrees}; the paper's own curves are not at hand",
    )


def cifar_effect() -> Experiment:
    """Nothing to compute on: CIFAR-10 comes with no package."""
    return Experiment(
        None,
        Fraction(0),
        Fraction(0),
        {},
        note="needs CIFAR-10: python -m verify.experiments 5.1 --data FOLDER compares it with what stands in for MNIST",
    )


CHECKS: Mapping[str, Callable[[], Experiment]] = MappingProxyType(
    {
        "network smoothness": network_smoothness,
        "digits order": digits_order,
        "digits rounds": digits_rounds,
        "cifar effect": cifar_effect,
        "several equilibria": several_equilibria,
        "unique target in general": unique_target_in_general,
        "selected aggregate": selected_aggregate,
        "limits can be had": limits_can_be_had,
        "zero for good": zero_for_good,
        "selection without welfare": selection_without_welfare,
        "selected equilibrium": selected_equilibrium,
        "power-law derivative": power_law_derivative,
        "power-law convexity": power_law_convexity,
        "power-law monotone": power_law_monotone,
        "power-law starts": power_law_starts,
    }
)
