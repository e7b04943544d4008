"""Compiled loops of the models whose probabilities are broken off a stick, each by a Gaussian."""
