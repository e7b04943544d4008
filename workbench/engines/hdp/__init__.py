"""Inference for the hierarchical Dirichlet process: one published method, one file."""
