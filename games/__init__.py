"""Participation games: payoffs, costs, constants, certified equilibria, gap functions, welfare selection."""

from games.affine import Affine, AffineGame
from games.base import Game, GameError
from games.batch import BatchResult, Verdict, solve_batch
from games.composite import Composite
from games.discovery import DiscoveryGame
from games.engines import Engine
from games.equilibrium import Certificate, Equilibrium, Method, NotSolved
from games.gaps import Bracket, dual_gap, is_nash, primal_gap, regret
from games.low_rank import DiagonalPlusLowRank, LowRankGame
from games.monotone import CommonPoolGame, SkewGame
from games.nonlinear import ConcaveDiscoveryGame, CostlyDiscoveryGame, PowerLawGame, SmoothPoolGame
from games.polyhedron import Polyhedron
from games.properties import Properties, properties
from games.recheck import Recheck, recheck
from games.selection import PathSelection, Selection, select, select_by_path
from games.solution_set import distance_to_solutions, solution_set
from games.solving import solve
from games.user import ParticipationGame, UserGame
from games.welfare import CvxpyWelfare, EntropyWelfare, QuadraticWelfare, SoftplusWelfare, Welfare

__all__ = [
    "Affine",
    "AffineGame",
    "BatchResult",
    "Bracket",
    "Certificate",
    "CommonPoolGame",
    "Composite",
    "ConcaveDiscoveryGame",
    "CostlyDiscoveryGame",
    "CvxpyWelfare",
    "DiagonalPlusLowRank",
    "DiscoveryGame",
    "Engine",
    "EntropyWelfare",
    "Equilibrium",
    "Game",
    "GameError",
    "LowRankGame",
    "Method",
    "NotSolved",
    "ParticipationGame",
    "PathSelection",
    "Polyhedron",
    "PowerLawGame",
    "Properties",
    "QuadraticWelfare",
    "Recheck",
    "Selection",
    "SkewGame",
    "SmoothPoolGame",
    "SoftplusWelfare",
    "UserGame",
    "Verdict",
    "Welfare",
    "distance_to_solutions",
    "dual_gap",
    "is_nash",
    "primal_gap",
    "properties",
    "recheck",
    "regret",
    "select",
    "select_by_path",
    "solution_set",
    "solve",
    "solve_batch",
]
