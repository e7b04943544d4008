"""Compiled updates of latent Dirichlet allocation."""
