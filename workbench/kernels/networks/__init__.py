"""Compiled updates of networks of mixture levels."""
