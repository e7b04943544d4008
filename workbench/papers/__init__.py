"""Figures of the papers made again: what is run (figures), by whom (reproduce), and what it shows (verdicts).

A layer of its own above the reports, whose figures it writes. Importing it, or the table in ``figures``, costs nothing.
"""
