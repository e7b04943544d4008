"""Discrete Bayesian networks with hidden nodes: nodes and their tables, shipped networks, junction trees."""
