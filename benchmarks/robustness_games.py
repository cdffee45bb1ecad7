"""Ten thousand random games: no residual above its tolerance, no certificate that a 128-bit check
contradicts.

Run: python benchmarks/robustness_games.py [instances] [seed]. Prints the counts and exits 1 if any is not
as it must be.
"""

import sys
from collections import Counter

import numpy as np

from games import Certificate, Game, NotSolved, solve
from games.affine import Affine
from games.composite import Composite
from games.generate import random_affine, random_discovery, random_monotone, random_nonlinear
from games.recheck import recheck
from games.solving import scale

TOL = 1e-9


def plain_residual(game: Game, N: np.ndarray) -> float:
    """The tangent residual from game.F alone, in float64, independent of the certificates."""
    value = game.F(N)
    part = np.where(game.lower < N, np.maximum(value, 0.0), 0.0)
    return float(np.linalg.norm(np.maximum(part, np.where(game.upper > N, np.maximum(-value, 0.0), 0.0))))


def check(game: Game, certificate: str, counts: Counter[str]) -> None:
    """Solve one game, recompute, recheck, count."""
    try:
        found = solve(game, TOL, certificate)
    except NotSolved:
        counts["not solved (said so)"] += 1
        return
    counts[f"solved, certificate {found.certificate}"] += 1
    if certificate == "proof" and found.certificate is not Certificate.PROOF:
        counts["proof asked for, residual given (said so)"] += 1
    noise = float(np.linalg.norm(game.F_error(found.N)))
    if plain_residual(game, found.N) > TOL * scale(game, found.N) + noise:
        counts["RESIDUAL ABOVE TOLERANCE"] += 1
    if isinstance(game, Affine | Composite):
        again = recheck(game, found)
        counts[f"rechecked at 128 bits: {again.stands}"] += 1
        if again.stands is False:
            counts["CERTIFICATE CONTRADICTED"] += 1
            print(type(game).__name__, again.reason, file=sys.stderr)


def run(instances: int = 10_000, seed: int = 0) -> Counter[str]:
    """Draw, solve and check `instances` games; half ask for a proof."""
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    makers = (
        random_affine,
        random_affine,
        random_affine,
        random_discovery,
        random_monotone,
        random_nonlinear,
    )
    for k in range(instances):
        made = makers[k % len(makers)](rng)
        counts[f"kind: {made.corner}"] += 1
        check(made.game, "proof" if k % 2 else "residual", counts)
        if made.N_star is not None and isinstance(made.game, Affine):
            found = solve(made.game, TOL)
            away = float(np.linalg.norm(found.N - made.N_star))
            # N_star solves a game whose b was rounded once: the built equilibrium is off by that over mu
            built = 1e-13 * scale(made.game, found.N) / max(made.game.monotonicity.value, 1e-300)
            if made.game.monotonicity.value > 0 and away > found.error_bound + built:
                counts["FARTHER FROM N* THAN PROVEN"] += 1
    return counts


def main() -> int:
    """Print the counts."""
    instances = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    counts = run(instances, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    for name in sorted(counts):
        print(f"{counts[name]:7d}  {name}")
    bad = sum(
        counts[name] for name in counts if name.isupper() or name.startswith(("RESID", "CERT", "FARTHER"))
    )
    print(f"{bad:7d}  violations")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
