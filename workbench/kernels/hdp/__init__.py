"""Compiled updates of the hierarchical Dirichlet process."""
