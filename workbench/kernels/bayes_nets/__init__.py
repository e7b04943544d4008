"""Compiled loops for Bayesian networks with hidden nodes."""
