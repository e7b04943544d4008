"""The Sweep page: many runs that differ in a few settings, started together, and what they show; a tab for each question."""
