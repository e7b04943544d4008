"""Runs: their settings, the loop that computes them, the store that keeps them, and comparisons of them."""
