"""Texts cut into words and counted."""
