"""Reproduction of the papers' figures: their table (`figures`), their runs (`reproduce`), and verdicts on the papers' claims.

The package is a layer above the reports and writes their figures. Importing it, or ``figures``, is fast.
"""
