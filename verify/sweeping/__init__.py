"""Sweeps: a grid of instances, their audits and plans kept by content, one table, one page."""
