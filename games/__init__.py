"""Participation games: payoffs, costs, constants, equilibria, gap functions."""
