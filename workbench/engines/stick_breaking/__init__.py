"""Inference for models whose probabilities are broken off a stick: one published method, one file."""
