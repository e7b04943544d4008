"""Inference for stick-breaking models and for the models compared with them: one published method, one file."""
