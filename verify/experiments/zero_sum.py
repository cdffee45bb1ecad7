"""Section 5.3: the zero-sum game with a power-law payoff, from several starts, and training beside it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

import games
from simulate.participation import participation, weights
from verify.experiments import instances, training
from verify.experiments.data import Images
from verify.experiments.figures import contributions, loss_curves, starts
from verify.experiments.figures.style import drawing
from verify.experiments.instances import UPPER
from verify.experiments.results import Drawing, Experiment, Finding, Outcome, Table
from verify.experiments.training import Losses, Tell, contribution_table

GAMMA_TILDE = 1.5e7
ROUNDS, QUICK_ROUNDS = 12_000, 3_000
SHOWN = 3_000
_ALONE = "The game alone: no images enter."
_GAME = "α = 32, 1/4, 1/4, 1/4, 1; β = 3/4, 1/2, 1/2, 1/2, 1/4; γ̃ = 1.5e7, lower bounds 1 (none of them is printed)."


def path(game: games.PowerLawGame, start: Float[np.ndarray, " m"], rounds: int) -> Float[np.ndarray, "k m"]:
    """N_0, ..., N_rounds of the unregularised update."""
    return np.asarray(participation(game, start, GAMMA_TILDE, rounds).N)


def run(images: Images, *, seed: int, tell: Tell, quick: bool = False) -> tuple[Experiment, ...]:
    """The experiment: trajectories from several starts, which rest points they reach, and the loss for each H."""
    size = training.size_for(images, quick)
    game = instances.power_law()
    begin = _starts(game, seed)[: 3 if quick else None]
    rounds = QUICK_ROUNDS if quick else ROUNDS
    runs = []
    for done, start in enumerate(begin):
        tell("zero-sum game", done, len(begin))
        runs.append(path(game, start, rounds))
    tell("zero-sum game", len(begin), len(begin))
    ends = np.stack([N[-1] for N in runs])
    kinds = _kinds(ends)
    learners = training.clients(images, size, seed)
    p_star = weights(ends[0])
    found = training.losses(learners, game, begin[0], GAMMA_TILDE, p_star, 0.05, size, seed, tell)
    settings = {
        "alpha": ", ".join(f"{v:g}" for v in game.alpha),
        "beta": ", ".join(f"{v:g}" for v in game.beta),
        "box": f"[1, {', '.join(f'{u:.0f}' for u in UPPER)}]",
        "gamma_tilde": f"{GAMMA_TILDE:g}",
        "starts": str(len(begin)),
    }
    drawings = _drawings(images, runs, ends, kinds, found)
    findings = (*_findings(game, ends, kinds, begin), _decay_finding(game, runs))
    title = "Zero-sum game with power-law payoff"
    return (Experiment("Section 5.3", title, images.note, settings, drawings, findings),)


def _starts(game: games.PowerLawGame, seed: int) -> list[Float[np.ndarray, " m"]]:
    """N^max/2, the ends of the box, and random profiles."""
    rng = np.random.default_rng(seed)
    spread = game.lower + (game.upper - game.lower) * rng.uniform(size=(9, game.m))
    spread[:4] *= 0.1  # small aggregates, where client 0 dominates
    return [UPPER / 2, np.array(game.lower), np.array(game.upper), *(game.project(s) for s in spread)]


def _kinds(ends: Float[np.ndarray, "starts m"]) -> list[int]:
    """Which limit each run ends in: 0 for the one of the first run, and so on, by the client that is not at N^min."""
    top = np.argmax(ends, axis=1).tolist()
    order = list(dict.fromkeys(top))
    return [order.index(t) for t in top]


def _drawings(
    images: Images,
    runs: list[Float[np.ndarray, "k m"]],
    ends: Float[np.ndarray, "starts m"],
    kinds: list[int],
    found: Losses,
) -> tuple[Drawing, ...]:
    rounds = np.arange(0, SHOWN + 1, 5)
    names = (("5.3-contributions", "half the capacities"), ("5.3-contributions-high", "all capacities"))
    pictures = []
    for k, (name, start) in zip((0, 2), names, strict=True):
        about = {"title": _title(start, ends[k]), "note": f"{_ALONE} {_GAME} Dotted: where this run ends."}
        table = contribution_table(rounds, runs[k][rounds], ends[k], about)
        pictures.append(
            drawing(name, f"Contributions in the zero-sum game from {start}.", table, contributions.draw)
        )
    loss_note = (
        f"{images.note} Participation from half the capacities: {_GAME} γ = 0.05, batch {training.BATCH}."
    )
    losses = training.loss_table(found, {"title": f"{images.title}: loss for each $H$", "note": loss_note})
    return (
        drawing("5.3-loss", f"Loss against rounds for each H ({images.name}).", losses, loss_curves.draw),
        *pictures,
        drawing(
            "5.3-starts",
            "Runs from several starts end in two limits.",
            _plane(runs, ends, kinds),
            starts.draw,
        ),
    )


def _title(start: str, end: Float[np.ndarray, " m"]) -> str:
    k = int(np.argmax(end))
    return f"From {start}: client {k} alone remains, at {end[k]:,.0f} of {UPPER[k]:,.0f}"


def _plane(
    runs: list[Float[np.ndarray, "k m"]], ends: Float[np.ndarray, "starts m"], kinds: list[int]
) -> Table:
    kept = np.unique(np.concatenate([np.arange(0, 60, 3), np.arange(60, len(runs[0]), 30)]))
    columns = {
        "start": np.repeat(np.arange(len(runs)), len(kept)).astype(float),
        "N_0": np.concatenate([N[kept, 0] for N in runs]),
        "N_4": np.concatenate([N[kept, 4] for N in runs]),
        "limit": np.repeat(kinds, len(kept)).astype(float),
    }
    limits = []
    for kind in range(max(kinds) + 1):
        end = ends[kinds.index(kind)]
        limits.append(f"limit ({', '.join(f'{v:.0f}' for v in end)})")
    return Table(
        columns,
        {
            "title": "One zero-sum game, two limits: the start decides",
            "x": "$N_{0,r}$",
            "y": "$N_{4,r}$",
            "note": f"{_ALONE} {_GAME}",
            "limits": "; ".join(limits),
            "reported": "15000, 13000",
        },
    )


def _findings(
    game: games.PowerLawGame,
    ends: Float[np.ndarray, "starts m"],
    kinds: list[int],
    begin: list[Float[np.ndarray, " m"]],
) -> tuple[Finding, ...]:
    known = games.properties(game)
    profiles = [ends[kinds.index(kind)] for kind in range(max(kinds) + 1)]
    shown = " and ".join(f"({', '.join(f'{v:.0f}' for v in end)})" for end in profiles)
    nash = [games.is_nash(game, end, 1e-6) for end in profiles]
    worst = max(b.low for end in profiles for b in games.regret(game, end))
    at = instances.REPORTED.copy()
    at[2], at[[1, 2, 3]] = 0.0, 1.0
    F = game.F(at)
    convex = sum(c is False for c in known.convex)
    return (
        Finding(
            "Section 5.3, sentence 8",
            "the game is one of Section 2.2 (Assumption 2.3)",
            f"F is {'not monotone' if known.monotone is False else 'not known to be monotone'}, and "
            f"{convex} of 5 utility losses are not convex in the client's own contribution",
            Outcome.CONTRADICTS if known.monotone is False else Outcome.OPEN,
            "Section 5.3/12",
        ),
        Finding(
            "Section 5.3, sentence 13",
            "clients 0 and 4 dominate and both reach their upper bounds",
            f"at (15000, 1, 1, 1, 13000) F_0 + F_4 = {F[0] + F[4]:.3g} > 0: one moves down, for all alpha and beta",
            Outcome.CONTRADICTS,
            "Section 5.3/17",
        ),
        Finding(
            "Section 5.3, sentence 15",
            "the limit is determined by the incentives, not by the initialisation",
            f"{len(begin)} starts of one game end in {len(profiles)} limits: {shown}",
            Outcome.CONTRADICTS if len(profiles) > 1 else Outcome.AGREES,
            "Section 5.3/21",
        ),
        Finding(
            "Section 5.3, sentence 15",
            "the limit is an equilibrium",
            f"Nash to 1e-6, by a search over each client's whole interval: {', '.join(_word(n) for n in nash)}; "
            f"the largest gain alone that is proven is {worst:.3g}",
            Outcome.CONTRADICTS if False in nash else Outcome.AGREES if all(nash) else Outcome.OPEN,
            "Section 5.3/22",
        ),
    )


def _decay_finding(game: games.PowerLawGame, runs: list[Float[np.ndarray, "k m"]]) -> Finding:
    turned = left = 0
    for N in runs:
        moves = np.diff(N, axis=0)
        turned += bool(np.any((moves[:-1] < 0) & (moves[1:] > 0)))
        arrived = np.cumsum((game.lower == N[1:]) & (moves < 0), axis=0) > 0  # went to its lower bound before
        left += bool(np.any(arrived[:-1] & (moves[1:] > 0)))
    return Finding(
        "Section 5.3, sentence 14",
        "the decay is monotone, and the boundary is absorbing",
        f"of {len(runs)} runs {turned} have a client that falls and then rises, {left} one that leaves its lower bound",
        Outcome.CONTRADICTS if turned or left else Outcome.AGREES,
        "Section 5.3/19",
    )


def _word(answer: bool | None) -> str:
    return {True: "yes", False: "no", None: "undecided"}[answer]
