"""The Sweep page, for ``panel serve apps/sweep.py``; `workbench serve` serves the same page."""

from workbench.dashboard.sweep.page import page

page().servable()
