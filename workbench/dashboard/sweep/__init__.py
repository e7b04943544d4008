"""The Sweep page: many runs that differ in a few settings, started together, and their results; a tab for each question."""
