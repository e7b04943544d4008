"""Inference for networks of mixture levels: one published method, one file."""
