"""Arithmetic on sixteen numbers at a time: vectors, special functions, padded rows."""
