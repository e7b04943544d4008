"""Inference for latent Dirichlet allocation: one published method, one file."""
