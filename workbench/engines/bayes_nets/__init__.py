"""Engines for Bayesian networks with hidden nodes."""
