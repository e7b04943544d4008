"""Reproduction of the papers' figures: their table (`figures`), their runs (`reproduce`), and verdicts on the papers' claims.

A layer of its own above the reports, whose figures it writes. Importing it, or the table in ``figures``, costs nothing.
"""
